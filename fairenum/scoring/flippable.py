"""How many rows some machine that is nearly as good decides otherwise, given what flipping each of them costs.

A row's flip price is proven to be at least `low` and at most `high`. Within a loss of eps it is *flipped* where high <=
eps, *settled* where eps < low, and *open* else: it counts into the largest share that is possible and not into the
least. The share of flipped rows is the ambiguity of Marx, Calmon and Ustun (2020) over all machines of the kernel whose
loss is within eps of the least one, rather than over the models of a list.

To a flipped row a tolerance is what a selected row is to a model, so rates, gaps and their intervals are those of
models.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairenum.scoring.counts import BoolArray, Confusion, Decisions, FloatArray, freeze
from fairenum.scoring.inference import gap_intervals, rate_intervals
from fairenum.scoring.rates import Scores, score


@dataclass(frozen=True, slots=True)
class BoundedShare:
    """A share of rows some of which are open, and its limits; NaN where it is undefined.

    Attributes
    ----------
    least, most
        Between what it is on these rows.
    lower, upper
        Between what it is where these rows come from.
    """

    least: FloatArray
    most: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Ambiguity at several tolerances.

    Attributes
    ----------
    overall
        Of all rows, shape (tolerances,).
    by_group
        Shape (tolerances, groups).
    gap
        The arbitrariness gap: the largest minus the smallest share of the compared groups, shape (tolerances,).
    """

    overall: BoundedShare
    by_group: BoundedShare
    gap: BoundedShare


def flipped(prices: FloatArray, tolerances: Sequence[float]) -> BoolArray:
    """Tell which rows have a price within each tolerance, shape (tolerances, rows)."""
    return np.asarray(prices <= np.asarray(tolerances, dtype=np.float64)[:, None])


def ambiguity(
    rows: Decisions, low: FloatArray, high: FloatArray, tolerances: Sequence[float], confidence: float = 0.95
) -> Ambiguity:
    """Measure how many rows flip within each tolerance.

    Parameters
    ----------
    rows
        The rows that were examined, with their groups; whatever is decided about them does not count.
    low, high
        What is proven about the price of each.
    tolerances
        Relative losses.
    confidence
        Of each interval.

    Returns
    -------
    Ambiguity
    """
    least, most = (_scored(rows, flipped(prices, tolerances)) for prices in (high, low))
    return Ambiguity(
        _shares(least.counts.overall(), most.counts.overall(), confidence),
        _shares(least.counts, most.counts, confidence),
        _gap(least, most, confidence),
    )


def largest_share(rows: Decisions, changed: BoolArray) -> tuple[int, float]:
    """Find of several machines the one that decides most rows otherwise, and the share of the rows that it does.

    `changed` marks the rows that each decides otherwise, shape (machines, rows).
    """
    shares = score(replace(rows, predictions=changed.astype(np.uint8))).overall.selection_rate
    place = int(shares.argmax())
    return place, float(shares[place])


def _scored(rows: Decisions, is_flipped: BoolArray) -> Scores:
    return score(replace(rows, predictions=is_flipped.astype(np.uint8)))


def _shares(least: Confusion, most: Confusion, confidence: float) -> BoundedShare:
    low, high = (rate_intervals(counts, confidence=confidence) for counts in (least, most))
    return BoundedShare(low.estimate, high.estimate, low.lower, high.upper)


def _gap(least: Scores, most: Scores, confidence: float) -> BoundedShare:
    """Bound the gap; each open row may count either way, so that limits are wider by the largest share of open rows."""
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
    """Return the largest difference between the share of one group, at its most, and that of another at its least."""
    pairs = high[:, :, None] - low[:, None, :]
    pairs[:, np.eye(low.shape[1], dtype=np.bool_)] = 0.0
    return np.asarray(pairs.max((1, 2)))
