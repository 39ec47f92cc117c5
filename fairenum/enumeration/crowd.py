"""Rows of several groups, identical ones once, and what a favourable decision about each adds to a group's rate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fairenum.matrices import Matrix, as_matrix, places
from fairenum.problem import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Rows of several groups, identical ones once.

    Attributes
    ----------
    rows, first
        The distinct rows, and where each stands first among all.
    worth
        What a favourable decision about each of them adds to the rate of each group.
    sizes, copies
        Rows of each group, and of each kind.
    """

    rows: Matrix
    first: IntArray
    worth: FloatArray
    sizes: IntArray
    copies: IntArray
    is_weighted: bool

    @classmethod
    def of(cls, rows: Matrix, codes: IntArray, weights: FloatArray | None = None) -> Crowd:
        """Merge identical rows.

        Parameters
        ----------
        rows
            All of them, as they are encoded for a machine.
        codes
            The group of each, from 0 without a gap; below 0 for a row that is in none.
        weights
            What each row counts; None if they count alike.
        """
        rows = as_matrix(rows)
        taken = np.flatnonzero(codes >= 0)
        count, own = int(codes.max(initial=-1)) + 1, codes[taken]
        first, inverse = places(rows[taken])
        counts = np.ones(len(own)) if weights is None else weights[taken]
        worth = np.zeros((len(first), count))
        np.add.at(worth, (inverse, own), counts)
        return cls(
            rows=rows[taken[first]],
            first=taken[first],
            worth=worth / worth.sum(axis=0),
            sizes=np.bincount(own, minlength=count),
            copies=np.bincount(inverse, minlength=len(first)),
            is_weighted=weights is not None,
        )

    def grid(self, groups: Iterable[int]) -> float:
        """Return what all sums and differences of these groups' rates are multiples of; 0 if that is not known."""
        return 0.0 if self.is_weighted else 1.0 / math.lcm(*(int(self.sizes[group]) for group in groups))
