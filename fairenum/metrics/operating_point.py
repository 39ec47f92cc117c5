"""Operating points: the cut of each model's decision values, at one threshold or where a share of rows is selected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from fairenum.document.feature_facts import ROUNDING
from fairenum.document.reading import Cutoff
from fairenum.metrics.counts import BitArray, FloatArray
from fairenum.svm.sparse_or_dense import Matrix


class ScoreCut(NamedTuple):
    """The rows that a score selects, as ``bits`` of 0 and 1.

    Attributes
    ----------
    value
        The cutoff in the original score, of which lower values may be the favourable ones.
    tied
        Number of rows of equal score among which the wanted share of rows ends: all of them are decided alike, so the
        share is missed. 0 if it is met, or if no share is wanted.
    """

    bits: BitArray
    value: float
    tied: int = 0


def cut_score(values: FloatArray, cutoff: Cutoff, direction: float, weights: FloatArray | None = None) -> ScoreCut:
    """Return the rows that a cutoff selects by a score of which higher is favourable.

    `cutoff` is a value, a share or the median (a base rate has become a share before). `direction` is the factor, 1 or
    -1, by which the original score was multiplied so that higher is favourable. With `weights`, a share of rows is
    a share of their weights.
    """
    if cutoff.rule == "median":
        median = float(np.median(values))
        return ScoreCut((values > median).astype(np.uint8), direction * median)
    if cutoff.rule == "rate":
        # scaled to a spread of 1, as the cut treats values within an absolute tolerance as equal
        least, spread = values.min(), np.ptp(values) or 1.0
        unit = (values - least) / spread
        cut = OperatingPoint(share=cutoff.number, weights=weights).cut(unit)
        return ScoreCut((unit >= cut.value).astype(np.uint8), direction * float(least + cut.value * spread), cut.tied)
    value = float(cutoff.number or 0.0)
    return ScoreCut((values >= direction * value).astype(np.uint8), value)


@dataclass(frozen=True, slots=True)
class Cut:
    """The cut of one model: decision values of at least `value` are favourable.

    Attributes
    ----------
    tied
        Number of rows of equal decision value among which the wanted share of rows ends: all of them are decided alike,
        so the share is missed. For a fixed threshold, the number of rows on it.
    """

    value: float = 0.0
    tied: int = 0

    def centred(self, values: FloatArray) -> FloatArray:
        """Return values minus the cut, 0 within rounding; results of at least 0 are favourable."""
        moved = values - self.value
        return np.where(np.abs(moved) <= ROUNDING, 0.0, moved)


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """The rule by which all models are cut: a share of rows to select or, without one, a common threshold.

    `weights` are those of the rows on which the cut is found; all rows count alike without them.
    """

    share: float | None = None
    threshold: float = 0.0
    weights: FloatArray | None = field(default=None, repr=False, compare=False)

    @property
    def is_sign(self) -> bool:
        """Whether models decide by the sign of their decision values, as they were trained to."""
        return self.share is None and self.threshold == 0.0

    def cut(self, values: FloatArray) -> Cut:
        """Return the threshold or, if a share is asked for, the cut where the share of selected rows is nearest to it.

        Rows of one value are decided alike. The cut lies halfway between the last value that is selected and the first
        that is not, so that no row is decided by rounding; of two equally near shares the larger is taken.
        """
        if self.share is None:
            return Cut(self.threshold, int(np.count_nonzero(np.abs(values - self.threshold) <= ROUNDING)))
        steps, counts, sizes = _steps(values, self.weights)  # from the highest value down
        selected = np.concatenate([[0], np.cumsum(counts)])
        wanted = self.share * (len(values) if self.weights is None else self.weights.sum())
        # distances that differ by rounding alone are equal
        distance = np.round(np.abs(selected - wanted), 9)
        place = int(np.flatnonzero(distance == distance.min())[-1])
        divided = (selected[:-1] < wanted) & (wanted < selected[1:]) & (distance[:-1] > 0.0) & (distance[1:] > 0.0)
        return Cut(_halfway(steps, place), int(sizes[divided].sum()))


def _steps(values: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct values in descending order, and for each the weight and the number of its rows."""
    order = None if weights is None else np.argsort(values, kind="stable")[::-1]
    ordered = np.sort(values)[::-1] if order is None else values[order]  # np.sort is ten times as fast
    starts = np.flatnonzero(np.diff(ordered, prepend=np.inf) < -ROUNDING)
    sizes = np.diff(starts, append=len(ordered)).astype(np.float64)
    counts = sizes if weights is None else np.add.reduceat(weights[order], starts)
    return ordered[starts], counts, sizes


def _halfway(steps: FloatArray, place: int) -> float:
    """Return the cut that selects exactly the first `place` of the distinct values in descending order."""
    if place == 0:
        return float(steps[0] + 2.0 * ROUNDING)
    if place == len(steps):
        return float(steps[-1])
    return float((steps[place - 1] + steps[place]) / 2.0)


SIGN = OperatingPoint()


class Decides(Protocol):
    """Anything with decision values: a model or an estimator."""

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the decision value of each row."""


@dataclass(frozen=True, slots=True, eq=False)
class Operating:
    """An operating point with the rows on which every model's cut is found, those of the selection split."""

    point: OperatingPoint
    rows: Matrix

    def cut(self, model: Decides) -> Cut:
        """Return the cut of a model, found on these rows."""
        return self.point.cut(model.decision_function(self.rows))

    def values(self, model: Decides, rows: Matrix) -> FloatArray:
        """Return a model's decision values on any rows, minus its cut; unchanged if models decide by the sign."""
        values = model.decision_function(rows)
        return values if self.point.is_sign else self.cut(model).centred(values)
