"""Intervals for rates, and for differences between groups.

Each takes a critical value, the number of standard errors to either side: :func:`normal_critical` for one
interval, a larger one where many intervals have to hold together.

Wald and percentile bootstrap intervals fail where audits live, in small groups and at rare outcomes: the 95 %
Wald interval of a difference covers 60 % with groups of 45 and 5 rows at a rate of 0.1. These do not:

- a rate: Wilson's score interval, and that of Clopper and Pearson, which never covers too seldom, where trials are few;
- a difference of two groups: Newcombe's hybrid of the two (1998), [d - sqrt((p - l)^2 + (u' - p')^2), ...].
"""

from dataclasses import dataclass
from functools import lru_cache
from types import EllipsisType
from typing import Self

import numpy as np
from scipy import special, stats

from fairenum.scoring.counts import BoolArray, FloatArray, freeze
from fairenum.scoring.rates import share

TINY = 1e-300
FEW_TRIALS = 30  # with fewer, a rate has the exact limits

Index = int | slice | EllipsisType | list[int] | None


@dataclass(frozen=True, slots=True)
class Interval:
    """Estimates with their limits; an undefined estimate is NaN, its limits are all that is possible."""

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Self:
        return type(self)(self.estimate[index], self.lower[index], self.upper[index])

    def where(self, condition: BoolArray, value: float = 0.0) -> Self:
        """Keep what satisfies a condition and put a certain value in the place of the rest."""
        parts = (self.estimate, self.lower, self.upper)
        return type(self)(*(np.where(condition, part, value) for part in parts))

    @property
    def centred(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Unpack, with the middle of the limits for an undefined estimate."""
        middle = (self.lower + self.upper) / 2
        return np.where(np.isnan(self.estimate), middle, self.estimate), self.lower, self.upper


@lru_cache(maxsize=256)
def normal_critical(confidence: float) -> float:
    """Find the critical value of a single two-sided interval."""
    return float(stats.norm.ppf((1 + confidence) / 2))


@lru_cache(maxsize=256)
def tukey_critical(confidence: float, groups: int) -> float:
    """Find the critical value for all differences between several groups together; it is kept, as it takes long.

    It is that of the studentised range, and on the safe side for groups of unequal precision (Tukey-Kramer,
    proved by Hayter in 1984).

    Parameters
    ----------
    confidence
        With which all intervals hold.
    groups
        How many are compared.

    Returns
    -------
    float
        Equal to :func:`normal_critical` for two groups.
    """
    return float(stats.studentized_range.ppf(confidence, max(groups, 2), np.inf) / np.sqrt(2))


def wilson(outcomes: FloatArray, trials: FloatArray, critical: float) -> Interval:
    """Bound a rate by the values whose own standard error would explain the observed one.

    The limits solve (p - x / n)^2 = z^2 p (1 - p) / n.

    Parameters
    ----------
    outcomes, trials
        How many, out of how many.
    critical
        The z above.

    Returns
    -------
    Interval
        From 0 to 1 where there were no trials.
    """
    slack = critical**2
    variance = np.nan_to_num(share(outcomes * (trials - outcomes), trials))
    centre = (outcomes + slack / 2) / (trials + slack)
    radius = critical * np.sqrt(variance + slack / 4) / (trials + slack)
    return Interval(share(outcomes, trials), np.maximum(centre - radius, 0), np.minimum(centre + radius, 1))


def clopper_pearson(outcomes: FloatArray, trials: FloatArray, critical: float) -> Interval:
    """Bound a rate by the values that make what was observed, or more of it, improbable: exact, and on the safe side.

    Parameters
    ----------
    outcomes, trials
        How many, out of how many; they need not be whole.
    critical
        A normal number that is exceeded as often as each limit may fail.

    Returns
    -------
    Interval
        From 0 to 1 where there were no trials.
    """
    tail, rest = stats.norm.sf(critical), trials - outcomes
    # where there is nothing on one side, its limit is certain; any number above 0 keeps the other side defined
    lower = special.betaincinv(np.maximum(outcomes, TINY), rest + 1, tail)
    upper = special.betainccinv(outcomes + 1, np.maximum(rest, TINY), tail)
    return Interval(share(outcomes, trials), np.where(outcomes > 0, lower, 0.0), np.where(rest > 0, upper, 1.0))


def rate_limits(outcomes: FloatArray, trials: FloatArray, critical: float) -> Interval:
    """Bound a rate: exactly below 30 trials, by Wilson's limits from there on.

    Wilson's cover as often as they say on average, but of one to five trials too seldom, and a gap among small groups
    is the largest of many such.

    Parameters
    ----------
    outcomes, trials
        How many, out of how many; of rows that count differently as many as tell the same.
    critical
        The number of standard errors to either side.

    Returns
    -------
    Interval
        From 0 to 1 where there were no trials.
    """
    limits, few = wilson(outcomes, trials, critical), np.broadcast_to(trials < FEW_TRIALS, np.shape(outcomes))
    if not few.any():
        return limits
    exact = clopper_pearson(outcomes[few], np.broadcast_to(trials, np.shape(outcomes))[few], critical)
    lower, upper = limits.lower.copy(), limits.upper.copy()
    lower[few], upper[few] = exact.lower, exact.upper
    return Interval(limits.estimate, lower, upper)


def difference(left: Interval, right: Interval) -> Interval:
    """Subtract two independent quantities, and bound the result from their own limits.

    The distance from estimate to limit is sqrt((p - l)^2 + (u' - p')^2) downwards and likewise upwards.

    Parameters
    ----------
    left, right
        Estimates from different rows, of shapes that broadcast.

    Returns
    -------
    Interval
    """
    (p, low, high), (q, other_low, other_high) = left.centred, right.centred
    return Interval(
        left.estimate - right.estimate,
        p - q - np.hypot(p - low, other_high - q),
        p - q + np.hypot(high - p, q - other_low),
    )


def weighted_mean(parts: Interval, weights: FloatArray) -> Interval:
    """Average independent quantities, and bound the result from their own limits.

    The distance from estimate to limit is sqrt(sum of (w (p - l))^2) downwards and likewise upwards (Zou and Donner,
    2008).

    Parameters
    ----------
    parts
        Estimates from different rows, on the last axis.
    weights
        What each counts, of a shape that broadcasts; one that counts 0 need not be defined.

    Returns
    -------
    Interval
        Without the last axis; a single part that counts 1 stays as it is.
    """
    if parts.estimate.shape[-1] == 1:
        return parts[..., 0]
    used, (p, low, high) = weights > 0.0, parts.centred
    middle = (weights * p).sum(-1)
    return Interval(
        np.where(used, weights * parts.estimate, 0.0).sum(-1),
        middle - np.sqrt(((weights * (p - low)) ** 2).sum(-1)),
        middle + np.sqrt(((weights * (high - p)) ** 2).sum(-1)),
    )


def pairwise(groups: Interval, present: BoolArray) -> Interval:
    """Subtract every group from every other.

    Parameters
    ----------
    groups
        Something about each group, on the last axis.
    present
        Groups that have rows. The others, and each group against itself, differ by exactly 0.

    Returns
    -------
    Interval
        With two axes of groups in the place of one.
    """
    pairs = difference(groups[..., :, None], groups[..., None, :])
    comparable = present[:, None] & present & ~np.eye(len(present), dtype=np.bool_)
    return pairs.where(comparable)
