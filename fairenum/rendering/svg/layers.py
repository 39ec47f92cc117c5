"""What stands between the axes: marks with intervals, curves with bands, bars, rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from markupsafe import Markup

from fairenum.rendering.svg.labels import place
from fairenum.rendering.svg.markup import element, joined, number
from fairenum.rendering.svg.plot import Frame, Layer, Plot
from fairenum.rendering.svg.shapes import Shape, icon

Interval = tuple[float | None, float | None]
UNKNOWN: Interval = (None, None)


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at (x, y), perhaps with intervals, a name, a label beside it, a link, and data for a script."""

    x: float
    y: float
    name: str = ""
    across: Interval = UNKNOWN
    upward: Interval = UNKNOWN
    tone: str = "tone-1"
    shape: Shape = "circle"
    label: str = ""
    link: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class Marks:
    """Many marks; later ones lie on top."""

    marks: tuple[Mark, ...]

    def xs(self) -> Iterator[float | None]:
        """Yield where marks and their intervals are."""
        for mark in self.marks:
            yield from (mark.x, *mark.across)

    def ys(self) -> Iterator[float | None]:
        """Yield where marks and their intervals are."""
        for mark in self.marks:
            yield from (mark.y, *mark.upward)

    def drawn(self, frame: Frame) -> Markup:
        """Draw intervals and marks, then labels on top of them all."""
        middles = [(frame.x(mark.x), frame.y(mark.y)) for mark in self.marks]
        named = [(mark.label, *middle) for mark, middle in zip(self.marks, middles, strict=True) if mark.label]
        labels = (
            element("text", label.text, class_="note", x=label.x, y=label.y, text_anchor=label.anchor)
            for label in place(named, middles, frame)
        )
        groups = (
            element("g", *(_mark(mark, frame) for mark in marks), class_=tone)
            for tone, marks in groupby(self.marks, key=lambda mark: mark.tone)
        )
        return element("g", *groups, *labels, class_="marks")


def unlinked(plots: Iterable[Plot]) -> tuple[Plot, ...]:
    """Take names and links off plots that have no table to lead to."""
    return tuple(replace(plot, identity=None, layers=tuple(map(_without_links, plot.layers))) for plot in plots)


def _without_links(layer: Layer) -> Layer:
    return Marks(tuple(replace(mark, link=None) for mark in layer.marks)) if isinstance(layer, Marks) else layer


def _mark(mark: Mark, frame: Frame) -> Markup:
    x, y = frame.x(mark.x), frame.y(mark.y)
    parts = [icon(mark.shape, x, y)]
    if bars := _whiskers(mark, frame):
        parts.insert(0, element("path", class_="whisker", d=bars))
    if mark.name:
        parts.insert(0, element("title", mark.name))
    if mark.link is not None:
        return element("a", *parts, href=mark.link, data_models=mark.data, tabindex="-1")
    return element("g", *parts) if len(parts) > 1 else parts[0]


def _whiskers(mark: Mark, frame: Frame) -> str:
    x, y = frame.x(mark.x), frame.y(mark.y)
    lines = ""
    if None not in mark.across:
        low, high = (number(frame.x(end)) for end in mark.across if end is not None)
        lines += f"M{low},{number(y)}H{high}"
    if None not in mark.upward:
        low, high = (number(frame.y(end)) for end in mark.upward if end is not None)
        lines += f"M{number(x)},{low}V{high}"
    return lines


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, perhaps with a band around it; where it is undefined it has a hole."""

    xs_: tuple[float, ...]
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    tone: str = "tone-1"
    is_step: bool = False
    is_dashed: bool = False
    name: str = ""

    def xs(self) -> Iterator[float | None]:
        """Yield where its points are."""
        yield from self.xs_

    def ys(self) -> Iterator[float | None]:
        """Yield where its points and its band are."""
        yield from (*self.values, *self.low, *self.high)

    def drawn(self, frame: Frame) -> Markup:
        """Draw the band and the line."""
        line = _path(self.xs_, self.values, frame, is_step=self.is_step)
        parts = [element("path", class_="curve dashed" if self.is_dashed else "curve", d=line)] if line else []
        if band := self._band(frame):
            parts.insert(0, element("path", class_="wash", d=band))
        if self.name:
            parts.insert(0, element("title", self.name))
        return element("g", *parts, class_=self.tone)

    def _band(self, frame: Frame) -> str:
        ends = zip(self.xs_, self.low, self.high, strict=False)
        known = [(x, low, high) for x, low, high in ends if low is not None and high is not None]
        if not known:
            return ""
        up = [_point(x, high, frame) for x, _, high in known]
        down = [_point(x, low, frame) for x, low, _ in reversed(known)]
        return f"M{'L'.join(up + down)}z"


def _path(xs: tuple[float, ...], values: tuple[float | None, ...], frame: Frame, *, is_step: bool) -> str:
    path, is_open = "", False
    for x, value in zip(xs, values, strict=True):
        if value is None:
            is_open = False
            continue
        if not is_open:
            path += f"M{_point(x, value, frame)}"
        elif is_step:
            path += f"H{number(frame.x(x))}V{number(frame.y(value))}"
        else:
            path += f"L{_point(x, value, frame)}"
        is_open = True
    return path


def _point(x: float, y: float, frame: Frame) -> str:
    return f"{number(frame.x(x))},{number(frame.y(y))}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A level bar from 0 to a value at one place of a named axis, perhaps with an interval."""

    place: float
    value: float | None
    interval: Interval = UNKNOWN
    tone: str = "tone-1"
    name: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Level bars; `thickness` is a share of the room of one place."""

    bars: tuple[Bar, ...]
    thickness: float = 0.36

    def xs(self) -> Iterator[float | None]:
        """Yield where bars and their intervals end."""
        yield 0.0
        for bar in self.bars:
            yield from (bar.value, *bar.interval)

    def ys(self) -> Iterator[float | None]:
        """Yield the places."""
        yield from (bar.place for bar in self.bars)

    def drawn(self, frame: Frame) -> Markup:
        """Draw the bars."""
        return joined(self._bar(bar, frame) for bar in self.bars)

    def _bar(self, bar: Bar, frame: Frame) -> Markup:
        start, middle = frame.x(0.0), frame.y(bar.place)
        high = abs(frame.y(1.0) - frame.y(0.0)) * self.thickness if frame.y.high > 1.0 else 18.0
        parts = [element("title", bar.name)] if bar.name else []
        if bar.value is not None:
            left, right = sorted((start, frame.x(bar.value)))
            parts.append(element("rect", class_="bar", x=left, y=middle - high / 2, width=right - left, height=high))
        low, upper = bar.interval
        if low is not None and upper is not None:
            line = f"M{number(frame.x(low))},{number(middle)}H{number(frame.x(upper))}"
            parts.append(element("path", class_="whisker", d=line))
        return element("g", *parts, class_=bar.tone) if parts else Markup("")


@dataclass(frozen=True, slots=True)
class Rug:
    """Short upright lines at many numbers, at one place of a named axis."""

    numbers: tuple[float, ...]
    place: float
    tone: str = "tone-1"
    length: float = 16.0

    def xs(self) -> Iterator[float | None]:
        """Yield the numbers."""
        yield from self.numbers

    def ys(self) -> Iterator[float | None]:
        """Yield the place."""
        yield self.place

    def drawn(self, frame: Frame) -> Markup:
        """Draw the lines."""
        top = number(frame.y(self.place) - self.length / 2)
        places = sorted({number(frame.x(value)) for value in self.numbers}, key=float)
        lines = "".join(f"M{x},{top}v{number(self.length)}" for x in places)
        return element("g", element("path", class_="thread", d=lines), class_=self.tone) if lines else Markup("")


@dataclass(frozen=True, slots=True)
class Span:
    """A level strip from one number to another, at one place of a named axis."""

    low: float
    high: float
    place: float
    tone: str = "tone-1"
    name: str = ""
    thickness: float = 0.6

    def xs(self) -> Iterator[float | None]:
        """Yield its ends."""
        yield from (self.low, self.high)

    def ys(self) -> Iterator[float | None]:
        """Yield its place."""
        yield self.place

    def drawn(self, frame: Frame) -> Markup:
        """Draw the strip."""
        left, right, middle = frame.x(self.low), frame.x(self.high), frame.y(self.place)
        high = abs(frame.y(self.place + 0.5) - frame.y(self.place - 0.5)) * self.thickness
        strip = element("rect", class_="wash", x=left, y=middle - high / 2, width=right - left, height=high)
        return element("g", *([element("title", self.name)] if self.name else []), strip, class_=self.tone)


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the whole plot at one number, with a word about it."""

    value: float
    label: str = ""
    is_upright: bool = False
    tone: str = "tone-0"

    def xs(self) -> Iterator[float | None]:
        """Yield its number if it is upright."""
        if self.is_upright:
            yield self.value

    def ys(self) -> Iterator[float | None]:
        """Yield its number if it is level."""
        if not self.is_upright:
            yield self.value

    def drawn(self, frame: Frame) -> Markup:
        """Draw the line and write the word at its end."""
        if self.is_upright:
            x, y, anchor = frame.x(self.value), frame.y.end, "start"
            path = f"M{number(x)},{number(frame.y.start)}V{number(y)}"
            x, y = x + 4.0, y + 10.0
        else:
            x, y, anchor = frame.x.end, frame.y(self.value), "end"
            path = f"M{number(frame.x.start)},{number(y)}H{number(x)}"
            y -= 5.0
        parts = [element("path", class_="curve dashed", d=path)]
        if self.label:
            parts.append(element("text", self.label, class_="note", x=x, y=y, text_anchor=anchor))
        return element("g", *parts, class_=self.tone)
