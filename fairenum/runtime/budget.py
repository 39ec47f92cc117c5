"""Time limits: deadlines that work checks wherever it is done, and a budget that a run divides among its stages.

A deadline is set around work (`until`) and checked where the work is done (`checkpoint`), in the interior point's
iterations and along a path's breakpoints, so that nothing in between has to pass it on. Work that never checks is left
behind in a thread (`waited`), as is compiled code when Ctrl-C is pressed: Python handles a signal only between its own
steps.
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

# Called with the name of a stage, how much of it is done, and of how much (None if that is not known).
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected cost of some work: seconds of one processor, and peak bytes of memory."""

    seconds: float
    memory: float


@runtime_checkable
class Expects(Protocol):
    """A progress display that also takes an estimate."""

    def expect(self, estimate: Forecast) -> None:
        """Take notice of an estimate."""


def silent(_stage: str, _done: int, _total: int | None) -> None:
    """Report nothing."""


T = TypeVar("T")
Cut = Literal["time", "interrupted"]


LEAST_SHARE = 0.02  # seconds; with less a stage is not begun
LOOK = 0.1  # seconds between looks at the clock while waiting


class OutOfTime(Exception):
    """Raised when the time for some work is over."""


class Interrupted(OutOfTime):
    """Raised when work is no longer wanted: the user has asked to stop, or has left."""


class NotFinished(Exception):
    """Raised when work exceeds its own time limit."""


@dataclass(slots=True, eq=False)
class Deadline:
    """The time at which work is to end.

    ``at`` is by the monotonic clock; ``around`` is the deadline of the enclosing work. ``is_given_up`` tells that
    nobody waits any more.
    """

    at: float = math.inf
    around: Deadline | None = None
    is_given_up: bool = False

    @classmethod
    def after(cls, share: float) -> Deadline:
        """Return a deadline after a share of the time left for the current work."""
        return cls(time.monotonic() + share * _CURRENT.get().left)

    @property
    def left(self) -> float:
        """Seconds left."""
        own = -math.inf if self.is_given_up else self.at - time.monotonic()
        return own if self.around is None else min(own, self.around.left)

    @property
    def has_passed(self) -> bool:
        """Whether the work is to end now."""
        return self.left <= 0.0

    def check(self) -> None:
        """Raise OutOfTime if the deadline has passed, Interrupted if the work was given up."""
        if (left := self.left) <= 0.0:
            raise Interrupted if left == -math.inf else OutOfTime

    def bring_forward(self, seconds: float) -> None:
        """Move the deadline forward, to keep time for later work."""
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
    """Raise OutOfTime if the time for the current work is over."""
    if (deadline := _CURRENT.get()) is not NEVER:
        deadline.check()


def how_ended(reason: BaseException) -> Cut:
    """Return the word for what ended some work: "interrupted" or "time"."""
    return "interrupted" if isinstance(reason, Interrupted | KeyboardInterrupt) else "time"


@contextmanager
def until(deadline: Deadline) -> Iterator[Deadline]:
    """Run the enclosed work under a deadline, and under any that is around it."""
    around = _CURRENT.get()
    deadline.around = None if around is NEVER else around
    token = _CURRENT.set(deadline)
    try:
        yield deadline
    finally:
        _CURRENT.reset(token)


def waited(work: Callable[[], T], seconds: float = math.inf, name: str = "fairenum") -> T:
    """Run work in a thread, wait for it no longer than is allowed, and raise here what it raises.

    Work that is left behind ends at its next checkpoint. Raises OutOfTime at the current deadline, NotFinished after
    the seconds.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
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
    """The time limit of a whole run, whose optional stages share what is left by fixed weights.

    Time that a stage does not use passes on to later stages.

    Parameters
    ----------
    seconds
        The limit; None for none.
    started
        When the run began, by the monotonic clock.
    reserved
        Seconds kept for what must be done after all stages.
    shares
        Weights of the optional stages, in their order.
    afterwards
        Weights of stages that follow those the run itself knows of.

    Attributes
    ----------
    is_interrupted
        Whether the user has asked to stop: nothing optional is begun any more.
    is_given_up
        Whether the user has asked twice: not even a partial result is wanted.
    used_before
        Processor time of the process when the run began.
    heard
        Called when Ctrl-C is heeded.
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
        """Return the budget of a run that began with its process, as far as processor time tells."""
        return cls(seconds, time.monotonic() - time.process_time(), used_before=0.0)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    @property
    def pace(self) -> float:
        """How much longer work takes than processor time alone, because others use the processor, too."""
        used = time.process_time() - self.used_before
        return max(1.0, self.elapsed / used) if used > 0.0 else 1.0

    @property
    def left(self) -> float:
        """Seconds left for optional stages."""
        if self.is_interrupted:
            return 0.0
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed - self.reserved)

    def deadline(self, stage: str) -> Deadline:
        """Return the deadline of a stage: its share of the time left for it and all later stages."""
        names = list(self.shares)
        after = sum(self.shares[name] for name in names[names.index(stage) :])
        share = self.left if self.left == math.inf else self.left * self.shares[stage] / after
        self._current = Deadline(time.monotonic() + (share if share > LEAST_SHARE else 0.0))
        return self._current

    def whenever(self) -> Deadline:
        """Return a deadline without limit for work that only the user ends."""
        self._current = Deadline()
        return self._current

    def interrupt(self) -> None:
        """Stop the run: optional work is cut, the rest is done."""
        self.is_interrupted = self._current.is_given_up = True

    def heed(self) -> None:
        """Raise KeyboardInterrupt if the user has given up, as compiled code may have swallowed the first one."""
        if self.is_given_up:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle Ctrl-C at the next checkpoint, so that nothing is torn; a second Ctrl-C stops at once."""
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
