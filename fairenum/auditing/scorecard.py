"""Scores of all models on one split, overall and between groups, and how far models disagree about the holdout."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from fairenum.auditing.listing import Listing
from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import GroupDisagreement, Multiplicity
from fairenum.document.scores import NO_GROUPS, ChangedEstimate, ColumnScores, GapEstimate, SelectedWeights, SplitScores
from fairenum.document.terms import ACCURACY, GAPS, RATIOS, Origin, Part, PerformanceMeasure
from fairenum.document.value import Estimate
from fairenum.enumeration.division import PARTS, Division
from fairenum.metrics import Decisions, Gap, compare, decision_multiplicity, gap_intervals, score, score_multiplicity
from fairenum.metrics.counts import Confusion, confusion
from fairenum.metrics.impact_ratios import ratio_intervals
from fairenum.metrics.inference import rate_intervals
from fairenum.metrics.intervals import estimate, estimates, plain
from fairenum.metrics.performance import (
    auc_intervals,
    calibrate,
    decided_intervals,
    performance_changes,
    performance_intervals,
)
from fairenum.svm.problem import FloatArray

BALANCED = PerformanceMeasure("balanced_accuracy")
SEARCHED: tuple[Origin, ...] = ("guided", "tilted", "steered")


def changed_performances(
    decisions: Decisions, values: FloatArray, place: tuple[int, ...], config: AuditConfig
) -> tuple[list[ChangedEstimate], list[ChangedEstimate]]:
    """Return accuracy, and performance by the chosen measure, with changes against the reference."""
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


def score_part(scored_set: ScoredSet, part: Part, config: AuditConfig) -> list[SplitScores]:
    """Score all models on one split: overall, and between the groups of every sensitive column.

    Models that were searched for on the selection split get no verdicts there.
    """
    place, division = PARTS.index(part), scored_set.division
    decisions, values = scored_set.decisions(part, None), scored_set.values(part)
    counts = score(decisions).counts.overall()
    accuracy, performance = changed_performances(decisions, values, (place,), config)
    balanced = estimates(decided_intervals(counts, BALANCED, config.confidence))
    ranked = estimates(auc_intervals(values, decisions.labels, config.confidence, decisions.weights))
    selected = estimates(rate_intervals(counts, "selection_rate", config.confidence))
    losses = score(decisions, decision_values=scored_set.uncut(part)).overall.hinge_loss
    columns = {
        groups.column: scored_columns(scored_set.decisions(part, groups.column), (place, number), config)
        for number, groups in enumerate(division.columns)
    }
    scores = []
    for model, origin in enumerate(scored_set.origins):
        by_column = {column: found[model] for column, found in columns.items()}
        if origin in SEARCHED and part == "selection":
            by_column = {column: _without_verdicts(found) for column, found in by_column.items()}
        primary = by_column[division.column].between_groups if division.column else NO_GROUPS
        scores.append(
            SplitScores(
                **primary,
                rows=len(decisions.labels),
                accuracy=accuracy[model],
                balanced_accuracy=balanced[model],
                selection_rate=selected[model],
                hinge_loss=estimate(math.nan if losses is None else losses[model]),
                by_column=by_column,
                auc=ranked[model] if scored_set.is_ranked(model) else Estimate(),
                performance=performance[model],
            )
        )
    return scores


def _without_verdicts(scores: ColumnScores) -> ColumnScores:
    """Remove the verdicts of a model that was searched for on the rows it is scored on."""
    return scores.but(**{gap: scores.gap(gap).but(verdict=None) for gap in GAPS})


def stream(config: AuditConfig, *place: int) -> np.random.Generator:
    """Open the random numbers of one place in the audit, independent of all other places."""
    return np.random.default_rng([config.seed, *place])


def scored_columns(decisions: Decisions, place: tuple[int, ...], config: AuditConfig) -> list[ColumnScores]:
    """Score all models between the groups of one column."""
    gaps, scores = scored_gaps(decisions, place, config), score(decisions)
    alike = replace(decisions, weights=None)
    rows, shared = (confusion(one).selected.astype(int) for one in (alike, alike.shared()))
    ratios = {ratio: estimates(ratio_intervals(scores, ratio, config.confidence)) for ratio in RATIOS}
    return [
        ColumnScores(
            **own,
            **{ratio: found[model] for ratio, found in ratios.items()},  # type: ignore[arg-type]  # by the registry
            selected=tuple(selected.sum(-1).tolist()),
            true_positives=tuple(selected[:, 1].tolist()),
            weights=_weights(scores.counts, model),
            shared=tuple(shared[model].sum(-1).tolist()),
        )
        for model, (own, selected) in enumerate(zip(gaps, rows, strict=True))
    ]


def _weights(counts: Confusion, model: int) -> SelectedWeights | None:
    """Return the weights of the selected rows of each group; None without weights."""
    if counts.squares is None:
        return None
    selected, squares = counts.selected[model], counts.squares.selected[model]
    parts = (selected[:, 0], selected[:, 1], squares[:, 0], squares[:, 1])
    return SelectedWeights(*(tuple(part.tolist()) for part in parts))


def scored_gaps(decisions: Decisions, place: tuple[int, ...], config: AuditConfig) -> list[dict[str, Any]]:
    """Measure the gaps of all models between the groups of one column, and compare them with the reference."""
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
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def disagreement(division: Division, listing: Listing) -> Multiplicity:
    """Measure disagreement overall and in every group; probabilities are calibrated on the selection split."""
    chances = calibrate(listing.values["selection"], division.selection.labels, listing.values["holdout"])
    decisions = listing.decisions(division, "holdout", None)
    decided = decision_multiplicity(decisions)
    scored = score_multiplicity(chances, decisions.groups, decisions.weights)
    return Multiplicity(
        rows=len(decisions.labels),
        models=len(listing.models),
        flipped=int(decided.is_flipped.sum()),
        ambiguity=decided.ambiguity,
        discrepancy=decided.discrepancy,
        disagreement=decided.disagreement,
        viable_range=scored.mean_range,
        capacity=scored.mean_capacity,
        by_column={groups.column: _by_group(division, listing, chances, groups.column) for groups in division.columns},
    )


def _by_group(division: Division, listing: Listing, chances: FloatArray, column: str) -> tuple[GroupDisagreement, ...]:
    decisions = listing.decisions(division, "holdout", column)
    groups = decisions.groups
    decided, scored = decision_multiplicity(decisions), score_multiplicity(chances, groups, decisions.weights)
    flipped = np.bincount(groups.codes, decided.is_flipped, len(groups.names)).astype(int)
    return tuple(
        GroupDisagreement(
            group=name,
            rows=int(groups.sizes[code]),
            flipped=int(flipped[code]),
            ambiguity=plain(decided.group_ambiguity[code]),
            discrepancy=plain(decided.group_discrepancy[code]),
            disagreement=plain(decided.group_disagreement[code]),
            viable_range=plain(scored.group_range[code]),
            capacity=plain(scored.group_capacity[code]),
        )
        for code, name in enumerate(groups.names)
    )
