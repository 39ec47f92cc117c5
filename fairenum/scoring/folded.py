"""The limits of a size that is known by a difference of either sign: unified ones, after Feldman and Cousins (1998).

Let c be normal about the truth, with a standard error of 1. Of the size d of the truth only t, that of c, tells, and
t^2 has the noncentral chi-square distribution of one degree of freedom and noncentrality d^2. Limits of c itself, t - z
and t + z, are too wide for a small d: a truth near 0 can hardly be missed from above, so that they hold it in 97.5 % of
samples instead of 95 %. Here every d is held in 95 %, by the samples [a(d), b(d)] that speak best for it, those of the
largest f(t; d) / max f(t; .); the limits of a sample are the least and the largest d that it holds.

- At d = 0 these are the samples up to z, so the lower limit is above 0 exactly where that of c is.
- Up to a d of about 1.64, a(d) = 0: only the lower limit can fail, at b(d) = d + 1.64 or so, instead of d + 1.96.
- From d = z + 2 on, all is as for c.

The upper limit is never above t + z, and at t = 0 it is 1.64. The lower one is above t - z where t is below 3.9, and
below it, by 0.12 at most, between 3.9 and 5.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import stats

from fairenum.scoring.counts import FloatArray
from fairenum.scoring.intervals import normal_critical

STEP = 0.02  # between the sizes of the table
LEAST_CONFIDENCE = 0.8  # far below it, at P(t < 1) = 0.68, the samples that speak best for a small size leave 0 out
BEYOND = 3.0  # so far above z, the limits are t - z and t + z
HALVINGS = 40  # of what is left of the error on one side


class _Table(NamedTuple):
    """Squares of sizes, of the least sample that holds each, and of the largest."""

    sizes: FloatArray
    least: FloatArray
    largest: FloatArray


def folded_limits(sample: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Bound the size of a truth, given that of a sample.

    Parameters
    ----------
    sample
        How many standard errors it is away from 0.
    confidence
        With which the limits hold, whatever the truth; below 0.8 they are t - z and t + z.

    Returns
    -------
    tuple
        In standard errors: the lower limits, 0 where the sample is no farther than :func:`normal_critical`, and the
        upper limits.
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
    # what the samples below the region leave of the error, those above it may have
    low, high = np.zeros(len(sizes)), np.full(len(sizes), 1 - confidence)
    for _ in range(HALVINGS):
        below = (low + high) / 2
        least, largest = _region(below, confidence, sizes)
        is_enough = _support(least, sizes) >= _support(largest, sizes)
        low, high = np.where(is_enough, low, below), np.where(is_enough, below, high)
    is_open = low == 0.0  # samples of 0 speak better for it than the last of the others
    least, largest = _region(np.where(is_open, 0.0, high), confidence, sizes)
    return _Table(sizes, least, largest)


def _region(below: FloatArray, confidence: float, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the squares between which samples lie with this confidence, given how often they lie below."""
    least, largest = (stats.ncx2.ppf(chance, 1, sizes) for chance in (below, below + confidence))
    return np.asarray(least), np.asarray(largest)


def _support(samples: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return log f(t; d) - max log f(t; .), given squares."""
    return _log_density(np.sqrt(samples * sizes), sizes) - _best(samples)


def _log_density(product: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the logarithm of f(t; d) / f(t; 0) = cosh(t d) exp(-d^2 / 2), given t d and d^2."""
    return np.asarray(np.logaddexp(product, -product) - np.log(2) - sizes / 2)


def _best(samples: FloatArray) -> FloatArray:
    """Return the largest log f(t; d) / f(t; 0), given squares of t.

    It is at d = t tanh(t d), so that t d = u for t^2 = u / tanh(u) and d^2 = u tanh(u); up to t = 1 it is at d = 0.
    """
    product = np.arange(STEP, 2 * float(samples.max()) + 1, STEP)
    slope = np.tanh(product)
    return np.interp(samples, product / slope, _log_density(product, product * slope), left=0.0)
