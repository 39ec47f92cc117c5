"""Access to the matrix ``Q`` of a problem: by features times labels, as a full matrix, or by rows computed on demand.

With a linear kernel and fewer columns (d) than examples (n), Q is not formed: with ``Z_i = y_i x_i``, ``Q = Z Z' +
ridge I`` needs n x d numbers, and products skip zeros where most numbers are 0, as in encoded categories. Otherwise Q
is held as a matrix or, where that is too large, by a cache of its most recently used rows. `open_gram` chooses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from threading import RLock
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from fairenum.errors import ProblemError, SolverOverwhelmed
from fairenum.runtime.budget import checkpoint
from fairenum.svm.loop_rows import DENSE, IN_ORDER, NOTHING, Anchor, Nonzeros
from fairenum.svm.problem import BLOCK_ROWS, FloatArray, IntArray, SvmProblem
from fairenum.svm.sparse_or_dense import (
    Matrix,
    as_csr,
    dense,
    inner_products,
    is_mostly_zero,
    is_sparse,
    squared_distances,
    squares,
    sums,
    times,
)

BLOCK = 4_000_000  # kernel values that are computed at once: 32 MB
PANEL = 16  # rows whose inner products are computed at once, always: a library may round other shapes differently
ANCHORS = 8
# Shares of the rows kept and of the support vectors: a new anchor is made if more examples differ from the nearest one.
ROWS_SHARE, SUPPORT_SHARE = 0.25, 0.5


class KernelRows:
    """Rows of Q (kernel values times labels), computed on demand; the kernel is centred, as if features had mean 0."""

    def __init__(self, problem: SvmProblem) -> None:
        self._kernel, self._X, self._y, self._ridge = problem.kernel, problem.X, problem.y, problem.ridge
        n, self._squares = problem.size, squares(problem.X)
        self._needs_distances = self._kernel.needs_distances(self._squares)
        sums, self.diagonal = np.zeros(n), np.empty(n)
        for examples in self.pieces(np.arange(n)):
            values = self._values(examples)
            sums += values.sum(axis=0)
            self.diagonal[examples] = values[np.arange(len(examples)), examples]
        self.means = sums / n
        self._above = self.means - self.means.mean()
        self.diagonal += self._ridge - self.means - self._above

    def pieces(self, examples: IntArray) -> Iterator[IntArray]:
        """Yield batches of examples whose rows fit into memory at once; check the time budget before each batch."""
        size = max(1, BLOCK // len(self._y))
        for start in range(0, len(examples), size):
            checkpoint()
            yield examples[start : start + size]

    def _values(self, examples: IntArray) -> FloatArray:
        """Return the kernel values of some examples with all examples, one line per given example."""
        if self._needs_distances:
            return self._kernel.of_distances(squared_distances(self._X[examples], self._X))
        inner = np.empty((len(examples), len(self._y)))
        for start in range(0, len(examples), PANEL):
            some = examples[start : start + PANEL]
            inner[start : start + PANEL] = inner_products(self._X[np.resize(some, PANEL)], self._X)[: len(some)]
        return self._kernel.of_products(inner, self._squares[examples], self._squares)

    def of(self, examples: IntArray) -> FloatArray:
        """Return the rows of Q that belong to some examples."""
        values = self._values(examples)
        values -= self.means
        values -= self._above[examples, None]
        values *= self._y
        values *= self._y[examples, None]
        values[np.arange(len(examples)), examples] += self._ridge
        return values

    def block(self, examples: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[examples][:, columns]``."""
        result = np.empty((len(examples), len(columns)))
        for piece in self.pieces(np.arange(len(examples))):
            result[piece] = self.of(examples[piece])[:, columns]
        return result


class RowStore:
    """A cache of the most recently used rows of Q; ``places`` has each example's row index in ``table``, -1 if none."""

    def __init__(self, rows: KernelRows, most_bytes: float) -> None:
        n = len(rows.diagonal)
        self.capacity = max(1, min(n, int(most_bytes / (8 * n))))
        self.table, self.places = np.empty((self.capacity, n)), np.full(n, -1, np.intp)
        self._rows, self._clock = rows, 0
        self._holder, self._asked = np.full(self.capacity, -1, np.intp), np.zeros(self.capacity, np.int64)

    def fetch(self, examples: IntArray) -> None:
        """Load the rows of some distinct examples into the table, in place of the least recently used ones."""
        self._clock += 1
        places = self.places[examples]
        self._asked[places[places >= 0]] = self._clock
        missing = examples[places < 0]
        if len(missing) == 0:
            return
        free = np.argsort(self._asked, kind="stable")[: len(missing)]
        for rows, own in zip(self._rows.pieces(missing), self._rows.pieces(free), strict=True):
            before = self._holder[own]
            self.places[before[before >= 0]] = -1
            self._holder[own] = -1  # of no example, in case time runs out before the rows are complete
            self.table[own] = self._rows.of(rows)
            self._holder[own], self._asked[own], self.places[rows] = rows, self._clock, own

    def rows(self, examples: IntArray) -> Iterator[FloatArray]:
        """Yield the row of Q of each example in turn, computing those that are not in the table."""
        for piece in self._rows.pieces(examples):
            missing = piece[self.places[piece] < 0]
            computed = iter(self._rows.of(missing))
            for place in self.places[piece].tolist():
                yield next(computed) if place < 0 else self.table[place]


class Anchors:
    """Recent alpha vectors with known ``Q alpha`` (anchors), from which the product of a similar alpha is computed."""

    def __init__(self, store: RowStore) -> None:
        self._store = store
        self._known: deque[Anchor] = deque(maxlen=ANCHORS)

    def _nearest(self, alpha: FloatArray) -> tuple[Anchor, IntArray]:
        """Return the anchor that differs from `alpha` in the fewest examples, and these examples.

        An anchor is an alpha with known ``Q alpha``. If none is near, a new one is made from `alpha`, and no example
        differs.
        """
        support = np.flatnonzero(alpha)
        best, differs = NOTHING, support
        for anchor in self._known:
            others = np.flatnonzero(alpha != anchor.alpha)
            best, differs = (anchor, others) if len(others) < len(differs) else (best, differs)
        if len(differs) > min(ROWS_SHARE * self._store.capacity, SUPPORT_SHARE * len(support)):
            return self._new(alpha), np.empty(0, np.intp)
        return best, differs

    def _new(self, alpha: FloatArray) -> Anchor:
        anchor = self._reached(alpha, NOTHING, np.flatnonzero(alpha))
        self._known.append(anchor)
        return anchor

    def _reached(self, alpha: FloatArray, anchor: Anchor, differs: IntArray) -> Anchor:
        """Return an anchor for `alpha`, computed from another anchor and the examples in which the two differ."""
        from fairenum.svm.path_loop import add_precisely

        known, high, low = (part if len(part) else np.zeros(len(alpha)) for part in anchor)
        for example, row in zip(differs.tolist(), self._store.rows(differs), strict=True):
            high, low = add_precisely(high, low, float(alpha[example]), row)
            if known[example]:
                high, low = add_precisely(high, low, -float(known[example]), row)
        return Anchor(alpha.copy(), high, low)

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        reached = self._reached(alpha, *self._nearest(alpha))
        return reached.high + reached.low

    def ready(self, alpha: FloatArray, examples: IntArray) -> Anchor:
        """Return an anchor (an alpha with known ``Q alpha``) near `alpha`, after loading rows of Q into the table.

        These are the rows of `examples` and of the examples whose alpha differs between `alpha` and the anchor.
        """
        anchor, differs = self._nearest(alpha)
        needed = np.union1d(examples, differs)
        if len(needed) > self._store.capacity and len(differs):
            anchor, needed = self._new(alpha), np.unique(examples)
        if len(needed) > self._store.capacity:
            raise SolverOverwhelmed(
                f"{len(needed)} examples are on the margin of an SVM with this kernel; of {len(alpha)} examples "
                f"the rows of {self._store.capacity} are held: train on fewer rows (--split), or use a smaller gamma "
                "or a linear kernel"
            )
        self._store.fetch(needed)
        return anchor


MATRIX_LIMIT = 20_000  # examples with a kernel that has no short feature map
MATRIX_BYTES = 1e9  # of a kernel matrix; the rows of a larger one are computed when needed
ROW_BYTES = 1e9  # of the rows kept of such a matrix
FARTHEST = 1e45  # length of the plane that all examples at their bounds could span; its square must not overflow
LARGEST_BOX = 1e8  # times `needed_alpha`: where an answer needs less, a larger box loses digits
WIDE = 100  # columns; with fewer, the order of elimination does not matter


class Gram(Protocol):
    """The matrix Q of a problem, in whichever form it is held, with the operations that solvers need."""

    table: FloatArray  # the signed features, or Q itself if `is_matrix`; without rows if these are in `nonzeros`
    places: IntArray  # of each example's row in the table, -1 if it is not there; empty if all are in order
    nonzeros: Nonzeros
    exclusive: tuple[int, int]  # a half-open range of columns of which no example fills two
    is_matrix: bool
    ridge: float  # to be added to the diagonal that follows from `table`
    diagonal: FloatArray
    longest: float  # the largest norm of an example, sqrt(max diagonal)
    offsets: FloatArray  # the inner product of each signed, centred example with the centre

    @property
    def anchors(self) -> Anchors | None:
        """Known products ``Q alpha``, from which those of other alpha are computed; None if the table has all rows."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """The lock to hold while reading the table, whose rows another thread may replace."""

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return what to add to the bias for centred features to get the bias for the problem's own features."""

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""

    def restrict(self, rows: IntArray) -> Gram:
        """Return the Gram of some examples, given by sorted indices; its table has the rows of all these examples."""


class _Held:
    """The attributes of a Gram whose table has the rows of all examples, in order."""

    places = IN_ORDER
    anchors = None
    lock = nullcontext()


class _KernelGram:
    """The attributes of a Gram that holds centred kernel values rather than features."""

    is_matrix = True
    nonzeros = DENSE
    exclusive = (0, 0)
    ridge = 0.0
    offsets: FloatArray

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return what to add to the bias for the centred kernel to get the bias for the problem's own kernel."""
        return -float(alpha @ self.offsets)


class LinearGram(_Held):
    """The matrix ``Q = Z Z' + ridge I`` of a linear kernel, held as Z, whose rows are ``y_i (x_i - centre)``.

    Centring changes only the bias, since ``y'alpha = 0``. It keeps columns far from 0 from losing digits to rounding.
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
        self.offsets = times(self._signed, self._centre)
        self._y = np.zeros(signed.shape[0]) if y is None else y
        distance = float(self._centre @ self._centre)
        self._moves = self.offsets.astype(np.longdouble) + self._y.astype(np.longdouble) * distance
        self.diagonal = squares(self._signed) + ridge
        self.longest = float(np.sqrt(self.diagonal.max(initial=0.0)))

    def bias_offset(self, alpha: FloatArray) -> float:
        """Return what to add to the bias for centred features to get the bias for the problem's own: ``-w'centre``.

        Here w is the weight vector. The offset is a small difference of large sums, in which even the rounding error of
        ``y'alpha`` counts, so it is computed in extended precision.
        """
        return -float(alpha.astype(np.longdouble) @ self._moves)

    def centred(self, rows: Matrix) -> FloatArray:
        """Return the features of other rows minus the examples' centre (`centre_of`), as a dense array."""
        return dense(rows) - self._centre

    def planes(self, alphas: FloatArray) -> FloatArray:
        """Return the weight vector ``Z'alpha`` of each alpha, one per line."""
        return np.asarray(alphas @ self._signed)

    def reached(self, planes: FloatArray) -> FloatArray:
        """Return the inner products of all examples, times their labels, with weight vectors, one line per vector."""
        return np.asarray((self._signed @ planes.T).T)

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        plain = times(self._signed, sums(alpha, self._signed))
        return plain + self.ridge * alpha if self.ridge else plain

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        result = inner_products(self._signed[rows], self._signed[columns])
        if self.ridge:
            result[rows[:, None] == columns] += self.ridge
        return result

    def restrict(self, rows: IntArray) -> LinearGram:
        """Return the Gram of the examples with the indices `rows`."""
        if len(rows) == len(self.diagonal):
            return self
        return LinearGram(self._signed[rows], self.ridge, self._centre, self._y[rows])


class MatrixGram(_Held, _KernelGram):
    """Q as a full matrix, for kernels other than linear and for tables with at least as many columns as examples."""

    def __init__(self, matrix: FloatArray, offsets: FloatArray | None = None) -> None:
        self.offsets = np.zeros(len(matrix)) if offsets is None else offsets
        self.table = matrix
        self.diagonal = matrix.diagonal().copy()
        self.longest = float(np.sqrt(self.diagonal.max(initial=0.0)))

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        return np.asarray(self.table @ alpha)

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        return np.asarray(self.table[rows[:, None], columns])

    def restrict(self, rows: IntArray) -> MatrixGram:
        """Return the Gram of the examples with the indices `rows`."""
        if len(rows) == len(self.diagonal):
            return self
        return MatrixGram(self.block(rows, rows), self.offsets[rows])


class RowGram(_KernelGram):
    """Q as a cache of its most recently used rows, for a matrix too large to hold as a whole."""

    def __init__(self, problem: SvmProblem) -> None:
        self.lock = RLock()  # abandoned work may still read the rows
        self._rows = KernelRows(problem)
        store = RowStore(self._rows, ROW_BYTES)
        self.anchors = Anchors(store)
        self.offsets = problem.y * self._rows.means
        self.table, self.places, self.diagonal = store.table, store.places, self._rows.diagonal
        self.longest = float(np.sqrt(self.diagonal.max(initial=0.0)))

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        with self.lock:
            return self.anchors.product(alpha)

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return ``Q[rows][:, columns]``."""
        return self._rows.block(rows, columns)

    def restrict(self, rows: IntArray) -> MatrixGram:
        """Return the Gram of the examples with the indices `rows`, as a full matrix."""
        return MatrixGram(self.block(rows, rows), self.offsets[rows])


# One Gram per problem for as long as the problem lives: the core and a plugin share one kernel matrix.
_OPENED: WeakKeyDictionary[SvmProblem, Gram] = WeakKeyDictionary()


def open_gram(problem: SvmProblem) -> Gram:
    """Return a problem's matrix Q in the cheapest form; refuse too many examples and too large kernel values."""
    if problem not in _OPENED:
        _OPENED[problem] = _choose(problem)
    return _OPENED[problem]


def share_gram(problem: SvmProblem, other: SvmProblem) -> None:
    """Make `open_gram` return the Gram of `problem` for `other`, which differs only in linear term or upper bounds."""
    _OPENED[other] = open_gram(problem)


def _choose(problem: SvmProblem) -> Gram:
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused below
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


def needed_alpha(gram: Gram, linear: FloatArray) -> float:
    """Return the scale of alpha: the largest absolute entry of `linear`, divided by the mean diagonal entry of Q.

    With this alpha alone, an example of average squared length would reach the largest margin.
    """
    return float(np.abs(linear).max()) / max(float(gram.diagonal.mean()), 1e-300)


def held_bytes(n: int) -> float:
    """Return the bytes of memory that the kernel matrix of n examples, or the cache of its rows, takes."""
    return 8.0 * n * n if 8 * n * n <= MATRIX_BYTES else ROW_BYTES


def _matrix(problem: SvmProblem) -> MatrixGram:
    """Return Q as a full matrix: kernel values, centred and multiplied by the labels of both examples."""
    n = problem.size
    matrix = np.empty((n, n))
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS)]
    for rows in blocks:
        matrix[rows] = problem.kernel(problem.X[rows], problem.X)
    means = matrix.mean(axis=0)
    for rows in blocks:  # in place, to hold no second matrix
        block = matrix[rows]
        block -= means
        block -= (means - means.mean())[rows, None]
        block *= problem.y
        block *= problem.y[rows, None]
    matrix[np.diag_indices(n)] += problem.ridge
    return MatrixGram(matrix, problem.y * means)


def centre_of(X: Matrix) -> FloatArray:
    """Return the column means, but 0 for mostly-zero columns of a mostly-zero table, so that their zeros stay zeros."""
    centre = np.asarray(X.mean(axis=0))
    if is_mostly_zero(X):
        filled = np.bincount(X.indices, minlength=X.shape[1]) if is_sparse(X) else np.count_nonzero(dense(X), axis=0)
        centre[filled <= 0.5 * X.shape[0]] = 0.0
    return centre


def signed(problem: SvmProblem, centre: FloatArray) -> Matrix:
    """Return the features of each example minus the centre, times its label."""
    if not is_sparse(problem.X):
        return np.asarray(problem.y[:, None] * (problem.X - centre))
    n, moved = problem.size, np.flatnonzero(centre)
    starts = np.arange(n + 1) * len(moved)
    means = sparse.csr_array((np.tile(centre[moved], n), np.tile(moved, n), starts), shape=problem.X.shape)
    rows = as_csr(problem.X - means) if moved.size else problem.X.copy()
    rows.data *= np.repeat(problem.y, np.diff(rows.indptr))
    return rows


def _parts(table: Matrix) -> tuple[FloatArray, Nonzeros]:
    if not is_sparse(table):
        return dense(table), DENSE
    return np.empty((0, table.shape[1])), Nonzeros(table.data, table.indices, table.indptr)


def _exclusive(table: Matrix) -> tuple[int, int]:
    """Return the longest half-open range of columns in which no row has two nonzeros, as in a one-hot category.

    The range is (0, 0) for a dense or narrow table.
    """
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
