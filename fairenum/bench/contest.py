"""The race: all contestants on one problem, in turn, each measured beside SVC fits.

Time is CPU time of this process, so other programs do not count; it still depends on how fast the processor happens to
run. So every lap is divided by the time of SVC fits made before, during and after it, and it is these ratios that are
compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Protocol

from fairenum.bench.algorithm_one import TOL, AlgorithmOne
from fairenum.document.bench import PAPER_ALGORITHM, RaceResult
from fairenum.document.terms import Basis, EnumerationEnd
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.errors import FairenumError
from fairenum.problem import IntArray, SvmProblem
from fairenum.solvers.registry import load_solver, open_workspace

Announce = Callable[[str], None]

LAPS = 5
LAP_AGAIN = 5.0  # a contestant that has run for so many seconds runs no further lap
YARDSTICK_SECONDS = 0.05  # for one measurement
YARDSTICK_EVERY = 1.0


class Supported(Protocol):
    """A model, as far as it matters here: it has support vectors."""

    @property
    def support(self) -> IntArray:
        """Sorted indices of the support vectors."""


class ModelStream(Protocol):
    """An enumeration under way."""

    nodes: int
    stopped: EnumerationEnd | None

    def __iter__(self) -> Iterator[Supported]:
        """Go on to the next model."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """An enumeration by name."""

    name: str
    search: Callable[[SvmProblem, Limits], ModelStream]


def solver_contestant(name: str) -> Contestant:
    """Let a solver plugin take part, through the search and its certificates; it is looked up once, here."""
    plugin = load_solver(name)
    return Contestant(name, lambda problem, limits: Enumeration(open_workspace(plugin, problem), limits))


def paper_contestant() -> Contestant:
    """Let the paper's algorithm take part."""
    return Contestant(PAPER_ALGORITHM, AlgorithmOne)


@dataclass(frozen=True, slots=True)
class TimedRun:
    """The models one contestant found: CPU seconds until each was there, their supports, and the boxes solved."""

    seconds: tuple[float, ...]
    supports: tuple[bytes, ...]
    nodes: int
    is_cut: bool
    spent: float


class Yardstick:
    """One SVC fit, timed now and then while something else runs: the processor does not keep its speed."""

    def __init__(self, problem: SvmProblem) -> None:
        self._problem = problem
        self._fits: list[float] = []
        self._due = 0.0

    def measure(self) -> None:
        """Measure now."""
        self._fits.append(svc_fit_seconds(self._problem))
        self._due = time.process_time() + YARDSTICK_EVERY

    def measure_if_due(self) -> None:
        """Measure if the last time is long enough ago."""
        if time.process_time() >= self._due:
            self.measure()

    @property
    def seconds(self) -> float:
        """The mean over all measurements."""
        return fmean(self._fits)


def enumerate_timed(
    contestant: Contestant, problem: SvmProblem, limits: Limits, meanwhile: Callable[[], None] = lambda: None
) -> TimedRun:
    """Enumerate once, with a look at the clock at every model; what is done `meanwhile` does not count."""
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
    """Return the CPU seconds of one SVC fit: the median of as many as take a twentieth of a second, at least one."""
    from sklearn.svm import SVC

    machine = SVC(kernel="linear", C=float(problem.upper[0]), tol=tol)
    seconds: list[float] = []
    while sum(seconds) < YARDSTICK_SECONDS:
        started = time.process_time()
        machine.fit(problem.X, problem.y)
        seconds.append(time.process_time() - started)
    return median(seconds)


def forecast(run: TimedRun, k: int) -> tuple[float, Basis]:
    """Return the seconds that k models take; the pace of a cut run is that after its second model.

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
    """The laps of one contestant, each with the SVC fit that it is measured by."""

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
    """Let everybody enumerate the best k models, lap by lap.

    Parameters
    ----------
    problem
        The problem.
    contestants
        Who takes part.
    k
        Number of models.
    seconds
        Time after which a contestant is stopped and its result extrapolated; None for no such time.
    progress
        Told what is under way.
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
    """Return the longest list of models that a solver proved."""
    lists = [run.supports for laps in entries if laps.contestant.name != PAPER_ALGORITHM for run in laps.runs]
    return max(lists, key=len, default=())
