"""Group tables in adverse-impact form, and fairlearn's word on the gaps, from the counts that the document holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from fairenum.auditing.scorecard import estimates, plain
from fairenum.dataset import Groups
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import GroupRow, GroupTable, ReferenceCheck
from fairenum.document.models import AuditedModel
from fairenum.document.scores import SelectedWeights, SplitScores
from fairenum.document.table import LabelWeights, SensitiveColumn, TableFacts
from fairenum.problem import FloatArray, IntArray
from fairenum.scoring import (
    Decisions,
    Gaps,
    detectable_differences,
    fairlearn_metrics,
    parity_p_values,
    rate_intervals,
    score,
    signed_differences,
)
from fairenum.scoring.counts import Confusion, confusion
from fairenum.scoring.effective import effective
from fairenum.scoring.intervals import normal_critical, wilson
from fairenum.scoring.rates import Fraction, Rate

RATES: tuple[Rate, ...] = ("selection_rate", "true_positive_rate", "false_positive_rate", "precision")


def group_tables(
    table: TableFacts, models: Sequence[AuditedModel], ranks: Sequence[int], config: AuditConfig
) -> tuple[GroupTable, ...]:
    """Return the holdout's table for every sensitive column and each of these models."""
    return tuple(
        _group_table(rank, column, _decided(models[rank - 1], column), config)
        for column in table.sensitive
        for rank in ranks
    )


def reference_check(table: TableFacts, models: Sequence[AuditedModel], ranks: Sequence[int]) -> ReferenceCheck:
    """Compute the gaps of some models in the primary column with fairlearn, and say how far ours are from them."""
    shown = [models[rank - 1] for rank in ranks]
    distances = [
        _distances(model.scores.holdout, fairlearn_metrics(_decided(model, column)))
        for column in table.sensitive
        if column.is_primary
        for model in shown
    ]
    compared = np.concatenate([np.empty(0), *distances])
    return ReferenceCheck("fairlearn", tuple(ranks), len(compared), float(compared.max(initial=0.0)))


def _distances(ours: SplitScores, theirs: Gaps) -> FloatArray:
    """Compare the values that both define."""
    names = [field.name for field in fields(Gaps)]
    own = np.array([getattr(ours, name).value for name in names], dtype=np.float64)
    reference = np.array([getattr(theirs, name)[0] for name in names])
    distances = np.abs(own - reference)
    return np.asarray(distances[~np.isnan(distances)])


def _decided(model: AuditedModel, column: SensitiveColumn) -> Decisions:
    """Rebuild what a model decides about the holdout, one row for each counted one; their order is not known."""
    counts = model.scores.holdout.by_column[column.column]
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
    scores, reference, confidence = score(decisions), column.reference, config.confidence
    rate = scores.by_group.selection_rate[0]
    is_small = scores.groups.small(config.min_group_size)
    best = _most_selected(rate, scores.groups.compared, is_small)
    rates = {name: estimates(rate_intervals(scores.counts, name, confidence)[0]) for name in RATES}
    base = estimates(wilson(*effective(_base, scores.counts), normal_critical(confidence))[0])
    differences = estimates(signed_differences(scores, reference=reference, confidence=confidence)[0])
    p_values = parity_p_values(scores, reference=reference)[0]
    detectable = detectable_differences(scores, reference=reference, confidence=confidence)
    sizes, selected = scores.groups.sizes, confusion(replace(decisions, weights=None)).selected[0].sum(-1)
    # of rows that count differently, as many as their rate says
    likely = selected if decisions.weights is None else sizes * rate
    top = rate[best] if best is not None else np.nan
    rows = (
        GroupRow(
            group=name,
            n=int(sizes[code]),
            selected=int(selected[code]),
            rate=rates["selection_rate"][code],
            ratio=plain(rate[code] / top) if top > 0 else None,
            difference=differences[code],
            p=plain(p_values[code]),
            shortfall=plain(max(0.0, sizes[code] * top - likely[code])) if sizes[code] else None,
            detectable=plain(detectable[code]) if sizes[code] else None,
            is_small=bool(is_small[code]),
            is_compared=column.groups[code].is_compared,
            true_positive_rate=rates["true_positive_rate"][code],
            false_positive_rate=rates["false_positive_rate"][code],
            precision=rates["precision"][code],
            base_rate=base[code],
        )
        for code, name in enumerate(scores.groups.names)
    )
    most_selected, is_weighted = None if best is None else scores.groups.names[best], decisions.weights is not None
    return GroupTable(rank, column.column, reference, most_selected, tuple(rows), is_weighted)


def _base(counts: Confusion) -> Fraction:
    """Count the favourable labels, whatever a model decides."""
    total = np.broadcast_to(counts.total, counts.selected.shape)
    return total[..., 1], total.sum(-1)


def _most_selected(rate: FloatArray, compared: NDArray[np.bool_], is_small: NDArray[np.bool_]) -> int | None:
    """Find the compared group of the highest rate: a group of one with a rate of 1 is no measure for the others."""
    known = ~np.isnan(rate) & compared
    eligible = known & ~is_small if (known & ~is_small).any() else known
    return int(np.where(eligible, rate, -1.0).argmax()) if eligible.any() else None
