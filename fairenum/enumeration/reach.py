"""How far a convex stand-in for parity can go for *any* machine that is nearly as good, listed or not.

The stand-in is the difference of mean decision values between two groups, ``z(w) = w'd`` with d the difference of their
mean features: the bias cancels. Its least value over all planes whose loss P(w, b) on the training examples is at
most L has, for each price v > 0 of the stand-in, the lower bound::

    ( D(v) - v^2 |d|^2 / 2 - L ) / v,    D(v) = max p'alpha - 1/2 alpha'Q alpha,   p_i = 1 + v y_i x_i'd

which is the dual of the same machine with another linear term, so any solver plugin gives it; by weak duality every
feasible alpha proves a bound. The plane ``w = sum_i alpha_i y_i x_i - v d``, drawn back towards the best one until its
loss is L, attains a value. A search over v brings the two together. The largest value is the least for ``-d``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairenum.errors import SolverError
from fairenum.problem import BLOCK_ROWS, FloatArray, Solution, SvmProblem
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import open_workspace

CLOSE = 1e-3  # of the distance from the best plane's value: the bound and what is attained are then as good as equal
MOST_SOLVES = 16
STEP = 4.0  # by which the price grows until the loss is too large
BISECTIONS = 60


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

    def solved(
        self, price: float, solver: str | SolverPlugin, start: Solution | None
    ) -> tuple[Solution, _Plane, float]:
        """Return the answer for a price, its plane, and the proven least ``P + price * z`` over all planes."""
        problem = self.problem
        tilted = SvmProblem(
            problem.X, problem.y, problem.cost, problem.copies, problem.kernel, problem.linear + price * self.along,
            problem.ridge,
        )  # fmt: skip
        solution = open_workspace(solver, tilted).solve(start=start)
        value = solution.certificate.objective - 0.5 * price**2 * self.square
        return solution, _Plane(solution.alpha, price, problem.product(solution.alpha)), value

    def drawn_back(self, best: _Plane, plane: _Plane, most: float) -> _Plane:
        """Return the plane, or the farthest one towards it from the best whose loss is allowed."""
        if self.loss(plane) <= most:
            return plane
        near, far = 0.0, 1.0
        for _ in range(BISECTIONS):
            share = 0.5 * (near + far)
            near, far = (share, far) if self.loss(_between(best, plane, share)) <= most else (near, share)
        return _between(best, plane, near)


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
    solver: str | SolverPlugin = "path",
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
    solver
        Name of a solver plugin, or a plugin.
    most_solves
        How often to solve for each end; fewer leave bound and attained value farther apart, never wrong.
    """
    along = _mean_kernel(problem, problem.X, first) - _mean_kernel(problem, problem.X, second)
    square = sum(
        sign * float(_mean_kernel(problem, rows, others).mean())
        for rows, others, sign in ((first, first, 1.0), (second, second, 1.0), (first, second, -2.0))
    )
    square = max(square, 0.0)
    low = _least(_Direction(problem, along, square), best, eps, solver, most_solves)
    mirrored = _least(_Direction(problem, -along, square), best, eps, solver, most_solves)
    return Reach(eps, low, End(-mirrored.bound, -mirrored.attained, mirrored.solves))


def _mean_kernel(problem: SvmProblem, rows: FloatArray, others: FloatArray) -> FloatArray:
    """Return the mean kernel value of each row with the others."""
    if problem.kernel.name == "linear":
        return np.asarray(rows @ others.mean(axis=0))
    blocks = range(0, len(rows), BLOCK_ROWS)
    return np.concatenate([problem.kernel(rows[start : start + BLOCK_ROWS], others).mean(axis=1) for start in blocks])


def _least(direction: _Direction, best: Solution, eps: float, solver: str | SolverPlugin, most_solves: int) -> End:
    """Search the price at which the loss is what is allowed, and keep the best bound and value on the way."""
    root = _Plane(best.alpha, 0.0, direction.problem.product(best.alpha))
    least, here = best.certificate.bound, direction.difference(root)
    most = (1.0 + eps) * least
    bound, attained, solves, start = -math.inf, here, 0, best
    if direction.square <= np.finfo(float).eps * (1.0 + float(np.abs(direction.along).max())):
        return End(0.0, 0.0, 0)  # the two groups have the same mean, so every plane has the difference 0
    price, low, high = math.sqrt(2.0 * max(eps, CLOSE) * least / direction.square), 0.0, math.inf
    while solves < most_solves and attained - bound > CLOSE * max(abs(here - attained), abs(here) * CLOSE):
        solves += 1
        try:
            start, plane, value = direction.solved(price, solver, start)
        except SolverError:
            if solves == most_solves and math.isinf(bound):
                raise
            price *= 0.9  # a price a little beside it will do as well
            continue
        bound = max(bound, (value - most) / price)
        attained = min(attained, direction.difference(direction.drawn_back(root, plane, most)))
        low, high = (price, high) if direction.loss(plane) <= most else (low, price)
        price = STEP * price if math.isinf(high) else math.sqrt(low * high) if low else high / STEP
    return End(bound, attained, solves)
