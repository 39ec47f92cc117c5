"""How a gap changes from model 1 to another, given limits of what it is made of.

Let c_ab(m) be the signed difference of a rate between groups a and b in model m, d_ab = c_ab(m) - c_ab(1) its change
and s_ab = c_ab(m) + c_ab(1) their sum. The gap G = max c_ab, over both orders of every pair and over the rates of the
gap, is at least |c_ab| for every pair. So, whichever pair ab is the widest of model m,

    G(m) - G(1) <= c_ab(m) - max(c_ab(1), -c_ab(1), G(1)) = min( d_ab, s_ab, c_ab(m) - G(1) )

and whichever is the widest of model 1, G(m) - G(1) >= max( d_ab, -s_ab, G(m) - c_ab(1) ). With lower limits L and upper
limits U of these, and L(G) = max L(c_ab),

    U = max_ab min( U(d_ab), U(s_ab), U(c_ab(m)) - L(G(1)) )
    L = min_ab max( L(d_ab), -U(s_ab), L(G(m)) - U(c_ab(1)) )

Of two groups and one rate no other pair can be the widest, and the last terms add nothing:

    |y| - |x| = max( min(d, s), min(-d, -s) ) = min( max(d, -s), max(s, -d) )

so *fairer* means that d and s have opposite signs, and *less fair* that they have the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import stats

from fairenum.scoring.counts import BoolArray, Confusion, Decisions, FloatArray, confusion
from fairenum.scoring.deviations import fractions, stacked
from fairenum.scoring.effective import effective
from fairenum.scoring.intervals import Interval, pairwise, rate_limits, tukey_critical
from fairenum.scoring.paired import Overlap, Pair, paired_change, weighted_change
from fairenum.scoring.rates import FRACTIONS, Rate

OWN_SHARE = 0.6  # of a side's error, for the limits of the widest pair; the rest is for all pairs together


class Movement(NamedTuple):
    """Model 1 and the others, pair by pair of groups; the last three axes are rates and two groups.

    Attributes
    ----------
    first
        Signed differences of model 1, without an axis of models.
    models
        Those of all models.
    change, total
        These minus those of model 1, and these plus those of model 1.
    """

    first: Interval
    models: Interval
    change: Interval
    total: Interval


class Criticals(NamedTuple):
    """How many standard errors each limit is away.

    Attributes
    ----------
    change, total, level
        Those of changes, of sums, and of signed differences.
    least, first
        Those of the lower limits of signed differences, the largest of which bounds a gap from below: of the other
        models, and of model 1.
    """

    change: float
    total: float
    level: float
    least: float
    first: float

    @property
    def of_lower(self) -> float:
        """How wide the lower bound of the change of a gap gets by them."""
        return self.change + self.level + self.least

    @property
    def of_upper(self) -> float:
        """How wide the upper bound gets."""
        return self.change + self.level + self.first


def one_by_one(confidence: float, groups: int, rates: int, models: int = 1) -> Criticals:
    """Cover models one after the other, each at its share of the error: nothing is drawn.

    Let ab be the pair that is the widest of model m in truth, a fixed one. The upper bound of the change fails only if
    one of the three limits of this pair fails, or a lower limit of a signed difference of model 1, whichever. So with
    K groups, r rates and n models

        3 n P(Z > z) + r P(range of K > sqrt(2) z') = error of one side

    is enough, where z is for the three and z' for model 1; Tukey and Kramer's range is on the safe side for groups of
    unequal precision. The other side is likewise about the pair that is the widest of model 1, and about all lower
    limits of the n models.

    Parameters
    ----------
    confidence
        With which all limits hold together.
    groups, rates
        How many there are.
    models
        How many are compared with model 1.

    Returns
    -------
    Criticals
    """
    side = (1 - confidence) / 2
    own, others = side * OWN_SHARE, side * (1 - OWN_SHARE) / rates
    widest = float(stats.norm.isf(own / (3 * models)))
    least, first = (tukey_critical(1 - others / number, groups) for number in (models, 1))
    return Criticals(widest, widest, widest, least, first)


class Sides(NamedTuple):
    """Two models side by side in each group: sums of what rows count, and sums of squares where they count differently.

    Attributes
    ----------
    change
        The model beside model 1.
    total
        The model beside model 1 with every outcome turned into its opposite: the change from there is their sum.
    """

    change: tuple[Pair, Pair | None]
    total: tuple[Pair, Pair | None]


def is_single(rates: Sequence[Rate], present: BoolArray) -> bool:
    """Tell whether there is but one pair of groups in one rate, so that no other can be the widest."""
    return len(rates) * int(present.sum()) <= 2


def movement(decisions: Decisions, rates: Sequence[Rate], present: BoolArray, criticals: Criticals) -> Movement:
    """Bound signed differences, their changes and their sums, for models of which the first is model 1."""
    counts = confusion(decisions)
    outcomes, trials = stacked([effective(FRACTIONS[rate], counts) for rate in rates])
    models = pairwise(rate_limits(outcomes, trials, criticals.level), present)
    first = models[0]
    if criticals.least != criticals.level:
        models = replace(models, lower=pairwise(rate_limits(outcomes, trials, criticals.least), present).lower)
        first = replace(first, lower=pairwise(rate_limits(outcomes[0], trials[0], criticals.first), present).lower)
    sides = _sides(decisions, counts, rates)
    change = pairwise(_limits(*sides.change, criticals.change), present)
    total = pairwise(_limits(*sides.total, criticals.total), present)
    return Movement(first, models, change, total)


def rate_changes(decisions: Decisions, rates: Sequence[Rate], critical: float) -> Interval:
    """Bound the change of each rate in each group from model 1, shape (models, rates, groups)."""
    return _limits(*_sides(decisions, confusion(decisions), rates).change, critical)


def change_limits(moved: Movement, present: BoolArray, *, single: bool) -> tuple[FloatArray, FloatArray]:
    """Apply the bounds of the module's docstring; without two groups there is no gap, and it stays so."""
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


def _limits(sums: Pair, squares: Pair | None, critical: float) -> Interval:
    return paired_change(*sums, critical) if squares is None else weighted_change(sums, squares, critical)


def _sides(decisions: Decisions, counts: Confusion, rates: Sequence[Rate]) -> Sides:
    shared = confusion(decisions.shared())
    sums = _paired(counts, shared, rates)
    squares = _paired(counts.squares, shared.squares, rates) if counts.squares and shared.squares else None
    return Sides((sums, squares), (_mirrored(sums), squares and _mirrored(squares)))


def _paired(counts: Confusion, shared: Confusion, rates: Sequence[Rate]) -> Pair:
    """Set each model beside the first, given what each selects and what each selects with the first."""
    outcomes, trials = fractions(counts, rates)
    both, both_trials = fractions(shared, rates)
    # the trials of a precision are what the model selects; those of other rates are the same for all models
    own = np.array([rate == "precision" for rate in rates])[:, None]
    overlap = Overlap(both, both_trials, np.where(own, both, outcomes), np.where(own, both, outcomes[0]))
    return Pair((outcomes, trials), (outcomes[0], trials[0]), overlap)


def _mirrored(pair: Pair) -> Pair:
    """Turn every outcome of model 1 into its opposite: trials that were no outcomes are outcomes now."""
    outcomes, trials = pair.first
    shared = pair.overlap
    overlap = Overlap(
        shared.model_outcomes - shared.outcomes,
        shared.trials,
        shared.model_outcomes,
        shared.trials - shared.first_outcomes,
    )
    return Pair(pair.model, (trials - outcomes, trials), overlap)
