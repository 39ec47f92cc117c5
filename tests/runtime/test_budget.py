"""Deadlines, abandoned work, and the shares of a time limit."""

import math
import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairenum.runtime import budget
from fairenum.runtime import budget as budget_module
from fairenum.runtime.budget import (
    Budget,
    Deadline,
    Interrupted,
    NotFinished,
    OutOfTime,
    checkpoint,
    how_ended,
    is_time_over,
    seconds_left,
    until,
    waited,
)
from fairenum.runtime.compiling import entry
from fairenum.svm.gram import open_gram
from fairenum.svm.interior import interior_point
from fairenum.svm.problem import SvmProblem

signals = pytest.mark.skipif(os.name == "nt", reason="signals")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.now / 2.0


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    return clock


def test_without_a_deadline_nothing_ends():
    checkpoint()
    assert seconds_left() is None
    assert not is_time_over()


def test_a_deadline_is_over_at_its_time_and_for_the_work_within_it(clock):
    with until(Deadline(105.0)):
        with until(Deadline(200.0)):
            assert seconds_left() == 5.0
            checkpoint()
        with until(Deadline(103.0)):
            clock.now = 104.0
            with pytest.raises(OutOfTime) as ended:
                checkpoint()
        checkpoint()
    assert how_ended(ended.value) == "time"
    clock.now = 1e6
    checkpoint()


def test_a_part_of_the_time_and_what_is_kept_for_later(clock):
    with until(Deadline(110.0)) as deadline:
        assert Deadline.after(0.5).at == 105.0
        deadline.bring_forward(4.0)
        assert seconds_left() == 6.0
    assert Deadline.after(0.5).at == math.inf


def test_work_that_is_given_up_is_interrupted():
    with until(Deadline()) as deadline:
        deadline.is_given_up = True
        with pytest.raises(Interrupted) as ended:
            checkpoint()
    assert how_ended(ended.value) == how_ended(KeyboardInterrupt()) == "interrupted"


def test_work_is_done_as_if_there_were_no_thread():
    assert waited(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        waited(lambda: 1 // 0)
    with until(Deadline(math.inf)) as deadline:
        deadline.at = time.monotonic() + 100.0
        assert 99.0 < (waited(seconds_left) or 0.0) <= 100.0


def test_work_that_takes_too_long_is_left_behind_and_ends_at_its_next_checkpoint():
    ended = threading.Event()

    def work() -> None:
        try:
            while True:
                checkpoint()
                time.sleep(0.01)
        except Interrupted:
            ended.set()

    with pytest.raises(NotFinished):
        waited(work, seconds=0.05)
    assert ended.wait(10.0)
    ended.clear()
    with until(Deadline(time.monotonic() + 0.05)), pytest.raises(OutOfTime):
        waited(lambda: time.sleep(5.0))


@entry()
def busy(rounds):
    total = 0.0
    for i in range(rounds):
        total += 0.5 * (i % 3)
    return total


def test_compiled_code_lets_others_go_on():
    busy(1)
    started = time.monotonic()
    with until(Deadline(started + 0.2)), pytest.raises(OutOfTime):
        waited(lambda: busy(5_000_000_000))
    assert time.monotonic() - started < 2.0


def test_a_solve_ends_at_its_deadline():
    random = np.random.default_rng(0)
    problem = SvmProblem(random.standard_normal((60, 2)), np.repeat([1.0, -1.0], 30), 1.0)
    gram = open_gram(problem)
    interior_point(gram, problem.y, problem.upper, problem.linear)
    with until(Deadline(time.monotonic())), pytest.raises(OutOfTime):
        interior_point(gram, problem.y, problem.upper, problem.linear)


STAGES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.5, 50.0), min_size=1)


@given(shares=STAGES, limit=st.floats(1.0, 1e4), reserved=st.floats(0.0, 0.9), data=st.data())
def test_the_shares_of_stages_never_add_up_to_more_than_there_is_and_pass_on(shares, limit, reserved, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget_module, "time", clock := Clock())
        budget = Budget(limit, clock.now, reserved * limit, shares)
        for stage in shares:
            left, at = budget.left, budget.deadline(stage).at
            after = sum(list(shares.values())[list(shares).index(stage) :])
            assert at - clock.now == pytest.approx(left * shares[stage] / after, abs=budget_module.LEAST_SHARE)
            clock.now += data.draw(st.floats(0.0, 1.0)) * max(0.0, at - clock.now)
        assert budget.elapsed <= (1.0 - reserved) * limit + 1e-6


def test_a_stage_without_others_after_it_has_all_that_is_left(clock):
    budget = Budget(60.0, 100.0, 10.0, {"a": 1.0, "b": 3.0})
    clock.now = 110.0
    assert budget.deadline("a").left == pytest.approx(10.0)
    assert budget.deadline("b").left == pytest.approx(40.0)
    clock.now = 155.0
    assert budget.deadline("b").has_passed
    assert Budget(None, shares={"a": 1.0}).deadline("a").left == math.inf


def test_after_an_interruption_nothing_optional_is_begun(clock):
    budget = Budget(None, shares={"a": 1.0, "b": 1.0})
    current = budget.deadline("a")
    budget.interrupt()
    assert current.left == -math.inf
    assert budget.deadline("b").has_passed


def test_a_busy_machine_has_a_slower_pace(clock):
    budget = Budget(60.0, clock.now, used_before=50.0)
    assert budget.pace == 1.0
    clock.now += 10.0
    assert budget.pace == 2.0  # five seconds of the processor in ten
    assert Budget.of_process(60.0).elapsed == clock.process_time()


@signals
def test_ctrl_c_is_heard_once_and_then_ends_everything():
    told: list[str] = []
    budget = Budget(shares={"a": 1.0}, heard=lambda: told.append("heard"))
    with budget.listening():
        deadline = budget.deadline("a")
        os.kill(os.getpid(), signal.SIGINT)
        assert deadline.has_passed
        assert (budget.is_interrupted, told) == (True, ["heard"])
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@signals
def test_the_handler_of_somebody_else_stays():
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        with Budget().listening():
            os.kill(os.getpid(), signal.SIGINT)
        waited(Budget().listening().__enter__)  # outside the main thread there is nothing to listen to
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]
