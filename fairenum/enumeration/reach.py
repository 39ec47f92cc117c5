"""How far a convex stand-in for parity can go for *any* machine that is nearly as good, listed or not.

The stand-in is the difference of mean decision values between two groups, ``z(w) = w'd`` with d the difference of their
mean features: the bias cancels. Its least value over all planes whose loss P(w, b) on the training examples is at
most L has, for each price v > 0 of the stand-in, the lower bound::

    ( D(v) - v^2 |d|^2 / 2 - L ) / v,    D(v) = max p'alpha - 1/2 alpha'Q alpha,   p_i = 1 + v y_i x_i'd

which is the dual of the same machine with another linear term. By weak duality every feasible alpha proves a bound, so
an interior point is as good as an exact answer, and much sooner found. The plane ``w = sum_i alpha_i y_i x_i - v d``, drawn back towards the best one until its
loss is L, attains a value. A search over v brings the two together. The largest value is the least for ``-d``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairenum.problem import BLOCK_ROWS, FloatArray, Solution, SvmProblem
from fairenum.qp.gram import open_gram
from fairenum.qp.interior import interior_point

CLOSE = 1e-3  # of the distance from the best plane's value: the bound and what is attained are then as good as equal
MOST_SOLVES = 16
STEP = 4.0  # by which the price grows until the loss is too large
BISECTIONS = 40
ACCURACY = 1e-7  # of the objective, to which an interior point is computed: far below what is close


@dataclass(frozen=True, slots=True)
class End:
    """One end of the range: no machine within the loss goes beyond `bound`, and one goes as far as `attained`."""

    bound: float
    attained: float
    solves: int


@dataclass(frozen=True, slots=True)
class Reach:
    """How low and how high the difference can go within ``1 + eps`` of the least loss."""

    eps: float
    low: End
    high: End


@dataclass(frozen=True, slots=True, eq=False)
class _Plane:
    """``w = sum_i alpha_i y_i x_i - price * d``, by its two parts."""

    alpha: FloatArray
    price: float
    product: FloatArray  # Q alpha


class _Direction:
    """The stand-in for one direction d, on one problem."""

    def __init__(self, problem: SvmProblem, along: FloatArray, square: float) -> None:
        self.problem, self.along, self.square = problem, problem.y * along, square
        self._gram = open_gram(problem)

    def plane(self, alpha: FloatArray, price: float) -> _Plane:
        """Return the plane of an answer; as seen through the Gram, which moves nothing but its bias."""
        return _Plane(alpha, price, self._gram.product(alpha))

    def difference(self, plane: _Plane) -> float:
        """Return z(w)."""
        return float(plane.alpha @ self.along) - plane.price * self.square

    def loss(self, plane: _Plane) -> float:
        """Return P(w, b) with the best bias."""
        problem, price = self.problem, plane.price
        reached = plane.product - price * self.along
        _, slack = problem.judge(plane.alpha, problem.upper, reached)
        norm = float(plane.alpha @ plane.product) - 2.0 * price * float(plane.alpha @ self.along)
        return 0.5 * (norm + price**2 * self.square) + float(problem.upper @ slack)

    def solved(self, price: float) -> tuple[_Plane, float]:
        """Return a plane that is nearly the best for a price, and what ``P + price * z`` is at least for all planes."""
        problem = self.problem
        tilted = problem.linear + price * self.along
        point = interior_point(self._gram, problem.y, problem.upper, tilted, accuracy=ACCURACY)
        plane = self.plane(_balanced(point.alpha.clip(0.0, problem.upper), problem.y), price)
        value = float(plane.alpha @ (tilted - 0.5 * plane.product)) - 0.5 * price**2 * self.square
        return plane, value

    def drawn_back(self, best: _Plane, plane: _Plane, most: float) -> _Plane:
        """Return the plane, or the farthest one towards it from the best whose loss is allowed."""
        if self.loss(plane) <= most:
            return plane
        near, far = 0.0, 1.0
        for _ in range(BISECTIONS):
            share = 0.5 * (near + far)
            near, far = (share, far) if self.loss(_between(best, plane, share)) <= most else (near, share)
        return _between(best, plane, near)


def _balanced(alpha: FloatArray, y: FloatArray) -> FloatArray:
    """Return an answer for which ``y'alpha = 0``, by shrinking the heavier class."""
    positive, negative = float(alpha[y > 0].sum()), float(alpha[y < 0].sum())
    shrunk = np.where(y > 0, min(1.0, negative / positive), min(1.0, positive / negative))
    return alpha * shrunk


def _between(best: _Plane, plane: _Plane, share: float) -> _Plane:
    return _Plane(
        (1.0 - share) * best.alpha + share * plane.alpha,
        (1.0 - share) * best.price + share * plane.price,
        (1.0 - share) * best.product + share * plane.product,
    )


def reach(
    problem: SvmProblem,
    best: Solution,
    first: FloatArray,
    second: FloatArray,
    eps: float,
    most_solves: int = MOST_SOLVES,
) -> Reach:
    """Bound the mean decision value of one group minus that of another.

    Parameters
    ----------
    problem, best
        The machine, and its best answer.
    first, second
        Rows of the two groups.
    eps
        How much more than the least loss on the training examples a machine may have, as a share of it.
    most_solves
        How often to solve for each end; fewer leave bound and attained value farther apart, never wrong.
    """
    along = _mean_kernel(problem, problem.X, first) - _mean_kernel(problem, problem.X, second)
    square = sum(
        sign * float(_mean_kernel(problem, rows, others).mean())
        for rows, others, sign in ((first, first, 1.0), (second, second, 1.0), (first, second, -2.0))
    )
    square = max(square, 0.0)
    low = _least(_Direction(problem, along, square), best, eps, most_solves)
    mirrored = _least(_Direction(problem, -along, square), best, eps, most_solves)
    return Reach(eps, low, End(-mirrored.bound, -mirrored.attained, mirrored.solves))


def _mean_kernel(problem: SvmProblem, rows: FloatArray, others: FloatArray) -> FloatArray:
    """Return the mean kernel value of each row with the others."""
    if problem.kernel.name == "linear":
        return np.asarray(rows @ others.mean(axis=0))
    blocks = range(0, len(rows), BLOCK_ROWS)
    return np.concatenate([problem.kernel(rows[start : start + BLOCK_ROWS], others).mean(axis=1) for start in blocks])


def _least(direction: _Direction, best: Solution, eps: float, most_solves: int) -> End:
    """Search the price at which the loss is what is allowed, and keep the best bound and value on the way."""
    root = direction.plane(best.alpha, 0.0)
    least, here = best.certificate.bound, direction.difference(root)
    most = (1.0 + eps) * least
    bound, attained, solves = -math.inf, here, 0
    if direction.square <= np.finfo(float).eps * (1.0 + float(np.abs(direction.along).max())):
        return End(0.0, 0.0, 0)  # the two groups have the same mean, so every plane has the difference 0
    price, low, high = math.sqrt(2.0 * max(eps, CLOSE) * least / direction.square), 0.0, math.inf
    while solves < most_solves and attained - bound > CLOSE * max(abs(here - attained), abs(here) * CLOSE):
        solves += 1
        plane, value = direction.solved(price)
        bound = max(bound, (value - most) / price)
        attained = min(attained, direction.difference(direction.drawn_back(root, plane, most)))
        low, high = (price, high) if direction.loss(plane) <= most else (low, price)
        price = STEP * price if math.isinf(high) else math.sqrt(low * high) if low else high / STEP
    return End(bound, attained, solves)
