"""Performance of models by the chosen measure, with intervals, and its change against model 1.

Measures of decisions average right decisions over all rows or over the rows of each label; the AUC is about the order
of decision values, with DeLong's variance. :func:`calibrate` is Platt scaling.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fairenum.document.terms import PerformanceMeasure
from fairenum.metrics.changes import max_t_critical
from fairenum.metrics.clusters import summed_by_cluster
from fairenum.metrics.comparison import accuracy_changes, right_decisions, rightness_changes
from fairenum.metrics.counts import (
    BitArray,
    BoolArray,
    Confusion,
    Decisions,
    FloatArray,
    IntArray,
    blocks,
    confusion,
    freeze,
)
from fairenum.metrics.inference import rate_intervals
from fairenum.metrics.intervals import (
    Interval,
    Overlap,
    effective,
    normal_critical,
    paired_change,
    rate_limits,
    weighted_mean,
    wilson,
)
from fairenum.metrics.pareto import tied_ranks
from fairenum.metrics.rates import Fraction, counted, decided_performance, label_weights


@dataclass(frozen=True, slots=True)
class AucDeviations:
    """The AUC of each model, and each row's contribution to its sampling error (DeLong's structural components).

    Attributes
    ----------
    auc
        Shape (models,); NaN where one label is missing.
    parts
        Shape (models, rows), or (models, clusters) with sums over rows. For one of n favourable rows: the share of
        unfavourable rows below it, minus the AUC, over sqrt(n (n - 1)). For one of n unfavourable rows: the same with
        the share of favourable rows above it.
    fewest
        Number of rows of the rarer label; Kish's effective number where rows have weights.
    """

    auc: FloatArray
    parts: FloatArray
    fewest: float

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def variance(self) -> FloatArray:
        """DeLong's sampling variance of each AUC, shape (models,)."""
        return np.asarray((self.parts**2).sum(1))


def ranked(
    values: FloatArray, labels: BitArray, weights: FloatArray | None = None, clusters: IntArray | None = None
) -> AucDeviations:
    """Return the AUC of each model and each row's contribution to its error, given values of shape (models, rows).

    The contributions of rows of one cluster are added up.
    """
    found = _ranked(values, labels, weights)
    return found if clusters is None else replace(found, parts=summed_by_cluster(found.parts, clusters))


def _ranked(values: FloatArray, labels: BitArray, weights: FloatArray | None) -> AucDeviations:
    is_positive = labels == 1
    positives, negatives = int(is_positive.sum()), int((~is_positive).sum())
    if not positives or not negatives:
        return AucDeviations(np.full(len(values), np.nan), np.zeros(values.shape), 0)
    ranks = np.array([tied_ranks(row) for row in values])
    if weights is not None:
        return _weighted(ranks, is_positive, weights)
    above = np.array([_shares_of_others(row, is_positive) for row in ranks])
    above[:, ~is_positive] = 1.0 - above[:, ~is_positive]
    auc = above[:, is_positive].mean(1)
    # the variance among n rows is taken over n - 1
    divisor = np.where(is_positive, *(np.sqrt(n * max(n - 1, 1)) for n in (positives, negatives)))
    return AucDeviations(auc, (above - auc[:, None]) / divisor, min(positives, negatives))


def _shares_of_others(ranks: IntArray, is_positive: BoolArray) -> FloatArray:
    """Return for each row the share of rows with the other label that lie below it; ties count half."""
    shares = np.empty(len(ranks))
    for own in (is_positive, ~is_positive):
        others = np.bincount(ranks[~own], minlength=ranks.max() + 1)
        below = np.cumsum(others) - 0.5 * others
        shares[own] = below[ranks[own]] / others.sum()
    return shares


def _weighted(ranks: IntArray, is_positive: BoolArray, weights: FloatArray) -> AucDeviations:
    """Return the result of `ranked` for rows with weights, where each share of rows is a share of their weights."""
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
    return AucDeviations(auc, (above - auc[:, None]) * factor, min(kish.values()))


def _share_below(ranks: IntArray, others: IntArray, weights: FloatArray) -> FloatArray:
    """Return for each rank the share, by weight, of the other rows that lie below it; ties count half."""
    order = np.argsort(others)
    ordered, sums = others[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    ends = (sums[np.searchsorted(ordered, ranks, side=side)] for side in ("left", "right"))
    return np.asarray(sum(ends) / (2.0 * sums[-1]))


def auc(values: FloatArray, labels: BitArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the AUC of each model, given values of shape (models, rows)."""
    return ranked(values, labels, weights).auc


def auc_intervals(
    values: FloatArray,
    labels: BitArray,
    confidence: float = 0.95,
    weights: FloatArray | None = None,
    clusters: IntArray | None = None,
) -> Interval:
    """Return limits of the AUC of each model; each interval has the confidence by itself.

    They are Wilson's limits of a rate x in n trials, where x is the AUC and n makes the variance x (1 - x) / n equal to
    DeLong's. Where the rows show no variance, as when every pair is in order, n is the number of rows of the rarer
    label: no AUC has a larger variance (Birnbaum and Klose, 1957).
    """
    found = ranked(values, labels, weights, clusters)
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
    clusters: IntArray | None = None,
) -> Interval:
    """Return limits of each model's AUC minus that of model 1, with one confidence for all models together.

    `values` are decision values of shape (models, rows), model 1 first; the critical value comes from `replications`
    drawn deviations. The change is exactly 0 for model 1 alone. A model that ranks every pair as model 1 does gets the
    limits of a rate that has not changed in any row of the rarer label.
    """
    found = ranked(values, labels, weights, clusters)
    parts = found.parts - found.parts[0]
    drawn = [
        rng.standard_normal((len(range(replications)[block]), parts.shape[1])) @ parts.T
        for block in blocks(replications, parts.shape[1])
    ]
    spread, change, first = np.sqrt((parts**2).sum(1)), found.auc - found.auc[0], found.auc[0]
    critical = max_t_critical([np.concatenate(drawn)], confidence)
    # a handful of rows may all change alike, from which no variance can be estimated
    alike = np.where(change == 0.0, _unchanged(found.fewest, critical), 1.0)
    error = np.where(spread > 0.0, critical * spread, alike)
    changes = Interval(change, np.maximum(change - error, -first), np.minimum(change + error, 1.0 - first))
    return changes.where(np.arange(len(change)) > 0)


def _unchanged(rows: float, critical: float) -> float:
    """Return the upper limit, by `paired_change`, of the change of a rate that did not change in any of `rows` rows."""
    nothing = np.zeros(())
    pair = (nothing, np.asarray(float(rows)))
    return float(paired_change(pair, pair, Overlap(nothing, pair[1], nothing, nothing), critical).upper)


MOST_STEPS = 100
SMALL_STEP = 1e-10


def calibrate(values: FloatArray, labels: NDArray[np.integer], others: FloatArray) -> FloatArray:
    """Return probabilities of the favourable outcome for decision values `others`, by Platt scaling.

    P(favourable | f) = 1 / (1 + exp(-a f - b)) for a decision value f, where a and b maximise the likelihood of the
    labels. Platt's targets, (n + 1) / (n + 2) for the n favourable rows and 1 / (m + 2) for the m others, keep a and b
    finite on separable rows.

    The sigmoid is fitted on `values`, shape (models, rows), and 0/1 `labels`. These must not be the training rows, on
    which an SVM's values are pushed to the margin. `others` and the result have shape (models, other rows).
    """
    centre, spread = values.mean(1, keepdims=True), values.std(1, keepdims=True)
    spread = np.where(spread > 0.0, spread, 1.0)
    slope, offset = _fit((values - centre) / spread, _targets(labels))
    return np.asarray(expit(slope * (others - centre) / spread + offset))


def _targets(labels: NDArray[np.integer]) -> FloatArray:
    favourable = int(labels.sum())
    other = len(labels) - favourable
    return np.where(labels == 1, (favourable + 1) / (favourable + 2), 1 / (other + 2))


def _fit(values: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the slope and offset of each model's sigmoid of least log loss, by Newton's method with damped steps."""
    slope, offset = (np.zeros((len(values), 1)) for _ in range(2))
    for _ in range(MOST_STEPS):
        chance = expit(slope * values + offset)
        error, weight = chance - targets, np.maximum(chance * (1 - chance), 1e-12)
        gradient = np.stack([(error * values).sum(1), error.sum(1)], axis=-1)
        mixed = (weight * values).sum(1)
        curvature = np.stack([(weight * values**2).sum(1), mixed, mixed, weight.sum(1)], axis=-1).reshape(-1, 2, 2)
        curvature += 1e-9 * len(targets) * np.eye(2)  # values that are all alike have no slope
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        step /= 1 + np.abs(step).max(1, keepdims=True)
        slope, offset = slope - step[:, :1], offset - step[:, 1:]
        if np.abs(step).max() < SMALL_STEP:
            break
    return slope, offset


def performance(
    decisions: Decisions, values: FloatArray, measure: PerformanceMeasure, counts: Confusion | None = None
) -> FloatArray:
    """Return the performance of each model, given decisions and decision values of shape (models, rows).

    `counts`, if given, are those of the decisions, which then need not be counted again.
    """
    if measure.name == "auc":
        return auc(values, decisions.labels, decisions.weights)
    return decided_performance((counts or confusion(decisions)).overall(), measure)


def performance_intervals(
    decisions: Decisions, values: FloatArray, measure: PerformanceMeasure, confidence: float = 0.95
) -> Interval:
    """Return limits of the performance of each model; each interval has the confidence by itself."""
    if measure.name == "auc":
        return auc_intervals(values, decisions.labels, confidence, decisions.weights, decisions.clusters)
    return decided_intervals(decisions, measure, confidence)


def decided_intervals(decisions: Decisions, measure: PerformanceMeasure, confidence: float = 0.95) -> Interval:
    """Return limits of a measure that averages right decisions; each interval has the confidence by itself."""
    counts = counted(decisions).overall()
    if measure.is_pooled:
        return rate_intervals(counts, "accuracy", confidence)
    parts = rate_limits(*_effective_rightness(counts), normal_critical(confidence))
    correlation = None
    if decisions.clusters is not None:
        rightness, _ = right_decisions(decisions, measure)
        found = counted(rightness).design
        correlation = found.of_rate("selection_rate").correlation if found else None
    return weighted_mean(parts, label_weights(counts.total, measure), correlation)


def _effective_rightness(counts: Confusion) -> Fraction:
    """Return the rightly decided rows and all rows of each label, as effective numbers of rows; labels come last."""
    wrong, right = (effective(rate, counts) for rate in ("false_positive_rate", "true_positive_rate"))
    ends = ((wrong[1] - wrong[0], wrong[1]), right)
    outcomes, trials = (np.stack(np.broadcast_arrays(*part), axis=-1) for part in zip(*ends, strict=True))
    return outcomes, trials


def performance_changes(
    decisions: Decisions,
    values: FloatArray,
    measure: PerformanceMeasure,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    replications: int = 1000,
) -> Interval:
    """Return limits of each model's performance minus that of model 1, with one confidence for all models together.

    `decisions` and `values` have model 1 first, `rng` draws the bootstrap multipliers, and the result has shape
    (models,).
    """
    if measure.name == "auc":
        return auc_changes(
            values,
            decisions.labels,
            rng,
            confidence=confidence,
            replications=replications,
            weights=decisions.weights,
            clusters=decisions.clusters,
        )
    return accuracy_changes(decisions, rng, measure, confidence=confidence, replications=replications)


def performance_errors(decisions: Decisions, values: FloatArray, measure: PerformanceMeasure) -> FloatArray:
    """Return the standard error of each model's performance minus that of model 1, shape (models,)."""
    if measure.name == "auc":
        parts = ranked(values, decisions.labels, decisions.weights, decisions.clusters).parts
        return np.asarray(np.sqrt(((parts - parts[0]) ** 2).sum(1)))
    changes = rightness_changes(decisions, measure, 1.0)
    return np.asarray((changes.upper - changes.lower) / 2.0)


def row_divisors(labels: BitArray, measure: PerformanceMeasure, weights: FloatArray | None = None) -> FloatArray:
    """Return a divisor for each row, such that 1 / divisor summed over rightly decided rows is the measure."""
    counting = np.ones(len(labels)) if weights is None else weights
    if measure.is_pooled:
        return np.asarray(counting.sum() / counting)
    counts = np.bincount(labels, weights, minlength=2).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((counts / label_weights(counts, measure))[labels] / counting)
