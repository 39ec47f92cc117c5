"""The growth study: tables to a million rows and 3000 columns, lists to 10,000 models, each point in its own process.

Who needs longer than is allowed for a point goes no further on that axis.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from fairenum.bench.contest import Announce
from fairenum.bench.growth import slope
from fairenum.bench.point import Point, Taken
from fairenum.document.bench import GrowthSeries, GrowthTable, GrowthTask
from fairenum.document.terms import GrowthAxis, KernelName

ROWS = (1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000)
KERNEL_ROWS = (1_000, 2_000, 5_000, 10_000, 20_000)
COLUMNS = (10, 30, 100, 300, 1_000, 3_000)
MODELS = (1, 10, 100, 1_000, 10_000)
LINEAR, KERNEL, AUDITS = ("fairenum", "SVC", "LinearSVC"), ("fairenum", "SVC"), (
    "fairenum", "ExponentiatedGradient", "GridSearch",
)  # fmt: skip
PATIENCE = 20.0  # times the seconds of a point: who is kept waiting for a processor is not slow


@dataclass(frozen=True, slots=True)
class Plan:
    """One axis along which some contestants do one task.

    Attributes
    ----------
    fixed
        What the other axes are meanwhile.
    """

    task: GrowthTask
    contestants: Sequence[str]
    axis: GrowthAxis
    sizes: Sequence[int]
    table: GrowthTable = "numbers"
    kernel: KernelName = "linear"
    fixed: Mapping[GrowthAxis, int] = field(default_factory=dict)

    def point(self, name: str, size: int, seed: int, seconds: float) -> Point:
        """Return what is to be measured."""
        shape = {"n": 4_000, "d": 20, "k": 50, **self.fixed, self.axis: size}
        return Point(self.task, name, self.table, self.kernel, shape["n"], shape["d"], shape["k"], seed, seconds)

    @property
    def others(self) -> dict[GrowthAxis, int]:
        """What the axes that matter to the task are, besides the one that grows."""
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
    """Measure everybody along every axis.

    Parameters
    ----------
    seed
        Of the random tables.
    seconds
        Of the processor, for one point.
    progress
        Told what is under way.
    study
        What is measured; all of it by default.
    """
    plans = STUDY if study is None else study
    return tuple(_measured(plan, name, seed, seconds, progress) for plan in plans for name in plan.contestants)


def _measured(plan: Plan, name: str, seed: int, seconds: float, progress: Announce) -> GrowthSeries:
    found: dict[int, tuple[float, float]] = {}
    if plan.axis == "k":  # one process lists them all, and reads the clock at each
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
    """Measure a point in a process of its own; None if that took too long, or failed."""
    command = [sys.executable, "-m", "fairenum.bench.point", msgspec.json.encode(point).decode()]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE * point.seconds, check=False)
    except subprocess.TimeoutExpired:
        return None
    if ended.returncode:
        return None
    taken = msgspec.json.decode(ended.stdout, type=Taken)
    return taken if point.task == "models" or taken.seconds[-1] <= point.seconds else None
