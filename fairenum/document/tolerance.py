"""How much worse a machine has to be to decide one person otherwise, and what all that are not so much worse say."""

from __future__ import annotations

from typing import Literal

from fairenum.document.value import Value

Standing = Literal["flips", "settled", "open"]


class ValueRange(Value, frozen=True):
    """The decision values of one person over all machines within a loss.

    Attributes
    ----------
    low_bound, high_bound
        None goes beyond.
    low_attained, high_attained
        Machines go as far.
    """

    low_bound: float
    low_attained: float
    high_attained: float
    high_bound: float


class WeightChange(Value, frozen=True):
    """A weight of model 1, and of the machine that decides otherwise; `level` is the text that it is for."""

    feature: str
    level: str | None
    first: float
    other: float


class MovedExample(Value, frozen=True):
    """A training example that supports one of two machines and not the other: its first row, counted from 0."""

    row: int
    label: str


class FlippingMachine(Value, frozen=True):
    """The machine of least loss that decides the person otherwise.

    Attributes
    ----------
    weights
        The weights that change most, where the kernel has any.
    dropped, added
        How many training examples support model 1 and not this machine, and the other way round.
    examples
        Some of those that were dropped: what this machine would do without.
    """

    weights: tuple[WeightChange, ...] = ()
    dropped: int = 0
    added: int = 0
    examples: tuple[MovedExample, ...] = ()

    @property
    def redacted(self) -> FlippingMachine:
        """Leave single rows out."""
        return self.but(examples=())


class FlipTolerance(Value, frozen=True):
    """How far the decision about one person is settled by the training rows.

    Attributes
    ----------
    eps
        The relative loss within which machines count as near-optimal.
    low, high
        The relative loss at which some machine first decides otherwise is proven to be at least the one; the machine
        attains the other.
    machine
        The one of least loss that decides otherwise.
    values
        What decision values all machines within eps give, minus the cut; null if eps is 0, or where nothing is proven.
    """

    eps: float
    low: float
    high: float
    machine: FlippingMachine
    values: ValueRange | None = None

    @property
    def standing(self) -> Standing:
        """Whether the decision depends on which of the near-optimal machines is used."""
        if self.high <= self.eps:
            return "flips"
        return "settled" if self.low > self.eps else "open"
