"""Confidence limits for the change of a gap from model 1 to other models: max-t multiplier bootstrap, or Bonferroni.

:func:`deviations` draws the multiplier (wild) bootstrap of all rates, :func:`max_t_critical` computes simultaneous
critical values from it, and :func:`bonferroni_criticals` needs no bootstrap. :func:`change_limits` turns limits of
signed differences into limits of the change of a gap, as follows.

Let c_ab(m) be the signed difference of a rate between groups a and b in model m, d_ab = c_ab(m) - c_ab(1) its change
from model 1, and s_ab = c_ab(m) + c_ab(1) the sum. The gap G = max c_ab, over both orders of every pair and over the
rates of the gap, is at least |c_ab| for every pair. If ab is the widest pair of model m, that with c_ab(m) = G(m), then

    G(m) - G(1) <= c_ab(m) - max(c_ab(1), -c_ab(1), G(1)) = min( d_ab, s_ab, c_ab(m) - G(1) )

and if ab is the widest pair of model 1, then G(m) - G(1) >= max( d_ab, -s_ab, G(m) - c_ab(1) ). Let L(.) and U(.) be
lower and upper confidence limits of these quantities, and L(G) = max L(c_ab) over all pairs. As the widest pairs are
unknown, the limits of the change are

    U(G(m) - G(1)) = max_ab min( U(d_ab), U(s_ab), U(c_ab(m)) - L(G(1)) )
    L(G(m) - G(1)) = min_ab max( L(d_ab), -U(s_ab), L(G(m)) - U(c_ab(1)) )

With two groups and one rate there is only one pair, and the last terms add nothing. With x = c_ab(1), y = c_ab(m), d =
y - x and s = y + x the change of the gap is

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
from fairenum.metrics.clusters import few_clusters, of_changes
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
from fairenum.metrics.rates import FRACTIONS, Fraction, Rate, counted, share

MOST_ROOTED = 5000  # models: the root of a covariance of more takes gigabytes


def deviations(decisions: Decisions, rates: Sequence[Rate], replications: int, rng: np.random.Generator) -> FloatArray:
    """Return draws of every rate's deviation from its true value, by a multiplier bootstrap with normal multipliers.

    The result has shape (rates, groups, replications, models).

    In one group, let v_i be the weight of row i (1 if rows have no weights), x_im be 1 if the row is an outcome of the
    rate under model m, else 0, and t_im likewise if it is a trial. The rate is p_m = sum_i v_i x_im / n_m with n_m =
    sum_i v_i t_im. To first order, its deviation is distributed as

        sum_i w_i D_im,        D_im = v_i (x_im - p_m t_im) / n_m

    with independent standard normal multipliers w_i. The deviations D'w of all models are jointly normal with
    covariance D'D. So is S z, with S the symmetric root of D'D = S S and z a standard normal vector that has one number
    per model rather than one per row; therefore z is drawn instead of w, unless there are so many models that S would
    not fit in memory.

    Rows of equal group, label and decisions are merged before. Multipliers that are never negative (multinomial,
    exponential) have the same variance, but where models change only a row or two, their long tails widen the limits of
    all models.
    """
    if decisions.clusters is not None:
        return _clustered_deviations(decisions, rates, replications, rng)
    kinds, copies, squares = decisions.distinct()
    outcomes, trials = fractions(confusion(kinds, copies), rates)
    noise = np.zeros((*outcomes.shape[1:], replications, len(outcomes)))
    for group in range(outcomes.shape[-1]):
        rows = np.flatnonzero(kinds.groups.codes == group)
        for place, rate in enumerate(rates):
            own = outcomes[:, place, group], trials[:, place, group]
            parts = _summands(kinds, rows, np.sqrt(squares[rows]), rate, own)
            if len(outcomes) > MOST_ROOTED:
                noise[place, group] = sum(rng.standard_normal((replications, part.shape[1])) @ part.T for part in parts)
                continue
            root = _root(parts, len(outcomes))
            noise[place, group] = rng.standard_normal((replications, len(root))) @ root
    return noise


def _clustered_deviations(
    decisions: Decisions, rates: Sequence[Rate], replications: int, rng: np.random.Generator
) -> FloatArray:
    """Return the draws of `deviations` with one multiplier for all rows of a cluster, in every group and rate."""
    clusters = np.asarray(decisions.clusters)
    weights = np.ones(len(clusters)) if decisions.weights is None else decisions.weights
    outcomes, trials = fractions(confusion(decisions), rates)
    noise = np.zeros((*outcomes.shape[1:], replications, len(outcomes)))
    drawn = rng.standard_normal((replications, int(clusters.max()) + 1))
    few = np.sqrt(few_clusters(decisions.groups.codes, clusters, outcomes.shape[-1]))
    for group in range(outcomes.shape[-1]):
        rows = np.flatnonzero(decisions.groups.codes == group)
        held, place = np.unique(clusters[rows], return_inverse=True)
        for at, rate in enumerate(rates if len(rows) else ()):
            own = outcomes[:, at, group], trials[:, at, group]
            parts = np.concatenate([*_summands(decisions, rows, weights[rows], rate, own)], axis=1)
            sums = np.zeros((len(held), len(outcomes)))
            np.add.at(sums, place.ravel(), parts.T)
            noise[at, group] = few[group] * (drawn[:, held] @ sums)
    return noise


def _root(parts: Iterable[FloatArray], models: int) -> FloatArray:
    """Return the symmetric root S of D'D for one rate in one group, shape (models, models); see `deviations`.

    `parts` are blocks of the rows of D, transposed to (models, rows); a triangular factor of D is updated block by
    block. Where models decide alike, rounding can change a triangular factor entirely, but the symmetric root only by
    rounding, so the same random numbers give the same deviations.
    """
    triangle = np.empty((0, models))
    for part in parts:
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, part.T]), mode="r"))
    _, scales, axes = np.linalg.svd(triangle, full_matrices=False)
    return np.asarray((axes.T * scales) @ axes)


def _summands(
    kinds: Decisions, rows: IntArray, scale: FloatArray, rate: Rate, counted: Fraction
) -> Iterator[FloatArray]:
    """Yield the transpose of D in `deviations`, for one rate in one group, as one block of rows after the other.

    The values of each row are multiplied by its `scale`.
    """
    labels, (outcomes, trials) = np.eye(2)[kinds.labels], (part[:, None] for part in counted)
    for block in blocks(len(rows), len(kinds.predictions)):
        some = rows[block]
        # every row as a group of its own
        single = Confusion(labels[None, some], kinds.predictions[:, some, None] * labels[some])
        own, own_trials = FRACTIONS[rate](single)
        yield np.nan_to_num(share(own - share(outcomes, trials) * own_trials, trials)) * scale[block]


def fractions(counts: Confusion, rates: Sequence[Rate]) -> Fraction:
    """Return the outcomes and the trials of several rates, each of shape (..., models, rates, groups)."""
    return stacked([FRACTIONS[rate](counts) for rate in rates])


def stacked(parts: Sequence[Fraction]) -> Fraction:
    """Return the outcomes and the trials of several rates, `parts`, with the rates stacked on the last axis but one."""
    whole = [np.broadcast_arrays(*fraction) for fraction in parts]
    outcomes, trials = (np.stack(part, axis=-2) for part in zip(*whole, strict=True))
    return outcomes, trials


def max_t_critical(contrasts: Sequence[FloatArray], confidence: float) -> float:
    """Return the max-t critical value: the number of standard errors that covers all contrasts at once.

    `contrasts` are arrays of drawn deviations from the estimates, with replications on the last axis but one. In a
    share of the replications equal to the confidence, no contrast deviates by more. The result is at least the critical
    value of a single contrast, and exactly that if there is only one.
    """
    if sum(contrast.size // max(contrast.shape[-2], 1) for contrast in contrasts) < 2:
        return normal_critical(confidence)
    return covering(np.max([peak(contrast) for contrast in contrasts], axis=0), confidence)


def covering(peaks: FloatArray, confidence: float) -> float:
    """Return the quantile of `peaks`, but at least the critical value of a single contrast, at a given confidence.

    `peaks` are the largest deviations of each replication, in standard errors.
    """
    return max(normal_critical(confidence), float(np.quantile(peaks, confidence)))


def balanced(peaks: FloatArray, confidence: float) -> list[float]:
    """Return max-t critical values, one for each kind of contrast, which hold together and fail equally often.

    `peaks`, shape (kinds, replications), are the largest deviations of each kind, in standard errors; 0 for a kind
    without contrasts. Each peak is ranked among all replications of its kind. Let r be the quantile, at the given
    confidence, of the largest rank over all kinds in a replication. The critical value of a kind is its peak of rank r:
    it is smaller for a kind whose contrasts vary together. No value is below that of a single contrast.
    """
    ranks = stats.rankdata(peaks, axis=1) * (peaks.max(1, keepdims=True) > 0.0)
    last = int(np.ceil(np.quantile(ranks.max(0), confidence)))
    ordered = np.sort(peaks, axis=1)[:, min(max(last, 1), peaks.shape[1]) - 1]
    return [max(normal_critical(confidence), float(value)) for value in ordered]


def peak(contrasts: FloatArray) -> FloatArray:
    """Return for each replication the largest absolute deviation of any contrast, in standard errors.

    Replications are the last axis but one of `contrasts`.
    """
    spread = np.sqrt(np.einsum("...ij,...ij->...j", contrasts, contrasts) / contrasts.shape[-2])
    # models that decide alike differ by rounding only
    scale = np.divide(1.0, spread, out=np.zeros(spread.shape), where=spread > 1e-12)
    size = np.abs(contrasts)
    size *= scale[..., None, :]
    highest = size.max(-1, initial=0.0)
    return np.asarray(highest.reshape(-1, contrasts.shape[-2]).max(0))


OWN_SHARE = 0.6  # of the error of one side goes to the limits of the widest pair, the rest to all pairs together


class DifferenceLimits(NamedTuple):
    """Confidence limits of signed differences of rates between groups, on the last axes (rates, groups, groups).

    Attributes
    ----------
    first
        Signed differences of model 1; these arrays have no axis of models.
    models
        Signed differences of each model.
    change, total
        `models` minus `first`, and `models` plus `first`.
    """

    first: Interval
    models: Interval
    change: Interval
    total: Interval


class Criticals(NamedTuple):
    """Critical values, in standard errors, of each kind of limit in :class:`DifferenceLimits`.

    Attributes
    ----------
    change, total, level
        For changes, for sums, and for signed differences.
    least, first
        For the lower limits of signed differences of the other models, and of model 1; the largest of these limits
        bounds a model's gap from below.
    """

    change: float
    total: float
    level: float
    least: float
    first: float

    @property
    def of_lower(self) -> float:
        """Sum of critical values used to compute the lower limit of a gap's change, to compare methods by.

        The larger the sum, the further below the estimate the limit tends to be.
        """
        return self.change + self.level + self.least

    @property
    def of_upper(self) -> float:
        """Sum of critical values used to compute the upper limit of a gap's change, to compare methods by.

        The larger the sum, the further above the estimate the limit tends to be.
        """
        return self.change + self.level + self.first


def bonferroni_criticals(confidence: float, groups: int, rates: int, models: int = 1) -> Criticals:
    """Return Bonferroni critical values, which give each model its share of the error, without a bootstrap.

    Let ab be the truly widest pair of model m, which is fixed. The upper limit of the change fails only if one of the
    three limits U(d_ab), U(s_ab), U(c_ab(m)) of this module's docstring fails, or any lower limit of a signed
    difference of model 1. So with K groups, r rates and n models compared with model 1, it is enough that

        3 n P(Z > z) + r P(R > sqrt(2) z') = error of one side

    where Z is standard normal, R is the range of K standard normal numbers, z is the critical value of the three limits
    and z' that of the lower limits of model 1. The use of R (Tukey and Kramer) is conservative for groups of unequal
    precision. The lower limit of the change depends likewise on the widest pair of model 1, and on all lower limits of
    the n models.
    """
    side = (1 - confidence) / 2
    own, others = side * OWN_SHARE, side * (1 - OWN_SHARE) / rates
    widest = float(stats.norm.isf(own / (3 * models)))
    least, first = (tukey_critical(1 - others / number, groups) for number in (models, 1))
    return Criticals(widest, widest, widest, least, first)


def is_single(rates: Sequence[Rate], present: BoolArray) -> bool:
    """Tell whether the gap has only one pair of groups and one rate, so that no other pair can be the widest."""
    return len(rates) * int(present.sum()) <= 2


def difference_limits(
    decisions: Decisions, rates: Sequence[Rate], present: BoolArray, criticals: Criticals
) -> DifferenceLimits:
    """Return limits of every model's signed differences, of these minus those of model 1, and of the sums of both."""
    counts = counted(decisions)
    outcomes, trials = stacked([effective(rate, counts) for rate in rates])
    known = [counts.design.of_rate(rate).correlation if counts.design else None for rate in rates]
    correlation = stacked_correlation(known)
    models = pairwise(rate_limits(outcomes, trials, criticals.level), present, correlation)
    first = models[0]
    if criticals.least != criticals.level:
        least, most = (rate_limits(outcomes, trials, value) for value in (criticals.least, criticals.first))
        models = replace(models, lower=pairwise(least, present, correlation).lower)
        first = replace(first, lower=pairwise(most, present, correlation).lower[0])
    sums, squares = _paired_counts(decisions, counts, rates)
    change = _pairwise_changes(decisions, rates, present, _paired_limits(sums, squares, criticals.change), -1.0)
    # the sum of two rates is the change from model 1 with every outcome turned into its opposite
    mirrored = _mirrored(sums), squares and _mirrored(squares)
    total = _pairwise_changes(decisions, rates, present, _paired_limits(*mirrored, criticals.total), 1.0)
    return DifferenceLimits(first, models, change, total)


def _pairwise_changes(
    decisions: Decisions, rates: Sequence[Rate], present: BoolArray, changes: Interval, sign: float
) -> Interval:
    """Return limits of the differences between groups of changes (or sums, for a sign of 1), widened for clusters."""
    if decisions.clusters is None:
        return pairwise(changes, present)
    found = [of_changes(decisions, FRACTIONS[rate], sign) for rate in rates]
    factor = np.sqrt(np.stack([one.factor for one in found], axis=1))
    # the limits of a sum are those of a change that reaches from -1 to 1, moved by 1
    return pairwise(changes.widened(factor), present, stacked_correlation([one.correlation for one in found]))


def change_correlation(decisions: Decisions, rate: Rate) -> FloatArray | None:
    """Return the correlation of the changes of a rate in two groups, from model 1; None if it is 0 everywhere."""
    return of_changes(decisions, FRACTIONS[rate], -1.0).correlation


def stacked_correlation(parts: Sequence[FloatArray | None]) -> FloatArray | None:
    """Return the correlations of several rates, stacked after the axis of models; None if there are none."""
    known = [one for one in parts if one is not None]
    return np.stack(known, axis=1) if len(known) == len(parts) and known else None


def change_errors(decisions: Decisions, rates: Sequence[Rate]) -> FloatArray:
    """Return standard errors of the change, from model 1, of each signed difference between two groups.

    The shape is (models, rates, groups, groups). Rows of groups that are excluded from comparison must be left out.
    """
    limits = _paired_limits(*_paired_counts(decisions, confusion(decisions), rates), 1.0)
    change = _pairwise_changes(decisions, rates, decisions.groups.sizes > 0, limits, -1.0)
    return np.asarray((change.upper - change.lower) / 2.0)


def rate_changes(decisions: Decisions, rates: Sequence[Rate], critical: float) -> Interval:
    """Return limits of the change of each rate in each group from model 1, shape (models, rates, groups)."""
    changes = _paired_limits(*_paired_counts(decisions, confusion(decisions), rates), critical)
    if decisions.clusters is None:
        return changes
    found = [of_changes(decisions, FRACTIONS[rate], -1.0).factor for rate in rates]
    return changes.widened(np.sqrt(np.stack(found, axis=1)))


def change_limits(moved: DifferenceLimits, present: BoolArray, *, single: bool) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper limit of each model's change of gap; 0 for fewer than two groups.

    This module's docstring derives them; `single` is the result of :func:`is_single`.
    """
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
    """Return outcomes and trials of each model and of model 1 as sums of weights, and again as sums of squared weights.

    The second result is None if rows have no weights.
    """
    shared = confusion(decisions.shared())
    sums = _paired(counts, shared, rates)
    return sums, _paired(counts.squares, shared.squares, rates) if counts.squares and shared.squares else None


def _paired(counts: Confusion, shared: Confusion, rates: Sequence[Rate]) -> PairedCounts:
    """Return the outcomes and trials of each model and of model 1; `shared` counts the rows that both select."""
    outcomes, trials = fractions(counts, rates)
    both, both_trials = fractions(shared, rates)
    # the trials of precision, for one, are the rows that a model selects; those of most rates are equal for all models
    own = np.array([rate in RATES and RATES[rate].depends_on_model for rate in rates])[:, None]
    overlap = Overlap(both, both_trials, np.where(own, both, outcomes), np.where(own, both, outcomes[0]))
    return PairedCounts((outcomes, trials), (outcomes[0], trials[0]), overlap)


def _mirrored(pair: PairedCounts) -> PairedCounts:
    """Return the counts with outcomes and other trials of model 1 exchanged, which turns its rate p into 1 - p."""
    outcomes, trials = pair.first
    shared = pair.overlap
    overlap = Overlap(
        shared.model_outcomes - shared.outcomes,
        shared.trials,
        shared.model_outcomes,
        shared.trials - shared.first_outcomes,
    )
    return PairedCounts(pair.model, (trials - outcomes, trials), overlap)
