"""Confidence intervals of rates, of their differences, ratios and paired changes, and of means over many draws.

A rate has Wilson's score interval, or the exact one of Clopper and Pearson for few trials; a difference of independent
rates has Newcombe's hybrid interval (MOVER), a ratio that of Donner and Zou, and a paired change that of Bonett and
Price. Weighted rows count as their effective number (Kish, design effect). Over draws, a mean has Student's t interval
and a share that of Clopper and Pearson; a value that is undefined in a draw is NaN and does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import EllipsisType
from typing import NamedTuple, Self

import numpy as np
from scipy import special, stats

from fairenum.document.value import Estimate, Quantiles
from fairenum.metrics.counts import BoolArray, Confusion, FloatArray, freeze
from fairenum.metrics.rates import FRACTIONS, Fraction, Rate, share


def plain(number: float) -> float | None:
    """Return a number as JSON documents hold it: None if it is undefined or infinite, and 0 for -0."""
    return float(number) + 0.0 if math.isfinite(number) else None


def estimate(value: float, low: float = math.nan, high: float = math.nan) -> Estimate:
    """Return an `Estimate` of a value and its limits, each of them None if undefined or infinite."""
    return Estimate(plain(value), plain(low), plain(high))


def estimates(interval: Interval) -> list[Estimate]:
    """Return a list with an `Estimate` for each entry of an interval."""
    return list(map(estimate, interval.estimate, interval.lower, interval.upper))


TINY = 1e-300
FEW_TRIALS = 30  # with fewer, a rate has the exact limits
Index = int | slice | EllipsisType | list[int] | None


@dataclass(frozen=True, slots=True)
class Interval:
    """Estimates with lower and upper limits; where an estimate is undefined (NaN), they span all possible values."""

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Self:
        return type(self)(self.estimate[index], self.lower[index], self.upper[index])

    def where(self, condition: BoolArray, other: Interval | float = 0.0) -> Self:
        """Return this interval where the condition holds, and elsewhere `other`: an interval, or an exact number."""
        if not isinstance(other, Interval):
            other = Interval(*[np.asarray(other, np.float64)] * 3)
        parts = ((self.estimate, other.estimate), (self.lower, other.lower), (self.upper, other.upper))
        return type(self)(*(np.where(condition, own, replacement) for own, replacement in parts))

    def widened(self, factor: FloatArray, least: float = -1.0, most: float = 1.0) -> Self:
        """Return the interval with both distances from its middle multiplied, cut to the possible range."""
        middle, radius = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2 * factor
        return type(self)(self.estimate, np.maximum(middle - radius, least), np.minimum(middle + radius, most))

    @property
    def centred(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Estimate, lower and upper limit; an undefined estimate is replaced by the middle of its limits."""
        middle = (self.lower + self.upper) / 2
        return np.where(np.isnan(self.estimate), middle, self.estimate), self.lower, self.upper


@lru_cache(maxsize=256)
def normal_critical(confidence: float) -> float:
    """Return the normal critical value of a single two-sided interval, in standard errors."""
    return float(stats.norm.ppf((1 + confidence) / 2))


@lru_cache(maxsize=256)
def tukey_critical(confidence: float, groups: int) -> float:
    """Return the Tukey-Kramer critical value, at which the limits of all differences between groups hold together.

    It comes from the studentised range, is conservative for groups of unequal precision (proved by Hayter in 1984), and
    equals :func:`normal_critical` for two groups. Results are cached, as each takes long to compute.
    """
    return float(stats.studentized_range.ppf(confidence, max(groups, 2), np.inf) / np.sqrt(2))


def wilson(outcomes: FloatArray, trials: FloatArray, critical: float) -> Interval:
    """Return Wilson's score interval of a rate; from 0 to 1 without trials.

    With x outcomes in n trials and the critical value z, the limits are the solutions p of (p - x / n)^2 = z^2 p (1 -
    p) / n.
    """
    slack = critical**2
    variance = np.nan_to_num(share(outcomes * (trials - outcomes), trials))
    centre = (outcomes + slack / 2) / (trials + slack)
    radius = critical * np.sqrt(variance + slack / 4) / (trials + slack)
    return Interval(share(outcomes, trials), np.maximum(centre - radius, 0), np.minimum(centre + radius, 1))


def clopper_pearson(outcomes: FloatArray, trials: FloatArray, critical: float) -> Interval:
    """Return the exact, conservative limits of Clopper and Pearson for a rate; from 0 to 1 without trials.

    Outcomes and trials need not be whole numbers. Each limit may fail as often as a standard normal number exceeds
    `critical`.
    """
    tail, rest = stats.norm.sf(critical), trials - outcomes
    # where there is nothing on one side, its limit is certain; any number above 0 keeps the other side defined
    lower = special.betaincinv(np.maximum(outcomes, TINY), rest + 1, tail)
    upper = special.betainccinv(outcomes + 1, np.maximum(rest, TINY), tail)
    return Interval(share(outcomes, trials), np.where(outcomes > 0, lower, 0.0), np.where(rest > 0, upper, 1.0))


def rate_limits(outcomes: FloatArray, trials: FloatArray, critical: float) -> Interval:
    """Return limits of a rate: Clopper and Pearson's exact ones below 30 trials, Wilson's from there on.

    Wilson's limits have their nominal coverage on average, but less for one to five trials, and a gap among small
    groups is the largest of many such rates. Rows with weights are given as their effective number (:func:`effective`).
    """
    limits, few = wilson(outcomes, trials, critical), np.broadcast_to(trials < FEW_TRIALS, np.shape(outcomes))
    if not few.any():
        return limits
    exact = clopper_pearson(outcomes[few], np.broadcast_to(trials, np.shape(outcomes))[few], critical)
    lower, upper = limits.lower.copy(), limits.upper.copy()
    lower[few], upper[few] = exact.lower, exact.upper
    return Interval(limits.estimate, lower, upper)


def difference(left: Interval, right: Interval, correlation: FloatArray | float = 0.0) -> Interval:
    """Return Newcombe's hybrid interval (MOVER) of the difference between two quantities.

    With estimate p and limits l, u of `left`, and p', l', u' of `right`, the distance from the estimate p - p' to its
    lower limit is sqrt((p - l)^2 + (u' - p')^2 - 2 c (p - l) (u' - p')), and to its upper limit sqrt((u - p)^2 + (p' -
    l')^2 - 2 c (u - p) (p' - l')). The correlation c is 0 for quantities from independent rows.
    """
    (p, low, high), (q, other_low, other_high) = left.centred, right.centred
    return Interval(
        left.estimate - right.estimate,
        p - q - _apart(p - low, other_high - q, correlation),
        p - q + _apart(high - p, q - other_low, correlation),
    )


def _apart(left: FloatArray, right: FloatArray, correlation: FloatArray | float) -> FloatArray:
    """Return the side of a triangle opposite to an angle whose cosine is the correlation, given the other two."""
    if isinstance(correlation, float) and correlation == 0.0:
        return np.hypot(left, right)
    return np.sqrt(np.maximum(left**2 + right**2 - 2 * correlation * left * right, 0.0))


def ratio(left: Interval, right: Interval) -> Interval:
    """Return Donner and Zou's interval (MOVER-R, 2012) of the ratio of two independent quantities of at least 0.

    With estimate p and limits l, u of `left`, and p', l', u' of `right`, let A = p p', B = l (2 p - l) and C = u' (2 p'
    - u'). The lower limit is B / (A + sqrt(A^2 - B C)), and the upper one comes from u and l' in the same way. The
    ratio is NaN where the divisor is 0, and its upper limit is infinite where the lower limit of the divisor is 0.
    """
    (p, low, high), (q, least, most) = left.centred, right.centred
    product, floor = p * q, least * (2 * q - least)
    below, above = low * (2 * p - low), high * (2 * p - high)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(right.estimate > 0, left.estimate / right.estimate, np.nan)
        lower = below / (product + np.sqrt(np.maximum(product**2 - below * most * (2 * q - most), 0)))
        upper = (product + np.sqrt(np.maximum(product**2 - above * floor, 0))) / floor
    return Interval(value, np.nan_to_num(lower), np.where(floor > 0, upper, np.inf))


def weighted_mean(parts: Interval, weights: FloatArray, correlation: FloatArray | None = None) -> Interval:
    """Return limits of the weighted mean of quantities over the last axis (MOVER).

    With weights w, estimates p and limits l and u of the parts, the distance from the mean to its lower limit is
    sqrt(sum of (w (p - l))^2), and to its upper limit sqrt(sum of (w (u - p))^2) (Zou and Donner, 2008); products of
    two parts are added where these have a `correlation`, on the last two axes. A part of weight 0 need not be defined;
    a single part is returned as it is.
    """
    if parts.estimate.shape[-1] == 1:
        return parts[..., 0]
    used, (p, low, high) = weights > 0.0, parts.centred
    middle = (weights * p).sum(-1)
    return Interval(
        np.where(used, weights * parts.estimate, 0.0).sum(-1),
        middle - _combined(weights * (p - low), correlation),
        middle + _combined(weights * (high - p), correlation),
    )


def _combined(parts: FloatArray, correlation: FloatArray | None) -> FloatArray:
    """Return the root of the sum of squares over the last axis and, with correlations, of all products of two."""
    if correlation is None:
        return np.asarray(np.sqrt((parts**2).sum(-1)))
    return np.asarray(np.sqrt(np.maximum(np.einsum("...i,...ij,...j->...", parts, correlation, parts), 0.0)))


def pairwise(groups: Interval, present: BoolArray, correlation: FloatArray | None = None) -> Interval:
    """Return limits of the difference between every two groups; the last axis, of groups, becomes two.

    Groups that are not present, and each group against itself, differ by exactly 0. The correlation of two groups'
    estimates, on the last two axes, is 0 if it is not given.
    """
    pairs = difference(groups[..., :, None], groups[..., None, :], 0.0 if correlation is None else correlation)
    comparable = present[:, None] & present & ~np.eye(len(present), dtype=np.bool_)
    return pairs.where(comparable)


ROUNDING = 1e-12  # smaller shares of a sum of squares are rounding
DIGITS = 9  # to which a number of rows is rounded
IMAGINARY = 4.0  # rows added to those of a label, as a variance estimated from few rows is too small


def effective(rate: Rate, counts: Confusion) -> Fraction:
    """Return outcomes and trials of a rate scaled to the number of equally weighted rows that give the same variance.

    Let w be the weight of a trial, and x be 1 if it is an outcome and 0 if not. The rate is p = sum w x / sum w, with
    the linearised variance V = sum w^2 (x - p)^2 / (sum w)^2, which includes the design effect, also where weights
    depend on outcomes. The effective number of trials is p (1 - p) / V, but no more than Kish's (sum w)^2 / sum w^2, as
    a handful of outcomes must not give more precision than their weights allow.

    If the rows are a share f of their table, drawn in proportion to labels, V is smaller. Let u = w (x - p) for a trial
    and 0 for another row, and U_l the sum of u over the n_l rows of label l. Within a label, u varies by chance; the
    share of each label varies only as in the whole table, which has 1 / f times as many rows. So the sum of u^2 in V
    becomes sum u^2 - (1 - f) sum_l U_l^2 / n_l. For a rate among the rows of one label V stays the same, as its U_l is
    0.

    Independent rows without weights that were not drawn in proportion are returned as they are counted. The number of
    rows in clusters is divided by the inflation of their variance.
    """
    fraction = FRACTIONS[rate]
    if counts.design is not None:
        outcomes, trials = effective(rate, replace(counts, design=None))
        inflation = counts.design.of_rate(rate).factor
        return outcomes / inflation, trials / inflation
    outcomes, trials = fraction(counts)
    if counts.squares is None and counts.drawn == 1.0:
        return outcomes, trials
    squared, squares = fraction(counts.squares or counts)
    p = np.clip(np.nan_to_num(share(outcomes, trials)), 0, 1)
    spread = squared * (1 - p) ** 2 + (squares - squared) * p**2
    rows = trials
    if counts.squares is not None:
        is_mixed = np.minimum(squared, squares - squared) > ROUNDING * squares  # rows of both outcomes
        with np.errstate(divide="ignore", invalid="ignore"):
            linear, kish = p * (1 - p) * trials**2 / spread, trials**2 / squares
        rows = np.nan_to_num(np.where(is_mixed, np.fmin(linear, kish), kish))
    # thirty rows that count alike are not fewer, whichever way a division rounds
    rows = np.asarray(np.round(rows, DIGITS))
    if counts.drawn < 1.0:
        between = (1 - counts.drawn) * _between(fraction, counts, p)
        gained = np.divide(spread, spread - between, out=np.ones_like(spread), where=spread > between)
        # few trials have exact limits, which count whole rows
        rows = np.asarray(np.round(np.where(rows < FEW_TRIALS, rows, gained * rows), DIGITS))
    return p * rows, rows


def _between(fraction: Callable[[Confusion], Fraction], counts: Confusion, rate: FloatArray) -> FloatArray:
    """Return the sum of U_l^2 / n_l over the labels l, as in `effective`, made smaller where a label has few rows."""
    parts = []
    for label in (0, 1):
        outcomes, trials = fraction(counts.of_label(label))
        rows = counts.rows[..., label]
        parts.append((outcomes - rate * trials) ** 2 * rows / (rows + IMAGINARY) ** 2)
    return np.asarray(sum(parts))


class Overlap(NamedTuple):
    """Counts of the rows of one group that are trials of a rate under both a model and model 1.

    Attributes
    ----------
    outcomes
        Rows that are outcomes under both.
    trials
        Rows that are trials under both.
    model_outcomes, first_outcomes
        Rows that are trials under both and outcomes under the model; the same with outcomes under model 1.
    """

    outcomes: FloatArray
    trials: FloatArray
    model_outcomes: FloatArray
    first_outcomes: FloatArray


class PairedCounts(NamedTuple):
    """Outcomes and trials of a rate under a model and under model 1, and counts of rows that are trials of both."""

    model: Fraction
    first: Fraction
    overlap: Overlap


def paired_change(model: Fraction, first: Fraction, overlap: Overlap, critical: float) -> Interval:
    """Return Bonett and Price's interval of the change of a rate from model 1 to another model in the same group.

    Both rates are over nearly the same rows, so their errors are correlated. Let x_i be 1 if row i is an outcome under
    the model, else 0, and t_i likewise if it is a trial; x'_i and t'_i are the same under model 1. With the critical
    value z, h = z^2 / 4 imaginary trials of both are added that are outcomes under the model only, and h that are
    outcomes under model 1 only (as in Agresti's adjustments)::

        m = sum_i t_i + 2 h        p = (sum_i x_i + h) / m        (m' and p' likewise)

    The limits are p - p' -+ z sqrt(V), cut to [-1, 1], with the variance of the linearised change::

        V = p (1 - p) / m + p' (1 - p') / m' - 2 C / (m m')        C = sum_i (x_i - p t_i) (x'_i - p' t'_i)

    where the sum C includes the imaginary trials. The estimate is the change of the rates without these. For equal
    trials and z = 2 this is exactly the interval of Bonett and Price.
    """
    added = critical**2 / 4
    trials, other_trials = model[1] + 2 * added, first[1] + 2 * added
    rate, other = (model[0] + added) / trials, (first[0] + added) / other_trials
    covariance = _covariance(overlap, rate, other, added) / (trials * other_trials)
    variance = rate * (1 - rate) / trials + other * (1 - other) / other_trials - 2 * covariance
    return _change_interval(share(*model) - share(*first), rate - other, variance, critical)


def weighted_change(sums: PairedCounts, squares: PairedCounts, critical: float) -> Interval:
    """Return limits of the change of a rate from model 1 to another model where rows have weights.

    They are those of :func:`paired_change`, with sums of weights in means and sums of squared weights in variances.
    Weights w are scaled by sum w / sum w^2 over the trials, which makes both sums equal to Kish's number of rows, so
    that an imaginary trial counts as one of these. Equal weights give the interval of :func:`paired_change`.
    """
    added = critical**2 / 4
    (rate, trials, scale), (other, other_trials, other_scale) = (
        _scaled(*fractions, added) for fractions in ((sums.model, squares.model), (sums.first, squares.first))
    )
    both = scale * other_scale
    overlap = Overlap(*(both * part for part in squares.overlap))
    covariance = _covariance(overlap, rate, other, added) / (trials * other_trials)
    variance = (
        _scatter(squares.model, rate, scale, added) / trials**2
        + _scatter(squares.first, other, other_scale, added) / other_trials**2
        - 2 * covariance
    )
    return _change_interval(share(*sums.model) - share(*sums.first), rate - other, variance, critical)


def _covariance(overlap: Overlap, rate: FloatArray, other: FloatArray, added: float) -> FloatArray:
    """Return the sum C of `paired_change`, which includes the imaginary trials."""
    return np.asarray(
        overlap.outcomes
        - other * (overlap.model_outcomes + added)
        - rate * (overlap.first_outcomes + added)
        + rate * other * (overlap.trials + 2 * added)
    )


def _change_interval(estimate: FloatArray, centre: FloatArray, variance: FloatArray, critical: float) -> Interval:
    radius = critical * np.sqrt(np.maximum(variance, 0))
    return Interval(estimate, np.maximum(centre - radius, -1), np.minimum(centre + radius, 1))


def _scaled(sums: Fraction, squares: Fraction, added: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a rate and its trials, both with the imaginary trials added, and the factor that scales the weights."""
    scale = np.nan_to_num(share(sums[1], squares[1]))
    trials = scale * sums[1] + 2 * added
    return (scale * sums[0] + added) / trials, trials, scale


def _scatter(squares: Fraction, rate: FloatArray, scale: FloatArray, added: float) -> FloatArray:
    """Return the sum of (w (x - p))^2 over all trials, including the imaginary ones, with scaled weights w."""
    outcomes, trials = scale**2 * squares[0], scale**2 * squares[1]
    return np.asarray((outcomes + added) * (1 - rate) ** 2 + (trials - outcomes + added) * rate**2)


QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def mean(values: FloatArray, level: float, least: float = 0.0, most: float = 1.0) -> Estimate:
    """Return the mean of the defined values with Student's t limits, cut to the possible range.

    A single value has no limits, and without values the mean is undefined.
    """
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        return Estimate()
    centre = float(defined.mean())
    if len(defined) == 1:
        return Estimate(centre)
    radius = float(stats.t.ppf((1.0 + level) / 2.0, len(defined) - 1) * defined.std(ddof=1) / np.sqrt(len(defined)))
    return Estimate(centre, max(centre - radius, least), min(centre + radius, most))


def mean_change(values: FloatArray, level: float) -> Estimate:
    """Return the mean of changes of a quantity between 0 and 1, with Student's t limits."""
    return mean(values, level, least=-1.0)


def share_of_draws(marks: BoolArray | Sequence[bool], level: float) -> Estimate:
    """Return the share of draws that are marked, with the limits of Clopper and Pearson."""
    trials, successes = len(marks), int(np.count_nonzero(marks))
    if trials == 0:
        return Estimate()
    limits = stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    return Estimate(successes / trials, float(limits.low), float(limits.high))


def quantiles(values: FloatArray) -> Quantiles | None:
    """Return the 5, 25, 50, 75 and 95 % quantiles of the defined values; None if no value is defined."""
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        return None
    return Quantiles(**{name: float(np.quantile(defined, q)) for name, q in QUANTILES.items()})
