"""The operating point: where the decision values of every model are cut, so that models are compared at equal rates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from fairenum.document.anatomy import ROUNDING
from fairenum.matrices import Matrix
from fairenum.scoring.counts import FloatArray


@dataclass(frozen=True, slots=True)
class Cut:
    """Where one model is cut.

    Attributes
    ----------
    value
        Decision values of at least this are favourable.
    tied
        Rows to cut by that a finer cut would have to divide, but which have one decision value: all are decided alike.
    """

    value: float = 0.0
    tied: int = 0

    def centred(self, values: FloatArray) -> FloatArray:
        """Subtract the cut, so that values of at least 0 are favourable; what cannot be told from 0 is 0."""
        moved = values - self.value
        return np.where(np.abs(moved) <= ROUNDING, 0.0, moved)


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """What every model is cut at: a share of rows to select, or a threshold that is the same for all.

    Attributes
    ----------
    share
        The share; None for the threshold.
    weights
        What each row counts of those to cut by; None where they count alike.
    """

    share: float | None = None
    threshold: float = 0.0
    weights: FloatArray | None = field(default=None, repr=False, compare=False)

    @property
    def is_sign(self) -> bool:
        """Whether models decide by the sign of their values, as they were trained to."""
        return self.share is None and self.threshold == 0.0

    def cut(self, values: FloatArray) -> Cut:
        """Cut the decision values of some rows where the share that is selected comes nearest to the one asked for.

        Rows of one value are decided alike. The cut lies halfway between the last value that is selected and the first
        that is not, so that no row is decided by rounding; of two shares that are equally near, more are selected.
        """
        if self.share is None:
            return Cut(self.threshold, int(np.count_nonzero(np.abs(values - self.threshold) <= ROUNDING)))
        steps, counts, sizes = _steps(values, self.weights)  # from the highest value down
        selected = np.concatenate([[0], np.cumsum(counts)])
        wanted = self.share * (len(values) if self.weights is None else self.weights.sum())
        # what differs by rounding alone is equally near
        distance = np.round(np.abs(selected - wanted), 9)
        place = int(np.flatnonzero(distance == distance.min())[-1])
        divided = (selected[:-1] < wanted) & (wanted < selected[1:]) & (distance[:-1] > 0.0) & (distance[1:] > 0.0)
        return Cut(_halfway(steps, place), int(sizes[divided].sum()))


def _steps(values: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the different values in descending order, what the rows of each count, and how many these are."""
    order = None if weights is None else np.argsort(values, kind="stable")[::-1]
    ordered = np.sort(values)[::-1] if order is None else values[order]  # which takes a tenth of the time
    starts = np.flatnonzero(np.diff(ordered, prepend=np.inf) < -ROUNDING)
    sizes = np.diff(starts, append=len(ordered)).astype(np.float64)
    counts = sizes if weights is None else np.add.reduceat(weights[order], starts)
    return ordered[starts], counts, sizes


def _halfway(steps: FloatArray, place: int) -> float:
    """Return the cut that selects the first values, and no other; a hair beyond them where there is no other."""
    if place == 0:
        return float(steps[0] + 2.0 * ROUNDING)
    if place == len(steps):
        return float(steps[-1])
    return float((steps[place - 1] + steps[place]) / 2.0)


SIGN = OperatingPoint()


class Decides(Protocol):
    """Whatever has decision values: a model, or an estimator."""

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the decision value of each row."""


@dataclass(frozen=True, slots=True, eq=False)
class Operating:
    """An operating point, and the rows on which it is to be reached: those of the selection split, and no others."""

    point: OperatingPoint
    rows: Matrix

    def cut(self, model: Decides) -> Cut:
        """Find the cut of a model."""
        return self.point.cut(model.decision_function(self.rows))

    def values(self, model: Decides, rows: Matrix) -> FloatArray:
        """Return the decision values of any rows, minus the cut of the model."""
        values = model.decision_function(rows)
        return values if self.point.is_sign else self.cut(model).centred(values)
