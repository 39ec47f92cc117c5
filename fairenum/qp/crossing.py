"""Planes of a linear machine that have a row on the threshold: for tables with many examples, of which few are near it.

The plane is looked for, not alpha: it has few numbers. Its bias is what puts the row on the threshold. The hinge is
rounded within a width, at first around nothing in particular, then around the last answer found, as the width shrinks
(the proximal point method on the dual)::

    max over 0 <= t <= 1 of  t short - width (t - t_before)^2

Newton's method settles each of these smooth problems. The shares t of the boxes are a dual answer, which proves a bound
at every step. Examples far from the margin are left on their bounds meanwhile, and in the end an interior point is
found of those few whose bound is in doubt, and the row; whoever is on a wrong bound then joins them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fairenum.budget import checkpoint
from fairenum.matrices import Matrix, stacked, sums, times
from fairenum.problem import FloatArray, IntArray, SvmProblem
from fairenum.qp.gram import LinearGram
from fairenum.qp.interior import interior_point
from fairenum.qp.smoothing import signed_rows
from fairenum.qp.squares import squared

# Of the hinge, in units of the margin: with all examples, then with those near it; from where on it is narrow enough to
# tell who is in doubt.
WIDTHS, NARROW = (0.2, 0.1, 0.05, 0.025, 0.01, 0.005), 0.05
STEPS = 30  # at most, for each width
CLOSE = 5e-8  # of the loss: what is proven and attained are as good as equal
SETTLED = 0.1  # of what lies between them: what is left to gain at a width
DECREASE, SHORTEST = 1e-4, 1e-4  # of what a step promises; and the shortest step that is tried
NEAR, FEWEST = 0.16, 1000  # the share of all examples that is near the margin; and how many at least
IN_DOUBT, FEWEST_IN_DOUBT = 5, 600  # examples for each column, and besides: those whose bound is in doubt,
MOST_WRONG, TRIES = 100, 4  # on a wrong one, who are solved for, too; and how often
WIDER = 2  # times as many, where that has not been enough
NO_LIMIT = 2.0  # times what there can be for the row to balance
ACCURACY = 1e-11  # of the objective, to which an interior point is computed
MOST_KEPT = 256  # planes of other rows, from the nearest of which the way may be shorter
NOBODY = np.empty(0, np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A plane, its weights and its bias, and the share of its box that each example has."""

    weights: FloatArray
    bias: float
    shares: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Some of the examples, and what the others add up to on their bounds.

    Attributes
    ----------
    places
        Of the examples among all.
    rows, y, upper, linear
        Signed features, labels, boxes and linear terms.
    push, balance, gain
        Of the others: the sums of alpha times the signed features, the labels, and the linear terms.
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
        """Return what each example misses of its margin."""
        return np.asarray(self.linear - times(self.rows, weights) - self.y * bias)

    def loss(self, weights: FloatArray, bias: float, hinge: FloatArray) -> float:
        """Return the loss of a plane, given the hinge of each example, with the others on their bounds."""
        others = self.gain - float(self.push @ weights) - self.balance * bias
        return 0.5 * float(weights @ weights) + others + float(self.upper @ hinge)

    def near(self, point: Point, size: int, also: IntArray = NOBODY) -> tuple[Examples, Point]:
        """Return so many of the examples that are the nearest to the margin of a plane, and put the others on bounds.

        These are all the examples there are. Whoever is not on a bound is near; some may be wanted wherever they are.
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
    """A linear machine, with its best answer and others like it, that is held to rows one after another."""

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

    def held(self, row: FloatArray, side: float, threshold: float, most: float) -> tuple[FloatArray, float]:
        """Return a dual answer, of examples alone, and the bias of its plane; one that proves `most` is good enough.

        It is that of the best machine where none is found.
        """
        search = _Search(self._all, row, side, threshold, self._least, most)
        point = search.found(self._start(row, threshold), self._unit)
        if not np.isfinite(search.proven):
            point = self._best
        elif len(self._planes) < MOST_KEPT:
            self._planes.append(np.append(point.weights, point.bias))
            self._losses.append(search.attained)
        return self._all.upper * point.shares, point.bias

    def _start(self, row: FloatArray, threshold: float) -> Point:
        """Return the plane that is expected to cost the least once it has the row on the threshold, moved there."""
        bordered = np.append(row, 1.0)
        way = cho_solve(self._stiffness, bordered)
        give = float(bordered @ way)
        missing = threshold - np.array(self._planes) @ bordered
        k = int(np.argmin(np.array(self._losses) + 0.5 * missing**2 / give))
        weights = self._planes[k][:-1] + missing[k] / give * way[:-1]
        return Point(weights, threshold - float(weights @ row), np.full(len(self._all.y), 0.5))


class _Search:
    """The search for the plane of one row, and what is proven and attained on the way."""

    def __init__(
        self, examples: Examples, row: FloatArray, side: float, threshold: float, least: float, most: float
    ) -> None:
        self._all, self._row, self._side, self._threshold = examples, row, side, threshold
        self._least, self._most = least, most
        self.proven, self.attained = -np.inf, np.inf

    def found(self, point: Point, unit: float) -> Point:
        """Settle at one width after another, at first with all examples, and solve for those in doubt."""
        some, size = self._all, FEWEST_IN_DOUBT + IN_DOUBT * len(self._row)
        near = max(FEWEST, int(NEAR * len(self._all.y)))
        for width in WIDTHS:
            checkpoint()
            point = self._settled(some, point, width * unit)
            if self.proven >= self._most:
                return point
            if width <= NARROW:
                solved = self._solved_for_those_in_doubt(point, size)
                if self.proven >= self._most or self._is_close():
                    return solved
                near, size = WIDER * near, WIDER * size
            some, point = self._all.near(point, near)
        self._spanned(self._all, point.shares)
        return point

    def _solved_for_those_in_doubt(self, point: Point, size: int) -> Point:
        """Solve for the examples nearest to the margin, and for those that turn out to be on a wrong bound."""
        also, least = NOBODY, np.inf
        for _ in range(TRIES):
            some, point = self._all.near(point, size, also)
            point = self._solved(some, point)
            self.attained, short = self._loss(point)
            wrong = np.flatnonzero((short > 0.0) != (point.shares > 0.5))
            is_done = self.proven >= self._most or self._is_close()
            if is_done or len(wrong) > MOST_WRONG or self.attained >= least:
                break
            also, least = np.union1d(some.places, wrong), self.attained
        return point

    def _loss(self, point: Point) -> tuple[float, FloatArray]:
        """Return the loss of a plane, and what every example misses of its margin."""
        short = self._all.short(point.weights, point.bias)
        return self._all.loss(point.weights, point.bias, np.maximum(short, 0.0)), short

    def _is_close(self) -> bool:
        return self.attained - self.proven <= CLOSE * self._least

    def _solved(self, some: Examples, point: Point) -> Point:
        """Solve for some examples and the row, which is one more of them: an interior point."""
        rows, y = stacked([some.rows, self._side * self._row[None]]), np.append(some.y, self._side)
        upper = np.append(some.upper, NO_LIMIT * (abs(some.balance) + float(some.upper.sum())))
        linear = np.append(some.linear, self._side * self._threshold) - times(rows, some.push)
        inner = interior_point(LinearGram(rows, 0.0), y, upper, linear, -some.balance, ACCURACY)
        shares = point.shares.copy()
        shares[some.places] = np.clip(inner.alpha[:-1] / np.where(some.upper > 0.0, some.upper, 1.0), 0.0, 1.0)
        weights = self._spanned(some, shares[some.places])
        return Point(weights, self._threshold - float(weights @ self._row), shares)

    def _settled(self, some: Examples, point: Point, width: float) -> Point:
        """Take Newton steps at one width until there is little left to gain, or all is done."""
        weights, bias, before = point.weights, point.bias, point.shares[some.places]
        short = some.short(weights, bias)
        shares, value = _rounded(some, weights, bias, short, before, width)
        for _ in range(STEPS):
            slope = weights - self._spanned(some, shares)
            self.attained = some.loss(weights, bias, np.maximum(short, 0.0))
            if self.proven >= self._most or self._is_close():
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
        """Return the plane that a dual answer spans with the row, and note what it proves."""
        alpha = some.upper * shares
        balance = some.balance + float(alpha @ some.y)
        plane = np.asarray(some.push + sums(alpha, some.rows) - balance * self._row)
        gain = some.gain + float(alpha @ some.linear) - balance * self._threshold
        is_feasible = self._side * balance <= 0.0  # the weight of the row is not negative
        self.proven = gain - 0.5 * float(plane @ plane) if is_feasible else -np.inf
        return plane

    def _step(self, some: Examples, shares: FloatArray, width: float, slope: FloatArray) -> FloatArray:
        """Return the Newton step; the bias follows the weights, so that the row stays where it is."""
        near = np.flatnonzero((shares >= 0.0) & (shares <= 1.0))
        matrix = squared(some.rows, some.y, near, some.upper[near] / (2.0 * width))
        crossed = np.outer(matrix[:-1, -1], self._row)
        reduced = matrix[:-1, :-1] - crossed - crossed.T + matrix[-1, -1] * np.outer(self._row, self._row)
        reduced[np.diag_indices_from(reduced)] += 1.0
        return np.asarray(-cho_solve(cho_factor(reduced), slope))


def _rounded(
    some: Examples, weights: FloatArray, bias: float, short: FloatArray, before: FloatArray, width: float
) -> tuple[FloatArray, float]:
    """Return the shares of the boxes, and the loss with a rounded hinge."""
    shares = np.clip(before + short / (2.0 * width), 0.0, 1.0)
    return shares, some.loss(weights, bias, shares * short - width * np.square(shares - before))
