"""The Pareto front: what nothing else equals or beats in everything."""

from __future__ import annotations

import numpy as np

from fairenum.scoring.counts import FloatArray, IntArray
from fairenum.scoring.ties import tied_ranks


def pareto_front(costs: FloatArray) -> IntArray:
    """Find the rows of which no other is as small in every column; of equal rows the first stands for all.

    Parameters
    ----------
    costs
        One row per candidate, one column per cost; no NaN. What differs by rounding alone counts as equal.

    Returns
    -------
    IntArray
        Their places, the smallest first cost first.
    """
    ranks = np.column_stack([tied_ranks(column) for column in costs.T])
    front: list[int] = []
    for place in np.lexsort(ranks.T[::-1]):  # stable, and whatever beats a row comes before it
        if not (ranks[front] <= ranks[place]).all(axis=1).any():
            front.append(int(place))
    return np.array(front, dtype=np.intp)
