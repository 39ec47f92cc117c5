"""Changes since a client was last told: the current state, not every event."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import msgspec

from fairenum.document.value import Value
from fairenum.errors import FairenumError
from fairenum.runtime.budget import Progress, silent

if TYPE_CHECKING:
    from fairenum.explore.exploration import Exploration


class Refusal(Exception):
    """A refused request, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @classmethod
    def coded(cls, status: int, code: str) -> Refusal:
        """A refusal with one of the standard messages."""
        from fairenum.report.exploration_words import REFUSALS

        return cls(status, REFUSALS[code])


Opening = Callable[[Progress], "Exploration"]


class Busy(Value, frozen=True):
    """Progress of the running step; `total` is null if unknown."""

    action: str
    done: int
    total: int | None
    seconds: float
    can_stop: bool


class Done(Value, frozen=True):
    """A finished step: the new revision, and a message for the user."""

    revision: int
    message: str | None


class Stopped(Exception):
    """The user stopped the running step."""


@dataclass(frozen=True, slots=True)
class Action:
    """A requested step, or several of a kind.

    `kind` is its name in the record. `run` takes the step and returns a message for the user; if it raises, the step
    was not taken.
    """

    kind: str
    run: Callable[[Exploration, Progress], str | None]
    can_stop: bool = True


class Desk:
    """The single writer of an exploration; a step requested while another is running is refused.

    `opening` makes the exploration. `failure` says why it could not be opened. `trouble` is the error message of the
    last step, and `troubles` counts failed steps.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._exploration: Exploration | None = None
        self._turn = threading.Lock()
        self._now: Future[Done] | None = None
        self._action, self._since = ("load", False), 0.0
        self._told: tuple[str, int, int | None] = ("load", 0, None)
        self._is_begun, self._is_stopping, self.is_closed = False, False, False
        self._listeners: set[Callable[[], None]] = set()
        self.failure: BaseException | None = None
        self.trouble: str | None = None
        self.troubles = 0

    @classmethod
    def around(cls, exploration: Exploration) -> Self:
        """A desk for an open exploration, whose steps may also be taken elsewhere."""
        desk = cls(lambda _: exploration)
        desk._is_begun = True
        desk._opened(None, silent)
        return desk

    @property
    def exploration(self) -> Exploration:
        """The exploration; refuses while it is being opened."""
        if self._exploration is None:
            raise Refusal.coded(503, "starting")
        return self._exploration

    @property
    def is_open(self) -> bool:
        """Whether the exploration is open."""
        return self._exploration is not None

    @property
    def revision(self) -> int:
        """A number that grows with every step; 0 before the first model."""
        return 0 if self._exploration is None else 1 + self._exploration.lines

    @property
    def models(self) -> int:
        """Number of listed models."""
        return 0 if self._exploration is None else len(self._exploration.state.listed)

    @property
    def is_busy(self) -> bool:
        """Whether a step is running."""
        return self._now is not None

    @property
    def busy(self) -> Busy | None:
        """Progress of the running step, or None."""
        if self._now is None:
            return None
        from fairenum.report.exploration_words import ACTIONS

        (stage, done, total), (kind, can_stop) = self._told, self._action
        return Busy(ACTIONS.get(stage, ACTIONS[kind]), done, total, round(time.monotonic() - self._since, 3), can_stop)

    def listen(self, told: Callable[[], None]) -> Callable[[], None]:
        """Register a callback for changes, called in any thread; returns a function that removes it."""
        self._listeners.add(told)
        return lambda: self._listeners.discard(told)

    def open(self) -> None:
        """Start opening the exploration in the background, once."""
        with self._turn:
            if not (self._is_begun or self.is_closed):
                self._is_begun = True
                self._begin(Action("load", self._opened, can_stop=False))

    def take(self, action: Action, seen: int | None) -> Done:
        """Take a step and wait for it; refuse if another step is running or the revision `seen` is outdated."""
        with self._turn:
            if self._exploration is None:
                raise Refusal.coded(503, "starting")
            if self._now is not None:
                raise Refusal.coded(409, "occupied")
            if seen is not None and seen != self.revision:
                raise Refusal.coded(412, "outdated")
            ended = self._begin(action)
        return ended.result()

    def stop(self) -> None:
        """Stop the running step at its next checkpoint, if there is one."""
        if self._now is not None and not self._action[1]:
            raise Refusal.coded(409, "occupied" if self._exploration else "starting")
        self._is_stopping = self._now is not None

    def close(self, patience: float = 0.5) -> None:
        """Take no more steps and release the record; a running step has `patience` seconds to end.

        Opening has none: no step could be lost yet, and nobody waits for it.
        """
        self._is_stopping = self.is_closed = True
        self._tell()
        if self._exploration is None:
            return
        if (now := self._now) is not None:
            ended = threading.Event()
            now.add_done_callback(lambda _: ended.set())
            if not ended.wait(patience):  # not on the record, so it does not count; stop waiting
                with suppress(InvalidStateError):
                    now.set_exception(Refusal.coded(503, "closed"))
                return
        self._exploration.close()

    def _begin(self, action: Action) -> Future[Done]:
        """Run an action in a daemon thread: an unrecorded step may be lost at exit."""
        if self.is_closed:
            raise Refusal.coded(503, "closed")
        self._now = ended = Future[Done]()
        self._action, self._told, self._since = (action.kind, action.can_stop), (action.kind, 0, None), time.monotonic()
        self._is_stopping = False
        threading.Thread(target=self._work, args=(action, ended), name="fairenum-step", daemon=True).start()
        return ended

    def _work(self, action: Action, ended: Future[Done]) -> None:
        message, trouble = None, None
        exploration = self._exploration
        before = None if exploration is None else exploration.progress
        try:
            message = action.run(exploration, self._progress)  # type: ignore[arg-type]  # there is one but to open
        except Stopped:
            message = str(Refusal.coded(409, "stopped"))
        except Exception as error:  # noqa: BLE001  # a fault of one step must not end the exploration
            trouble = _said(error)
            self.failure = error if self._exploration is None else None
        if exploration is not None and before is not None:
            exploration.progress = before
        self._end(ended, message, trouble)

    def _end(self, ended: Future[Done], message: str | None, trouble: str | None) -> None:
        """Allow the next step before anyone learns that this step has ended."""
        self.trouble, self.troubles = trouble, self.troubles + (trouble is not None)
        done = Done(self.revision, message)
        self._now, self._is_stopping = None, self.is_closed
        with suppress(InvalidStateError):  # no longer waited for
            ended.set_result(done) if trouble is None else ended.set_exception(Refusal(422, trouble))
        self._tell()

    def _opened(self, _: Exploration | None, progress: Progress) -> None:
        exploration = self._opening(progress)
        exploration.listen(self._tell)
        self._exploration = exploration
        if self.is_closed:  # closed meanwhile
            exploration.close()

    def _progress(self, stage: str, done: int, total: int | None) -> None:
        """Note the progress of a step; end the step if the user asked for it."""
        if self._is_stopping and (self._action[1] or self.is_closed):
            raise Stopped
        self._told = stage, done, total
        self._tell()

    def _tell(self) -> None:
        for told in [*self._listeners]:
            told()


def _said(error: Exception) -> str:
    """The message of an error: its own words for a user's mistake, else a fault of fairenum."""
    from fairenum.report.exploration_words import broken

    return str(error) if isinstance(error, FairenumError) else broken(error)


LEAST, PAUSE = 0.2, 0.1  # seconds: of work that is shown, and between two looks


class Moved(Value, frozen=True):
    """A new revision of the exploration."""

    revision: int
    models: int


class Said(Value, frozen=True):
    """A message to show."""

    message: str


@dataclass(frozen=True, slots=True)
class Event:
    """A named event with a value."""

    name: str
    value: Value | None

    @property
    def text(self) -> bytes:
        """The event in the format of an event stream; JSON has no line feed."""
        return b"event: %s\ndata: %s\n\n" % (self.name.encode(), msgspec.json.encode(self.value))


class Watch:
    """The state that one client was last told."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._moved: Moved | None = None
        self._busy: Busy | None = None
        self._troubles = desk.troubles

    def news(self) -> Iterator[Event]:
        """Events for everything that changed since the last call."""
        desk = self._desk
        busy, moved = desk.busy, Moved(desk.revision, desk.models)
        if moved != self._moved:
            self._moved = moved
            yield Event("state", moved)
        if busy is not None and busy.seconds < LEAST and self._busy is None:
            busy = None  # no bar for short steps
        if busy != self._busy:
            self._busy = busy
            yield Event("progress", busy)
        if desk.troubles != self._troubles:
            self._troubles = desk.troubles
            if desk.trouble is not None:
                yield Event("trouble", Said(desk.trouble))
        if desk.is_closed:
            yield Event("end", Said(str(desk.failure or Refusal.coded(503, "closed"))))
