"""The same function for many items: in this process, in processes beside it, or on a cluster.

Results come as they are finished, in any order, and are the same bit for bit whoever computes them. Closing the
iterator gives up the others.
"""

from __future__ import annotations

import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from fairenum.budget import Cut, OutOfTime, how_ended, is_time_over
from fairenum.errors import ClusterUnavailable, ConfigError

if TYPE_CHECKING:
    from distributed import Client

Item = TypeVar("Item")
Result = TypeVar("Result")
Lost = Callable[[Item, BaseException], Result]

CONNECT_SECONDS = 10
ADDRESS = re.compile(r"[a-z]+://\S+:\d{1,5}")


def mapped(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    jobs: int = 1,
    cluster: str | None = None,
    lost: Lost[Item, Result] | None = None,
) -> Iterator[Result]:
    """Call a function for every item.

    Parameters
    ----------
    function, items
        Both have to be pickled where other processes take part.
    jobs
        Processes of this machine; 1 for this one alone, below 0 they count from the number of processors, as in joblib.
    cluster
        Address of a Dask scheduler to work on instead.
    lost
        What stands for the result of an item that the cluster lost; its error is raised if not given.
    """
    if jobs == 0:
        raise ConfigError("option 'jobs' must be a number of processes, or -1 for all processors, not 0")
    if cluster is not None:
        return _on_cluster(function, items, cluster, lost)
    return map(function, items) if jobs == 1 else _beside(function, items, jobs)


def collected(finished: Iterator[Result], report: Callable[[int], None]) -> tuple[list[Result], Cut | None]:
    """Gather results until all are there, time is over or the user interrupts; say which of the latter two happened.

    An end before the first result is the caller's to handle: there is nothing to keep.
    """
    results: list[Result] = []
    report(0)
    try:
        for result in finished:
            results.append(result)
            report(len(results))
            if is_time_over():
                return results, "time"
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not results:
            raise
        return results, how_ended(reason)
    finally:
        if hasattr(finished, "close"):
            finished.close()
    return results, None


def _beside(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    from joblib import Parallel, delayed

    work = Parallel(n_jobs=jobs, return_as="generator_unordered")
    finished = work(delayed(_undisturbed)(function, item) for item in items)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped")  # one that has grown is replaced: nothing is lost
            for result in finished:  # noqa: UP028 - delegating would also delegate how it is closed
                yield result
    finally:
        with warnings.catch_warnings(action="ignore"):  # whoever closes this knows that calls are given up
            finished.close()


def _undisturbed(function: Callable[[Item], Result], item: Item) -> Result:
    """Leave Ctrl-C to the process that was started: a terminal sends it to all of them."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return function(item)


def _on_cluster(
    function: Callable[[Item], Result], items: Iterable[Item], address: str, lost: Lost[Item, Result] | None
) -> Iterator[Result]:
    """Work on the workers of a Dask scheduler; what a worker that is lost had to do is done again by another."""
    try:
        import distributed
    except ImportError as error:
        raise ClusterUnavailable(
            "a Dask cluster needs distributed; install it with: pip install 'fairenum[dask]'"
        ) from error
    with _client(address) as client:
        pending = {client.submit(function, item, pure=False): item for item in items}
        for future in distributed.as_completed(list(pending), loop=client.loop):
            failure = future.exception()
            yield future.result() if failure is None or lost is None else lost(pending[future], failure)


def _client(address: str) -> Client:
    """Connect to a scheduler that has somebody to work for it."""
    from distributed import Client

    if not ADDRESS.fullmatch(address):  # a client that cannot read it ends with a traceback of its own
        raise ClusterUnavailable(f"{address!r} is no address of a Dask scheduler, such as tcp://127.0.0.1:8786")
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterUnavailable(
            f"no Dask scheduler answers at {address!r} ({error}); start one with: dask scheduler"
        ) from error
    if not client.scheduler_info()["workers"]:
        client.close()
        raise ClusterUnavailable(
            f"the Dask scheduler at {address!r} has no workers; start one with: dask worker {address}"
        )
    return client
