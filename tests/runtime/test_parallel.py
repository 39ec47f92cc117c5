"""One function for many items, in this process, in several, and on a cluster."""

import operator
from functools import partial

import pytest
from distributed import LocalCluster

from fairenum.errors import ConfigError
from fairenum.runtime.parallel import collected, mapped


def refuse_three(item: int) -> int:
    if item == 3:
        raise ValueError("three")
    return item


def test_this_process_works_one_by_one_and_only_on_request():
    seen = []
    results = mapped(lambda item: seen.append(item) or item, [1, 2, 3])
    assert (next(results), seen) == (1, [1])
    assert [*results] == [2, 3]


@pytest.mark.parametrize("jobs", [1, 2, -1])
def test_every_item_has_one_result(jobs):
    assert sorted(mapped(partial(operator.mul, 2), range(20), jobs=jobs)) == [2 * item for item in range(20)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_is_the_callers(jobs):
    with pytest.raises(ValueError, match="three"):
        list(mapped(refuse_three, range(5), jobs=jobs))


def test_closing_gives_up_the_others():
    results = mapped(partial(operator.mul, 2), range(1000), jobs=2)
    first = next(results)
    results.close()
    assert first in range(0, 2000, 2)
    assert list(results) == []


def test_no_process_at_all_is_refused():
    with pytest.raises(ConfigError, match="'jobs' must be a number of processes, or -1 for all processors, not 0"):
        mapped(abs, [1], jobs=0)


def test_what_a_cluster_lost_is_what_the_caller_says_or_its_error():
    with LocalCluster(n_workers=1, processes=False, protocol="tcp://", dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        found = mapped(refuse_three, range(5), cluster=address, lost=lambda item, error: f"{item}: {error}")
        assert sorted(found, key=str) == [0, 1, 2, "3: three", 4]
        with pytest.raises(ValueError, match="three"):
            list(mapped(refuse_three, range(5), cluster=address))


def test_results_are_counted_as_they_come():
    reported = []
    assert collected(iter("abc"), reported.append) == (["a", "b", "c"], None)
    assert reported == [0, 1, 2, 3]
    assert collected(iter(()), reported.append) == ([], None)


class Interrupted:
    """An iterator of results that the user interrupts, and that records whether it was closed."""

    def __init__(self, after: int) -> None:
        self.left, self.is_closed = after, False

    def __iter__(self):
        return self

    def __next__(self) -> int:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return self.left

    def close(self) -> None:
        self.is_closed = True


def test_an_interrupt_keeps_what_is_there():
    results = Interrupted(2)
    assert collected(results, lambda _: None) == ([1, 0], "interrupted")
    assert results.is_closed


def test_an_interrupt_before_the_first_result_is_the_callers():
    results = Interrupted(0)
    with pytest.raises(KeyboardInterrupt):
        collected(results, lambda _: None)
    assert results.is_closed


def test_an_error_gives_up_the_others():
    results = Interrupted(2)

    def fail(done: int) -> None:
        if done:
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        collected(results, fail)
    assert results.is_closed
