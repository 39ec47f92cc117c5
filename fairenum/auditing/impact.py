"""Group tables in adverse-impact form, and fairlearn's word on the gaps, from the counts that the document holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from fairenum.dataset import Groups
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import ReferenceCheck
from fairenum.document.impact import GroupTable
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel
from fairenum.document.scores import SelectedWeights, SplitScores
from fairenum.document.table import LabelWeights, SensitiveColumn, TableFacts
from fairenum.problem import FloatArray, IntArray
from fairenum.scoring import Decisions, Gaps, fairlearn_metrics, score
from fairenum.scoring.adverse import Headcount, impact_table
from fairenum.scoring.counts import confusion


def in_detail(document: AuditDocument) -> AuditDocument:
    """Add tables of groups and the word of fairlearn for the models that are shown side by side."""
    table, shown = document.dataset, [document.member(rank) for rank in document.shortlist]
    return document.but(
        group_tables=group_tables(table, shown, document.config), reference_check=reference_check(table, shown)
    )


def group_tables(
    table: TableFacts, shown: Sequence[AuditedModel | Incumbent], config: AuditConfig
) -> tuple[GroupTable, ...]:
    """Return the holdout's table for every sensitive column and each of these models."""
    return tuple(
        _group_table(one.rank, column, replace(_decided(one.scores.holdout, column), drawn=table.drawn), config)
        for column in table.sensitive
        for one in shown
    )


def reference_check(table: TableFacts, shown: Sequence[AuditedModel | Incumbent]) -> ReferenceCheck:
    """Compute the gaps of some models in the primary column with fairlearn, and say how far ours are from them."""
    distances = [
        _distances(one.scores.holdout, fairlearn_metrics(_decided(one.scores.holdout, column)))
        for column in table.sensitive
        if column.is_primary
        for one in shown
    ]
    compared = np.concatenate([np.empty(0), *distances])
    ranks = tuple(one.rank for one in shown)
    return ReferenceCheck("fairlearn", ranks, len(compared), float(compared.max(initial=0.0)))


def _distances(ours: SplitScores, theirs: Gaps) -> FloatArray:
    """Compare the values that both define."""
    names = [field.name for field in fields(Gaps)]
    own = np.array([getattr(ours, name).value for name in names], dtype=np.float64)
    reference = np.array([getattr(theirs, name)[0] for name in names])
    distances = np.abs(own - reference)
    return np.asarray(distances[~np.isnan(distances)])


def _decided(scores: SplitScores, column: SensitiveColumn) -> Decisions:
    """Rebuild what a model decides about the holdout, one row for each counted one; their order is not known."""
    counts = scores.by_column[column.column]
    cells = []
    for code, group in enumerate(column.groups):
        positives, right = group.holdout_positives, counts.true_positives[code]
        negatives, wrong = group.holdout - positives, counts.selected[code] - right
        cells += [(code, 1, 1, right), (code, 1, 0, positives - right)]
        cells += [(code, 0, 1, wrong), (code, 0, 0, negatives - wrong)]
    code, label, decision, count = np.array(cells).T
    aside = tuple(code for code, group in enumerate(column.groups) if not group.is_compared)
    groups = Groups(np.repeat(code, count), tuple(group.name for group in column.groups), aside=aside)
    weights = None if counts.weights is None else _rebuilt_weights(count, column, counts.weights)
    return Decisions(np.repeat(decision, count)[None], np.repeat(label, count), groups, weights)


def _rebuilt_weights(count: IntArray, column: SensitiveColumn, selected: SelectedWeights) -> FloatArray:
    """Rebuild what rows count: any weights of the right sum and squares tell the same about rows decided alike."""
    moments: list[tuple[float, float]] = []
    for code, group in enumerate(column.groups):
        total = group.holdout_weights or LabelWeights(0.0, 0.0, 0.0, 0.0)
        right = (selected.true_positives[code], selected.squared_true_positives[code])
        wrong = (selected.false_positives[code], selected.squared_false_positives[code])
        moments += [right, (total.favourable - right[0], total.squared_favourable - right[1])]
        moments += [wrong, (total.unfavourable - wrong[0], total.squared_unfavourable - wrong[1])]
    return np.concatenate([_spread(int(n), *moment) for n, moment in zip(count, moments, strict=True)])


def _spread(rows: int, total: float, squares: float) -> FloatArray:
    """Find so many weights of this sum and this sum of squares: one large, the others equal."""
    if rows < 2:
        return np.full(rows, total)
    apart = np.sqrt(max(rows * squares - total**2, 0.0) / (rows - 1))
    weights = np.full(rows, (total - apart) / rows)
    weights[0] = total - weights[1:].sum()
    return np.asarray(np.maximum(weights, 0.0))


def _group_table(rank: int, column: SensitiveColumn, decisions: Decisions, config: AuditConfig) -> GroupTable:
    scores, groups = score(decisions), decisions.groups
    selected = confusion(replace(decisions, weights=None)).selected[0].sum(-1)
    heads = Headcount(groups.sizes, selected, groups.small(config.min_group_size))
    return impact_table(
        rank, scores, heads, column=column.column, reference=column.reference, confidence=config.confidence
    )
