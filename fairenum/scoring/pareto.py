"""The Pareto front: what nothing else equals or beats in everything."""

from __future__ import annotations

import numpy as np

from fairenum.scoring.counts import FloatArray, IntArray


def pareto_front(costs: FloatArray) -> IntArray:
    """Find the rows of which no other is as small in every column; of equal rows the first stands for all.

    Parameters
    ----------
    costs
        One row per candidate, one column per cost; no NaN. What differs by rounding alone is to be rounded before.

    Returns
    -------
    IntArray
        Their places, in order.
    """
    front: list[int] = []
    for place in np.lexsort(costs.T[::-1]):  # stable, and whatever beats a row comes before it
        if not (costs[front] <= costs[place]).all(axis=1).any():
            front.append(int(place))
    return np.array(sorted(front), dtype=np.intp)
