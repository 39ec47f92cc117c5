"""Who runs the trials makes no difference: this process, two others, or a cluster that loses a worker on the way."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from fairenum import load_dataset
from fairenum.attack import AttackConfig, simulate
from fairenum.errors import ClusterUnavailable

TRIALS = 12
CONFIG = AttackConfig(
    strategies=("paper", "alfa"), flips=(5, 10), trials=TRIALS, k=10, sizes=(100, 30, 50), defences=("loss_removal",)
)


@pytest.fixture(scope="module")
def compas():
    return load_dataset("compas", use_sensitive=True, incumbent="none")


@pytest.fixture(scope="module")
def serial(compas):
    return simulate(compas, CONFIG)


def as_bytes(simulation):
    """Every bit of what was simulated: JSON writes floats so that they can be read back exactly."""
    return msgspec.json.encode([simulation.attack, simulation.records])


def test_two_processes_give_the_same_bits(compas, serial):
    assert as_bytes(simulate(compas, CONFIG, jobs=2)) == as_bytes(serial)


@pytest.fixture
def cluster(tmp_path):
    """Start a scheduler and two workers, each a process of its own, and end what is left of them."""
    dask, file = str(Path(sys.executable).with_name("dask")), str(tmp_path / "scheduler.json")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    processes = [
        subprocess.Popen([dask, "scheduler", "--scheduler-file", file, "--port", "0", "--no-dashboard"], **quiet)
    ]
    try:
        address = scheduler_address(file)
        worker = [dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s"}
        processes += [subprocess.Popen(worker, env=environment, **quiet) for _ in range(2)]
        wait_for_workers(address, 2)
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def scheduler_address(file):
    for _ in range(600):
        if Path(file).exists() and Path(file).stat().st_size:
            return json.loads(Path(file).read_text())["address"]
        time.sleep(0.1)
    raise TimeoutError("the scheduler did not start")


def wait_for_workers(address, number):
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        for _ in range(600):
            if len(client.scheduler_info()["workers"]) == number:
                return
            time.sleep(0.1)
    raise TimeoutError(f"the cluster has not come to have {number} workers")


def test_a_cluster_that_loses_workers_loses_nothing(compas, serial, cluster):
    address, workers = cluster

    def kill_one(_stage, done, _total):
        if done == 3:
            workers[0].kill()

    simulation = simulate(compas, CONFIG, cluster=address, progress=kill_one)
    assert workers[0].wait() != 0
    assert workers[1].poll() is None
    assert len(simulation.records) == TRIALS
    assert simulation.attack.failures == ()
    assert as_bytes(simulation) == as_bytes(serial)
    workers[1].kill()
    wait_for_workers(address, 0)
    with pytest.raises(ClusterUnavailable, match=f"has no workers; start one with: dask worker {address}"):
        simulate(compas, CONFIG, cluster=address)


def test_a_cluster_that_is_not_there_is_named(compas, monkeypatch):
    monkeypatch.setattr("fairenum.runtime.parallel.CONNECT_SECONDS", 1)
    with pytest.raises(ClusterUnavailable, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:1'"):
        simulate(compas, CONFIG, cluster="tcp://127.0.0.1:1")
    with pytest.raises(ClusterUnavailable, match="'localhost' is no address of a Dask scheduler, such as tcp://"):
        simulate(compas, CONFIG, cluster="localhost")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterUnavailable, match=r"needs distributed; install it with: pip install 'fairenum\[dask\]'"):
        simulate(compas, CONFIG, cluster="tcp://127.0.0.1:1")


def test_an_interrupt_keeps_what_was_finished(compas, serial):
    def interrupt(_stage, done, _total):
        if done == 4:
            raise KeyboardInterrupt

    for jobs in (1, 2):
        simulation = simulate(compas, CONFIG, jobs=jobs, progress=interrupt)
        assert simulation.is_partial
        assert len(simulation.records) == simulation.attack.clean.trials == 4
        finished = [serial.records[record.trial] for record in simulation.records]
        assert list(simulation.records) == finished
    with pytest.raises(KeyboardInterrupt):
        simulate(compas, CONFIG, progress=lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
