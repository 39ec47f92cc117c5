"""Ranges in plain characters, one below the other on one scale: what is outside, what is inside, and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

WIDTH = 56
GUTTER = 16  # columns left of the axis


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
    lines = [title, *(f"{bar.label:>{GUTTER - 2}} |{_drawn(bar, scale)}".rstrip() for bar in bars)]
    lines.append(f"{'':{GUTTER - 1}}+{'-' * WIDTH}")
    lines.append(f"{'':{GUTTER - 1}}{0:<{WIDTH // 2}g}{scale / 2:<{WIDTH - WIDTH // 2}g}{scale:g}")
    return "\n".join(lines)


def _drawn(bar: RangeBar, scale: float) -> str:
    cells = [" "] * (WIDTH + 1)
    for sign, (low, high) in ((".", bar.outer), ("=", bar.inner)):
        for place in range(_place(low, scale), _place(high, scale) + 1):
            cells[place] = sign
    for mark, value in bar.marks.items():
        cells[_place(value, scale)] = mark
    return "".join(cells)


def _place(value: float, scale: float) -> int:
    return round(WIDTH * min(max(value / scale, 0.0), 1.0))
