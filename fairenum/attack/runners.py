"""Who runs the trials: this process, processes beside it, or a cluster. Their records are the same bit for bit.

Each runner yields records as they are finished, in any order; closing it gives up the others.
"""

from __future__ import annotations

import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from fairenum.attack.trial import Record, Trial, failed, run_trial
from fairenum.errors import ClusterUnavailable

if TYPE_CHECKING:
    from distributed import Client

Result = TypeVar("Result")

CONNECT_SECONDS = 10
ADDRESS = re.compile(r"[a-z]+://\S+:\d{1,5}")


def run_here(trials: Iterable[Trial]) -> Iterator[Record]:
    """Run one trial after the other."""
    return map(run_trial, trials)


def run_beside(trials: Iterable[Trial], jobs: int) -> Iterator[Record]:
    """Run trials in other processes of this machine."""
    return called_beside((partial(run_trial, trial) for trial in trials), jobs)


def called_beside(calls: Iterable[Callable[[], Result]], jobs: int) -> Iterator[Result]:
    """Make calls in other processes of this machine; jobs below 0 count from the number of processors, as in joblib."""
    from joblib import Parallel, delayed

    work = Parallel(n_jobs=jobs, return_as="generator_unordered")
    finished = work(delayed(_undisturbed)(call) for call in calls)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped")  # one that has grown is replaced: nothing is lost
            for result in finished:  # noqa: UP028 - delegating would also delegate how it is closed
                yield result
    finally:
        with warnings.catch_warnings(action="ignore"):  # whoever closes this knows that calls are given up
            finished.close()


def _undisturbed(call: Callable[[], Result]) -> Result:
    """Leave Ctrl-C to the process that was started: a terminal sends it to all of them."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return call()


def collected(finished: Iterator[Record], report: Callable[[int], None]) -> tuple[list[Record], bool]:
    """Gather records until all are there or the user interrupts; say whether that happened.

    An interrupt before the first record is the caller's to handle: there is nothing to keep.
    """
    records: list[Record] = []
    report(0)
    try:
        for record in finished:
            records.append(record)
            report(len(records))
    except KeyboardInterrupt:
        if not records:
            raise
        return records, True
    finally:
        if hasattr(finished, "close"):
            finished.close()
    return records, False


def run_on_cluster(trials: Iterable[Trial], address: str) -> Iterator[Record]:
    """Run trials on the workers of a Dask scheduler; those of a worker that is lost are run again by another."""
    try:
        import distributed
    except ImportError as error:
        raise ClusterUnavailable(
            "a Dask cluster needs distributed; install it with: pip install 'fairenum[dask]'"
        ) from error
    with _client(address) as client:
        pending = {client.submit(run_trial, trial, pure=False): trial for trial in trials}
        for future in distributed.as_completed(list(pending), loop=client.loop):
            lost = future.exception()  # a trial records its own failures: this is one of the cluster
            yield future.result() if lost is None else failed(pending[future], lost)


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
