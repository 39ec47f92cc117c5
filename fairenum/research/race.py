"""The race: contestants take turns on one problem, timed relative to SVC fits.

CPU time excludes other programs but varies with the processor's speed. So each lap is divided by the time of SVC fits
made before, during and after it, and these ratios are compared.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Protocol

import numpy as np

from fairenum.document.research_documents import PAPER_ALGORITHM, RaceResult
from fairenum.document.terms import Basis, EnumerationEnd
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.errors import FairenumError, ProblemError
from fairenum.solvers.registry import load_solver, open_workspace
from fairenum.svm.problem import IntArray, SvmProblem

TOL = 1e-3  # scikit-learn's default


@dataclass(frozen=True, slots=True, eq=False)
class PaperModel:
    """A model from one SVC fit, and the examples left out of it."""

    objective: float
    support: IntArray
    left_out: frozenset[int]


class AlgorithmOne:
    """Iterator over the models of a linear problem, best first within SVC's accuracy.

    All children of a model are solved from scratch when it leaves the heap, except those of the last model. The problem
    has one cost for all examples; of the limits, `models` and `seconds` apply. `nodes` counts fits, and `stopped` is
    the reason for the end.
    """

    def __init__(self, problem: SvmProblem, limits: Limits | None = None, tol: float = TOL) -> None:
        _require_plain(problem)
        self._X, self._y, self._cost = problem.X, problem.y, float(problem.upper[0])
        self._limits, self._tol = limits or Limits(), tol
        self.nodes = 0
        self.stopped: EnumerationEnd | None = None
        self._models = self._search()

    def __iter__(self) -> Iterator[PaperModel]:
        return self

    def __next__(self) -> PaperModel:
        return next(self._models)

    def _search(self) -> Iterator[PaperModel]:
        started, order = time.monotonic(), itertools.count()
        best = self._fit(frozenset())
        heap = [(-best.objective, next(order), best, frozenset[int]())] if best else []
        seen: set[bytes] = set()
        while heap:
            *_, model, kept = heapq.heappop(heap)
            if (mark := model.support.tobytes()) not in seen:
                seen.add(mark)
                yield model
            for example in model.support.tolist():
                if self._limit_reached(len(seen), started):
                    return
                if example in kept:
                    continue
                if child := self._fit(model.left_out | {example}):
                    heapq.heappush(heap, (-child.objective, next(order), child, kept))
                kept |= {example}
        self.stopped = "exhausted"

    def _limit_reached(self, found: int, started: float) -> bool:
        if self._limits.models is not None and found >= self._limits.models:
            self.stopped = "models"
        elif self._limits.seconds is not None and time.monotonic() - started >= self._limits.seconds:
            self.stopped = "time"
        return self.stopped is not None

    def _fit(self, left_out: frozenset[int]) -> PaperModel | None:
        """Train on all other examples; None if only one class is left, which SVC refuses."""
        from sklearn.svm import SVC

        rows = np.delete(np.arange(len(self._y)), list(left_out))
        y = self._y[rows]
        if (y == y[0]).all():
            return None
        self.nodes += 1
        svm = SVC(kernel="linear", C=self._cost, tol=self._tol).fit(self._X[rows], y)
        plane = svm.coef_[0]
        objective = float(np.abs(svm.dual_coef_).sum() - 0.5 * plane @ plane)
        return PaperModel(objective, np.sort(rows[svm.support_]), left_out)


def _require_plain(problem: SvmProblem) -> None:
    if problem.kernel.name != "linear" or problem.ridge or (problem.linear != 1.0).any():
        raise ProblemError("the paper's algorithm is measured on linear SVMs without a ridge only")
    if (problem.upper != problem.upper[0]).any():
        raise ProblemError("the paper's algorithm knows one cost for all examples; do not merge identical rows")


Announce = Callable[[str], None]
LAPS = 5
LAP_AGAIN = 5.0  # seconds after which a contestant runs no further lap
YARDSTICK_SECONDS = 0.05  # for one measurement
YARDSTICK_EVERY = 1.0


class Supported(Protocol):
    """A model with support vectors."""

    @property
    def support(self) -> IntArray:
        """Sorted indices of the support vectors."""


class ModelStream(Protocol):
    """A running enumeration."""

    nodes: int
    stopped: EnumerationEnd | None

    def __iter__(self) -> Iterator[Supported]:
        """Go on to the next model."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A named enumeration."""

    name: str
    search: Callable[[SvmProblem, Limits], ModelStream]


def solver_contestant(name: str) -> Contestant:
    """A contestant that runs a solver plugin through the certified search."""
    plugin = load_solver(name)
    return Contestant(name, lambda problem, limits: Enumeration(open_workspace(plugin, problem), limits))


def paper_contestant() -> Contestant:
    """The paper's algorithm as a contestant."""
    return Contestant(PAPER_ALGORITHM, AlgorithmOne)


@dataclass(frozen=True, slots=True)
class TimedRun:
    """A timed enumeration: CPU seconds until each model, the supports, and the boxes solved."""

    seconds: tuple[float, ...]
    supports: tuple[bytes, ...]
    nodes: int
    is_cut: bool
    spent: float


class Yardstick:
    """Time of an SVC fit, measured repeatedly as the processor's speed varies."""

    def __init__(self, problem: SvmProblem) -> None:
        self._problem = problem
        self._fits: list[float] = []
        self._due = 0.0

    def measure(self) -> None:
        """Measure now."""
        self._fits.append(svc_fit_seconds(self._problem))
        self._due = time.process_time() + YARDSTICK_EVERY

    def measure_if_due(self) -> None:
        """Measure if the last measurement is old enough."""
        if time.process_time() >= self._due:
            self.measure()

    @property
    def seconds(self) -> float:
        """The mean over all measurements."""
        return fmean(self._fits)


def enumerate_timed(
    contestant: Contestant, problem: SvmProblem, limits: Limits, meanwhile: Callable[[], None] = lambda: None
) -> TimedRun:
    """Enumerate once with the CPU time of every model; time spent in `meanwhile` is excluded."""
    models, seconds = [], []
    started = time.process_time()
    search = contestant.search(problem, limits)
    for model in search:
        paused = time.process_time()
        seconds.append(paused - started)
        models.append(model)
        meanwhile()
        started += time.process_time() - paused
    spent = time.process_time() - started
    supports = tuple(model.support.tobytes() for model in models)
    return TimedRun(tuple(seconds), supports, search.nodes, search.stopped == "time", spent)


def svc_fit_seconds(problem: SvmProblem, tol: float = TOL) -> float:
    """CPU seconds of an SVC fit: the median of fits over a twentieth of a second, at least one."""
    from sklearn.svm import SVC

    svm = SVC(kernel="linear", C=float(problem.upper[0]), tol=tol)
    seconds: list[float] = []
    while sum(seconds) < YARDSTICK_SECONDS:
        started = time.process_time()
        svm.fit(problem.X, problem.y)
        seconds.append(time.process_time() - started)
    return median(seconds)


def forecast(run: TimedRun, k: int) -> tuple[float, Basis]:
    """Seconds for k models, extrapolated for a stopped run from the pace after its second model.

    The second model is the costliest for Algorithm 1, which solves a child for every support vector of the first.
    """
    if not run.is_cut:
        return run.seconds[-1], "measured"
    found = len(run.seconds)
    if found < 3:
        return run.spent, "at least"
    pace = (run.seconds[-1] - run.seconds[1]) / (found - 2)
    return run.seconds[-1] + pace * (k - found), "extrapolated"


@dataclass(slots=True, eq=False)
class _Laps:
    """The laps of a contestant, each with the SVC fit time it is divided by."""

    contestant: Contestant
    runs: list[TimedRun] = field(default_factory=list)
    yardsticks: list[float] = field(default_factory=list)
    error: str | None = None

    @property
    def is_done(self) -> bool:
        return self.error is not None or sum(run.spent for run in self.runs) > LAP_AGAIN

    def run_next(self, problem: SvmProblem, limits: Limits) -> None:
        yardstick = Yardstick(problem)
        yardstick.measure()
        try:
            run = enumerate_timed(self.contestant, problem, limits, yardstick.measure_if_due)
        except FairenumError as error:
            self.error = str(error)
            return
        yardstick.measure()
        self.runs.append(run)
        self.yardsticks.append(yardstick.seconds)

    def result(self, k: int, proven: tuple[bytes, ...]) -> RaceResult:
        name = self.contestant.name
        if self.error is not None:
            return RaceResult(name, error=self.error)
        run, forecasts = self.runs[0], [forecast(run, k) for run in self.runs]
        seconds = [lap for lap, _ in forecasts]
        return RaceResult(
            name,
            models=len(run.seconds),
            in_place=sum(mine == true for mine, true in zip(run.supports, proven, strict=False)),
            nodes=run.nodes,
            seconds=median(seconds),
            fits=median(lap / fit for lap, fit in zip(seconds, self.yardsticks, strict=True)),
            basis=forecasts[0][1],
            laps=len(seconds),
        )


def race(
    problem: SvmProblem,
    contestants: Iterable[Contestant],
    k: int,
    seconds: float | None,
    progress: Announce = lambda _: None,
) -> tuple[RaceResult, ...]:
    """Time every contestant on the best k models, lap by lap; stopped after `seconds`, results are extrapolated."""
    entries = [_Laps(contestant) for contestant in contestants]
    limits = Limits(models=k, seconds=seconds)
    for lap in range(1, LAPS + 1):
        for laps in entries:
            if not laps.is_done:
                progress(f"{laps.contestant.name}: {k} models, lap {lap} of {LAPS}")
                laps.run_next(problem, limits)
    proven = _proven_supports(entries)
    return tuple(laps.result(k, proven) for laps in entries)


def _proven_supports(entries: Iterable[_Laps]) -> tuple[bytes, ...]:
    """The longest list of supports that a solver proved."""
    lists = [run.supports for laps in entries if laps.contestant.name != PAPER_ALGORITHM for run in laps.runs]
    return max(lists, key=len, default=())
