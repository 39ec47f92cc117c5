"""A linear SVM with a smoothed hinge loss, whose optimal plane is near that of the SVM itself.

Within a width around the margin the hinge is a parabola. The loss is then smooth, and quadratic except where examples
enter or leave that width, so Newton's method needs a handful of steps in d dimensions (d columns), each about as costly
as a step of an interior point method. The plane is wrong by a small share of the width. It is only used to tell which
examples are clearly on a bound, so its error costs time and nothing else.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, LinAlgWarning, solve

from fairenum.runtime.compiling import entry
from fairenum.svm.gram import Gram
from fairenum.svm.loop_rows import Nonzeros
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import Matrix, is_sparse, scaled_square, sums, times

WIDEST, WIDTH = 2.0, 0.1  # of the hinge's parabola, in units of the margin: without a plane to begin with, and with one
STEPS = 20  # at most, for each width
SETTLED = 0.1  # of the width: a step that moves examples by less on average is the last
DECREASE, SHORTEST = 1e-4, 1e-3  # of the decrease that a step promises; and the shortest step that is tried
STIFFNESS = 1e-9  # of the mean curvature, so that the system has a unique solution


def squared(rows: Matrix, y: FloatArray, places: IntArray, weights: FloatArray) -> FloatArray:
    """Return ``sum_i weights_i r_i r_i'`` over the examples `places`, where r_i is row i with its label appended."""
    matrix = np.zeros((rows.shape[1] + 1, rows.shape[1] + 1))
    if is_sparse(rows):
        add_squares(Nonzeros(rows.data, rows.indices, rows.indptr), y[places], places, weights, matrix)
        return matrix
    some = rows[places]
    matrix[:-1, :-1] = scaled_square(some, weights)
    matrix[:-1, -1] = matrix[-1, :-1] = sums(weights * y[places], some)
    matrix[-1, -1] = weights.sum()
    return matrix


@entry(allocates=False)
def add_squares(
    nonzeros: Nonzeros, labels: FloatArray, places: IntArray, weights: FloatArray, matrix: FloatArray
) -> None:
    """Write the result of `squared` for sparse rows into a matrix of zeros; `labels` belong to the rows `places`."""
    values, columns, starts = nonzeros
    last = len(matrix) - 1
    for k in range(len(places)):
        start, end = starts[places[k]], starts[places[k] + 1]
        for m in range(start, end):
            row, weight = matrix[columns[m]], weights[k] * values[m]
            for other in range(start, m + 1):  # columns are in order: the lower triangle
                row[columns[other]] += weight * values[other]
            matrix[last, columns[m]] += weight * labels[k]
        matrix[last, last] += weights[k]
    for m in range(last + 1):
        for other in range(m):
            matrix[other, m] = matrix[m, other]


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A plane: weights w, bias, and the margin ``y_i (w'x_i + bias)`` of every example with (centred) features x_i."""

    weights: FloatArray
    bias: float
    margins: FloatArray


class SmoothedSvm:
    """A linear SVM with a smoothed hinge loss; `unit` is the scale of its margins."""

    def __init__(self, gram: Gram, y: FloatArray, upper: FloatArray, linear: FloatArray, unit: float) -> None:
        self._rows = signed_rows(gram)
        self._y, self._upper, self._linear, self._unit = y, upper, linear, unit

    def plane(self, start: Plane | None = None) -> Plane | None:
        """Return an approximately optimal plane, found from `start` if given; None if rounding prevents it."""
        widths = (WIDTH,) if start else (WIDEST, WIDTH)
        plane = start or Plane(np.zeros(self._rows.shape[1]), 0.0, np.zeros(len(self._y)))
        try:
            for width in widths:
                plane = self._settled(plane, width * self._unit)
        except (LinAlgError, FloatingPointError):
            return None
        return plane

    def spanned(self, alpha: FloatArray, gradient: FloatArray) -> Plane:
        """Return the plane of an alpha, with the bias that fits a given gradient best (least squares)."""
        weights = sums(alpha, self._rows)
        values = times(self._rows, weights)
        bias = float(np.mean(self._y * (self._linear + gradient - values)))
        return Plane(weights, bias, values + self._y * bias)

    def fitted(self, gradient: FloatArray) -> Plane | None:
        """Return the plane whose gradient is nearest to a given one; None if the equations are singular.

        Nearest means least squares over the examples near the margin.
        """
        near = np.flatnonzero(np.abs(gradient) <= self._unit)
        matrix, right = squared(self._rows, self._y, near, np.ones(len(near))), self._linear[near] + gradient[near]
        matrix[np.diag_indices_from(matrix)] += STIFFNESS * matrix.trace() / len(matrix)
        pushed = np.append(sums(right, self._rows[near]), self._y[near] @ right)
        try:
            return self._at(_solved(matrix, pushed))
        except LinAlgError:
            return None

    def _at(self, answer: FloatArray) -> Plane:
        weights, bias = answer[:-1], float(answer[-1])
        return Plane(weights, bias, times(self._rows, weights) + self._y * bias)

    def _settled(self, plane: Plane, width: float) -> Plane:
        """Return the plane after Newton steps for a hinge smoothed over `width`, until a step hardly moves it."""
        value = self._value(plane, width)
        for _ in range(STEPS):
            slope = self._slope(plane, width)
            step = self._at(-_solved(self._stiffened(plane, width), slope))
            promised = -float(slope[:-1] @ step.weights + slope[-1] * step.bias)
            length = 1.0
            while True:
                tried = _moved(plane, step, length)
                reached = self._value(tried, width)
                if reached <= value - DECREASE * length * promised or length < SHORTEST:
                    break
                length *= 0.5
            plane, value = tried, reached
            if length * float(np.abs(step.margins).mean()) <= SETTLED * width:
                break
        return plane

    def _value(self, plane: Plane, width: float) -> float:
        short = self._linear - plane.margins
        hinge = np.where(short >= width, short, np.square(np.maximum(short + width, 0.0)) / (4.0 * width))
        return float(0.5 * plane.weights @ plane.weights + self._upper @ hinge)

    def _slope(self, plane: Plane, width: float) -> FloatArray:
        weights = self._upper * np.clip((self._linear - plane.margins + width) / (2.0 * width), 0.0, 1.0)
        return np.append(plane.weights - sums(weights, self._rows), -float(weights @ self._y))

    def _stiffened(self, plane: Plane, width: float) -> FloatArray:
        """Return the Hessian of the smoothed loss, made nonsingular by a little that is added for the bias."""
        near = np.flatnonzero((np.abs(self._linear - plane.margins) < width) & (self._upper > 0.0))
        matrix = squared(self._rows, self._y, near, self._upper[near] / (2.0 * width))
        matrix[np.diag_indices(len(matrix) - 1)] += 1.0
        matrix[-1, -1] += STIFFNESS * matrix.trace() / len(matrix)
        return matrix


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution of a positive definite system; inexact digits cost time and nothing else, so no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        return np.asarray(solve(matrix, right, assume_a="pos"))


def signed_rows(gram: Gram) -> Matrix:
    """Return each example's features times its label, from a linear Gram, sparse if the Gram holds them so."""
    values, columns, starts = gram.nonzeros
    if len(starts) == 0:
        return gram.table
    return sparse.csr_array((values, columns, starts), shape=(len(starts) - 1, gram.table.shape[1]))


def _moved(plane: Plane, step: Plane, length: float) -> Plane:
    return Plane(
        plane.weights + length * step.weights,
        plane.bias + length * step.bias,
        plane.margins + length * step.margins,
    )
