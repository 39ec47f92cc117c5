"""The worker that takes the steps of an exploration one at a time, and the changes that are sent to its clients."""

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
from fairenum.runtime.budget import Progress

if TYPE_CHECKING:
    from fairenum.explore.exploration import Exploration


class Refusal(Exception):
    """Raised to refuse a request, with an HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @classmethod
    def coded(cls, status: int, code: str) -> Refusal:
        """Return a refusal with the standard message of a code."""
        from fairenum.report.exploration_words import REFUSALS

        return cls(status, REFUSALS[code])


Opening = Callable[[Progress], "Exploration"]
LEAST, PAUSE = 0.2, 0.1  # seconds: shortest step whose progress is shown, and pause between two messages


class Busy(Value, frozen=True):
    """The progress of the running step, for a client; `total` is null if unknown."""

    action: str
    done: int
    total: int | None
    seconds: float
    can_stop: bool


class Done(Value, frozen=True):
    """The answer to a finished step: the new revision (state number), and a message for the user."""

    revision: int
    message: str | None


class Stopped(Exception):
    """Raised within a step that the user has stopped."""


@dataclass(frozen=True, slots=True)
class Action:
    """A requested step, or several steps of one kind.

    `kind` names the step. `run` takes the step, reports to `Exploration.progress` and returns a message for the user;
    if it raises an exception, the step was not taken.
    """

    kind: str
    run: Callable[[Exploration], str | None]
    can_stop: bool = True


class Worker:
    """Takes the steps of an exploration, one at a time: a step requested while another is running is refused.

    `opening` is called to make the exploration; `failure` is the error if this fails. `trouble` is the error message of
    the last step, None if the step succeeded, and `troubles` counts failed steps.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._exploration: Exploration | None = None
        self._lock = threading.Lock()
        self._running: Future[Done] | None = None
        self._kind, self._can_stop, self._started = "load", False, 0.0
        self._reported: tuple[str, int, int | None] = ("load", 0, None)
        self._is_begun, self._is_stopping, self.is_closed = False, False, False
        self._listeners: set[Callable[[], None]] = set()
        self.failure: BaseException | None = None
        self.trouble: str | None = None
        self.troubles = 0

    @classmethod
    def of(cls, exploration: Exploration) -> Self:
        """Return a worker for an exploration that is open already; its steps may also be taken without the worker."""
        worker = cls(lambda _: exploration)
        worker._is_begun = True
        worker._open_now()
        return worker

    @property
    def exploration(self) -> Exploration:
        """The exploration; a request is refused while the exploration is being opened."""
        if self._exploration is None:
            raise Refusal.coded(503, "starting")
        return self._exploration

    @property
    def is_open(self) -> bool:
        """Whether the exploration is open."""
        return self._exploration is not None

    @property
    def revision(self) -> int:
        """A number that grows with every step; 0 until the exploration is open."""
        return 0 if self._exploration is None else 1 + self._exploration.lines

    @property
    def models(self) -> int:
        """Number of listed models; 0 until the exploration is open."""
        return 0 if self._exploration is None else len(self._exploration.state.listed)

    @property
    def is_busy(self) -> bool:
        """Whether a step is running."""
        return self._running is not None

    @property
    def busy(self) -> Busy | None:
        """The progress of the running step; None if no step is running."""
        if self._running is None:
            return None
        from fairenum.report.exploration_words import ACTIONS

        stage, done, total = self._reported
        seconds = round(time.monotonic() - self._started, 3)
        return Busy(ACTIONS.get(stage, ACTIONS[self._kind]), done, total, seconds, self._can_stop)

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Register a callback that is called after changes, in any thread; return a function that removes it."""
        self._listeners.add(callback)
        return lambda: self._listeners.discard(callback)

    def open(self) -> None:
        """Start opening the exploration in the background; later calls do nothing."""
        with self._lock:
            if not (self._is_begun or self.is_closed):
                self._is_begun = True
                self._begin(Action("load", lambda _: self._open_now(), can_stop=False))

    def take(self, action: Action, seen: int | None) -> Done:
        """Take a step, wait for its end, and return the new revision (state number) and a message.

        The step is refused if another one is running, or if `seen`, the revision that the client shows, is outdated.
        """
        with self._lock:
            if self._exploration is None:
                raise Refusal.coded(503, "starting")
            if self._running is not None:
                raise Refusal.coded(409, "occupied")
            if seen is not None and seen != self.revision:
                raise Refusal.coded(412, "outdated")
            ended = self._begin(action)
        return ended.result()

    def stop(self) -> None:
        """Stop the running step, if any, when it next reports progress; refuse if the step cannot be stopped."""
        if self._running is not None and not self._can_stop:
            raise Refusal.coded(409, "occupied" if self._exploration else "starting")
        self._is_stopping = self._running is not None

    def close(self, patience: float = 0.5) -> None:
        """Take no more steps, and close the record; a running step has `patience` seconds to end.

        An exploration that is still being opened is not waited for, as no step can be lost yet.
        """
        self._is_stopping = self.is_closed = True
        self._notify()
        if self._exploration is None:
            return
        if (running := self._running) is not None:
            ended = threading.Event()
            running.add_done_callback(lambda _: ended.set())
            if not ended.wait(patience):  # not on the record, so it does not count; stop waiting
                with suppress(InvalidStateError):
                    running.set_exception(Refusal.coded(503, "closed"))
                return
        self._exploration.close()

    def _begin(self, action: Action) -> Future[Done]:
        """Run an action in a daemon thread, which does not delay the exit, and return its future result."""
        if self.is_closed:
            raise Refusal.coded(503, "closed")
        self._running = ended = Future[Done]()
        self._kind, self._can_stop, self._started = action.kind, action.can_stop, time.monotonic()
        self._reported = action.kind, 0, None
        self._is_stopping = False
        threading.Thread(target=self._work, args=(action, ended), name="fairenum-step", daemon=True).start()
        return ended

    def _work(self, action: Action, ended: Future[Done]) -> None:
        message, trouble = None, None
        exploration = self._exploration
        if exploration is not None:
            before, exploration.progress = exploration.progress, self._progress
        try:
            message = action.run(exploration)  # type: ignore[arg-type]  # None only when it is being opened
        except Stopped:
            message = str(Refusal.coded(409, "stopped"))
        except Exception as error:  # noqa: BLE001  # a fault of one step must not end the exploration
            trouble = str(error) if isinstance(error, FairenumError) else _internal_error(error)
            self.failure = error if self._exploration is None else None
        if exploration is not None:
            exploration.progress = before
        self._end(ended, message, trouble)

    def _end(self, ended: Future[Done], message: str | None, trouble: str | None) -> None:
        """Note that a step has ended: allow the next step, then set the result of this one, and notify listeners."""
        self.trouble, self.troubles = trouble, self.troubles + (trouble is not None)
        done = Done(self.revision, message)
        self._running, self._is_stopping = None, self.is_closed
        with suppress(InvalidStateError):  # no longer waited for
            ended.set_result(done) if trouble is None else ended.set_exception(Refusal(422, trouble))
        self._notify()

    def _open_now(self) -> None:
        exploration = self._opening(self._progress)
        exploration.listen(self._notify)
        self._exploration = exploration
        if self.is_closed:  # closed meanwhile
            exploration.close()

    def _progress(self, stage: str, done: int, total: int | None) -> None:
        """Note the progress of a step; raise `Stopped` if the user has stopped the step."""
        if self._is_stopping and (self._can_stop or self.is_closed):
            raise Stopped
        self._reported = stage, done, total
        self._notify()

    def _notify(self) -> None:
        for callback in [*self._listeners]:
            callback()


def _internal_error(error: Exception) -> str:
    from fairenum.report.exploration_words import broken

    return broken(error)


class NewState(Value, frozen=True):
    """The value of the event that announces a new state: its revision number, and the number of listed models."""

    revision: int
    models: int


class Message(Value, frozen=True):
    """A message to show to the user."""

    message: str


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event: its name and its value."""

    name: str
    value: Value | None

    @property
    def text(self) -> bytes:
        """The event in the format of server-sent events; JSON text has no line feed, so one data line is enough."""
        return b"event: %s\ndata: %s\n\n" % (self.name.encode(), msgspec.json.encode(self.value))


class ChangeFeed:
    """Collects the changes to send to one client; of several changes to the same thing only the last is sent."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._state: NewState | None = None
        self._busy: Busy | None = None
        self._troubles = worker.troubles

    def changes(self) -> Iterator[Event]:
        """Yield an event for each part of the state that has changed since the last call."""
        worker = self._worker
        busy, state = worker.busy, NewState(worker.revision, worker.models)
        if state != self._state:
            self._state = state
            yield Event("state", state)
        if busy is not None and busy.seconds < LEAST and self._busy is None:
            busy = None  # no bar for short steps
        if busy != self._busy:
            self._busy = busy
            yield Event("progress", busy)
        if worker.troubles != self._troubles:
            self._troubles = worker.troubles
            if worker.trouble is not None:
                yield Event("trouble", Message(worker.trouble))
        if worker.is_closed:
            yield Event("end", Message(str(worker.failure or Refusal.coded(503, "closed"))))
