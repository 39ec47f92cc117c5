"""A plot: two axes, layers between them, and a key that says what is what."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Literal, Protocol, get_args

from markupsafe import Markup, escape

from fairenum.runtime.formatting import plain

Attribute = str | float | None


def element(name: str, *children: str, **attributes: Attribute) -> Markup:
    """Write an element; an attribute that is None is left out, ``class_`` becomes class and ``data_x`` data-x."""
    known = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{_value(value)}"' for key, value in known.items())
    if not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Put parts in a row; text is escaped, markup is not."""
    return Markup("").join(part if isinstance(part, Markup) else escape(plain(part)) for part in parts)


def number(value: float) -> str:
    """Write a coordinate: a tenth of a pixel is enough."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return str(value if isinstance(value, Markup) else escape(plain(value)))
    return number(value)


Shape = Literal[
    "circle",
    "diamond",
    "square",
    "triangle",
    "down",
    "star",
    "cross",
    "ring",
    "hollow",
    "line",
    "dash",
    "upright",
    "band",
]
SHAPES: tuple[Shape, ...] = get_args(Shape)


# paths from the middle of the mark; sizes look alike to the eye, not to the ruler
PATHS: dict[Shape, str] = {
    "circle": "m-4,0a4,4,0,1,0,8,0a4,4,0,1,0-8,0z",
    "ring": "m-4.5,0a4.5,4.5,0,1,0,9,0a4.5,4.5,0,1,0-9,0z",
    "diamond": "m0-6.5l6.5,6.5-6.5,6.5-6.5-6.5z",
    "square": "m-4.5-4.5h9v9h-9z",
    "hollow": "m-4.5-4.5h9v9h-9z",
    "triangle": "m0-6l5.8,10h-11.6z",
    "down": "m0,6l5.8-10h-11.6z",
    "star": "m0-8l2.1,5.1,5.5.4-4.2,3.5,1.3,5.4-4.7-2.9-4.7,2.9,1.3-5.4-4.2-3.5,5.5-.4z",
    "cross": "m-2.3-6.5h4.6v4.2h4.2v4.6h-4.2v4.2h-4.6v-4.2h-4.2v-4.6h4.2z",
    "line": "m-7,0h14",
    "dash": "m-7,0h5m4,0h5",
    "upright": "m0-6v12",
    "band": "m-7-4h14v8h-14z",
}
OUTLINED = ("ring", "hollow")
LINES = ("line", "dash", "upright")


def icon(shape: Shape, x: float, y: float) -> Markup:
    """Draw a shape around a place; the most frequent one has the shortest form."""
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=4.0)
    return element("path", class_=sign_class(shape), d=f"M{number(x)},{number(y)}{PATHS[shape]}")


def sign_class(shape: Shape) -> str:
    """Say how a shape is painted: filled, as an outline, as a line or as a band."""
    return "hole" if shape in OUTLINED else "curve" if shape in LINES else "wash" if shape == "band" else "dot"


STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


MOST_DECIMALS, MOST_DIGITS = 4, 6  # a tick with more is written with a power of ten


SCIENTIFIC_DIGITS = 4
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear or logarithmic map of the numbers low < high onto the pixels start and end."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a number; those outside stop at the end."""
        place = (self._form(value) - self._form(self.low)) / (self._form(self.high) - self._form(self.low))
        return self.start + min(max(place, 0.0), 1.0) * (self.end - self.start)

    def _form(self, value: float) -> float:
        return math.log10(max(value, 5e-324)) if self.is_log else value

    def ticks(self, count: int = 5) -> tuple[float, ...]:
        """Return about `count` round numbers within the ends."""
        return _decades(self.low, self.high, count) if self.is_log else round_numbers(self.low, self.high, count)


def round_numbers(low: float, high: float, count: int = 5) -> tuple[float, ...]:
    """Return about so many multiples of 1, 2, 2.5 or 5 times a power of ten between two numbers."""
    step = round_step((high - low) / max(count, 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(place * step + 0.0 for place in range(first, last + 1))


def round_step(rough: float) -> float:
    """Return the smallest round step that is no smaller than this one."""
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(step for step in STEPS if step * power >= rough * (1 - 1e-9))


def _decades(low: float, high: float, count: int) -> tuple[float, ...]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / count))
    if last - first < 1:
        return round_numbers(low, high, count)
    return tuple(10.0**power for power in range(first, last + 1, stride))


def reach(values: Iterable[float | None], *, margin: float = 0.05, least: float = 0.0) -> tuple[float, float]:
    """Return ends with some room around the numbers; None and infinite ones do not count.

    `margin` is the room on both sides as a share of the spread, `least` the smallest spread to show.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    spread = max(high - low, least, abs(high) * 1e-9, 1e-12)
    middle = (low + high) / 2
    half = spread * (0.5 + margin)
    return middle - half, middle + half


def labels(ticks: Iterable[float]) -> tuple[str, ...]:
    """Write ticks with as many decimals as tell them apart, or with a power of ten."""
    numbers = tuple(ticks)
    largest = max(map(abs, numbers), default=0.0)
    steps = [b - a for a, b in pairwise(numbers)]
    decimals = max(map(_decimals, steps or [largest]))
    magnitude = math.floor(math.log10(largest)) if largest else 0
    is_short = magnitude + decimals < SCIENTIFIC_DIGITS
    if is_short and (decimals > MOST_DECIMALS or magnitude > MOST_DIGITS):
        return tuple(map(scientific, numbers))
    return tuple(f"{number:.{max(decimals, 0)}f}" for number in numbers)


def decade_labels(ticks: Iterable[float]) -> tuple[str, ...]:
    """Write the ticks of a logarithmic scale: each by itself, as they have no step in common."""
    numbers = tuple(ticks)
    texts = tuple(labels([number])[0] for number in numbers)
    plain = all(text.replace(".", "").isdecimal() for text in texts)
    return texts if plain else tuple(map(scientific, numbers))


def _decimals(number: float) -> int:
    """Count the decimals that a number needs; fewer than none for whole tens and hundreds."""
    exponent = Decimal(f"{number:.6g}").normalize().as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def scientific(value: float) -> str:
    """Write a number with a power of ten: 2.5×10⁻⁵."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{SCIENTIFIC_DIGITS - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return power if mantissa == "1" else f"{mantissa}×{power}"


LETTER = 6.8  # the usual width of a letter in a key or a label
LINE = 18.0


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a plot.

    Without `low` and `high` it reaches as far as the layers, and at least over a spread of `least`. `names` label the
    places 0, 1, ... instead of numbers; with `is_above` they stand above the places, where they may be long.
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
