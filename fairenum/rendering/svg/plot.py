"""A plot: two axes, layers between them, and a key that says what is what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from markupsafe import Markup

from fairenum.rendering.svg.markup import element, joined, number
from fairenum.rendering.svg.scale import Scale, decade_labels, labels, reach
from fairenum.rendering.svg.shapes import Shape, icon

LETTER = 6.8  # the usual width of a letter in a key or a label
LINE = 18.0


@dataclass(frozen=True, slots=True)
class Axis:
    """What runs along one side.

    Attributes
    ----------
    label
        What it measures.
    low, high
        Its ends; as far as the layers reach if not given.
    is_log
        Whether it is logarithmic.
    least
        The smallest spread to show.
    names
        Names of the places 0, 1, ... instead of numbers.
    is_above
        Whether names stand above what they name, where they may be long.
    """

    label: str
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    least: float = 0.0
    names: tuple[str, ...] = ()
    is_above: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the key: a sign and what it stands for."""

    text: str
    tone: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class Frame:
    """The pixels of a plot: its scales, once its axes are known."""

    x: Scale
    y: Scale


class Layer(Protocol):
    """Something to draw between the axes."""

    def xs(self) -> Iterator[float | None]:
        """Yield the numbers that the horizontal axis has to reach."""

    def ys(self) -> Iterator[float | None]:
        """Yield the numbers that the vertical axis has to reach."""

    def drawn(self, frame: Frame) -> Markup:
        """Draw it."""


Ends = tuple[float, float]


@dataclass(frozen=True)  # no slots: what is fitted to the layers is kept
class Plot:
    """Axes, layers, a key and perhaps a title; `name` is its accessible name, `description` what one sees in it."""

    name: str
    description: str
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    key: tuple[Key, ...] = ()
    width: float = 460.0
    height: float = 320.0
    left: float = 58.0
    title: str = ""
    identity: str | None = None

    @property
    def head(self) -> float:
        """The room that the title takes."""
        return LINE + 4.0 if self.title else 0.0

    @cached_property
    def ends(self) -> tuple[Ends, Ends]:
        """Where the axes begin and end, fitted to the layers."""
        across = _ends(self.x, [value for layer in self.layers for value in layer.xs()])
        upward = _ends(self.y, [value for layer in self.layers for value in layer.ys()])
        return across, upward

    @cached_property
    def frame(self) -> Frame:
        """The scales."""
        top = 14.0 + self.head + LINE * len(key_lines(self.key, self.width - self.left))
        across, upward = self.ends
        return Frame(
            Scale(*across, self.left, self.width - 14.0, self.x.is_log),
            Scale(*upward, self.height - 44.0, top, self.y.is_log),
        )


def aligned(plots: Iterable[Plot]) -> tuple[Plot, ...]:
    """Give plots the same axes: as far as any of them reaches."""
    found = tuple(plots)
    if not found:
        return ()
    (left, right), (bottom, top) = (_reach(plot.ends[axis] for plot in found) for axis in (0, 1))
    return tuple(
        replace(plot, x=replace(plot.x, low=left, high=right), y=replace(plot.y, low=bottom, high=top))
        for plot in found
    )


def _reach(ends: Iterable[Ends]) -> Ends:
    lows, highs = zip(*ends, strict=True)
    return min(lows), max(highs)


def _ends(axis: Axis, values: Sequence[float | None]) -> Ends:
    if axis.names:
        return -0.5, len(axis.names) - 0.5
    positive = [value for value in values if not axis.is_log or (value or 0.0) > 0.0]
    low, high = reach(positive, least=axis.least)
    if axis.is_log:
        known = [value for value in positive if value is not None]
        low, high = (min(known) / 1.5, max(known) * 1.5) if known else (0.1, 1.0)
    low = low if axis.low is None else axis.low
    high = high if axis.high is None else axis.high
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def axes(plot: Plot, frame: Frame) -> Markup:
    """Draw grid lines, ticks and labels."""
    bottom, left = frame.y.start, frame.x.start
    parts = [*_upright(plot.y, frame), *_level(plot.x, frame)]
    middle = (frame.x.start + frame.x.end) / 2
    parts.append(element("path", class_="axis", d=f"M{number(left)},{number(bottom)}H{number(frame.x.end)}"))
    parts.append(element("text", plot.x.label, class_="label", x=middle, y=plot.height - 8.0, text_anchor="middle"))
    parts.append(_upright_label(plot.y.label, frame))
    return joined(parts)


def _upright_label(label: str, frame: Frame) -> Markup:
    middle = (frame.y.start + frame.y.end) / 2
    turn = f"rotate(-90 14 {number(middle)})"
    return element("text", label, class_="label", x=14.0, y=middle, text_anchor="middle", transform=turn)


def _upright(axis: Axis, frame: Frame) -> Iterator[Markup]:
    for text, place in _ticks(axis, frame.y, count=5):
        if not axis.names:
            line = f"M{number(frame.x.start)},{number(place)}H{number(frame.x.end)}"
            yield element("path", class_="grid", d=line)
        if axis.is_above:
            rise = abs(frame.y(1.0) - frame.y(0.0)) if len(axis.names) > 1 else frame.y.start - frame.y.end
            yield element("text", text, class_="tick", x=frame.x.start, y=place - rise / 2 + 11.0)
        else:
            yield element("text", text, class_="tick", x=frame.x.start - 7.0, y=place + 4.0, text_anchor="end")


def _level(axis: Axis, frame: Frame) -> Iterator[Markup]:
    room = max(2, int((frame.x.end - frame.x.start) // 75))
    for text, place in _ticks(axis, frame.x, count=room):
        yield element("path", class_="axis", d=f"M{number(place)},{number(frame.y.start)}v4")
        yield element("text", text, class_="tick", x=place, y=frame.y.start + 17.0, text_anchor="middle")


def _ticks(axis: Axis, scale: Scale, count: int) -> Iterator[tuple[str, float]]:
    if axis.names:
        yield from ((name, scale(place)) for place, name in enumerate(axis.names))
        return
    ticks = scale.ticks(count)
    texts = decade_labels(ticks) if scale.is_log else labels(ticks)
    yield from zip(texts, map(scale, ticks), strict=True)


def key_lines(key: Sequence[Key], width: float) -> list[list[tuple[float, Key]]]:
    """Lay the entries of a key out in lines: where each begins."""
    lines: list[list[tuple[float, Key]]] = []
    place = width
    for entry in key:
        size = 32.0 + LETTER * len(entry.text)
        if place + size > width or not lines:
            lines.append([])
            place = 0.0
        lines[-1].append((place, entry))
        place += size
    return lines


def heading(plot: Plot) -> Markup:
    """Draw title and key above the plot."""
    parts = [element("text", plot.title, class_="title", x=plot.left, y=14.0)] if plot.title else []
    for row, line in enumerate(key_lines(plot.key, plot.width - plot.left)):
        for place, entry in line:
            x, y = plot.left + place + 6.0, plot.head + 10.0 + LINE * row
            parts.append(element("g", icon(entry.shape, x, y), class_=entry.tone))
            parts.append(element("text", entry.text, class_="tick", x=x + 10.0, y=y + 4.0))
    return joined(parts)
