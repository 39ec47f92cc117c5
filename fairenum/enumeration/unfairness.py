"""Unfairness on watched rows, exactly and smoothed: a gap of decisions jumps, a gap of sigmoids has a slope."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from fairenum.document.performance import ACCURACY, PerformanceMeasure
from fairenum.experiment import EncodedRows
from fairenum.problem import FloatArray
from fairenum.scoring import Gap, Rate, score
from fairenum.scoring.counts import Confusion, cell_sums
from fairenum.scoring.operating import SIGN, OperatingPoint
from fairenum.scoring.performance import performance, row_divisors
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, share

GRID = 256  # places at which a density of decision values is taken


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """The rows on which unfairness is watched, the gap and the performance that are watched there, and the cut.

    Attributes
    ----------
    point
        Where every model is cut, by these rows; decision values below are those minus the cut.
    """

    rows: EncodedRows
    metric: Gap = "demographic_parity_difference"
    measure: PerformanceMeasure = ACCURACY
    point: OperatingPoint = SIGN

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", replace(self.rows, groups=self.rows.groups.folded()))

    def standing(self, values: FloatArray) -> tuple[float, float, bool]:
        """Return gap, performance and whether all rows are decided alike, for a model's decision values."""
        decisions = self.rows.decisions(values[None])
        scores = score(decisions)
        performs = performance(decisions, values[None], self.measure, scores.counts)
        return float(getattr(scores.gaps, self.metric)[0]), float(performs[0]), bool(scores.is_constant[0])

    def slope(self, values: FloatArray, softness: float, price: float) -> FloatArray:
        """Return how ``gap - price * performance`` changes with each decision value, where decisions are smoothed.

        A row counts as decided favourably to the degree ``1 / (1 + exp(-value / softness))``; of several compared
        groups the two that lie farthest apart make the gap. Where a share of the rows is selected, a value that rises
        takes the cut along, so that the degrees keep their sum.
        """
        degree, labels = expit(values / softness), self.rows.labels
        is_ranked = self.measure.name == "auc"
        push = self._gap_slope(degree)
        if not is_ranked:
            push = push - price * (2.0 * labels - 1.0) / row_divisors(labels, self.measure, self.rows.weights)
        slope = push * degree * (1.0 - degree) / softness
        if self.point.share is not None:
            slope = _at_equal_rate(slope, self.rows.counting * degree * (1.0 - degree))
        return np.asarray(slope - price * _auc_slope(values, self.rows, softness) if is_ranked else slope)

    def _gap_slope(self, degree: FloatArray) -> FloatArray:
        """Return how the widest distance between two groups changes with the degree of each row."""
        decisions, counting = self.rows.decisions(degree[None]), self.rows.counting
        everyone = np.ones((1, len(degree)))
        counts = Confusion(cell_sums(everyone, decisions, counting), cell_sums(degree[None], decisions, counting))
        widest, slope = -1.0, np.zeros(counts.selected.shape[1:])
        for rate in GAP_RATES[self.metric]:
            values = np.where(decisions.groups.compared, share(*FRACTIONS[rate](counts))[0], np.nan)
            if np.isnan(values).all():
                continue
            high, low = int(np.nanargmax(values)), int(np.nanargmin(values))
            if values[high] - values[low] > widest:
                widest, slopes = float(values[high] - values[low]), _rate_slopes(counts, rate, values)
                slope = np.zeros_like(slopes)
                slope[high], slope[low] = slopes[high], -slopes[low]
        return np.asarray(slope[self.rows.groups.codes, self.rows.labels] * counting)


def _at_equal_rate(slope: FloatArray, moves: FloatArray) -> FloatArray:
    """Return the slope where the cut follows the values: it moves with each as far as its row takes part in it."""
    total = float(moves.sum())
    return slope - moves * (slope.sum() / total) if total > 0.0 else slope


def _auc_slope(values: FloatArray, rows: EncodedRows, softness: float) -> FloatArray:
    """Return how the share of pairs in order changes with each value: by the density of the other label there."""
    labels, counting = rows.labels, rows.counting
    slope, signs = np.zeros_like(values), 2.0 * labels - 1.0
    places = np.linspace(values.min(), values.max(), GRID)
    for label in (0, 1):
        own, others = labels == label, values[labels != label]
        if own.any() and others.size:
            shares = None if rows.weights is None else counting[labels != label]
            nearness = expit((places[:, None] - others) / softness)
            density = np.average(nearness * (1.0 - nearness), axis=1, weights=shares) / softness
            slope[own] = signs[own] * np.interp(values[own], places, density) * counting[own] / counting[own].sum()
    return slope


def _rate_slopes(counts: Confusion, rate: Rate, values: FloatArray) -> FloatArray:
    """Return how each group's rate changes with one more favourable decision, shape (groups, labels).

    A rate is outcomes / trials, and both are linear in what is selected; so unit counts tell their slopes.
    """
    _, trials = FRACTIONS[rate](counts)
    unit = Confusion(np.zeros((1, 2, 2)), np.eye(2)[None])
    outcome_slope, trial_slope = (np.broadcast_to(part, (1, 2))[0] for part in FRACTIONS[rate](unit))
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = (outcome_slope - values[:, None] * trial_slope) / np.broadcast_to(trials, (1, len(values)))[0][:, None]
    return np.asarray(np.nan_to_num(slopes, posinf=0.0, neginf=0.0))
