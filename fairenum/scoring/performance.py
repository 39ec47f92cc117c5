"""How well models perform by the measure that was chosen, and how that changes against model 1.

Measures of decisions are averages of what is decided rightly, over all rows or over the rows of each label; the AUC is
about the order of decision values.
"""

from __future__ import annotations

import numpy as np

from fairenum.document.performance import PerformanceMeasure
from fairenum.scoring.auc import auc, auc_changes, auc_intervals
from fairenum.scoring.comparison import accuracy_changes
from fairenum.scoring.counts import BitArray, Confusion, Decisions, FloatArray, confusion
from fairenum.scoring.effective import effective
from fairenum.scoring.inference import rate_intervals
from fairenum.scoring.intervals import Interval, normal_critical, rate_limits, weighted_mean
from fairenum.scoring.rates import decided_performance, label_weights, rightness


def performance(
    decisions: Decisions, values: FloatArray, measure: PerformanceMeasure, counts: Confusion | None = None
) -> FloatArray:
    """Measure the performance of all models, given their decisions and decision values, both of (models, rows).

    Where the decisions have been counted already, the counts save doing so again.
    """
    if measure.name == "auc":
        return auc(values, decisions.labels, decisions.weights)
    return decided_performance((counts or confusion(decisions)).overall(), measure)


def performance_intervals(
    decisions: Decisions, values: FloatArray, measure: PerformanceMeasure, confidence: float = 0.95
) -> Interval:
    """Bound the performance of each model, one by one."""
    if measure.name == "auc":
        return auc_intervals(values, decisions.labels, confidence, decisions.weights)
    return decided_intervals(confusion(decisions).overall(), measure, confidence)


def decided_intervals(counts: Confusion, measure: PerformanceMeasure, confidence: float = 0.95) -> Interval:
    """Bound what is decided rightly, given the counts over all rows; the rows of the two labels are different ones."""
    if measure.is_pooled:
        return rate_intervals(counts, "accuracy", confidence)
    parts = rate_limits(*effective(rightness, counts), normal_critical(confidence))
    return weighted_mean(parts, label_weights(counts.total, measure))


def performance_changes(
    decisions: Decisions,
    values: FloatArray,
    measure: PerformanceMeasure,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    replications: int = 1000,
) -> Interval:
    """Bound the performance of each model minus that of model 1, for all models together.

    Parameters
    ----------
    decisions, values
        Decisions and decision values of all models, model 1 first.
    measure
        What counts as performance.
    rng
        Source of the bootstrap weights.
    confidence
        With which all intervals hold together.
    replications
        Bootstrap replications.

    Returns
    -------
    Interval
        Shape (models,).
    """
    if measure.name == "auc":
        return auc_changes(
            values,
            decisions.labels,
            rng,
            confidence=confidence,
            replications=replications,
            weights=decisions.weights,
        )
    return accuracy_changes(decisions, rng, measure, confidence=confidence, replications=replications)


def row_divisors(labels: BitArray, measure: PerformanceMeasure, weights: FloatArray | None = None) -> FloatArray:
    """Return by what the rightness of each row is divided in the sum that is a measure of decisions."""
    counting = np.ones(len(labels)) if weights is None else weights
    if measure.is_pooled:
        return np.asarray(counting.sum() / counting)
    counts = np.bincount(labels, weights, minlength=2).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((counts / label_weights(counts, measure))[labels] / counting)
