"""What a model does in each group of a column on the holdout: shares of the rows that its document counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from fairenum.document.audit import AuditDocument
from fairenum.document.scores import ColumnScores
from fairenum.document.table import GroupSizes, LabelWeights, SensitiveColumn
from fairenum.document.terms import GapRate

GroupRate = Literal[GapRate, "base_rate"]
Share = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GroupRates:
    """One group under one model.

    Attributes
    ----------
    rates
        By what rows count; None where there is nothing to divide by.
    trials
        Of how many rows each is a share.
    """

    group: GroupSizes
    rates: Mapping[GroupRate, float | None]
    trials: Mapping[GroupRate, int]


def rates_of(document: AuditDocument, rank: int, column: SensitiveColumn) -> tuple[GroupRates, ...]:
    """Return what one model does in every group of a column on the holdout."""
    counts = document.member(rank).scores.holdout.by_column[column.column]
    return tuple(_rates(group, code, counts) for code, group in enumerate(column.groups))


def compared_rates(document: AuditDocument, rank: int, column: SensitiveColumn) -> Iterator[GroupRates]:
    """Yield the same for the groups that have a part in gaps."""
    return (one for one in rates_of(document, rank, column) if one.group.is_compared)


def _rates(group: GroupSizes, code: int, counts: ColumnScores) -> GroupRates:
    found, selected = counts.true_positives[code], counts.selected[code]
    rows = _shares(found, selected - found, group.holdout_positives, group.holdout - group.holdout_positives)
    weighted, weights = rows, counts.weights
    if weights is not None:
        total = group.holdout_weights or LabelWeights(0.0, 0.0, 0.0, 0.0)
        parts = (weights.true_positives[code], weights.false_positives[code])
        weighted = _shares(*parts, total.favourable, total.unfavourable)
    rates = {name: outcomes / trials if trials else None for name, (outcomes, trials) in weighted.items()}
    return GroupRates(group, rates, {name: int(trials) for name, (_, trials) in rows.items()})


def _shares(right: float, wrong: float, positives: float, negatives: float) -> dict[GroupRate, Share]:
    """Count every rate: how much, out of how much."""
    return {
        "selection_rate": (right + wrong, positives + negatives),
        "true_positive_rate": (right, positives),
        "false_positive_rate": (wrong, negatives),
        "precision": (right, right + wrong),
        "base_rate": (positives, positives + negatives),
    }
