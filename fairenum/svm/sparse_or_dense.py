"""Operations on tables of numbers that may be dense arrays or sparse (CSR), one row per example.

A large table is kept sparse if most of it is 0, as in encoded categories. The encoder chooses the form once, by
`compact`; callers of these functions need not know the form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

if TYPE_CHECKING:
    from typing_extensions import TypeIs


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Sparse: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
Matrix: TypeAlias = "FloatArray | Sparse"
SPARSE = 0.25  # the share of numbers other than 0 up to which skipping the zeros is faster
BLOCK = 2**16  # rows processed together: bounds memory, never the result
SUMMED = 2**12  # rows summed together in extended precision
LARGE = 2**20  # numbers; for smaller tables the calls cost more than the zeros they skip


def is_sparse(table: object) -> TypeIs[Sparse]:
    """Tell whether a table is stored in one of SciPy's sparse formats."""
    return bool(sparse.issparse(table))


def as_matrix(table: object) -> Matrix:
    """Return a table as CSR if it is sparse, else as a contiguous array of floats."""
    return as_csr(table) if is_sparse(table) else np.ascontiguousarray(table, dtype=np.float64)


def as_csr(table: object) -> Sparse:
    """Return a table in CSR form, without stored zeros, with sorted and unique columns and 32-bit indices."""
    is_csr = isinstance(table, sparse.csr_array) and table.dtype == np.float64
    rows: Sparse = table if is_csr else sparse.csr_array(table, dtype=np.float64)  # type: ignore[assignment,call-overload]
    if rows.has_canonical_format and rows.indices.dtype == np.int32 and rows.data.all():
        return rows
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return sparse.csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape)


def times(table: Matrix, vector: FloatArray) -> FloatArray:
    """Return the inner product of each row of a table with a vector."""
    return np.asarray(table @ vector)


def sums(weights: FloatArray, table: Matrix) -> FloatArray:
    """Return the weighted sum of a table's rows; given a matrix of weights, one such sum per row of weights."""
    return np.asarray(weights @ table)


def is_mostly_zero(table: Matrix) -> bool:
    """Tell whether a table has so few nonzeros that skipping the zeros is faster than multiplying by them."""
    return bool(filled(table) <= SPARSE * table.shape[0] * table.shape[1])


def filled(table: Matrix) -> int:
    """Return the number of nonzero entries of a table."""
    return int(table.nnz if is_sparse(table) else np.count_nonzero(table))


def compact(table: Matrix) -> Matrix:
    """Return a table in the form in which to keep it: sparse if it is large and mostly zero, else dense."""
    is_large = table.shape[0] * table.shape[1] >= LARGE
    return as_csr(table) if is_large and is_mostly_zero(table) else dense(table)


def bytes_of(rows: int, columns: int, filled: int | None = None) -> int:
    """Return the bytes that a table takes in the form that `compact` chooses.

    `filled` is the number of nonzeros per row; if it is None, no entry is taken to be 0.
    """
    is_sparse_one = filled is not None and rows * columns >= LARGE and filled <= SPARSE * columns
    return rows * (12 * filled + 4 if filled is not None and is_sparse_one else 8 * columns)


def dense(table: Matrix) -> FloatArray:
    """Return a table as a dense array."""
    return table.toarray() if is_sparse(table) else table


def read_only(table: Matrix) -> Matrix:
    """Make a table read-only in place, and return it."""
    for part in (table.data, table.indices, table.indptr) if is_sparse(table) else (table,):
        part.flags.writeable = False
    return table


def frozen(table: Sparse) -> Sparse:
    """Return a read-only sparse table, copied unless it is read-only already."""
    rows = as_csr(table)
    read_only(rows := rows.copy() if rows.data.flags.writeable else rows)
    return rows


def first_not_finite(table: Matrix) -> int | None:
    """Return the index of the first row that has a number that is not finite, or None if all are finite."""
    if is_sparse(table):
        wrong = np.flatnonzero(~np.isfinite(table.data))
        return int(np.searchsorted(table.indptr, wrong[0], side="right")) - 1 if wrong.size else None
    finite = np.isfinite(table)
    return None if finite.all() else int(np.argwhere(~finite)[0][0])


def inner_products(left: Matrix, right: Matrix) -> FloatArray:
    """Return the inner products between the rows of two tables."""
    return np.asarray(left @ dense(right).T)


def squares(table: Matrix) -> FloatArray:
    """Return the squared length of each row of a table."""
    if is_sparse(table):
        return np.asarray(table.multiply(table).sum(axis=1))
    return np.asarray(np.einsum("ij,ij->i", table, table))


def turned(table: Matrix) -> FloatArray:
    """Return a square table whose rows have the same inner products as those of a given, wider table."""
    values, vectors = np.linalg.eigh(inner_products(table, table))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def squared_distances(left: Matrix, right: Matrix) -> FloatArray:
    """Return the squared distances between the rows of two tables, computed from differences to full precision."""
    from scipy.spatial.distance import cdist  # only here: few tables need it

    return np.asarray(cdist(dense(left), dense(right), "sqeuclidean"))


def scaled_square(table: Matrix, weights: FloatArray) -> FloatArray:
    """Return ``table' diag(weights) table``."""
    if is_sparse(table):
        used = np.flatnonzero(weights)
        rows = table[used]
        return dense(sparse.csr_array(rows.T @ rows.multiply(weights[used][:, None])))
    return np.asarray((table * weights[:, None]).T @ table)


def precise_sum(weights: FloatArray, table: Matrix) -> FloatArray:
    """Return ``weights @ table``, summed in extended precision.

    With upper bounds of 1000, ten digits of a weight vector cancel in this sum.
    """
    used, total = np.flatnonzero(weights), np.zeros(table.shape[1], np.longdouble)
    for start in range(0, len(used), SUMMED):  # few enough for the processor's cache
        some = used[start : start + SUMMED]
        total += _precise_product(weights[some], table[some])
    return np.asarray(total, dtype=np.float64)


def _precise_product(weights: FloatArray, table: Matrix) -> FloatArray:
    precise = weights.astype(np.longdouble)
    if is_sparse(table):
        return np.asarray(precise @ table.astype(np.longdouble))
    # the same sums as those of `@`, which adds column by column
    product: FloatArray = np.einsum("i,ij->j", precise, table.astype(np.longdouble))
    return product


def average(table: Matrix, weights: FloatArray | None = None) -> FloatArray:
    """Return the mean of a table's rows, weighted if weights are given."""
    if is_sparse(table):
        return np.asarray(table.mean(axis=0) if weights is None else (weights @ table) / weights.sum())
    return np.asarray(np.average(table, 0, weights))


def variance(table: Matrix, weights: FloatArray | None = None) -> float:
    """Return the variance of all numbers of a table around their mean, each row counted by its weight."""
    if is_sparse(table):
        width, counting = table.shape[1], np.ones(table.shape[0]) if weights is None else weights
        mean = float(counting @ table.sum(axis=1)) / (width * counting.sum())
        filled = np.diff(table.indptr)
        apart = np.bincount(np.repeat(np.arange(len(filled)), filled), (table.data - mean) ** 2, len(filled))
        apart = apart + mean**2 * (width - filled)
        return float(counting @ apart) / (width * float(counting.sum()))
    numbers = table
    if weights is None:
        return float(numbers.var())
    mean = np.average(numbers.mean(axis=1), weights=weights)
    return float(np.average(np.square(numbers - mean).mean(axis=1), weights=weights))


def stacked(tables: Sequence[Matrix]) -> Matrix:
    """Return one table with the rows of several tables, one after the other."""
    if any(is_sparse(table) for table in tables):
        return as_csr(sparse.vstack([sparse.csr_array(table) for table in tables], format="csr"))
    return np.vstack([dense(table) for table in tables])


def beside(table: Matrix, column: FloatArray) -> Matrix:
    """Return a table with a column appended."""
    if is_sparse(table):
        return as_csr(sparse.hstack([table, sparse.csr_array(column[:, None])], format="csr"))
    return np.column_stack([table, column])


def places(table: Matrix, *columns: FloatArray) -> tuple[IntArray, IntArray]:
    """Find equal rows: return the first position of each distinct row, and each row's index among the distinct ones.

    Rows are equal if they agree in all columns of the table and in the further `columns`. Numbers are compared bit by
    bit, except that 0.0 equals -0.0.
    """
    known: dict[bytes, int] = {}
    keys = _keys(table, columns)
    inverse = np.fromiter((known.setdefault(key, len(known)) for key in keys), np.intp, table.shape[0])
    first = np.empty(len(known), np.intp)
    first[inverse[::-1]] = np.arange(table.shape[0])[::-1]
    return first, inverse


def distinct(table: Matrix) -> Matrix:
    """Return the distinct rows of a table, in order of appearance."""
    return table[places(table)[0]]


def _keys(table: Matrix, columns: Sequence[FloatArray]) -> Iterator[bytes]:
    """Yield a key for each row, made of its numbers as bytes; equal rows have equal keys."""
    for start in range(0, table.shape[0], BLOCK):
        block = slice(start, start + BLOCK)
        further = np.column_stack([np.empty((table[block].shape[0], 0)), *(column[block] for column in columns)])
        parts = _rows_of_bytes(table[block]), _cut(further + 0.0, len(further))
        yield from map(b"".join, zip(*parts, strict=True))


def _rows_of_bytes(table: Matrix) -> Iterator[bytes]:
    if not is_sparse(table):
        return _cut(table + 0.0, table.shape[0])  # adding 0.0 turns -0.0 into 0.0
    entries = np.empty(table.nnz, [("column", np.int32), ("number", np.float64)])
    entries["column"], entries["number"] = table.indices, table.data
    numbers = entries.tobytes()
    ends = (table.indptr.astype(np.int64) * entries.itemsize).tolist()
    return (numbers[start:end] for start, end in pairwise(ends))


def _cut(table: FloatArray, rows: int) -> Iterator[bytes]:
    numbers, width = table.tobytes(), table.itemsize * table.shape[1]
    return (numbers[row * width : (row + 1) * width] for row in range(rows))
