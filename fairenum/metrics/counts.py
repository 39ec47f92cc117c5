"""The decisions of all models on one set of rows, and counts of selected rows by group and label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairenum.errors import DataError
from fairenum.tables.groups import Groups

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
BitArray = NDArray[np.uint8]
IntArray = NDArray[np.intp]
_SORTED_AT_ONCE = 5000  # up to so many rows, sorting is as quick as hashing
_CELLS_AT_ONCE = 4_000_000  # 32 MB of float64: the largest temporary array


def freeze(record: object) -> None:
    """Make every array in the fields of a dataclass read-only, including arrays in mappings."""
    for value in (getattr(record, one.name) for one in fields(record)):  # type: ignore[arg-type]
        for array in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(array, np.ndarray):
                array.setflags(write=False)


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of all models about the same rows.

    Attributes
    ----------
    predictions
        0/1 decisions, 1 is favourable, shape (models, rows). The first is model 1, which others are compared with.
    labels
        0/1 truth.
    weights
        The weight of each row; None if all count alike.
    drawn
        The rows as a share of their table, if they are a sample stratified by label and group; else 1.
    clusters
        The number, from 0, of each row's cluster (a person, a firm), whose rows are not independent; None if all are.
    """

    predictions: BitArray
    labels: BitArray
    groups: Groups
    weights: FloatArray | None = None
    drawn: float = 1.0
    clusters: IntArray | None = None
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
        if self.clusters is not None:
            object.__setattr__(self, "clusters", _numbered(self.clusters, rows))
        object.__setattr__(self, "predictions", predictions)
        object.__setattr__(self, "labels", labels)
        freeze(self)

    @property
    def is_constant(self) -> BoolArray:
        """A mask of the models that decide all rows of the compared groups alike: they have no gap, and no use."""
        predictions = self.compared().predictions
        return np.asarray((predictions == predictions[:, :1]).all(1))

    @property
    def is_identical(self) -> BoolArray:
        """A mask of the models that decide every row as model 1 does."""
        return np.asarray((self.predictions == self.predictions[0]).all(1))

    def compared(self) -> Self:
        """Return the decisions about the rows of the compared groups only."""
        groups = self.groups
        if not groups.aside:
            return self
        rows = np.flatnonzero(groups.compared[groups.codes])
        kept = self._taken(rows)
        return replace(kept, groups=kept.groups.narrowed(groups.compared))

    def folded(self) -> Self:
        """Return the decisions with all groups that are not compared merged into one."""
        return replace(self, groups=self.groups.folded())

    def shared(self) -> Self:
        """Return the decisions with only those rows selected that model 1 selects, too."""
        return replace(self, predictions=self.predictions & self.predictions[0])

    def distinct(self) -> tuple[Decisions, FloatArray, FloatArray]:
        """Return rows merged by group, label and decisions, and their sums of weights and squared weights; cached."""
        if not self._kinds:
            self._kinds.append(self._found_kinds())
        return self._kinds[0]

    def _found_kinds(self) -> tuple[Decisions, FloatArray, FloatArray]:
        codes = self.groups.codes
        parts = (np.packbits(self.predictions, axis=0).T, self.labels[:, None], codes[:, None].view(np.uint8))
        rows, place, copies = _unique_rows(np.hstack(parts))
        kept = replace(self._taken(rows), weights=None, clusters=None)
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
            clusters=None if self.clusters is None else self.clusters[rows],
        )


class Inflated(NamedTuple):
    """Inflation of a rate's variances by clusters, and correlation of the estimates in two groups.

    Attributes
    ----------
    factor
        The inflation, shape (models, groups); without an axis of groups for counts over all rows.
    correlation
        Shape (models, groups, groups); None if it is 0 or unknown.
    """

    factor: FloatArray
    correlation: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Factors by which clusters of rows that are alike inflate the variances of rates; see `metrics.clusters`.

    Attributes
    ----------
    of_rate
        Returns the inflation of a rate, by its name, in each group.
    overall
        Returns that over all rows; None if it is unknown.
    """

    of_rate: Callable[[str], Inflated]
    overall: Callable[[str], Inflated] | None = None

    def of_groups(self, kept: BoolArray | IntArray) -> Design:
        """Return the factors of the groups for which `kept` is true, or whose positions it holds."""

        def narrowed(rate: str) -> Inflated:
            factor, correlation = self.of_rate(rate)
            return Inflated(factor[:, kept], None if correlation is None else correlation[:, kept][:, :, kept])

        return Design(narrowed, self.overall)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of rows and of selected rows, by group and label.

    The last axis is the label (0, 1), the one before it the group, the one before that the model. Where rows are
    counted with several sets of weights at once, these sets are the first axis.

    Attributes
    ----------
    total
        Rows, shape (..., 1, groups, 2): equal for all models.
    selected
        Rows that the model gives the favourable outcome, shape (..., models, groups, 2).
    squares
        Sums of squared weights in the same shapes; None where rows have no weights.
    heads
        The number of rows, in the shape of `total`, where rows have weights.
    drawn
        The rows as a share of their table, as in :class:`Decisions`.
    design
        Factors of variances where rows belong to clusters; None if they are independent.
    """

    total: FloatArray
    selected: FloatArray
    squares: Self | None = None
    heads: FloatArray | None = None
    drawn: float = 1.0
    design: Design | None = None

    def __post_init__(self) -> None:
        freeze(self)

    def of_groups(self, kept: BoolArray | IntArray) -> Self:
        """Return the counts of the groups for which `kept` is true, or whose positions it holds, in their order."""
        design = self.design and self.design.of_groups(kept)
        return self._mapped(lambda counts: counts[..., kept, :], design)

    def overall(self) -> Self:
        """Return the counts summed over the groups, without an axis of groups."""
        design = Design(self.design.overall) if self.design and self.design.overall else None
        return self._mapped(lambda counts: np.asarray(counts.sum(-2)), design)

    def _mapped(self, change: Callable[[FloatArray], FloatArray], design: Design | None = None) -> Self:
        squares = self.squares._mapped(change) if self.squares else None
        heads = None if self.heads is None else change(self.heads)
        return type(self)(change(self.total), change(self.selected), squares, heads, self.drawn, design)

    @property
    def rows(self) -> FloatArray:
        """The number of rows, whatever their weights."""
        return self.total if self.heads is None else self.heads

    def of_label(self, label: int) -> Self:
        """Return the counts with those of the other label set to 0."""
        kept = np.arange(2) == label
        return type(self)(self.total * kept, self.selected * kept)


def confusion(decisions: Decisions, weights: FloatArray | None = None) -> Confusion:
    """Count rows and selected rows by group and label, for all models at once.

    `weights`, of shape (rows,) or (sets of weights, rows), replace the rows' own weights. Without them, the rows' own
    weights are summed, and so are their squares.
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
    """Return weights as an array; refuse those that are not one number of at least 0 for each row."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (rows,) or not np.all(array >= 0):
        raise DataError(f"weights must be one number >= 0 for each of the {rows} rows, got {array.shape}")
    return array


def cell_sums(values: NDArray[np.generic], decisions: Decisions, weights: FloatArray) -> FloatArray:
    """Return sums of weighted values by group and label, computed by one matrix product for each cell.

    `values` has shape (models, rows). Weights of shape (rows,) give the shape (models, groups, 2), several sets of
    weights of shape (sets, rows) put a first axis before it.
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
    """Yield slices that cover `length` rows of the given width in order, each small enough for a temporary array."""
    step = max(1, _CELLS_AT_ONCE // max(width, 1))
    return (slice(start, start + step) for start in range(0, length, step))


def _unique_rows(keys: BitArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first index of each distinct row, the position of every row among the distinct ones, and their counts.

    The distinct rows of bytes are sorted. If there are many rows, distinct ones are found by hashing eight bytes at a
    time, and only these are sorted.
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
    first[codes[::-1]] = np.arange(len(keys))[::-1]  # the last value written to a place stays
    some = np.ascontiguousarray(keys[first])
    order = np.argsort(some.view(whole).ravel())
    place = np.empty(size, np.intp)
    place[order] = np.arange(size)
    return first[order], place[codes], np.bincount(codes, minlength=size)[order]


def _numbered(clusters: ArrayLike, rows: int) -> IntArray:
    """Return the clusters of rows, numbered from 0 without gaps; refuse those that are not one for each row."""
    array = np.asarray(clusters)
    if array.shape != (rows,):
        raise DataError(f"clusters must be one for each of the {rows} rows, got {array.shape}")
    return np.unique(array, return_inverse=True)[1].ravel()


def _bits(values: ArrayLike, what: str) -> BitArray:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or not np.all((array == 0) | (array == 1)):
        raise DataError(f"{what} must be 0 or 1 (1 = favourable), got other values ({array.dtype})")
    # a view, as the caller's own array must stay as it is when this one becomes read-only
    return array.astype(np.uint8, copy=False).view()
