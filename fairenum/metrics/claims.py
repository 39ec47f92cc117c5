"""Verdicts on one model chosen before these rows were seen, by pairs of groups fixed before, too.

Let c_ab(m) be the rate of group a minus that of group b in model m; the gap G(m) is the largest c_ab(m) over all
ordered pairs ab, and over the rates of the gap. Let pq be any pair that was fixed on other rows: the widest of model 1
there. As G(1) >= c_pq(1), whichever pair ab is truly the widest of model m,

    G(m) - G(1) <= c_ab(m) - c_pq(1)

so the largest upper limit of c_ab(m) - c_pq(1) over all ab is an upper limit of the change of the gap. It fails only if
the limit of one pair fails, that of the truly widest: each limit has the whole error, without a correction for the
number of pairs (an intersection-union test). In the same way, with a pair rs fixed on other rows as the widest of model
m,

    G(m) - G(1) >= c_rs(m) - c_ab(1)

for the widest pair ab of model 1, so the smallest lower limit over all ab is a lower limit of the change. As model m
often has a small gap, the order of its pair may differ from the one on other rows: the larger of the limits for both
orders is taken, each with half of the error. With two groups and one rate the terms of the upper limit are y - x and
-y - x, where x and y are the differences of both models.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

import numpy as np
from scipy import stats

from fairenum.document.terms import Gap, Verdict
from fairenum.document.value import Estimate
from fairenum.metrics.changes import is_single
from fairenum.metrics.clusters import cluster_sizes, few_clusters
from fairenum.metrics.comparison import change_verdict, small_groups
from fairenum.metrics.counts import Confusion, Decisions, FloatArray, IntArray, confusion, freeze
from fairenum.metrics.inference import folded_difference, rate_intervals
from fairenum.metrics.intervals import Interval, difference, estimates
from fairenum.metrics.rates import FRACTIONS, GAP_RATES, Rate, counted, score, share


class FixedPair(NamedTuple):
    """A rate and two groups whose difference is watched, fixed before the rows that it is tested on were seen."""

    rate: Rate
    higher: str
    lower: str


class FixedPairs(NamedTuple):
    """The widest pair of model 1 and that of the chosen model, both on other rows than those of the test."""

    first: FixedPair
    chosen: FixedPair


def fixed_pairs(decisions: Decisions, model: int, gap: Gap, control: str | None = None) -> FixedPairs | None:
    """Return the widest pairs of model 1 and of another model on these rows; None if a gap is undefined.

    With a `control`, only pairs of this group with another one count.
    """
    pair = replace(decisions, predictions=decisions.predictions[[0, model]]).compared()
    found = [_widest(pair, place, GAP_RATES[gap], control) for place in (0, 1)]
    return None if None in found else FixedPairs(*found)  # type: ignore[arg-type]  # None was refused


def _widest(decisions: Decisions, place: int, rates: tuple[Rate, ...], control: str | None) -> FixedPair | None:
    """Return the pair of groups with the largest difference in any of the rates, at its lower confidence limit.

    Groups of few rows are often farthest apart by chance, and what is said of them is hard to confirm; the limit takes
    that into account.
    """
    names, counts = decisions.groups.names, counted(replace(decisions, predictions=decisions.predictions[[place]]))
    found = {rate: rate_intervals(counts, rate) for rate in rates}
    pairs = [
        (FixedPair(rate, names[a], names[b]), float(difference(one[:, a], one[:, b]).lower[0]))
        for rate, one in found.items()
        for a, b in permutations(range(len(names)), 2)
        if (control not in names or control in (names[a], names[b])) and not np.isnan(one.estimate[0, [a, b]]).any()
    ]
    return max(pairs, key=lambda one: one[1])[0] if pairs else None


class ChosenComparison(NamedTuple):
    """The change of the gap from model 1 to one other model, and the verdict, None where nothing can be compared."""

    change: Interval
    verdict: Verdict | None


class Errors(NamedTuple):
    """Probabilities of a false verdict "fairer", and of a false verdict "less fair"."""

    fairer: float
    less_fair: float

    @property
    def criticals(self) -> tuple[float, float]:
        """The one-sided critical values of the upper and of the lower limit of a change.

        The lower limit is the larger of two, for either order of a pair of groups, which share the error.
        """
        return float(stats.norm.isf(self.fairer)), float(stats.norm.isf(self.less_fair / 2.0))


def compare_chosen(
    decisions: Decisions, model: int, gap: Gap, pairs: FixedPairs, errors: Errors, *, margin: float = 0.0
) -> ChosenComparison:
    """Return limits and verdict on the change of the gap from model 1 to a model chosen without looking at these rows.

    `model` is the position of the model in `decisions`, whose first is model 1. Rows of groups that are excluded from
    comparison are ignored. The verdict is "same" where both limits are no farther from 0 than `margin`; it is None
    where the gap is undefined, there is only one group, or the model decides all rows alike.
    """
    return _compared(decisions, model, GAP_RATES[gap], pairs, errors, margin)


def compare_pair(
    decisions: Decisions, model: int, pair: FixedPair, errors: Errors, *, margin: float = 0.0
) -> ChosenComparison:
    """Return limits and verdict on the change of the gap between two groups in one rate, as `compare_chosen` does."""
    return _compared(_between(decisions, pair), model, (pair.rate,), FixedPairs(pair, pair), errors, margin)


def is_one_pair(decisions: Decisions, gap: Gap) -> bool:
    """Tell whether a gap has only one pair of groups and one rate, so that no other pair can be the widest."""
    groups = decisions.groups
    return is_single(GAP_RATES[gap], (groups.sizes > 0) & groups.compared)


def pair_gaps(decisions: Decisions, model: int, pair: FixedPair, confidence: float) -> tuple[Estimate, Estimate]:
    """Return the gap between a pair of groups in one rate, under model 1 and under another model, with intervals."""
    both = _between(replace(decisions, predictions=decisions.predictions[[0, model]]), pair).compared()
    rates = rate_intervals(confusion(both), pair.rate, confidence)
    found = estimates(folded_difference(difference(rates[:, 0], rates[:, 1]), confidence))
    return found[0], found[1]


def others_against(decisions: Decisions, pair: FixedPair, control: str) -> list[FixedPair]:
    """Return the pairs of the control with each compared group that is not of `pair`, in the rate of that pair.

    The order of each pair is that of the rates of model 1 on these rows.
    """
    first = replace(decisions, predictions=decisions.predictions[:1]).compared()
    names = first.groups.names
    rates = dict(zip(names, share(*np.broadcast_arrays(*FRACTIONS[pair.rate](confusion(first))))[0], strict=True))
    return [
        FixedPair(pair.rate, *sorted((control, name), key=lambda one: -rates[one]))
        for name in names
        if control in names and name not in (pair.higher, pair.lower, control)
    ]


def is_pair_coarse(decisions: Decisions, model: int, pair: FixedPair, least: int) -> bool:
    """Tell whether the rate of a pair has fewer than `least` trials in one of its groups under `model` or model 1."""
    both = _between(replace(decisions, predictions=decisions.predictions[[0, model]]), pair).compared()
    return bool(small_groups(score(both), (pair.rate,), least).any())


def _between(decisions: Decisions, pair: FixedPair) -> Decisions:
    """Return the decisions with only the two groups of a pair to be compared."""
    kept = np.isin(decisions.groups.names, [pair.higher, pair.lower])
    return replace(decisions, groups=replace(decisions.groups, aside=tuple(np.flatnonzero(~kept).tolist())))


def _compared(
    decisions: Decisions, model: int, rates: tuple[Rate, ...], pairs: FixedPairs, errors: Errors, margin: float
) -> ChosenComparison:
    both = replace(decisions, predictions=decisions.predictions[[0, model]]).compared()
    names, (fair, harm) = both.groups.names, errors.criticals
    if not {pairs.first.higher, pairs.first.lower, pairs.chosen.higher, pairs.chosen.lower} <= {*names}:
        return ChosenComparison(Interval(*map(np.asarray, (np.nan, -1.0, 1.0))), None)
    found = PairedRates.of(both, rates, fair)
    upper = found.limits(found.against(pairs.first, is_upper=True), fair)[1].max()
    other = PairedRates.of(both, rates, harm)
    orders = (pairs.chosen, pairs.chosen._replace(higher=pairs.chosen.lower, lower=pairs.chosen.higher))
    lower = max(other.limits(other.against(order, is_upper=False), harm)[0].min() for order in orders)
    gaps = found.gaps
    is_judged = not (both.is_constant[1] or np.isnan(gaps).any())
    limits = float(np.clip(lower, -1, 1)), float(np.clip(upper, -1, 1))
    verdict = change_verdict(*limits, margin) if is_judged else None
    return ChosenComparison(Interval(*map(np.asarray, (gaps[1] - gaps[0], *limits))), verdict)


@dataclass(frozen=True)
class PairedRates:
    """The rates of model 1 and of one other model in each group, with the covariance of all of them.

    Arrays have the axes (groups, models, rates), the covariance has them twice. As in
    :func:`~fairenum.metrics.intervals.paired_change`, h = z^2 / 4 imaginary rows of each group are outcomes under one
    model only, and h under the other only, for the critical value z; `centre` and `covariance` include them.

    Attributes
    ----------
    estimate
        The rates without imaginary rows; NaN without trials.
    """

    rates: tuple[Rate, ...]
    names: tuple[str, ...]
    estimate: FloatArray
    centre: FloatArray
    covariance: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(cls, decisions: Decisions, rates: tuple[Rate, ...], critical: float) -> PairedRates:
        """Return the rates of the two models of `decisions`, with imaginary rows for a critical value."""
        rows = _Rows.of(decisions, rates)
        names, added = decisions.groups.names, critical**2 / 4
        shape = (len(names), 2, len(rates))
        trials, outcomes, squares = (_summed(part, rows.codes, shape) for part in rows.sums)
        scale = np.nan_to_num(share(trials, squares))
        counted = scale * trials + 2 * added
        centre = (scale * outcomes + added) / counted
        influence = rows.spread * (scale / counted)[rows.codes] * (rows.outcomes - centre[rows.codes] * rows.trials)
        covariance = rows.covariance(influence, shape) + _imaginary(centre, counted, added * rows.alike)
        return cls(rates, names, share(outcomes, trials), centre, covariance)

    @cached_property
    def gaps(self) -> FloatArray:
        """The gap of both models, NaN where fewer than two groups have a rate."""
        spread = np.fmax.reduce(self.estimate, axis=0) - np.fmin.reduce(self.estimate, axis=0)
        known = np.count_nonzero(~np.isnan(self.estimate), axis=0) >= 2
        return np.asarray(np.where(known, spread, np.nan).max(-1))

    def against(self, fixed: FixedPair, *, is_upper: bool) -> FloatArray:
        """Return the contrasts of this module's docstring for every ordered pair of groups in every rate.

        For upper limits they are c_ab(m) - c_pq(1), with pq the fixed pair; for lower ones c_rs(m) - c_ab(1).
        """
        first, chosen = (0, 1) if is_upper else (1, 0)
        rate = self.rates.index(fixed.rate)
        contrasts = []
        for place in range(len(self.rates)):
            for a, b in permutations(range(len(self.names)), 2):
                one = np.zeros(self.centre.shape)
                one[a, chosen, place] += 1.0
                one[b, chosen, place] -= 1.0
                one[self.names.index(fixed.higher), first, rate] -= 1.0
                one[self.names.index(fixed.lower), first, rate] += 1.0
                contrasts.append(one if is_upper else -one)
        return np.array(contrasts)

    def limits(self, contrasts: FloatArray, critical: float) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper limits of linear combinations of the rates, of shape (contrasts, *axes)."""
        flat = contrasts.reshape(len(contrasts), -1)
        size = flat.shape[1]
        centre = flat @ self.centre.ravel()
        variance = np.einsum("ci,ij,cj->c", flat, self.covariance.reshape(size, size), flat)
        radius = critical * np.sqrt(np.maximum(variance, 0.0))
        return centre - radius, centre + radius


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows, or kinds of equal rows, as outcomes and trials of the rates under both models.

    Attributes
    ----------
    outcomes, trials
        0 or 1, shape (rows, models, rates).
    weights, squares
        Sums of weights and of squared weights.
    clusters
        The cluster of each row; None if rows are independent.
    alike
        For each group the size of a cluster, averaged over its rows, shape (groups, 1, 1); 1 without clusters.
    """

    codes: IntArray
    outcomes: FloatArray
    trials: FloatArray
    weights: FloatArray
    squares: FloatArray
    clusters: IntArray | None
    alike: FloatArray

    @classmethod
    def of(cls, decisions: Decisions, rates: tuple[Rate, ...]) -> _Rows:
        groups = len(decisions.groups.names)
        if decisions.clusters is None:
            kinds, copies, squares = decisions.distinct()
            return cls(kinds.groups.codes, *_tried(kinds, rates), copies, squares, None, np.ones((groups, 1, 1)))
        weights = np.ones(len(decisions.labels)) if decisions.weights is None else decisions.weights
        codes, clusters = decisions.groups.codes, decisions.clusters
        alike = cluster_sizes(codes, clusters, groups)[:, None, None]
        return cls(codes, *_tried(decisions, rates), weights, weights**2, clusters, alike)

    @property
    def sums(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Trials and outcomes by weight, and trials by squared weight."""
        weights, squares = self.weights[:, None, None], self.squares[:, None, None]
        return weights * self.trials, weights * self.outcomes, squares * self.trials

    @property
    def spread(self) -> FloatArray:
        """The factor of a row's influence on a rate: its weight or, for a kind of rows, the root of their squares."""
        return np.sqrt(self.squares)[:, None, None]

    def covariance(self, influence: FloatArray, shape: tuple[int, int, int]) -> FloatArray:
        """Return the covariance of all rates, given each row's influence on those of its group."""
        groups, cells = shape[0], shape[1] * shape[2]
        flat = influence.reshape(len(influence), cells)
        if self.clusters is None:
            found = np.zeros((groups, cells, groups, cells))
            for group in range(groups):
                own = flat[self.codes == group]
                found[group, :, group] = own.T @ own
            return found.reshape(*shape, *shape)
        flat = flat * np.sqrt(few_clusters(self.codes, self.clusters, groups))[self.codes, None]
        sums = np.zeros((self.clusters.max() + 1, groups, cells))
        np.add.at(sums, (self.clusters, self.codes), flat)
        sums = sums.reshape(len(sums), -1)
        return np.asarray(sums.T @ sums).reshape(*shape, *shape)


def _tried(decisions: Decisions, rates: tuple[Rate, ...]) -> tuple[FloatArray, FloatArray]:
    """Return whether each row is an outcome, and whether it is a trial, of each rate under both models."""
    labels = np.eye(2)[decisions.labels]
    single = Confusion(labels[None], decisions.predictions[:, :, None] * labels)  # every row as a group of its own
    found = [np.broadcast_arrays(*FRACTIONS[rate](single)) for rate in rates]
    outcomes, trials = (np.stack(parts, axis=-1).swapaxes(0, 1) for parts in zip(*found, strict=True))
    return outcomes, np.broadcast_to(trials, outcomes.shape)


def _summed(values: FloatArray, codes: IntArray, shape: tuple[int, int, int]) -> FloatArray:
    """Return the sums of the rows' values by group."""
    sums = np.zeros(shape)
    np.add.at(sums, codes, values)
    return sums


def _imaginary(centre: FloatArray, counted: FloatArray, added: FloatArray) -> FloatArray:
    """Return what the imaginary rows add to the covariance of both models' rates in each group."""
    groups, _, rates = centre.shape
    found = np.zeros((*centre.shape, *centre.shape))
    for group in range(groups):
        for rate in range(rates):
            rows = (np.eye(2) - centre[group, :, rate]) / counted[group, :, rate]
            found[group, :, rate, group, :, rate] = float(added[group, 0, 0]) * rows.T @ rows
    return found
