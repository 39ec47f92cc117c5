"""Log-log plots in plain characters, for 80 columns and no colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from fairenum.rendering.numbers import three_digits

WIDTH = 62
HEIGHT = 15
GUTTER = 9  # columns left of the axis
OVERLAP = "*"
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


class Line(NamedTuple):
    """Seconds at some sizes, and what is to be said about them beside the name."""

    name: str
    sizes: Sequence[int]
    seconds: Sequence[float]
    legend: str


def draw(lines: Sequence[Line], title: str) -> str:
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
