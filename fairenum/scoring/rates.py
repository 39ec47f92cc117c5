"""Rates of all models in all groups at once, and the gaps between the groups.

A rate with nothing to divide by (the true positive rate of a group without positives) is undefined, and NaN
says so, where fairlearn says 0. A gap spans the compared groups that have a rate; :func:`undefined_groups` names
those that have none, and groups that are set aside have no part in it. The gap is NaN where fewer than two of
several groups have a rate, and 0 where there is but one group. A ratio is NaN when all rates are 0. Wherever every
rate is defined, the gaps are fairlearn's on the rows of the compared groups.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from fairenum.dataset.groups import Groups
from fairenum.document import terms
from fairenum.document.performance import PerformanceMeasure
from fairenum.document.terms import Gap
from fairenum.errors import DataError
from fairenum.scoring.counts import (
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

Fraction = tuple[FloatArray, FloatArray]
Rate = terms.Rate
GAP_RATES = terms.GAP_RATES

FRACTIONS: Mapping[Rate, Callable[[Confusion], Fraction]] = {
    "selection_rate": lambda c: (c.selected.sum(-1), c.total.sum(-1)),
    "true_positive_rate": lambda c: (c.selected[..., 1], c.total[..., 1]),
    "false_positive_rate": lambda c: (c.selected[..., 0], c.total[..., 0]),
    "precision": lambda c: (c.selected[..., 1], c.selected.sum(-1)),
    "accuracy": lambda c: (c.selected[..., 1] + c.total[..., 0] - c.selected[..., 0], c.total.sum(-1)),
}
"""Every rate is a share of rows: how many, out of how many."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What each model does in each group, shape (models, groups), or to all rows, shape (models,).

    Attributes
    ----------
    count
        Weight of the rows, shape (groups,) or ().
    hinge_loss
        None where no decision values were given.
    """

    count: FloatArray
    selection_rate: FloatArray
    accuracy: FloatArray
    balanced_accuracy: FloatArray
    error: FloatArray
    true_positive_rate: FloatArray
    false_positive_rate: FloatArray
    precision: FloatArray
    hinge_loss: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True)
class Gaps:
    """How far the groups of each model lie apart, shape (models,); the names are fairlearn's."""

    demographic_parity_difference: FloatArray
    demographic_parity_ratio: FloatArray
    equal_opportunity_difference: FloatArray
    equal_opportunity_ratio: FloatArray
    equalized_odds_difference: FloatArray
    equalized_odds_ratio: FloatArray
    predictive_parity_difference: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True)
class Scores:
    """All models scored on one set of rows.

    Attributes
    ----------
    groups
        The group of each row.
    counts
        What the rates were computed from.
    by_group, overall
        The rates in each group and over all rows.
    gaps
        The distances between the groups.
    is_constant
        Models that decide all rows alike, and have no gap for that reason alone.
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
    """Score all models in all groups.

    Parameters
    ----------
    decisions
        Of all models.
    weights
        What a row counts in the place of its own weight, which is 1 where it has none.
    decision_values
        Signed distances from the decision boundary, shape (models, rows), for the hinge loss.

    Returns
    -------
    Scores
    """
    rows = len(decisions.labels)
    own = np.ones(rows) if decisions.weights is None else decisions.weights
    row_weights = own if weights is None else checked_weights(weights, rows)
    counts = confusion(decisions, None if weights is None else row_weights)
    losses = None if decision_values is None else _hinge_losses(decision_values, decisions, row_weights)
    return scored(decisions.groups, counts, decisions.is_constant, losses)


def scored(groups: Groups, counts: Confusion, is_constant: BoolArray, losses: FloatArray | None = None) -> Scores:
    """Score models of which only counts are known, in the order of the groups' names; rows may be others than theirs.

    `is_constant` marks models that decide all rows of the compared groups alike, `losses` are sums of hinge losses of
    shape (models, groups), if they are known.
    """
    by_group = _rates(counts, losses)
    overall = _rates(counts.overall(), None if losses is None else losses.sum(-1))
    return Scores(groups, counts, by_group, overall, _gaps(by_group, groups.compared), is_constant)


def undefined_groups(rates: Rates, gap: Gap) -> BoolArray:
    """Mark the groups that a model's gap leaves out, because a rate of theirs is undefined.

    Parameters
    ----------
    rates
        Rates by group.
    gap
        One of the four differences.

    Returns
    -------
    BoolArray
        Shape (models, groups); groups without rows are not marked.
    """
    undefined = np.isnan([getattr(rates, rate) for rate in GAP_RATES[gap]]).any(0)
    return np.asarray(undefined & (rates.count > 0))


def fairlearn_metrics(decisions: Decisions) -> Gaps:
    """Compute the gaps of a few models with fairlearn, the reference; one by one, and slowly.

    Parameters
    ----------
    decisions
        Of these models. Rows of groups that are set aside are not shown to fairlearn.

    Returns
    -------
    Gaps
        NaN where a group's rate is undefined, which fairlearn would count as 0.
    """
    decisions = decisions.compared()
    by_group, names = score(decisions).by_group, [field.name for field in fields(Gaps)]
    values = np.array([_fairlearn_gaps(decisions, model) for model in decisions.predictions]).T
    for row, name in zip(values, names, strict=True):
        row[undefined_groups(by_group, cast(Gap, name.replace("ratio", "difference"))).any(1)] = np.nan
    return Gaps(*values)


def _fairlearn_gaps(decisions: Decisions, model: BitArray) -> tuple[float, ...]:
    """Let fairlearn compute the gaps of one model, in the order of `Gaps`."""
    from fairlearn import metrics
    from sklearn.metrics import precision_score

    rates = {
        "selected": metrics.selection_rate,
        "found": metrics.true_positive_rate,
        "false": metrics.false_positive_rate,
        "right": partial(precision_score, zero_division=0),
    }
    # rows that are alike to it are one that counts as all of them: it takes seconds for a hundred thousand rows
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
    parity, opportunity = (apart["selected"], ratio["selected"]), (apart["found"], ratio["found"])
    odds = max(apart["found"], apart["false"]), min(ratio["found"], ratio["false"])
    return (*parity, *opportunity, *odds, apart["right"])


def share(outcomes: FloatArray, trials: FloatArray) -> FloatArray:
    """Divide, and let 0 / 0 be NaN."""
    with np.errstate(invalid="ignore"):
        return outcomes / trials


def rightness(counts: Confusion) -> Fraction:
    """Return how many rows of each label are decided rightly, out of how many; the last axis is the label."""
    selected, total = np.broadcast_arrays(counts.selected, counts.total)
    return np.stack([total[..., 0] - selected[..., 0], selected[..., 1]], axis=-1), total


def label_weights(totals: FloatArray, measure: PerformanceMeasure) -> FloatArray:
    """Return what each label counts in a measure of decisions, given its rows on the last axis; they sum to 1."""
    if measure.name == "balanced_accuracy":
        return np.full(np.shape(totals), 0.5)
    costs = totals if measure.is_pooled else totals * np.array([measure.false_positive, measure.false_negative])
    return share(costs, costs.sum(-1, keepdims=True))


def decided_performance(counts: Confusion, measure: PerformanceMeasure) -> FloatArray:
    """Average what is decided rightly, given the counts over all rows; NaN where a label that counts has no rows."""
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
        **rate,
    )


def _hinge_losses(decision_values: ArrayLike, decisions: Decisions, weights: FloatArray) -> FloatArray:
    """Sum max(0, 1 - y f(x)) over each group, with y = -1 or 1."""
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
    parity = spread(rates.selection_rate[:, compared], present)
    opportunity = spread(rates.true_positive_rate[:, compared], present)
    alarm = spread(rates.false_positive_rate[:, compared], present)
    odds = np.maximum(opportunity[0], alarm[0])
    # a rate of 0 in all groups has no ratio, and is no disparity either
    odds_ratio = np.where(np.isnan(odds), np.nan, np.fmin(opportunity[1], alarm[1]))
    return Gaps(*parity, *opportunity, odds, odds_ratio, spread(rates.precision[:, compared], present)[0])


def spread(rate: FloatArray, present: int) -> tuple[FloatArray, FloatArray]:
    """Take largest - smallest and smallest / largest over the groups where the rate is defined."""
    largest, smallest = np.fmax.reduce(rate, axis=-1), np.fmin.reduce(rate, axis=-1)
    known = np.count_nonzero(~np.isnan(rate), axis=-1) >= min(2, present)
    return np.where(known, largest - smallest, np.nan), np.where(known, share(smallest, largest), np.nan)
