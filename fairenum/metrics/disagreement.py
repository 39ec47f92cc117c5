"""How far near-optimal models disagree about the same people, overall and in each group.

All models are compared with model 1. Ambiguity and discrepancy follow Marx, Calmon and Ustun (2020), the viable range
Watson-Daniels, Parkes and Ustun (2023), Rashomon capacity Hsu and Calmon (2022).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, expit, rel_entr

from fairenum.errors import DataError
from fairenum.metrics.counts import BitArray, BoolArray, Decisions, FloatArray, freeze
from fairenum.metrics.rates import score, share
from fairenum.tables.groups import Groups


@dataclass(frozen=True, slots=True)
class DecisionMultiplicity:
    """How often models decide differently from model 1 and from each other.

    Attributes
    ----------
    is_flipped
        Rows that at least one model decides differently from model 1.
    changed
        For each model the share of rows that it decides differently from model 1.
    ambiguity, group_ambiguity
        Share of rows that at least one model decides differently from model 1.
    discrepancy, group_discrepancy
        The largest share of rows that a single model decides differently from model 1.
    disagreement, group_disagreement
        Share of rows on which two models differ, averaged over all pairs of models.
    """

    is_flipped: BoolArray
    changed: FloatArray
    ambiguity: float
    discrepancy: float
    disagreement: float
    group_ambiguity: FloatArray
    group_discrepancy: FloatArray
    group_disagreement: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True)
class ScoreMultiplicity:
    """How far apart the models' probabilities of the favourable outcome lie.

    Attributes
    ----------
    viable_range
        For each row the largest minus the smallest probability of the favourable outcome.
    capacity
        For each row the Rashomon capacity in bits: 0 if all models agree, 1 if two are certain of opposites.
    mean_range, group_range, mean_capacity, group_capacity
        Averages over all rows, and over those of each group.
    """

    viable_range: FloatArray
    capacity: FloatArray
    mean_range: float
    mean_capacity: float
    group_range: FloatArray
    group_capacity: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


def decision_multiplicity(decisions: Decisions) -> DecisionMultiplicity:
    """Measure how often the models, model 1 first, decide differently; results of a group without rows are NaN."""
    bits, groups = decisions.predictions, decisions.groups
    flips = replace(decisions, predictions=bits ^ bits[0])
    is_flipped, discord = np.asarray(flips.predictions.any(0)), _discord(bits)
    changed = score(flips)  # a row that a model "selects" here is one that it changes
    return DecisionMultiplicity(
        is_flipped=is_flipped,
        changed=changed.overall.selection_rate,
        ambiguity=_mean(is_flipped, decisions.weights),
        discrepancy=float(changed.overall.selection_rate.max()),
        disagreement=_mean(discord, decisions.weights),
        group_ambiguity=_group_means(is_flipped, groups, decisions.weights),
        group_discrepancy=changed.by_group.selection_rate.max(0),
        group_disagreement=_group_means(discord, groups, decisions.weights),
    )


def pairwise_disagreement(decisions: Decisions) -> FloatArray:
    """Return the share of rows on which each two models differ, shape (models, models)."""
    bits = decisions.predictions.astype(np.float32)  # exact for up to 2^24 rows
    selected, both = bits.sum(1), bits @ bits.T
    return np.asarray((selected[:, None] + selected - 2 * both) / bits.shape[1], dtype=np.float64)


def score_multiplicity(
    probabilities: ArrayLike, groups: Groups, weights: FloatArray | None = None
) -> ScoreMultiplicity:
    """Measure how far the models' probabilities differ.

    `probabilities` are calibrated, of the favourable outcome, shape (models, rows); averages are weighted by `weights`,
    and are NaN for a group without rows.
    """
    chances = np.asarray(probabilities, dtype=np.float64)
    rows = len(groups.codes)
    if chances.ndim != 2 or len(chances) == 0 or chances.shape[1] != rows:
        raise DataError(f"probabilities must have the shape (models, {rows}), got {chances.shape}")
    if not np.all((chances >= 0) & (chances <= 1)):
        raise DataError("probabilities must lie between 0 and 1; calibrate decision values first")
    lowest, highest = chances.min(0), chances.max(0)
    viable_range, capacity = highest - lowest, rashomon_capacity(lowest, highest)
    return ScoreMultiplicity(
        viable_range,
        capacity,
        _mean(viable_range, weights),
        _mean(capacity, weights),
        _group_means(viable_range, groups, weights),
        _group_means(capacity, groups, weights),
    )


def rashomon_capacity(lowest: FloatArray, highest: FloatArray) -> FloatArray:
    """Return the Rashomon capacity of each row in bits: the most an outcome can tell about which model produced it.

    That is the capacity of the channel from model to outcome, min_q max_m KL(p_m || q), with p_m the distribution of
    the outcome under model m and q any distribution. KL is convex in p, so with two outcomes only the two extreme
    models, of probabilities a = `lowest` and b = `highest`, matter, and the best q is equally far from both: logit q =
    (H(b) - H(a)) / (a - b), with H the entropy. No iteration (Blahut-Arimoto) is needed.
    """
    rise, apart = _entropy(highest) - _entropy(lowest), highest > lowest
    logit = np.divide(rise, lowest - highest, out=np.zeros_like(rise), where=apart)
    # rounding would throw the centre of two close models far away
    centre = np.clip(expit(logit), lowest, highest)
    divergence = rel_entr(lowest, centre) + rel_entr(1 - lowest, 1 - centre)
    return np.asarray(np.clip(divergence / np.log(2), 0, 1))


def _entropy(chance: FloatArray) -> FloatArray:
    return np.asarray(entr(chance) + entr(1 - chance))


def _discord(bits: BitArray) -> FloatArray:
    """Return for each row the share of pairs of models that differ.

    If v of k models decide favourably, these are v (k - v) of k (k - 1) / 2 pairs.
    """
    models, votes = len(bits), bits.sum(0, dtype=np.float64)
    return np.asarray(votes * (models - votes) / max(models * (models - 1) / 2, 1))


def _mean(values: FloatArray | BoolArray, weights: FloatArray | None) -> float:
    return float(values.mean() if weights is None else np.average(values, weights=weights))


def _group_means(values: FloatArray | BoolArray, groups: Groups, weights: FloatArray | None) -> FloatArray:
    counting = values if weights is None else values * weights
    sums = np.bincount(groups.codes, counting, len(groups.names)).astype(np.float64)
    return share(sums, np.bincount(groups.codes, weights, len(groups.names)).astype(np.float64))
