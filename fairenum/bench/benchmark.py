"""The whole benchmark: a problem drawn from a table, the race on it, and growth."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from fairenum.bench.baseline import TOL
from fairenum.bench.contest import (
    BASELINE,
    Contestant,
    Progress,
    Standing,
    baseline,
    enumerate_timed,
    race,
    solver,
    svc_fit_seconds,
)
from fairenum.bench.growth import Series, measure_growth, random_problem
from fairenum.dataset import Dataset, Encoding, split
from fairenum.enumeration.search import Limits
from fairenum.errors import FairenumError, SolverUnavailable
from fairenum.problem import SvmProblem
from fairenum.solvers.registry import list_solvers
from fairenum.threads import one_thread

SHARE, MOST_ROWS = 0.7, 1000  # of a table, unless rows are asked for
RACE_SECONDS, POINT_SECONDS = 30.0, 3.0
FULL_POINT_SECONDS = 60.0
PACKAGES = ("fairenum", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured; the package's documentation says what each part means."""

    data: dict[str, Any]
    k: int
    seconds: float | None
    svc_fit: dict[str, float]
    first_calls: float
    standings: tuple[Standing, ...]
    growth: tuple[Series, ...]
    environment: dict[str, Any]

    @property
    def record(self) -> dict[str, Any]:
        """The result as one JSON document."""
        return {"format": 1, **asdict(self)}

    @property
    def paper(self) -> Standing:
        """The standing of the paper's algorithm."""
        return next(standing for standing in self.standings if standing.name == BASELINE)

    def speedup(self, standing: Standing) -> float | None:
        """Return how many times faster than the paper's algorithm a contestant is, both in SVC fits."""
        return self.paper.fits / standing.fits if self.paper.fits and standing.fits else None


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
    progress: Progress = lambda _: None,
) -> BenchResult:
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
    progress
        Told what is under way.
    """
    names = tuple(dict.fromkeys(solvers)) or _available()
    contestants = [*map(solver, names), baseline()]
    problem = draw_problem(dataset, rows, cost, seed, standardise=standardise)
    seconds = None if full else RACE_SECONDS
    with one_thread():
        progress("first calls")
        first_calls = _first_calls(contestants)
        standings = race(problem, contestants, k, seconds, progress)
        point_seconds = FULL_POINT_SECONDS if full else POINT_SECONDS
        series = measure_growth(contestants, seed, point_seconds, progress) if growth else ()
        fit = svc_fit_seconds(problem)
    return BenchResult(
        _facts(dataset, problem, seed),
        k,
        seconds,
        {"tol": TOL, "seconds": fit},
        first_calls,
        standings,
        series,
        _environment(names),
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
    encoding = Encoding.fit(dataset, drawn, standardise=standardise)
    return SvmProblem(encoding.transform(dataset, drawn), dataset.signs[drawn], cost=cost)


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


def _facts(dataset: Dataset, problem: SvmProblem, seed: int) -> dict[str, Any]:
    rows, features = problem.X.shape
    return {
        "name": dataset.name,
        "rows": rows,
        "features": features,
        "cost": float(problem.cost[0]),
        "seed": seed,
        "fingerprint": dataset.fingerprint,
    }


def _environment(names: Iterable[str]) -> dict[str, Any]:
    backends = dict(backend for info in list_solvers() if info.name in names for backend in info.backends)
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "packages": {package: version(package) for package in PACKAGES} | backends,
    }
