"""The whole benchmark: a problem drawn from a table, the race on it, and growth."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from fairenum.bench.algorithm_one import TOL
from fairenum.bench.contest import (
    Announce,
    Contestant,
    enumerate_timed,
    paper_contestant,
    race,
    solver_contestant,
    svc_fit_seconds,
)
from fairenum.bench.environment import timed_environment
from fairenum.bench.growth import measure_growth, random_problem
from fairenum.bench.scale import measure_scale
from fairenum.dataset import Dataset, split
from fairenum.document.bench import BenchData, BenchDocument, SvcFit
from fairenum.document.header import Environment
from fairenum.document.machine import Machine
from fairenum.enumeration.search import Limits
from fairenum.errors import FairenumError, SolverUnavailable
from fairenum.experiment import encode, pose
from fairenum.problem import SvmProblem
from fairenum.solvers.registry import list_solvers
from fairenum.threads import one_thread

SHARE, MOST_ROWS = 0.7, 1000  # of a table, unless rows are asked for
RACE_SECONDS, POINT_SECONDS = 30.0, 3.0
FULL_POINT_SECONDS = 60.0
SCALE_SECONDS = 60.0
PACKAGES = ("fairenum", "numpy", "scipy", "scikit-learn", "numba")


def bench(
    dataset: Dataset,
    solvers: Sequence[str] = (),
    *,
    k: int = 50,
    rows: int | None = None,
    cost: float = 1.0,
    seed: int = 0,
    standardise: bool = True,
    full: bool = False,
    growth: bool = True,
    scale: bool = False,
    progress: Announce = lambda _: None,
) -> BenchDocument:
    """Race solvers and the paper's algorithm on a table, one process, one BLAS thread.

    Parameters
    ----------
    dataset
        The table.
    solvers
        Names of solvers; all that are available by default.
    k
        Number of models to enumerate.
    rows
        Number of rows to draw; by default 70 %, at most 1000.
    cost
        Price of a violated margin, C.
    seed
        Seed of the draw, and of the random data for growth.
    standardise
        Whether numbers are standardised.
    full
        Run everything to its end; without it a contestant is stopped after half a minute and its time extrapolated.
    growth
        Whether to measure growth, too.
    scale
        Whether to measure growth to large tables and lists, in processes of their own; see `fairenum.bench.scale`.
    progress
        Told what is under way.
    """
    names = tuple(dict.fromkeys(solvers)) or _available()
    contestants = [*map(solver_contestant, names), paper_contestant()]
    problem = draw_problem(dataset, rows, cost, seed, standardise=standardise)
    seconds = None if full else RACE_SECONDS
    with one_thread():
        progress("first calls")
        first_calls = _first_calls(contestants)
        standings = race(problem, contestants, k, seconds, progress)
        point_seconds = FULL_POINT_SECONDS if full else POINT_SECONDS
        series = measure_growth(contestants, seed, point_seconds, progress) if growth else ()
        fit = svc_fit_seconds(problem)
    if scale:
        series += measure_scale(seed, SCALE_SECONDS, progress)
    return BenchDocument(
        environment=_environment(names),
        data=_facts(dataset, problem, seed),
        k=k,
        seconds=seconds,
        svc_fit=SvcFit(TOL, fit),
        first_calls=first_calls,
        standings=standings,
        growth=series,
    )


def draw_problem(
    dataset: Dataset,
    rows: int | None = None,
    cost: float = 1.0,
    seed: int = 0,
    *,
    standardise: bool = True,
) -> SvmProblem:
    """Draw rows of a table and encode them; identical rows stay apart, as in the paper."""
    if rows is None:
        rows = min(round(SHARE * len(dataset)), MOST_ROWS)
    drawn = split(dataset, (rows, 0, 0), seed).train
    _, (encoded,) = encode(dataset, (drawn,), None, standardise=standardise)
    return pose(encoded.X, encoded.y, Machine(C=cost, rows=True)).problem


def _available() -> tuple[str, ...]:
    names = tuple(info.name for info in list_solvers() if info.is_available)
    if not names:
        raise SolverUnavailable("no solver can be used; `fairenum solvers` says what is missing")
    return names


def _first_calls(contestants: Iterable[Contestant]) -> float:
    """Let everybody pay once for imports and compilation, on a problem too small to matter."""
    started = time.process_time()
    for contestant in contestants:
        try:
            enumerate_timed(contestant, random_problem(20, 2), Limits(models=5))
        except FairenumError:
            continue  # it will fail again in the race, and be reported there
    return time.process_time() - started


def _facts(dataset: Dataset, problem: SvmProblem, seed: int) -> BenchData:
    rows, features = problem.X.shape
    return BenchData(dataset.name, rows, features, float(problem.cost[0]), seed, dataset.fingerprint, dataset.remarks)


def _environment(names: Iterable[str]) -> Environment:
    backends = dict(backend for info in list_solvers() if info.name in names for backend in info.backends)
    here = timed_environment(PACKAGES)
    return here.but(packages=here.packages | backends)
