"""Labels beside marks, where there is room for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fairenum.rendering.svg.plot import LETTER, Frame

HEIGHT = 14.0
REACH = 7.0  # of a mark, around its middle


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle that text or a mark takes."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """Measure the area that both take."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)


@dataclass(frozen=True, slots=True)
class Placed:
    """A label in its place: where its text begins or ends, and which of the two."""

    text: str
    x: float
    y: float
    anchor: str
    box: Box


def place(
    labels: Iterable[tuple[str, float, float]], marks: Sequence[tuple[float, float]], frame: Frame
) -> list[Placed]:
    """Put each label on the side of its mark where it covers least; earlier ones keep their place."""
    taken = [Box(x - REACH, y - REACH, x + REACH, y + REACH) for x, y in marks]
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
            box = Box(min(start, end), y + dy - HEIGHT + 3.0, max(start, end), y + dy + 3.0)
            yield Placed(text, start, y + dy, anchor, box)


def _cost(box: Box, taken: Sequence[Box], frame: Frame) -> float:
    """Add up what a label would cover; outside the plot is worst."""
    outside = max(0.0, frame.x.start - box.left) + max(0.0, box.right - frame.x.end)
    outside += max(0.0, frame.y.end - box.top) + max(0.0, box.bottom - frame.y.start)
    return sum(box.overlap(other) for other in taken) + 1000.0 * outside
