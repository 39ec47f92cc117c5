"""Prices on a convex measure of unfairness: the first to try, and the next ones until the loss is as large as allowed.

The plane (w, b) found for a price v minimises ``P(w, b) + v z(w, b)``, with P the loss and z a convex measure of
unfairness. As v rises, P rises and z falls. One such z stands in for the parity gap: the difference of mean decision
values between two groups, ``w'd`` with d the difference of their mean features, in which the bias cancels.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from fairenum.enumeration.model import FeatureDirection
from fairenum.svm.problem import FloatArray, Kernel
from fairenum.svm.sparse_or_dense import Matrix, average, stacked

CLOSE = 5e-4  # of the least loss: a smaller allowed rise is treated as this one
LEAST_STEP, STEP = 1.5, 50.0  # factors by which the price grows, at least and at most, until the loss is too large
FAR = 10.0  # times the allowed rise of the loss: tangents beyond are too inaccurate to use
APART = 1e-4  # the least share by which a new price differs from those before


class Priced(Protocol):
    """A plane that minimises ``P + v z`` for a price v, with its loss P and its measure of unfairness z."""

    @property
    def price(self) -> float:
        """The price v for which this plane was found."""

    @property
    def loss(self) -> float:
        """The training loss P of this plane."""

    @property
    def difference(self) -> float:
        """The value that the measure of unfairness z has for this plane."""


def first_price(least: float, eps: float, square: float) -> float:
    """Return the first price on unfairness to try, at which the loss should rise by about the share `eps`.

    It would if the plane moved only along the difference of the two group means, whose squared length is `square`.
    `least` is the least loss.
    """
    return math.sqrt(2.0 * max(eps, CLOSE) * least / square)


def next_price(inside: Priced, outside: Priced | None, least: float, most: float) -> float:
    """Return the next price on unfairness to try, at which the loss is expected to be `most`.

    Let P be the loss of a plane, z its measure of unfairness, v the price and `least` the least loss. `inside` is the
    plane found so far that has the largest loss up to `most`, `outside` the one of the smallest loss beyond. The
    minimum of ``P + v z`` over all planes is concave in v, and each plane found gives a tangent to it. The price
    returned is where the tangents of the two planes meet, which is exact if the minimum jumps from one plane to the
    other. If `outside` is far beyond `most` or None, the loss is taken to rise by a power of the price instead, at
    first its square.
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


def between_means(
    kernel: Kernel,
    first: Matrix,
    second: Matrix,
    first_weights: FloatArray | None = None,
    second_weights: FloatArray | None = None,
) -> FeatureDirection:
    """Return the direction in feature space from the weighted mean of the second rows to that of the first.

    For a linear kernel the direction is a single row, the difference of the means.
    """
    if kernel.name == "linear":
        difference = average(first, first_weights) - average(second, second_weights)
        return FeatureDirection(difference[None], np.ones(1))
    shares = [_shares(first.shape[0], first_weights), -_shares(second.shape[0], second_weights)]
    return FeatureDirection(stacked([first, second]), np.concatenate(shares))


def _shares(rows: int, weights: FloatArray | None) -> FloatArray:
    counting = np.ones(rows) if weights is None else weights
    return np.asarray(counting / counting.sum())


def is_zero_direction(along: FloatArray, square: float) -> bool:
    """Tell whether the direction between two group means is 0 up to rounding, so that no plane can separate the means.

    `along` has the direction's inner products with the examples, `square` is its squared length.
    """
    return square <= float(np.finfo(float).eps) * (1.0 + float(np.abs(along).max()))
