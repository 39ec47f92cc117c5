"""SplitScores of all models on one split, as values of the document."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import numpy as np
from msgspec.structs import asdict

from fairenum.auditing.lineup import Lineup
from fairenum.document.audit_config import AuditConfig
from fairenum.document.performance import ACCURACY, PerformanceMeasure
from fairenum.document.scores import (
    ChangedEstimate,
    ColumnScores,
    GapEstimate,
    GapScores,
    GroupScores,
    SelectedWeights,
    SplitScores,
)
from fairenum.document.terms import Origin, Part, Ratio
from fairenum.document.value import Estimate
from fairenum.experiment import PARTS
from fairenum.problem import FloatArray
from fairenum.scoring import Decisions, Gap, compare, gap_intervals, score
from fairenum.scoring.auc import auc_intervals
from fairenum.scoring.counts import Confusion, confusion
from fairenum.scoring.estimates import estimate, estimates
from fairenum.scoring.inference import rate_intervals
from fairenum.scoring.performance import decided_intervals, performance_changes, performance_intervals
from fairenum.scoring.ratios import ratio_intervals

GAPS: tuple[Gap, ...] = get_args(Gap)
RATIOS: tuple[Ratio, ...] = get_args(Ratio)
BALANCED = PerformanceMeasure("balanced_accuracy")
SEARCHED: tuple[Origin, ...] = ("guided", "tilted", "steered")


# What a model without groups to compare has for gaps and ratios.
UNDEFINED = GroupScores(*[GapEstimate()] * len(GAPS), *[Estimate()] * len(RATIOS))


def changed_performances(
    decisions: Decisions, values: FloatArray, place: tuple[int, ...], config: AuditConfig
) -> tuple[list[ChangedEstimate], list[ChangedEstimate]]:
    """Return accuracy, and performance by the measure that models are chosen by, with changes against the reference."""
    accuracy, measure = _changed(decisions, values, ACCURACY, place, config), config.tolerances.measure
    return accuracy, accuracy if measure == ACCURACY else _changed(decisions, values, measure, place, config)


def _changed(
    decisions: Decisions, values: FloatArray, measure: PerformanceMeasure, place: tuple[int, ...], config: AuditConfig
) -> list[ChangedEstimate]:
    own = estimates(performance_intervals(decisions, values, measure, config.confidence))
    changes = performance_changes(
        decisions,
        values,
        measure,
        stream(config, *place),
        confidence=config.confidence,
        replications=config.replications,
    )
    return [
        ChangedEstimate(one.value, one.low, one.high, change)
        for one, change in zip(own, estimates(changes), strict=True)
    ]


def score_part(lineup: Lineup, part: Part, config: AuditConfig) -> list[SplitScores]:
    """Score all of a lineup on one split: overall, and between the groups of every sensitive column.

    Models that were searched for on the selection split get no verdicts there.
    """
    place, division = PARTS.index(part), lineup.division
    decisions, values = lineup.decisions(part, None), lineup.values(part)
    counts = score(decisions).counts.overall()
    accuracy, performance = changed_performances(decisions, values, (place,), config)
    balanced = estimates(decided_intervals(counts, BALANCED, config.confidence))
    ranked = estimates(auc_intervals(values, decisions.labels, config.confidence, decisions.weights))
    selected = estimates(rate_intervals(counts, "selection_rate", config.confidence))
    losses = score(decisions, decision_values=lineup.uncut(part)).overall.hinge_loss
    columns = {
        groups.column: scored_columns(lineup.decisions(part, groups.column), (place, number), config)
        for number, groups in enumerate(division.columns)
    }
    scores = []
    for model, origin in enumerate(lineup.origins):
        by_column = {column: found[model] for column, found in columns.items()}
        if origin in SEARCHED and part == "selection":
            by_column = {column: _without_verdicts(found) for column, found in by_column.items()}
        primary = by_column[division.column] if division.column else UNDEFINED
        scores.append(
            SplitScores(
                **{name: getattr(primary, name) for name in GroupScores.__struct_fields__},
                rows=len(decisions.labels),
                accuracy=accuracy[model],
                balanced_accuracy=balanced[model],
                selection_rate=selected[model],
                hinge_loss=estimate(math.nan if losses is None else losses[model]),
                by_column=by_column,
                auc=ranked[model] if lineup.is_ranked(model) else Estimate(),
                performance=performance[model],
            )
        )
    return scores


def _without_verdicts(scores: ColumnScores) -> ColumnScores:
    """Return scores that claim nothing: those of a model that was searched for on the rows it is scored on."""
    return scores.but(**{gap: scores.gap(gap).but(verdict=None) for gap in GAPS})


def stream(config: AuditConfig, *place: int) -> np.random.Generator:
    """Open the stream of random numbers of one place in the audit, whatever the other places draw."""
    return np.random.default_rng([config.seed, *place])


def scored_columns(decisions: Decisions, place: tuple[int, ...], config: AuditConfig) -> list[ColumnScores]:
    """Score all models between the groups of one column."""
    gaps, scores = scored_gaps(decisions, place, config), score(decisions)
    alike = replace(decisions, weights=None)
    rows, shared = (confusion(one).selected.astype(int) for one in (alike, alike.shared()))
    ratios = {ratio: estimates(ratio_intervals(scores, ratio, config.confidence)) for ratio in RATIOS}
    return [
        ColumnScores(
            **asdict(own),
            demographic_parity_ratio=ratios["demographic_parity_ratio"][model],
            equal_opportunity_ratio=ratios["equal_opportunity_ratio"][model],
            equalized_odds_ratio=ratios["equalized_odds_ratio"][model],
            selected=tuple(selected.sum(-1).tolist()),
            true_positives=tuple(selected[:, 1].tolist()),
            weights=_weights(scores.counts, model),
            shared=tuple(shared[model].sum(-1).tolist()),
        )
        for model, (own, selected) in enumerate(zip(gaps, rows, strict=True))
    ]


def _weights(counts: Confusion, model: int) -> SelectedWeights | None:
    """Return what the selected rows of each group count, where rows count differently."""
    if counts.squares is None:
        return None
    selected, squares = counts.selected[model], counts.squares.selected[model]
    parts = (selected[:, 0], selected[:, 1], squares[:, 0], squares[:, 1])
    return SelectedWeights(*(tuple(part.tolist()) for part in parts))


def scored_gaps(decisions: Decisions, place: tuple[int, ...], config: AuditConfig) -> list[GapScores]:
    """Measure the gaps of all models between the groups of one column, and compare them with those of the reference."""
    scores, compared = score(decisions), decisions.compared()
    columns: dict[Gap, list[GapEstimate]] = {}
    for number, gap in enumerate(GAPS):
        comparison = compare(
            compared,
            gap,
            stream(config, *place, number),
            confidence=config.confidence,
            replications=config.replications,
            minimum_size=config.min_group_size,
            margin=config.same_within,
        )
        own = estimates(gap_intervals(scores, gap, config.confidence))
        changes = [
            change if is_comparable else Estimate(change.value)
            for change, is_comparable in zip(estimates(comparison.gap_change), comparison.is_comparable, strict=True)
        ]
        columns[gap] = [
            GapEstimate(value.value, value.low, value.high, change, verdict)
            for value, change, verdict in zip(own, changes, comparison.verdicts, strict=True)
        ]
    return [GapScores(*row) for row in zip(*columns.values(), strict=True)]
