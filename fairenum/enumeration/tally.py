"""What a weighted count of favourable decisions counts, and the planes that are tried for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairenum.problem import FloatArray

SignArray = npt.NDArray[np.int8]

FREE, FAVOURABLE, UNFAVOURABLE = 0, 1, -1  # what the decision of a row is held to be


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A plane by what spans it: training examples, and rows with either label.

    Attributes
    ----------
    alpha, product
        Their weights, and ``Q alpha``.
    """

    alpha: FloatArray
    product: FloatArray

    @property
    def square(self) -> float:
        """``|w|^2``; rounding makes no square negative."""
        return max(float(self.alpha @ self.product), 0.0)

    def towards(self, other: Plane, share: float) -> Plane:
        """Return the plane that is a share of the way to another."""
        kept = 1.0 - share
        return Plane(kept * self.alpha + share * other.alpha, kept * self.product + share * other.product)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What favourable decisions are worth, and which decisions are held.

    Attributes
    ----------
    worth
        Of each row.
    fixed
        What the rows add that all planes decide alike.
    held
        FREE, FAVOURABLE or UNFAVOURABLE for each row.
    """

    worth: FloatArray
    fixed: float
    held: SignArray

    @property
    def top(self) -> float:
        """What the tally is at most: every decision that is not held is the one that counts for more."""
        return self.fixed + float(
            self.worth[(self.held == FAVOURABLE) | ((self.held == FREE) & (self.worth > 0.0))].sum()
        )

    def holding(self, row: int, decision: int) -> Tally:
        """Hold one more decision."""
        held = self.held.copy()
        held[row] = decision
        return Tally(self.worth, self.fixed, held)


class Tried(NamedTuple):
    """A plane's loss and what it has of something, and the price of that for which it was found."""

    price: float
    loss: float
    difference: float


class Solved(NamedTuple):
    """What one solve gives: a plane, its own bias, the gradient, and what ``P + v H`` is at least for all planes."""

    plane: Plane
    bias: float
    gradient: FloatArray
    least: float
