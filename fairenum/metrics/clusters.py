"""Clusters: rows of one person, firm or officer, which are not independent of each other.

The variance of a rate or of a contrast is that of sums over clusters: each row has an influence on the estimate, such
as (x - r) / n for an outcome x, a rate r and n rows of its group, the influences of a cluster are added up, and the
squares of these sums over all clusters are the variance. With C clusters it is multiplied by C / (C - 1), and by the
square of the ratio of Student's to the normal critical value, since a variance of few sums is uncertain.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from fairenum.metrics.counts import FloatArray, IntArray

TAIL = 0.975  # of the quantiles of Student's and of the normal distribution that are compared


def cluster_sizes(codes: IntArray, clusters: IntArray, groups: int) -> FloatArray:
    """Return for each group the number of its rows in a row's own cluster, averaged over its rows; 1 without rows."""
    cells, sizes = np.unique(np.stack([codes, clusters]), axis=1, return_counts=True)
    squares, rows = (np.bincount(cells[0], sizes**power, groups) for power in (2, 1))
    return np.asarray(np.divide(squares, rows, out=np.ones(groups), where=rows > 0))


def few_clusters(codes: IntArray, clusters: IntArray, groups: int) -> FloatArray:
    """Return for each group the factor of a variance estimated from its number of clusters; 1 for many clusters."""
    cells = np.unique(np.stack([codes, clusters]), axis=1)
    number = np.maximum(np.bincount(cells[0], minlength=groups), 2)
    ratio = stats.t.ppf(TAIL, number - 1) / stats.norm.ppf(TAIL)
    return np.asarray(number / (number - 1) * ratio**2)
