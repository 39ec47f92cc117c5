"""Numbers that only rounding tells apart."""

from __future__ import annotations

import numpy as np

from fairenum.scoring.counts import FloatArray, IntArray

NOISE = 1e-9  # relative differences below it are rounding


def tied_ranks(values: FloatArray) -> IntArray:
    """Rank numbers, the least first; those that only rounding tells apart share a rank.

    Processors round differently: what is decided by ranks comes out the same on all of them.
    """
    order = np.argsort(values)
    steps = np.diff(values[order], prepend=values[order[:1]]) > NOISE * np.abs(values).max(initial=0.0)
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = np.cumsum(steps)
    return ranks
