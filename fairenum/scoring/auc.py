"""How well models rank: the area under the ROC curve, its limits, and its change against model 1.

The AUC is the share of pairs of a favourable and an unfavourable row whose decision values are in this order, ties
counting half; what only rounding tells apart is tied. What each row adds to its deviation (DeLong, DeLong and
Clarke-Pearson, 1988) gives variances, and covariances between models that rank the same rows. Where rows count
differently, a pair counts the product of what its rows do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.scoring.counts import BitArray, BoolArray, FloatArray, IntArray, blocks, freeze
from fairenum.scoring.deviations import max_t_critical
from fairenum.scoring.intervals import Interval, normal_critical, wilson
from fairenum.scoring.paired import Overlap, paired_change
from fairenum.scoring.ties import tied_ranks


@dataclass(frozen=True, slots=True)
class Ranked:
    """The AUC of each model, shape (models,), and what each row adds to its deviation, shape (models, rows).

    Attributes
    ----------
    auc
        NaN where one label is missing.
    parts
        For a favourable row the share of unfavourable ones below it, minus the AUC, over the number of favourable
        rows; for an unfavourable row likewise.
    fewest
        Rows of the rarer label; Kish's number of them where they count differently.
    """

    auc: FloatArray
    parts: FloatArray
    fewest: float

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def variance(self) -> FloatArray:
        """The variance of each AUC."""
        return np.asarray((self.parts**2).sum(1))


def ranked(values: FloatArray, labels: BitArray, weights: FloatArray | None = None) -> Ranked:
    """Rank rows by the decision values of each model, shape (models, rows), and hold the ranks against the labels."""
    is_positive = labels == 1
    positives, negatives = int(is_positive.sum()), int((~is_positive).sum())
    if not positives or not negatives:
        return Ranked(np.full(len(values), np.nan), np.zeros(values.shape), 0)
    ranks = np.array([tied_ranks(row) for row in values])
    if weights is not None:
        return _weighted(ranks, is_positive, weights)
    above = np.array([_shares_of_others(row, is_positive) for row in ranks])
    above[:, ~is_positive] = 1.0 - above[:, ~is_positive]
    auc = above[:, is_positive].mean(1)
    # the variance among n rows is taken over n - 1
    divisor = np.where(is_positive, *(np.sqrt(n * max(n - 1, 1)) for n in (positives, negatives)))
    return Ranked(auc, (above - auc[:, None]) / divisor, min(positives, negatives))


def _shares_of_others(ranks: IntArray, is_positive: BoolArray) -> FloatArray:
    """Return for each row the share of the rows of the other label that lie below it; ties count half."""
    shares = np.empty(len(ranks))
    for own in (is_positive, ~is_positive):
        others = np.bincount(ranks[~own], minlength=ranks.max() + 1)
        below = np.cumsum(others) - 0.5 * others
        shares[own] = below[ranks[own]] / others.sum()
    return shares


def _weighted(ranks: IntArray, is_positive: BoolArray, weights: FloatArray) -> Ranked:
    """Rank rows that count differently: each against the share of what the rows of the other label count."""
    above = np.empty(ranks.shape)
    totals, sizes, kish = {}, {}, {}
    for label in (True, False):
        own, others = is_positive == label, is_positive != label
        for model, row in enumerate(ranks):
            below = _share_below(row[own], row[others], weights[others])
            above[model, own] = below if label else 1.0 - below
        totals[label], sizes[label] = float(weights[own].sum()), int(own.sum())
        kish[label] = totals[label] ** 2 / float((weights[own] ** 2).sum())
    auc = (above[:, is_positive] @ weights[is_positive]) / totals[True]
    scale = {label: np.sqrt(n / max(n - 1, 1)) / totals[label] for label, n in sizes.items()}
    factor = weights * np.where(is_positive, scale[True], scale[False])
    return Ranked(auc, (above - auc[:, None]) * factor, min(kish.values()))


def _share_below(ranks: IntArray, others: IntArray, weights: FloatArray) -> FloatArray:
    """Return the share of the others, by weight, that lie below each rank; ties count half."""
    order = np.argsort(others)
    ordered, sums = others[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    ends = (sums[np.searchsorted(ordered, ranks, side=side)] for side in ("left", "right"))
    return np.asarray(sum(ends) / (2.0 * sums[-1]))


def auc(values: FloatArray, labels: BitArray, weights: FloatArray | None = None) -> FloatArray:
    """Measure the AUC of each model."""
    return ranked(values, labels, weights).auc


def auc_intervals(
    values: FloatArray, labels: BitArray, confidence: float = 0.95, weights: FloatArray | None = None
) -> Interval:
    """Bound the AUC of each model, one by one.

    Wilson's interval of a rate that has the same variance: x (1 - x) over the number of rows that would give it. Where
    the rows show no variance at all, as they do when every pair is in order, that number is the rows of the rarer
    label: no AUC has a larger variance (Birnbaum and Klose, 1957).
    """
    found = ranked(values, labels, weights)
    spread = found.auc * (1.0 - found.auc)
    varies = (found.variance > 0.0) & (spread > 0.0)
    rows = np.divide(spread, found.variance, out=np.full(len(spread), float(found.fewest)), where=varies)
    return wilson(np.nan_to_num(found.auc) * rows, rows, normal_critical(confidence))


def auc_changes(
    values: FloatArray,
    labels: BitArray,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    replications: int = 1000,
    weights: FloatArray | None = None,
) -> Interval:
    """Bound the AUC of each model minus that of model 1, for all models together.

    Parameters
    ----------
    values, labels
        Decision values, shape (models, rows), model 1 first, and 0/1 labels.
    rng
        Source of the deviations that the limits cover.
    confidence
        With which all intervals hold together.
    replications
        How many deviations are drawn.
    weights
        What each row counts; alike if not given.

    Returns
    -------
    Interval
        Shape (models,); exactly 0 for model 1 alone. Of a model that ranks every pair as model 1 does, it is known as
        well as of a rate that has not changed in any row of the rarer label.
    """
    found = ranked(values, labels, weights)
    parts = found.parts - found.parts[0]
    drawn = [
        rng.standard_normal((len(range(replications)[block]), len(labels))) @ parts.T
        for block in blocks(replications, len(labels))
    ]
    spread, change, first = np.sqrt((parts**2).sum(1)), found.auc - found.auc[0], found.auc[0]
    critical = max_t_critical([np.concatenate(drawn)], confidence)
    # a handful of rows may all change alike, which tells nothing of how others would
    alike = np.where(change == 0.0, _unchanged(found.fewest, critical), 1.0)
    error = np.where(spread > 0.0, critical * spread, alike)
    changes = Interval(change, np.maximum(change - error, -first), np.minimum(change + error, 1.0 - first))
    return changes.where(np.arange(len(change)) > 0)


def _unchanged(rows: float, critical: float) -> float:
    """Return how far a rate may change that has not changed in so many rows (see :mod:`~fairenum.scoring.paired`)."""
    nothing = np.zeros(())
    pair = (nothing, np.asarray(float(rows)))
    return float(paired_change(pair, pair, Overlap(nothing, pair[1], nothing, nothing), critical).upper)
