"""Pareto fronts of candidates with several costs, and ranks that do not depend on rounding."""

from __future__ import annotations

import numpy as np

from fairenum.metrics.counts import FloatArray, IntArray

NOISE = 1e-9  # relative differences below it are rounding


def tied_ranks(values: FloatArray) -> IntArray:
    """Return the rank of each number, 0 for the smallest; numbers that differ by rounding alone share a rank.

    Processors round differently; decisions by these ranks are the same on all of them.
    """
    order = np.argsort(values)
    steps = np.diff(values[order], prepend=values[order[:1]]) > NOISE * np.abs(values).max(initial=0.0)
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = np.cumsum(steps)
    return ranks


def pareto_front(costs: FloatArray) -> IntArray:
    """Return the indices of the rows that no other row equals or beats in every column, in order of the first cost.

    `costs` has one row for each candidate, and no NaN; differences by rounding alone count as equal. Of equal rows the
    first is returned.
    """
    ranks = np.column_stack([tied_ranks(column) for column in costs.T])
    front: list[int] = []
    for place in np.lexsort(ranks.T[::-1]):  # stable, and whatever beats a row comes before it
        if not (ranks[front] <= ranks[place]).all(axis=1).any():
            front.append(int(place))
    return np.array(front, dtype=np.intp)
