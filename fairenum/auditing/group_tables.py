"""Adverse-impact tables: on the holdout from the counts of a document, and of the model in use on all its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.measurement import ColumnSetting, measured_column
from fairenum.auditing.scorecard import overall_estimates
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import ReferenceCheck, Selection
from fairenum.document.incumbent_measures import IncumbentMeasures
from fairenum.document.measure_document import MeasureConfig
from fairenum.document.models import AuditedModel, Incumbent
from fairenum.document.scores import ColumnScores, GroupTable, SplitScores
from fairenum.document.table_facts import SensitiveColumn, TableFacts
from fairenum.document.terms import GAPS, RATIOS, Part
from fairenum.enumeration.division import Division
from fairenum.metrics import Confusion, Decisions, Gaps, fairlearn_metrics
from fairenum.metrics.counts import Design, Inflated
from fairenum.metrics.impact_ratios import Headcount, impact_table
from fairenum.metrics.rates import scored
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.tables import Groups
from fairenum.tables.groups import MOST_GROUPS

Members = Sequence[AuditedModel | Incumbent]


def document_counts(
    scores: Sequence[ColumnScores], column: SensitiveColumn, part: Part, drawn: float = 1.0
) -> Confusion:
    """Return the counts of each model's selected rows, and of all rows, in one split, by group and label.

    Counts are sums of weights, or numbers of rows if the document does not hold the weights of the split.
    """
    heads = replace(_headcounts(scores, column, part, drawn), design=saved_design(scores))
    selected = [one.weights for one in scores if one.weights]
    total = [weights for group in column.groups if (weights := group.weights(part))]
    if len(selected) < len(scores) or len(total) < len(column.groups):
        return heads
    sums = Confusion(
        np.array([[(one.unfavourable, one.favourable) for one in total]]),
        np.array([np.transpose([one.false_positives, one.true_positives]) for one in selected]),
        drawn=drawn,
    )
    squares = Confusion(
        np.array([[(one.squared_unfavourable, one.squared_favourable) for one in total]]),
        np.array([np.transpose([one.squared_false_positives, one.squared_true_positives]) for one in selected]),
        drawn=drawn,
    )
    return replace(sums, squares=squares, heads=heads.total, design=heads.design)


def saved_design(scores: Sequence[ColumnScores]) -> Design | None:
    """Return the factors of variances that a document has for rows in clusters; None if rows are independent."""
    found = [one.inflation for one in scores if one.inflation]
    if len(found) < len(scores) or not found:
        return None
    related = [one.correlation for one in scores if one.correlation]

    def of_rate(rate: str) -> Inflated:
        factor = np.array([one[rate] for one in found])
        if len(related) < len(scores):
            return Inflated(factor)
        return Inflated(factor, np.array([_symmetric(one[rate], factor.shape[1]) for one in related]))

    return Design(of_rate)


def _symmetric(pairs: Sequence[float], groups: int) -> FloatArray:
    """Return a matrix of correlations, given those of every two groups."""
    above = np.zeros((groups, groups))
    above[np.triu_indices(groups, 1)] = pairs
    return above + above.T + np.eye(groups)


def _headcounts(scores: Sequence[ColumnScores], column: SensitiveColumn, part: Part, drawn: float = 1.0) -> Confusion:
    total = [[group.by_label(part) for group in column.groups]]
    selected = [[one.selected_by_label(code) for code in range(len(column.groups))] for one in scores]
    return Confusion(np.array(total, dtype=np.float64), np.array(selected, dtype=np.float64), drawn=drawn)


def shortlisted(members: Members, selection: Selection) -> Members:
    """Return the models to show side by side: the model in use, model 1, and the selected model."""
    return [one for one in members if one.rank in (0, *selection.shortlist)]


def shortlist_tables(table: TableFacts, shown: Members, config: AuditConfig) -> dict[str, Any]:
    """Return the document fields `group_tables` and `reference_check`, for the models shown side by side."""
    return {"group_tables": group_tables(table, shown, config), "reference_check": reference_check(table, shown)}


def group_tables(table: TableFacts, shown: Members, config: AuditConfig) -> tuple[GroupTable, ...]:
    """Return the adverse-impact table on the holdout, for every sensitive column and each of the given models."""
    return tuple(
        _group_table(one.rank, column, one.scores.holdout.by_column[column.column], table.drawn, config)
        for column in table.sensitive
        for one in shown
    )


def _group_table(
    rank: int, column: SensitiveColumn, scores: ColumnScores, drawn: float, config: AuditConfig
) -> GroupTable:
    counts, groups = document_counts([scores], column, "holdout", drawn), _grouped(column, range(len(column.groups)))
    sizes = np.array([group.holdout for group in column.groups])
    return impact_table(
        rank,
        scored(groups, counts, np.zeros(1, np.bool_)),
        Headcount(sizes, np.array(scores.selected), sizes < config.min_group_size),
        column=column.column,
        reference=column.reference,
        confidence=config.confidence,
    )


def incumbent_measures(
    found: IncumbentDecisions | None, division: Division, table: TableFacts, config: AuditConfig
) -> IncumbentMeasures | None:
    """Return the measures of the model in use on all rows that it decided, as `fairenum measure` has them.

    Rows of weight 0 do not count. Groups are small or not by all rows, so some that are set aside elsewhere are
    compared here.
    """
    if found is None:
        return None
    rows, settings = incumbent_settings(division, table, config)
    labels, weights = division.dataset.y[rows].astype(np.uint8), division.dataset.relative(rows)
    bits = found.bits[rows]
    members = division.dataset.members
    clusters = None if members is None else members[rows]
    everyone = Decisions(bits[None], labels, Groups.everyone(len(rows)), weights, clusters=clusters)
    overall = overall_estimates(everyone, config.confidence)
    columns = (measured_column(replace(everyone, groups=one.groups), one)[0] for one in settings)
    return IncumbentMeasures(
        rows=len(rows),
        selected=int(bits.sum()),
        selection_rate=overall["selection_rate"][0],
        accuracy=overall["accuracy"][0],
        balanced_accuracy=overall["balanced_accuracy"][0],
        columns=tuple(one.but(impact=one.impact.but(rank=0)) for one in columns),
    )


def incumbent_settings(
    division: Division, table: TableFacts, config: AuditConfig, *, lower_is_better: bool = False
) -> tuple[IntArray, list[ColumnSetting]]:
    """Return the rows that the model in use decided, those of weight 0 apart, and every sensitive column of them."""
    weights = division.dataset.weights
    rows = np.arange(len(division.dataset)) if weights is None else weights.positive
    measure = MeasureConfig(
        lower_is_better=lower_is_better,
        seed=config.seed,
        confidence=config.confidence,
        min_group_size=config.min_group_size,
        small_groups=config.small_groups,
        replications=config.replications,
    )
    return rows, [
        ColumnSetting(_on_all(groups.take(rows), measure.fewest), number, column.reference, True, measure)
        for number, (groups, column) in enumerate(zip(division.columns, table.sensitive, strict=True))
    ]


def _on_all(groups: Groups, fewest: int | None) -> Groups:
    """Return the groups with those set aside that are small among all rows, or as before if too many were left."""
    if fewest is None:
        return groups
    found = groups.setting_aside(fewest, (slice(None),))
    return found if np.count_nonzero(found.compared) <= MOST_GROUPS else groups


def _grouped(column: SensitiveColumn, codes: ArrayLike) -> Groups:
    aside = tuple(code for code, group in enumerate(column.groups) if not group.is_compared)
    return Groups(np.asarray(codes), tuple(group.name for group in column.groups), aside=aside)


def reference_check(table: TableFacts, shown: Members) -> ReferenceCheck:
    """Return the largest difference between the document's gaps and fairlearn's, in the primary column."""
    distances = [
        _distances(one.scores.holdout, fairlearn_metrics(_weighted_rows(one.scores.holdout, column)))
        for column in table.sensitive
        if column.is_primary
        for one in shown
    ]
    compared = np.concatenate([np.empty(0), *distances])
    ranks = tuple(one.rank for one in shown)
    return ReferenceCheck("fairlearn", ranks, len(compared), float(compared.max(initial=0.0)))


def _weighted_rows(scores: SplitScores, column: SensitiveColumn) -> Decisions:
    """Return weighted rows that have the counts of the document, as fairlearn takes rows and not counts.

    There is one row for each combination of group, label and decision that occurs, with the total weight of its rows.
    """
    own = [scores.by_column[column.column]]
    heads, weights = (
        np.stack([(counts.total - counts.selected)[0], counts.selected[0]], axis=-1)
        for counts in (_headcounts(own, column, "holdout"), document_counts(own, column, "holdout"))
    )
    kinds = group, label, decision = np.nonzero(heads)
    bits, labels = decision[None].astype(np.uint8), label.astype(np.uint8)
    return Decisions(bits, labels, _grouped(column, group), weights[kinds])


def _distances(ours: SplitScores, theirs: Gaps) -> FloatArray:
    names = (*GAPS, *RATIOS)
    own = np.array([getattr(ours, name).value for name in names], dtype=np.float64)
    reference = np.array([getattr(theirs, name)[0] for name in names])
    distances = np.abs(own - reference)
    return np.asarray(distances[~np.isnan(distances)])
