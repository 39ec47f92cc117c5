"""Time limits: deadlines for pieces of work, and a budget that a run divides among its stages.

A deadline is set around some work (`until`) and checked inside its loops (`checkpoint`), so that no function in between
has to pass it on. Work that never checks its deadline runs in a thread that is abandoned when time is over (`waited`).
So does compiled code, during which Python cannot react to Ctrl-C.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from types import FrameType
from typing import Literal, Protocol, TypeVar, runtime_checkable

# Called with the name of a stage, the amount done, and the total (None if unknown).
Progress = Callable[[str, int, int | None], None]
T = TypeVar("T")
Cut = Literal["time", "interrupted"]

LEAST_SHARE = 0.02  # seconds; a stage with less time is not begun
LOOK = 0.1  # seconds between checks of the clock while waiting


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected cost of some work: seconds of one processor, and peak memory in bytes."""

    seconds: float
    memory: float


@runtime_checkable
class Expects(Protocol):
    """A progress display that can also show the expected time and memory of a run."""

    def expect(self, estimate: Forecast) -> None:
        """Show the expected time and memory."""


@runtime_checkable
class Notes(Protocol):
    """A progress display that can also show a sentence for the user before the work begins."""

    def note(self, text: str) -> None:
        """Show a sentence."""


def silent(_stage: str, _done: int, _total: int | None) -> None:
    """Ignore a progress report."""


class OutOfTime(Exception):
    """Raised when the time for some work is over."""


class Interrupted(OutOfTime):
    """Raised when the result of some work is no longer wanted: the user has asked to stop, or has closed the page."""


class NotFinished(Exception):
    """Raised by `waited` when work exceeds the time limit passed to `waited`, before the current deadline."""


@dataclass(slots=True, eq=False)
class Deadline:
    """The time at which work is to end.

    ``at`` is this time by the monotonic clock; ``around`` is the deadline of the enclosing work, which also holds.
    ``is_given_up`` says that the work was abandoned, and is to end at once.
    """

    at: float = math.inf
    around: Deadline | None = None
    is_given_up: bool = False

    @classmethod
    def after(cls, share: float) -> Deadline:
        """Return a deadline that passes after a share, from 0 to 1, of the time left for the current work."""
        return cls(time.monotonic() + share * _CURRENT.get().left)

    @property
    def left(self) -> float:
        """The seconds until the earliest of this and all enclosing deadlines; minus infinity for abandoned work."""
        own = -math.inf if self.is_given_up else self.at - time.monotonic()
        return own if self.around is None else min(own, self.around.left)

    @property
    def has_passed(self) -> bool:
        """Whether this deadline, or that of enclosing work, has passed."""
        return self.left <= 0.0

    def check(self) -> None:
        """Raise OutOfTime if the deadline has passed, Interrupted if the work was abandoned."""
        if (left := self.left) <= 0.0:
            raise Interrupted if left == -math.inf else OutOfTime

    def bring_forward(self, seconds: float) -> None:
        """Make the deadline earlier by some seconds, to keep time for later work."""
        self.at -= seconds


NEVER = Deadline()
_CURRENT: ContextVar[Deadline] = ContextVar("deadline", default=NEVER)


def seconds_left() -> float | None:
    """Return the seconds left for the current work; None without a limit."""
    left = _CURRENT.get().left
    return None if left == math.inf else left


def is_time_over() -> bool:
    """Tell whether the time for the current work is over."""
    return _CURRENT.get().has_passed


def checkpoint() -> None:
    """Raise OutOfTime if the deadline of the current work has passed, Interrupted if the work was abandoned."""
    if (deadline := _CURRENT.get()) is not NEVER:
        deadline.check()


def how_ended(reason: BaseException) -> Cut:
    """Return "interrupted" for an exception by which the user ended some work, else "time"."""
    return "interrupted" if isinstance(reason, Interrupted | KeyboardInterrupt) else "time"


@contextmanager
def until(deadline: Deadline) -> Iterator[Deadline]:
    """Run the work inside the context under a deadline, in addition to the deadlines of enclosing contexts."""
    around = _CURRENT.get()
    deadline.around = None if around is NEVER else around
    token = _CURRENT.set(deadline)
    try:
        yield deadline
    finally:
        _CURRENT.reset(token)


def waited(work: Callable[[], T], seconds: float = math.inf, name: str = "fairenum") -> T:
    """Run work in a thread, and return its result or raise its error; abandon it when a time limit has passed.

    Raises OutOfTime at the deadline of the current work, NotFinished after `seconds`. Abandoned work ends at its next
    checkpoint.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            errors.append(error)

    own, last = Deadline(), time.monotonic() + seconds
    with until(own):
        thread = threading.Thread(target=copy_context().run, args=(target,), daemon=True, name=name)
        thread.start()
        try:
            while thread.is_alive() and (left := min(last - time.monotonic(), own.left)) > 0.0:
                thread.join(min(left, LOOK))
        finally:
            own.is_given_up = thread.is_alive()
    if errors:
        raise errors[0]
    if results:
        return results[0]
    checkpoint()
    raise NotFinished


@dataclass(slots=True, eq=False)
class Budget:
    """The time limit of a whole run, whose optional stages share the remaining time by fixed weights.

    Time that a stage does not use is divided among later stages.

    ``seconds`` is the limit, None for no limit; ``started`` is when the run began, by the monotonic clock;
    ``used_before`` is the processor time that the process had used by then; ``reserved`` is the time in seconds kept
    for the work after all optional stages. ``shares`` are the weights of the optional stages in the order in which they
    run, ``afterwards`` the weights of stages that a caller adds. ``is_interrupted`` says that the user has asked to
    stop, so that no further optional stage is begun, ``is_given_up`` that the user has asked twice and does not even
    want a partial result. ``heard`` is called at the first Ctrl-C.
    """

    seconds: float | None = None
    started: float = field(default_factory=time.monotonic)
    reserved: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    afterwards: Mapping[str, float] = field(default_factory=dict)
    is_interrupted: bool = False
    is_given_up: bool = False
    used_before: float = field(default_factory=time.process_time)
    heard: Callable[[], None] = lambda: None
    _current: Deadline = field(default_factory=Deadline)

    @classmethod
    def of_process(cls, seconds: float | None) -> Budget:
        """Return the budget of a run that began with the process.

        The time elapsed so far is taken to be the processor time that the process has used.
        """
        return cls(seconds, time.monotonic() - time.process_time(), used_before=0.0)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    @property
    def pace(self) -> float:
        """The elapsed time divided by the processor time, at least 1; it rises if other processes use the processor."""
        used = time.process_time() - self.used_before
        return max(1.0, self.elapsed / used) if used > 0.0 else 1.0

    @property
    def left(self) -> float:
        """The seconds left for all optional stages; 0 after an interruption, infinity without a limit."""
        if self.is_interrupted:
            return 0.0
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed - self.reserved)

    def deadline(self, stage: str) -> Deadline:
        """Return the deadline of a stage, which gets its share of the time left for this and all later stages."""
        names = list(self.shares)
        after = sum(self.shares[name] for name in names[names.index(stage) :])
        share = self.left if self.left == math.inf else self.left * self.shares[stage] / after
        self._current = Deadline(time.monotonic() + (share if share > LEAST_SHARE else 0.0))
        return self._current

    def whenever(self) -> Deadline:
        """Return a deadline without a time, for work that ends early only if the user interrupts it."""
        self._current = Deadline()
        return self._current

    def interrupt(self) -> None:
        """End the current stage and skip further optional stages; the rest of the run is still done."""
        self.is_interrupted = self._current.is_given_up = True

    def heed(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed twice, as compiled code may have swallowed the exception."""
        if self.is_given_up:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While the context lasts, let Ctrl-C end the work at its next checkpoint, and a second Ctrl-C at once."""
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_interrupted:
            self.is_given_up = True
            raise KeyboardInterrupt
        self.interrupt()
        self.heard()
