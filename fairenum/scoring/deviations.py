"""How far the rates of all models may be from the truth together, drawn, and how many standard errors cover them.

Models that decide the same rows err together, so a limit for all of them has to know how. The rates of different groups
come from different rows, and so do true and false positive rates: they err apart.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy import stats

from fairenum.scoring.counts import Confusion, Decisions, FloatArray, IntArray, blocks, confusion
from fairenum.scoring.intervals import normal_critical
from fairenum.scoring.rates import FRACTIONS, Fraction, Rate, share

MOST_ROOTED = 5000  # models: the root of a covariance of more takes gigabytes


def deviations(decisions: Decisions, rates: Sequence[Rate], replications: int, rng: np.random.Generator) -> FloatArray:
    """Draw how far every rate of every model may be from the truth.

    The linearised deviation of a rate x / n is the sum of w_i (x_i - p n_i) / n with a normal number w_i for each row
    (what it counts, where rows count differently, times such a number). Of those sums only the covariance between
    models matters: if D has the summands of all rows as its rows, then the root S of D' D = S S gives S z the
    covariance of D' w, and z is as short as there are models. Copies of a row are taken as one. Of so many models that
    S would not fit, w itself is drawn.
    Weights that are never negative (multinomial, exponential) have the same variance, but where models change
    only a row or two, their long tails widen the band of all.

    Parameters
    ----------
    decisions
        Of all models.
    rates
        Their names in :data:`~fairenum.scoring.rates.FRACTIONS`.
    replications
        How often to draw.
    rng
        Source of the normal numbers.

    Returns
    -------
    FloatArray
        Shape (rates, groups, replications, models).
    """
    kinds, copies, squares = decisions.distinct()
    outcomes, trials = fractions(confusion(kinds, copies), rates)
    noise = np.zeros((*outcomes.shape[1:], replications, len(outcomes)))
    for group in range(outcomes.shape[-1]):
        rows = np.flatnonzero(kinds.groups.codes == group)
        for place, rate in enumerate(rates):
            counted = outcomes[:, place, group], trials[:, place, group]
            parts = _summands(kinds, rows, np.sqrt(squares[rows]), rate, counted)
            if len(outcomes) > MOST_ROOTED:
                noise[place, group] = sum(rng.standard_normal((replications, part.shape[1])) @ part.T for part in parts)
                continue
            root = _root(parts, len(outcomes))
            noise[place, group] = rng.standard_normal((replications, len(root))) @ root
    return noise


def _root(parts: Iterable[FloatArray], models: int) -> FloatArray:
    """Return the root of the covariance of one rate between all models, given the summands of some rows at a time.

    Triangles are gathered, no higher than there are rows. Where models decide alike, rounding turns a triangle, but not
    the symmetric root, so that the same numbers drawn give the same deviations.
    """
    triangle = np.empty((0, models))
    for part in parts:
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, part.T]), mode="r"))
    _, scales, axes = np.linalg.svd(triangle, full_matrices=False)
    return np.asarray((axes.T * scales) @ axes)


def _summands(
    kinds: Decisions, rows: IntArray, scale: FloatArray, rate: Rate, counted: Fraction
) -> Iterator[FloatArray]:
    """Give what rows add to the deviation of one rate, shape (models, rows), some rows at a time."""
    labels, (outcomes, trials) = np.eye(2)[kinds.labels], (part[:, None] for part in counted)
    for block in blocks(len(rows), len(kinds.predictions)):
        some = rows[block]
        # every row as a group of its own
        single = Confusion(labels[None, some], kinds.predictions[:, some, None] * labels[some])
        own, own_trials = FRACTIONS[rate](single)
        yield np.nan_to_num(share(own - share(outcomes, trials) * own_trials, trials)) * scale[block]


def fractions(counts: Confusion, rates: Sequence[Rate]) -> Fraction:
    """Take outcomes and trials of several rates, each of shape (..., models, rates, groups)."""
    return stacked([FRACTIONS[rate](counts) for rate in rates])


def stacked(parts: Sequence[Fraction]) -> Fraction:
    """Put the fractions of several rates together, on the last axis but one."""
    whole = [np.broadcast_arrays(*fraction) for fraction in parts]
    outcomes, trials = (np.stack(part, axis=-2) for part in zip(*whole, strict=True))
    return outcomes, trials


def max_t_critical(contrasts: Sequence[FloatArray], confidence: float) -> float:
    """Find how many standard errors cover all contrasts together.

    Parameters
    ----------
    contrasts
        Drawn deviations from the estimates, the replications on the last axis but one.
    confidence
        With which all are covered.

    Returns
    -------
    float
        At least that of a single contrast, and exactly that where there is but one.
    """
    if sum(contrast.size // max(contrast.shape[-2], 1) for contrast in contrasts) < 2:
        return normal_critical(confidence)
    return covering(np.max([peak(contrast) for contrast in contrasts], axis=0), confidence)


def covering(peaks: FloatArray, confidence: float) -> float:
    """Find how many standard errors cover what deviates by these at most, one for each replication."""
    return max(normal_critical(confidence), float(np.quantile(peaks, confidence)))


def balanced(peaks: FloatArray, confidence: float) -> list[float]:
    """Find how many standard errors cover contrasts of several kinds together, as many of each as it needs.

    Contrasts of one kind that vary together need less than others of the same number. Every kind is exceeded as often
    as every other: with F the share of replications up to a peak of its kind, the largest F of all kinds is what has
    to be covered.

    Parameters
    ----------
    peaks
        By how many standard errors each kind deviates at most, shape (kinds, replications); 0 for a kind without any.
    confidence
        With which all are covered.

    Returns
    -------
    list
        One number for each kind, none below that of a single contrast.
    """
    ranks = stats.rankdata(peaks, axis=1) * (peaks.max(1, keepdims=True) > 0.0)
    last = int(np.ceil(np.quantile(ranks.max(0), confidence)))
    ordered = np.sort(peaks, axis=1)[:, min(max(last, 1), peaks.shape[1]) - 1]
    return [max(normal_critical(confidence), float(value)) for value in ordered]


def peak(contrasts: FloatArray) -> FloatArray:
    """Return by how many of their standard errors contrasts deviate at most, in each replication."""
    spread = np.sqrt(np.einsum("...ij,...ij->...j", contrasts, contrasts) / contrasts.shape[-2])
    # models that decide alike differ by rounding only
    scale = np.divide(1.0, spread, out=np.zeros(spread.shape), where=spread > 1e-12)
    size = np.abs(contrasts)
    size *= scale[..., None, :]
    highest = size.max(-1, initial=0.0)
    return np.asarray(highest.reshape(-1, contrasts.shape[-2]).max(0))
