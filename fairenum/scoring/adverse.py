"""Adverse-impact tables: who is selected, group by group, and how that compares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.document.impact import GroupRow, GroupTable
from fairenum.document.value import Estimate
from fairenum.scoring.counts import BoolArray, Confusion, FloatArray, IntArray
from fairenum.scoring.effective import effective
from fairenum.scoring.estimates import estimates, plain
from fairenum.scoring.inference import (
    detectable_differences,
    parity_p_values,
    rate_intervals,
    signed_differences,
)
from fairenum.scoring.intervals import normal_critical, rate_limits
from fairenum.scoring.rates import Fraction, Rate, Scores

LABELLED_RATES: tuple[Rate, ...] = ("true_positive_rate", "false_positive_rate", "precision")


@dataclass(frozen=True, slots=True, eq=False)
class Headcount:
    """Rows of each group, and those of them that are selected, whatever they count.

    Attributes
    ----------
    is_small
        Groups with too few rows to say much about.
    """

    rows: IntArray
    selected: FloatArray
    is_small: BoolArray


def impact_table(
    rank: int,
    scores: Scores,
    heads: Headcount,
    *,
    column: str,
    reference: str,
    confidence: float,
    has_label: bool = True,
) -> GroupTable:
    """Return the table of one model, the first of the scores.

    Parameters
    ----------
    rank
        What the table calls the model.
    scores
        Of the model.
    heads
        Rows behind the scores.
    column, reference
        The sensitive column, and the group that others are compared with.
    confidence
        Of each interval.
    has_label
        Whether labels are known; rates that need them are left out otherwise.
    """
    groups, rate = scores.groups, scores.by_group.selection_rate[0]
    best = most_selected(rate, groups.compared, heads.is_small)
    rates = estimates(rate_intervals(scores.counts, confidence=confidence)[0])
    differences = estimates(signed_differences(scores, reference=reference, confidence=confidence)[0])
    p_values = parity_p_values(scores, reference=reference)[0]
    detectable = detectable_differences(scores, reference=reference, confidence=confidence)
    against = _against_label(scores.counts, confidence) if has_label else {}
    is_weighted = scores.counts.squares is not None
    # of rows that count differently, as many as their rate says
    likely = heads.rows * rate if is_weighted else heads.selected
    top = rate[best] if best is not None else np.nan
    rows = (
        GroupRow(
            group=name,
            n=int(heads.rows[code]),
            selected=int(heads.selected[code]),
            rate=rates[code],
            ratio=plain(rate[code] / top) if top > 0 else None,
            difference=differences[code],
            p=plain(p_values[code]),
            shortfall=plain(max(0.0, heads.rows[code] * top - likely[code])) if heads.rows[code] else None,
            detectable=plain(detectable[code]) if heads.rows[code] else None,
            is_small=bool(heads.is_small[code]),
            is_compared=bool(groups.compared[code]),
            **{name: found[code] for name, found in against.items()},
        )
        for code, name in enumerate(groups.names)
    )
    return GroupTable(rank, column, reference, None if best is None else groups.names[best], tuple(rows), is_weighted)


def _against_label(counts: Confusion, confidence: float) -> dict[str, list[Estimate]]:
    """Bound the rates that need labels, and the share of favourable labels, whatever is decided."""
    found = {str(rate): estimates(rate_intervals(counts, rate, confidence)[0]) for rate in LABELLED_RATES}
    return found | {"base_rate": estimates(rate_limits(*effective(_base, counts), normal_critical(confidence))[0])}


def _base(counts: Confusion) -> Fraction:
    total = np.broadcast_to(counts.total, counts.selected.shape)
    return total[..., 1], total.sum(-1)


def most_selected(rate: FloatArray, compared: BoolArray, is_small: BoolArray) -> int | None:
    """Find the compared group of the highest rate: a group of one with a rate of 1 is no measure for the others."""
    known = ~np.isnan(rate) & compared
    eligible = known & ~is_small if (known & ~is_small).any() else known
    return int(np.where(eligible, rate, -1.0).argmax()) if eligible.any() else None
