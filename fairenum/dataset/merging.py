"""Identical rows, merged into one with a number of copies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.columns import FloatArray, IntArray, Scalar, read_only


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The distinct rows of a table, in order of first appearance.

    Parameters
    ----------
    X, y
        The distinct rows and their labels.
    copies
        How often each stands in the table.
    first
        Where each stands first: ``X`` is the table's ``X[first]``.
    inverse
        For each row of the table, its place here: ``X[inverse]`` is the table again.
    """

    X: FloatArray = field(repr=False)
    y: NDArray[np.generic] = field(repr=False)
    copies: IntArray = field(repr=False)
    first: IntArray = field(repr=False)
    inverse: IntArray = field(repr=False)

    def __len__(self) -> int:
        return self.first.size


def merge_identical(X: FloatArray, y: NDArray[Scalar]) -> Merged:
    """Merge rows whose features and label are equal bit by bit, 0.0 and -0.0 being equal."""
    table = np.column_stack([X, y]).astype(np.float64) + 0.0  # adding 0.0 turns -0.0 into 0.0
    keys = np.ascontiguousarray(table).view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel()
    _, first, inverse, copies = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    first = first[order]
    return Merged(
        read_only(X[first]),
        read_only(y[first]),
        read_only(copies[order]),
        read_only(first),
        read_only(place[inverse]),
    )
