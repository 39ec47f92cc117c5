"""Rates of all models in all groups at once, and the gaps between the groups.

A rate with nothing to divide by (the true positive rate of a group without positives) is undefined and NaN, where
fairlearn says 0. A gap is between the compared groups whose rate is defined; :func:`undefined_groups` marks the other
compared groups, and groups that are excluded from comparison are ignored. The gap is NaN where fewer than two of
several groups have a rate, and 0 where there is only one group. A ratio is NaN when all rates are 0. Wherever every
rate is defined, the gaps are fairlearn's on the rows of the compared groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from fairenum.document import terms
from fairenum.document.metric_registry import BASE_RATE, METRICS, ComparedRate, Rows, metric_of
from fairenum.document.terms import RATES, Gap, PerformanceMeasure, Ratio
from fairenum.errors import DataError
from fairenum.metrics.clusters import design
from fairenum.metrics.counts import (
    BitArray,
    BoolArray,
    Confusion,
    Decisions,
    FloatArray,
    blocks,
    cell_sums,
    checked_weights,
    confusion,
    freeze,
)
from fairenum.tables.groups import Groups

Fraction = tuple[FloatArray, FloatArray]
Rate = terms.Rate
GAP_RATES = terms.GAP_RATES


def _fraction(rate: ComparedRate, counts: Confusion) -> Fraction:
    """Return the outcomes and the trials of a rate, from counts that have the labels on the last axis."""
    total, selected = ((part[..., 0], part[..., 1]) for part in (counts.total, counts.selected))
    return rate.fraction(total, selected)


# Every rate is a share of rows: outcomes among trials.
FRACTIONS: Mapping[Rate, Callable[[Confusion], Fraction]] = {
    **{name: partial(_fraction, rate) for name, rate in RATES.items()},
    "accuracy": lambda c: (c.selected[..., 1] + c.total[..., 0] - c.selected[..., 0], c.total.sum(-1)),
    BASE_RATE.key: lambda c: (np.broadcast_to(c.total, c.selected.shape)[..., 1], c.total.sum(-1)),
}


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of each model in each group, shape (models, groups), or over all rows, shape (models,).

    Attributes
    ----------
    count
        Sum of the rows' weights, shape (groups,) or ().
    shares
        The rates of the registry by name; each is also an attribute of that name.
    hinge_loss
        Mean hinge loss of the rows; None where no decision values were given.
    """

    count: FloatArray
    accuracy: FloatArray
    balanced_accuracy: FloatArray
    error: FloatArray
    shares: Mapping[Rate, FloatArray]
    hinge_loss: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze(self)

    def __getattr__(self, name: str) -> FloatArray:
        """Return a rate by its name."""
        if name in RATES:
            return self.shares[name]
        raise AttributeError(f"there is no rate {name!r}; there are {', '.join(RATES)}")


@dataclass(frozen=True, slots=True)
class Gaps:
    """Gaps between the groups of each model, shape (models,), under fairlearn's names where fairlearn has them.

    Attributes
    ----------
    distances
        The gaps and ratios of the registry by name; each is also an attribute of that name.
    """

    distances: Mapping[Gap | Ratio, FloatArray]

    def __post_init__(self) -> None:
        freeze(self)

    def __getattr__(self, name: str) -> FloatArray:
        """Return a gap or a ratio by its name."""
        if metric_of(name):
            return self.distances[name]
        raise AttributeError(f"there is no gap {name!r}; there are {', '.join(self.distances)}")


@dataclass(frozen=True, slots=True)
class Scores:
    """Rates and gaps of all models on one set of rows.

    Attributes
    ----------
    counts
        The counts that rates were computed from.
    by_group, overall
        Rates in each group and over all rows.
    is_constant
        Models that decide all rows of the compared groups alike, and have no gap for that reason alone.
    """

    groups: Groups
    counts: Confusion
    by_group: Rates
    overall: Rates
    gaps: Gaps
    is_constant: BoolArray

    def __post_init__(self) -> None:
        freeze(self)


def score(
    decisions: Decisions, *, weights: ArrayLike | None = None, decision_values: ArrayLike | None = None
) -> Scores:
    """Return the rates and gaps of all models.

    `weights` replace the rows' own weights; `decision_values`, signed distances from the decision boundary of shape
    (models, rows), add the hinge loss.
    """
    rows = len(decisions.labels)
    own = np.ones(rows) if decisions.weights is None else decisions.weights
    row_weights = own if weights is None else checked_weights(weights, rows)
    counts = counted(decisions) if weights is None else confusion(decisions, row_weights)
    losses = None if decision_values is None else _hinge_losses(decision_values, decisions, row_weights)
    return scored(decisions.groups, counts, decisions.is_constant, losses)


def counted(decisions: Decisions) -> Confusion:
    """Return the counts of rows by group and label, with the factors of variances where rows belong to clusters."""
    counts = confusion(decisions)
    return counts if decisions.clusters is None else replace(counts, design=design(decisions, FRACTIONS))


def scored(groups: Groups, counts: Confusion, is_constant: BoolArray, losses: FloatArray | None = None) -> Scores:
    """Return rates and gaps, given counts by group in the order of ``groups.names``.

    The counts may be of other rows than those of `groups`. `is_constant` marks models that decide all rows of the
    compared groups alike, `losses` are sums of hinge losses of shape (models, groups), if they are known.
    """
    by_group = _rates(counts, losses)
    overall = _rates(counts.overall(), None if losses is None else losses.sum(-1))
    return Scores(groups, counts, by_group, overall, _gaps(by_group, groups.compared), is_constant)


def undefined_groups(rates: Rates, gap: Gap) -> BoolArray:
    """Return a mask of the groups with an undefined rate, which a model's gap leaves out, shape (models, groups).

    Groups without rows are not marked.
    """
    undefined = np.isnan([getattr(rates, rate) for rate in GAP_RATES[gap]]).any(0)
    return np.asarray(undefined & (rates.count > 0))


def fairlearn_metrics(decisions: Decisions) -> Gaps:
    """Return the gaps of a few models as fairlearn computes them, as a reference; slow.

    Rows of groups that are excluded from comparison are left out. A gap is NaN where a group's rate is undefined, which
    fairlearn would count as 0.
    """
    decisions = decisions.compared()
    by_group = score(decisions).by_group
    models = [_fairlearn_gaps(decisions, model) for model in decisions.predictions]
    values = {name: np.array([one[name] for one in models]) for name in models[0]}
    for metric in METRICS:
        is_undefined = undefined_groups(by_group, metric.key).any(1)
        values |= {name: np.where(is_undefined, np.nan, values[name]) for name in metric.measures}
    return Gaps(values)


def _reference(rate: ComparedRate) -> Callable[..., float]:
    """Return fairlearn's or scikit-learn's function for a rate, or one of our own if they have none."""
    import fairlearn.metrics
    import sklearn.metrics

    if found := getattr(fairlearn.metrics, rate.key, None):
        return cast(Callable[..., float], found)
    found = getattr(sklearn.metrics, f"{rate.key}_score", None)
    return partial(found, zero_division=0) if found else partial(_average, rate)


def _average(rate: ComparedRate, labels: FloatArray, decided: FloatArray, sample_weight: FloatArray) -> float:
    """Return the weighted share of outcomes among the trials of a rate, computed row by row."""
    tried, reached = (_among(rows, labels, decided) * sample_weight for rows in (rate.trials, rate.outcome))
    return float((tried * (reached > 0)).sum() / tried.sum()) if tried.any() else 0.0


def _among(rows: Rows, labels: FloatArray, decided: FloatArray) -> BoolArray:
    has_label = np.ones(len(labels), np.bool_) if rows.label is None else np.asarray(labels) == rows.label
    return has_label & (np.asarray(decided) == rows.is_selected) if rows.is_selected is not None else has_label


def _fairlearn_gaps(decisions: Decisions, model: BitArray) -> dict[Gap | Ratio, float]:
    """Return the gaps and ratios of one model as fairlearn computes them."""
    from fairlearn import metrics

    rates = {rate.key: _reference(rate) for rate in RATES.values()}
    # rows of equal group, label and decision are merged: fairlearn takes seconds for a hundred thousand rows
    kinds = 4 * decisions.groups.codes + 2 * decisions.labels + model
    found, counts = np.unique(kinds), np.bincount(kinds, decisions.weights).astype(np.float64)
    # a bare array of a single row would be refused
    features, counting = {"group": found // 4}, {"sample_weight": counts[found]}
    frame = metrics.MetricFrame(
        metrics=rates,
        y_true=found // 2 % 2,
        y_pred=found % 2,
        sensitive_features=features,
        sample_params=dict.fromkeys(rates, counting),
    )
    apart, ratio = frame.difference(), frame.ratio()
    gaps = {gap: max(apart[rate] for rate in rates) for gap, rates in GAP_RATES.items()}
    return gaps | {one.ratio: min(ratio[rate] for rate in GAP_RATES[one.key]) for one in METRICS if one.ratio}


def share(outcomes: FloatArray, trials: FloatArray) -> FloatArray:
    """Return outcomes / trials, NaN for 0 / 0."""
    with np.errstate(invalid="ignore"):
        return outcomes / trials


def rightness(counts: Confusion) -> Fraction:
    """Return the number of rightly decided rows and of all rows of each label; labels are the last axis."""
    selected, total = np.broadcast_arrays(counts.selected, counts.total)
    return np.stack([total[..., 0] - selected[..., 0], selected[..., 1]], axis=-1), total


def label_weights(totals: FloatArray, measure: PerformanceMeasure) -> FloatArray:
    """Return the weight of each label in a performance measure, given the rows of each label on the last axis.

    Weights add up to 1.
    """
    if measure.name == "balanced_accuracy":
        return np.full(np.shape(totals), 0.5)
    costs = totals if measure.is_pooled else totals * np.array([measure.false_positive, measure.false_negative])
    return share(costs, costs.sum(-1, keepdims=True))


def decided_performance(counts: Confusion, measure: PerformanceMeasure) -> FloatArray:
    """Return the average of right decisions, given counts over all rows; NaN where a label that counts has no rows."""
    if measure.is_pooled:
        return share(*FRACTIONS["accuracy"](counts))
    weights, rates = label_weights(counts.total, measure), share(*rightness(counts))
    return np.asarray(np.where(weights > 0.0, weights * rates, 0.0).sum(-1))


def _rates(counts: Confusion, losses: FloatArray | None) -> Rates:
    rate = {name: share(*fraction(counts)) for name, fraction in FRACTIONS.items()}
    total = counts.total.sum(-1)
    return Rates(
        count=total[0],
        error=1 - rate["accuracy"],
        balanced_accuracy=(rate["true_positive_rate"] + 1 - rate["false_positive_rate"]) / 2,
        hinge_loss=None if losses is None else share(losses, total),
        accuracy=rate["accuracy"],
        shares={name: rate[name] for name in RATES},
    )


def _hinge_losses(decision_values: ArrayLike, decisions: Decisions, weights: FloatArray) -> FloatArray:
    """Return the sum of max(0, 1 - y f(x)) over each group's rows, for labels y = -1 or 1 and decision values f."""
    values, shape = np.asarray(decision_values, dtype=np.float64), decisions.predictions.shape
    if values.shape != shape:
        raise DataError(f"decision values must have the shape {shape}, got {values.shape}")
    sign = 2.0 * decisions.labels - 1
    sums = np.zeros((len(values), len(decisions.groups.names)))
    for models in blocks(*shape):
        losses = np.maximum(0, 1 - sign * values[models])
        sums[models] = cell_sums(losses, decisions, weights).sum(-1)
    return sums


def _gaps(rates: Rates, compared: BoolArray) -> Gaps:
    present = int(np.count_nonzero(rates.count[compared]))
    spreads = {name: spread(rate[:, compared], present) for name, rate in rates.shares.items()}
    distances: dict[Gap | Ratio, FloatArray] = {}
    for metric in METRICS:
        apart, ratios = zip(*(spreads[rate.key] for rate in metric.rates), strict=True)
        distances[metric.key] = widest = np.max(apart, axis=0)
        if metric.ratio:
            # a rate of 0 in all groups has no ratio, and is no disparity either
            distances[metric.ratio] = np.where(np.isnan(widest), np.nan, np.fmin.reduce(ratios, axis=0))
    return Gaps(distances)


def spread(rate: FloatArray, present: int) -> tuple[FloatArray, FloatArray]:
    """Return largest - smallest and smallest / largest rate over the groups where the rate is defined.

    Both are NaN if it is defined in fewer than two groups, unless only one group is `present` (has rows).
    """
    largest, smallest = np.fmax.reduce(rate, axis=-1), np.fmin.reduce(rate, axis=-1)
    known = np.count_nonzero(~np.isnan(rate), axis=-1) >= min(2, present)
    return np.where(known, largest - smallest, np.nan), np.where(known, share(smallest, largest), np.nan)
