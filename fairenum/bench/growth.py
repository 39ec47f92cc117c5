"""Growth: how the time rises with the number of examples, of features and of models, on random data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fairenum.bench.contest import Announce, Contestant, TimedRun, enumerate_timed, svc_fit_seconds
from fairenum.document.bench import GrowthSeries
from fairenum.document.terms import GrowthAxis
from fairenum.enumeration.search import Limits
from fairenum.errors import FairenumError
from fairenum.problem import SvmProblem

EXAMPLES = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
FEATURES = (2, 4, 8, 16, 32, 64)
MODELS = (10, 20, 50, 100, 200, 500, 1000, 2000)
# What the other two are while one grows.
FIXED: Mapping[GrowthAxis, int] = {"n": 200, "d": 10, "k": 10}
QUICK = 0.1  # below so many seconds the better of two runs counts
ONE_FIT = "SVC fit"


def random_problem(n: int, d: int, seed: int = 0, cost: float = 1.0) -> SvmProblem:
    """Draw normal features, and labels by a plane that errs on about a seventh of the examples."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d))
    decision = X.sum(axis=1) / np.sqrt(d) + 0.5 * generator.standard_normal(n)
    return SvmProblem(X, np.where(decision >= np.median(decision), 1.0, -1.0), cost=cost)


def measure_growth(
    contestants: Sequence[Contestant], seed: int, seconds: float, progress: Announce = lambda _: None
) -> tuple[GrowthSeries, ...]:
    """Measure everybody over all three axes.

    Parameters
    ----------
    contestants
        Who takes part.
    seed
        Seed of the random data.
    seconds
        Time for one point; who needs more goes no further on that axis.
    progress
        Told what is under way.
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
    return [_series(name, axis, measured) for name, measured in points.items()]


def _over_models(
    contestants: Sequence[Contestant], seed: int, seconds: float, progress: Announce
) -> list[GrowthSeries]:
    """Measure the first models and the thousandth in one run each: the clock is read at every model."""
    problem = random_problem(FIXED["n"], FIXED["d"], seed)
    series = []
    for contestant in contestants:
        progress(f"growth: {contestant.name}, up to {MODELS[-1]} models")
        run = _quickest(contestant, problem, Limits(MODELS[-1], seconds=seconds))
        found = run.seconds if run else ()
        series.append(_series(contestant.name, "k", {k: found[k - 1] for k in MODELS if k <= len(found)}))
    return series


def _quickest(contestant: Contestant, problem: SvmProblem, limits: Limits) -> TimedRun | None:
    """Run once, or twice if that is quick; None if the contestant fails."""
    try:
        run = enumerate_timed(contestant, problem, limits)
        if run.spent < QUICK:
            run = min(run, enumerate_timed(contestant, problem, limits), key=lambda run: run.spent)
    except FairenumError:
        return None
    return run


def _series(name: str, axis: GrowthAxis, points: Mapping[int, float]) -> GrowthSeries:
    sizes, seconds = tuple(points), tuple(points.values())
    return GrowthSeries(name, axis, sizes, seconds, slope(sizes, seconds))


def slope(sizes: Sequence[int], values: Sequence[float]) -> float | None:
    """Fit the power of the size that values grow like, by the larger half of them; None of too few."""
    if len(sizes) < 3:
        return None
    larger = slice(min(len(sizes) // 2, len(sizes) - 3), None)
    return float(np.polyfit(np.log(sizes[larger]), np.log(values[larger]), 1)[0])
