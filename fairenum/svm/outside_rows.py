"""Rows outside the training set: their inner products with the examples, and weight vectors to which they contribute.

Outside rows are centred like the examples, which changes only the bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.svm.gram import Gram, LinearGram, open_gram
from fairenum.svm.problem import FloatArray, IntArray, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, dense

BLOCK = 256  # rows whose kernel values with all examples are held at once


@dataclass(frozen=True, slots=True, eq=False)
class Planes:
    """Weight vectors ``w = sum_i alpha_i y_i x_i + weight * x``, one per outside row x, each with its alpha and weight.

    ``reached`` has each example's margin without the bias, ``y_i w'x_i``, one line per w; ``values`` is ``w'x`` and
    ``squares`` is ``|w|^2``. ``roundings`` is the scale of the rounding error of w as a sum over alpha. ``unsure`` is
    the scale of the rounding error of numbers computed from w: ``|w|`` if w is held by its entries, ``|w| + roundings``
    if it is known through kernel values only.
    """

    reached: FloatArray
    values: FloatArray
    squares: FloatArray
    roundings: FloatArray
    unsure: FloatArray


class LinearOutsideRows:
    """Outside rows given by their features, for a linear kernel."""

    def __init__(self, gram: LinearGram, rows: Matrix) -> None:
        self._gram, self.features = gram, gram.centred(rows)
        self.squares = np.asarray(np.einsum("ij,ij->i", self.features, self.features))

    def crossed(self, places: IntArray) -> FloatArray:
        """Return for each given outside row its inner products with all examples, each times the example's label."""
        return self._gram.reached(self.features[places])

    def entering(self, places: IntArray) -> FloatArray:
        """Return some outside rows in the form that the walks in `fairenum.svm.walks` take: their centred features."""
        return self.features[places]

    def planes(self, places: IntArray, alphas: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weight vector w of `Planes` for each of some outside rows, one per line."""
        return self._gram.planes(alphas) + weights[:, None] * self.features[places]

    def spanned(self, places: IntArray, alphas: FloatArray, weights: FloatArray) -> Planes:
        """Return the `Planes` of some outside rows, given an alpha and a weight for each of them."""
        planes, ridge = self.planes(places, alphas, weights), self._gram.ridge
        reached = self._gram.reached(planes)
        squares = np.einsum("ij,ij->i", planes, planes)
        if ridge:
            reached += ridge * alphas
            squares += ridge * np.einsum("ij,ij->i", alphas, alphas)
        values = np.einsum("ij,ij->i", planes, self.features[places])
        roundings = _spread(self._gram, alphas, weights, self.squares[places])
        return Planes(reached, values, squares, roundings, np.sqrt(squares))


class KernelOutsideRows:
    """Outside rows given by kernel values, also for a linear kernel with at least as many columns as examples."""

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
        """Return for each given outside row its inner products with all examples, each times the example's label."""
        block = self._plain(places)
        block -= self._mean[places, None]
        block -= self._means - self._means.mean()
        block *= self._problem.y
        return block

    def entering(self, places: IntArray) -> FloatArray:
        """Return some outside rows in the form that the walks in `fairenum.svm.walks` take.

        Each line has the inner products of an outside row with all examples, times their labels, and last with itself.
        """
        return np.column_stack([self.crossed(places), self.squares[places]])

    def spanned(self, places: IntArray, alphas: FloatArray, weights: FloatArray) -> Planes:
        """Return the `Planes` of some outside rows, given an alpha and a weight for each of them."""
        plain, crossed = np.array([self._gram.product(alpha) for alpha in alphas]), self.crossed(places)
        along, squares = np.einsum("ij,ij->i", alphas, crossed), self.squares[places]
        lengths = np.einsum("ij,ij->i", alphas, plain) + weights * (2.0 * along + weights * squares)
        lengths = np.maximum(lengths, 0.0)
        roundings = _spread(self._gram, alphas, weights, squares)
        reached = plain + weights[:, None] * crossed
        return Planes(reached, along + weights * squares, lengths, roundings, np.sqrt(lengths) + roundings)


def _spread(gram: Gram, alphas: FloatArray, weights: FloatArray, squares: FloatArray) -> FloatArray:
    """Return ``roundings`` of `Planes`: for each w, the root of the sum of its terms' squared lengths."""
    return np.sqrt((alphas * alphas) @ gram.diagonal + weights * weights * squares)


OutsideRows = LinearOutsideRows | KernelOutsideRows


def outside_rows(problem: SvmProblem, rows: Matrix) -> OutsideRows:
    """Return rows outside the training set, held as features if the problem's Gram is linear, else as kernel values."""
    gram = open_gram(problem)
    if isinstance(gram, LinearGram):
        return LinearOutsideRows(gram, rows)
    return KernelOutsideRows(problem, gram, dense(rows))
