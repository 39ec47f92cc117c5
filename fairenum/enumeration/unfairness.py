"""Unfairness on watched rows, exactly and smoothed: a gap of decisions jumps, a gap of sigmoids has a slope."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from fairenum.experiment import EncodedRows
from fairenum.problem import FloatArray
from fairenum.scoring import Gap, Rate, score
from fairenum.scoring.counts import Confusion, cell_sums
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, share


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """The rows on which unfairness is watched, and the gap that is watched there."""

    rows: EncodedRows
    metric: Gap = "demographic_parity_difference"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", replace(self.rows, groups=self.rows.groups.folded()))

    def standing(self, values: FloatArray) -> tuple[float, float, bool]:
        """Return gap, accuracy and whether all rows are decided alike, for a model's decision values."""
        scores = score(self.rows.decisions(values[None]))
        gap = float(getattr(scores.gaps, self.metric)[0])
        return gap, float(scores.overall.accuracy[0]), bool(scores.is_constant[0])

    def slope(self, values: FloatArray, softness: float, price: float) -> FloatArray:
        """Return how ``gap - price * accuracy`` changes with each decision value, where decisions are smoothed.

        A row counts as decided favourably to the degree ``1 / (1 + exp(-value / softness))``; of several compared
        groups the two that lie farthest apart make the gap.
        """
        degree = expit(values / softness)
        push = self._gap_slope(degree) - price * (2.0 * self.rows.labels - 1.0) / len(values)
        return np.asarray(push * degree * (1.0 - degree) / softness)

    def _gap_slope(self, degree: FloatArray) -> FloatArray:
        """Return how the widest distance between two groups changes with the degree of each row."""
        decisions, ones = self.rows.decisions(degree[None]), np.ones(len(degree))
        counts = Confusion(cell_sums(ones[None], decisions, ones), cell_sums(degree[None], decisions, ones))
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
        return np.asarray(slope[self.rows.groups.codes, self.rows.labels])


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
