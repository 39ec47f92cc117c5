"""A curve with bands in plain characters: it runs downwards, so that 80 columns and a log are enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from fairenum.rendering.numbers import Estimated

WIDTH = 60
GUTTER = 16  # columns left of the axis


class Quartiles(Protocol):
    """Where the middle half of some values lies."""

    @property
    def q25(self) -> float:
        """A quarter is below it."""

    @property
    def q75(self) -> float:
        """A quarter is above it."""


class Bar(NamedTuple):
    """One point of a curve: where it stands, its mean with limits, and the quartiles of what it is the mean of."""

    label: str
    mean: Estimated
    quartiles: Quartiles | None


def draw(curves: Sequence[tuple[str, Sequence[Bar]]], title: str) -> str:
    """Draw curves one below the other, on one scale from 0."""
    bars = [bar for _, curve in curves for bar in curve]
    top = max((max(bar.quartiles.q75, bar.mean.high or 0.0) for bar in bars if bar.quartiles), default=0.0)
    scale = next(step for step in (0.1, 0.2, 0.5, 1.0, top) if step >= top)
    lines = [title, "(o mean, [ ] its interval, . middle half of the draws)"]
    for name, curve in curves:
        lines.append(name)
        lines += [f"{bar.label:>{GUTTER - 2}} |{_bar(bar, scale)}".rstrip() for bar in curve]
    lines.append(f"{'':{GUTTER - 1}}+{'-' * WIDTH}")
    lines.append(_ticks(scale))
    return "\n".join(lines)


def _bar(bar: Bar, scale: float) -> str:
    """Draw one point: the middle half, over it the interval of the mean, over that the mean."""
    if bar.quartiles is None or bar.mean.value is None:
        return ""
    cells = [" "] * (WIDTH + 1)
    for place in range(_place(bar.quartiles.q25, scale), _place(bar.quartiles.q75, scale) + 1):
        cells[place] = "."
    if bar.mean.low is not None and bar.mean.high is not None:
        cells[_place(bar.mean.low, scale)] = "["
        cells[_place(bar.mean.high, scale)] = "]"
    cells[_place(bar.mean.value, scale)] = "o"
    return "".join(cells)


def _place(value: float, scale: float) -> int:
    return round(min(max(value / scale, 0.0), 1.0) * WIDTH) if scale else 0


def _ticks(scale: float) -> str:
    line = ""
    for part in range(5):
        mark = f"{part * scale / 4:.3g}"
        line = line.ljust(GUTTER + part * WIDTH // 4 - len(mark) // 2) + mark
    return line
