"""Ratios of rates: of the smallest to the largest, and of every group to the most selected one."""

import numpy as np

from fairenum.document.terms import Ratio
from fairenum.scoring.effective import effective
from fairenum.scoring.inference import rate_intervals
from fairenum.scoring.intervals import Interval, normal_critical, rate_limits, tukey_critical
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, Fraction, Rate, Scores


def ratio(left: Interval, right: Interval) -> Interval:
    """Divide two independent quantities of at least 0, and bound the result from their own limits.

    Donner and Zou's interval (2012): with A = p p', B = l (2 p - l) and C = u' (2 p' - u') the lower limit is
    B / (A + sqrt(A^2 - B C)), and the upper one comes from u and l' alike.

    Parameters
    ----------
    left, right
        Estimates from different rows, of shapes that broadcast.

    Returns
    -------
    Interval
        NaN where the divisor is 0; without an upper limit (infinite) where it may be.
    """
    (p, low, high), (q, least, most) = left.centred, right.centred
    product, floor = p * q, least * (2 * q - least)
    below, above = low * (2 * p - low), high * (2 * p - high)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(right.estimate > 0, left.estimate / right.estimate, np.nan)
        lower = below / (product + np.sqrt(np.maximum(product**2 - below * most * (2 * q - most), 0)))
        upper = (product + np.sqrt(np.maximum(product**2 - above * floor, 0))) / floor
    return Interval(value, np.nan_to_num(lower), np.where(floor > 0, upper, np.inf))


def impact_ratios(scores: Scores, best: int, rate: Rate = "selection_rate", confidence: float = 0.95) -> Interval:
    """Bound the rate of each group as a share of that of one group, one by one.

    Parameters
    ----------
    scores
        All models.
    best
        Position of the group to compare with.
    rate
        Its name in :data:`~fairenum.scoring.rates.FRACTIONS`.
    confidence
        Of each interval, which takes the group to compare with as given.

    Returns
    -------
    Interval
        Shape (models, groups); exactly 1 for the group itself where its rate is above 0.
    """
    rates = rate_intervals(scores.counts, rate, confidence)
    top = rates[:, [best]]
    is_itself = (np.arange(rates.estimate.shape[1]) == best) & (top.estimate > 0)
    return ratio(rates, top).where(~is_itself, 1.0)


def ratio_intervals(scores: Scores, name: Ratio, confidence: float = 0.95) -> Interval:
    """Bound the ratio of the smallest to the largest rate of each model, one by one.

    It is that of some pair of groups, so the smallest of all lower limits needs no more than each of them: whichever
    pair that is, its own holds. It is at most every ratio of two groups, so the upper limits have to hold for all
    pairs together.

    Parameters
    ----------
    scores
        All models. Groups that are set aside have no part in it.
    name
        One of the three ratios.
    confidence
        Of each model's interval.

    Returns
    -------
    Interval
        Shape (models,); from 1 to 1 for a single group.
    """
    present = (scores.by_group.count > 0) & scores.groups.compared
    rates = GAP_RATES[name.replace("ratio", "difference")]  # type: ignore[index]  # the names go in pairs
    fractions = [effective(FRACTIONS[rate], scores.counts.of_groups(present)) for rate in rates]
    # two rates share the error probability between them
    together = tukey_critical(1 - (1 - confidence) / len(rates), int(present.sum()))
    lower = np.min([_pairs(fraction, normal_critical(confidence)).lower for fraction in fractions], axis=(0, 2, 3))
    upper = np.min([_pairs(fraction, together).upper for fraction in fractions], axis=(0, 2, 3))
    return Interval(getattr(scores.gaps, name), lower, upper)


def _pairs(fraction: Fraction, critical: float) -> Interval:
    """Divide every group by every other; none by itself, whose ratio is 1, as is the most that the smallest can be."""
    limits = rate_limits(*fraction, critical)
    pairs = ratio(limits[:, :, None], limits[:, None, :])
    others = ~np.eye(limits.estimate.shape[1], dtype=np.bool_)
    found = pairs.where(others, 1.0)
    return Interval(found.estimate, np.minimum(found.lower, 1.0), np.minimum(found.upper, 1.0))
