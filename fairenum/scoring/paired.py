"""Intervals for changes between two models on the same rows.

Bonett and Price (2012) add imaginary rows on which the models differ, so that a group where no decision has changed yet
is not taken for one where none can change.
"""

from typing import NamedTuple

import numpy as np

from fairenum.scoring.counts import FloatArray
from fairenum.scoring.intervals import Interval
from fairenum.scoring.rates import Fraction, share


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
