"""Rows that are no examples, as the Gram of a problem sees them; and the planes that examples and a row span together.

Everything is centred as the examples are, which moves the bias of a plane and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairenum.matrices import Matrix, dense
from fairenum.problem import FloatArray, IntArray, SvmProblem
from fairenum.qp.gram import Gram, LinearGram, open_gram

BLOCK = 256  # rows whose kernel values with all examples are held at once


@dataclass(frozen=True, slots=True, eq=False)
class Planes:
    """Planes ``w = sum_i alpha_i y_i x_i + weight * x``, one for each of some rows x.

    Attributes
    ----------
    reached
        What every example has of its margin without the bias, ``y_i w'x_i``; one row for each plane.
    values
        ``w'x``.
    squares
        ``|w|^2``.
    roundings, unsure
        Scales of what rounding may have changed: of a plane against what its alpha says, and of what is computed for a
        plane as it is. A plane by its numbers is surer than one that is only known by its alpha.
    """

    reached: FloatArray
    values: FloatArray
    squares: FloatArray
    roundings: FloatArray
    unsure: FloatArray


class ForeignRows(Protocol):
    """Rows by their inner products, with themselves and with the signed examples of a problem."""

    squares: FloatArray

    def crossed(self, places: IntArray) -> FloatArray:
        """Return the inner products of some of the rows and all examples, one row for each row."""

    def spanned(self, places: IntArray, alphas: FloatArray, weights: FloatArray) -> Planes:
        """Return the planes of some rows."""


class LinearRows:
    """Rows of features."""

    def __init__(self, gram: LinearGram, rows: Matrix) -> None:
        self._gram, self.features = gram, gram.centred(rows)
        self.squares = np.asarray(np.einsum("ij,ij->i", self.features, self.features))

    def crossed(self, places: IntArray) -> FloatArray:
        """Return the inner products of some of the rows and all examples, one row for each row."""
        return self._gram.reached(self.features[places])

    def entering(self, places: IntArray) -> FloatArray:
        """Return some of the rows as they enter a walk: their features."""
        return self.features[places]

    def planes(self, places: IntArray, alphas: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weights of the columns, one row for each plane."""
        return self._gram.planes(alphas) + weights[:, None] * self.features[places]

    def spanned(self, places: IntArray, alphas: FloatArray, weights: FloatArray) -> Planes:
        """Return the planes of some rows."""
        planes, ridge = self.planes(places, alphas, weights), self._gram.ridge
        reached = self._gram.reached(planes)
        squares = np.einsum("ij,ij->i", planes, planes)
        if ridge:
            reached += ridge * alphas
            squares += ridge * np.einsum("ij,ij->i", alphas, alphas)
        values = np.einsum("ij,ij->i", planes, self.features[places])
        roundings = _spread(self._gram, alphas, weights, self.squares[places])
        return Planes(reached, values, squares, roundings, np.sqrt(squares))


class KernelRows:
    """Rows by the kernel; those of a linear one with more columns than examples, too."""

    def __init__(self, problem: SvmProblem, gram: Gram, rows: Matrix) -> None:
        self._problem, self._gram, self._rows = problem, gram, rows
        self._means = problem.y * gram.offsets
        places = [np.arange(start, min(start + BLOCK, rows.shape[0])) for start in range(0, rows.shape[0], BLOCK)]
        own = np.array([float(problem.kernel(rows[[k]], rows[[k]])[0, 0]) for k in range(rows.shape[0])])
        self._mean = np.concatenate([np.empty(0), *(self._plain(block).mean(axis=1) for block in places)])
        self.squares = np.maximum(own - 2.0 * self._mean + self._means.mean(), 0.0)

    def _plain(self, places: IntArray) -> FloatArray:
        return self._problem.kernel(self._rows[places], self._problem.X)

    def crossed(self, places: IntArray) -> FloatArray:
        """Return the inner products of some of the rows and all examples, one row for each row."""
        block = self._plain(places)
        block -= self._mean[places, None]
        block -= self._means - self._means.mean()
        block *= self._problem.y
        return block

    def entering(self, places: IntArray) -> FloatArray:
        """Return some of the rows as they enter a walk: their inner products with all examples and themselves."""
        return np.column_stack([self.crossed(places), self.squares[places]])

    def spanned(self, places: IntArray, alphas: FloatArray, weights: FloatArray) -> Planes:
        """Return the planes of some rows."""
        plain, crossed = np.array([self._gram.product(alpha) for alpha in alphas]), self.crossed(places)
        along, squares = np.einsum("ij,ij->i", alphas, crossed), self.squares[places]
        lengths = np.einsum("ij,ij->i", alphas, plain) + weights * (2.0 * along + weights * squares)
        lengths = np.maximum(lengths, 0.0)
        roundings = _spread(self._gram, alphas, weights, squares)
        reached = plain + weights[:, None] * crossed
        return Planes(reached, along + weights * squares, lengths, roundings, np.sqrt(lengths) + roundings)


def _spread(gram: Gram, alphas: FloatArray, weights: FloatArray, squares: FloatArray) -> FloatArray:
    """Return the length that a plane would have if no two of what it is made of went the same way, or against it."""
    return np.sqrt((alphas * alphas) @ gram.diagonal + weights * weights * squares)


def foreign_rows(problem: SvmProblem, rows: Matrix) -> LinearRows | KernelRows:
    """Return rows as the Gram of a problem sees them."""
    gram = open_gram(problem)
    if isinstance(gram, LinearGram):
        return LinearRows(gram, rows)
    return KernelRows(problem, gram, dense(rows))
