"""Confidence intervals, tests and power for the rates and gaps of each model, with the rows as a sample.

Rates have Wilson or Clopper-Pearson limits, differences Newcombe's, gaps Tukey-Kramer or Feldman-Cousins limits; parity
is tested by the score (chi-squared) test or Fisher's exact test.

A gap is the largest of many differences, so it is never negative, and looks large in small groups even where all groups
are treated alike. Its interval therefore comes from the *signed* differences: it starts at 0 if none of them is shown
to differ from 0. (A bootstrap of the gap itself never reaches 0 and is no test.)

The gap of one pair of groups is the absolute value, or size, of one signed difference. :func:`folded_limits` bounds it
as Feldman and Cousins (1998) do: for each true size, samples are ordered by their likelihood relative to the largest
likelihood under any size, and the first ones are accepted until their probability is the confidence; the interval
consists of the true sizes that accept the sample at hand.

A row is one person. Rows with weights count as a smaller number of equally weighted rows
(:func:`~fairenum.metrics.intervals.effective`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import stats

from fairenum.document.terms import Gap
from fairenum.metrics.counts import Confusion, FloatArray
from fairenum.metrics.intervals import (
    FEW_TRIALS,
    Interval,
    difference,
    effective,
    normal_critical,
    pairwise,
    rate_limits,
    tukey_critical,
)
from fairenum.metrics.rates import GAP_RATES, Rate, Scores, share

STEP = 0.02  # between the sizes of the table
LEAST_CONFIDENCE = 0.8  # far below it, at P(t < 1) = 0.68, the samples that support a small size best leave 0 out
BEYOND = 3.0  # standard errors above z from where the limits are t - z and t + z
HALVINGS = 40  # bisection steps on the share of the error that lies below


class _Table(NamedTuple):
    """Squares of true sizes, and of the smallest and the largest sample with which each size is compatible."""

    sizes: FloatArray
    least: FloatArray
    largest: FloatArray


def folded_limits(sample: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return limits of the absolute value of a normal mean by Feldman and Cousins, in standard errors.

    `sample`, t below, is the absolute value of the estimate in standard errors; z is :func:`normal_critical`. The
    limits hold with the confidence whatever the true mean is; below a confidence of 0.8 they are t - z, or 0 if that is
    negative, and t + z. The lower limit is 0 where t is at most z.
    """
    critical, square = normal_critical(confidence), sample**2
    if confidence < LEAST_CONFIDENCE:
        return np.maximum(sample - critical, 0.0), sample + critical
    table = _table(confidence)
    lower = np.sqrt(np.interp(square, table.largest, table.sizes))
    # the last of the sizes that a sample of 0 holds is its limit
    start = int(np.searchsorted(table.least, 0.0, side="right")) - 1
    upper = np.sqrt(np.interp(square, table.least[start:], table.sizes[start:]))
    return (
        np.where(square < table.largest[-1], lower, sample - critical),
        np.where(square < table.least[-1], upper, sample + critical),
    )


@lru_cache(maxsize=8)
def _table(confidence: float) -> _Table:
    sizes = np.arange(0.0, normal_critical(confidence) + BEYOND, STEP) ** 2
    # the samples above the region get the share of the error that those below it leave
    low, high = np.zeros(len(sizes)), np.full(len(sizes), 1 - confidence)
    for _ in range(HALVINGS):
        below = (low + high) / 2
        least, largest = _region(below, confidence, sizes)
        is_enough = _support(least, sizes) >= _support(largest, sizes)
        low, high = np.where(is_enough, low, below), np.where(is_enough, below, high)
    is_open = low == 0.0  # a sample of 0 supports the size better than the largest sample in the region
    least, largest = _region(np.where(is_open, 0.0, high), confidence, sizes)
    return _Table(sizes, least, largest)


def _region(below: FloatArray, confidence: float, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the interval that holds a squared sample with this confidence; `below` is the probability below it."""
    least, largest = (stats.ncx2.ppf(chance, 1, sizes) for chance in (below, below + confidence))
    return np.asarray(least), np.asarray(largest)


def _support(samples: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return log f(t; d) minus its maximum over d, given squares of t and d.

    f(t; d) is the density of a sample t, the absolute value of a normal number of mean d and variance 1.
    """
    return _log_density(np.sqrt(samples * sizes), sizes) - _best(samples)


def _log_density(product: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the logarithm of f(t; d) / f(t; 0) = cosh(t d) exp(-d^2 / 2), given t d and d^2; f as in `_support`."""
    return np.asarray(np.logaddexp(product, -product) - np.log(2) - sizes / 2)


def _best(samples: FloatArray) -> FloatArray:
    """Return the maximum of log(f(t; d) / f(t; 0)) over d, given squares of t; f as in `_support`.

    It is at d = t tanh(t d), so that t d = u for t^2 = u / tanh(u) and d^2 = u tanh(u); up to t = 1 it is at d = 0.
    """
    product = np.arange(STEP, 2 * float(samples.max()) + 1, STEP)
    slope = np.tanh(product)
    return np.interp(samples, product / slope, _log_density(product, product * slope), left=0.0)


POWER = 0.8  # the usual one in planning samples
FEWEST_EXPECTED = 5  # the textbook limit below which the normal approximation of a 2 x 2 table is not trusted


def rate_intervals(counts: Confusion, rate: Rate = "selection_rate", confidence: float = 0.95) -> Interval:
    """Return limits of a rate in each group, shape (models, groups); each interval has the confidence by itself.

    `counts` are ``scores.counts``, or ``scores.counts.overall()`` for all rows together.
    """
    return rate_limits(*effective(rate, counts), normal_critical(confidence))


def signed_differences(
    scores: Scores, rate: Rate = "selection_rate", reference: str | None = None, confidence: float = 0.95
) -> Interval:
    """Return limits of the rate of each group minus that of the reference group, shape (models, groups).

    Each interval has the confidence by itself. The reference is the largest compared group if none is named; its own
    difference is 0.
    """
    position = scores.groups.reference(reference)
    rates = rate_intervals(scores.counts, rate, confidence)
    others = np.arange(len(scores.groups.names)) != position
    return difference(rates, rates[:, [position]], _correlation(scores, rate, position)).where(others)


def _correlation(scores: Scores, rate: Rate, position: int) -> FloatArray | float:
    """Return the correlations of each group's estimate with that of one group, which clusters make; 0 without them."""
    found = scores.counts.design.of_rate(rate).correlation if scores.counts.design else None
    return 0.0 if found is None else found[:, position]


def gap_intervals(scores: Scores, gap: Gap, confidence: float = 0.95, critical: float | None = None) -> Interval:
    """Return limits of the gap of each model, shape (models,); each interval has the confidence by itself.

    Let l be a lower and u an upper limit of each signed difference between two groups. If all l hold together, the gap
    is at least max(0, max l). The gap is at most the u of the pair that is truly the widest, so for max u each u needs
    to hold only by itself: whichever pair is the widest, its own limit holds. Where one pair is by far the widest, the
    interval fails as often as l or u of that pair does, so these two share the error. Where all groups have the same
    rate, only the lower limit can fail. For one pair in one rate, and 30 trials or more, :func:`folded_limits` makes
    use of that.

    Groups that are excluded from comparison are ignored. `critical` is the number of standard errors of every
    limit, where limits are to hold for all models together.
    """
    present = (scores.by_group.count > 0) & scores.groups.compared
    counts, rates = scores.counts.of_groups(present), GAP_RATES[gap]
    # two rates share the error probability between them
    together = critical or tukey_critical(1 - (1 - confidence) / len(rates), int(present.sum()))
    # the upper limit gets the share of the error that the lower limit of the widest pair leaves
    alone = critical or float(stats.norm.isf(1 - confidence - stats.norm.sf(together)))
    fractions = [effective(rate, counts) for rate in rates]
    correlations = [counts.design.of_rate(rate).correlation if counts.design else None for rate in rates]
    least, most = (
        [
            pairwise(rate_limits(*fraction, value), present[present], correlation)
            for fraction, correlation in zip(fractions, correlations, strict=True)
        ]
        for value in (together, alone)
    )
    lower = np.max([pair.lower for pair in least], axis=(0, 2, 3))
    upper = np.max([pair.upper for pair in most], axis=(0, 2, 3))
    found = Interval(getattr(scores.gaps, gap), lower, upper)
    if critical is None and len(rates) == 1 and present.sum() == 2:
        few = np.min(fractions[0][1], axis=-1) < FEW_TRIALS
        return found.where(few, folded_difference(least[0][:, 0, 1], confidence))
    return found


def folded_difference(signed: Interval, confidence: float) -> Interval:
    """Return limits of the absolute value of a signed difference, given limits of the difference at this confidence.

    The distances from estimate to limit, towards 0 and away from it, give the standard error of either side.
    """
    size, is_positive, critical = np.abs(signed.estimate), signed.estimate >= 0.0, normal_critical(confidence)
    below, above = (signed.estimate - signed.lower) / critical, (signed.upper - signed.estimate) / critical
    towards, away = np.where(is_positive, below, above), np.where(is_positive, above, below)
    sample = size / towards
    lower, upper = folded_limits(sample, confidence)
    reach = upper - sample
    return Interval(size, lower * towards, np.maximum(size + reach * away, reach * towards - size))


def parity_p_values(scores: Scores, rate: Rate = "selection_rate", reference: str | None = None) -> FloatArray:
    """Return p-values of tests that each group has the rate of the reference group, shape (models, groups).

    Each test stands alone. It is Fisher's exact test where fewer than five rows are expected in a cell of the 2 x 2
    table, else the score test z^2 = (p - q)^2 / (r (1 - r) (1 / n + 1 / m)) for rates p and q in n and m trials, and
    the pooled rate r. The p-value is NaN for the reference group, the largest compared one if none is named, and where
    a rate is undefined. Where clusters correlate the rates, 2 c / sqrt(n m) is taken from the sum, for correlation c.
    """
    position = scores.groups.reference(reference)
    outcomes, trials = np.broadcast_arrays(*effective(rate, scores.counts))
    split = np.stack([outcomes, trials - outcomes], axis=-1)
    tables = np.stack(np.broadcast_arrays(split, split[:, [position]]), axis=-2)
    if isinstance(correlation := _correlation(scores, rate, position), np.ndarray):
        tables = tables * _gain(trials, trials[:, [position]], correlation)[..., None, None]
    p_values = _table_p_values(tables)
    p_values[:, position] = np.nan
    return p_values


def _gain(trials: FloatArray, others: FloatArray, correlation: FloatArray) -> FloatArray:
    """Return by how much fewer independent trials would tell two correlated rates apart as well."""
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = 1 / trials + 1 / others
        return np.nan_to_num(apart / (apart - 2 * correlation / np.sqrt(trials * others)), nan=1.0, posinf=1.0)


def detectable_differences(scores: Scores, reference: str | None = None, confidence: float = 0.95) -> FloatArray:
    """Return the smallest true difference in selection rate to the reference group that is detected with power 0.8.

    It is (z_confidence + z_power) sqrt(r (1 - r) (1 / n + 1 / m)), where z are normal quantiles, r is the first model's
    rate over all rows, and n and m are the rows of the two groups. The result has shape (groups,) and is at most 1,
    which means that no difference is detectable; NaN for the reference group, the largest compared one if none is
    named.
    """
    position = scores.groups.reference(reference)
    outcomes, trials = (part[0] for part in np.broadcast_arrays(*effective("selection_rate", scores.counts)))
    # two imaginary rows of each kind, as a rate of 0 has no variance and would make every difference detectable
    pooled = (outcomes.sum() + 2) / (trials.sum() + 4)
    with np.errstate(divide="ignore"):
        spread = np.sqrt(pooled * (1 - pooled) * (1 / trials + 1 / trials[position]))
    smallest = np.minimum((normal_critical(confidence) + stats.norm.ppf(POWER)) * spread, 1)
    smallest[position] = np.nan
    return np.asarray(smallest)


def detectable_gap(scores: Scores, gap: Gap, confidence: float = 0.95) -> float:
    """Return the smallest true gap of the first model that its interval shows to be above 0 with power 0.8.

    It is for the pair of groups that is farthest apart: (z + z_power) sqrt(r (1 - r) (1 / n + 1 / m)), where z is the
    critical value of :func:`gap_intervals`, r the rate in all compared groups together, and n and m are the trials of
    the two groups. At most 1, which means that no gap is detectable; NaN if the gap is undefined.
    """
    present = (scores.by_group.count > 0) & scores.groups.compared
    rates, counts = GAP_RATES[gap], scores.counts.of_groups(present)
    critical = tukey_critical(1 - (1 - confidence) / len(rates), int(present.sum()))
    fractions = (np.broadcast_arrays(*effective(rate, counts)) for rate in rates)
    found = [_detectable(outcomes[0], trials[0], critical) for outcomes, trials in fractions]
    known = [one for one in found if not np.isnan(one[0])]
    return max(known)[1] if known else float("nan")


def _detectable(outcomes: FloatArray, trials: FloatArray, critical: float) -> tuple[float, float]:
    """Return the largest difference of two rates, and the smallest that these two groups show with power 0.8."""
    rates = share(outcomes, trials)
    if np.count_nonzero(~np.isnan(rates)) < 2:
        return float("nan"), float("nan")
    high, low = int(np.nanargmax(rates)), int(np.nanargmin(rates))
    if high == low:  # all groups have the same rate
        high, low = np.argsort(trials)[-2:]
    pooled = (outcomes.sum() + 2) / (trials.sum() + 4)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / trials[high] + 1 / trials[low]))
    return float(rates[high] - rates[low]), float(min((critical + stats.norm.ppf(POWER)) * spread, 1.0))


def _table_p_values(tables: FloatArray) -> FloatArray:
    rows, columns = tables.sum(-1), tables.sum(-2)
    total = rows.sum(-1)
    product = tables[..., 0, 0] * tables[..., 1, 1] - tables[..., 0, 1] * tables[..., 1, 0]
    # a table with an empty column shows no difference: 0 / 0 counts as 0
    statistic = np.nan_to_num(share(total * product**2, rows.prod(-1) * columns.prod(-1)))
    p_values = np.asarray(stats.chi2.sf(statistic, 1))
    small = rows.min(-1) * columns.min(-1) < FEWEST_EXPECTED * total
    distinct, position = np.unique(tables[small], axis=0, return_inverse=True)
    exact = np.array([stats.fisher_exact(table).pvalue for table in np.rint(distinct).astype(int)])
    p_values[small] = exact[position.ravel()]
    return np.where(rows.min(-1) > 0, p_values, np.nan)
