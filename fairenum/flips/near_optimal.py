"""The set of all near-optimal models, and bounds on how many rows they may decide favourably.

Let f(x) be the decision value of a plane less the threshold, step(f) = 1 where f >= 0 and 0 elsewhere, and worth_j the
weight of row j, of either sign. The objective is a weighted count of favourable decisions, ``count = sum_j worth_j
step(f(x_j))``. It is to be maximised over all planes (w, b) whose loss P(w, b) on the training examples is at most L.
This is no convex programme, but an upper bound is. If f(x_j) is proven to lie between low_j and high_j, then::

    step(f) <= min(1, 1 + f / |low|)        step(f) >= max(0, f / high)

so ``count <= top - H(w, b)``, where top adds up every worth above 0 and H is a sum of hinges, of slope worth_j /
|low_j| or |worth_j| / high_j. For each price v > 0 of these hinges::

    count <= top + ( L - D(v) ) / v,        D(v) = min P + v H

and P + v H is the loss of the same SVM with more examples: row j with the label +1 (worth_j > 0) or -1, the linear term
0, and v times the slope of its hinge as the upper bound of its dual variable. By weak duality every feasible alpha of
that SVM bounds D(v) from below, and so the count from above, whatever the kernel. The decision about a row may also be
*held*, which means fixed, to one side: it counts as decided that way, and its hinge may be arbitrarily steep.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from fairenum.document.feature_facts import ROUNDING
from fairenum.enumeration.convex_price import next_price
from fairenum.runtime.budget import checkpoint
from fairenum.svm.certificate import bias_interval, middle
from fairenum.svm.gram import open_gram
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, as_matrix, places, stacked
from fairenum.svm.working_set import Start, WorkingSetSolver

SignArray = npt.NDArray[np.int8]

FREE, FAVOURABLE, UNFAVOURABLE = 0, 1, -1  # states of a decision: free, or held to one side
# The accuracy of an interior point: a share of the allowed rise of the loss, between these shares of the objective. Any
# point proves a bound.
ACCURACY, FINEST, COARSEST = 1e-4, 1e-9, 1e-5
ALLOWANCE = 1e-12  # of all terms of a sum, for its rounding: every bound is weakened by that much
SOME_RISE = 0.4  # of the allowed rise of the loss, up to its inverse: a price with such a rise bounds a value well
MOST_TRIES, FAR = 6, 8.0  # prices that are tried for that, and how much farther than expected a value may go
SHALLOW = 1e-3  # of the largest bound on a decision value: hinges are as steep as for that bound at most
HELD = 10.0  # times the sum of all upper bounds of alpha: the upper bound of alpha for a held decision
MOST_BIASES = 256  # of one plane at which decisions are observed


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRows:
    """Rows of several groups, with identical rows merged into one.

    ``rows`` are the distinct rows, ``first`` is the index of the first occurrence of each among all rows, and
    ``copies`` how often each occurs. ``sizes`` is the number of rows in each group. ``worth``, shape (distinct rows,
    groups), is how much favourable decisions about all occurrences of a row add to the selection rate of each group.
    """

    rows: Matrix
    first: IntArray
    worth: FloatArray
    sizes: IntArray
    copies: IntArray
    is_weighted: bool

    @classmethod
    def of(cls, rows: Matrix, codes: IntArray, weights: FloatArray | None = None) -> GroupedRows:
        """Return the rows of all groups with identical ones merged.

        `codes` has the group of each row, counted from 0 without gaps, and a negative number for a row in no group.
        """
        rows = as_matrix(rows)
        taken = np.flatnonzero(codes >= 0)
        count, own = int(codes.max(initial=-1)) + 1, codes[taken]
        first, inverse = places(rows[taken])
        counts = np.ones(len(own)) if weights is None else weights[taken]
        worth = np.zeros((len(first), count))
        np.add.at(worth, (inverse, own), counts)
        return cls(
            rows=rows[taken[first]],
            first=taken[first],
            worth=worth / worth.sum(axis=0),
            sizes=np.bincount(own, minlength=count),
            copies=np.bincount(inverse, minlength=len(first)),
            is_weighted=weights is not None,
        )

    def grid(self, groups: Iterable[int]) -> float:
        """Return a number of which these groups' selection rates are all integer multiples; 0 if rows have weights."""
        return 0.0 if self.is_weighted else 1.0 / math.lcm(*(int(self.sizes[group]) for group in groups))


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A plane, given by the dual variables ``alpha`` of the examples and rows that span it; ``product`` is ``Q alpha``.

    Here ``Q_ij = y_i y_j k(x_i, x_j)``, with the labels y and the kernel k. The bias is stored elsewhere.
    """

    alpha: FloatArray
    product: FloatArray

    @property
    def square(self) -> float:
        """The squared length ``|w|^2`` of the weight vector, never negative despite rounding."""
        return max(float(self.alpha @ self.product), 0.0)

    def towards(self, other: Plane, share: float) -> Plane:
        """Return the plane ``(1 - share) * self + share * other``."""
        kept = 1.0 - share
        return Plane(kept * self.alpha + share * other.alpha, kept * self.product + share * other.product)


@dataclass(frozen=True, slots=True, eq=False)
class CountObjective:
    """A weighted count of favourable decisions, to be maximised, in which some decisions are held (fixed).

    ``worth`` is the weight of each row, ``fixed`` the contribution of rows that all planes decide alike; ``held`` is
    FREE, FAVOURABLE or UNFAVOURABLE for each row.
    """

    worth: FloatArray
    fixed: float
    held: SignArray

    @property
    def upper_limit(self) -> float:
        """The largest count possible if all decisions that are not held could be made at will."""
        return self.fixed + float(
            self.worth[(self.held == FAVOURABLE) | ((self.held == FREE) & (self.worth > 0.0))].sum()
        )

    def holding(self, row: int, decision: int) -> CountObjective:
        """Return this objective with the decision about one more row fixed to `decision`."""
        held = self.held.copy()
        held[row] = decision
        return CountObjective(self.worth, self.fixed, held)


class PricedPlane(NamedTuple):
    """The loss of a plane that nearly minimises loss plus ``price`` times some quantity, and the quantity itself.

    ``difference`` is that quantity, such as the sum of the rows' hinges.
    """

    price: float
    loss: float
    difference: float


class PricedSolution(NamedTuple):
    """A plane that nearly minimises loss plus price times the rows' hinges; ``least`` is a lower bound on that sum.

    `NearOptimalModels.hinges` explains the hinges. ``gradient`` is that of the dual problem at the plane's dual
    variables; another solve may start from it.
    """

    plane: Plane
    bias: float
    gradient: FloatArray
    least: float


class NearOptimalModels:
    """The planes whose loss is at most ``1 + eps`` times the least, and distinct rows that they may decide differently.

    ``low`` and ``high`` bound each row's decision value, less the threshold, over all these planes; both are infinite
    until `bound_values` computes them. Decision values from the threshold up are favourable.
    """

    def __init__(self, problem: SvmProblem, best: Solution, rows: Matrix, eps: float, threshold: float = 0.0) -> None:
        self.problem, self.threshold, self.count = problem, threshold, rows.shape[0]
        self.least = best.certificate.bound
        self.limit = (1.0 + eps) * self.least
        self._accuracy = min(max(ACCURACY * eps, FINEST), COARSEST)
        self.low, self.high = np.full(self.count, -np.inf), np.full(self.count, np.inf)
        sides = np.repeat([1.0, -1.0], self.count)
        # values within rounding of the threshold are favourable
        linear = np.concatenate([problem.linear, sides * threshold - np.where(sides > 0.0, ROUNDING, 0.0)])
        labels, table = np.concatenate([problem.y, sides]), stacked([problem.X, rows, rows])
        self._joined = SvmProblem(table, labels, kernel=problem.kernel, linear=linear, unit=problem.unit)
        self._gram = open_gram(self._joined)
        self._weight = float(problem.upper[problem.y > 0.0].sum())
        alpha = np.concatenate([best.alpha, np.zeros(2 * self.count)])
        self.best = Plane(alpha, self._gram.product(alpha))
        self.values = self.scores(self.best) + self._best_bias(self._missing(self.best))
        self._lengths = np.sqrt(self._gram.diagonal.clip(min=0.0))  # centring rounds
        # how far the decision value of a row of length 1 moves at most
        self._reach = math.sqrt(2.0 * max(self.limit - self.least, 0.0))

    def scores(self, plane: Plane) -> FloatArray:
        """Return the rows' decision values under a plane, less the threshold and without the bias."""
        size = self.problem.size
        return np.asarray(plane.product[size : size + self.count] - self.threshold)

    def hinges(self, objective: CountObjective) -> tuple[FloatArray, FloatArray]:
        """Return two slopes of each row's penalty, a hinge: for values below the threshold, and for values above it.

        Rows of positive worth have only the first slope, rows of negative worth only the second; the remaining slope is
        0. Both are 0 where the decision is held (fixed).
        """
        worth = np.where(objective.held == FREE, objective.worth, 0.0)
        ends = np.abs(np.concatenate([self.low, self.high]))
        # a less steep hinge is valid, too
        least = SHALLOW * max(float(ends.max(initial=0.0, where=np.isfinite(ends))), ROUNDING)
        depth, height = np.maximum(-self.low, least), np.maximum(self.high, least)
        return worth.clip(min=0.0) / depth, (-worth).clip(min=0.0) / height

    def bound_values(self, objective: CountObjective, most_solves: int) -> int:
        """Bound the decision values of rows with a weight in the objective; return the number of problems solved.

        Rows of positive worth need a lower bound, rows of negative worth an upper bound. First come the rows whose
        decision by model 1 would have to change for a larger count, farthest from the threshold first; then all others,
        nearest first.
        """
        sides = -np.sign(objective.worth)
        open_ends = np.where(sides < 0.0, np.isinf(self.low), np.isinf(self.high)) & (sides != 0.0)
        away = sides * self.values / self._lengths[self.problem.size :][: self.count].clip(min=ROUNDING)
        order, solves = np.lexsort((-away, away <= 0.0)), 0
        for row in order[open_ends[order]].tolist():
            if solves >= most_solves:
                break
            checkpoint()
            solves += self._bound_value(row, float(sides[row]))
        return solves

    def _bound_value(self, row: int, side: float) -> int:
        """Bound one row's decision value f from above (`side` +1) or below (-1); return the number of problems solved.

        For a price v and a target t, let D be a lower bound, from weak duality, on the minimum of the sum
        ``P + v max(0, t - side * f)``, where P is the loss of a plane. Then ``side * f <= t - (D - L) / v`` for all
        planes whose loss is within the limit L. This bound is good where the loss of the plane found has risen by about
        as much as allowed; prices are tried until that is so.
        """
        size, allowed = self.problem.size, max(self.limit - self.least, ALLOWANCE * self.limit)
        length, here = max(float(self._lengths[size + row]), ROUNDING), side * float(self.values[row])
        place = size + row if side > 0.0 else size + self.count + row  # in the joined problem, for either label
        price, best, solves = 2.0 * allowed / (self._reach * length), math.inf, 0
        inside, outside = PricedPlane(0.0, self.least, -here), None
        while solves < MOST_TRIES:
            found, far = self._solve_pulling(place, price, here + FAR * 2.0 * allowed / price)
            solves += 1
            missed = (found.least - self.limit) / price
            best = min(best, far - missed) if missed > 0.0 else best
            loss = self.loss_at(found.plane, found.bias)
            if SOME_RISE * allowed <= loss - self.least <= allowed / SOME_RISE:
                break
            reached = float(self.scores(found.plane)[row] + found.bias)
            tried = PricedPlane(price, loss, -side * reached)
            inside, outside = (tried, outside) if loss <= self.limit else (inside, tried)
            price = next_price(inside, outside, self.least, self.limit)
        if math.isfinite(best):
            self._reach = math.sqrt(self._reach * max(best - here, 0.1 * self._reach * length) / length)
            self.low[row], self.high[row] = (-best, self.high[row]) if side < 0.0 else (self.low[row], best)
        return solves

    def _solve_pulling(self, place: int, price: float, far: float) -> tuple[PricedSolution, float]:
        box = np.concatenate([self.problem.upper, np.zeros(2 * self.count)])
        box[place] = price
        linear = self._joined.linear.copy()
        linear[place] = far + self._joined.y[place] * self.threshold
        return self._solve(box, linear, None), far

    def shortfall(self, objective: CountObjective, values: FloatArray) -> FloatArray:
        """Return each row's penalty, a hinge (see `hinges`), given its decision value less the threshold."""
        up, down = self.hinges(objective)
        return np.asarray(up * (-values).clip(min=0.0) + down * values.clip(min=0.0))

    def solve(
        self, objective: CountObjective, price: float, near: FloatArray | None = None, margin: float = 0.0
    ) -> PricedSolution:
        """Return a plane that nearly minimises loss plus `price` times the rows' hinges, and a bound on the minimum.

        `near` is the gradient of an earlier solution, to start from. With a `margin`, held (fixed) decisions must be
        that far on their side of the threshold, and the lower bound is -inf.
        """
        joined, pull = self._joined, HELD * float(self.problem.upper.sum())
        up, down = self.hinges(objective)
        box = np.concatenate([
            self.problem.upper,
            np.where(objective.held == FAVOURABLE, pull, price * up),
            np.where(objective.held == UNFAVOURABLE, pull, price * down),
        ])  # fmt: skip
        linear = joined.linear
        if margin:
            asked = np.concatenate([objective.held == FAVOURABLE, objective.held == UNFAVOURABLE])
            linear = linear + np.concatenate([np.zeros(self.problem.size), margin * asked])
        found = self._solve(box, linear, near)
        return found._replace(least=-math.inf) if margin else found

    def _solve(self, box: FloatArray, linear: FloatArray, near: FloatArray | None) -> PricedSolution:
        joined, gram = self._joined, self._gram
        start = None if near is None else Start(near, np.zeros(joined.size, dtype=bool))
        found = WorkingSetSolver(gram, joined.y, box, linear, joined.unit).solve(start, self._accuracy)
        alpha = _balanced(found.alpha, joined.y)
        plane = Plane(alpha, gram.product(alpha))
        length = float(alpha @ self._lengths)
        summed = float(np.abs(linear) @ alpha) + length * (length if gram.is_matrix else math.sqrt(plane.square))
        least = float(linear @ alpha) - 0.5 * plane.square - ALLOWANCE * (self.limit + summed)
        return PricedSolution(plane, found.point.bias, found.gradient, least)

    def loss(self, plane: Plane) -> float:
        """Return the least loss of a plane's weights over all biases."""
        missing = self._missing(plane)
        return self._loss(plane, missing, self._best_bias(missing))

    def loss_at(self, plane: Plane, bias: float) -> float:
        """Return the loss of a plane's weights with the given bias."""
        return self._loss(plane, self._missing(plane), bias)

    def biases(self, plane: Plane) -> tuple[float, float] | None:
        """Return the interval of biases with which a plane's loss is within the limit; None if there is none."""
        missing = self._missing(plane)
        middle = self._best_bias(missing)

        def excess(bias: float) -> float:
            return self._loss(plane, missing, bias) - self.limit

        if excess(middle) > 0.0:
            return None
        return _farthest(excess, middle, -1.0), _farthest(excess, middle, 1.0)

    def decisions(self, plane: Plane, most: int = MOST_BIASES) -> npt.NDArray[np.bool_]:
        """Return a plane's decisions about the rows at the biases within the loss limit, shape (biases, rows).

        There is a bias for each set of decisions that the plane can make, or an even sample of `most` biases.
        """
        scores, ends = self.scores(plane), self.biases(plane)
        if ends is None:
            return np.empty((0, self.count), dtype=bool)
        turns = -scores[(-scores > ends[0]) & (-scores < ends[1])]
        turns = np.unique(np.concatenate([ends, turns]))
        between = np.concatenate([ends, 0.5 * (turns[1:] + turns[:-1])])  # where no row is just on the threshold
        taken = between[np.unique(np.linspace(0, len(between) - 1, min(most, len(between))).astype(int))]
        return np.asarray(scores + taken[:, None] >= 0.0)

    def within_limit(self, plane: Plane) -> Plane:
        """Return the last plane within the loss limit on the straight line from the best plane to `plane`."""

        def excess(share: float) -> float:
            return self.loss(self.best.towards(plane, share)) - self.limit

        if excess(1.0) <= 0.0:
            return plane
        if excess(0.0) >= 0.0:
            return self.best
        # the loss is convex, so it stays within the limit up to the share where it reaches it
        share = float(brentq(excess, 0.0, 1.0, xtol=1e-6, rtol=1e-6))
        return self.best.towards(plane, max(share - 2e-6, 0.0))

    def _missing(self, plane: Plane) -> FloatArray:
        return np.asarray(self.problem.linear - plane.product[: self.problem.size])

    def _best_bias(self, missing: FloatArray) -> float:
        return middle(*bias_interval(self.problem.y * missing, self.problem.upper, self._weight, 0.0))

    def _loss(self, plane: Plane, missing: FloatArray, bias: float) -> float:
        slack = (missing - self.problem.y * bias).clip(min=0.0)
        return 0.5 * plane.square + float(self.problem.upper @ slack)


def _balanced(alpha: FloatArray, y: FloatArray) -> FloatArray:
    """Return dual variables with ``y'alpha = 0``, by scaling down those of the label that has the larger sum."""
    positive, negative = float(alpha[y > 0].sum()), float(alpha[y < 0].sum())
    if min(positive, negative) <= 0.0:
        return np.zeros_like(alpha)
    return np.asarray(alpha * np.where(y > 0, min(1.0, negative / positive), min(1.0, positive / negative)))


def _farthest(excess: Callable[[float], float], inside: float, side: float) -> float:
    """Return the last point, from `inside` in the direction `side` (-1 or +1), where the convex `excess` is at most 0.

    The point is rounded towards `inside`.
    """
    step = 1e-3
    while excess(inside + side * step) <= 0.0:
        step *= 4.0
        if step > 1e9:
            return inside + side * step
    if excess(inside) >= 0.0:
        return inside
    far = float(brentq(lambda way: excess(inside + side * way), 0.0, step, xtol=1e-12, rtol=1e-9))
    return inside + side * far * (1.0 - 1e-8)
