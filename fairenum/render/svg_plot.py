"""The types that describe a plot, and the SVG text of its axes, ticks, title and key (legend)."""

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
    """Return an XML element.

    Attributes that are None are left out; an underscore at the end of a name is dropped, all other underscores become
    hyphens: ``class_`` is written as class, ``data_x`` as data-x.
    """
    known = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{_value(value)}"' for key, value in known.items())
    if not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Return the concatenation of parts; plain texts are escaped, markup is not."""
    return Markup("").join(part if isinstance(part, Markup) else escape(plain(part)) for part in parts)


def number(value: float) -> str:
    """Return a coordinate as text, with at most one decimal."""
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
# SVG paths that begin in the middle of the shape; their sizes differ, so that all shapes look equally large.
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
    """Return the SVG element of a shape around a point, in pixels."""
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=4.0)
    return element("path", class_=_shape_class(shape), d=f"M{number(x)},{number(y)}{PATHS[shape]}")


def _shape_class(shape: Shape) -> str:
    return "hole" if shape in OUTLINED else "curve" if shape in LINES else "wash" if shape == "band" else "dot"


STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_DECIMALS, MOST_DIGITS = 4, 6  # ticks with more are written with a power of ten
SCIENTIFIC_DIGITS = 4
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear or logarithmic map of the values from `low` to `high` onto the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value; a value beyond an end of the scale has the pixel of that end."""
        place = (self._form(value) - self._form(self.low)) / (self._form(self.high) - self._form(self.low))
        return self.start + min(max(place, 0.0), 1.0) * (self.end - self.start)

    def _form(self, value: float) -> float:
        return math.log10(max(value, 5e-324)) if self.is_log else value

    def ticks(self, count: int = 5) -> tuple[float, ...]:
        """Return about `count` round numbers between `low` and `high`."""
        return _decades(self.low, self.high, count) if self.is_log else round_numbers(self.low, self.high, count)


def round_numbers(low: float, high: float, count: int = 5) -> tuple[float, ...]:
    """Return about `count` numbers from `low` to `high`, evenly spaced by 1, 2, 2.5 or 5 times a power of ten."""
    step = _round_step((high - low) / max(count, 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(place * step + 0.0 for place in range(first, last + 1))


def _round_step(rough: float) -> float:
    """Return the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(step for step in STEPS if step * power >= rough * (1 - 1e-9))


def _decades(low: float, high: float, count: int) -> tuple[float, ...]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / count))
    if last - first < 1:
        return round_numbers(low, high, count)
    return tuple(10.0**power for power in range(first, last + 1, stride))


def reach(values: Iterable[float | None], *, margin: float = 0.05, least: float = 0.0) -> tuple[float, float]:
    """Return the lower and the upper end of an axis with some room around the values.

    Values that are None or infinite are ignored. `margin` is the room on each side as a share of the difference between
    the largest and the smallest value; that difference is taken to be at least `least`.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    spread = max(high - low, least, abs(high) * 1e-9, 1e-12)
    middle = (low + high) / 2
    half = spread * (0.5 + margin)
    return middle - half, middle + half


def labels(ticks: Iterable[float]) -> tuple[str, ...]:
    """Return the texts of ticks, with as many decimals as the steps between ticks need, or with powers of ten."""
    numbers = tuple(ticks)
    largest = max(map(abs, numbers), default=0.0)
    steps = [b - a for a, b in pairwise(numbers)]
    decimals = max(map(_decimals, steps or [largest]))
    magnitude = math.floor(math.log10(largest)) if largest else 0
    is_short = magnitude + decimals < SCIENTIFIC_DIGITS
    if is_short and (decimals > MOST_DECIMALS or magnitude > MOST_DIGITS):
        return tuple(map(scientific, numbers))
    return tuple(f"{number:.{max(decimals, 0)}f}" for number in numbers)


def _decade_labels(ticks: Iterable[float]) -> tuple[str, ...]:
    """Return the texts of the ticks of a logarithmic axis: all plain decimals, or all with powers of ten."""
    numbers = tuple(ticks)
    texts = tuple(labels([number])[0] for number in numbers)
    plain = all(text.replace(".", "").isdecimal() for text in texts)
    return texts if plain else tuple(map(scientific, numbers))


def _decimals(number: float) -> int:
    """Return how many decimals a number needs, negative for trailing zeros: -1 for 30, -2 for 300."""
    exponent = Decimal(f"{number:.6g}").normalize().as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def scientific(value: float) -> str:
    """Return a number with a power of ten as text: 2.5×10⁻⁵."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{SCIENTIFIC_DIGITS - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return power if mantissa == "1" else f"{mantissa}×{power}"


LETTER = 6.8  # pixels, the usual width of a letter in a key or a label
LINE = 18.0


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a plot.

    Without `low` and `high`, the axis ends where the drawn values end, with some room, and is at least `least` long. An
    axis with `names` has names instead of numbers, at the coordinates 0, 1, ...; with `is_above` each name is written
    above its bar instead of beside it, where there is less room for long names.
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
    """An entry of the key (legend) of a plot: a coloured shape and its meaning."""

    text: str
    tone: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class Frame:
    """The horizontal and the vertical scale of a plot, which map values to pixels."""

    x: Scale
    y: Scale


Ends = tuple[float, float]
Extent = tuple[Sequence[float | None], Sequence[float | None]]


class Layer(Protocol):
    """A part of a plot that is drawn between the axes, such as marks or a curve."""

    def extent(self) -> Extent:
        """Return the values that the horizontal axis must include, and those that the vertical axis must include."""

    def drawn(self, frame: Frame) -> Markup:
        """Return the SVG elements of the layer."""


@dataclass(frozen=True)  # no slots: cached properties need a dictionary
class Plot:
    """A plot: two axes, the layers drawn between them, a key (legend) and an optional title.

    `name` and `description` are for screen readers. `width`, `height` and the margin `left` are in pixels. `identity`
    is the id of the SVG element.
    """

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
    def title_height(self) -> float:
        """The height of the title in pixels, 0 without a title."""
        return LINE + 4.0 if self.title else 0.0

    @cached_property
    def ends(self) -> tuple[Ends, Ends]:
        """The lowest and the highest value of the horizontal axis, and of the vertical axis."""
        extents = [layer.extent() for layer in self.layers]
        across, upward = ([value for extent in extents for value in extent[axis]] for axis in (0, 1))
        return _ends(self.x, across), _ends(self.y, upward)

    @cached_property
    def frame(self) -> Frame:
        """The scales of both axes, which map values to pixels."""
        top = 14.0 + self.title_height + LINE * len(_key_lines(self.key, self.width - self.left))
        across, upward = self.ends
        return Frame(
            Scale(*across, self.left, self.width - 14.0, self.x.is_log),
            Scale(*upward, self.height - 44.0, top, self.y.is_log),
        )


def aligned(plots: Iterable[Plot]) -> tuple[Plot, ...]:
    """Return the plots, all with the same two axes, which are long enough for the values of every plot."""
    found = tuple(plots)
    if not found:
        return ()
    (left, right), (bottom, top) = (_widest(plot.ends[axis] for plot in found) for axis in (0, 1))
    return tuple(
        replace(plot, x=replace(plot.x, low=left, high=right), y=replace(plot.y, low=bottom, high=top))
        for plot in found
    )


def _widest(ends: Iterable[Ends]) -> Ends:
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
    """Return the SVG elements of grid lines, ticks, and the labels of both axes."""
    bottom, left = frame.y.start, frame.x.start
    parts = [*_vertical(plot.y, frame), *_horizontal(plot.x, frame)]
    middle = (frame.x.start + frame.x.end) / 2
    parts.append(element("path", class_="axis", d=f"M{number(left)},{number(bottom)}H{number(frame.x.end)}"))
    parts.append(element("text", plot.x.label, class_="label", x=middle, y=plot.height - 8.0, text_anchor="middle"))
    parts.append(_vertical_label(plot.y.label, frame))
    return joined(parts)


def _vertical_label(label: str, frame: Frame) -> Markup:
    middle = (frame.y.start + frame.y.end) / 2
    turn = f"rotate(-90 14 {number(middle)})"
    return element("text", label, class_="label", x=14.0, y=middle, text_anchor="middle", transform=turn)


def _vertical(axis: Axis, frame: Frame) -> Iterator[Markup]:
    for text, place in _ticks(axis, frame.y, count=5):
        if not axis.names:
            line = f"M{number(frame.x.start)},{number(place)}H{number(frame.x.end)}"
            yield element("path", class_="grid", d=line)
        if axis.is_above:
            rise = abs(frame.y(1.0) - frame.y(0.0)) if len(axis.names) > 1 else frame.y.start - frame.y.end
            yield element("text", text, class_="tick", x=frame.x.start, y=place - rise / 2 + 11.0)
        else:
            yield element("text", text, class_="tick", x=frame.x.start - 7.0, y=place + 4.0, text_anchor="end")


def _horizontal(axis: Axis, frame: Frame) -> Iterator[Markup]:
    room = max(2, int((frame.x.end - frame.x.start) // 75))
    for text, place in _ticks(axis, frame.x, count=room):
        yield element("path", class_="axis", d=f"M{number(place)},{number(frame.y.start)}v4")
        yield element("text", text, class_="tick", x=place, y=frame.y.start + 17.0, text_anchor="middle")


def _ticks(axis: Axis, scale: Scale, count: int) -> Iterator[tuple[str, float]]:
    if axis.names:
        yield from ((name, scale(place)) for place, name in enumerate(axis.names))
        return
    ticks = scale.ticks(count)
    texts = _decade_labels(ticks) if scale.is_log else labels(ticks)
    yield from zip(texts, map(scale, ticks), strict=True)


def _key_lines(key: Sequence[Key], width: float) -> list[list[tuple[float, Key]]]:
    """Return the lines of a key (legend), each a list of entries with their horizontal positions in pixels."""
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
    """Return the SVG elements of the title and the key (legend) above a plot."""
    parts = [element("text", plot.title, class_="title", x=plot.left, y=14.0)] if plot.title else []
    for row, line in enumerate(_key_lines(plot.key, plot.width - plot.left)):
        for place, entry in line:
            x, y = plot.left + place + 6.0, plot.title_height + 10.0 + LINE * row
            parts.append(element("g", icon(entry.shape, x, y), class_=entry.tone))
            parts.append(element("text", entry.text, class_="tick", x=x + 10.0, y=y + 4.0))
    return joined(parts)
