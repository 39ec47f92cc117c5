"""Which examples to leave out of a model's box, or to put back into it, most promising first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.enumeration.influence import Influence
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.scoring.ties import NOISE, tied_ranks

SOFTNESS = 0.25  # of the sigmoid, in standard deviations of the decision values of model 1
OUTLOOK = 0.3  # of the gap: guardrails are looked out for as far as this way down
LEAST_SLACK = 0.1  # so that examples on the margin, which cost nothing, are not infinitely cheap


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Examples to leave out (sign -1) or to put back (+1), most promising first, and how many copies of each."""

    examples: IntArray
    copies: IntArray
    sign: int

    @property
    def size(self) -> int:
        """Number of copies, all examples together."""
        return int(self.copies.sum())

    def box(self, upper: FloatArray, cost: FloatArray, batch: int) -> FloatArray:
        """Return the box with the first `batch` copies left out or put back."""
        taken = np.diff(np.minimum(np.cumsum(self.copies), batch), prepend=0)
        counts = np.rint(upper / cost)
        counts[self.examples] += self.sign * taken
        return np.asarray(counts * cost)


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Between which boxes a search moves: copies of each example that the largest one allows, and that all keep."""

    allowed: IntArray
    floor: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """What to leave out of the box, what to put back, and what to leave out of the whole box instead."""

    leave_out: Order
    put_back: Order
    choose_anew: Order


class Ranking:
    """Ranks the examples of a problem by what they do to watched rows, for the objective that they cost."""

    def __init__(self, problem: SvmProblem, watched: Watched, first_values: FloatArray, span: Span) -> None:
        self._problem, self._watched, self._span = problem, watched, span
        self._first = watched.against or watched.measured(first_values)
        self._influence = Influence(problem, watched.rows.X)
        self._softness = SOFTNESS * float(first_values.std()) or 1.0

    def orders(self, solution: Solution, model: Model, values: FloatArray, price: float) -> Orders:
        """Rank by the first-order effect on the smoothed gap.

        Parameters
        ----------
        solution, model
            The answer to go on from, and its model.
        values
            The model's decision values on the watched rows, minus its cut.
        price
            Of performance, in units of gap.
        """
        problem = self._problem
        decided = model.decision_function(problem.X)
        slope = self._slope(solution.upper, decided, values, price)
        effect = self._influence.of_leaving_out(solution.upper, decided, slope)
        slack = np.maximum(0.0, problem.linear - problem.y * decided)
        inside, span = problem.counted(solution.upper), self._span
        worth, helps = effect / (slack + LEAST_SLACK), effect < -NOISE * np.abs(effect).max()
        return Orders(
            leave_out=_order(worth, helps & (solution.alpha > 0.0), inside - span.floor, -1),
            put_back=_order(-effect, ~helps, span.allowed - inside, 1),
            choose_anew=_order(worth, helps & (slack > NOISE), span.allowed - span.floor, -1),
        )

    def _slope(self, upper: FloatArray, decided: FloatArray, values: FloatArray, price: float) -> FloatArray:
        """Return the slope to go down: that of the gap, and of the guardrails that stand in the way."""
        watched, slope = self._watched, self._watched.slope(values, self._softness, price)
        limits = watched.limits(values, self._softness, self._first)
        gap = watched.standing(values)[0]
        if not limits.rooms.size or not gap > 0.0:
            return slope
        return np.asarray(slope + self._influence.prices(upper, decided, slope, OUTLOOK * gap, limits) @ limits.slopes)


def _order(key: FloatArray, useful: np.ndarray, copies: IntArray, sign: int) -> Order:
    """Sort the useful examples by their key, the least first."""
    examples = np.flatnonzero(useful & (copies > 0))
    examples = examples[np.argsort(tied_ranks(key[examples]), kind="stable")]
    return Order(examples, copies[examples], sign)
