"""Log-log plots in plain characters, for 80 columns and no colour."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from fairenum.runtime.formatting import Estimated, three_digits

BARS_WIDTH = 56


BARS_GUTTER = 16  # columns left of the axis


class RangeBar(NamedTuple):
    """One range within another, and single characters at some numbers."""

    label: str
    outer: tuple[float, float]
    inner: tuple[float, float]
    marks: Mapping[str, float]


def draw_ranges(bars: Sequence[RangeBar], title: str) -> str:
    """Draw ranges on one scale from 0: dots outside, equals signs inside, and marks over both."""
    top = max(value for bar in bars for value in (*bar.outer, *bar.marks.values()))
    scale = next(step for step in (0.1, 0.2, 0.5, 1.0, top) if step >= top)
    lines = [title, *(f"{bar.label:>{BARS_GUTTER - 2}} |{_drawn(bar, scale)}".rstrip() for bar in bars)]
    lines.append(f"{'':{BARS_GUTTER - 1}}+{'-' * BARS_WIDTH}")
    lines.append(f"{'':{BARS_GUTTER - 1}}{0:<{BARS_WIDTH // 2}g}{scale / 2:<{BARS_WIDTH - BARS_WIDTH // 2}g}{scale:g}")
    return "\n".join(lines)


def _drawn(bar: RangeBar, scale: float) -> str:
    cells = [" "] * (BARS_WIDTH + 1)
    for sign, (low, high) in ((".", bar.outer), ("=", bar.inner)):
        for place in range(_bar_place(low, scale), _bar_place(high, scale) + 1):
            cells[place] = sign
    for mark, value in bar.marks.items():
        cells[_bar_place(value, scale)] = mark
    return "".join(cells)


def _bar_place(value: float, scale: float) -> int:
    return round(BARS_WIDTH * min(max(value / scale, 0.0), 1.0))


CURVE_WIDTH = 60


CURVE_GUTTER = 16  # columns left of the axis


class Quartiles(Protocol):
    """The quartiles of some values."""

    @property
    def q25(self) -> float:
        """The lower quartile."""

    @property
    def q75(self) -> float:
        """The upper quartile."""


class Bar(NamedTuple):
    """One point of a curve: its place, mean with limits, and quartiles."""

    label: str
    mean: Estimated
    quartiles: Quartiles | None


def draw_curve(curves: Sequence[tuple[str, Sequence[Bar]]], title: str) -> str:
    """Draw curves one below the other, on one scale from 0."""
    bars = [bar for _, curve in curves for bar in curve]
    top = max((max(bar.quartiles.q75, bar.mean.high or 0.0) for bar in bars if bar.quartiles), default=0.0)
    scale = next(step for step in (0.1, 0.2, 0.5, 1.0, top) if step >= top)
    lines = [title, "(o mean, [ ] its interval, . middle half of the draws)"]
    for name, curve in curves:
        lines.append(name)
        lines += [f"{bar.label:>{CURVE_GUTTER - 2}} |{_bar(bar, scale)}".rstrip() for bar in curve]
    lines.append(f"{'':{CURVE_GUTTER - 1}}+{'-' * CURVE_WIDTH}")
    lines.append(_ticks(scale))
    return "\n".join(lines)


def _bar(bar: Bar, scale: float) -> str:
    """Draw one point: the middle half, over it the interval of the mean, over that the mean."""
    if bar.quartiles is None or bar.mean.value is None:
        return ""
    cells = [" "] * (CURVE_WIDTH + 1)
    for place in range(_place(bar.quartiles.q25, scale), _place(bar.quartiles.q75, scale) + 1):
        cells[place] = "."
    if bar.mean.low is not None and bar.mean.high is not None:
        cells[_place(bar.mean.low, scale)] = "["
        cells[_place(bar.mean.high, scale)] = "]"
    cells[_place(bar.mean.value, scale)] = "o"
    return "".join(cells)


def _place(value: float, scale: float) -> int:
    return round(min(max(value / scale, 0.0), 1.0) * CURVE_WIDTH) if scale else 0


def _ticks(scale: float) -> str:
    line = ""
    for part in range(5):
        mark = f"{part * scale / 4:.3g}"
        line = line.ljust(CURVE_GUTTER + part * CURVE_WIDTH // 4 - len(mark) // 2) + mark
    return line


WIDTH = 62
HEIGHT = 15
GUTTER = 9  # columns left of the axis
OVERLAP = "*"
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


class Line(NamedTuple):
    """Seconds at some sizes, and a remark beside the name."""

    name: str
    sizes: Sequence[int]
    seconds: Sequence[float]
    legend: str


def draw_loglog(lines: Sequence[Line], title: str) -> str:
    """Draw lines over each other, with a legend."""
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
            " " * GUTTER + "+" + "-" * WIDTH,
            _size_labels(lines, across),
            *(f"{marks[line.name]:>{GUTTER}} {line.name}: {line.legend}" for line in lines),
        ]
    )


class _Scale:
    """A logarithmic axis of a number of steps."""

    def __init__(self, values: Sequence[float], steps: int) -> None:
        self.low, high = math.log10(min(values)), math.log10(max(values))
        self.step = (high - self.low) / steps or 1.0

    def place(self, value: float) -> int:
        return round((math.log10(value) - self.low) / self.step)

    def value(self, place: int) -> float:
        return float(10 ** (self.low + place * self.step))


def _marks(names: Sequence[str]) -> dict[str, str]:
    """Give each name a letter of its own: one that it holds, if one is free."""
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
    """Put the axis left of the canvas, with a time at every fourth row."""
    last = len(canvas) - 1
    labels = {row: duration(up.value(last - row)) for row in range(last, -1, -4)}
    return [f"{labels.get(row, ''):>{GUTTER - 1}} |{''.join(cells)}".rstrip() for row, cells in enumerate(canvas)]


def _size_labels(lines: Sequence[Line], across: _Scale) -> str:
    """Write the sizes under their columns, as far as they have room."""
    labels = ""
    for size in sorted({size for line in lines for size in line.sizes}):
        text = str(size)
        start = min(GUTTER + 1 + across.place(size), GUTTER + 1 + WIDTH - len(text))
        if start > len(labels):
            labels = labels.ljust(start) + text
    return labels


def duration(seconds: float) -> str:
    """Write a time in a unit that suits it."""
    scale, unit = next(((scale, unit) for scale, unit in UNITS if seconds >= scale), UNITS[-1])
    return f"{three_digits(seconds / scale)} {unit}"
