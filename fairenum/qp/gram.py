"""Access to ``Q`` for algorithms that touch it again and again: from the features, or as a matrix.

A linear kernel is never expanded: with ``Z_i = y_i x_i``, ``Q = Z Z' + ridge I`` costs n x d numbers. Where most of
them are 0, as in the columns of categories, products skip them.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fairenum.errors import ProblemError
from fairenum.problem import FloatArray, IntArray, SvmProblem

MATRIX_LIMIT = 8192  # examples; 512 MiB for the kernel matrix
SPARSE = 0.25  # the share of numbers other than 0 up to which skipping the zeros is faster


class Nonzeros(NamedTuple):
    """The numbers of a table that are not 0, row by row (CSR); all three empty for a table that is not sparse."""

    values: FloatArray
    columns: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]


DENSE = Nonzeros(np.empty(0), np.empty(0, np.int32), np.empty(0, np.int32))


class Gram(Protocol):
    """The matrix Q of one problem, by the products that solvers need."""

    table: FloatArray  # the signed features, or Q itself if `is_matrix`
    nonzeros: Nonzeros  # of the table
    is_matrix: bool
    ridge: float  # what is to be added to the diagonal of what `table` says
    diagonal: FloatArray
    longest: float  # the largest norm of an example, sqrt(max diagonal)

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return what the bias of the problem is above the bias seen through this Gram."""

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""

    def restrict(self, rows: IntArray) -> Gram:
        """Return the Gram of some of the examples."""


class LinearGram:
    """``Q = Z Z' + ridge I`` from the signed features Z.

    The features are centred first: with ``y'alpha = 0`` that moves the bias and nothing else, and columns far from 0 no
    longer drown the digits.
    """

    is_matrix = False

    def __init__(self, signed: FloatArray, ridge: float, centre: FloatArray | None = None) -> None:
        self.table = signed
        self.ridge = ridge
        self._sparse = sparse.csr_array(signed) if np.count_nonzero(signed) <= SPARSE * signed.size else None
        self.nonzeros = DENSE if self._sparse is None else _nonzeros(self._sparse)
        self._centre = np.zeros(signed.shape[1]) if centre is None else centre
        self.diagonal = np.einsum("ij,ij->i", signed, signed) + ridge
        self.longest = float(np.sqrt(self.diagonal.max(initial=0.0)))

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return the part of the bias that centring took away, ``-w'centre``."""
        return -float(self._plane(alpha) @ self._centre)

    def _plane(self, alpha: FloatArray) -> FloatArray:
        return np.asarray(alpha @ (self.table if self._sparse is None else self._sparse))

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        plain = np.asarray((self.table if self._sparse is None else self._sparse) @ self._plane(alpha))
        return plain + self.ridge * alpha if self.ridge else plain

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        result: FloatArray = self.table[rows] @ self.table[columns].T
        if self.ridge:
            result[rows[:, None] == columns] += self.ridge
        return result

    def restrict(self, rows: IntArray) -> LinearGram:
        """Return the Gram of some of the examples."""
        return LinearGram(self.table[rows], self.ridge, self._centre)


class MatrixGram:
    """Q as a matrix, for kernels that have no short feature map; centred in feature space like the linear one."""

    is_matrix = True
    nonzeros = DENSE
    ridge = 0.0

    def __init__(self, matrix: FloatArray, offsets: FloatArray | None = None) -> None:
        self._offsets = np.zeros(len(matrix)) if offsets is None else offsets
        self.table = matrix
        self.diagonal = matrix.diagonal().copy()
        self.longest = float(np.sqrt(self.diagonal.max(initial=0.0)))

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        return np.asarray(self.table @ alpha)

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        return np.asarray(self.table[rows[:, None], columns])

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return the part of the bias that centring took away."""
        return -float(alpha @ self._offsets)

    def restrict(self, rows: IntArray) -> MatrixGram:
        """Return the Gram of some of the examples."""
        return MatrixGram(self.block(rows, rows), self._offsets[rows])


# One Gram per problem for as long as the problem lives: the core and a plugin share one kernel matrix.
_OPENED: WeakKeyDictionary[SvmProblem, Gram] = WeakKeyDictionary()


def open_gram(problem: SvmProblem) -> Gram:
    """Return the cheaper access to Q; refuse a kernel matrix that would not fit."""
    if problem not in _OPENED:
        _OPENED[problem] = _choose(problem)
    return _OPENED[problem]


def _choose(problem: SvmProblem) -> Gram:
    n, d = problem.X.shape
    if problem.kernel.name == "linear" and d < n:
        centre = _centre(problem.X)
        return LinearGram(problem.y[:, None] * (problem.X - centre), problem.ridge, centre)
    if n > MATRIX_LIMIT:
        raise ProblemError(
            f"a {problem.kernel.name} kernel on {n} examples needs a matrix of {8e-9 * n * n:.1f} GB; at most "
            f"{MATRIX_LIMIT} examples ({8e-9 * MATRIX_LIMIT**2:.1f} GB) are held: use fewer rows or a linear kernel"
        )
    matrix = problem.kernel(problem.X, problem.X)
    means = matrix.mean(axis=0)
    matrix -= means
    matrix -= (means - means.mean())[:, None]
    matrix *= problem.y[:, None] * problem.y
    matrix[np.diag_indices(n)] += problem.ridge
    return MatrixGram(matrix, problem.y * means)


def _centre(X: FloatArray) -> FloatArray:
    """Return the means of the columns; 0 for those of a sparse table that are mostly 0, and so not far from it."""
    centre, filled = X.mean(axis=0), np.count_nonzero(X, axis=0)
    if filled.sum() <= SPARSE * X.size:
        centre[filled <= 0.5 * len(X)] = 0.0
    return np.asarray(centre)


def _nonzeros(table: sparse.csr_array) -> Nonzeros:
    return Nonzeros(table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32))
