"""Differences between two groups given strata: Mantel-Haenszel estimates and tests, and parts of the raw difference.

A stratum is the rows that are alike in a factor such as the department that people apply to. In stratum s, let x and y
of the n and m rows of the two groups be selected, N = n + m, and let r = x / n and q = y / m be the rates. Strata in
which a group has no rows compare nothing and are left out.

The common odds ratio is that of Mantel and Haenszel (1959) with the standard error of Robins, Breslow and Greenland
(1986), and the test of no difference in any stratum is Mantel and Haenszel's; whether the odds ratio is the same
everywhere is tested as Breslow and Day (1980) do, with Tarone's correction. The common difference is the mean of r - q
with the weights n m / N (Greenland and Robins, 1985) and Sato's variance (1989), which holds for few large and for many
small strata.

Kitagawa (1955) divides the raw difference of the rates. With v = n / sum n and w = m / sum m it is

    sum_s (v + w) / 2 (r - q)   +   sum_s (v - w) (r + q) / 2

The first sum is within strata, as people in the same stratum are selected at different rates. The second is due to
composition, as the groups are spread differently over the strata. Variances follow from the influence of each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from fairenum.metrics.counts import BoolArray, FloatArray, IntArray, freeze
from fairenum.metrics.intervals import Interval, difference, normal_critical, rate_limits


@dataclass(frozen=True, slots=True)
class StratifiedPair:
    """Rows and selected rows of a group and of its reference group, by stratum."""

    selected: FloatArray
    rows: FloatArray
    reference_selected: FloatArray
    reference_rows: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def is_shared(self) -> BoolArray:
        """A mask of the strata in which both groups have rows."""
        return np.asarray((self.rows > 0) & (self.reference_rows > 0))

    def of(self, kept: BoolArray | IntArray) -> StratifiedPair:
        """Return the counts of some strata, by a mask or by their places."""
        parts = (self.selected, self.rows, self.reference_selected, self.reference_rows)
        return StratifiedPair(*(part[kept] for part in parts))

    def shared(self) -> StratifiedPair:
        """Return the counts of the strata in which both groups have rows."""
        return self.of(self.is_shared)

    def differences(self, confidence: float) -> Interval:
        """Return Newcombe's limits of the difference of the two rates in each stratum, each by itself."""
        critical = normal_critical(confidence)
        own = rate_limits(self.selected, self.rows, critical)
        return difference(own, rate_limits(self.reference_selected, self.reference_rows, critical))

    def raw(self, confidence: float) -> Interval:
        """Return Newcombe's limits of the difference of the two rates over all strata together, shape (1,)."""
        parts = (self.selected, self.rows, self.reference_selected, self.reference_rows)
        return StratifiedPair(*(part.sum(keepdims=True) for part in parts)).differences(confidence)


class StrataInflation(NamedTuple):
    """Factors by which clusters of rows inflate the variances of estimates within strata.

    Attributes
    ----------
    difference, log_odds
        Of the Mantel-Haenszel difference, and of the logarithm of the Mantel-Haenszel odds ratio.
    within, composition
        Of Kitagawa's parts.
    """

    difference: float = 1.0
    log_odds: float = 1.0
    within: float = 1.0
    composition: float = 1.0


INDEPENDENT = StrataInflation()


@dataclass(frozen=True, slots=True)
class CommonOdds:
    """The Mantel-Haenszel odds ratio with its limits, and tests of no difference and of equal odds ratios.

    Attributes
    ----------
    log_error
        Standard error of the logarithm of the odds ratio.
    statistic, corrected
        Chi-squared statistic, with one degree of freedom, of the test that no stratum has a difference; without and
        with a continuity correction. With clusters, both are divided by the inflation of the difference.
    homogeneity, degrees
        Breslow and Day's statistic of the test that all strata have the same odds ratio, with Tarone's correction, and
        its degrees of freedom; nan with clusters.
    unlike
        Place of the stratum that adds most to this statistic; None if it is undefined.
    """

    ratio: float
    lower: float
    upper: float
    log_error: float
    statistic: float
    corrected: float
    homogeneity: float
    degrees: int
    unlike: int | None

    @property
    def p(self) -> float:
        """The p-value of the test that no stratum has a difference, with the continuity correction."""
        return float(stats.chi2.sf(self.corrected, 1))

    @property
    def homogeneity_p(self) -> float:
        """The p-value of the test that all strata have the same odds ratio; nan for fewer than two strata."""
        return float(stats.chi2.sf(self.homogeneity, self.degrees)) if self.degrees > 0 else np.nan


def common_odds(pair: StratifiedPair, confidence: float, inflation: StrataInflation | None = None) -> CommonOdds:
    """Return the Mantel-Haenszel odds ratio of selection, of the group to its reference, and its tests."""
    found = pair.shared()
    a, b = found.selected, found.rows - found.selected
    c, d = found.reference_selected, found.reference_rows - found.reference_selected
    n = a + b + c + d
    concordant, discordant = a * d / n, b * c / n
    ratio = _quotient(concordant.sum(), discordant.sum())
    factors = inflation or INDEPENDENT
    error = _log_error((a + d) / n, concordant, discordant) * float(np.sqrt(factors.log_odds))
    radius = normal_critical(confidence) * error
    distance = abs((a - (a + b) * (a + c) / n).sum())
    variance = (found.rows * found.reference_rows * (a + c) * (b + d) / (n**2 * np.maximum(n - 1, 1))).sum()
    variance *= factors.difference
    homogeneity, degrees, unlike = _breslow_day(pair, ratio)
    is_tested = inflation is None  # the test has no variant for clusters
    return CommonOdds(
        ratio=ratio,
        lower=ratio * float(np.exp(-radius)),
        upper=ratio * float(np.exp(radius)),
        log_error=error,
        statistic=_quotient(distance**2, variance),
        corrected=_quotient(max(distance - 0.5, 0.0) ** 2, variance),
        homogeneity=homogeneity if is_tested else float(np.nan),
        degrees=degrees,
        unlike=unlike if is_tested else None,
    )


def _quotient(above: float, below: float) -> float:
    return float(above / below) if below > 0 else (np.inf if above > 0 else np.nan)


def _log_error(agreeing: FloatArray, concordant: FloatArray, discordant: FloatArray) -> float:
    """Return the standard error of Robins, Breslow and Greenland; nan if the odds ratio is 0, infinite or undefined."""
    above, below = concordant.sum(), discordant.sum()
    if above <= 0 or below <= 0:
        return float(np.nan)
    rest = 1 - agreeing
    variance = (
        (agreeing * concordant).sum() / above**2
        + (agreeing * discordant + rest * concordant).sum() / (above * below)
        + (rest * discordant).sum() / below**2
    )
    return float(np.sqrt(variance / 2))


def _breslow_day(pair: StratifiedPair, ratio: float) -> tuple[float, int, int | None]:
    """Return Breslow and Day's statistic with Tarone's correction, its degrees of freedom, and the most unlike stratum.

    Strata in which all are selected, or nobody, say nothing about odds. With the common odds ratio R, n and m rows of
    the two groups and t selected rows of both, the expected number e of selected rows of the first group solves
    e (m - t + e) = R (n - e) (t - e).
    """
    chosen = pair.selected + pair.reference_selected
    places = np.flatnonzero(pair.is_shared & (chosen > 0) & (chosen < pair.rows + pair.reference_rows))
    found, degrees = pair.of(places), len(places) - 1
    if degrees < 1 or not 0 < ratio < np.inf:
        return float(np.nan), max(degrees, 0), None
    chosen = found.selected + found.reference_selected
    square, linear = 1 - ratio, ratio * (found.rows + chosen) + found.reference_rows - chosen
    # the root that does not cancel where the ratio is near 1
    expected = (
        2 * ratio * found.rows * chosen / (linear + np.sqrt(linear**2 + 4 * square * ratio * found.rows * chosen))
    )
    cells = (expected, found.rows - expected, chosen - expected, found.reference_rows - chosen + expected)
    variance = 1 / np.sum([1 / cell for cell in cells], axis=0)
    distance = found.selected - expected
    each = distance**2 / variance
    statistic = each.sum() - distance.sum() ** 2 / variance.sum()
    return float(statistic), degrees, int(places[each.argmax()])


def common_difference(pair: StratifiedPair, confidence: float, inflation: StrataInflation | None = None) -> Interval:
    """Return the Mantel-Haenszel difference of the two rates with limits by Sato's variance, shape ()."""
    found = pair.shared()
    n, m = found.rows, found.reference_rows
    x, y = found.selected, found.reference_selected
    total = n + m
    weight = (n * m / total).sum()
    if weight <= 0:
        return Interval(*(np.asarray(value) for value in (np.nan, -1.0, 1.0)))
    value = ((x * m - y * n) / total).sum() / weight
    slope = ((n**2 * y - m**2 * x + n * m * (m - n) / 2) / total**2).sum()
    spread = ((x * (m - y) + y * (n - x)) / (2 * total)).sum()
    factor = (inflation or INDEPENDENT).difference
    radius = normal_critical(confidence) * np.sqrt(max(value * slope + spread, 0.0) * factor) / weight
    return _clipped(value, radius)


def _clipped(value: float, radius: float) -> Interval:
    return Interval(*(np.asarray(one) for one in (value, max(value - radius, -1.0), min(value + radius, 1.0))))


@dataclass(frozen=True, slots=True)
class DividedDifference:
    """The raw difference of two rates, divided as Kitagawa does.

    Attributes
    ----------
    within, composition
        The part within strata and the part due to composition, each with its limits, shape ().
    unmatched
        The rest of the raw difference, due to rows in strata that the other group is not in; 0 if there are none.
    """

    within: Interval
    composition: Interval
    unmatched: float


def divided_difference(
    pair: StratifiedPair, confidence: float, inflation: StrataInflation | None = None
) -> DividedDifference:
    """Return the parts of the raw difference that lie within strata, in composition, and in strata of one group."""
    found, critical = pair.shared(), normal_critical(confidence)
    if not len(found.rows):
        unknown = Interval(*(np.asarray(value) for value in (np.nan, -1.0, 1.0)))
        return DividedDifference(unknown, unknown, float(np.nan))
    v, w = found.rows / found.rows.sum(), found.reference_rows / found.reference_rows.sum()
    r, q = found.selected / found.rows, found.reference_selected / found.reference_rows
    within, composition = ((v + w) / 2 * (r - q)).sum(), ((v - w) * (r + q) / 2).sum()
    unmatched = float(pair.raw(confidence).estimate[0] - (v * r - w * q).sum())
    parts, factors = [], inflation or INDEPENDENT
    for value, slope, level, factor in (
        (within, (v + w) / 2, (r - q) / 2, factors.within),
        (composition, (v - w) / 2, (r + q) / 2, factors.composition),
    ):
        # by the rates and the shares of the two groups, derivatives differ in sign alone
        own = _variance(slope, level, found.selected, found.rows)
        other = _variance(slope, level, found.reference_selected, found.reference_rows)
        error = np.sqrt((own + other) * factor)
        parts.append(_clipped(float(value), float(critical * error)))
    return DividedDifference(parts[0], parts[1], 0.0 if abs(unmatched) < 1e-15 else unmatched)


def _variance(slope: FloatArray, level: FloatArray, selected: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the variance that the rows of one group give to a part of the difference.

    `slope` and `level` are the derivatives by the group's rate in each stratum and by the stratum's share of the group.
    One imaginary selected row and one other are added to a stratum, as a rate of 0 or 1 has no variance.
    """
    total = rows.sum()
    shares = rows / total
    smoothed = (selected + 1) / (rows + 2)
    of_rates = (slope**2 * smoothed * (1 - smoothed) / rows).sum()
    of_shares = ((shares * level**2).sum() - (shares * level).sum() ** 2) / total
    return np.asarray(of_rates + max(of_shares, 0.0))
