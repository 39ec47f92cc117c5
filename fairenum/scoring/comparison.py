"""Is a model fairer than the first one? Verdicts that hold for all models together.

The models share their rows, so a *change* against model 1 is known far better than a gap. Max-t limits hold at once for
the signed differences of model 1 and of every other model, for their changes and for their sums, in all pairs of
groups; :mod:`~fairenum.scoring.changes` has what follows from them for the change of the gap. Of two groups and one
rate, changes and sums are enough. Of more, one pair of each model matters, whichever it is, and limits that share the
error between the models, not between the pairs, are often narrower.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from fairenum.dataset.groups import Groups
from fairenum.document.performance import ACCURACY, PerformanceMeasure
from fairenum.document.terms import Gap, Verdict
from fairenum.scoring.changes import Criticals, change_limits, is_single, movement, one_by_one, rate_changes
from fairenum.scoring.counts import BoolArray, Decisions, FloatArray, freeze
from fairenum.scoring.deviations import balanced, covering, deviations, max_t_critical, peak
from fairenum.scoring.intervals import Interval, weighted_mean
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, Rate, Scores, label_weights, score


@dataclass(frozen=True, slots=True)
class Comparison:
    """All models against the first, in one gap.

    Attributes
    ----------
    gap
        Its name.
    verdicts
        One for each model; None where nothing can be compared, and for a model that decides all rows alike, which is
        never fairer, whatever its gap.
    gap_change
        Gap of the model minus gap of model 1, shape (models,); limits hold for all models together. Only model 1 is
        known not to change: a model that decides all these rows alike may decide others otherwise.
    difference_change
        The same for the signed differences against the reference group, shape (models, rates, compared groups).
    critical
        How many standard errors the limits of changes are away, for all limits to hold together.
    is_comparable
        Models whose gap, and that of model 1, are defined between two groups at least.
    is_identical
        Models that decide every row of a compared group as model 1 does.
    is_constant
        Models that decide all those rows alike.
    is_small
        Compared groups with too few trials of a rate of the gap to say much about, shape (models, groups).
    """

    gap: Gap
    verdicts: tuple[Verdict | None, ...]
    gap_change: Interval
    difference_change: Interval
    critical: float
    is_comparable: BoolArray
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
    margin: float = 0.0,
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
        Compared groups with fewer trials are marked, not dropped: what they leave open stays open.
    margin
        A gap that changes by no more than this is the same.

    Returns
    -------
    Comparison
    """
    decisions = decisions.compared()
    groups, rates, scores = decisions.groups, GAP_RATES[gap], score(decisions)
    present = groups.sizes > 0
    single = is_single(rates, present)
    criticals = _criticals(deviations(decisions, rates, replications, rng), present, confidence, single=single)
    moved = movement(decisions, rates, present, criticals)
    limits = change_limits(moved, present, single=single)
    lower, upper = limits if single else _narrower(limits, criticals, decisions, rates, present, confidence)
    gaps = getattr(scores.gaps, gap)
    is_other = np.arange(len(gaps)) > 0
    changes = Interval(gaps - gaps[0], lower, upper).where(is_other | np.isnan(gaps))
    is_comparable = ~np.isnan(gaps - gaps[0]) & (int(present.sum()) > 1)
    is_told = is_comparable & ~decisions.is_constant
    return Comparison(
        gap=gap,
        verdicts=tuple(
            change_verdict(low, high, margin) if told else None
            for low, high, told in zip(changes.lower, changes.upper, is_told, strict=True)
        ),
        gap_change=changes,
        difference_change=moved.change.where(is_other[:, None, None, None])[..., groups.reference(reference)],
        critical=criticals.change,
        is_comparable=is_comparable,
        is_identical=decisions.is_identical,
        is_constant=decisions.is_constant,
        is_small=small_groups(scores, rates, minimum_size),
    )


def gap_critical(
    decisions: Decisions, gap: Gap, rng: np.random.Generator, *, confidence: float = 0.95, replications: int = 1000
) -> float:
    """Find how many standard errors cover the signed differences of all models together.

    A model that was chosen because its gap is small on these rows has no other limits than these.

    Parameters
    ----------
    decisions
        Of all models.
    gap
        One of the four differences.
    rng
        Source of the bootstrap weights.
    confidence
        With which all limits hold together.
    replications
        Bootstrap replications.

    Returns
    -------
    float
        For :func:`~fairenum.scoring.inference.gap_intervals`.
    """
    decisions = decisions.compared()
    noise, peaks = deviations(decisions, GAP_RATES[gap], replications, rng), np.zeros(replications)
    for a, b in combinations(np.flatnonzero(decisions.groups.sizes > 0), 2):
        peaks = np.maximum(peaks, peak(noise[:, a] - noise[:, b]))
    return covering(peaks, confidence)


def change_verdict(lower: float, upper: float, margin: float) -> Verdict:
    """Say what an interval of the change of a gap shows; the same within the margin is said before all else."""
    if -margin <= lower and upper <= margin:
        return Verdict.SAME
    if lower > 0:
        return Verdict.LESS_FAIR
    return Verdict.FAIRER if upper < 0 else Verdict.OPEN


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
    noise = deviations(rightness, ("selection_rate",), replications, rng)[0]
    noise = np.einsum("g,grm->rm", weights, noise)
    critical = max_t_critical([noise[:, 1:] - noise[:, :1]], confidence)
    changes = weighted_mean(rate_changes(rightness, ("selection_rate",), critical)[:, 0], weights)
    return changes.where(np.arange(len(right)) > 0)


def _strata(decisions: Decisions, measure: PerformanceMeasure) -> tuple[Groups, FloatArray]:
    """Put the rows of one share in the measure together: all, or those of each label; say what each part counts."""
    labels = decisions.labels
    if measure.is_pooled:
        return Groups.everyone(len(labels)), np.ones(1)
    counts = np.bincount(labels, decisions.weights, minlength=2).astype(np.float64)
    return Groups(labels.astype(np.intp), ("unfavourable", "favourable")), label_weights(counts, measure)


def _criticals(noise: FloatArray, present: BoolArray, confidence: float, *, single: bool) -> Criticals:
    """Cover changes and sums of every pair and, unless there is but one, the signed differences, too.

    Sums of models that agree vary together, changes apart: each kind has the critical value that it needs.
    """
    peaks = np.zeros((3, noise.shape[-2]))
    for a, b in combinations(np.flatnonzero(present), 2):
        pair = noise[:, a] - noise[:, b]
        first, others = pair[..., :1], pair[..., 1:]
        kinds = (others - first, others + first) if single else (others - first, others + first, pair)
        for place, contrasts in enumerate(kinds):
            peaks[place] = np.maximum(peaks[place], peak(contrasts))
    change, total, level = balanced(peaks, confidence)
    return Criticals(change, total, level, level, level)


def _narrower(
    limits: tuple[FloatArray, FloatArray],
    criticals: Criticals,
    decisions: Decisions,
    rates: Sequence[Rate],
    present: BoolArray,
    confidence: float,
) -> tuple[FloatArray, FloatArray]:
    """Take the limits that share the error between the models, not between the pairs, where they are narrower.

    Either may serve, on each side: which one does is known from the errors, before any estimate.
    """
    apart = one_by_one(confidence, int(present.sum()), len(rates), max(len(decisions.predictions) - 1, 1))
    lower, upper = change_limits(movement(decisions, rates, present, apart), present, single=False)
    return (
        lower if apart.of_lower < criticals.of_lower else limits[0],
        upper if apart.of_upper < criticals.of_upper else limits[1],
    )


def small_groups(scores: Scores, rates: Sequence[Rate], minimum: int) -> BoolArray:
    """Mark the groups with fewer trials of one of the rates than that, shape (models, groups)."""
    trials = [np.broadcast_to(FRACTIONS[rate](scores.counts)[1], scores.counts.selected.shape[:-1]) for rate in rates]
    return np.asarray(np.min(trials, axis=0) < minimum)
