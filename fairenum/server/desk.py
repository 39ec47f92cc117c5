"""The desk: opens an exploration and takes its steps one at a time, whoever asks for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from fairenum.document.value import Value
from fairenum.errors import FairenumError
from fairenum.progress import Progress, silent
from fairenum.server.refusal import Refusal

if TYPE_CHECKING:
    from fairenum.exploration.exploration import Exploration

Opening = Callable[[Progress], "Exploration"]


class Busy(Value, frozen=True):
    """What is under way.

    Attributes
    ----------
    action
        In words.
    done, total
        How much of it; the total is null where that is not known.
    seconds
        For how long.
    can_stop
        Whether it can be ended before it is done.
    """

    action: str
    done: int
    total: int | None
    seconds: float
    can_stop: bool


class Done(Value, frozen=True):
    """A step was taken: where that led, and what there is to say of it."""

    revision: int
    message: str | None


class Stopped(Exception):
    """Somebody asked to end what is under way."""


@dataclass(frozen=True, slots=True)
class Action:
    """A step, or several of a kind, that somebody asks for.

    Attributes
    ----------
    kind
        What it is called in the record.
    run
        Takes it, telling how far it is, and returns what there is to say; what it raises was not taken.
    can_stop
        Whether it can be ended before it is done.
    """

    kind: str
    run: Callable[[Exploration, Progress], str | None]
    can_stop: bool = True


class Desk:
    """The one writer. Looking needs no turn; a step that is asked for while another is under way is refused.

    Parameters
    ----------
    opening
        Makes the exploration, and tells how far it is.

    Attributes
    ----------
    failure
        Why there is no exploration, and will be none.
    trouble, troubles
        What the last step said, if it failed, and how many did.
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
        """Put a desk around an exploration that is open, and in whose steps others may have a hand."""
        desk = cls(lambda _: exploration)
        desk._is_begun = True
        desk._opened(None, silent)
        return desk

    @property
    def exploration(self) -> Exploration:
        """The exploration; refuse to go on while there is none yet."""
        if self._exploration is None:
            raise Refusal.coded(503, "starting")
        return self._exploration

    @property
    def is_open(self) -> bool:
        """Whether there is an exploration."""
        return self._exploration is not None

    @property
    def revision(self) -> int:
        """A number that grows with every step; 0 before the first model."""
        return 0 if self._exploration is None else 1 + self._exploration.lines

    @property
    def models(self) -> int:
        """How many models are listed."""
        return 0 if self._exploration is None else len(self._exploration.state.listed)

    @property
    def is_busy(self) -> bool:
        """Whether something is under way."""
        return self._now is not None

    @property
    def busy(self) -> Busy | None:
        """What is under way."""
        if self._now is None:
            return None
        from fairenum.report.wording.exploration import ACTIONS

        (stage, done, total), (kind, can_stop) = self._told, self._action
        return Busy(ACTIONS.get(stage, ACTIONS[kind]), done, total, round(time.monotonic() - self._since, 3), can_stop)

    def listen(self, told: Callable[[], None]) -> Callable[[], None]:
        """Have something called, in whatever thread, whenever something changes; return what ends that."""
        self._listeners.add(told)
        return lambda: self._listeners.discard(told)

    def open(self) -> None:
        """Begin to open the exploration, unless that was begun, and come back at once."""
        with self._turn:
            if not (self._is_begun or self.is_closed):
                self._is_begun = True
                self._begin(Action("load", self._opened, can_stop=False))

    def take(self, action: Action, seen: int | None) -> Done:
        """Take a step, and wait until it is taken; refuse one that is asked for at the wrong time.

        Parameters
        ----------
        action
            The step.
        seen
            The revision that whoever asks has seen, if that matters.
        """
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
        """End what is under way at its next checkpoint; do nothing if nothing is."""
        if self._now is not None and not self._action[1]:
            raise Refusal.coded(409, "occupied" if self._exploration else "starting")
        self._is_stopping = self._now is not None

    def close(self, patience: float = 0.5) -> None:
        """Take no step any more, and let others write to the record; what is under way has a moment to end.

        Opening has none: there is no step yet that could be lost, and nobody waits for it.
        """
        self._is_stopping = self.is_closed = True
        self._tell()
        if self._exploration is None:
            return
        if (now := self._now) is not None:
            ended = threading.Event()
            now.add_done_callback(lambda _: ended.set())
            if not ended.wait(patience):  # it is not on the record, so it never was; nobody is to wait for it
                with suppress(InvalidStateError):
                    now.set_exception(Refusal.coded(503, "closed"))
                return
        self._exploration.close()

    def _begin(self, action: Action) -> Future[Done]:
        """Start a thread that does not keep the process alive: a step that is not on the record may be lost."""
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
        """Let the next one come before anybody hears that this one has ended."""
        self.trouble, self.troubles = trouble, self.troubles + (trouble is not None)
        done = Done(self.revision, message)
        self._now, self._is_stopping = None, self.is_closed
        with suppress(InvalidStateError):  # nobody waited for it any more
            ended.set_result(done) if trouble is None else ended.set_exception(Refusal(422, trouble))
        self._tell()

    def _opened(self, _: Exploration | None, progress: Progress) -> None:
        exploration = self._opening(progress)
        exploration.listen(self._tell)
        self._exploration = exploration
        if self.is_closed:  # nobody waited for it
            exploration.close()

    def _progress(self, stage: str, done: int, total: int | None) -> None:
        """Take notice of how far a step is; end it if somebody asked for that."""
        if self._is_stopping and (self._action[1] or self.is_closed):
            raise Stopped
        self._told = stage, done, total
        self._tell()

    def _tell(self) -> None:
        for told in [*self._listeners]:
            told()


def _said(error: Exception) -> str:
    """Say what went wrong: a mistake in its own words, and a fault as what it is."""
    from fairenum.report.wording.exploration import broken

    return str(error) if isinstance(error, FairenumError) else broken(error)
