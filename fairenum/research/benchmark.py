"""The solver benchmark: times of solvers on one SVM problem, and how these times grow with the size of problems."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Sequence

from fairenum.document.header import PACKAGES, Environment, SolverVersion, environment
from fairenum.document.research_documents import BenchData, BenchDocument, SvcFit
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import encode, pose
from fairenum.enumeration.search import Limits
from fairenum.errors import FairenumError, SolverUnavailable
from fairenum.research.growth import measure_growth, measure_scale, random_problem
from fairenum.research.race import (
    TOL,
    Announce,
    Contestant,
    enumerate_timed,
    paper_contestant,
    race,
    solver_contestant,
    svc_fit_seconds,
)
from fairenum.runtime.parallel import one_thread
from fairenum.solvers.registry import list_solvers
from fairenum.svm.problem import SvmProblem
from fairenum.tables import Dataset, split


def timed_environment(packages: Iterable[str] = PACKAGES, solver: SolverVersion | None = None) -> Environment:
    """Return versions of packages and solver, with the machine type and the number of processors."""
    return environment(packages, solver).but(machine=platform.machine(), processors=os.cpu_count())


SHARE, MOST_ROWS = 0.7, 1000  # share of a table's rows to draw, and most rows, by default
RACE_SECONDS, POINT_SECONDS = 30.0, 3.0
FULL_POINT_SECONDS = 60.0
SCALE_SECONDS = 60.0
RACED = ("fairenum", "numpy", "scipy", "scikit-learn", "numba")


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
    """Time solvers and the paper's algorithm on finding the best k models of a table, and return the times.

    By default all available solvers are timed, on 70 % of the rows but at most 1000, in one process with one BLAS
    thread. Unless `full`, each is stopped after 30 seconds and its time extrapolated. With `growth`, times on random
    data of growing size are measured, too; with `scale`, also times and memory on much larger random data, as in
    `fairenum.research.growth`. `seed` determines the rows that are drawn and the random data.
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
    dataset: Dataset, rows: int | None = None, cost: float = 1.0, seed: int = 0, *, standardise: bool = True
) -> SvmProblem:
    """Return the SVM problem of rows drawn at random from a table; identical rows are not merged, as in the paper."""
    if rows is None:
        rows = min(round(SHARE * len(dataset)), MOST_ROWS)
    drawn = split(dataset, (rows, 0, 0), seed).train
    _, (encoded,) = encode(dataset, (drawn,), None, standardise=standardise)
    return pose(encoded.X, encoded.y, SvmSettings(C=cost, rows=True)).problem


def _available() -> tuple[str, ...]:
    names = tuple(info.name for info in list_solvers() if info.is_available)
    if not names:
        raise SolverUnavailable("no solver can be used; `fairenum solvers` says what is missing")
    return names


def _first_calls(contestants: Iterable[Contestant]) -> float:
    """Return the CPU seconds of all algorithms' first runs, on a tiny problem: mainly imports and compilation."""
    started = time.process_time()
    for contestant in contestants:
        try:
            enumerate_timed(contestant, random_problem(20, 2), Limits(models=5))
        except FairenumError:
            continue  # `race` will report the failure
    return time.process_time() - started


def _facts(dataset: Dataset, problem: SvmProblem, seed: int) -> BenchData:
    rows, features = problem.X.shape
    return BenchData(dataset.name, rows, features, float(problem.cost[0]), seed, dataset.fingerprint, dataset.remarks)


def _environment(names: Iterable[str]) -> Environment:
    backends = dict(backend for info in list_solvers() if info.name in names for backend in info.backends)
    here = timed_environment(RACED)
    return here.but(packages=here.packages | backends)
