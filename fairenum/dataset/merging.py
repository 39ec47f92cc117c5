"""Identical rows, merged into one with a number of copies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.columns import FloatArray, IntArray, Scalar, read_only

if TYPE_CHECKING:
    from fairenum.matrices import Matrix


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

    X: Matrix = field(repr=False)
    y: NDArray[np.generic] = field(repr=False)
    copies: IntArray = field(repr=False)
    first: IntArray = field(repr=False)
    inverse: IntArray = field(repr=False)

    def __len__(self) -> int:
        return self.first.size


def merge_identical(X: Matrix, y: NDArray[Scalar], weights: FloatArray | None = None) -> Merged:
    """Merge rows whose features, label and, if they differ, weights are equal bit by bit, 0.0 and -0.0 being equal."""
    from fairenum.matrices import places
    from fairenum.matrices import read_only as keep

    first, inverse = places(X, *(column.astype(np.float64) for column in (y, weights) if column is not None))
    copies = np.bincount(inverse, minlength=len(first))
    return Merged(keep(X[first]), read_only(y[first]), *map(read_only, (copies, first, inverse)))
