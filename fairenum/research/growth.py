"""Growth of running time and memory with the numbers of examples (n), of features (d) and of models (k).

`measure_growth` times solvers in this process. `measure_scale` goes up to a million rows, 3000 columns and 10,000
models, and measures each size in a process of its own. When an algorithm exceeds the time limit at one size, larger
sizes are skipped.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from fairenum.document.research_documents import GrowthSeries, GrowthTable, GrowthTask
from fairenum.document.terms import GrowthAxis, KernelName
from fairenum.enumeration.search import Limits
from fairenum.errors import FairenumError
from fairenum.research.growth_point import Point, Taken
from fairenum.research.race import Announce, Contestant, TimedRun, enumerate_timed, svc_fit_seconds
from fairenum.svm.problem import SvmProblem

EXAMPLES = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
FEATURES = (2, 4, 8, 16, 32, 64)
RANDOM_MODELS = (10, 20, 50, 100, 200, 500, 1000, 2000)

# Values of n, d and k while another one of them is varied.
FIXED: Mapping[GrowthAxis, int] = {"n": 200, "d": 10, "k": 10}
QUICK = 0.1  # seconds; a quicker run is repeated, and the better of the two counts
ONE_FIT = "SVC fit"


def random_problem(n: int, d: int, seed: int = 0, cost: float = 1.0) -> SvmProblem:
    """Return an SVM problem with normally distributed features, and labels by a hyperplane with noise.

    The hyperplane misclassifies about a seventh of the n examples.
    """
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d))
    decision = X.sum(axis=1) / np.sqrt(d) + 0.5 * generator.standard_normal(n)
    return SvmProblem(X, np.where(decision >= np.median(decision), 1.0, -1.0), cost=cost)


def measure_growth(
    contestants: Sequence[Contestant], seed: int, seconds: float, progress: Announce = lambda _: None
) -> tuple[GrowthSeries, ...]:
    """Time all algorithms for growing numbers of examples, of features and of models.

    An algorithm that takes longer than `seconds` at one size is not run at larger sizes.
    """
    return (
        *_over_data("n", EXAMPLES, contestants, seed, seconds, progress),
        *_over_data("d", FEATURES, contestants, seed, seconds, progress),
        *_over_models(contestants, seed, seconds, progress),
    )


def _over_data(
    axis: GrowthAxis,
    sizes: Iterable[int],
    contestants: Sequence[Contestant],
    seed: int,
    seconds: float,
    progress: Announce,
) -> list[GrowthSeries]:
    points: dict[str, dict[int, float]] = {contestant.name: {} for contestant in contestants}
    points[ONE_FIT] = {}
    running = list(contestants)
    for size in sizes:
        shape = {**FIXED, axis: size}
        problem = random_problem(shape["n"], shape["d"], seed)
        points[ONE_FIT][size] = svc_fit_seconds(problem)
        for contestant in tuple(running):
            progress(f"growth: {contestant.name}, {axis} = {size}")
            if (run := _quickest(contestant, problem, Limits(FIXED["k"], seconds=seconds))) and not run.is_cut:
                points[contestant.name][size] = run.seconds[-1]
            else:
                running.remove(contestant)
    return [_random_series(name, axis, measured) for name, measured in points.items()]


def _over_models(
    contestants: Sequence[Contestant], seed: int, seconds: float, progress: Announce
) -> list[GrowthSeries]:
    """Return each algorithm's CPU seconds up to each number of models in `RANDOM_MODELS`, all from one run."""
    problem = random_problem(FIXED["n"], FIXED["d"], seed)
    series = []
    for contestant in contestants:
        progress(f"growth: {contestant.name}, up to {RANDOM_MODELS[-1]} models")
        run = _quickest(contestant, problem, Limits(RANDOM_MODELS[-1], seconds=seconds))
        found = run.seconds if run else ()
        series.append(_random_series(contestant.name, "k", {k: found[k - 1] for k in RANDOM_MODELS if k <= len(found)}))
    return series


def _quickest(contestant: Contestant, problem: SvmProblem, limits: Limits) -> TimedRun | None:
    try:
        run = enumerate_timed(contestant, problem, limits)
        if run.spent < QUICK:
            run = min(run, enumerate_timed(contestant, problem, limits), key=lambda run: run.spent)
    except FairenumError:
        return None
    return run


def _random_series(name: str, axis: GrowthAxis, points: Mapping[int, float]) -> GrowthSeries:
    sizes, seconds = tuple(points), tuple(points.values())
    return GrowthSeries(name, axis, sizes, seconds, slope(sizes, seconds))


def slope(sizes: Sequence[int], values: Sequence[float]) -> float | None:
    """Return the slope of log(value) over log(size), fitted to the larger half of the sizes; None below three sizes."""
    if len(sizes) < 3:
        return None
    larger = slice(min(len(sizes) // 2, len(sizes) - 3), None)
    return float(np.polyfit(np.log(sizes[larger]), np.log(values[larger]), 1)[0])


ROWS = (1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000)
KERNEL_ROWS = (1_000, 2_000, 5_000, 10_000, 20_000)
COLUMNS = (10, 30, 100, 300, 1_000, 3_000)
MODELS = (1, 10, 100, 1_000, 10_000)
LINEAR, KERNEL = ("fairenum", "SVC", "LinearSVC"), ("fairenum", "SVC")
AUDITS = ("fairenum", "ExponentiatedGradient", "GridSearch")
PATIENCE = 20.0  # limit of elapsed time, as a multiple of the limit of CPU time: a process may wait for a processor


@dataclass(frozen=True, slots=True)
class Plan:
    """A series of measurements: a task for several programs, at growing numbers of examples n, features d or models k.

    `axis` says which of the three grows; `fixed` overrides the default values of the other two.
    """

    task: GrowthTask
    contestants: Sequence[str]
    axis: GrowthAxis
    sizes: Sequence[int]
    table: GrowthTable = "numbers"
    kernel: KernelName = "linear"
    fixed: Mapping[GrowthAxis, int] = field(default_factory=dict)

    def point(self, name: str, size: int, seed: int, seconds: float) -> Point:
        """Return the measurement to make of a program at one size."""
        shape = {"n": 4_000, "d": 20, "k": 50, **self.fixed, self.axis: size}
        return Point(self.task, name, self.table, self.kernel, shape["n"], shape["d"], shape["k"], seed, seconds)

    @property
    def others(self) -> dict[GrowthAxis, int]:
        """The values of n, d and k that are kept fixed; k is left out unless the task is an audit."""
        point = self.point("", 0, 0, 0.0)
        shape: dict[GrowthAxis, int] = {"n": point.n, "d": point.d, "k": point.k}
        is_listed = self.task == "audit"
        return {axis: size for axis, size in shape.items() if axis != self.axis and (axis != "k" or is_listed)}


STUDY = (
    Plan("fit", LINEAR, "n", ROWS),
    Plan("fit", LINEAR, "n", ROWS, "one-hot", fixed={"d": 50}),
    Plan("fit", LINEAR, "d", COLUMNS),
    Plan("fit", LINEAR, "d", COLUMNS, "one-hot"),
    Plan("fit", KERNEL, "n", KERNEL_ROWS, kernel="rbf"),
    Plan("models", ("fairenum",), "k", MODELS, fixed={"n": 1_000}),
    Plan("models", ("fairenum",), "k", MODELS, kernel="rbf", fixed={"n": 1_000}),
    Plan("audit", AUDITS, "n", ROWS),
    Plan("audit", AUDITS, "n", ROWS, "one-hot", fixed={"d": 50}),
)


def measure_scale(
    seed: int, seconds: float, progress: Announce = lambda _: None, study: Sequence[Plan] | None = None
) -> tuple[GrowthSeries, ...]:
    """Measure time and memory for every plan of a study, with at most `seconds` of CPU time for each measurement."""
    plans = STUDY if study is None else study
    return tuple(_measured(plan, name, seed, seconds, progress) for plan in plans for name in plan.contestants)


def _measured(plan: Plan, name: str, seed: int, seconds: float, progress: Announce) -> GrowthSeries:
    found: dict[int, tuple[float, float]] = {}
    if plan.axis == "k":  # one process lists all models, and records the time at each
        progress(f"scale: {name}, {plan.task}, up to {plan.sizes[-1]} models")
        taken = taken_by(plan.point(name, plan.sizes[-1], seed, seconds))
        if taken:
            found = {k: (taken.seconds[k - 1], taken.memory) for k in plan.sizes if k <= len(taken.seconds)}
    else:
        for size in plan.sizes:
            progress(f"scale: {name}, {plan.task}, {plan.table}, {plan.kernel}, {plan.axis} = {size}")
            taken = taken_by(plan.point(name, size, seed, seconds))
            if taken is None:
                break
            found[size] = taken.seconds[-1], taken.memory
    return _series(plan, name, found)


def _series(plan: Plan, name: str, found: Mapping[int, tuple[float, float]]) -> GrowthSeries:
    sizes = tuple(found)
    seconds, memory = (tuple(one[place] for one in found.values()) for place in (0, 1))
    return GrowthSeries(
        name=name,
        axis=plan.axis,
        sizes=sizes,
        seconds=seconds,
        slope=slope(sizes, seconds),
        task=plan.task,
        table=plan.table,
        kernel=plan.kernel,
        memory=memory,
        memory_slope=slope(sizes, memory) if plan.axis != "k" else None,
        fixed=plan.others,
    )


def taken_by(point: Point) -> Taken | None:
    """Make a measurement in a process of its own, and return time and memory; None if it failed or took too long."""
    command = [sys.executable, "-m", "fairenum.research.growth_point", msgspec.json.encode(point).decode()]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE * point.seconds, check=False)
    except subprocess.TimeoutExpired:
        return None
    if ended.returncode:
        return None
    taken = msgspec.json.decode(ended.stdout, type=Taken)
    return taken if point.task == "models" or taken.seconds[-1] <= point.seconds else None
