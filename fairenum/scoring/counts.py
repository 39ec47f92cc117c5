"""What is scored, and the one table behind every rate: whom each model selects, by group and label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairenum.dataset.groups import Groups
from fairenum.errors import DataError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
BitArray = NDArray[np.uint8]
IntArray = NDArray[np.intp]

_SORTED_AT_ONCE = 5000  # rows: of fewer, sorting is as quick as hashing
_CELLS_AT_ONCE = 4_000_000  # 32 MB of float64: the most that a product copies at a time


def freeze(record: object) -> None:
    """Make every array of a dataclass read-only."""
    for one in fields(record):  # type: ignore[arg-type]
        value = getattr(record, one.name)
        if isinstance(value, np.ndarray):
            value.setflags(write=False)


@dataclass(frozen=True, slots=True)
class Decisions:
    """What the models decide about the same rows.

    Attributes
    ----------
    predictions
        0/1 decisions, 1 is favourable, shape (models, rows). The first model is the one to compare with.
    labels
        0/1 truth.
    groups
        The group of each row.
    weights
        What each row counts, above 0; None if all count alike.
    drawn
        The share of their table that the rows are, if they were drawn with labels and groups in its proportions; 1 for
        any other rows.
    """

    predictions: BitArray
    labels: BitArray
    groups: Groups
    weights: FloatArray | None = None
    drawn: float = 1.0
    _kinds: list[tuple[Decisions, FloatArray, FloatArray]] = field(
        init=False, repr=False, compare=False, default_factory=list
    )

    def __post_init__(self) -> None:
        predictions, labels = _bits(self.predictions, "predictions"), _bits(self.labels, "labels")
        rows = len(self.groups.codes)
        if labels.shape != (rows,):
            raise DataError(f"labels must be one for each of the {rows} grouped rows, got {labels.shape}")
        if predictions.ndim != 2 or len(predictions) == 0 or predictions.shape[1] != rows:
            raise DataError(f"predictions must have the shape (models, {rows}), got {predictions.shape}")
        if self.weights is not None:
            object.__setattr__(self, "weights", checked_weights(self.weights, rows).view())
        object.__setattr__(self, "predictions", predictions)
        object.__setattr__(self, "labels", labels)
        freeze(self)

    @property
    def is_constant(self) -> BoolArray:
        """Mark the models that decide all rows of the compared groups alike: no gap, and no use."""
        predictions = self.compared().predictions
        return np.asarray((predictions == predictions[:, :1]).all(1))

    @property
    def is_identical(self) -> BoolArray:
        """Mark the models that decide every row as the first one does."""
        return np.asarray((self.predictions == self.predictions[0]).all(1))

    def compared(self) -> Self:
        """Keep the rows of the groups that are compared, and no others."""
        groups = self.groups
        if not groups.aside:
            return self
        rows = np.flatnonzero(groups.compared[groups.codes])
        kept = self._taken(rows)
        return replace(kept, groups=kept.groups.narrowed(groups.compared))

    def folded(self) -> Self:
        """Count the groups that are set aside as one."""
        return replace(self, groups=self.groups.folded())

    def shared(self) -> Self:
        """Let each model select only what the first one selects, too."""
        return replace(self, predictions=self.predictions & self.predictions[0])

    def distinct(self) -> tuple[Decisions, FloatArray, FloatArray]:
        """Keep one row of each kind (same group, label and decisions); sum what its copies count, and the squares.

        All rates ask for this, of the same rows again and again: it is found once.
        """
        if not self._kinds:
            self._kinds.append(self._found_kinds())
        return self._kinds[0]

    def _found_kinds(self) -> tuple[Decisions, FloatArray, FloatArray]:
        codes = self.groups.codes
        parts = (np.packbits(self.predictions, axis=0).T, self.labels[:, None], codes[:, None].view(np.uint8))
        rows, place, copies = _unique_rows(np.hstack(parts))
        kept = replace(self._taken(rows), weights=None)
        if self.weights is None:
            return kept, copies.astype(np.float64), copies.astype(np.float64)
        sums, squares = (np.bincount(place, one).astype(np.float64) for one in (self.weights, self.weights**2))
        return kept, sums, squares

    def _taken(self, rows: IntArray) -> Self:
        return replace(
            self,
            predictions=self.predictions[:, rows],
            labels=self.labels[rows],
            groups=self.groups.take(rows),
            weights=None if self.weights is None else self.weights[rows],
        )


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows and selected rows, by group and label.

    The last axis is the label (0, 1), the one before it the group, the one before that the model. Where many
    weightings are counted at once, they are the first axis.

    Attributes
    ----------
    total
        Rows, shape (..., 1, groups, 2): the same for all models.
    selected
        Rows that the model gives the favourable outcome, shape (..., models, groups, 2).
    squares
        Where rows count differently, the same sums of the squares of what they count; None where they count alike.
    heads
        Where rows count differently, their number, in the shape of `total`.
    drawn
        The share of their table that the rows are, as in :class:`Decisions`.
    """

    total: FloatArray
    selected: FloatArray
    squares: Self | None = None
    heads: FloatArray | None = None
    drawn: float = 1.0

    def __post_init__(self) -> None:
        freeze(self)

    def of_groups(self, kept: BoolArray) -> Self:
        """Keep some of the groups."""
        squares = self.squares.of_groups(kept) if self.squares else None
        heads = None if self.heads is None else self.heads[..., kept, :]
        return type(self)(self.total[..., kept, :], self.selected[..., kept, :], squares, heads, self.drawn)

    def overall(self) -> Self:
        """Put all rows together; the group axis goes away."""
        squares = self.squares.overall() if self.squares else None
        heads = None if self.heads is None else self.heads.sum(-2)
        return type(self)(self.total.sum(-2), self.selected.sum(-2), squares, heads, self.drawn)

    @property
    def rows(self) -> FloatArray:
        """How many rows there are, whatever they count."""
        return self.total if self.heads is None else self.heads

    def of_label(self, label: int) -> Self:
        """Keep the rows of one label."""
        kept = np.arange(2) == label
        return type(self)(self.total * kept, self.selected * kept)


def confusion(decisions: Decisions, weights: FloatArray | None = None) -> Confusion:
    """Count rows and selected rows by group and label, for all models at once.

    Parameters
    ----------
    decisions
        Of all models.
    weights
        What a row counts in the place of its own weight, shape (rows,) or, for many weightings at once, (weightings,
        rows).

    Returns
    -------
    Confusion
        With squares where rows have weights of their own.
    """
    if weights is not None:
        return _summed(decisions, weights)
    if decisions.weights is None:
        kinds, copies, _ = decisions.distinct()
        return _summed(kinds, copies)
    heads = cell_sums(np.ones((1, len(decisions.labels)), np.uint8), decisions, np.ones(len(decisions.labels)))
    squares = _summed(decisions, decisions.weights**2)
    return replace(_summed(decisions, decisions.weights), squares=squares, heads=heads)


def _summed(decisions: Decisions, weights: FloatArray) -> Confusion:
    everyone = np.ones((1, len(decisions.labels)), dtype=np.uint8)
    total, selected = (cell_sums(values, decisions, weights) for values in (everyone, decisions.predictions))
    return Confusion(total, selected, drawn=decisions.drawn)


def checked_weights(weights: ArrayLike, rows: int) -> FloatArray:
    """Refuse weights that are not one number of at least 0 for each row."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (rows,) or not np.all(array >= 0):
        raise DataError(f"weights must be one number >= 0 for each of the {rows} rows, got {array.shape}")
    return array


def cell_sums(values: NDArray[np.generic], decisions: Decisions, weights: FloatArray) -> FloatArray:
    """Sum weighted values by group and label, one matrix product for each cell.

    Parameters
    ----------
    values
        One value for each model and row.
    decisions
        Which rows have which group and label.
    weights
        What a row counts, shape (rows,) or (weightings, rows).

    Returns
    -------
    FloatArray
        Shape (models, groups, 2) or (weightings, models, groups, 2).
    """
    groups, labels = decisions.groups, decisions.labels
    sums = np.zeros((*weights.shape[:-1], len(values), len(groups.names), 2))
    cells = 2 * groups.codes + labels
    order = np.argsort(cells, kind="stable")  # once for all cells, of which a column of codes has thousands
    for rows in np.split(order, np.flatnonzero(np.diff(cells[order])) + 1):
        group, label = groups.codes[rows[0]], labels[rows[0]]
        for models in blocks(len(values), len(rows)):
            cell = values[models][:, rows].astype(np.float64)
            sums[..., models, group, label] = weights[..., rows] @ cell.T
    return sums


def blocks(length: int, width: int) -> Iterator[slice]:
    """Cut the rows of a matrix into runs that keep a temporary array small.

    Parameters
    ----------
    length, width
        The shape of what would otherwise be copied at once.

    Returns
    -------
    Iterator
        Slices that cover the length in order.
    """
    step = max(1, _CELLS_AT_ONCE // max(width, 1))
    return (slice(start, start + step) for start in range(0, length, step))


def _unique_rows(keys: BitArray) -> tuple[IntArray, IntArray, IntArray]:
    """Find the different rows of a table of bytes, in their order: the first of each, whose copy a row is, how many.

    Many rows are told apart by hashing eight bytes at a time, and only one of each kind is sorted.
    """
    whole = np.dtype((np.void, keys.shape[1]))
    if len(keys) <= _SORTED_AT_ONCE:
        kinds = np.ascontiguousarray(keys).view(whole).ravel()
        _, rows, places, copies = np.unique(kinds, return_index=True, return_inverse=True, return_counts=True)
        return rows, places, copies
    import pandas as pd

    words = np.zeros((len(keys), -(-keys.shape[1] // 8) * 8), np.uint8)
    words[:, : keys.shape[1]] = keys
    codes, size = np.zeros(len(keys), np.int64), 1
    for word in words.view(np.int64).T:
        own, values = pd.factorize(word)
        codes, found = pd.factorize(codes * len(values) + own)
        size = len(found)
    first = np.empty(size, np.intp)
    first[codes[::-1]] = np.arange(len(keys))[::-1]  # of several that are written to one place the last stays
    some = np.ascontiguousarray(keys[first])
    order = np.argsort(some.view(whole).ravel())
    place = np.empty(size, np.intp)
    place[order] = np.arange(size)
    return first[order], place[codes], np.bincount(codes, minlength=size)[order]


def _bits(values: ArrayLike, what: str) -> BitArray:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or not np.all((array == 0) | (array == 1)):
        raise DataError(f"{what} must be 0 or 1 (1 = favourable), got other values ({array.dtype})")
    # a view, as the caller's own array must stay as it is when this one becomes read-only
    return array.astype(np.uint8, copy=False).view()
