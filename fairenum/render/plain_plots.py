"""Plots in plain characters, 80 columns wide: ranges, curves, and times on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from fairenum.runtime.formatting import Estimated, three_digits

GUTTER = 16  # characters left of the bars
RANGE_WIDTH, CURVE_WIDTH = 56, 60
Stroke = tuple[str, float, float]  # a character, and the values from and to which it is repeated


class RangeBar(NamedTuple):
    """A labelled bar: an outer and an inner range of values, and single values by the character that marks each."""

    label: str
    outer: tuple[float, float]
    inner: tuple[float, float]
    marks: Mapping[str, float]


class Quartiles(Protocol):
    """The lower and the upper quartile of the values that random draws gave at one point of a curve."""

    @property
    def q25(self) -> float:
        """The value that a quarter of the draws' values lie below."""

    @property
    def q75(self) -> float:
        """The value that a quarter of the draws' values lie above."""


class Bar(NamedTuple):
    """One point of a curve: its label, and the mean (with confidence limits) and the quartiles of its values."""

    label: str
    mean: Estimated
    quartiles: Quartiles | None


def draw_ranges(bars: Sequence[RangeBar], title: str) -> str:
    """Return a plot of bars on one scale from 0: outer ranges as dots, inner ones as equals signs, marks on top."""
    scale = _scale_end(max(value for bar in bars for value in (*bar.outer, *bar.marks.values())))
    half = RANGE_WIDTH // 2
    return "\n".join(
        [
            title,
            *(_bar_line(bar.label, _range_strokes(bar), scale, RANGE_WIDTH) for bar in bars),
            f"{'':{GUTTER - 1}}+{'-' * RANGE_WIDTH}",
            f"{'':{GUTTER - 1}}{0:<{half}g}{scale / 2:<{RANGE_WIDTH - half}g}{scale:g}",
        ]
    )


def _range_strokes(bar: RangeBar) -> list[Stroke]:
    return [(".", *bar.outer), ("=", *bar.inner), *((mark, value, value) for mark, value in bar.marks.items())]


def draw_curve(curves: Sequence[tuple[str, Sequence[Bar]]], title: str) -> str:
    """Return a plot of named curves one below the other, on one scale from 0, with a line of text for each point."""
    bars = [bar for _, curve in curves for bar in curve]
    tops = (max(bar.quartiles.q75, bar.mean.high or 0.0) for bar in bars if bar.quartiles)
    scale = _scale_end(max(tops, default=0.0))
    lines = [title, "(o mean, [ ] its interval, . middle half of the draws)"]
    for name, curve in curves:
        lines += [name, *(_bar_line(bar.label, _curve_strokes(bar), scale, CURVE_WIDTH) for bar in curve)]
    return "\n".join([*lines, f"{'':{GUTTER - 1}}+{'-' * CURVE_WIDTH}", _ticks(scale)])


def _curve_strokes(bar: Bar) -> list[Stroke]:
    mean, quartiles = bar.mean, bar.quartiles
    if quartiles is None or mean.value is None:
        return []
    strokes: list[Stroke] = [(".", quartiles.q25, quartiles.q75)]
    if mean.low is not None and mean.high is not None:
        strokes += [("[", mean.low, mean.low), ("]", mean.high, mean.high)]
    return [*strokes, ("o", mean.value, mean.value)]


def _scale_end(top: float) -> float:
    return next(end for end in (0.1, 0.2, 0.5, 1.0, top) if end >= top)


def _bar_line(label: str, strokes: Sequence[Stroke], scale: float, width: int) -> str:
    """Return a line of text with a label and strokes (character, low, high); a later stroke covers an earlier one."""

    def place(value: float) -> int:
        return round(width * min(max(value / scale, 0.0), 1.0))

    cells = [" "] * (width + 1)
    for sign, low, high in strokes:
        start, end = place(low), place(high) + 1
        cells[start:end] = sign * (end - start)
    return f"{label:>{GUTTER - 2}} |{''.join(cells)}".rstrip()


def _ticks(scale: float) -> str:
    line = ""
    for part in range(5):
        mark = f"{part * scale / 4:.3g}"
        line = line.ljust(GUTTER + part * CURVE_WIDTH // 4 - len(mark) // 2) + mark
    return line


WIDTH, HEIGHT = 62, 15
TIME_GUTTER = 9  # characters left of the plot of times
OVERLAP = "*"
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


class Line(NamedTuple):
    """The times of one solver in seconds, by problem size, and a remark for the legend."""

    name: str
    sizes: Sequence[int]
    seconds: Sequence[float]
    legend: str


def draw_loglog(lines: Sequence[Line], title: str) -> str:
    """Return a plot of times against problem sizes on logarithmic axes, with a legend."""
    lines = [line for line in lines if line.sizes]
    if not lines:
        return "nothing was measured in the time given"
    across = _Scale([size for line in lines for size in line.sizes], WIDTH - 1)
    up = _Scale([second for line in lines for second in line.seconds], HEIGHT - 1)
    marks = _marks([line.name for line in lines])
    return "\n".join(
        [
            f"{title} ({OVERLAP} where several meet)",
            *_with_gutter(_canvas(lines, marks, across, up), up),
            " " * TIME_GUTTER + "+" + "-" * WIDTH,
            _size_labels(lines, across),
            *(f"{marks[line.name]:>{TIME_GUTTER}} {line.name}: {line.legend}" for line in lines),
        ]
    )


class _Scale:
    """A logarithmic axis from the least to the largest of some values, in `steps` steps of one character each."""

    def __init__(self, values: Sequence[float], steps: int) -> None:
        self.low, high = math.log10(min(values)), math.log10(max(values))
        self.step = (high - self.low) / steps or 1.0

    def place(self, value: float) -> int:
        return round((math.log10(value) - self.low) / self.step)

    def value(self, place: int) -> float:
        return float(10 ** (self.low + place * self.step))


def _marks(names: Sequence[str]) -> dict[str, str]:
    """Return a different letter for each name, if possible one that occurs in the name."""
    marks: dict[str, str] = {}
    for name in names:
        letters = [*filter(str.isalnum, name), *"abcdefghijklmnopqrstuvwxyz"]
        marks[name] = next((letter for letter in letters if letter not in marks.values()), "?")
    return marks


def _canvas(lines: Sequence[Line], marks: dict[str, str], across: _Scale, up: _Scale) -> list[list[str]]:
    canvas = [[" "] * WIDTH for _ in range(HEIGHT)]
    for line in lines:
        for size, seconds in zip(line.sizes, line.seconds, strict=True):
            row, column = canvas[HEIGHT - 1 - up.place(seconds)], across.place(size)
            row[column] = marks[line.name] if row[column] in (" ", marks[line.name]) else OVERLAP
    return canvas


def _with_gutter(canvas: Sequence[Sequence[str]], up: _Scale) -> list[str]:
    """Return the lines of a plot with the vertical axis at the left, and a time at every fourth line."""
    last = len(canvas) - 1
    labels = {row: duration(up.value(last - row)) for row in range(last, -1, -4)}
    return [f"{labels.get(row, ''):>{TIME_GUTTER - 1}} |{''.join(cells)}".rstrip() for row, cells in enumerate(canvas)]


def _size_labels(lines: Sequence[Line], across: _Scale) -> str:
    """Return the line of problem sizes below a plot; a size that would overlap the one before it is left out."""
    labels = ""
    for size in sorted({size for line in lines for size in line.sizes}):
        text = str(size)
        start = min(TIME_GUTTER + 1 + across.place(size), TIME_GUTTER + 1 + WIDTH - len(text))
        if start > len(labels):
            labels = labels.ljust(start) + text
    return labels


def duration(seconds: float) -> str:
    """Return a time as text, in seconds, milliseconds or microseconds."""
    scale, unit = next(((scale, unit) for scale, unit in UNITS if seconds >= scale), UNITS[-1])
    return f"{three_digits(seconds / scale)} {unit}"
