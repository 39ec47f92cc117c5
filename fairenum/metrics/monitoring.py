"""An alarm about a gap that is looked at in every period, and stays valid however often one looks.

In period t, x of n rows of a group and y of m rows of the control group are outcomes of a rate; given the numbers of
rows, they are independent with probabilities p and q. The null hypothesis is that |p - q| <= limit in every period;
p and q may change from period to period. The alarm is a test martingale (an e-process) M: under the null hypothesis the
probability that M ever reaches 1 / error is at most `error` (Ville's inequality), whenever and however often one looks.

**One period.** Fix an alternative (p1, q1) with |p1 - q1| > limit before the outcomes of the period are seen. Let
(p0, q0) be the point of the null hypothesis that minimises n KL(p1 | p0) + m KL(q1 | q0). Then

    E = (likelihood of p1, q1) / (likelihood of p0, q0)

has a mean of at most 1 under the null hypothesis (Turner and Grünwald, 2023): let s(p) be the mean of p1(x) / p0(x)
over one row of the group, which is linear in p, and s(q) likewise. As the null hypothesis is convex and (p0, q0) is a
projection onto it, n s(p) + m s(q) <= n + m, and by the inequality of the arithmetic and geometric mean s(p)^n s(q)^m
<= 1. This is exact for any number of rows.

**All periods.** Products of E over the periods s to t are martingales, and so is their mixture over alternatives, and
over the period s in which the gap begins to exceed the limit:

    M_t = sum_s 1 / (s (s + 1)) mean_k E_s(k) ... E_t(k)

where the factors of periods s > t count as 1. An alternative k exceeds the limit by one of `EXCESSES` in one direction;
its rates have the mean of the rates of the last periods before, so they are fixed before the outcomes are seen.

**The limit** is given, or comes from the first periods: the one-sided upper limit of |p - q| in these, which gets
`BASELINE_SHARE` of the error. The rest is for M, which starts after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from fairenum.metrics.counts import FloatArray, IntArray, freeze
from fairenum.metrics.intervals import difference, rate_limits

EXCESSES = (0.01, 0.02, 0.04, 0.08, 0.15, 0.3)
BASELINE_SHARE = 0.2
LEVEL_PERIODS = 6  # periods before, by whose rates alternatives are placed
FIRST_LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)  # mean rates of the alternatives where no period lies before
LEAST_RATE = 1e-4
HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Watched:
    """Outcomes and trials of a group and of its control group in each period, shape (..., periods, 2)."""

    outcomes: FloatArray
    trials: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    def after(self, periods: int) -> Watched:
        """Return the periods after the first ones."""
        return Watched(self.outcomes[..., periods:, :], self.trials[..., periods:, :])


@dataclass(frozen=True, slots=True)
class Monitored:
    """The evidence, after each period, that a gap exceeds its limit.

    Attributes
    ----------
    limit
        The limit; nan if there is none, as a group has no rows in the baseline.
    log_evidence
        Logarithm of M after each monitored period.
    threshold
        The logarithm of M from which there is an alarm.
    alarm
        Index of the first monitored period with an alarm; None without an alarm.
    since
        Index of the monitored period in which the gap most likely began to exceed the limit, if there is an alarm.
    """

    limit: float
    log_evidence: FloatArray
    threshold: float
    alarm: int | None
    since: int | None


def baseline_limit(watched: Watched, periods: int, error: float) -> float:
    """Return the upper limit of the absolute difference of the two rates in the first periods together.

    If the true difference is positive, its upper limit must fail, and if it is negative, its lower limit, so each of
    them may fail with the probability `error`.
    """
    critical = float(stats.norm.isf(error))
    totals = (part[:periods].sum(0) for part in (watched.outcomes, watched.trials))
    outcomes, trials = totals
    if not trials.all():
        return float(np.nan)
    rates = rate_limits(outcomes, trials, critical)
    found = difference(rates[0], rates[1])
    return float(np.clip(np.maximum(-found.lower, found.upper), 0.0, 1.0))


def monitored(watched: Watched, baseline: int, error: float, limit: float | None = None) -> Monitored:
    """Return the evidence that the gap exceeds the limit, in the periods after the first `baseline` ones.

    Without a `limit`, the first periods determine it. The probability of a false alarm at any time is at most `error`.
    """
    bound, share = (limit, 1.0) if limit is not None else (_bound(watched, baseline, error), 1.0 - BASELINE_SHARE)
    threshold = -float(np.log(error * share))
    later = watched.after(baseline)
    if np.isnan(bound):
        return Monitored(bound, np.zeros(len(later.trials)), threshold, None, None)
    steps = log_steps(watched, baseline, bound)
    evidence, since = accumulated(steps)
    reached = np.flatnonzero(evidence >= threshold)
    first = int(reached[0]) if reached.size else None
    return Monitored(bound, evidence, threshold, first, None if first is None else int(since[first]))


def _bound(watched: Watched, baseline: int, error: float) -> float:
    return baseline_limit(watched, baseline, error * BASELINE_SHARE)


def log_steps(watched: Watched, baseline: int, limit: float | FloatArray) -> FloatArray:
    """Return log E of each period after the first `baseline` ones, shape (..., periods, alternatives).

    Further axes before that of the periods hold several pairs of groups, each with its own limit.
    """
    levels = _levels(watched, baseline)
    later = watched.after(baseline)
    limits = np.broadcast_to(np.asarray(limit, np.float64)[..., None], later.trials.shape[:-1])
    logs = _log_likelihood_ratios(later.outcomes, later.trials, levels, limits[..., None, None])
    return np.asarray(special.logsumexp(logs, axis=-2) - np.log(logs.shape[-2]))


def _levels(watched: Watched, baseline: int) -> FloatArray:
    """Return the mean rates of the alternatives of each monitored period, shape (..., periods, levels).

    It is the rate of both groups together in the last periods before; where no rows lie before, several are tried.
    """
    sums = []
    for part in (watched.outcomes, watched.trials):
        whole = np.cumsum(part.sum(-1), axis=-1)
        before = np.concatenate([np.zeros((*whole.shape[:-1], 1)), whole], axis=-1)
        places = np.arange(baseline, part.shape[-2])
        sums.append(before[..., places] - before[..., np.maximum(places - LEVEL_PERIODS, 0)])
    outcomes, trials = (part[..., None] for part in sums)
    first = np.array(FIRST_LEVELS)
    if (trials > 0).all():
        return np.asarray((outcomes + 0.5) / (trials + 1))
    return np.where(trials > 0, (outcomes + 0.5) / (trials + 1), first)


def _log_likelihood_ratios(
    outcomes: FloatArray, trials: FloatArray, levels: FloatArray, limits: FloatArray
) -> FloatArray:
    """Return log E of each period, mean rate and alternative, shape (..., periods, levels, alternatives)."""
    is_positive = np.arange(2 * len(EXCESSES)) < len(EXCESSES)
    bounds = np.where(is_positive, limits, -limits)
    signed = bounds + np.where(is_positive, 1.0, -1.0) * np.tile(EXCESSES, 2)
    counts = [(outcomes[..., place, None, None], trials[..., place, None, None]) for place in (0, 1)]
    total = np.maximum(trials.sum(-1), 1.0)[..., None, None]
    shares = [own / total for _, own in counts]
    # so that both groups together have the rate `levels`
    group = levels[..., None] + shares[1] * signed
    rates = _moved_inside(np.stack([group, group - signed]))
    nearest = _projected(rates, shares, bounds)
    logs = sum(
        hits * np.log(own / null) + (rows - hits) * np.log((1 - own) / (1 - null))
        for (hits, rows), own, null in zip(counts, rates, nearest, strict=True)
    )
    # an alternative that does not fit between 0 and 1 is none, and a group without rows shows nothing
    counts_for = (np.abs(rates[0] - rates[1]) > limits) & (shares[0] * shares[1] > 0)
    return np.where(counts_for, logs, 0.0)


def _moved_inside(rates: FloatArray) -> FloatArray:
    """Move both rates of an alternative together, so that none is below 0 or above 1; cut those that are too wide."""
    low, high = rates.min(0), rates.max(0)
    moved = rates + np.maximum(LEAST_RATE - low, 0.0) - np.maximum(high - (1 - LEAST_RATE), 0.0)
    return np.asarray(np.clip(moved, LEAST_RATE, 1 - LEAST_RATE))


def _projected(rates: FloatArray, shares: Sequence[FloatArray], bounds: FloatArray) -> FloatArray:
    """Return the rates that differ by `bounds` and are nearest to the given ones in the sense of Kullback and Leibler.

    The derivative by the rate of the control group increases, so bisection finds where it is 0.
    """
    low = np.broadcast_to(np.maximum(-bounds, 0.0), rates[0].shape)
    high = np.broadcast_to(np.minimum(1.0 - bounds, 1.0), rates[0].shape)
    for _ in range(HALVINGS):
        control = (low + high) / 2
        group = control + bounds
        slope = shares[0] * (group - rates[0]) / (group * (1 - group))
        slope = slope + shares[1] * (control - rates[1]) / (control * (1 - control))
        low, high = np.where(slope > 0, low, control), np.where(slope > 0, control, high)
    control = np.clip((low + high) / 2, LEAST_RATE**2, 1 - LEAST_RATE**2)
    return np.stack([np.clip(control + bounds, LEAST_RATE**2, 1 - LEAST_RATE**2), control])


def accumulated(steps: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return log M after each period, and the period in which the gap most likely began to exceed its limit."""
    running = np.full((*steps.shape[:-2], steps.shape[-1]), -np.inf)
    best, start = running.copy(), np.zeros(running.shape, np.intp)
    evidence, since = np.zeros(steps.shape[:-1]), np.zeros(steps.shape[:-1], np.intp)
    for place in range(steps.shape[-2]):
        step, weight = steps[..., place, :], -np.log((place + 1) * (place + 2))
        start = np.where(weight > best, place, start)
        best = np.maximum(best, weight) + step
        running = np.logaddexp(running, weight) + step
        mean = special.logsumexp(running, axis=-1) - np.log(running.shape[-1])
        evidence[..., place] = np.logaddexp(mean, -np.log(place + 2))
        since[..., place] = np.take_along_axis(start, best.argmax(-1)[..., None], axis=-1)[..., 0]
    return evidence, since
