"""A change as a small drawing in a line of a table: from a ring to an arrowhead, with what is likely around it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from fairenum.rendering.svg.markup import element, number

WIDTH, HEIGHT, SIDE = 240.0, 26.0, 8.0
MIDDLE = HEIGHT / 2
LEAST_SCALE = 0.1
HEADROOM = 1.4  # a scale that is so much longer than the largest value has room for most limits
SHORTEST = 10.0  # pixels that an arrow needs


@dataclass(frozen=True, slots=True)
class Arrow:
    """A value that changes, on a scale that begins at 0.

    Attributes
    ----------
    start, end
        The value before and after; None where it is undefined.
    low, high
        Between which the value after is likely to lie, seen from the one before; None without limits.
    tone
        A class that gives it its colour.
    name
        What it shows, in words.
    is_doubtful
        Whether it is drawn as a broken line.
    """

    start: float | None
    end: float | None
    low: float | None = None
    high: float | None = None
    tone: str = "tone-0"
    name: str = ""
    is_doubtful: bool = False


def scale_end(arrows: Iterable[Arrow]) -> float:
    """Find where a scale for all arrows ends: limits may reach beyond it, and are cut off there."""
    values = [value for arrow in arrows for value in (arrow.start, arrow.end) if value is not None]
    return min(1.0, max([LEAST_SCALE, *(HEADROOM * value for value in values)]))


def draw_arrow(arrow: Arrow, top: float) -> Markup:
    """Draw a change on a scale from 0 to `top`."""

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
    """Draw the line and its head; where it is too short for one, a diamond marks its end."""
    if abs(end - start) < SHORTEST:
        return [element("path", class_="dot", d=f"M{number(end)},{number(MIDDLE)}m0-6l6,6-6,6-6-6z")]
    back = -9.0 if end > start else 9.0
    line = f"M{number(start)},{number(MIDDLE)}H{number(end + back)}"
    head = f"M{number(end)},{number(MIDDLE)}l{number(back)}-6v12z"
    return [
        element("path", class_="curve dashed" if is_doubtful else "curve", d=line),
        element("path", class_="dot", d=head),
    ]
