"""Inflation of variances within strata, where rows belong to clusters such as persons, firms or officers.

The Mantel-Haenszel difference D = A / W, the Mantel-Haenszel odds ratio R / S and Kitagawa's parts are functions of the
counts in the strata, so each row has an influence on them: the derivative by its own count. With n and m rows of the
group and the reference group in a stratum, x and y of them selected, and N = n + m, these are A = sum (x m - y n) / N,
W = sum n m / N, R = sum x (m - y) / N and S = sum y (n - x) / N. All four are homogeneous of degree 1 in the counts, so
the influences on D and on log(R / S) add up to 0. The inflation, as `fairenum.metrics.clusters` defines it, multiplies
the variances for independent rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairenum.metrics.clusters import inflation_of_sums
from fairenum.metrics.counts import BitArray, BoolArray, FloatArray, IntArray
from fairenum.metrics.strata import INDEPENDENT, StrataInflation, StratifiedPair


class PairRows(NamedTuple):
    """The rows of a group and of its reference group, with their strata, decisions and clusters."""

    strata: IntArray
    is_reference: BoolArray
    selected: BitArray
    clusters: IntArray


def strata_inflation(pair: StratifiedPair, rows: PairRows) -> StrataInflation:
    """Return the inflation of each estimate within strata; 1 where no stratum has rows of both groups."""
    kept = pair.is_shared[rows.strata]
    if not kept.any():
        return INDEPENDENT
    places = np.cumsum(pair.is_shared) - 1
    codes = rows.is_reference[kept].astype(np.intp)
    cells = places[rows.strata[kept]], codes, rows.selected[kept].astype(np.intp)
    found = pair.shared()
    tables = (_on_difference(found), _on_log_odds(found), *_on_parts(found))
    influence = np.array([table[cells] for table in tables])
    return StrataInflation(*inflation_of_sums(influence, rows.clusters[kept], codes).tolist())


def _table(own: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return influences of shape (strata, 2, 2), given those of rows that are not selected, and of those that are."""
    return np.stack([np.stack(own, axis=-1), np.stack(other, axis=-1)], axis=1)


def _on_difference(pair: StratifiedPair) -> FloatArray:
    """Return the influence of a row on the Mantel-Haenszel difference."""
    n, m, x, y = pair.rows, pair.reference_rows, pair.selected, pair.reference_selected
    total = n + m
    weight = (n * m / total).sum()
    apart = (x * m - y * n) / total
    value = apart.sum() / weight
    own = -y / total - apart / total - value * m**2 / total**2
    other = x / total - apart / total - value * n**2 / total**2
    return np.asarray(_table((own, own + m / total), (other, other - n / total)) / weight)


def _on_log_odds(pair: StratifiedPair) -> FloatArray:
    """Return the influence of a row on the logarithm of the Mantel-Haenszel odds ratio; 0 if that is undefined."""
    a, c = pair.selected, pair.reference_selected
    b, d = pair.rows - a, pair.reference_rows - c
    total = a + b + c + d
    agreeing, opposed = a * d / total, b * c / total
    above, below = agreeing.sum(), opposed.sum()
    if above <= 0 or below <= 0:
        return np.zeros((len(a), 2, 2))
    common = -agreeing / total / above + opposed / total / below
    own = common - c / total / below, common + d / total / above
    other = common + a / total / above, common - b / total / below
    return _table(own, other)


def _on_parts(pair: StratifiedPair) -> tuple[FloatArray, FloatArray]:
    """Return the influences of a row on Kitagawa's parts: within strata, and by composition."""
    n, m = pair.rows, pair.reference_rows
    v, w, r, q = n / n.sum(), m / m.sum(), pair.selected / n, pair.reference_selected / m

    def influence(slope: FloatArray, level: FloatArray, rate: FloatArray, rows: FloatArray) -> tuple[FloatArray, ...]:
        """Return the influences of rows of one group, given the derivatives by its rates and by its shares."""
        of_share = (level - (rows / rows.sum() * level).sum()) / rows.sum()
        return of_share - slope * rate / rows, of_share + slope * (1 - rate) / rows

    def of(slopes: tuple[FloatArray, FloatArray], levels: tuple[FloatArray, FloatArray]) -> FloatArray:
        own = influence(slopes[0], levels[0], r, n)
        other = influence(slopes[1], levels[1], q, m)
        return _table((own[0], own[1]), (other[0], other[1]))

    within = of(((v + w) / 2, -(v + w) / 2), ((r - q) / 2, (r - q) / 2))
    return within, of(((v - w) / 2, (v - w) / 2), ((r + q) / 2, -(r + q) / 2))
