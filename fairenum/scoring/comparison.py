"""Is a model fairer than the first one? Verdicts that hold for all models together.

The models share their rows, so a *change* against model 1 is known far better than a gap. Max-t limits hold
at once for every signed difference c_ab of model 1 between two groups, and for its change d_ab in each model.
They bound the change of the gap G = max c_ab. A gap is at least L = max lower(c_ab), and whichever pair ab is
the widest in model m or in model 1,

    G(m) - G(1) <= max_ab min( upper(d_ab), upper(c_ab(m)) - L(1) )
    G(m) - G(1) >= min_ab max( lower(d_ab), L(m) - upper(c_ab(1)) )

where the limits of c(m) are those of c(1) and d together; and no gap changes by more than 1. A model is fairer if
the upper bound is below 0; so a gap of model 1 itself must be shown first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from fairenum.dataset.groups import Groups
from fairenum.document.performance import ACCURACY, PerformanceMeasure
from fairenum.document.terms import Gap, Verdict
from fairenum.scoring.counts import (
    BoolArray,
    Confusion,
    Decisions,
    FloatArray,
    blocks,
    confusion,
    freeze,
)
from fairenum.scoring.effective import effective
from fairenum.scoring.intervals import (
    Interval,
    Overlap,
    Pair,
    normal_critical,
    paired_change,
    pairwise,
    weighted_change,
    weighted_mean,
    wilson,
)
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, Fraction, Rate, label_weights, score, share


@dataclass(frozen=True, slots=True)
class Comparison:
    """All models against the first, in one gap.

    Attributes
    ----------
    gap
        Its name.
    verdicts
        One for each model. A model that decides all rows alike is never fairer, whatever its gap.
    gap_change
        Gap of the model minus gap of model 1, shape (models,); limits hold for all models together.
    difference_change
        The same for the signed differences against the reference group, shape (models, rates, compared groups).
    critical
        How many standard errors it takes for all limits to hold together.
    is_identical
        Models that decide every row of a compared group as model 1 does.
    is_constant
        Models that decide all those rows alike.
    is_small
        Compared groups with too few rows to say much about.
    """

    gap: Gap
    verdicts: tuple[Verdict, ...]
    gap_change: Interval
    difference_change: Interval
    critical: float
    is_identical: BoolArray
    is_constant: BoolArray
    is_small: BoolArray

    def __post_init__(self) -> None:
        freeze(self)


def compare(
    decisions: Decisions,
    gap: Gap,
    rng: np.random.Generator,
    *,
    reference: str | None = None,
    confidence: float = 0.95,
    replications: int = 1000,
    minimum_size: int = 30,
) -> Comparison:
    """Say of each model whether its gap is smaller than that of model 1.

    Parameters
    ----------
    decisions
        Of all models, model 1 first. Rows of groups that are set aside change nothing.
    gap
        One of the four differences.
    rng
        Source of the bootstrap weights.
    reference
        The group to which the signed differences refer; the largest if not given.
    confidence
        With which all limits, and so all verdicts, hold together.
    replications
        Bootstrap replications.
    minimum_size
        Compared groups with fewer rows are marked, not dropped: what they leave open stays open.

    Returns
    -------
    Comparison
    """
    decisions = decisions.compared()
    groups, rates, scores = decisions.groups, GAP_RATES[gap], score(decisions)
    present = groups.sizes > 0
    noise = _noise(decisions, rates, replications, rng)
    critical = max_t_critical(_pair_contrasts(noise, present), confidence)
    outcomes, trials = _stacked([effective(FRACTIONS[rate], scores.counts) for rate in rates])
    first = pairwise(wilson(outcomes[0], trials[0], critical), present)
    changes = pairwise(_rate_changes(decisions, rates, critical), present)
    lower, upper = _gap_change_limits(first, changes)
    gaps = getattr(scores.gaps, gap)
    return Comparison(
        gap=gap,
        verdicts=tuple(map(_change_verdict, lower, upper, decisions.is_constant)),
        gap_change=Interval(gaps - gaps[0], lower, upper).where(~decisions.is_identical),
        difference_change=changes[..., groups.reference(reference)],
        critical=critical,
        is_identical=decisions.is_identical,
        is_constant=decisions.is_constant,
        is_small=groups.small(minimum_size),
    )


def accuracy_changes(
    decisions: Decisions,
    rng: np.random.Generator,
    measure: PerformanceMeasure = ACCURACY,
    *,
    confidence: float = 0.95,
    replications: int = 1000,
) -> Interval:
    """Bound the accuracy of each model minus that of model 1, for all models together.

    Parameters
    ----------
    decisions
        Of all models, model 1 first.
    rng
        Source of the bootstrap weights.
    measure
        Accuracy, or what else is an average of what is decided rightly.
    confidence
        With which all intervals hold together.
    replications
        Bootstrap replications.

    Returns
    -------
    Interval
        Shape (models,).
    """
    # accuracy is the selection rate of a model that selects the rows which this one decides rightly
    right = (decisions.predictions == decisions.labels).astype(np.uint8)
    strata, weights = _strata(decisions, measure)
    rightness = replace(decisions, predictions=right, groups=strata)
    noise = _noise(rightness, ("selection_rate",), replications, rng)[:, 1:, 0] @ weights
    critical = max_t_critical([noise], confidence)
    return weighted_mean(_rate_changes(rightness, ("selection_rate",), critical)[:, 0], weights)


def _strata(decisions: Decisions, measure: PerformanceMeasure) -> tuple[Groups, FloatArray]:
    """Put the rows of one share in the measure together: all, or those of each label; say what each part counts."""
    labels = decisions.labels
    if measure.is_pooled:
        return Groups.everyone(len(labels)), np.ones(1)
    counts = np.bincount(labels, decisions.weights, minlength=2).astype(np.float64)
    return Groups(labels.astype(np.intp), ("unfavourable", "favourable")), label_weights(counts, measure)


def max_t_critical(contrasts: Iterable[FloatArray], confidence: float) -> float:
    """Find how many standard errors cover all contrasts together.

    Parameters
    ----------
    contrasts
        Bootstrap deviations from the estimates, the replications on the first axis.
    confidence
        With which all are covered.

    Returns
    -------
    float
        At least that of a single contrast.
    """
    floor = normal_critical(confidence)
    peaks = [_peak(contrast) for contrast in contrasts]
    return max(floor, float(np.quantile(np.max(peaks, axis=0), confidence))) if peaks else floor


def _peak(contrast: FloatArray) -> FloatArray:
    flat = contrast.reshape(len(contrast), -1)
    spread = np.sqrt((flat**2).mean(0))
    varies = spread > 1e-12  # identical models differ by rounding only
    return np.asarray(np.max(np.abs(flat[:, varies]) / spread[varies], axis=1, initial=0))


def _pair_contrasts(noise: FloatArray, present: BoolArray) -> Iterator[FloatArray]:
    return (noise[..., a] - noise[..., b] for a, b in combinations(np.flatnonzero(present), 2))


def _noise(decisions: Decisions, rates: Sequence[Rate], replications: int, rng: np.random.Generator) -> FloatArray:
    """Draw how far model 1's rates, and the other models' changes against it, may be from the truth.

    Each replication weights the rows by normal numbers w and takes the linearised deviation of a rate,
    sum of w_i (x_i - p n_i) / n. Copies of a row are drawn as one: n weights add up to sqrt(n) times one, and where
    rows count differently, to the root of the sum of squares of what they count.
    Weights that are never negative (multinomial, exponential) have the same variance, but where models change
    only a row or two, their long tails widen the band of all.

    Returns
    -------
    FloatArray
        Shape (replications, models, rates, groups).
    """
    kinds, copies, squares = decisions.distinct()
    outcomes, trials = _fractions(confusion(kinds, copies), rates)
    noise = np.empty((replications, *outcomes.shape))
    for block in blocks(replications, len(copies)):
        weights = rng.standard_normal((len(noise[block]), len(copies))) * np.sqrt(squares)
        drawn, drawn_trials = _fractions(confusion(kinds, weights), rates)
        noise[block] = np.nan_to_num(share(drawn - share(outcomes, trials) * drawn_trials, trials))
    noise[:, 1:] -= noise[:, :1]
    return noise


def _fractions(counts: Confusion, rates: Sequence[Rate]) -> Fraction:
    """Take outcomes and trials of several rates, each of shape (..., models, rates, groups)."""
    return _stacked([FRACTIONS[rate](counts) for rate in rates])


def _stacked(fractions: Sequence[Fraction]) -> Fraction:
    parts = [np.broadcast_arrays(*fraction) for fraction in fractions]
    outcomes, trials = (np.stack(part, axis=-2) for part in zip(*parts, strict=True))
    return outcomes, trials


def _rate_changes(decisions: Decisions, rates: Sequence[Rate], critical: float) -> Interval:
    """Bound the change of each rate in each group from model 1, shape (models, rates, groups)."""
    counts, shared = confusion(decisions), confusion(decisions.shared())
    pair = _paired(counts, shared, rates)
    if counts.squares and shared.squares:
        changes = weighted_change(pair, _paired(counts.squares, shared.squares, rates), critical)
    else:
        changes = paired_change(*pair, critical)
    return changes.where(~decisions.is_identical[:, None, None])


def _paired(counts: Confusion, shared: Confusion, rates: Sequence[Rate]) -> Pair:
    """Set each model beside the first, given what each selects and what each selects with the first."""
    outcomes, trials = _fractions(counts, rates)
    both, both_trials = _fractions(shared, rates)
    # the trials of a precision are what the model selects; those of other rates are the same for all models
    own = np.array([rate == "precision" for rate in rates])[:, None]
    overlap = Overlap(both, both_trials, np.where(own, both, outcomes), np.where(own, both, outcomes[0]))
    return Pair((outcomes, trials), (outcomes[0], trials[0]), overlap)


def _gap_change_limits(first: Interval, changes: Interval) -> tuple[FloatArray, FloatArray]:
    """Apply the two bounds of the module's docstring; the last three axes are rates and two groups."""
    pairs = (-3, -2, -1)
    least_gap = first.lower.max()
    least_gaps = (first.lower + changes.lower).max(pairs, keepdims=True)
    upper = np.minimum(changes.upper, first.upper + changes.upper - least_gap).max(pairs)
    lower = np.maximum(changes.lower, least_gaps - first.upper).min(pairs)
    return np.maximum(lower, -1), np.minimum(upper, 1)


def _change_verdict(lower: float, upper: float, is_constant: bool) -> Verdict:
    if lower > 0 or (upper < 0 and is_constant):
        return Verdict.LESS_FAIR
    return Verdict.FAIRER if upper < 0 else Verdict.OPEN
