"""What the rates and gaps of each model are known to be, given that the rows are a sample.

A gap is the largest of many differences, so it is never negative, and looks large in small groups even where
all groups are treated alike. Its interval therefore comes from the *signed* differences: it starts at 0 if
none of them is shown to differ from 0. (A bootstrap of the gap itself never reaches 0 and is no test.)

A row is one person. Where rows count differently, what is known is what as many rows that count alike would tell
(:func:`~fairenum.scoring.effective.effective`).
"""

import numpy as np
from scipy import stats

from fairenum.document.terms import Gap
from fairenum.scoring.counts import BoolArray, Confusion, FloatArray
from fairenum.scoring.effective import effective
from fairenum.scoring.folded import folded_limits
from fairenum.scoring.intervals import (
    FEW_TRIALS,
    Interval,
    difference,
    normal_critical,
    pairwise,
    rate_limits,
    tukey_critical,
)
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, Rate, Scores, share

FEWEST_EXPECTED = 5  # the textbook limit below which the normal approximation of a 2 x 2 table is not trusted


def rate_intervals(counts: Confusion, rate: Rate = "selection_rate", confidence: float = 0.95) -> Interval:
    """Bound the rate of each group, one by one.

    Parameters
    ----------
    counts
        Of all models: ``scores.counts``, or ``scores.counts.overall()`` for all rows together.
    rate
        Its name in :data:`~fairenum.scoring.rates.FRACTIONS`.
    confidence
        Of each interval.

    Returns
    -------
    Interval
        Shape (models, groups).
    """
    return rate_limits(*effective(FRACTIONS[rate], counts), normal_critical(confidence))


def signed_differences(
    scores: Scores, rate: Rate = "selection_rate", reference: str | None = None, confidence: float = 0.95
) -> Interval:
    """Bound how far each group lies above the reference group, one by one.

    Parameters
    ----------
    scores
        All models.
    rate
        Its name in :data:`~fairenum.scoring.rates.FRACTIONS`.
    reference
        The group to compare with; the largest if not given.
    confidence
        Of each interval.

    Returns
    -------
    Interval
        Shape (models, groups); 0 for the reference group itself.
    """
    position = scores.groups.reference(reference)
    rates = rate_intervals(scores.counts, rate, confidence)
    others = np.arange(len(scores.groups.names)) != position
    return difference(rates, rates[:, [position]]).where(others)


def gap_intervals(scores: Scores, gap: Gap, confidence: float = 0.95, critical: float | None = None) -> Interval:
    """Bound the gap of each model, one by one.

    If every signed difference is at least l, the gap is at least max(0, max l), so the lower limits have to hold for
    all pairs together. It is at most the upper limit of the pair that is the widest in truth, so the largest of all
    upper limits needs no more than each of them: whichever pair that is, its own holds. Where one pair is much the
    widest, the limits fail as often as its own two do, and these share the error; where all groups are alike, only the
    lower one can fail. Of one pair in one rate, limits that allow for that are known
    (:mod:`~fairenum.scoring.folded`), for 30 trials or more.

    Parameters
    ----------
    scores
        All models. Groups that are set aside have no part in it.
    gap
        One of the four differences.
    confidence
        Of each model's interval.
    critical
        The number of standard errors of every limit, where they are to hold for all models together.

    Returns
    -------
    Interval
        Shape (models,).
    """
    present = (scores.by_group.count > 0) & scores.groups.compared
    counts, rates = scores.counts.of_groups(present), GAP_RATES[gap]
    # two rates share the error probability between them
    together = critical or tukey_critical(1 - (1 - confidence) / len(rates), int(present.sum()))
    # what the lower limit of the widest pair leaves of the error
    alone = critical or float(stats.norm.isf(1 - confidence - stats.norm.sf(together)))
    fractions = [effective(FRACTIONS[rate], counts) for rate in rates]
    least, most = (
        [pairwise(rate_limits(*fraction, value), present[present]) for fraction in fractions]
        for value in (together, alone)
    )
    lower = np.max([pair.lower for pair in least], axis=(0, 2, 3))
    upper = np.max([pair.upper for pair in most], axis=(0, 2, 3))
    found = Interval(getattr(scores.gaps, gap), lower, upper)
    if critical is None and len(rates) == 1 and present.sum() == 2:
        few = np.min(fractions[0][1], axis=-1) < FEW_TRIALS
        return _chosen(few, found, _folded(least[0][:, 0, 1], confidence))
    return found


def _chosen(condition: BoolArray, left: Interval, right: Interval) -> Interval:
    parts = ((left.estimate, right.estimate), (left.lower, right.lower), (left.upper, right.upper))
    return Interval(*(np.where(condition, *pair) for pair in parts))


def _folded(signed: Interval, confidence: float) -> Interval:
    """Bound the size of a signed difference, given its limits of this confidence.

    The distances from estimate to limit, towards 0 and away from it, are so many standard errors of either side.
    """
    size, is_positive, critical = np.abs(signed.estimate), signed.estimate >= 0.0, normal_critical(confidence)
    below, above = (signed.estimate - signed.lower) / critical, (signed.upper - signed.estimate) / critical
    towards, away = np.where(is_positive, below, above), np.where(is_positive, above, below)
    sample = size / towards
    lower, upper = folded_limits(sample, confidence)
    reach = upper - sample
    return Interval(size, lower * towards, np.maximum(size + reach * away, reach * towards - size))


def parity_p_values(scores: Scores, rate: Rate = "selection_rate", reference: str | None = None) -> FloatArray:
    """Test whether each group has the rate of the reference group, one by one.

    Fisher's exact test where fewer than five rows are expected in a cell, else the score test
    z^2 = (p - q)^2 / (r (1 - r) (1 / n + 1 / m)) with the pooled rate r.

    Parameters
    ----------
    scores
        All models.
    rate
        Its name in :data:`~fairenum.scoring.rates.FRACTIONS`.
    reference
        The group to compare with; the largest if not given.

    Returns
    -------
    FloatArray
        Shape (models, groups); NaN for the reference group itself and where a rate is undefined.
    """
    position = scores.groups.reference(reference)
    outcomes, trials = np.broadcast_arrays(*effective(FRACTIONS[rate], scores.counts))
    split = np.stack([outcomes, trials - outcomes], axis=-1)
    tables = np.stack(np.broadcast_arrays(split, split[:, [position]]), axis=-2)
    p_values = _table_p_values(tables)
    p_values[:, position] = np.nan
    return p_values


def detectable_differences(
    scores: Scores,
    rate: Rate = "selection_rate",
    reference: str | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
) -> FloatArray:
    """Find the smallest true difference to the reference group that a sample of this size would usually show.

    (z_confidence + z_power) sqrt(r (1 - r) (1 / n + 1 / m)), where r is the first model's rate over all rows.

    Parameters
    ----------
    scores
        All models; the first sets the scale.
    rate
        Its name in :data:`~fairenum.scoring.rates.FRACTIONS`.
    reference
        The group to compare with; the largest if not given.
    power
        Share of samples that would show it.
    confidence
        With which they would.

    Returns
    -------
    FloatArray
        Shape (groups,); at most 1, which says that nothing can be seen; NaN for the reference group itself.
    """
    position = scores.groups.reference(reference)
    outcomes, trials = (part[0] for part in np.broadcast_arrays(*effective(FRACTIONS[rate], scores.counts)))
    # two imaginary rows of each kind, as a rate of 0 would promise that everything can be seen
    pooled = (outcomes.sum() + 2) / (trials.sum() + 4)
    with np.errstate(divide="ignore"):
        spread = np.sqrt(pooled * (1 - pooled) * (1 / trials + 1 / trials[position]))
    smallest = np.minimum((normal_critical(confidence) + stats.norm.ppf(power)) * spread, 1)
    smallest[position] = np.nan
    return np.asarray(smallest)


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
