"""How times and memory grow, in words."""

from __future__ import annotations

from collections.abc import Mapping

from fairenum.document.bench import GrowthSeries, GrowthSubject, GrowthTable, GrowthTask
from fairenum.document.terms import GrowthAxis
from fairenum.rendering.loglog import duration
from fairenum.rendering.numbers import three_digits
from fairenum.rendering.text import capitalised
from fairenum.report.wording import AXES, short

CAPTION = (
    "CPU seconds on random data against examples, features and models, all axes logarithmic: a straight line grows "
    "like a power, and a steeper one like a larger power."
)
NOTES = (
    "Each point is a process of its own, one processor; its memory is what it held at most, imports among it. Who took "
    "longer than a point may take, or failed, went no further. LinearSVC stops after a thousand rounds, converged or "
    "not; fairlearn's methods train a logistic regression on the rows that the audit trains on.",
)
TASKS: Mapping[GrowthTask, str] = {"fit": "the best machine", "models": "the k best models", "audit": "a whole audit"}
TABLES: Mapping[GrowthTable, str] = {"numbers": "numbers", "one-hot": "5 categories, one-hot"}
PLAIN = GrowthSubject("models", "numbers", "linear", "n")


def title(subject: GrowthSubject) -> str:
    """Head a plot of growth in plain characters."""
    if subject._replace(axis="n") != PLAIN:
        return f"{capitalised(task_of(subject))}: CPU time over {subject.axis}"
    return f"CPU time against {AXES[subject.axis]}, both logarithmic"


def heading(subject: GrowthSubject) -> str:
    """Head a plot of growth on a page."""
    return AXES[subject.axis] if subject._replace(axis="n") == PLAIN else capitalised(task_of(subject))


def task_of(subject: GrowthSubject) -> str:
    """Say what was done, on what."""
    kernel = "" if subject.kernel == "linear" else f", {subject.kernel} kernel"
    return f"{TASKS[subject.task]}, {TABLES[subject.table]}{kernel}"


def end(series: GrowthSeries) -> str:
    """Say where a line of growth ends, and how steep it is."""
    last = f"{duration(series.seconds[-1])} at {series.axis} = {series.sizes[-1]}" if series.sizes else ""
    return last + ("" if series.slope is None else f", grows like {power(series.axis, series.slope)}")


def power(axis: GrowthAxis, slope: float | None) -> str:
    """Write what something grows like."""
    return "" if slope is None else f"{axis}^{slope:.1f}"


def cells(series: GrowthSeries) -> tuple[str, ...]:
    """Say how far a contestant came, and what it took there."""
    fixed = ", ".join(f"{axis} = {size:,}" for axis, size in series.fixed.items())
    what = f"{task_of(series.subject)} ({fixed})"
    if not series.sizes:
        return what, short(series.name), "nowhere", "", "", "", ""
    return (
        what,
        short(series.name),
        f"{series.axis} = {series.sizes[-1]:,}",
        three_digits(series.seconds[-1]),
        power(series.axis, series.slope),
        f"{series.memory[-1] / 1e9:.2f} GB",
        power(series.axis, series.memory_slope),
    )
