"""Calls of one function for many items: in this process, in several processes, or on a cluster.

Results come in the order in which they finish, and are equal bit for bit wherever they are computed. Closing the
iterator over the results abandons calls that are not finished.
"""

from __future__ import annotations

import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from fairenum.errors import ClusterUnavailable, ConfigError
from fairenum.runtime.budget import Cut, OutOfTime, how_ended, is_time_over

if TYPE_CHECKING:
    from distributed import Client


class BlasLibraries:
    """The linear algebra libraries loaded so far, kept because finding them again would take time."""

    def __init__(self) -> None:
        import scipy.linalg  # noqa: F401 - has a BLAS of its own, and only loaded libraries can be limited
        from threadpoolctl import ThreadpoolController

        self._controller = ThreadpoolController()

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """Limit these libraries to one thread while the context lasts."""
        with self._controller.limit(limits=1):
            yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread while the context lasts, so that results do not depend on the number of processors."""
    with BlasLibraries().one_thread():
        yield


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
    """Call a function for every item, and return an iterator over the results.

    Parameters
    ----------
    function, items
        Both must be picklable if other processes take part.
    jobs
        Number of processes on this computer; 1 for the current process alone, -1 for one process per processor, -2 for
        one fewer, and so on, as in joblib.
    cluster
        Address of a Dask scheduler to use instead of processes on this computer.
    lost
        Function that returns a result for an item whose call failed on the cluster, given the item and the error; if it
        is None, the error is raised.
    """
    if jobs == 0:
        raise ConfigError("option 'jobs' must be a number of processes, or -1 for all processors, not 0")
    if cluster is not None:
        return _on_cluster(function, items, cluster, lost)
    return map(function, items) if jobs == 1 else _beside(function, items, jobs)


def collected(finished: Iterator[Result], report: Callable[[int], None]) -> tuple[list[Result], Cut | None]:
    """Return the results that an iterator yields, and what ended the iterator early: "time", "interrupted" or None.

    `report` is called with the number of results so far. An interruption before the first result is raised.
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
            warnings.filterwarnings("ignore", "A worker stopped")  # joblib replaces large workers: nothing is lost
            for result in finished:  # noqa: UP028 - delegating would also delegate how it is closed
                yield result
    finally:
        with warnings.catch_warnings(action="ignore"):  # closing this abandons calls on purpose
            finished.close()


def _undisturbed(function: Callable[[Item], Result], item: Item) -> Result:
    """Call a function with Ctrl-C ignored, as a terminal sends it to all processes and the parent handles it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return function(item)


def _on_cluster(
    function: Callable[[Item], Result], items: Iterable[Item], address: str, lost: Lost[Item, Result] | None
) -> Iterator[Result]:
    """Yield results from the workers of a Dask scheduler, which repeats on another worker the calls of a lost one."""
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
    """Return a client of the Dask scheduler at an address; refuse a scheduler without workers."""
    from distributed import Client

    if not ADDRESS.fullmatch(address):  # a client would print a traceback of its own
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
