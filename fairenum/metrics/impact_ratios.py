"""Adverse-impact tables: selection rates of each group, their ratios and differences, with limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.document.metric_registry import BASE_RATE, METRICS
from fairenum.document.scores import GroupRow, GroupTable
from fairenum.document.terms import RATES, Ratio
from fairenum.document.value import Estimate
from fairenum.metrics.counts import BoolArray, Confusion, FloatArray, IntArray
from fairenum.metrics.inference import detectable_differences, parity_p_values, rate_intervals, signed_differences
from fairenum.metrics.intervals import (
    Interval,
    effective,
    estimates,
    normal_critical,
    plain,
    rate_limits,
    ratio,
    tukey_critical,
)
from fairenum.metrics.rates import GAP_RATES, Fraction, Scores


def impact_ratios(scores: Scores, best: int, confidence: float = 0.95) -> Interval:
    """Return limits of each group's selection rate as a share of that of the group `best`, shape (models, groups).

    Each interval has the confidence by itself, and takes the choice of `best` as given; the ratio of `best` itself is
    exactly 1.
    """
    rates = rate_intervals(scores.counts, confidence=confidence)
    top = rates[:, [best]]
    is_itself = (np.arange(rates.estimate.shape[1]) == best) & (top.estimate > 0)
    return ratio(rates, top).where(~is_itself, 1.0)


RATIO_RATES = {metric.ratio: GAP_RATES[metric.key] for metric in METRICS}


def ratio_intervals(scores: Scores, name: Ratio, confidence: float = 0.95) -> Interval:
    """Return limits of the ratio of the smallest to the largest rate of each model, shape (models,).

    Each model's interval has the confidence by itself; groups that are excluded from comparison are ignored. The ratio
    is that of some pair of groups. So the smallest of all pairs' lower limits is a lower limit of it even if each holds
    only by itself: whichever pair it is, the limit of this pair holds. The ratio is at most that of every pair, so the
    smallest of all upper limits is an upper limit only if these hold for all pairs together. A single group has the
    ratio 1.
    """
    present = (scores.by_group.count > 0) & scores.groups.compared
    rates = RATIO_RATES[name]
    fractions = [effective(rate, scores.counts.of_groups(present)) for rate in rates]
    # two rates share the error probability between them
    together = tukey_critical(1 - (1 - confidence) / len(rates), int(present.sum()))
    lower = np.min([_pairs(fraction, normal_critical(confidence)).lower for fraction in fractions], axis=(0, 2, 3))
    upper = np.min([_pairs(fraction, together).upper for fraction in fractions], axis=(0, 2, 3))
    return Interval(getattr(scores.gaps, name), lower, upper)


def _pairs(fraction: Fraction, critical: float) -> Interval:
    """Return limits of the ratio of every group's rate to every other's, none of them above 1.

    They serve as limits of the smallest of these ratios, which is never above 1.
    """
    limits = rate_limits(*fraction, critical)
    pairs = ratio(limits[:, :, None], limits[:, None, :])
    others = ~np.eye(limits.estimate.shape[1], dtype=np.bool_)
    found = pairs.where(others, 1.0)
    return Interval(found.estimate, np.minimum(found.lower, 1.0), np.minimum(found.upper, 1.0))


LABELLED_RATES = tuple(rate for rate in RATES.values() if rate.needs_label)


@dataclass(frozen=True, slots=True, eq=False)
class Headcount:
    """Numbers of rows and of selected rows in each group, not weighted, and a mask of small groups."""

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
    """Return the adverse-impact table of the first model in `scores`.

    `rank` is the number of the model in the table. Differences are to the group `reference`, and each interval has the
    confidence by itself. Rates that need labels are left out without `has_label`.
    """
    groups, rate = scores.groups, scores.by_group.selection_rate[0]
    best = most_selected(rate, groups.compared, heads.is_small)
    rates = estimates(rate_intervals(scores.counts, confidence=confidence)[0])
    differences = estimates(signed_differences(scores, reference=reference, confidence=confidence)[0])
    p_values = parity_p_values(scores, reference=reference)[0]
    detectable = detectable_differences(scores, reference=reference, confidence=confidence)
    against = _against_label(scores.counts, confidence) if has_label else {}
    is_weighted = scores.counts.squares is not None
    # the selected rows by the weighted rate, if rows have weights
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
    """Return limits of the rates that need labels, and of the share of favourable labels, by column of the table."""
    found = {rate.column: estimates(rate_intervals(counts, rate.key, confidence)[0]) for rate in LABELLED_RATES}
    return found | {BASE_RATE.column: estimates(rate_intervals(counts, BASE_RATE.key, confidence)[0])}


def most_selected(rate: FloatArray, compared: BoolArray, is_small: BoolArray) -> int | None:
    """Return the index of the compared group of highest rate, a small one only if there is no other; None without any.

    A group of one row with a rate of 1 is no measure for the others.
    """
    known = ~np.isnan(rate) & compared
    eligible = known & ~is_small if (known & ~is_small).any() else known
    return int(np.where(eligible, rate, -1.0).argmax()) if eligible.any() else None
