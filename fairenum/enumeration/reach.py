"""How far a convex stand-in for parity can go for *any* machine that is nearly as good, listed or not.

The stand-in is the difference of mean decision values between two groups, ``z(w) = w'd`` with d the difference of their
mean features: the bias cancels. Its least value over all planes whose loss P(w, b) on the training examples is at
most L has, for each price v > 0 of the stand-in, the lower bound::

    ( D(v) - v^2 |d|^2 / 2 - L ) / v,    D(v) = max p'alpha - 1/2 alpha'Q alpha,   p_i = 1 + v y_i x_i'd

which is the dual of the same machine with another linear term. By weak duality every feasible alpha proves a bound, so
an interior point is as good as an exact answer, and found much sooner. The plane ``w = sum_i alpha_i y_i x_i - v d``,
drawn back towards a better one until its loss is L, attains a value. A search over v for the plane whose loss is L
brings the two together. The largest value is the least for ``-d``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from fairenum.enumeration.model import Direction
from fairenum.problem import FloatArray, Kernel, Solution, SvmProblem
from fairenum.qp.gram import open_gram
from fairenum.qp.interior import interior_point

CLOSE = 5e-4  # of the distance from the best plane's value: the bound and what is attained are then as good as equal
MOST_SOLVES = 16
LEAST_STEP, STEP = 1.5, 50.0  # by which the price grows until the loss is too large
FAR = 10.0  # times the allowed rise of the loss: a tangent there says little
APART = 1e-4  # the least share by which a new price differs from those before
BISECTIONS = 40
ACCURACY = 1e-9  # of the objective, to which an interior point is computed: far below what is close


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


class _Tried(NamedTuple):
    """A plane with its loss P and its difference z."""

    plane: _Plane
    loss: float
    difference: float

    @property
    def price(self) -> float:
        """The price that it was found for."""
        return self.plane.price


class Priced(Protocol):
    """A plane that was found for a price, with what it costs and gives."""

    @property
    def price(self) -> float:
        """The price v of the stand-in."""

    @property
    def loss(self) -> float:
        """The loss P."""

    @property
    def difference(self) -> float:
        """The stand-in z."""


class _StandIn:
    """The stand-in for one direction d, on one problem."""

    def __init__(self, problem: SvmProblem, along: FloatArray, square: float) -> None:
        self.problem, self.along, self.square = problem, problem.y * along, square
        self._gram = open_gram(problem)

    def plane(self, alpha: FloatArray, price: float) -> _Plane:
        """Return the plane of an answer; as seen through the Gram, which moves nothing but its bias."""
        return _Plane(alpha, price, self._gram.product(alpha))

    def tried(self, plane: _Plane) -> _Tried:
        """Return the plane with what it costs and gives."""
        return _Tried(plane, self.loss(plane), self.difference(plane))

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

    def drawn_back(self, inside: _Plane, plane: _Plane, most: float) -> _Plane:
        """Return the farthest plane from one whose loss is allowed towards another whose loss is allowed, too."""
        near, far = 0.0, 1.0
        for _ in range(BISECTIONS):
            share = 0.5 * (near + far)
            near, far = (share, far) if self.loss(_between(inside, plane, share)) <= most else (near, share)
        return _between(inside, plane, near)


def _balanced(alpha: FloatArray, y: FloatArray) -> FloatArray:
    """Return an answer for which ``y'alpha = 0``, by shrinking the heavier class."""
    positive, negative = float(alpha[y > 0].sum()), float(alpha[y < 0].sum())
    shrunk = np.where(y > 0, min(1.0, negative / positive), min(1.0, positive / negative))
    return alpha * shrunk


def _between(inside: _Plane, plane: _Plane, share: float) -> _Plane:
    return _Plane(
        (1.0 - share) * inside.alpha + share * plane.alpha,
        (1.0 - share) * inside.price + share * plane.price,
        (1.0 - share) * inside.product + share * plane.product,
    )


def first_price(least: float, eps: float, square: float) -> float:
    """Return a price to begin with: where the plane would have paid what is allowed if it had only moved along d."""
    return math.sqrt(2.0 * max(eps, CLOSE) * least / square)


def next_price(inside: Priced, outside: Priced | None, least: float, most: float) -> float:
    """Return where the loss is expected to be what is allowed, between the planes next to it on either side.

    The least ``P + v z`` is concave in v, and every plane gives a tangent: two of them meet in between, at the very
    price if the planes jump there. Far from it the loss is taken to rise by a power of the price, at first its square.
    """
    last, allowed = outside or inside, max(most - least, math.ulp(least))
    rise = last.loss - least
    if outside is None or inside.price == 0.0:
        factor = math.sqrt(allowed / rise) if rise > 0.0 else STEP
        least_factor = LEAST_STEP if outside is None else 1.0 / STEP
        return last.price * min(max(factor, least_factor), STEP)
    if rise > FAR * allowed:
        before = max(inside.loss - least, math.ulp(least))
        share = math.log(allowed / before) / math.log(rise / before)
        price = inside.price * math.pow(outside.price / inside.price, share)
    else:
        price = (outside.loss - inside.loss) / max(inside.difference - outside.difference, math.ulp(0.0))
    return min(max(price, inside.price * (1.0 + APART)), outside.price * (1.0 - APART))


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
    direction = between_means(problem.kernel, first, second)
    along, square = direction.along(problem.kernel, problem.X), direction.square(problem.kernel)
    low = _least(_StandIn(problem, along, square), best, eps, most_solves)
    mirrored = _least(_StandIn(problem, -along, square), best, eps, most_solves)
    return Reach(eps, low, End(-mirrored.bound, -mirrored.attained, mirrored.solves))


def between_means(
    kernel: Kernel,
    first: FloatArray,
    second: FloatArray,
    first_weights: FloatArray | None = None,
    second_weights: FloatArray | None = None,
) -> Direction:
    """Return the direction from the mean of some rows to that of others, which count by their weights.

    For a linear kernel it is a single row, the difference of the means.
    """
    if kernel.name == "linear":
        difference = np.average(first, 0, first_weights) - np.average(second, 0, second_weights)
        return Direction(difference[None], np.ones(1))
    shares = [_shares(len(first), first_weights), -_shares(len(second), second_weights)]
    return Direction(np.vstack([first, second]), np.concatenate(shares))


def _shares(rows: int, weights: FloatArray | None) -> FloatArray:
    counting = np.ones(rows) if weights is None else weights
    return np.asarray(counting / counting.sum())


def is_nothing(along: FloatArray, square: float) -> bool:
    """Tell whether a direction is but rounding: the two means are the same, so every plane has the difference 0."""
    return square <= float(np.finfo(float).eps) * (1.0 + float(np.abs(along).max()))


def _least(direction: _StandIn, best: Solution, eps: float, most_solves: int) -> End:
    """Search the price at which the loss is what is allowed, and keep the best bound and value on the way."""
    least, bound, solves = best.certificate.bound, -math.inf, 0
    most = (1.0 + eps) * least
    inside, outside = direction.tried(direction.plane(best.alpha, 0.0)), None
    here = attained = inside.difference
    if is_nothing(direction.along, direction.square):
        return End(0.0, 0.0, 0)
    price = first_price(least, eps, direction.square)
    while solves < most_solves and attained - bound > CLOSE * max(abs(here - attained), abs(here) * CLOSE):
        solves += 1
        plane, value = direction.solved(price)
        bound = max(bound, (value - most) / price)
        tried = direction.tried(plane)
        inside, outside = (tried, outside) if tried.loss <= most else (inside, tried)
        attained = min(attained, inside.difference)
        if outside is not None:
            attained = min(attained, direction.difference(direction.drawn_back(inside.plane, outside.plane, most)))
        price = next_price(inside, outside, least, most)
    return End(bound, attained, solves)
