"""Intervals for rates, for differences between groups, and for changes between two models on the same rows.

Each takes a critical value, the number of standard errors to either side: :func:`normal_critical` for one
interval, a larger one where many intervals have to hold together.

Wald and percentile bootstrap intervals fail where audits live, in small groups and at rare outcomes: the 95 %
Wald interval of a difference covers 60 % with groups of 45 and 5 rows at a rate of 0.1. These do not:

- a rate: Wilson's score interval;
- a difference of two groups: Newcombe's hybrid of the two (1998), [d - sqrt((p - l)^2 + (u' - p')^2), ...];
- a change between two models in one group: Bonett and Price (2012), which adds imaginary rows on which the
  models differ, so that a group where no decision has changed yet is not taken for one where none can change.
"""

from dataclasses import dataclass
from types import EllipsisType
from typing import NamedTuple, Self

import numpy as np
from scipy import stats

from fairenum.scoring.counts import BoolArray, FloatArray, freeze
from fairenum.scoring.rates import Fraction, share

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


class Overlap(NamedTuple):
    """What two models share in one group, row by row.

    Attributes
    ----------
    outcomes
        Rows that are outcomes of both.
    trials
        Rows that are trials of both.
    model_outcomes, first_outcomes
        Outcomes of the one that are trials of the other.
    """

    outcomes: FloatArray
    trials: FloatArray
    model_outcomes: FloatArray
    first_outcomes: FloatArray


class Pair(NamedTuple):
    """A model beside the first one: outcomes and trials of both, and what they share."""

    model: Fraction
    first: Fraction
    overlap: Overlap


def normal_critical(confidence: float) -> float:
    """Find the critical value of a single two-sided interval."""
    return float(stats.norm.ppf((1 + confidence) / 2))


def tukey_critical(confidence: float, groups: int) -> float:
    """Find the critical value for all differences between several groups together.

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


def paired_change(model: Fraction, first: Fraction, overlap: Overlap, critical: float) -> Interval:
    """Bound the change of a rate from one model to another in the same group.

    Each rate is x / n over its own trials; as the rows are shared, so is most of the error. Add h = z^2 / 4
    imaginary rows that are an outcome of the one model only, and h of the other only: p = (x + h) / (n + 2 h),
    m = n + 2 h. The linearised change p - p' has the variance p (1 - p) / m + p' (1 - p') / m' - 2 c, where
    c = sum of (x_i - p n_i) (x'_i - p' n'_i) / (m m').

    Parameters
    ----------
    model, first
        Outcomes and trials of the two models.
    overlap
        What the models have in common.
    critical
        The z above.

    Returns
    -------
    Interval
        For equal trials and z = 2 it is Bonett and Price's.
    """
    added = critical**2 / 4
    trials, other_trials = model[1] + 2 * added, first[1] + 2 * added
    rate, other = (model[0] + added) / trials, (first[0] + added) / other_trials
    covariance = (
        overlap.outcomes
        - other * (overlap.model_outcomes + added)
        - rate * (overlap.first_outcomes + added)
        + rate * other * (overlap.trials + 2 * added)
    ) / (trials * other_trials)
    variance = rate * (1 - rate) / trials + other * (1 - other) / other_trials - 2 * covariance
    change, radius = rate - other, critical * np.sqrt(np.maximum(variance, 0))
    lower, upper = np.maximum(change - radius, -1), np.minimum(change + radius, 1)
    return Interval(share(*model) - share(*first), lower, upper)


def weighted_change(sums: Pair, squares: Pair, critical: float) -> Interval:
    """Bound the change of a rate from one model to another where rows count differently.

    As in :func:`paired_change`, with sums of weights where it takes means, and sums of their squares where it takes
    variances. Weights are scaled by sum w / sum w^2 over the trials, which makes both sums Kish's number of rows, so
    that an imaginary row counts as one of these.

    Parameters
    ----------
    sums, squares
        Of what rows count, and of its squares.
    critical
        The number of standard errors.

    Returns
    -------
    Interval
        That of :func:`paired_change` where all rows count alike.
    """
    added = critical**2 / 4
    (rate, trials, scale), (other, other_trials, other_scale) = (
        _scaled(*fractions, added) for fractions in ((sums.model, squares.model), (sums.first, squares.first))
    )
    both = scale * other_scale
    covariance = (
        both * squares.overlap.outcomes
        - other * (both * squares.overlap.model_outcomes + added)
        - rate * (both * squares.overlap.first_outcomes + added)
        + rate * other * (both * squares.overlap.trials + 2 * added)
    ) / (trials * other_trials)
    variance = (
        _scatter(squares.model, rate, scale, added) / trials**2
        + _scatter(squares.first, other, other_scale, added) / other_trials**2
        - 2 * covariance
    )
    change, radius = rate - other, critical * np.sqrt(np.maximum(variance, 0))
    lower, upper = np.maximum(change - radius, -1), np.minimum(change + radius, 1)
    return Interval(share(*sums.model) - share(*sums.first), lower, upper)


def _scaled(sums: Fraction, squares: Fraction, added: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rate and trials with the imaginary rows, and by what weights are scaled."""
    scale = np.nan_to_num(share(sums[1], squares[1]))
    trials = scale * sums[1] + 2 * added
    return (scale * sums[0] + added) / trials, trials, scale


def _scatter(squares: Fraction, rate: FloatArray, scale: FloatArray, added: float) -> FloatArray:
    """Sum the squares of w (x - p), those of the imaginary rows among them."""
    outcomes, trials = scale**2 * squares[0], scale**2 * squares[1]
    return np.asarray((outcomes + added) * (1 - rate) ** 2 + (trials - outcomes + added) * rate**2)
