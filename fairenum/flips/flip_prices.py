"""Flip prices: the least relative rise of the loss at which some model decides a row differently from model 1.

Model 1, the model of least loss P*, decides a row by the side of the threshold on which its decision value lies. The
flip price of the row is ``P / P* - 1``, where P is the least loss of all models that have the row's decision value on
the other side or on the threshold. A *proven* price is a lower bound on the flip price; an *attained* price is the
relative loss of a plane that was found. This module also finds the range of a row's decision value within a given loss
(`value_ranges`), and the plane of least loss that flips one row (`flipping_plane`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairenum.document.flip_facts import PriceEffort
from fairenum.errors import ProblemError
from fairenum.flips.engines import ROUNDING, TIGHT, ConstrainedModels, FlipSearch, RowConstraints
from fairenum.runtime.budget import OutOfTime, checkpoint
from fairenum.solvers.protocol import SolverPlugin
from fairenum.svm.outside_rows import LinearOutsideRows
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, as_matrix, places, precise_sum, stacked, times

__all__ = ["FlipPrices", "FlippingPlane", "KnownPlanes", "ValueRanges", "flip_prices", "flipping_plane", "value_ranges"]

BoolArray = npt.NDArray[np.bool_]

MOST_PROOFS = 256  # kept for reuse
MOST_STEPS = 40  # to find the decision value at which the least loss is the allowed one
CLOSE = 1e-9  # of the distance to an end of a range: nearer to it no further step is taken
NOTHING = 1e-9  # of its upper bound: an example of smaller alpha does not count as a support vector
CEILING = 0.1  # relative loss beyond which exact prices are of no interest
AT_ONCE = 32  # rows whose dual variables are held at once
BEYOND = 1.1  # times the ceiling, up to which a loss is proven: such a proof covers more rows


class ReusedProofs:
    """Proven lower bounds on the loss of models that flip some rows, from which bounds for similar rows are derived.

    All rows must have the same threshold.
    """

    def __init__(self, rows: LinearOutsideRows, enough: float) -> None:
        self._rows, self._enough = rows, enough
        width = rows.features.shape[1]
        self._planes, self._places = np.empty((0, width)), np.empty(0, np.intp)
        self._pushes, self._losses = np.empty(0), np.empty(0)  # side times weight, and proven losses

    def keep(self, constraints: RowConstraints, found: ConstrainedModels) -> None:
        """Store the models found that prove a loss of at least `enough`, as long as there are not too many."""
        some = np.flatnonzero((found.proven >= self._enough) & (found.weights > 0.0))[: MOST_PROOFS - len(self._losses)]
        places, pushes = constraints.places[some], (constraints.sides * found.weights)[some]
        self._planes = np.vstack([self._planes, self._rows.planes(places, found.alphas[some], pushes)])
        self._places = np.append(self._places, places)
        self._pushes = np.append(self._pushes, pushes)
        self._losses = np.append(self._losses, found.proven[some])

    def proven(self, constraints: RowConstraints) -> FloatArray:
        """Return for each constraint the best lower bound on the loss that stored proofs give; -inf if none does."""
        if not len(self._losses):
            return np.full(len(constraints.places), -np.inf)
        rows, features = self._rows.features[constraints.places], self._rows.features[self._places]
        squares, own = self._rows.squares[constraints.places], self._rows.squares[self._places]
        apart = np.maximum(squares + own[:, None] - 2.0 * features @ rows.T, 0.0)
        pushes, planes = self._pushes[:, None], self._planes
        along = planes @ rows.T - np.einsum("ij,ij->i", planes, features)[:, None]
        losses = self._losses[:, None] - pushes * along - 0.5 * pushes**2 * apart
        lengths = np.einsum("ij,ij->i", planes, planes)[:, None] + pushes**2 * (squares + own[:, None])
        losses -= ROUNDING * (np.abs(self._losses)[:, None] + 2.0 * lengths)
        return np.asarray(np.where(np.sign(pushes) == constraints.sides, losses, -np.inf).max(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class ValueRanges:
    """Proven bounds on each row's decision value over all models up to a given loss, and the extremes attained."""

    low_bound: FloatArray
    low_attained: FloatArray
    high_attained: FloatArray
    high_bound: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FlippingPlane:
    """The plane of least loss that decides a row differently from model 1.

    Its decision values are ``f(x) = sum_i alpha_i y_i k(x_i, x) + side * weight * k(row, x) + bias``. ``side``, -1 or
    +1, is the side of the threshold on which this plane has the row, and ``value`` is ``f(row)``. ``weights`` has one
    number per column for a linear kernel, and is None for others. ``low`` is the proven lower bound on the flip price,
    ``high`` the relative loss of this plane. ``left`` and ``joined`` are the indices of the examples that are support
    vectors of model 1 only, and of this plane only.
    """

    alpha: FloatArray
    weight: float
    side: float
    weights: FloatArray | None
    bias: float
    value: float
    low: float
    high: float
    left: IntArray
    joined: IntArray


def value_ranges(
    problem: SvmProblem, best: Solution, rows: Matrix, eps: float, *, solver: str | SolverPlugin | None = None
) -> ValueRanges:
    """Return the range of each row's decision value over all models with a loss up to ``1 + eps`` times the least."""
    if not eps > 0.0:
        raise ProblemError(f"eps must be a positive number, not {eps!r}")
    search = FlipSearch(problem, best, rows, solver)
    (low_bound, low), (high_bound, high) = (_range_end(search, side, eps) for side in (-1.0, 1.0))
    return ValueRanges(low_bound, low, high, high_bound)


def _range_end(search: FlipSearch, side: float, eps: float) -> tuple[FloatArray, FloatArray]:
    """Return a proven bound on each row's decision value, from below (`side` -1) or above (+1), and the value attained.

    The least loss P(t) of all models f with ``f(x) = t`` is convex in t, and its slope is the dual variable of the row
    x. Each tangent of P lies below P, so it reaches the allowed loss at a t beyond the end of the range. This t is a
    proven bound, and the next point at which P and its slope are computed.
    """
    here, unit, least = search.values, search.problem.unit, search.least
    most, allowed = (1.0 + eps) * least.high, (1.0 + eps) * least.low
    bounds, attained, cuts = np.full(len(here), np.inf), side * here, side * here + unit
    going = np.arange(len(here))
    for _ in range(MOST_STEPS):
        constraints = RowConstraints(going, np.full(len(going), side), side * cuts[going])
        found, start = search.best_models(constraints), side * here[going]
        shares = np.clip((allowed - least.high) / np.maximum(found.attained - least.high, 1e-300), 0.0, 1.0)
        attained[going] = np.maximum(attained[going], start + shares * (side * found.values - start))
        with np.errstate(divide="ignore"):
            tangents = np.where(found.weights > 0.0, cuts[going] + (most - found.proven) / found.weights, np.inf)
        before = bounds[going]
        bounds[going] = np.minimum(before, tangents)
        further = np.where(np.isfinite(bounds[going]), bounds[going], start + 2.0 * (cuts[going] - start))
        small = CLOSE * np.maximum(np.abs(bounds[going] - start), unit)
        goes_on = (bounds[going] - attained[going] > small) & (further != cuts[going])
        goes_on &= np.isinf(before) | (bounds[going] < before - small)  # an engine's gap ends the steps here
        cuts[going] = further
        going = going[goes_on]
        if not len(going):
            break
    return side * bounds, side * attained


def flipping_plane(
    problem: SvmProblem,
    best: Solution,
    row: Matrix,
    *,
    threshold: float = 0.0,
    solver: str | SolverPlugin | None = None,
) -> FlippingPlane:
    """Return the plane of least loss that decides `row`, a table of one row, differently from model 1."""
    search = FlipSearch(problem, best, row, solver)
    constraints = search.flips(threshold)
    found = search.best_models(constraints)
    alpha, side = found.alphas[0], float(constraints.sides[0])
    weight, value = float(found.weights[0]), float(found.values[0])
    weights, reached = _plane(search, alpha, side * weight)
    support = np.flatnonzero(alpha > NOTHING * problem.upper)
    return FlippingPlane(
        alpha, weight, side, weights, value - reached, value,
        float(search.least.price_low(found.proven)[0]), float(search.least.price_high(found.attained)[0]),
        np.setdiff1d(best.support, support), np.setdiff1d(support, best.support),
    )  # fmt: skip


def _plane(search: FlipSearch, alpha: FloatArray, weight: float) -> tuple[FloatArray | None, float]:
    """Return a plane's column weights, None unless the kernel is linear, and the row's decision value without the bias.

    Both are computed in the same way as for the proven bounds; where alphas are large, another way would give column
    weights that differ.
    """
    problem, row, rows = search.problem, search.rows, search.outside
    support = np.flatnonzero(alpha)
    signed = problem.y[support] * alpha[support]
    if problem.kernel.name != "linear":
        own = float(problem.kernel(row, row)[0, 0])
        return None, float(problem.decide(row, support, signed)[0]) + weight * own
    if isinstance(rows, LinearOutsideRows):
        weights = rows.planes(np.array([0]), alpha[None], np.array([weight]))[0]
    else:
        weights = precise_sum(np.append(signed, weight), stacked([problem.X[support], row]))
    return weights, float(times(row, weights)[0])


@dataclass(frozen=True, slots=True, eq=False)
class FlipPrices:
    """Flip prices, one per row, as shares of the least loss.

    ``low`` is proven: no model whose loss is below ``(1 + low)`` times the least decides the row differently from model
    1. ``high`` is attained: a plane with this relative loss decides the row differently. Where the price is proven to
    exceed the ceiling, up to which prices are computed, `low` is at least the ceiling and `high` is infinite, unless a
    known plane decides the row differently. ``is_examined`` is False where time ran out: `low` is then 0 and `high`
    infinite.
    """

    low: FloatArray
    high: FloatArray
    is_examined: BoolArray
    effort: PriceEffort


@dataclass(frozen=True, slots=True, eq=False)
class KnownPlanes:
    """Decision values of known planes, shape (planes, rows), and their relative losses ``loss / least loss - 1``."""

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
    listed: KnownPlanes | None = None,
    solver: str | SolverPlugin | None = None,
) -> FlipPrices:
    """Return the flip price of every row.

    Parameters
    ----------
    problem, best
        The SVM problem, and its optimal solution: model 1.
    rows
        The rows to price, encoded as the problem's examples are.
    threshold
        Decision values of at least this are decided positively.
    ceiling
        Relative loss up to which prices are computed; higher prices are only proven to exceed it.
    order
        Indices of the rows to examine, in this order; if time runs out, the last of them are not examined.
    listed
        Planes whose losses, and decision values on the rows, are known already.
    solver
        The solver to use for every row; by default the fastest engines for the problem are chosen.
    """
    rows = as_matrix(rows)
    order = np.arange(rows.shape[0]) if order is None else np.asarray(order, dtype=np.intp)
    first, inverse = places(rows[order])
    search = FlipSearch(problem, best, rows[order[first]], solver)
    pricing = _Pricing(search, threshold, ceiling)
    if listed is not None:
        pricing.add_known(listed.values[:, order[first]], listed.losses)
    with suppress(OutOfTime):
        pricing.run()
    result = np.zeros(rows.shape[0]), np.full(rows.shape[0], np.inf), np.zeros(rows.shape[0], bool)
    for target, source in zip(result, pricing.found(), strict=True):
        target[order] = source[inverse]
    return FlipPrices(*result, pricing.effort)


class _Pricing:
    """The flip prices of distinct rows, as far as they have been found."""

    def __init__(self, search: FlipSearch, threshold: float, ceiling: float) -> None:
        self._search, self._threshold, self._ceiling = search, threshold, ceiling
        self._constraints, count = search.flips(threshold), search.rows.shape[0]
        self._low, self._high, self._known = np.zeros(count), np.full(count, np.inf), np.zeros(count, bool)
        self._attained = np.full(count, np.inf)  # by known planes
        self.effort = PriceEffort(count, 0, 0, 0)

    def add_known(self, values: FloatArray, losses: FloatArray) -> None:
        """Record the prices at which known planes flip rows; rows of price 0, the least possible, count as examined."""
        for plane, loss in zip(values, losses, strict=True):
            flips = np.where(self._constraints.sides > 0.0, plane >= self._threshold, plane <= self._threshold)
            self._attained[flips] = np.minimum(self._attained[flips], max(loss, 0.0))
        free = self._attained <= TIGHT
        self._high[free], self._known[free] = self._attained[free], True
        self.effort = self.effort.but(listed=int(free.sum()))

    def run(self) -> None:
        """Find the flip prices of the rows that have not been examined, in batches."""
        search, least = self._search, self._search.least
        most, enough = (1.0 + BEYOND * self._ceiling) * least.high, (1.0 + self._ceiling) * (1.0 + TIGHT) * least.high
        proofs = ReusedProofs(search.outside, enough) if isinstance(search.outside, LinearOutsideRows) else None
        waiting = np.flatnonzero(~self._known)
        for start in range(0, len(waiting), AT_ONCE):
            checkpoint()
            some = waiting[start : start + AT_ONCE]
            if proofs is not None:
                losses = proofs.proven(self._constraints.take(some))
                self._settle(some[losses >= enough], losses[losses >= enough], np.inf)
                self.effort = self.effort.but(screened=self.effort.screened + int((losses >= enough).sum()))
                some = some[losses < enough]
            constraints = self._constraints.take(some)
            found = search.best_models(constraints, most)
            self._settle(some, found.proven, least.price_high(found.attained))
            self.effort = self.effort.but(walked=self.effort.walked + len(some))
            if proofs is not None:
                proofs.keep(constraints, found)

    def _settle(self, some: IntArray, proven: FloatArray, attained: FloatArray | float) -> None:
        self._low[some], self._high[some], self._known[some] = self._search.least.price_low(proven), attained, True

    def found(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return the proven and the attained price of each row, and a mask of the rows that have been examined."""
        high = np.where(self._low >= self._ceiling, np.inf, self._high)
        return self._low, np.where(self._known, np.minimum(high, self._attained), np.inf), self._known
