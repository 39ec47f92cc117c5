"""What changed since somebody was last told: how things stand, not all that has happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from fairenum.document.value import Value
from fairenum.server.desk import Busy, Desk
from fairenum.server.refusal import Refusal

LEAST, PAUSE = 0.2, 0.1  # seconds: of work that is shown, and between two looks


class Moved(Value, frozen=True):
    """The exploration has moved on."""

    revision: int
    models: int


class Said(Value, frozen=True):
    """Something to show."""

    message: str


@dataclass(frozen=True, slots=True)
class Event:
    """An event: its name, and a value."""

    name: str
    value: Value | None

    @property
    def text(self) -> bytes:
        """The same for an event stream; JSON has no line feed."""
        return b"event: %s\ndata: %s\n\n" % (self.name.encode(), msgspec.json.encode(self.value))


class Watch:
    """What one client was told."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._moved: Moved | None = None
        self._busy: Busy | None = None
        self._troubles = desk.troubles

    def news(self) -> Iterator[Event]:
        """Tell what is new since the last time."""
        desk = self._desk
        busy, moved = desk.busy, Moved(desk.revision, desk.models)
        if moved != self._moved:
            self._moved = moved
            yield Event("state", moved)
        if busy is not None and busy.seconds < LEAST and self._busy is None:
            busy = None  # what is done at once needs no bar
        if busy != self._busy:
            self._busy = busy
            yield Event("progress", busy)
        if desk.troubles != self._troubles:
            self._troubles = desk.troubles
            if desk.trouble is not None:
                yield Event("trouble", Said(desk.trouble))
        if desk.is_closed:
            yield Event("end", Said(str(desk.failure or Refusal.coded(503, "closed"))))
