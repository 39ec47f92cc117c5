"""What a dual answer proves, and what its plane attains, about machines that have a row on a side of a threshold.

A machine (w, b) has the loss ``P = 1/2 |w|^2 + sum_i c_i max(0, p_i - y_i f(x_i))``. At a row x it is to have
``s (f(x) - h) >= 0``: s is the side of the threshold h that it is pulled to. For every alpha in the box and every
weight ``mu >= 0`` with ``y'alpha + s mu = 0``, weak duality says::

    P >= p'alpha + s h mu - 1/2 |w|^2      with   w = sum_i alpha_i y_i x_i + s mu x

and the plane w itself, with any bias that puts the row on its side, attains its own loss. What rounding may have added
to the one or taken from the other is allowed for: both stay on their side of the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from fairenum.duality import bias_interval, middle
from fairenum.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.qp.foreign import ForeignRows, Planes
from fairenum.qp.gram import open_gram

ROUNDING = 16.0 * float(np.finfo(float).eps)  # by which a sum may be off, as a share of what it is made of


@dataclass(frozen=True, slots=True, eq=False)
class Pulls:
    """Rows that a machine is pulled across, by their places: the sides where they are to be, and of which threshold."""

    places: IntArray
    sides: FloatArray
    thresholds: FloatArray

    def take(self, some: IntArray) -> Pulls:
        """Return some of them."""
        return Pulls(self.places[some], self.sides[some], self.thresholds[some])


@dataclass(frozen=True, slots=True, eq=False)
class Witnesses:
    """Dual answers, one for each pull, with what they prove and attain.

    Attributes
    ----------
    alphas, weights
        Of the examples, and of the row: ``w = sum_i alpha_i y_i x_i + side * weight * x``.
    biases, values
        Of the planes, as the Gram sees them, and their decision values at the rows.
    proven
        No machine that has the row on its side has a smaller loss.
    attained
        The losses of the planes.
    """

    alphas: FloatArray
    weights: FloatArray
    biases: FloatArray
    values: FloatArray
    proven: FloatArray
    attained: FloatArray

    @property
    def gaps(self) -> FloatArray:
        """What lies between the two."""
        return self.attained - self.proven

    def put(self, places: IntArray, others: Witnesses) -> None:
        """Replace some by others whose gaps are smaller, in place."""
        better = others.gaps < self.gaps[places]
        for field in fields(self):
            getattr(self, field.name)[places[better]] = getattr(others, field.name)[better]


@dataclass(frozen=True, slots=True)
class Least:
    """The least loss of all machines, between two numbers."""

    low: float
    high: float

    def proven(self, losses: FloatArray) -> FloatArray:
        """Return how much more than the least loss these are at least, as a share of it."""
        return np.maximum(losses / self.high * (1.0 - ROUNDING) - 1.0, 0.0)

    def attained(self, losses: FloatArray) -> FloatArray:
        """Return how much more than the least loss these are at most, as a share of it."""
        return np.maximum(losses / self.low * (1.0 + ROUNDING) - 1.0, 0.0)


class Court:
    """Judges dual answers to one problem about some rows."""

    def __init__(self, problem: SvmProblem, rows: ForeignRows) -> None:
        self._problem, self._rows, self._gram = problem, rows, open_gram(problem)
        self._lengths = np.sqrt(self._gram.diagonal)

    def least(self, best: Solution) -> Least:
        """Return the least loss, given the best answer."""
        alpha, certificate = best.alpha, best.certificate
        length = np.sqrt((alpha * alpha) @ self._gram.diagonal)
        slip = ROUNDING * (float(alpha @ np.abs(self._problem.linear)) + float(length) ** 2)
        return Least(certificate.objective - slip, certificate.bound + slip)

    def judge(self, pulls: Pulls, alphas: FloatArray, biases: FloatArray | None = None) -> Witnesses:
        """Return what answers prove and attain; the weight of a row makes up for what alpha misses of its balance.

        The biases are the best for the planes, unless good ones are known.
        """
        problem, sides, cuts = self._problem, pulls.sides, pulls.thresholds
        alphas = self._balanced(np.clip(alphas, 0.0, problem.upper), sides)
        weights = np.maximum(-sides * (alphas @ problem.y), 0.0)
        planes = self._rows.spanned(pulls.places, alphas, sides * weights)
        slips = planes.roundings * planes.unsure + np.abs(cuts) * weights
        slips += alphas @ np.abs(problem.linear) + planes.squares
        proven = alphas @ problem.linear + sides * cuts * weights - 0.5 * planes.squares - ROUNDING * slips
        biases = self._biases(planes) if biases is None else biases
        lengths = np.sqrt(self._rows.squares[pulls.places])
        slips = ROUNDING * (planes.unsure * lengths + np.abs(biases) + np.abs(cuts))
        biases = sides * np.maximum(sides * biases, sides * (cuts - planes.values) + slips)
        return Witnesses(alphas, weights, biases, planes.values + biases, proven, self._losses(planes, biases))

    def _balanced(self, alphas: FloatArray, sides: FloatArray) -> FloatArray:
        """Shrink the label of the row's side where it weighs too much: no weight of the row would make up for it."""
        excess, own = sides * (alphas @ self._problem.y), sides[:, None] * self._problem.y > 0.0
        if not (excess > 0.0).any():
            return alphas
        shares = np.maximum(excess, 0.0) / np.maximum(np.where(own, alphas, 0.0).sum(axis=1), 1e-300)
        return np.where(own, alphas * np.maximum(1.0 - shares, 0.0)[:, None], alphas)

    def _biases(self, planes: Planes) -> FloatArray:
        """Return the best bias of each plane."""
        y, upper = self._problem.y, self._problem.upper
        target = 0.5 * float(upper @ (1.0 + y))
        kinks = [y * (self._problem.linear - row) for row in planes.reached]
        return np.array([middle(*bias_interval(some, upper, target, 0.0)) for some in kinks])

    def _losses(self, planes: Planes, biases: FloatArray) -> FloatArray:
        """Return the losses of planes with their biases, with what rounding may have taken from them."""
        problem = self._problem
        slack = problem.linear - planes.reached - biases[:, None] * problem.y
        slips = np.abs(problem.linear) + np.outer(planes.unsure, self._lengths) + np.abs(biases)[:, None]
        slack += ROUNDING * slips
        np.maximum(slack, 0.0, out=slack)
        return 0.5 * planes.squares + ROUNDING * planes.unsure**2 + slack @ problem.upper * (1.0 + ROUNDING)
