"""Confidence limits for the change of a gap from model 1 to other models: max-t multiplier bootstrap, or Bonferroni.

:func:`deviations` draws the multiplier (wild) bootstrap of all rates, :func:`max_t_critical` makes simultaneous
critical values of it, and :func:`bonferroni_criticals` needs no bootstrap. :func:`change_limits` turns limits of signed
differences into limits of the change of a gap:

Let c_ab(m) be the signed difference of a rate between groups a and b in model m, d_ab = c_ab(m) - c_ab(1) its change
and s_ab = c_ab(m) + c_ab(1) their sum. The gap G = max c_ab, over both orders of every pair and over the rates of the
gap, is at least |c_ab| for every pair. So, whichever pair ab is the widest of model m,

    G(m) - G(1) <= c_ab(m) - max(c_ab(1), -c_ab(1), G(1)) = min( d_ab, s_ab, c_ab(m) - G(1) )

and whichever is the widest of model 1, G(m) - G(1) >= max( d_ab, -s_ab, G(m) - c_ab(1) ). With lower limits L and upper
limits U of these, and L(G) = max L(c_ab),

    U = max_ab min( U(d_ab), U(s_ab), U(c_ab(m)) - L(G(1)) )
    L = min_ab max( L(d_ab), -U(s_ab), L(G(m)) - U(c_ab(1)) )

With two groups and one rate no other pair can be the widest, and the last terms add nothing:

    |y| - |x| = max( min(d, s), min(-d, -s) ) = min( max(d, -s), max(s, -d) )

so *fairer* means that d and s have opposite signs, and *less fair* that they have the same sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import stats

from fairenum.document.terms import RATES
from fairenum.metrics.counts import BoolArray, Confusion, Decisions, FloatArray, IntArray, blocks, confusion
from fairenum.metrics.intervals import (
    Interval,
    Overlap,
    PairedCounts,
    effective,
    normal_critical,
    paired_change,
    pairwise,
    rate_limits,
    tukey_critical,
    weighted_change,
)
from fairenum.metrics.rates import FRACTIONS, Fraction, Rate, share

MOST_ROOTED = 5000  # models: the root of a covariance of more takes gigabytes


def deviations(decisions: Decisions, rates: Sequence[Rate], replications: int, rng: np.random.Generator) -> FloatArray:
    """Draw random deviations of every rate from its true value: a multiplier bootstrap with normal multipliers.

    The result has shape (rates, groups, replications, models). The linearised deviation of a rate x / n is the sum of
    w_i (x_i - p n_i) / n with a normal multiplier w_i for each row (times its weight, where rows have weights). Only
    the covariance of those sums between models matters: if D has the summands of all rows as its rows, then the root S
    of D' D = S S gives S z the covariance of D' w, and z has only one number for each model. Copies of a row are
    merged. With too many models for S to fit in memory, w itself is drawn. Multipliers that are never negative
    (multinomial, exponential) have the same variance, but where models change only a row or two, their long tails widen
    the limits of all models.
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
    """Return the symmetric root of the covariance of one rate between all models, from its summands in blocks of rows.

    Triangular factors of the blocks are merged, never higher than there are rows. Where models decide alike, rounding
    can turn a triangular factor but not the symmetric root, so the same random numbers give the same deviations.
    """
    triangle = np.empty((0, models))
    for part in parts:
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, part.T]), mode="r"))
    _, scales, axes = np.linalg.svd(triangle, full_matrices=False)
    return np.asarray((axes.T * scales) @ axes)


def _summands(
    kinds: Decisions, rows: IntArray, scale: FloatArray, rate: Rate, counted: Fraction
) -> Iterator[FloatArray]:
    """Yield the summands of one rate's deviation, shape (models, rows), a block of rows at a time."""
    labels, (outcomes, trials) = np.eye(2)[kinds.labels], (part[:, None] for part in counted)
    for block in blocks(len(rows), len(kinds.predictions)):
        some = rows[block]
        # every row as a group of its own
        single = Confusion(labels[None, some], kinds.predictions[:, some, None] * labels[some])
        own, own_trials = FRACTIONS[rate](single)
        yield np.nan_to_num(share(own - share(outcomes, trials) * own_trials, trials)) * scale[block]


def fractions(counts: Confusion, rates: Sequence[Rate]) -> Fraction:
    """Count outcomes and trials of several rates, each of shape (..., models, rates, groups)."""
    return stacked([FRACTIONS[rate](counts) for rate in rates])


def stacked(parts: Sequence[Fraction]) -> Fraction:
    """Stack the fractions of several rates on the last axis but one."""
    whole = [np.broadcast_arrays(*fraction) for fraction in parts]
    outcomes, trials = (np.stack(part, axis=-2) for part in zip(*whole, strict=True))
    return outcomes, trials


def max_t_critical(contrasts: Sequence[FloatArray], confidence: float) -> float:
    """Find the max-t critical value: how many standard errors cover all contrasts together with the given confidence.

    `contrasts` are drawn deviations from the estimates, replications on the last axis but one. The result is at least
    the critical value of a single contrast, and exactly that if there is only one.
    """
    if sum(contrast.size // max(contrast.shape[-2], 1) for contrast in contrasts) < 2:
        return normal_critical(confidence)
    return covering(np.max([peak(contrast) for contrast in contrasts], axis=0), confidence)


def covering(peaks: FloatArray, confidence: float) -> float:
    """Find how many standard errors cover the largest deviations of all replications with the given confidence."""
    return max(normal_critical(confidence), float(np.quantile(peaks, confidence)))


def balanced(peaks: FloatArray, confidence: float) -> list[float]:
    """Find balanced max-t critical values, one for each kind of contrast: all hold together and fail equally often.

    Contrasts of one kind that vary together need a smaller value than as many that do not. With F the share of
    replications up to a peak of its kind, the largest F over all kinds is what has to be covered. `peaks` has shape
    (kinds, replications), in standard errors, 0 for a kind without contrasts; no result is below that of a single
    contrast.
    """
    ranks = stats.rankdata(peaks, axis=1) * (peaks.max(1, keepdims=True) > 0.0)
    last = int(np.ceil(np.quantile(ranks.max(0), confidence)))
    ordered = np.sort(peaks, axis=1)[:, min(max(last, 1), peaks.shape[1]) - 1]
    return [max(normal_critical(confidence), float(value)) for value in ordered]


def peak(contrasts: FloatArray) -> FloatArray:
    """Return the largest deviation among the contrasts of each replication, in standard errors."""
    spread = np.sqrt(np.einsum("...ij,...ij->...j", contrasts, contrasts) / contrasts.shape[-2])
    # models that decide alike differ by rounding only
    scale = np.divide(1.0, spread, out=np.zeros(spread.shape), where=spread > 1e-12)
    size = np.abs(contrasts)
    size *= scale[..., None, :]
    highest = size.max(-1, initial=0.0)
    return np.asarray(highest.reshape(-1, contrasts.shape[-2]).max(0))


OWN_SHARE = 0.6  # of the error of one side goes to the limits of the widest pair, the rest to all pairs together


class DifferenceLimits(NamedTuple):
    """Limits of signed differences between groups; the last three axes are rates and two groups.

    Attributes
    ----------
    first
        Signed differences of model 1, without an axis of models.
    models
        Signed differences of all models.
    change, total
        `models` minus `first`, and `models` plus `first`.
    """

    first: Interval
    models: Interval
    change: Interval
    total: Interval


class Criticals(NamedTuple):
    """Critical values of each kind of limit, in standard errors.

    Attributes
    ----------
    change, total, level
        For changes, for sums, and for signed differences.
    least, first
        For the lower limits of signed differences, the largest of which bounds a gap from below: of the other models,
        and of model 1.
    """

    change: float
    total: float
    level: float
    least: float
    first: float

    @property
    def of_lower(self) -> float:
        """A measure of how wide these values make the lower bound of the change of a gap."""
        return self.change + self.level + self.least

    @property
    def of_upper(self) -> float:
        """A measure of how wide these values make the upper bound of the change of a gap."""
        return self.change + self.level + self.first


def bonferroni_criticals(confidence: float, groups: int, rates: int, models: int = 1) -> Criticals:
    """Find Bonferroni critical values, which give each model its share of the error, without a bootstrap.

    Let ab be the pair that is truly the widest of model m, a fixed one. The upper bound of the change fails only if one
    of the three limits of this pair fails, or any lower limit of a signed difference of model 1. So with K groups, r
    rates and n models compared with model 1,

        3 n P(Z > z) + r P(range of K > sqrt(2) z') = error of one side

    is enough, where z is for the three and z' for model 1; Tukey and Kramer's range is on the safe side for groups of
    unequal precision. The lower bound depends likewise on the pair that is the widest of model 1, and on all lower
    limits of the n models.
    """
    side = (1 - confidence) / 2
    own, others = side * OWN_SHARE, side * (1 - OWN_SHARE) / rates
    widest = float(stats.norm.isf(own / (3 * models)))
    least, first = (tukey_critical(1 - others / number, groups) for number in (models, 1))
    return Criticals(widest, widest, widest, least, first)


def is_single(rates: Sequence[Rate], present: BoolArray) -> bool:
    """Tell whether there is only one pair of groups in one rate, so that no other can be the widest."""
    return len(rates) * int(present.sum()) <= 2


def difference_limits(
    decisions: Decisions, rates: Sequence[Rate], present: BoolArray, criticals: Criticals
) -> DifferenceLimits:
    """Bound the signed differences of all models, and their changes and sums against model 1."""
    counts = confusion(decisions)
    outcomes, trials = stacked([effective(FRACTIONS[rate], counts) for rate in rates])
    models = pairwise(rate_limits(outcomes, trials, criticals.level), present)
    first = models[0]
    if criticals.least != criticals.level:
        models = replace(models, lower=pairwise(rate_limits(outcomes, trials, criticals.least), present).lower)
        first = replace(first, lower=pairwise(rate_limits(outcomes[0], trials[0], criticals.first), present).lower)
    sums, squares = _paired_counts(decisions, counts, rates)
    change = pairwise(_paired_limits(sums, squares, criticals.change), present)
    # the sum of two rates is the change from model 1 with every outcome turned into its opposite
    mirrored = _mirrored(sums), squares and _mirrored(squares)
    total = pairwise(_paired_limits(*mirrored, criticals.total), present)
    return DifferenceLimits(first, models, change, total)


def rate_changes(decisions: Decisions, rates: Sequence[Rate], critical: float) -> Interval:
    """Bound the change of each rate in each group from model 1, shape (models, rates, groups)."""
    return _paired_limits(*_paired_counts(decisions, confusion(decisions), rates), critical)


def change_limits(moved: DifferenceLimits, present: BoolArray, *, single: bool) -> tuple[FloatArray, FloatArray]:
    """Bound the change of each model's gap as this module's docstring derives it; 0 for fewer than two groups."""
    pairs = (-3, -2, -1)
    others = present[:, None] & present & ~np.eye(len(present), dtype=np.bool_)
    if not others.any():
        return np.zeros(len(moved.change.upper)), np.zeros(len(moved.change.upper))
    upper = np.minimum(moved.change.upper, moved.total.upper)
    lower = np.maximum(moved.change.lower, -moved.total.upper)
    if not single:
        least = moved.models.lower.max(pairs, keepdims=True, initial=0.0)
        upper = np.minimum(upper, moved.models.upper - moved.first.lower.max(initial=0.0))
        lower = np.maximum(lower, least - moved.first.upper)
    highest, lowest = np.where(others, upper, -np.inf).max(pairs), np.where(others, lower, np.inf).min(pairs)
    return np.clip(lowest, -1, 1), np.clip(highest, -1, 1)


def _paired_limits(sums: PairedCounts, squares: PairedCounts | None, critical: float) -> Interval:
    return paired_change(*sums, critical) if squares is None else weighted_change(sums, squares, critical)


def _paired_counts(
    decisions: Decisions, counts: Confusion, rates: Sequence[Rate]
) -> tuple[PairedCounts, PairedCounts | None]:
    """Pair each model with model 1: sums of row weights, and sums of squared weights if rows have weights."""
    shared = confusion(decisions.shared())
    sums = _paired(counts, shared, rates)
    return sums, _paired(counts.squares, shared.squares, rates) if counts.squares and shared.squares else None


def _paired(counts: Confusion, shared: Confusion, rates: Sequence[Rate]) -> PairedCounts:
    """Pair each model with model 1, given the counts of each and those of rows that both select."""
    outcomes, trials = fractions(counts, rates)
    both, both_trials = fractions(shared, rates)
    # the trials of precision, for one, are the rows that a model selects; those of most rates are equal for all models
    own = np.array([rate in RATES and RATES[rate].depends_on_model for rate in rates])[:, None]
    overlap = Overlap(both, both_trials, np.where(own, both, outcomes), np.where(own, both, outcomes[0]))
    return PairedCounts((outcomes, trials), (outcomes[0], trials[0]), overlap)


def _mirrored(pair: PairedCounts) -> PairedCounts:
    """Turn every outcome of model 1 into its opposite: trials that were no outcomes become outcomes."""
    outcomes, trials = pair.first
    shared = pair.overlap
    overlap = Overlap(
        shared.model_outcomes - shared.outcomes,
        shared.trials,
        shared.model_outcomes,
        shared.trials - shared.first_outcomes,
    )
    return PairedCounts(pair.model, (trials - outcomes, trials), overlap)
