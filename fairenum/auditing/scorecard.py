"""Scores of decisions, overall and between groups, for audits, measurements and explorations alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fairenum.document.audit_config import AuditConfig
from fairenum.document.measure_document import MeasureConfig
from fairenum.document.scores import NO_GROUPS, ChangedEstimate, ColumnScores, GapEstimate, SelectedWeights, SplitScores
from fairenum.document.terms import ACCURACY, GAPS, RATIOS, Gap, Measure, PerformanceMeasure, Ratio
from fairenum.document.value import Estimate
from fairenum.metrics import Comparison, Decisions, compare, gap_intervals, score
from fairenum.metrics.clusters import of_changes
from fairenum.metrics.counts import Confusion, FloatArray, confusion
from fairenum.metrics.impact_ratios import ratio_intervals
from fairenum.metrics.inference import rate_intervals
from fairenum.metrics.intervals import estimate, estimates
from fairenum.metrics.performance import auc_intervals, decided_intervals, performance_changes, performance_intervals
from fairenum.metrics.rates import FRACTIONS, counted
from fairenum.runtime.random_streams import stream

BALANCED = PerformanceMeasure("balanced_accuracy")
Config = AuditConfig | MeasureConfig
StreamName = tuple[str, ...]  # of random numbers; where it is None, models are not compared


def overall_estimates(decisions: Decisions, confidence: float) -> dict[Measure, list[Estimate]]:
    """Return accuracy, balanced accuracy and selection rate of each model, with pointwise confidence intervals."""
    counts = counted(decisions).overall()
    return {
        "accuracy": estimates(rate_intervals(counts, "accuracy", confidence)),
        "balanced_accuracy": estimates(decided_intervals(decisions, BALANCED, confidence)),
        "selection_rate": estimates(rate_intervals(counts, "selection_rate", confidence)),
    }


def changed_performances(
    decisions: Decisions, values: FloatArray, config: AuditConfig, name: StreamName | None
) -> tuple[list[ChangedEstimate], list[ChangedEstimate]]:
    """Return two lists, with one estimate for each model: accuracy, and performance by the chosen measure.

    Estimates have changes against the first model, unless `name`, which seeds the random numbers, is None.
    """
    accuracy, measure = _changed(decisions, values, ACCURACY, config, name), config.tolerances.measure
    return accuracy, accuracy if measure == ACCURACY else _changed(decisions, values, measure, config, name)


def _changed(
    decisions: Decisions, values: FloatArray, measure: PerformanceMeasure, config: AuditConfig, name: StreamName | None
) -> list[ChangedEstimate]:
    own = estimates(performance_intervals(decisions, values, measure, config.confidence))
    if name is None:
        return [ChangedEstimate(one.value, one.low, one.high) for one in own]
    changes = performance_changes(
        decisions,
        values,
        measure,
        stream(config.seed, *name, "performance"),
        confidence=config.confidence,
        replications=config.replications,
    )
    return [
        ChangedEstimate(one.value, one.low, one.high, change)
        for one, change in zip(own, estimates(changes), strict=True)
    ]


def gap_scores(
    decisions: Decisions, config: Config, name: StreamName | None, is_measured: Callable[[Gap], bool] = lambda _: True
) -> list[dict[str, Any]]:
    """Return for each model its gaps between the groups of one column, by name, compared with the first model.

    If `name`, which seeds the random numbers, is None, nothing is compared. A gap for which `is_measured` is false is
    empty.
    """
    scores, compared = score(decisions), decisions.compared()
    columns: dict[Gap, list[GapEstimate]] = {}
    for gap in GAPS:
        if not is_measured(gap):
            columns[gap] = [GapEstimate()] * len(decisions.predictions)
            continue
        own = estimates(gap_intervals(scores, gap, config.confidence))
        if name is None:
            columns[gap] = [GapEstimate(one.value, one.low, one.high) for one in own]
            continue
        comparison = compare(
            compared,
            gap,
            stream(config.seed, *name, gap),
            confidence=config.confidence,
            replications=config.replications,
            minimum_size=config.min_group_size,
            margin=config.same_within,
        )
        columns[gap] = _compared(own, comparison)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _compared(own: Sequence[Estimate], comparison: Comparison) -> list[GapEstimate]:
    changes = [
        change if is_comparable else Estimate(change.value)
        for change, is_comparable in zip(estimates(comparison.gap_change), comparison.is_comparable, strict=True)
    ]
    return [
        GapEstimate(one.value, one.low, one.high, change, verdict)
        for one, change, verdict in zip(own, changes, comparison.verdicts, strict=True)
    ]


def column_scores(
    decisions: Decisions,
    config: Config,
    name: StreamName | None = None,
    *,
    is_measured: Callable[[Gap | Ratio], bool] = lambda _: True,
    has_shared: bool = False,
) -> list[ColumnScores]:
    """Return each model's scores between the groups of one column.

    With a `name`, which seeds the random numbers, gaps are compared with those of the first model. With `has_shared`,
    the rows that both a model and the first one select are counted.
    """
    gaps, scores = gap_scores(decisions, config, name, is_measured), score(decisions)
    alike = decisions if decisions.weights is None else replace(decisions, weights=None)
    rows = confusion(alike).selected.astype(int)
    shared = confusion(alike.shared()).selected.astype(int) if has_shared else None
    inflated = _inflated(decisions, scores.counts)
    ratios = {
        ratio: estimates(ratio_intervals(scores, ratio, config.confidence))
        if is_measured(ratio)
        else [Estimate()] * len(rows)
        for ratio in RATIOS
    }
    return [
        ColumnScores(
            **own,
            **{ratio: found[model] for ratio, found in ratios.items()},  # type: ignore[arg-type]  # by the registry
            selected=tuple(selected.sum(-1).tolist()),
            true_positives=tuple(selected[:, 1].tolist()),
            weights=_weights(scores.counts, model),
            shared=() if shared is None else tuple(shared[model].sum(-1).tolist()),
            inflation=_inflation(inflated, model),
            correlation=_correlation(scores.counts, model),
        )
        for model, (own, selected) in enumerate(zip(gaps, rows, strict=True))
    ]


RATE_CHANGE = "selection_rate_change"


def _inflated(decisions: Decisions, counts: Confusion) -> Mapping[str, FloatArray] | None:
    """Return by rate the factors of variances where rows belong to clusters, shape (models, groups)."""
    if counts.design is None:
        return None
    changes = of_changes(decisions, FRACTIONS["selection_rate"], -1.0).factor
    return {**{rate: counts.design.of_rate(rate).factor for rate in FRACTIONS}, RATE_CHANGE: changes}


def _inflation(found: Mapping[str, FloatArray] | None, model: int) -> dict[str, tuple[float, ...]] | None:
    return None if found is None else {rate: tuple(one[model].tolist()) for rate, one in found.items()}


def _correlation(counts: Confusion, model: int) -> dict[str, tuple[float, ...]] | None:
    """Return by rate the correlations of a model's estimates in every two groups; None if clusters are in one group."""
    found = {} if counts.design is None else {rate: counts.design.of_rate(rate).correlation for rate in FRACTIONS}
    known = {rate: one[model] for rate, one in found.items() if one is not None}
    return {rate: tuple(one[np.triu_indices(len(one), 1)].tolist()) for rate, one in known.items()} or None


def _weights(counts: Confusion, model: int) -> SelectedWeights | None:
    """Return the sums of weights and squared weights of a model's selected rows, by group; None without weights."""
    if counts.squares is None:
        return None
    selected, squares = counts.selected[model], counts.squares.selected[model]
    parts = (selected[:, 0], selected[:, 1], squares[:, 0], squares[:, 1])
    return SelectedWeights(*(tuple(part.tolist()) for part in parts))


class DecidedSplit(NamedTuple):
    """The decisions of all models about one split, with the decision values behind them."""

    decisions: Decisions  # with all rows in one group
    # values, uncut: decision values with and without the threshold subtracted, shape (models, rows); NaN where only
    # decisions are known
    values: FloatArray
    uncut: FloatArray
    is_ranked: Sequence[bool]  # whether a model has values to rank rows by, and not only decisions


def split_scores(
    rows: DecidedSplit,
    columns: Mapping[str, Sequence[ColumnScores]],
    primary: str | None,
    config: AuditConfig,
    name: StreamName | None = None,
) -> list[SplitScores]:
    """Return each model's scores on one split, given its scores in every sensitive column."""
    decisions, values = rows.decisions, rows.values
    accuracy, performance = changed_performances(decisions, values, config, name)
    overall = overall_estimates(decisions, config.confidence)
    aucs = estimates(auc_intervals(values, decisions.labels, config.confidence, decisions.weights, decisions.clusters))
    losses = score(decisions, decision_values=rows.uncut).overall.hinge_loss
    scores = []
    for model, is_ranked in enumerate(rows.is_ranked):
        by_column = {column: found[model] for column, found in columns.items()}
        between_groups = by_column[primary].between_groups if primary else NO_GROUPS
        scores.append(
            SplitScores(
                **between_groups,
                rows=len(decisions.labels),
                accuracy=accuracy[model],
                balanced_accuracy=overall["balanced_accuracy"][model],
                selection_rate=overall["selection_rate"][model],
                hinge_loss=Estimate() if losses is None else estimate(losses[model]),
                by_column=by_column,
                auc=aucs[model] if is_ranked else Estimate(),
                performance=performance[model],
            )
        )
    return scores
