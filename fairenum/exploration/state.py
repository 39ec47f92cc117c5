"""Where an exploration stands: a frozen value, and the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fairenum.document.decision_record import ModelMark, StepEnd
from fairenum.document.exploration import ExploredModel
from fairenum.document.machine import Tolerances
from fairenum.document.terms import Origin
from fairenum.enumeration.model import Model
from fairenum.errors import ExplorationError
from fairenum.problem import FloatArray
from fairenum.scoring.guarded import Measured
from fairenum.scoring.operating import Cut


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A model that was looked at, scored once.

    Attributes
    ----------
    number
        In the order in which models were looked at, from 1.
    cut, values
        Where it is cut, and its decision values on the selection split minus that.
    decided
        What it decides there, eight rows to a byte.
    mark
        By what it is known again.
    measured
        All that can be guarded.
    document
        What is shown of it, but for the supports that decide alike.
    """

    number: int
    origin: Origin
    model: Model
    cut: Cut
    values: FloatArray = field(repr=False)
    decided: bytes = field(repr=False)
    mark: ModelMark
    measured: Measured = field(repr=False)
    document: ExploredModel = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """A model of the list, with the supports passed so far that decide as it does."""

    shown: Shown
    supports: frozenset[bytes]

    @property
    def number(self) -> int:
        """Of the model."""
        return self.shown.number

    def with_supports(self, marks: set[bytes]) -> Listed:
        """Count more supports, unless they were counted before."""
        return self if marks <= self.supports else replace(self, supports=self.supports | marks)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where an exploration stands.

    Attributes
    ----------
    left_out, pinned
        Rows that every box leaves out, and keeps, as their owner counts them.
    listed
        The models so far.
    current
        The number of the one in focus.
    cursors, solves
        How far each lane was followed.
    committed
        The number of the model that was decided for.
    end
        Why the last step had nothing more to show.
    looked
        Every model that was ever looked at, by the sha256 of its weights. Like the fields below, no undo takes it back.
    opened
        How often the holdout was opened.
    judged
        The models whose scores on the holdout were seen.
    before
        What an undo leads to.
    """

    left_out: frozenset[int]
    pinned: frozenset[int]
    tolerances: Tolerances
    listed: tuple[Listed, ...] = ()
    current: int = 1
    cursors: Mapping[bytes, int] = field(default_factory=dict)
    solves: Mapping[tuple[bytes, Tolerances], int] = field(default_factory=dict)
    committed: int | None = None
    end: StepEnd | None = None
    looked: Mapping[str, Shown] = field(default_factory=dict)
    opened: int = 0
    judged: tuple[Shown, ...] = ()
    before: State | None = field(default=None, repr=False)

    @property
    def shown(self) -> tuple[Shown, ...]:
        """The models so far, without their supports."""
        return tuple(one.shown for one in self.listed)

    def model(self, number: int) -> Shown:
        """Return a model of the list; refuse a number that it does not have."""
        for one in self.listed:
            if one.number == number:
                return one.shown
        numbers = ", ".join(str(one.number) for one in self.listed[-12:])
        raise ExplorationError(f"the list has no model {number!r}; the last ones are {numbers}")

    def stepped(self, **changes: object) -> State:
        """Return the state after a step."""
        return replace(self, **{"end": None, "before": self} | changes)  # type: ignore[arg-type]

    def undone(self) -> State:
        """Return the state before the last step that was not taken back; what was seen stays seen."""
        if self.before is None:
            raise ExplorationError("there is no step to undo")
        return replace(self.before, end=None, looked=self.looked, opened=self.opened, judged=self.judged)
