"""Flip prices: how much worse than the best a machine must be to decide a row otherwise, proven and attained.

Model 1 decides a row by the side of the threshold that its decision value is on. The flip price of the row is the least
loss of all machines that have it on the other side, or on the threshold, relative to the least of all, minus 1. The
same planes tell how far a decision value can go within a given loss.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fairenum.budget import OutOfTime, checkpoint
from fairenum.enumeration.inquiry import Inquiry
from fairenum.enumeration.pulling import TIGHT
from fairenum.enumeration.ranges import FlippingPlane, ValueRanges, flipping_plane, value_ranges
from fairenum.enumeration.screening import Screen
from fairenum.matrices import Matrix, as_matrix, places
from fairenum.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.qp.foreign import LinearRows
from fairenum.solvers.protocol import SolverPlugin

__all__ = [
    "Effort",
    "FlipPrices",
    "FlippingPlane",
    "Listed",
    "ValueRanges",
    "flip_prices",
    "flipping_plane",
    "value_ranges",
]

BoolArray = npt.NDArray[np.bool_]

CEILING = 0.1  # beyond which nobody asks for a price
AT_ONCE = 32  # rows whose answers are held at once
BEYOND = 1.1  # times the ceiling, up to which a proof is taken: it then tells of more rows


@dataclass(frozen=True, slots=True)
class Effort:
    """What flip prices took.

    Attributes
    ----------
    distinct
        Rows that differ.
    screened
        Of these, those whose price was proven to be beyond the ceiling by what had been proven for others.
    listed
        Those that planes already known decide otherwise at no price.
    walked
        Those that the plane of model 1 was pulled across.
    """

    distinct: int
    screened: int
    listed: int
    walked: int


@dataclass(frozen=True, slots=True, eq=False)
class FlipPrices:
    """Flip prices, one for each row, as shares of the least loss.

    Attributes
    ----------
    low
        Proven: no machine whose loss is below ``(1 + low)`` times the least decides the row otherwise. At least the
        ceiling where the price is beyond it.
    high
        Attained: a plane with this relative loss does; infinite where none was looked for, beyond the ceiling.
    is_examined
        False where the time did not suffice: `low` is then 0 and `high` infinite.
    effort
        What it took.
    """

    low: FloatArray
    high: FloatArray
    is_examined: BoolArray
    effort: Effort


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Planes that are known already: decision values, one row for each plane, and their losses relative to the least.

    A relative loss is ``P / P* - 1`` on all examples.
    """

    values: FloatArray
    losses: FloatArray


def flip_prices(
    problem: SvmProblem,
    best: Solution,
    rows: Matrix,
    *,
    threshold: float = 0.0,
    ceiling: float = CEILING,
    order: IntArray | None = None,
    listed: Listed | None = None,
    solver: str | SolverPlugin | None = None,
) -> FlipPrices:
    """Return the flip price of every row.

    Parameters
    ----------
    problem, best
        The machine, and its best answer: model 1.
    rows
        As they are encoded for the machine.
    threshold
        Decision values of at least this are decided positively.
    ceiling
        Prices beyond it are proven to be, and not looked for.
    order
        In which to examine the rows, all of them or some: where the time does not suffice, the first are examined.
    listed
        Planes that are known already.
    solver
        By which to solve for every row; by default model 1 is walked to every row's plane.
    """
    rows = as_matrix(rows)
    order = np.arange(rows.shape[0]) if order is None else np.asarray(order, dtype=np.intp)
    first, inverse = places(rows[order])
    inquiry = Inquiry(problem, best, rows[order[first]], solver)
    pricing = _Pricing(inquiry, threshold, ceiling)
    if listed is not None:
        pricing.know(listed.values[:, order[first]], listed.losses)
    with suppress(OutOfTime):
        pricing.run()
    result = np.zeros(rows.shape[0]), np.full(rows.shape[0], np.inf), np.zeros(rows.shape[0], bool)
    for target, source in zip(result, pricing.found(), strict=True):
        target[order] = source[inverse]
    return FlipPrices(*result, pricing.effort)


class _Pricing:
    """The prices of distinct rows, on their way."""

    def __init__(self, inquiry: Inquiry, threshold: float, ceiling: float) -> None:
        self._inquiry, self._threshold, self._ceiling = inquiry, threshold, ceiling
        self._pulls, count = inquiry.pulls(threshold), inquiry.rows.shape[0]
        self._low, self._high, self._known = np.zeros(count), np.full(count, np.inf), np.zeros(count, bool)
        self._attained = np.full(count, np.inf)  # by planes that were known
        self.effort = Effort(count, 0, 0, 0)

    def know(self, values: FloatArray, losses: FloatArray) -> None:
        """Note what planes attain that are known already; a price of nothing needs no other."""
        for plane, loss in zip(values, losses, strict=True):
            flips = np.where(self._pulls.sides > 0.0, plane >= self._threshold, plane <= self._threshold)
            self._attained[flips] = np.minimum(self._attained[flips], max(loss, 0.0))
        free = self._attained <= TIGHT
        self._high[free], self._known[free] = self._attained[free], True
        self.effort = replace(self.effort, listed=int(free.sum()))

    def run(self) -> None:
        """Price row by row, some at a time."""
        inquiry, least = self._inquiry, self._inquiry.least
        most, enough = (1.0 + BEYOND * self._ceiling) * least.high, (1.0 + self._ceiling) * (1.0 + TIGHT) * least.high
        screen = Screen(inquiry.foreign, enough) if isinstance(inquiry.foreign, LinearRows) else None
        waiting = np.flatnonzero(~self._known)
        for start in range(0, len(waiting), AT_ONCE):
            checkpoint()
            some = waiting[start : start + AT_ONCE]
            if screen is not None:
                losses = screen.proven(self._pulls.take(some))
                self._settle(some[losses >= enough], losses[losses >= enough], np.inf)
                self.effort = replace(self.effort, screened=self.effort.screened + int((losses >= enough).sum()))
                some = some[losses < enough]
            pulls = self._pulls.take(some)
            found = inquiry.witnesses(pulls, most)
            self._settle(some, found.proven, least.attained(found.attained))
            self.effort = replace(self.effort, walked=self.effort.walked + len(some))
            if screen is not None:
                screen.keep(pulls, found)

    def _settle(self, some: IntArray, proven: FloatArray, attained: FloatArray | float) -> None:
        self._low[some], self._high[some], self._known[some] = self._inquiry.least.proven(proven), attained, True

    def found(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return what is proven, what is attained, and for which rows."""
        high = np.where(self._low >= self._ceiling, np.inf, self._high)
        return self._low, np.where(self._known, np.minimum(high, self._attained), np.inf), self._known
