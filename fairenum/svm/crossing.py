"""Search for the best linear model that has a given row exactly on the decision threshold, in tables of many examples.

The search is over the weight vector, which is short, rather than alpha; the bias is the one that puts the row on the
threshold. The hinge loss is smoothed within a width that shrinks in stages. With ``short`` for how far an example falls
short of its margin, and ``t = alpha / upper`` for its share, the smoothed hinge of a stage is::

    max over 0 <= t <= 1 of  t short - width (t - t_before)^2

where t_before is the share that the previous stage found (the proximal point method on the dual). Newton's method
solves each smooth problem. The shares t are feasible for the dual, so every step proves a lower bound on the loss.
Examples far from the margin keep their share at 0 or 1. At the end an interior point is computed for the row and the
few examples whose share is in doubt; if other shares then turn out to be wrong, their examples are added to these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fairenum.runtime.budget import checkpoint
from fairenum.svm.gram import LinearGram
from fairenum.svm.interior import interior_point
from fairenum.svm.problem import FloatArray, IntArray, SvmProblem
from fairenum.svm.smoothing import signed_rows, squared
from fairenum.svm.sparse_or_dense import Matrix, stacked, sums, times

# Widths of the hinge in units of the margin; from NARROW on, they decide which examples are in doubt.
WIDTHS, NARROW = (0.2, 0.1, 0.05, 0.025, 0.01, 0.005), 0.05
STEPS = 30  # at most, for each width
CLOSE = 5e-8  # of the loss: proven and attained losses this near count as equal
SETTLED = 0.1  # of that gap: a smaller gain left at one width ends its steps
DECREASE, SHORTEST = 1e-4, 1e-4  # of the decrease that a step promises; and the shortest step that is tried
NEAR, FEWEST = 0.16, 1000  # the share of all examples that is near the margin; and how many at least
IN_DOUBT, FEWEST_IN_DOUBT = 5, 600  # examples in doubt: per column, and in addition
MOST_WRONG, TRIES = 100, 4  # examples on a wrong bound that may be added at most, and how often
WIDER = 2  # times as many examples, if the last ones were not enough
NO_LIMIT = 2.0  # times the largest imbalance that the weight of the row may have to balance
ACCURACY = 1e-11  # of the objective, to which an interior point is computed
MOST_KEPT = 256  # planes of earlier rows, as possible starts
NOBODY = np.empty(0, np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A plane (weights and bias), and the share ``alpha / upper`` of each example."""

    weights: FloatArray
    bias: float
    shares: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """A subset of the examples, with the contribution of all other examples, whose alpha is 0 or ``upper``.

    ``places`` are the indices of the subset; ``rows`` are features times labels. ``push``, ``balance`` and ``gain`` are
    sums over the other examples of alpha times, in turn, the row, the label and the linear term.
    """

    places: IntArray
    rows: Matrix
    y: FloatArray
    upper: FloatArray
    linear: FloatArray
    push: FloatArray
    balance: float = 0.0
    gain: float = 0.0

    def short(self, weights: FloatArray, bias: float) -> FloatArray:
        """Return how far each example of the subset falls short of its margin; negative for examples beyond it."""
        return np.asarray(self.linear - times(self.rows, weights) - self.y * bias)

    def loss(self, weights: FloatArray, bias: float, hinge: FloatArray) -> float:
        """Return the SVM's loss at a plane, given the subset's hinge losses.

        Every other example counts with its fixed alpha times how far it falls short of its margin.
        """
        others = self.gain - float(self.push @ weights) - self.balance * bias
        return 0.5 * float(weights @ weights) + others + float(self.upper @ hinge)

    def near(self, point: Point, size: int, also: IntArray = NOBODY) -> tuple[Examples, Point]:
        """Return the examples near a plane's margin, and the plane with all other shares (``alpha / upper``) at 0 or 1.

        To be called on the set of all examples. Near are the `size` examples nearest to the margin, all examples with a
        share strictly between 0 and 1, and those in `also`.
        """
        short = self.short(point.weights, point.bias)
        far, size = np.abs(short), min(size, len(short))
        is_far = (far > np.partition(far, size - 1)[size - 1]) & (np.abs(point.shares - 0.5) >= 0.5)
        is_far[also] = False
        shares = np.where(is_far, short > 0.0, point.shares)
        places, alpha = np.flatnonzero(~is_far), np.where(is_far, self.upper * shares, 0.0)
        some = self.rows[places], self.y[places], self.upper[places], self.linear[places]
        sums_of_others = sums(alpha, self.rows), float(alpha @ self.y), float(alpha @ self.linear)
        return Examples(places, *some, *sums_of_others), Point(point.weights, point.bias, shares)


class Crossing:
    """Searches from one trained linear model, each for the best model that has a given row on the threshold."""

    def __init__(self, problem: SvmProblem, gram: LinearGram, alpha: FloatArray, bias: float, least: float) -> None:
        y, upper, rows = problem.y, problem.upper, signed_rows(gram)
        self._unit, self._least, width = problem.unit, least, WIDTHS[0] * problem.unit
        self._all = Examples(np.arange(len(y)), rows, y, upper, problem.linear, np.zeros(rows.shape[1]))
        self._best = best = Point(sums(alpha, rows), bias, alpha / np.where(upper > 0.0, upper, 1.0))
        self._planes, self._losses = [np.append(best.weights, bias)], [least]
        near = np.flatnonzero(np.abs(self._all.short(best.weights, bias)) < width)
        matrix = squared(rows, y, near, upper[near] / (2.0 * width))
        matrix[np.diag_indices_from(matrix)] += 1.0
        self._stiffness = cho_factor(matrix)

    def held(self, row: FloatArray, side: float, threshold: float, enough: float) -> tuple[FloatArray, float]:
        """Return alpha and bias of the best model found with the row on the threshold.

        `side` is the label with which the row enters as an example. The search ends once it has proven that every model
        with the row on the threshold has a loss of at least `enough`. If it has proven no bound, alpha and bias of the
        trained model are returned.
        """
        search = _Search(self._all, row, side, threshold, self._least, enough)
        point = search.found(self._start(row, threshold), self._unit)
        if not np.isfinite(search.proven):
            point = self._best
        elif len(self._planes) < MOST_KEPT:
            self._planes.append(np.append(point.weights, point.bias))
            self._losses.append(search.attained)
        return self._all.upper * point.shares, point.bias

    def _start(self, row: FloatArray, threshold: float) -> Point:
        """Return a plane found before, moved so that the row is on the threshold.

        Of all planes found before, it is the one with the least loss after the move, by a quadratic estimate.
        """
        bordered = np.append(row, 1.0)
        way = cho_solve(self._stiffness, bordered)
        give = float(bordered @ way)
        missing = threshold - np.array(self._planes) @ bordered
        k = int(np.argmin(np.array(self._losses) + 0.5 * missing**2 / give))
        weights = self._planes[k][:-1] + missing[k] / give * way[:-1]
        return Point(weights, threshold - float(weights @ row), np.full(len(self._all.y), 0.5))


class _Search:
    """Search for the best plane with a row on the threshold; `attained` is the latest loss, `proven` a lower bound."""

    def __init__(
        self, examples: Examples, row: FloatArray, side: float, threshold: float, least: float, enough: float
    ) -> None:
        self._all, self._row, self._side, self._threshold = examples, row, side, threshold
        self._least, self._enough = least, enough
        self.proven, self.attained = -np.inf, np.inf

    def found(self, point: Point, unit: float) -> Point:
        """Return the best plane found by Newton steps on ever narrower smoothed hinges and by interior points."""
        some, size = self._all, FEWEST_IN_DOUBT + IN_DOUBT * len(self._row)
        near = max(FEWEST, int(NEAR * len(self._all.y)))
        for width in WIDTHS:
            checkpoint()
            point = self._settled(some, point, width * unit)
            if self.proven >= self._enough:
                return point
            if width <= NARROW:
                solved = self._solved_for_those_in_doubt(point, size)
                if self.proven >= self._enough or self._is_close():
                    return solved
                near, size = WIDER * near, WIDER * size
            some, point = self._all.near(point, near)
        self._spanned(self._all, point.shares)
        return point

    def _solved_for_those_in_doubt(self, point: Point, size: int) -> Point:
        """Return the plane solved for the `size` examples nearest to the margin, all other shares fixed at 0 or 1.

        Examples whose fixed share turns out to be wrong join these, and the problem is solved again, a few times at
        most.
        """
        also, least = NOBODY, np.inf
        for _ in range(TRIES):
            some, point = self._all.near(point, size, also)
            point = self._solved(some, point)
            self.attained, short = self._loss(point)
            wrong = np.flatnonzero((short > 0.0) != (point.shares > 0.5))
            is_done = self.proven >= self._enough or self._is_close()
            if is_done or len(wrong) > MOST_WRONG or self.attained >= least:
                break
            also, least = np.union1d(some.places, wrong), self.attained
        return point

    def _loss(self, point: Point) -> tuple[float, FloatArray]:
        short = self._all.short(point.weights, point.bias)
        return self._all.loss(point.weights, point.bias, np.maximum(short, 0.0)), short

    def _is_close(self) -> bool:
        return self.attained - self.proven <= CLOSE * self._least

    def _solved(self, some: Examples, point: Point) -> Point:
        """Return the plane that an interior point method finds for some examples, with the row as one more example."""
        rows, y = stacked([some.rows, self._side * self._row[None]]), np.append(some.y, self._side)
        upper = np.append(some.upper, NO_LIMIT * (abs(some.balance) + float(some.upper.sum())))
        linear = np.append(some.linear, self._side * self._threshold) - times(rows, some.push)
        inner = interior_point(LinearGram(rows, 0.0), y, upper, linear, -some.balance, ACCURACY)
        shares = point.shares.copy()
        shares[some.places] = np.clip(inner.alpha[:-1] / np.where(some.upper > 0.0, some.upper, 1.0), 0.0, 1.0)
        weights = self._spanned(some, shares[some.places])
        return Point(weights, self._threshold - float(weights @ self._row), shares)

    def _settled(self, some: Examples, point: Point, width: float) -> Point:
        """Return the plane after Newton steps for the hinge smoothed over one width.

        The steps end once `proven` is at least `enough`, or once this width has little more to gain.
        """
        weights, bias, before = point.weights, point.bias, point.shares[some.places]
        short = some.short(weights, bias)
        shares, value = _rounded(some, weights, bias, short, before, width)
        for _ in range(STEPS):
            slope = weights - self._spanned(some, shares)
            self.attained = some.loss(weights, bias, np.maximum(short, 0.0))
            if self.proven >= self._enough or self._is_close():
                break
            apart = self.attained - self.proven
            if np.isfinite(apart) and 0.5 * float(slope @ slope) <= SETTLED * apart:
                break
            step = self._step(some, before + short / (2.0 * width), width, slope)
            turn, moved, length = -float(step @ self._row), times(some.rows, step), 1.0
            moved += some.y * turn
            while True:
                tried = weights + length * step, bias + length * turn, short - length * moved
                shares, reached = _rounded(some, *tried, before, width)
                if reached <= value + DECREASE * length * float(slope @ step) or length < SHORTEST:
                    break
                length *= 0.5
            (weights, bias, short), value = tried, reached
        result = point.shares.copy()
        result[some.places] = shares
        return Point(weights, bias, result)

    def _spanned(self, some: Examples, shares: FloatArray) -> FloatArray:
        """Return the weight vector for given shares, and set `proven` to the lower bound on the loss that they prove.

        The row has the weight that makes ``y'alpha = 0``; if this weight has the wrong sign, `proven` is -inf.
        """
        alpha = some.upper * shares
        balance = some.balance + float(alpha @ some.y)
        plane = np.asarray(some.push + sums(alpha, some.rows) - balance * self._row)
        gain = some.gain + float(alpha @ some.linear) - balance * self._threshold
        is_feasible = self._side * balance <= 0.0  # the weight of the row is not negative
        self.proven = gain - 0.5 * float(plane @ plane) if is_feasible else -np.inf
        return plane

    def _step(self, some: Examples, shares: FloatArray, width: float, slope: FloatArray) -> FloatArray:
        """Return the Newton step of the weight vector; the bias is eliminated, since the row stays on the threshold."""
        near = np.flatnonzero((shares >= 0.0) & (shares <= 1.0))
        matrix = squared(some.rows, some.y, near, some.upper[near] / (2.0 * width))
        crossed = np.outer(matrix[:-1, -1], self._row)
        reduced = matrix[:-1, :-1] - crossed - crossed.T + matrix[-1, -1] * np.outer(self._row, self._row)
        reduced[np.diag_indices_from(reduced)] += 1.0
        return np.asarray(-cho_solve(cho_factor(reduced), slope))


def _rounded(
    some: Examples, weights: FloatArray, bias: float, short: FloatArray, before: FloatArray, width: float
) -> tuple[FloatArray, float]:
    shares = np.clip(before + short / (2.0 * width), 0.0, 1.0)
    return shares, some.loss(weights, bias, shares * short - width * np.square(shares - before))
