"""Who runs the trials: this process, processes beside it, or a cluster. Their records are the same bit for bit.

Each runner yields records as they are finished, in any order; closing it gives up the others.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fairenum.attack.trial import Record, Trial, failed, run_trial
from fairenum.errors import ClusterUnavailable

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10


def run_here(trials: Sequence[Trial]) -> Iterator[Record]:
    """Run one trial after the other."""
    return map(run_trial, trials)


def run_beside(trials: Sequence[Trial], jobs: int) -> Iterator[Record]:
    """Run trials in other processes of this machine; jobs below 0 count from the number of processors, as in joblib."""
    from joblib import Parallel, delayed

    work = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from work(delayed(_run_undisturbed)(trial) for trial in trials)


def _run_undisturbed(trial: Trial) -> Record:
    """Leave Ctrl-C to the process that was started: a terminal sends it to all of them."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return run_trial(trial)


def run_on_cluster(trials: Sequence[Trial], address: str) -> Iterator[Record]:
    """Run trials on the workers of a Dask scheduler; those of a worker that is lost are run again by another."""
    from distributed import as_completed

    with _client(address) as client:
        pending = {client.submit(run_trial, trial, pure=False): trial for trial in trials}
        for future in as_completed(list(pending)):
            trial = pending.pop(future)
            error = future.exception()  # a trial records its own failures: this is one of the cluster
            yield future.result() if error is None else failed(trial, error)


def _client(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterUnavailable(
            "a Dask cluster needs distributed; install it with: pip install 'fairenum[dask]'"
        ) from error
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
