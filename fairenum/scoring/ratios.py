"""Ratios of rates: of the smallest to the largest, and of every group to the most selected one."""

import numpy as np

from fairenum.document.terms import Ratio
from fairenum.scoring.counts import FloatArray
from fairenum.scoring.effective import effective
from fairenum.scoring.inference import rate_intervals
from fairenum.scoring.intervals import Interval, normal_critical, wilson
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, Rate, Scores


def impact_ratios(scores: Scores, best: int, rate: Rate = "selection_rate", confidence: float = 0.95) -> Interval:
    """Bound the rate of each group as a share of that of one group, one by one.

    Donner and Zou's interval of a ratio (2012) from Wilson's limits of the two rates: with A = p p', B = l (2 p - l)
    and C = u' (2 p' - u') the lower limit is B / (A + sqrt(A^2 - B C)), and the upper one comes from u and l' alike.

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
        Shape (models, groups); without an upper limit (infinite) where the rate to compare with may be 0, and exactly 1
        for the group itself where its rate is above 0.
    """
    rates = rate_intervals(scores.counts, rate, confidence)
    (p, low, high), (q, least, most) = rates.centred, rates[:, [best]].centred
    product, top = p * q, rates.estimate[:, [best]]
    below, above = low * (2 * p - low), high * (2 * p - high)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = below / (product + np.sqrt(np.maximum(product**2 - below * most * (2 * q - most), 0)))
        floor = least * (2 * q - least)
        upper = (product + np.sqrt(np.maximum(product**2 - above * floor, 0))) / floor
        value = np.where(top > 0, rates.estimate / top, np.nan)
    limits = Interval(value, np.nan_to_num(lower), np.where(floor > 0, upper, np.inf))
    is_itself = (np.arange(p.shape[1]) == best) & (top > 0)
    return limits.where(~is_itself, 1.0)


def ratio_intervals(scores: Scores, ratio: Ratio, confidence: float) -> Interval:
    """Bound the ratio of the smallest to the largest rate of each model.

    With limits l and u of each group's rate that hold together (Bonferroni), every ratio of two groups lies between
    l_a / u_b and u_a / l_b, so the smallest lies between the smallest of these.
    """
    present = (scores.by_group.count > 0) & scores.groups.compared
    rates = GAP_RATES[ratio.replace("ratio", "difference")]  # type: ignore[index]  # the names go in pairs
    critical = normal_critical(1 - (1 - confidence) / (len(rates) * max(int(present.sum()), 1)))
    lower, upper = [], []
    for rate in rates:
        limits = wilson(*effective(FRACTIONS[rate], scores.counts.of_groups(present)), critical)
        lower.append(_smallest_ratio(limits.lower, limits.upper))
        upper.append(np.minimum(_smallest_ratio(limits.upper, limits.lower), 1.0))
    return Interval(getattr(scores.gaps, ratio), np.min(lower, axis=0), np.min(upper, axis=0))


def _smallest_ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Take the smallest above_a / below_b over two different groups; 1 for a single group."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = above[:, :, None] / below[:, None, :]
    others = ~np.eye(above.shape[1], dtype=np.bool_)
    return np.asarray(np.fmin.reduce(ratios[:, others], axis=1, initial=np.inf).clip(max=1.0))
