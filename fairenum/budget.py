"""Time: when work is to end, asked from wherever it is done, and one limit that a run divides among its stages.

A deadline is set around work (`until`) and asked about where the work is done (`checkpoint`), in the interior point's
iterations and along a path's breakpoints: so nobody in between has to hand it on. Work that asks nobody is left behind
in a thread (`waited`), as is compiled code when Ctrl-C is pressed: a signal reaches Python only between its own steps.
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
from typing import Literal, TypeVar

T = TypeVar("T")
Cut = Literal["time", "interrupted"]

LEAST_SHARE = 0.02  # seconds; with less a stage is not begun
LOOK = 0.1  # seconds after which whoever waits looks whether to wait on


class OutOfTime(Exception):
    """The time for some work is over."""


class Interrupted(OutOfTime):
    """Nobody waits for some work any more: the user has asked to come to an end, or has left."""


class NotFinished(Exception):
    """Work took longer than it may take by itself."""


@dataclass(slots=True, eq=False)
class Deadline:
    """When work is to end.

    Attributes
    ----------
    at
        By the monotonic clock.
    around
        The deadline of the work that this is a part of.
    is_given_up
        Whether nobody waits any more.
    """

    at: float = math.inf
    around: Deadline | None = None
    is_given_up: bool = False

    @classmethod
    def after(cls, share: float) -> Deadline:
        """Return when a share of the time is over that the work which is done here has."""
        return cls(time.monotonic() + share * _CURRENT.get().left)

    @property
    def left(self) -> float:
        """Seconds until it."""
        own = -math.inf if self.is_given_up else self.at - time.monotonic()
        return own if self.around is None else min(own, self.around.left)

    @property
    def has_passed(self) -> bool:
        """Whether the work is to end now."""
        return self.left <= 0.0

    def check(self) -> None:
        """End the work if its time is over."""
        if (left := self.left) <= 0.0:
            raise Interrupted if left == -math.inf else OutOfTime

    def bring_forward(self, seconds: float) -> None:
        """Keep some of the time for what comes after."""
        self.at -= seconds


NEVER = Deadline()
_CURRENT: ContextVar[Deadline] = ContextVar("deadline", default=NEVER)


def seconds_left() -> float | None:
    """Return how long the work that is done here may take; None for as long as it likes."""
    left = _CURRENT.get().left
    return None if left == math.inf else left


def is_time_over() -> bool:
    """Tell whether there is no time for the work that is to be done here."""
    return _CURRENT.get().has_passed


def checkpoint() -> None:
    """End here if the time is over."""
    if (deadline := _CURRENT.get()) is not NEVER:
        deadline.check()


def how_ended(reason: BaseException) -> Cut:
    """Say in a word what ended some work."""
    return "interrupted" if isinstance(reason, Interrupted | KeyboardInterrupt) else "time"


@contextmanager
def until(deadline: Deadline) -> Iterator[Deadline]:
    """Do work that is to end at a deadline, or sooner where it is a part of something that is."""
    around = _CURRENT.get()
    deadline.around = None if around is NEVER else around
    token = _CURRENT.set(deadline)
    try:
        yield deadline
    finally:
        _CURRENT.reset(token)


def waited(work: Callable[[], T], seconds: float = math.inf, name: str = "fairenum") -> T:
    """Do work in a thread, and wait for it no longer than is allowed; what it raises is raised here.

    Work that is left behind ends at its next checkpoint.

    Raises
    ------
    OutOfTime
        If the deadline passes.
    NotFinished
        If the seconds do.
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
    """One limit for a whole run: its optional stages share what is left of it, by weights that are fixed beforehand.

    What a stage does not use passes on to those after it.

    Parameters
    ----------
    seconds
        The limit; None for none.
    started
        When the run began, by the monotonic clock.
    reserved
        Seconds that are kept for what must be done after all stages.
    shares
        Weights of the optional stages, in their order.
    afterwards
        The same of what comes after the stages that the run itself knows of.

    Attributes
    ----------
    is_interrupted
        Whether the user has asked to come to an end: nothing optional is begun any more.
    is_given_up
        Whether the user has asked again: not even what there is, is wanted.
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
        """Return the limit of a run that began with its process, as near as the time of the processor tells."""
        return cls(seconds, time.monotonic() - time.process_time(), used_before=0.0)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    @property
    def pace(self) -> float:
        """How much longer work takes than the processor alone would need: others use it, too."""
        used = time.process_time() - self.used_before
        return max(1.0, self.elapsed / used) if used > 0.0 else 1.0

    @property
    def left(self) -> float:
        """Seconds left for optional stages."""
        if self.is_interrupted:
            return 0.0
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed - self.reserved)

    def deadline(self, stage: str) -> Deadline:
        """Return when a stage is to end: after its share of what it and those after it have left."""
        names = list(self.shares)
        after = sum(self.shares[name] for name in names[names.index(stage) :])
        share = self.left if self.left == math.inf else self.left * self.shares[stage] / after
        self._current = Deadline(time.monotonic() + (share if share > LEAST_SHARE else 0.0))
        return self._current

    def whenever(self) -> Deadline:
        """Return the end of work that may take its time unless the user asks to come to an end."""
        self._current = Deadline()
        return self._current

    def interrupt(self) -> None:
        """Come to an end: what is optional is cut, what must be done is done."""
        self.is_interrupted = self._current.is_given_up = True

    def heed(self) -> None:
        """End here if the user has given up: compiled code may have swallowed what was raised then."""
        if self.is_given_up:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Heed Ctrl-C at the next checkpoint, so that nothing is torn in the middle; a second one tears it."""
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
