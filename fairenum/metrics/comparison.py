"""Verdicts on whether models are fairer than model 1, with intervals for the changes of gap and accuracy.

:func:`compare` judges all models together and corrects for their number (max-t multiplier bootstrap or Bonferroni). A
single model that was fixed before these rows were seen needs no such correction: :mod:`~fairenum.metrics.claims`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from fairenum.document.terms import ACCURACY, Gap, PerformanceMeasure, Verdict
from fairenum.metrics.changes import (
    Criticals,
    balanced,
    bonferroni_criticals,
    change_correlation,
    change_limits,
    covering,
    deviations,
    difference_limits,
    is_single,
    max_t_critical,
    peak,
    rate_changes,
)
from fairenum.metrics.counts import BoolArray, Decisions, FloatArray, freeze
from fairenum.metrics.intervals import Interval, weighted_mean
from fairenum.metrics.rates import FRACTIONS, GAP_RATES, Rate, Scores, label_weights, score
from fairenum.tables.groups import Groups


@dataclass(frozen=True, slots=True)
class Comparison:
    """All models compared with model 1 in one gap.

    Attributes
    ----------
    verdicts
        One for each model; None where nothing can be compared, and for a model that decides all rows alike, which is
        never called fairer, whatever its gap.
    gap_change
        Gap of the model minus gap of model 1, shape (models,); limits hold for all models together. They are exactly 0
        for model 1 alone: a model that decides all these rows as model 1 does may decide others differently.
    difference_change
        Change, from model 1, of each group's rate minus that of the largest group; shape (models, rates, compared
        groups).
    critical
        The critical value of changes, in standard errors, with which all limits hold together.
    is_comparable
        Models whose gap, like that of model 1, is defined between at least two groups.
    is_identical
        Models that decide every row of a compared group as model 1 does.
    is_constant
        Models that decide all rows of the compared groups alike.
    is_small
        Compared groups with fewer trials of a rate of the gap than the minimum, shape (models, groups).
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
    confidence: float = 0.95,
    replications: int = 1000,
    minimum_size: int = 30,
    margin: float = 0.0,
) -> Comparison:
    """Compare the gap of each model with that of model 1 and give a verdict: fairer, less fair, same or open.

    Parameters
    ----------
    decisions
        The decisions of all models, model 1 first. Rows of groups that are excluded from comparison are ignored.
    gap
        The name of the gap in the registry of metrics.
    rng
        Source of the bootstrap multipliers.
    confidence
        Probability with which all limits, and so all verdicts, hold together.
    replications
        Number of bootstrap replications.
    minimum_size
        Compared groups with fewer trials are marked in `is_small`, not dropped.
    margin
        The verdict is "same" where both limits of the change are no farther from 0 than this.
    """
    decisions = decisions.compared()
    groups, rates, scores = decisions.groups, GAP_RATES[gap], score(decisions)
    present = groups.sizes > 0
    single = is_single(rates, present)
    criticals = _criticals(deviations(decisions, rates, replications, rng), present, confidence, single=single)
    moved = difference_limits(decisions, rates, present, criticals)
    limits = change_limits(moved, present, single=single)
    lower, upper = limits if single else _narrower(limits, criticals, decisions, rates, present, confidence)
    gaps = getattr(scores.gaps, gap)
    is_other = np.arange(len(gaps)) > 0
    changes = Interval(gaps - gaps[0], lower, upper).where(is_other | np.isnan(gaps))
    is_comparable = ~np.isnan(gaps - gaps[0]) & (int(present.sum()) > 1)
    is_judged = is_comparable & ~decisions.is_constant
    return Comparison(
        gap=gap,
        verdicts=tuple(
            change_verdict(low, high, margin) if judged else None
            for low, high, judged in zip(changes.lower, changes.upper, is_judged, strict=True)
        ),
        gap_change=changes,
        difference_change=moved.change.where(is_other[:, None, None, None])[..., groups.reference()],
        critical=criticals.change,
        is_comparable=is_comparable,
        is_identical=decisions.is_identical,
        is_constant=decisions.is_constant,
        is_small=small_groups(scores, rates, minimum_size),
    )


def gap_critical(
    decisions: Decisions, gap: Gap, rng: np.random.Generator, *, confidence: float = 0.95, replications: int = 1000
) -> float:
    """Return the max-t critical value of the signed differences of all models, for `inference.gap_intervals`.

    A model that was chosen because its gap is small on these rows needs limits that hold for all models.
    """
    decisions = decisions.compared()
    noise, peaks = deviations(decisions, GAP_RATES[gap], replications, rng), np.zeros(replications)
    for a, b in combinations(np.flatnonzero(decisions.groups.sizes > 0), 2):
        peaks = np.maximum(peaks, peak(noise[:, a] - noise[:, b]))
    return covering(peaks, confidence)


def change_verdict(lower: float, upper: float, margin: float) -> Verdict:
    """Return the verdict on an interval of the change of a gap; it is "same" for any interval within the margin."""
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
    """Return limits of each model's accuracy minus that of model 1, with one confidence for all models together.

    `measure` may be any performance measure that averages right decisions. `decisions` has model 1 first, `rng` draws
    the bootstrap multipliers, and the result has shape (models,).
    """
    rightness, weights = right_decisions(decisions, measure)
    noise = deviations(rightness, ("selection_rate",), replications, rng)[0]
    noise = np.einsum("g,grm->rm", weights, noise)
    return rightness_changes(decisions, measure, max_t_critical([noise[:, 1:] - noise[:, :1]], confidence))


def rightness_changes(decisions: Decisions, measure: PerformanceMeasure, critical: float) -> Interval:
    """Return limits of each model's performance minus that of model 1, at a critical value, shape (models,)."""
    rightness, weights = right_decisions(decisions, measure)
    changes = rate_changes(rightness, ("selection_rate",), critical)[:, 0]
    correlation = None if decisions.clusters is None else change_correlation(rightness, "selection_rate")
    changes = weighted_mean(changes, weights, correlation)
    return changes.where(np.arange(len(decisions.predictions)) > 0)


def right_decisions(decisions: Decisions, measure: PerformanceMeasure) -> tuple[Decisions, FloatArray]:
    """Return models that select the rows which the given ones decide rightly: their selection rate is the accuracy.

    The rows are grouped as the measure averages over them; the second result has the weights of these groups.
    """
    right = (decisions.predictions == decisions.labels).astype(np.uint8)
    strata, weights = _strata(decisions, measure)
    return replace(decisions, predictions=right, groups=strata), weights


def _strata(decisions: Decisions, measure: PerformanceMeasure) -> tuple[Groups, FloatArray]:
    """Return the groups of rows that a measure averages over (all rows, or one group per label), and their weights."""
    labels = decisions.labels
    if measure.is_pooled:
        return Groups.everyone(len(labels)), np.ones(1)
    counts = np.bincount(labels, decisions.weights, minlength=2).astype(np.float64)
    return Groups(labels.astype(np.intp), ("unfavourable", "favourable")), label_weights(counts, measure)


def _criticals(noise: FloatArray, present: BoolArray, confidence: float, *, single: bool) -> Criticals:
    """Return critical values of changes and sums in all pairs of groups and, with several pairs, of signed differences.

    Sums of models that agree vary together, their changes do not, so each kind gets its own critical value.
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
    """Return lower and upper max-t limits, each replaced by Bonferroni's if its critical values add up to less.

    The choice depends on the critical values alone, not on any estimate, so either set of limits stays valid.
    """
    apart = bonferroni_criticals(confidence, int(present.sum()), len(rates), max(len(decisions.predictions) - 1, 1))
    lower, upper = change_limits(difference_limits(decisions, rates, present, apart), present, single=False)
    return (
        lower if apart.of_lower < criticals.of_lower else limits[0],
        upper if apart.of_upper < criticals.of_upper else limits[1],
    )


def small_groups(scores: Scores, rates: Sequence[Rate], minimum: int) -> BoolArray:
    """Return a mask of the groups with fewer than `minimum` trials in one of the rates, shape (models, groups)."""
    trials = [np.broadcast_to(FRACTIONS[rate](scores.counts)[1], scores.counts.selected.shape[:-1]) for rate in rates]
    return np.asarray(np.min(trials, axis=0) < minimum)


def is_coarse(decisions: Decisions, model: int, gap: Gap, least: int) -> bool:
    """Tell whether a rate of the gap has fewer than `least` trials in a compared group under `model` or model 1."""
    pair = replace(decisions, predictions=decisions.predictions[[0, model]]).compared()
    return bool(small_groups(score(pair), GAP_RATES[gap], least)[:, pair.groups.sizes > 0].any())
