"""Access to ``Q`` for algorithms that touch it again and again: from the features, or as a matrix.

A linear kernel is never expanded: with ``Z_i = y_i x_i``, ``Q = Z Z' + ridge I`` costs n x d numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy import linalg

from fairenum.errors import ProblemError
from fairenum.problem import FloatArray, IntArray, SvmProblem

MATRIX_LIMIT = 8192  # examples; 512 MiB for the kernel matrix


class Gram(Protocol):
    """The matrix Q of one problem, by the products that solvers need."""

    diagonal: FloatArray

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""

    def combine(self, columns: IntArray, weights: FloatArray) -> FloatArray:
        """Return ``Q[:, columns] @ weights``."""

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""

    def column(self, index: int) -> FloatArray:
        """Return ``Q[:, index]``."""

    def restrict(self, rows: IntArray) -> Gram:
        """Return the Gram of some of the examples."""

    def shifted_solver(self, shift: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return a function that solves ``(Q + diag(shift)) x = right``."""


class LinearGram:
    """``Q = Z Z' + ridge I`` from the signed features Z."""

    def __init__(self, signed: FloatArray, ridge: float) -> None:
        self._signed = signed
        self._ridge = ridge
        self.diagonal = np.einsum("ij,ij->i", signed, signed) + ridge

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        return np.asarray(self._signed @ (alpha @ self._signed) + self._ridge * alpha)

    def combine(self, columns: IntArray, weights: FloatArray) -> FloatArray:
        """Return ``Q[:, columns] @ weights``."""
        result: FloatArray = self._signed @ (weights @ self._signed[columns])
        if self._ridge:
            result[columns] += self._ridge * weights
        return result

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        result: FloatArray = self._signed[rows] @ self._signed[columns].T
        if self._ridge:
            result[rows[:, None] == columns] += self._ridge
        return result

    def column(self, index: int) -> FloatArray:
        """Return ``Q[:, index]``."""
        result: FloatArray = self._signed @ self._signed[index]
        result[index] += self._ridge
        return result

    def restrict(self, rows: IntArray) -> LinearGram:
        """Return the Gram of some of the examples."""
        return LinearGram(self._signed[rows], self._ridge)

    def shifted_solver(self, shift: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return a function that solves ``(Q + diag(shift)) x = right``, by Woodbury's identity in d dimensions."""
        inverse = 1.0 / (shift + self._ridge)
        scaled = self._signed * inverse[:, None]
        core = self._signed.T @ scaled
        core[np.diag_indices_from(core)] += 1.0
        factor = linalg.cho_factor(core, check_finite=False)

        def solve(right: FloatArray) -> FloatArray:
            inner = linalg.cho_solve(factor, right @ scaled, check_finite=False)
            return np.asarray(inverse * (right - self._signed @ inner))

        return solve


class MatrixGram:
    """Q as a matrix, for kernels that have no short feature map."""

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix
        self.diagonal = matrix.diagonal().copy()

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        return np.asarray(self._matrix @ alpha)

    def combine(self, columns: IntArray, weights: FloatArray) -> FloatArray:
        """Return ``Q[:, columns] @ weights``."""
        return np.asarray(weights @ self._matrix[columns])

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        return np.asarray(self._matrix[rows[:, None], columns])

    def column(self, index: int) -> FloatArray:
        """Return ``Q[:, index]``."""
        return np.asarray(self._matrix[index])

    def restrict(self, rows: IntArray) -> MatrixGram:
        """Return the Gram of some of the examples."""
        return MatrixGram(self.block(rows, rows))

    def shifted_solver(self, shift: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return a function that solves ``(Q + diag(shift)) x = right``."""
        shifted = self._matrix.copy()
        shifted[np.diag_indices_from(shifted)] += shift
        factor = linalg.cho_factor(shifted, overwrite_a=True, check_finite=False)
        return lambda right: np.asarray(linalg.cho_solve(factor, right, check_finite=False))


def open_gram(problem: SvmProblem) -> Gram:
    """Choose the cheaper access to Q; refuse a kernel matrix that would not fit."""
    n, d = problem.X.shape
    if problem.kernel.name == "linear" and d < n:
        return LinearGram(problem.y[:, None] * problem.X, problem.ridge)
    if n > MATRIX_LIMIT:
        raise ProblemError(
            f"a {problem.kernel.name} kernel on {n} examples needs a matrix of {8e-9 * n * n:.1f} GB; this solver holds "
            f"at most {MATRIX_LIMIT} examples ({8e-9 * MATRIX_LIMIT**2:.1f} GB): use fewer rows or a linear kernel"
        )
    matrix = problem.kernel(problem.X, problem.X)
    matrix *= problem.y[:, None] * problem.y
    matrix[np.diag_indices(n)] += problem.ridge
    return MatrixGram(matrix)
