"""What machines within a loss make of one row: how far its decision value goes, and the plane that flips it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.enumeration.inquiry import Inquiry
from fairenum.enumeration.witness import Pulls
from fairenum.errors import ProblemError
from fairenum.matrices import Matrix, precise_sum, stacked, times
from fairenum.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.qp.foreign import LinearRows
from fairenum.solvers.protocol import SolverPlugin

MOST_STEPS = 40  # to find where the loss is what is allowed
CLOSE = 1e-9  # of the way to an end of a range, beyond which it is not looked for more closely
NOTHING = 1e-9  # of its box: an example with less is not in a support


@dataclass(frozen=True, slots=True, eq=False)
class ValueRanges:
    """How low and how high the decision value of each row can be, over all machines within a loss.

    No machine goes beyond a bound, and one goes as far as what is attained.
    """

    low_bound: FloatArray
    low_attained: FloatArray
    high_attained: FloatArray
    high_bound: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FlippingPlane:
    """The plane of least loss that decides a row otherwise.

    Attributes
    ----------
    alpha, weight
        Of the examples, and of the row itself with the other label:
        ``f(x) = sum_i alpha_i y_i k(x_i, x) + side * weight * k(row, x) + bias``.
    side
        Where it has the row: -1 or +1.
    weights
        One for each column, of a linear kernel; None otherwise.
    bias
        Its bias.
    value
        Its decision value at the row.
    low, high
        The price, proven and attained: its own loss relative to the least, minus 1.
    left, joined
        Examples that are in the support of model 1 and no longer in that of this plane, and the other way round.
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
    """Return how far the decision value of each row can go, over all machines within ``1 + eps`` of the least loss."""
    if not eps > 0.0:
        raise ProblemError(f"eps must be a positive number, not {eps!r}")
    inquiry = Inquiry(problem, best, rows, solver)
    (low_bound, low), (high_bound, high) = (_end(inquiry, side, eps) for side in (-1.0, 1.0))
    return ValueRanges(low_bound, low, high, high_bound)


def _end(inquiry: Inquiry, side: float, eps: float) -> tuple[FloatArray, FloatArray]:
    """Return the bounds and what is attained at one end of the ranges.

    The least loss with ``f(x) = t`` is convex in t, and the weight of the row is its slope: where its tangent says that
    the loss is what is allowed is never short of where it is.
    """
    here, unit, least = inquiry.values, inquiry.problem.unit, inquiry.least
    most, allowed = (1.0 + eps) * least.high, (1.0 + eps) * least.low
    bounds, attained, cuts = np.full(len(here), np.inf), side * here, side * here + unit
    going = np.arange(len(here))
    for _ in range(MOST_STEPS):
        pulls = Pulls(going, np.full(len(going), side), side * cuts[going])
        found, start = inquiry.witnesses(pulls), side * here[going]
        shares = np.clip((allowed - least.high) / np.maximum(found.attained - least.high, 1e-300), 0.0, 1.0)
        attained[going] = np.maximum(attained[going], start + shares * (side * found.values - start))
        with np.errstate(divide="ignore"):
            tangents = np.where(found.weights > 0.0, cuts[going] + (most - found.proven) / found.weights, np.inf)
        before = bounds[going]
        bounds[going] = np.minimum(before, tangents)
        further = np.where(np.isfinite(bounds[going]), bounds[going], start + 2.0 * (cuts[going] - start))
        small = CLOSE * np.maximum(np.abs(bounds[going] - start), unit)
        goes_on = (bounds[going] - attained[going] > small) & (further != cuts[going])
        goes_on &= np.isinf(before) | (bounds[going] < before - small)  # witnesses that are nearly the best end there
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
    """Return the plane of least loss that decides one row otherwise; the row is a table of one."""
    inquiry = Inquiry(problem, best, row, solver)
    pulls = inquiry.pulls(threshold)
    found = inquiry.witnesses(pulls)
    alpha, side, weight, value = found.alphas[0], float(pulls.sides[0]), float(found.weights[0]), float(found.values[0])
    weights, reached = _plane(inquiry, alpha, side * weight)
    support = np.flatnonzero(alpha > NOTHING * problem.upper)
    return FlippingPlane(
        alpha, weight, side, weights, value - reached, value,
        float(inquiry.least.proven(found.proven)[0]), float(inquiry.least.attained(found.attained)[0]),
        np.setdiff1d(best.support, support), np.setdiff1d(support, best.support),
    )  # fmt: skip


def _plane(inquiry: Inquiry, alpha: FloatArray, weight: float) -> tuple[FloatArray | None, float]:
    """Return the weights of the columns, if the kernel is linear, and what the row reaches without the bias.

    They are the very numbers that were judged: in large boxes alpha says less about a plane than the plane itself.
    """
    problem, row, rows = inquiry.problem, inquiry.rows, inquiry.foreign
    support = np.flatnonzero(alpha)
    signed = problem.y[support] * alpha[support]
    if problem.kernel.name != "linear":
        own = float(problem.kernel(row, row)[0, 0])
        return None, float(problem.decide(row, support, signed)[0]) + weight * own
    if isinstance(rows, LinearRows):
        weights = rows.planes(np.array([0]), alpha[None], np.array([weight]))[0]
    else:
        weights = precise_sum(np.append(signed, weight), stacked([problem.X[support], row]))
    return weights, float(times(row, weights)[0])
