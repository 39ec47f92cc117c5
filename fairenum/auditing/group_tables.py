"""Adverse-impact tables by group, and a check of the gaps with fairlearn, from the counts in the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import ReferenceCheck
from fairenum.document.models import AuditedModel, Incumbent
from fairenum.document.scores import ColumnScores, GroupTable, SplitScores
from fairenum.document.table_facts import GroupSizes, SensitiveColumn, TableFacts
from fairenum.document.terms import GAPS, RATIOS
from fairenum.metrics import Confusion, Decisions, Gaps, fairlearn_metrics
from fairenum.metrics.impact_ratios import Headcount, impact_table
from fairenum.metrics.rates import scored
from fairenum.svm.problem import FloatArray
from fairenum.tables import Groups


def in_detail(document: AuditDocument) -> AuditDocument:
    """Add group tables and fairlearn's gaps for the models that are shown side by side."""
    table, shown = document.dataset, [document.member(rank) for rank in document.shortlist]
    return document.but(
        group_tables=group_tables(table, shown, document.config), reference_check=reference_check(table, shown)
    )


def group_tables(
    table: TableFacts, shown: Sequence[AuditedModel | Incumbent], config: AuditConfig
) -> tuple[GroupTable, ...]:
    """Return the holdout's group table for every sensitive column and each of these models."""
    return tuple(
        _group_table(one.rank, column, one.scores.holdout, table.drawn, config)
        for column in table.sensitive
        for one in shown
    )


def reference_check(table: TableFacts, shown: Sequence[AuditedModel | Incumbent]) -> ReferenceCheck:
    """Compute the gaps of some models in the primary column with fairlearn, and the largest distance from ours."""
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
    """Return the distances between gaps that both define."""
    names = (*GAPS, *RATIOS)
    own = np.array([getattr(ours, name).value for name in names], dtype=np.float64)
    reference = np.array([getattr(theirs, name)[0] for name in names])
    distances = np.abs(own - reference)
    return np.asarray(distances[~np.isnan(distances)])


@dataclass(frozen=True, slots=True)
class _Cell:
    """The holdout rows of one group with one label and one decision: how many, their weights and squared weights."""

    group: int
    label: int
    decision: int
    rows: int
    weight: float
    squared: float


def _cells(scores: SplitScores, column: SensitiveColumn) -> list[_Cell]:
    """Split the rows of every group by label and decision, from the counts that the document holds."""
    counts = scores.by_column[column.column]
    return [cell for code, group in enumerate(column.groups) for cell in _of_group(code, group, counts)]


def _of_group(code: int, group: GroupSizes, counts: ColumnScores) -> Iterator[_Cell]:
    right, positives = counts.true_positives[code], group.holdout_positives
    found = ((1, right, positives), (0, counts.selected[code] - right, group.holdout - positives))
    for label, selected, rows in found:
        total, own = (float(rows), float(rows)), (float(selected), float(selected))
        if counts.weights is not None and group.holdout_weights is not None:
            total, own = group.holdout_weights.of_label(label), counts.weights.of_label(code, label)
        yield _Cell(code, label, 1, selected, *own)
        yield _Cell(code, label, 0, rows - selected, total[0] - own[0], total[1] - own[1])


def _grouped(column: SensitiveColumn, codes: ArrayLike) -> Groups:
    aside = tuple(code for code, group in enumerate(column.groups) if not group.is_compared)
    return Groups(np.asarray(codes), tuple(group.name for group in column.groups), aside=aside)


def _decided(scores: SplitScores, column: SensitiveColumn) -> Decisions:
    """Return one row for each cell that has any, with the weight of the cell."""
    cells = [cell for cell in _cells(scores, column) if cell.rows]
    decision, label, weight = (
        np.array([getattr(cell, name) for cell in cells]) for name in ("decision", "label", "weight")
    )
    return Decisions(decision[None], label, _grouped(column, [cell.group for cell in cells]), weight)


def _counted(scores: SplitScores, column: SensitiveColumn, drawn: float) -> Confusion:
    """Return the counts of one model, with sums of squares where rows have weights."""
    cells = _cells(scores, column)
    heads, sums, squares = (_summed(cells, len(column.groups), name, drawn) for name in ("rows", "weight", "squared"))
    if scores.by_column[column.column].weights is None:
        return heads
    return replace(sums, squares=squares, heads=heads.total)


def _summed(cells: Sequence[_Cell], groups: int, name: str, drawn: float) -> Confusion:
    total, selected = np.zeros((1, groups, 2)), np.zeros((1, groups, 2))
    for cell in cells:
        total[0, cell.group, cell.label] += getattr(cell, name)
        selected[0, cell.group, cell.label] += cell.decision * getattr(cell, name)
    return Confusion(total, selected, drawn=drawn)


def _group_table(
    rank: int, column: SensitiveColumn, scores: SplitScores, drawn: float, config: AuditConfig
) -> GroupTable:
    counts, groups = _counted(scores, column, drawn), _grouped(column, range(len(column.groups)))
    sizes = np.array([group.holdout for group in column.groups])
    selected = np.array(scores.by_column[column.column].selected)
    heads = Headcount(sizes, selected, sizes < config.min_group_size)
    return impact_table(
        rank,
        scored(groups, counts, np.zeros(1, np.bool_)),
        heads,
        column=column.column,
        reference=column.reference,
        confidence=config.confidence,
    )
