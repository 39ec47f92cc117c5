"""The parts of plots, such as marks, curves and bars, and their drawing as SVG text.

Colours are CSS classes. `draw` returns an ``<svg>`` element whose colours the style of a page defines, `standalone` an
SVG file with its own style, and `grid` an SVG file of several plots in rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from markupsafe import Markup

from fairenum.render.svg_plot import (
    LETTER,
    Extent,
    Frame,
    Layer,
    Plot,
    Shape,
    axes,
    element,
    heading,
    icon,
    joined,
    number,
)

LABEL_HEIGHT = 14.0
MARK_RADIUS = 7.0
Interval = tuple[float | None, float | None]
UNKNOWN: Interval = (None, None)


@dataclass(frozen=True, slots=True)
class Box:
    """The rectangle that a label or a mark covers, in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """Return the area that two rectangles have in common."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)


@dataclass(frozen=True, slots=True)
class Placed:
    """A label with its position in pixels; `anchor` says whether the text starts or ends there."""

    text: str
    x: float
    y: float
    anchor: str
    box: Box


def place(
    labels: Iterable[tuple[str, float, float]], marks: Sequence[tuple[float, float]], frame: Frame
) -> list[Placed]:
    """Return each label (text, x, y) placed beside its point, where it overlaps least with marks and earlier labels."""
    reach = MARK_RADIUS
    taken = [Box(x - reach, y - reach, x + reach, y + reach) for x, y in marks]
    found: list[Placed] = []
    for text, x, y in labels:
        best = min(_sides(text, x, y), key=lambda side: _cost(side.box, taken, frame))
        taken.append(best.box)
        found.append(best)
    return found


def _sides(text: str, x: float, y: float) -> Iterator[Placed]:
    width = LETTER * len(text)
    for dy in (-9.0, 20.0, 4.0, -24.0, 35.0):
        for anchor, start, end in (("start", x + 11.0, x + 11.0 + width), ("end", x - 11.0, x - 11.0 - width)):
            box = Box(min(start, end), y + dy - LABEL_HEIGHT + 3.0, max(start, end), y + dy + 3.0)
            yield Placed(text, start, y + dy, anchor, box)


def _cost(box: Box, taken: Sequence[Box], frame: Frame) -> float:
    """Return the area of other boxes that a label would cover, plus a large penalty for each pixel outside the axes."""
    outside = max(0.0, frame.x.start - box.left) + max(0.0, box.right - frame.x.end)
    outside += max(0.0, frame.y.end - box.top) + max(0.0, box.bottom - frame.y.start)
    return sum(box.overlap(other) for other in taken) + 1000.0 * outside


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at (x, y), with optional confidence intervals in both directions.

    `name` is shown as a tooltip, `label` is written beside the mark, `tone` is the CSS class of its colour, and `data`
    is an attribute for scripts, written only if the mark has a link.
    """

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
    """A layer of marks; a later mark covers an earlier one."""

    marks: tuple[Mark, ...]

    def extent(self) -> Extent:
        """Return the x and the y coordinates of the marks and of the ends of their intervals."""
        across = [x for mark in self.marks for x in (mark.x, *mark.across)]
        return across, [y for mark in self.marks for y in (mark.y, *mark.upward)]

    def drawn(self, frame: Frame) -> Markup:
        """Return the SVG elements of the intervals and marks, with the labels on top."""
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
    """Return plots without links and element ids, for pages that lack the table that the links lead to."""
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
    """A line through points, interrupted where a value is None, with an optional band from `low` to `high`."""

    xs: tuple[float, ...]
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    tone: str = "tone-1"
    is_step: bool = False
    is_dashed: bool = False
    name: str = ""

    def extent(self) -> Extent:
        """Return the x and the y coordinates of the points and of the band."""
        return self.xs, (*self.values, *self.low, *self.high)

    def drawn(self, frame: Frame) -> Markup:
        """Return the SVG elements of the band and of the line."""
        line = _path(self.xs, self.values, frame, is_step=self.is_step)
        parts = [element("path", class_="curve dashed" if self.is_dashed else "curve", d=line)] if line else []
        if band := self._band(frame):
            parts.insert(0, element("path", class_="wash", d=band))
        if self.name:
            parts.insert(0, element("title", self.name))
        return element("g", *parts, class_=self.tone)

    def _band(self, frame: Frame) -> str:
        ends = zip(self.xs, self.low, self.high, strict=False)
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
    """A horizontal bar from 0 to `value`, with an optional interval; `place` is its vertical coordinate."""

    place: float
    value: float | None
    interval: Interval = UNKNOWN
    tone: str = "tone-1"
    name: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """A layer of horizontal bars; `thickness` is their height, in units of the vertical axis."""

    bars: tuple[Bar, ...]
    thickness: float = 0.36

    def extent(self) -> Extent:
        """Return the x coordinates (0, the ends of bars and of intervals) and the y coordinates of the bars."""
        across = [x for bar in self.bars for x in (bar.value, *bar.interval)]
        return [0.0, *across], [bar.place for bar in self.bars]

    def drawn(self, frame: Frame) -> Markup:
        """Return the SVG elements of the bars."""
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
class Span:
    """A horizontal strip from `low` to `high`; `place` is the vertical coordinate of its middle."""

    low: float
    high: float
    place: float
    tone: str = "tone-1"
    name: str = ""
    thickness: float = 0.6

    def extent(self) -> Extent:
        """Return the x coordinates of both ends, and the y coordinate of the middle."""
        return (self.low, self.high), (self.place,)

    def drawn(self, frame: Frame) -> Markup:
        """Return the SVG elements of the strip."""
        left, right, middle = frame.x(self.low), frame.x(self.high), frame.y(self.place)
        high = abs(frame.y(self.place + 0.5) - frame.y(self.place - 0.5)) * self.thickness
        strip = element("rect", class_="wash", x=left, y=middle - high / 2, width=right - left, height=high)
        return element("g", *([element("title", self.name)] if self.name else []), strip, class_=self.tone)


@dataclass(frozen=True, slots=True)
class Rule:
    """A dashed line across the whole plot at one coordinate, with an optional label; horizontal unless `is_upright`."""

    value: float
    label: str = ""
    is_upright: bool = False
    tone: str = "tone-0"

    def extent(self) -> Extent:
        """Return the coordinate of the line, as an x coordinate for an upright line, else as a y coordinate."""
        return ((self.value,), ()) if self.is_upright else ((), (self.value,))

    def drawn(self, frame: Frame) -> Markup:
        """Return the SVG elements of the line and of its label."""
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


WIDTH, HEIGHT, SIDE = 240.0, 26.0, 8.0  # pixels of an arrow's drawing
MIDDLE = HEIGHT / 2
LEAST_SCALE = 0.1
HEADROOM = 1.4  # length of the scale over the largest value, so that most confidence limits fit
SHORTEST = 10.0  # pixels; a shorter arrow is drawn as a diamond


@dataclass(frozen=True, slots=True)
class Arrow:
    """The change of a value from `start` to `end`, drawn on a scale that begins at 0.

    `start` and `end` are None where undefined; `low` and `high` are the confidence limits of `end`, if known. `tone` is
    the CSS class of the colour, `name` a description for screen readers. An arrow with `is_doubtful` is drawn as a
    broken line.
    """

    start: float | None
    end: float | None
    low: float | None = None
    high: float | None = None
    tone: str = "tone-0"
    name: str = ""
    is_doubtful: bool = False


def scale_end(arrows: Iterable[Arrow]) -> float:
    """Return the upper end of a scale that shows all arrows; confidence limits beyond it are cut off."""
    values = [value for arrow in arrows for value in (arrow.start, arrow.end) if value is not None]
    return min(1.0, max([LEAST_SCALE, *(HEADROOM * value for value in values)]))


def draw_arrow(arrow: Arrow, top: float) -> Markup:
    """Return an ``<svg>`` of an arrow on a scale from 0 to `top`."""

    def place(value: float) -> float:
        return SIDE + (WIDTH - 2 * SIDE) * min(max(value / top, 0.0), 1.0)

    track = f"M{number(place(0.0))},{number(MIDDLE)}H{number(place(top))}M{number(place(0.0))},{number(MIDDLE - 5)}v10"
    parts = [element("title", arrow.name), element("path", class_="grid", d=track)]
    if arrow.low is not None and arrow.high is not None:
        left, right = place(arrow.low), place(arrow.high)
        parts.append(element("rect", class_="wash", x=left, y=4.0, width=max(right - left, 1.0), height=HEIGHT - 8.0))
    if arrow.start is not None and arrow.end is not None:
        parts += _shaft(place(arrow.start), place(arrow.end), is_doubtful=arrow.is_doubtful)
    if arrow.start is not None:
        parts.append(element("circle", class_="hole", cx=place(arrow.start), cy=MIDDLE, r=4.5))
    box = f"0 0 {number(WIDTH)} {number(HEIGHT)}"
    return element("svg", *parts, class_=f"arrow {arrow.tone}", viewBox=box, role="img", aria_label=arrow.name)


def _shaft(start: float, end: float, *, is_doubtful: bool) -> list[Markup]:
    """Return the line and the head of an arrow; a diamond alone if the arrow is too short for both."""
    if abs(end - start) < SHORTEST:
        return [element("path", class_="dot", d=f"M{number(end)},{number(MIDDLE)}m0-6l6,6-6,6-6-6z")]
    back = -9.0 if end > start else 9.0
    line = f"M{number(start)},{number(MIDDLE)}H{number(end + back)}"
    head = f"M{number(end)},{number(MIDDLE)}l{number(back)}-6v12z"
    return [
        element("path", class_="curve dashed" if is_doubtful else "curve", d=line),
        element("path", class_="dot", d=head),
    ]


# tone-0 is the colour of text; marks of other tones differ in shape, too
TONES = ("#1f2328", "#0072b2", "#d55e00", "#009e73", "#a8508a", "#8a6d00", "#767c85")
STYLE = (
    "svg{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;background:#fff}"
    "text{fill:#3d444d}.title{fill:#1f2328;font-weight:600}.tick{font-size:12px}.note{font-size:12px}"
    ".grid{stroke:#e6e8eb;fill:none}.axis{stroke:#8b949e;fill:none}"
    + "".join(
        f".tone-{place} :is(.dot,.bar,circle){{fill:{tone}}}.tone-{place} .wash{{fill:{tone};fill-opacity:.16}}"
        f".tone-{place} .hole{{stroke:{tone}}}.tone-{place} :is(.curve,.whisker){{stroke:{tone}}}"
        for place, tone in enumerate(TONES)
    )
    + ":is(.dot,circle){stroke:#fff}.hole{fill:#fff;stroke-width:2}"
    ".curve{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".dashed{stroke-dasharray:5 4;stroke-width:1.2}.whisker{fill:none;stroke-opacity:.55}.bar{fill-opacity:.75}"
)
NAMESPACE = "http://www.w3.org/2000/svg"


def draw(plot: Plot) -> Markup:
    """Return an ``<svg>`` of a plot, for a page whose style defines the colours."""
    box = f"0 0 {number(plot.width)} {number(plot.height)}"
    return element(
        "svg", _inside(plot), id=plot.identity, class_="plot", viewBox=box, role="group", aria_label=plot.name
    )


def standalone(plot: Plot) -> str:
    """Return the text of an SVG file of one plot, with its own style."""
    return grid([plot], columns=1)


def grid(plots: Sequence[Plot], columns: int) -> str:
    """Return the text of an SVG file of several plots in rows of `columns` plots."""
    columns = min(columns, len(plots))
    width, height = max(plot.width for plot in plots), max(plot.height for plot in plots)
    rows = -(-len(plots) // columns)
    cells = (
        element(
            "g",
            element("title", plot.name),
            element("desc", plot.description),
            _inside(plot),
            transform=f"translate({number(place % columns * width)} {number(place // columns * height)})",
        )
        for place, plot in enumerate(plots)
    )
    size = {"width": columns * width, "height": rows * height}
    box = f"0 0 {number(size['width'])} {number(size['height'])}"
    style = element("style", Markup(STYLE))
    drawing = element("svg", style, *cells, xmlns=NAMESPACE, viewBox=box, role="img", **size)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawing}\n'


def _inside(plot: Plot) -> Markup:
    frame = plot.frame
    return joined([heading(plot), axes(plot, frame), *(layer.drawn(frame) for layer in plot.layers)])
