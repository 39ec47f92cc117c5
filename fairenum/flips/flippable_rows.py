"""Ambiguity, from flip prices: the share of rows that some near-optimal model decides differently from model 1.

A row's flip price is proven to be at least `low` and at most `high`. At a tolerance eps of the relative loss, the row
is *flipped* where high <= eps, *settled* where eps < low, and else *open*: an open row counts in the largest possible
share and not in the least. The share of flipped rows is the ambiguity of Marx, Calmon and Ustun (2020), over all models
of the kernel whose loss is within eps of the least rather than over a list.

Shares, their gaps and intervals are computed by the functions for selection rates of models: each tolerance is passed
as if it were a model, and the rows flipped within it as the rows that this model selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairenum.metrics.counts import BoolArray, Confusion, Decisions, FloatArray, freeze
from fairenum.metrics.inference import gap_intervals, rate_intervals
from fairenum.metrics.rates import Scores, score


@dataclass(frozen=True, slots=True)
class BoundedShare:
    """Bounds on the share of rows whose decision can flip, as not every flip is proven or ruled out; NaN if undefined.

    ``least`` and ``most`` bound the share among these rows; ``lower`` and ``upper`` are confidence limits in the
    population from which the rows are a sample.
    """

    least: FloatArray
    most: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Shares of rows that flip within each tolerance of the relative loss: overall, by group, and as a gap.

    Shapes are (tolerances,), and (tolerances, groups) for ``by_group``. ``gap`` is the largest minus the smallest share
    among the compared groups.
    """

    overall: BoundedShare
    by_group: BoundedShare
    gap: BoundedShare


def flipped(prices: FloatArray, tolerances: Sequence[float]) -> BoolArray:
    """Return a mask of the rows whose flip price is within each tolerance, shape (tolerances, rows)."""
    return np.asarray(prices <= np.asarray(tolerances, dtype=np.float64)[:, None])


def flippable_shares(
    rows: Decisions, low: FloatArray, high: FloatArray, tolerances: Sequence[float], confidence: float = 0.95
) -> Ambiguity:
    """Return shares of rows that flip within each tolerance of the relative loss, given bounds on their flip prices.

    `low` and `high` are proven and attained prices of `rows`; of `rows`, the groups are used and the decisions ignored.
    """
    least, most = (_scored(rows, flipped(prices, tolerances)) for prices in (high, low))
    return Ambiguity(
        _shares(least.counts.overall(), most.counts.overall(), confidence),
        _shares(least.counts, most.counts, confidence),
        _gap(least, most, confidence),
    )


def largest_share(rows: Decisions, changed: BoolArray) -> tuple[int, float]:
    """Return the index of the model that decides most rows differently from model 1, and the share of these rows.

    `changed` is a mask of the rows that each model decides differently, shape (models, rows).
    """
    shares = _scored(rows, changed).overall.selection_rate
    place = int(shares.argmax())
    return place, float(shares[place])


def _scored(rows: Decisions, is_flipped: BoolArray) -> Scores:
    return score(replace(rows, predictions=is_flipped.astype(np.uint8)))


def _shares(least: Confusion, most: Confusion, confidence: float) -> BoundedShare:
    low, high = (rate_intervals(counts, confidence=confidence) for counts in (least, most))
    return BoundedShare(low.estimate, high.estimate, low.lower, high.upper)


def _gap(least: Scores, most: Scores, confidence: float) -> BoundedShare:
    """Return bounds on the largest minus the smallest share of flipped rows among the compared groups.

    A row is open if its flip is neither proven nor ruled out, and may count either way. So the confidence limits are
    widened by the largest share of open rows in a group.
    """
    present = (least.by_group.count > 0) & least.groups.compared
    low, high = (one.by_group.selection_rate[:, present] for one in (least, most))
    if present.sum() < 2:
        return BoundedShare(*np.full((4, len(low)), np.nan))
    limits = [gap_intervals(one, "demographic_parity_difference", confidence) for one in (least, most)]
    opening = (high - low).max(1)
    return BoundedShare(
        np.maximum(low.max(1) - high.min(1), 0.0),
        _farthest_apart(low, high),
        np.maximum(np.min([one.lower for one in limits], axis=0) - opening, 0.0),
        np.minimum(np.max([one.upper for one in limits], axis=0) + opening, 1.0),
    )


def _farthest_apart(low: FloatArray, high: FloatArray) -> FloatArray:
    pairs = high[:, :, None] - low[:, None, :]
    pairs[:, np.eye(low.shape[1], dtype=np.bool_)] = 0.0
    return np.asarray(pairs.max((1, 2)))
