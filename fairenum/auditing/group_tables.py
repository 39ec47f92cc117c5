"""Counts by group and label from a document, adverse-impact tables made of them, and a check with fairlearn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import ReferenceCheck, Selection
from fairenum.document.models import AuditedModel, Incumbent
from fairenum.document.scores import ColumnScores, GroupTable, SplitScores
from fairenum.document.table_facts import SensitiveColumn, TableFacts
from fairenum.document.terms import GAPS, RATIOS, Part
from fairenum.metrics import Confusion, Decisions, Gaps, fairlearn_metrics
from fairenum.metrics.counts import Design
from fairenum.metrics.impact_ratios import Headcount, impact_table
from fairenum.metrics.rates import scored
from fairenum.svm.problem import FloatArray
from fairenum.tables import Groups

Members = Sequence[AuditedModel | Incumbent]


def document_counts(
    scores: Sequence[ColumnScores], column: SensitiveColumn, part: Part, drawn: float = 1.0
) -> Confusion:
    """Return the counts of each model's selected rows, and of all rows, in one split, by group and label.

    Counts are sums of weights, or numbers of rows if the document does not hold the weights of the split.
    """
    heads = replace(_headcounts(scores, column, part, drawn), design=_design(scores))
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


def _design(scores: Sequence[ColumnScores]) -> Design | None:
    """Return the factors of variances that a document has for rows in clusters; None if rows are independent."""
    found = [one.inflation for one in scores if one.inflation]
    if len(found) < len(scores) or not found:
        return None
    return Design({rate: np.array([one[rate] for one in found]) for rate in found[0]})


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
