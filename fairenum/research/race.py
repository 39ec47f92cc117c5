"""Times of several enumeration algorithms on one SVM problem, relative to the time of a fit of scikit-learn's SVC.

CPU time does not include other programs, but varies with the speed of the processor. So the time of each run, called a
lap, is divided by the time of SVC fits made before, during and after it, and these ratios are compared.
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
    """A model of the paper's algorithm: an SVC fitted without some examples (`left_out`)."""

    objective: float
    support: IntArray
    left_out: frozenset[int]


class AlgorithmOne:
    """The paper's Algorithm 1: an iterator over the models of a linear SVM problem, best first as far as SVC is exact.

    The children of a model are the models without one more of its support vectors; they are fitted from scratch when
    the model leaves the heap, until a limit is reached. All examples must have the same cost. Of the fields of
    `limits`, only `models` and `seconds` are used. `nodes` counts the SVC fits, and `stopped` is the reason why
    the iterator ended.
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
LAP_AGAIN = 5.0  # CPU seconds in all laps after which a contestant runs no further lap
YARDSTICK_SECONDS = 0.05  # CPU seconds to spend on one measurement of the SVC fit time
YARDSTICK_EVERY = 1.0  # CPU seconds between two such measurements


class Supported(Protocol):
    """A model as the timing of an enumeration sees it: its support vectors, by which models are compared."""

    @property
    def support(self) -> IntArray:
        """Sorted indices of the support vectors."""


class ModelStream(Protocol):
    """An enumeration in progress: an iterable of models.

    `nodes` is the number of SVMs solved so far, and `stopped` the reason why the enumeration ended.
    """

    nodes: int
    stopped: EnumerationEnd | None

    def __iter__(self) -> Iterator[Supported]:
        """Return an iterator over the models."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """An enumeration algorithm to be timed: its name, and the function that starts it on a problem."""

    name: str
    search: Callable[[SvmProblem, Limits], ModelStream]


def solver_contestant(name: str) -> Contestant:
    """Return a contestant that enumerates certified models with the named solver plugin."""
    plugin = load_solver(name)
    return Contestant(name, lambda problem, limits: Enumeration(open_workspace(plugin, problem), limits))


def paper_contestant() -> Contestant:
    """Return the paper's algorithm as a contestant."""
    return Contestant(PAPER_ALGORITHM, AlgorithmOne)


@dataclass(frozen=True, slots=True)
class TimedRun:
    """The times and models of one enumeration.

    `seconds` are CPU seconds until each model, `supports` the support vectors of each model as bytes, `nodes` is the
    number of SVMs solved, `spent` the CPU seconds in all, and `is_cut` tells whether the time limit ended it.
    """

    seconds: tuple[float, ...]
    supports: tuple[bytes, ...]
    nodes: int
    is_cut: bool
    spent: float


class Yardstick:
    """The CPU seconds of an SVC fit, measured repeatedly because the speed of the processor varies."""

    def __init__(self, problem: SvmProblem) -> None:
        self._problem = problem
        self._fits: list[float] = []
        self._due = 0.0

    def measure(self) -> None:
        """Measure the time of an SVC fit once more."""
        self._fits.append(svc_fit_seconds(self._problem))
        self._due = time.process_time() + YARDSTICK_EVERY

    def measure_if_due(self) -> None:
        """Measure once more if the last measurement is more than `YARDSTICK_EVERY` CPU seconds ago."""
        if time.process_time() >= self._due:
            self.measure()

    @property
    def seconds(self) -> float:
        """The mean of all measurements, in CPU seconds."""
        return fmean(self._fits)


def enumerate_timed(
    contestant: Contestant, problem: SvmProblem, limits: Limits, meanwhile: Callable[[], None] = lambda: None
) -> TimedRun:
    """Run an enumeration once, and return its times and models.

    `meanwhile` is called after each model; its time does not count.
    """
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
    """Return the median CPU seconds of an SVC fit, which is repeated until 0.05 CPU seconds have been spent."""
    from sklearn.svm import SVC

    svm = SVC(kernel="linear", C=float(problem.upper[0]), tol=tol)
    seconds: list[float] = []
    while sum(seconds) < YARDSTICK_SECONDS:
        started = time.process_time()
        svm.fit(problem.X, problem.y)
        seconds.append(time.process_time() - started)
    return median(seconds)


def forecast(run: TimedRun, k: int) -> tuple[float, Basis]:
    """Return the CPU seconds for k models, and whether they are measured, extrapolated or a lower bound.

    A run that the time limit ended is extrapolated by the mean time per model after its second model; this excludes the
    second, which takes longest in the paper's algorithm, with one SVC fit for each support vector of the first model.
    With fewer than three models, the time spent is a lower bound.
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
    """The timed runs (laps) of one algorithm and, as `yardsticks`, the time of an SVC fit during each run."""

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
    """Time each algorithm on finding the best k models, up to `LAPS` times in turn, and return the results.

    A run is ended after `seconds`, if given, and its time is extrapolated to k models.
    """
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
    """Return the support vectors of certified models in order of rank, from the run that found most models."""
    lists = [run.supports for laps in entries if laps.contestant.name != PAPER_ALGORITHM for run in laps.runs]
    return max(lists, key=len, default=())
