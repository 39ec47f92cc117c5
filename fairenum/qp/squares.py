"""Sums of squares of some rows of a table, with the label as one more feature: the curvature of rounded hinges.

Of a sparse table the sum is compiled: as a product of sparse matrices it takes five times as long.
"""

from __future__ import annotations

import numpy as np

from fairenum.compiling import entry
from fairenum.matrices import Matrix, is_sparse, scaled_square, sums
from fairenum.problem import FloatArray, IntArray
from fairenum.qp.tables import Nonzeros


def squared(rows: Matrix, y: FloatArray, places: IntArray, weights: FloatArray) -> FloatArray:
    """Return the weighted sum of squares of the signed features at some places, with the label as the last of them."""
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
    """Fill a matrix of zeros with the sum of squares; labels and weights are those of the places."""
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
