"""What a score decides at any cutoff: whom it selects, how far groups lie apart, how often it is right.

A score may be that of a model in use or the decision values of any machine. Here higher is favourable; who has one for
which lower is better changes its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairenum.dataset.groups import Groups
from fairenum.errors import DataError
from fairenum.scoring.counts import BitArray, BoolArray, Confusion, FloatArray, IntArray, freeze
from fairenum.scoring.rates import Scores, scored

SHARES: tuple[float, ...] = tuple(step / 20 for step in range(1, 20))


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Scored rows.

    Attributes
    ----------
    values
        One finite number for each row; higher is favourable.
    groups
        The group of each row.
    labels
        0/1 truth; None if it is not known.
    """

    values: FloatArray
    groups: Groups
    labels: BitArray | None = None

    def __post_init__(self) -> None:
        rows = len(self.groups.codes)
        values = np.asarray(self.values, dtype=np.float64).view()
        if values.shape != (rows,) or not np.isfinite(values).all():
            raise DataError(f"scores must be one finite number for each of {rows} grouped rows, got {values.shape}")
        if self.labels is not None and self.labels.shape != (rows,):
            raise DataError(f"labels must be one for each of {rows} grouped rows, got {self.labels.shape}")
        object.__setattr__(self, "values", values)
        freeze(self)

    @property
    def cells(self) -> IntArray:
        """The group and the label of each row as one number; a label that is not known counts as unfavourable."""
        return 2 * self.groups.codes + (0 if self.labels is None else self.labels)


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """A score at several cutoffs: rows of at least `cutoffs` are selected, shape (cutoffs,).

    Attributes
    ----------
    scores
        One "model" for each cutoff.
    """

    cutoffs: FloatArray
    scores: Scores

    def __post_init__(self) -> None:
        freeze(self)


def counted_at(graded: Graded, cutoffs: FloatArray, *, is_above: bool = False) -> Confusion:
    """Count whom a score selects at each of some cutoffs, by group and label.

    Parameters
    ----------
    graded
        Scored rows.
    cutoffs
        Rows of at least so much are selected.
    is_above
        Select those above it alone.

    Returns
    -------
    Confusion
        One "model" for each cutoff.
    """
    shape, cells = (len(graded.groups.names), 2), graded.cells
    order = np.argsort(graded.values, kind="stable")
    # few cells have small numbers, which are sorted in no time
    order = order[np.argsort(cells[order].astype(np.min_scalar_type(2 * shape[0])), kind="stable")]
    ordered, values = cells[order], graded.values[order]
    total, selected = np.zeros((1, *shape)), np.zeros((len(cutoffs), *shape))
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(ordered)], strict=True):
        place = np.unravel_index(ordered[start], shape)
        total[0][place] = end - start
        below = np.searchsorted(values[start:end], cutoffs, "right" if is_above else "left")
        selected[:, *place] = end - start - below
    return Confusion(total, selected)


def scored_at(graded: Graded, cutoffs: FloatArray, *, is_above: bool = False) -> Scores:
    """Score what a score decides at each of some cutoffs; without labels, only selection rates mean something."""
    counts = counted_at(graded, cutoffs, is_above=is_above)
    return scored(graded.groups, counts, is_constant(graded.groups, counts))


def is_constant(groups: Groups, counts: Confusion) -> BoolArray:
    """Mark the models that decide all rows of the compared groups alike, given counts of rows that count alike."""
    compared = counts.of_groups(groups.compared).overall()
    selected, total = compared.selected.sum(-1), compared.total.sum(-1)
    return np.asarray((selected == 0) | (selected == total))


def sweep(graded: Graded, shares: Sequence[float] = SHARES) -> Sweep:
    """Cut a score where the highest scores make up each of some shares of all rows.

    Parameters
    ----------
    graded
        Scored rows.
    shares
        Of rows to select, each between 0 and 1; where scores are tied more are selected, and cutoffs that are the same
        are one.

    Returns
    -------
    Sweep
        From the highest cutoff down.
    """
    ordered = np.sort(graded.values)[::-1]
    # rounding must not turn the 6th of 20 rows into the 7th
    places = np.ceil(np.round(np.asarray(shares) * len(ordered), 9)).astype(int).clip(1) - 1
    cutoffs = np.unique(ordered[places])[::-1]
    return Sweep(cutoffs, scored_at(graded, cutoffs))


def scoring_rates(graded: Graded) -> tuple[float, Scores]:
    """Return the median of all scores, and rates at which groups score above it: Local Law 144's scoring rates."""
    median = float(np.median(graded.values))
    return median, scored_at(graded, np.array([median]), is_above=True)
