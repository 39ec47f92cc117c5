"""Access to ``Q`` for algorithms that touch it again and again: from the features, as a matrix, or row by row.

A linear kernel is never expanded: with ``Z_i = y_i x_i``, ``Q = Z Z' + ridge I`` costs n x d numbers. Where most of
them are 0, as in the columns of categories, products skip them. Of another kernel's matrix that is too large to be held
the rows that are needed are (`fairenum.qp.columns`).
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from threading import RLock
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from fairenum.errors import ProblemError
from fairenum.matrices import Matrix, as_csr, dense, inner_products, is_mostly_zero, is_sparse, squares, sums, times
from fairenum.problem import BLOCK_ROWS, FloatArray, IntArray, SvmProblem
from fairenum.qp.columns import Anchors, KernelRows, RowStore
from fairenum.qp.tables import DENSE, IN_ORDER, Nonzeros

MATRIX_LIMIT = 20_000  # examples with a kernel that has no short feature map
MATRIX_BYTES = 1e9  # of a kernel matrix; of a larger one rows are computed when they are needed,
ROW_BYTES = 1e9  # and so many of them are kept
FARTHEST = 1e45  # the length that all examples together, at their bounds, could give a plane; its square is summed
LARGEST_BOX = 1e8  # in units of what a single example asks for; where an answer needs less, more drowns all else
WIDE = 100  # columns; of fewer, what to eliminate first is no matter


class Gram(Protocol):
    """The matrix Q of one problem, by the products that solvers need."""

    table: FloatArray  # the signed features, or Q itself if `is_matrix`; without rows where these are in `nonzeros`
    places: IntArray  # of the rows in the table, -1 for those that are not there; empty if each is at its own
    nonzeros: Nonzeros
    exclusive: tuple[int, int]  # columns, from one to before another, of which no example has two
    is_matrix: bool
    ridge: float  # what is to be added to the diagonal of what `table` says
    diagonal: FloatArray
    longest: float  # the largest norm of an example, sqrt(max diagonal)

    @property
    def offsets(self) -> FloatArray:
        """What centring took from the product of each signed example with the centre."""

    @property
    def anchors(self) -> Anchors | None:
        """Who sees to it that rows are in the table; None if all are."""

    @property
    def in_use(self) -> AbstractContextManager[object]:
        """What is to be held while the table is read: others may change what is in it."""

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return what the bias of the problem is above the bias seen through this Gram."""

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""

    def restrict(self, rows: IntArray) -> Gram:
        """Return the Gram of some of the examples, sorted, with all of its table; itself if these are all."""


class _Held:
    """A Gram whose table is all there."""

    places = IN_ORDER
    anchors = None
    in_use = nullcontext()


class LinearGram(_Held):
    """``Q = Z Z' + ridge I`` from the signed features Z.

    The features are centred first: with ``y'alpha = 0`` that moves the bias and nothing else, and columns far from 0 no
    longer drown the digits.
    """

    is_matrix = False

    def __init__(
        self, signed: Matrix, ridge: float, centre: FloatArray | None = None, y: FloatArray | None = None
    ) -> None:
        # compiled loops skip zeros at no cost, however small the table
        self._signed = as_csr(signed) if is_mostly_zero(signed) else signed
        self.table, self.nonzeros = _parts(self._signed)
        self.exclusive = _exclusive(self._signed)
        self.ridge = ridge
        self._centre = np.zeros(signed.shape[1]) if centre is None else centre
        self._offsets = times(self._signed, self._centre)
        self._y = np.zeros(signed.shape[0]) if y is None else y
        distance = float(self._centre @ self._centre)
        self._moves = self._offsets.astype(np.longdouble) + self._y.astype(np.longdouble) * distance
        self.diagonal = squares(self._signed) + ridge
        self.longest = float(np.sqrt(self.diagonal.max(initial=0.0)))

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return the part of the bias that centring took away, ``-w'centre``: a small difference of large sums.

        What rounding leaves of ``y'alpha`` counts, too: far from 0 it is multiplied by the square of the distance.
        """
        return -float(alpha.astype(np.longdouble) @ self._moves)

    @property
    def offsets(self) -> FloatArray:
        """What centring took from the product of each signed example with the centre."""
        return self._offsets

    def centred(self, rows: Matrix) -> FloatArray:
        """Return other rows as this Gram sees them."""
        return dense(rows) - self._centre

    def planes(self, alphas: FloatArray) -> FloatArray:
        """Return the planes that some answers span, one row for each."""
        return np.asarray(alphas @ self._signed)

    def reached(self, planes: FloatArray) -> FloatArray:
        """Return what every example reaches on some planes, one row for each plane."""
        return np.asarray((self._signed @ planes.T).T)

    def _plane(self, alpha: FloatArray) -> FloatArray:
        return sums(alpha, self._signed)

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        plain = times(self._signed, self._plane(alpha))
        return plain + self.ridge * alpha if self.ridge else plain

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        result = inner_products(self._signed[rows], self._signed[columns])
        if self.ridge:
            result[rows[:, None] == columns] += self.ridge
        return result

    def restrict(self, rows: IntArray) -> LinearGram:
        """Return the Gram of some of the examples."""
        if len(rows) == len(self.diagonal):
            return self
        return LinearGram(self._signed[rows], self.ridge, self._centre, self._y[rows])


class MatrixGram(_Held):
    """Q as a matrix, for kernels that have no short feature map; centred in feature space like the linear one."""

    is_matrix = True
    nonzeros = DENSE
    exclusive = (0, 0)
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

    @property
    def offsets(self) -> FloatArray:
        """What centring took from the product of each signed example with the centre."""
        return self._offsets

    def restrict(self, rows: IntArray) -> MatrixGram:
        """Return the Gram of some of the examples."""
        if len(rows) == len(self.diagonal):
            return self
        return MatrixGram(self.block(rows, rows), self._offsets[rows])


class RowGram:
    """Q of which some rows are held, those that were needed last; centred like the matrix."""

    is_matrix = True
    nonzeros = DENSE
    exclusive = (0, 0)
    ridge = 0.0

    def __init__(self, problem: SvmProblem) -> None:
        self.in_use = RLock()  # work that was left behind may still read what is there
        self._rows = KernelRows(problem)
        store = RowStore(self._rows, ROW_BYTES)
        self.anchors = Anchors(store)
        self._offsets = problem.y * self._rows.means
        self.table, self.places, self.diagonal = store.table, store.places, self._rows.diagonal
        self.longest = float(np.sqrt(self.diagonal.max(initial=0.0)))

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        with self.in_use:
            return self.anchors.product(alpha)

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        return self._rows.block(rows, columns)

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return the part of the bias that centring took away."""
        return -float(alpha @ self._offsets)

    @property
    def offsets(self) -> FloatArray:
        """What centring took from the product of each signed example with the centre."""
        return self._offsets

    def restrict(self, rows: IntArray) -> MatrixGram:
        """Return the Gram of some of the examples, as a matrix."""
        return MatrixGram(self.block(rows, rows), self._offsets[rows])


# One Gram per problem for as long as the problem lives: the core and a plugin share one kernel matrix.
_OPENED: WeakKeyDictionary[SvmProblem, Gram] = WeakKeyDictionary()


def open_gram(problem: SvmProblem) -> Gram:
    """Return the cheaper access to Q; refuse a kernel matrix that would not fit."""
    if problem not in _OPENED:
        _OPENED[problem] = _choose(problem)
    return _OPENED[problem]


def share_gram(problem: SvmProblem, other: SvmProblem) -> None:
    """Let another problem have the Gram of one: the two differ in nothing but their linear term or box."""
    _OPENED[other] = open_gram(problem)


def _choose(problem: SvmProblem) -> Gram:
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused
        gram = _made(problem)
    farthest = gram.longest * float(problem.upper.sum())
    if not farthest <= FARTHEST:
        kernel = problem.kernel.name
        ways = {"linear": "", "rbf": "", "poly": ", or use a smaller gamma or degree"}[kernel]
        raise ProblemError(
            f"values of the {kernel} kernel times the cost reach {farthest:.2g}; at most {FARTHEST:g} is taken: "
            f"standardise the features{ways}"
        )
    return gram


def _made(problem: SvmProblem) -> Gram:
    n, d = problem.X.shape
    if problem.kernel.name == "linear" and d < n:
        centre = centre_of(problem.X)
        return LinearGram(signed(problem, centre), problem.ridge, centre, problem.y)
    if n > MATRIX_LIMIT:
        raise ProblemError(
            f"a {problem.kernel.name} kernel on {n} examples has a matrix of {8e-9 * n * n:.1f} GB to go through; "
            f"at most {MATRIX_LIMIT} examples are taken: train on fewer rows (--split), or use a linear kernel"
        )
    return _matrix(problem) if 8 * n * n <= MATRIX_BYTES else RowGram(problem)


def asked(gram: Gram, linear: FloatArray) -> float:
    """Return the alpha by which a single example would reach its margin."""
    return float(np.abs(linear).max()) / max(float(gram.diagonal.mean()), 1e-300)


def held_bytes(n: int) -> float:
    """Return the memory that is taken by what is held of a kernel matrix."""
    return 8.0 * n * n if 8 * n * n <= MATRIX_BYTES else ROW_BYTES


def _matrix(problem: SvmProblem) -> MatrixGram:
    """Return the kernel matrix, centred and signed."""
    n = problem.size
    matrix = np.empty((n, n))
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS)]
    for rows in blocks:
        matrix[rows] = problem.kernel(problem.X[rows], problem.X)
    means = matrix.mean(axis=0)
    for rows in blocks:  # in place: nothing of the size of the matrix is held beside it
        block = matrix[rows]
        block -= means
        block -= (means - means.mean())[rows, None]
        block *= problem.y
        block *= problem.y[rows, None]
    matrix[np.diag_indices(n)] += problem.ridge
    return MatrixGram(matrix, problem.y * means)


def centre_of(X: Matrix) -> FloatArray:
    """Return the means of the columns; 0 for those of a sparse table that are mostly 0, and so not far from it."""
    centre = np.asarray(X.mean(axis=0))
    if is_mostly_zero(X):
        filled = np.bincount(X.indices, minlength=X.shape[1]) if is_sparse(X) else np.count_nonzero(dense(X), axis=0)
        centre[filled <= 0.5 * X.shape[0]] = 0.0
    return centre


def signed(problem: SvmProblem, centre: FloatArray) -> Matrix:
    """Return the centred features of each example, times its label."""
    if not is_sparse(problem.X):
        return np.asarray(problem.y[:, None] * (problem.X - centre))
    n, moved = problem.size, np.flatnonzero(centre)
    starts = np.arange(n + 1) * len(moved)
    means = sparse.csr_array((np.tile(centre[moved], n), np.tile(moved, n), starts), shape=problem.X.shape)
    rows = as_csr(problem.X - means) if moved.size else problem.X.copy()
    rows.data *= np.repeat(problem.y, np.diff(rows.indptr))
    return rows


def _parts(table: Matrix) -> tuple[FloatArray, Nonzeros]:
    """Return a table as compiled loops read it: its rows, or none of them and what is not 0 in each."""
    if not is_sparse(table):
        return dense(table), DENSE
    return np.empty((0, table.shape[1])), Nonzeros(table.data, table.indices, table.indptr)


def _exclusive(table: Matrix) -> tuple[int, int]:
    """Return the longest stretch of columns of which no row has two: the values of the widest category."""
    if not is_sparse(table) or table.shape[1] < WIDE:
        return 0, 0
    before = np.full(table.shape[1], -1)  # the last column that some row has before this one
    follows = np.ones(table.nnz, bool)
    follows[table.indptr[:-1][np.diff(table.indptr) > 0]] = False
    places = np.flatnonzero(follows)
    np.maximum.at(before, table.indices[places], table.indices[places - 1])
    first, found = 0, (0, 0)
    for last, latest in enumerate(before.tolist()):
        first = max(first, latest + 1)
        found = max(found, (first, last + 1), key=lambda stretch: stretch[1] - stretch[0])
    return found
