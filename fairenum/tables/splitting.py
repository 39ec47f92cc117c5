"""The split of a table's rows into three parts: training, selection of models, and holdout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fairenum.document.audit_config import SHARES
from fairenum.document.options import Sizes
from fairenum.document.reading import spelled
from fairenum.document.split_power import powerful_shares
from fairenum.document.terms import KernelName
from fairenum.errors import SplitImpossible
from fairenum.runtime.hints import option
from fairenum.runtime.random_streams import stream
from fairenum.tables.columns import FloatArray, IntArray, read_only
from fairenum.tables.table import HOLDOUT, LEFT_OUT, SELECTION, TRAIN, Dataset, Partition

DRAWN = 0.25  # share of the rows marked train that select models, if no row is marked for that
SIZE_MATTERS = 4.0  # cost of a wrong size of a part, relative to that of a wrong number of rows of a stratum


def divided_together(
    members: IntArray, strata: IntArray, counts: Sequence[int], generator: np.random.Generator
) -> IntArray:
    """Return the part of each row, with all rows of a member (a person, a firm) in the same part.

    `members` and `strata` hold, for each row, the numbers of its member and of its combination of label and group;
    `counts` is the number of rows wanted in each part. Rows beyond the sum of `counts` form one more part, which is
    not used.

    Members are assigned greedily, those with most rows first and ties in random order, each to the part where it lowers
    the cost most: the sum over strata of (rows - wanted)^2 / wanted, plus the same term, weighted, for the size of the
    part. When there are only as many members left as empty parts, each of these parts gets one.
    """
    _, members = np.unique(members, return_inverse=True)
    held = _held(members, strata)
    wanted_rows = np.array([*counts, len(members) - sum(counts)], dtype=np.float64)
    _refuse_too_few(held, wanted_rows)
    wanted = np.outer(wanted_rows, held.sum(0) / len(members))
    with np.errstate(divide="ignore"):
        weights = np.where(wanted > 0.0, 1.0 / wanted, 0.0)
    weights[:, -1] *= SIZE_MATTERS
    order = np.lexsort((generator.permutation(len(held)), -held[:, -1]))
    return _placed(held, order, wanted, weights)[members]


def _held(members: IntArray, strata: IntArray) -> FloatArray:
    """Return the number of rows that each member (person, firm) has in each stratum, with their sum as last column."""
    kinds, codes = np.unique(strata, return_inverse=True)
    cells = np.bincount(members * len(kinds) + codes, minlength=(members.max() + 1) * len(kinds))
    by_kind = cells.reshape(-1, len(kinds)).astype(np.float64)
    return np.column_stack([by_kind, by_kind.sum(1)])


def _refuse_too_few(held: FloatArray, wanted_rows: FloatArray) -> None:
    parts = int(np.count_nonzero(wanted_rows[:3]))
    if len(held) < parts:
        raise SplitImpossible(
            f"{spelled('group_column')} holds {len(held)} different values, whose rows stay together, for {parts} "
            "parts; give a finer column, or fewer parts (--split)"
        )


def _placed(held: FloatArray, order: IntArray, wanted: FloatArray, weights: FloatArray) -> IntArray:
    """Return the part of each member (person, firm), assigned one by one in `order` to the part of least cost.

    `wanted` is the number of rows by part and stratum, `weights` the cost of a squared deviation from that number.
    """
    part_of = np.empty(len(held), dtype=np.intp)
    excess = -wanted  # rows beyond what is wanted, by part and stratum
    is_open = wanted[:, -1] > 0.0
    empty = set(np.flatnonzero(is_open[:3]).tolist())
    for done, member in enumerate(order):
        rows = held[member]
        cost = ((rows * (rows + 2.0 * excess)) * weights).sum(1)
        allowed = np.isin(np.arange(len(wanted)), [*empty]) if len(order) - done <= len(empty) else is_open
        part = int(np.where(allowed, cost, np.inf).argmin())
        part_of[member] = part
        excess[part] += rows
        empty.discard(part)
    return part_of


TRY = option("sizes", SHARES, "split", ",".join(map(str, SHARES)))


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The row numbers, ascending, of the three parts of a table, and the sizes and random seed of the split."""

    train: IntArray = field(repr=False)
    selection: IntArray = field(repr=False)
    holdout: IntArray = field(repr=False)
    sizes: Sizes
    seed: int


def default_sizes(dataset: Dataset, kernel: KernelName) -> Sizes:
    """Return the sizes of a split that is chosen for power; see `fairenum.document.split_power.powerful_shares`.

    If a column marks the part of each row, these are the shares that it marks. If it marks no selection rows, a quarter
    of the training rows becomes the selection split.
    """
    rows = np.arange(len(dataset)) if dataset.weights is None else dataset.weights.positive
    partition = dataset.partition or Partition()
    if partition.parts is not None:
        return _marked_shares(partition.parts[rows])
    rarer = min(int(np.count_nonzero(dataset.y[rows] == label)) for label in (0, 1))
    return powerful_shares(rarer, _encoded_columns(dataset, rows), is_linear=kernel == "linear")


def _marked_shares(parts: IntArray) -> Sizes:
    train, selection, holdout = (np.count_nonzero(parts == part) / len(parts) for part in (TRAIN, SELECTION, HOLDOUT))
    drawn = 0.0 if selection else DRAWN * train
    return float(train - drawn), float(selection + drawn), float(holdout)


def _encoded_columns(dataset: Dataset, rows: IntArray) -> int:
    """Return the number of columns that the features have once they are encoded, if all rows train."""
    most = dataset.max_levels + 1  # the rarest values share a column
    varying = [column for column in dataset.features if column.varies(rows)]
    return sum(1 if column.is_numeric else min(column.levels(rows), most) for column in varying)


def split(dataset: Dataset, sizes: Sequence[float] = SHARES, seed: int = 0) -> Split:
    """Split the rows of a table by its column of parts or of times, or else at random, stratified by label and group.

    A random split has parts of exactly the given sizes, and each combination of label and groups is divided among them
    in proportion, to within a few rows; if rows of one person or firm have to stay together, this holds only as nearly
    as possible. If a column says which part each row is in, it is followed; if it names no selection rows, these are
    drawn from its training rows. If there is a column of times, the earliest rows are for training and the latest for
    the holdout, and rows of equal time are in the same part. Rows of weight 0 are in no part.

    Parameters
    ----------
    dataset
        The table.
    sizes
        Sizes of train, selection and holdout: numbers of rows if all three are integers, else shares of the table.
        Selection and holdout may have size 0. Rows beyond the sum of the sizes are in no part.
    seed
        Equal seeds give equal splits.
    """
    owner = _weighted_owners(dataset, sizes, seed)
    train, selection, holdout = (read_only(np.flatnonzero(owner == part)) for part in (TRAIN, SELECTION, HOLDOUT))
    _require_both_labels(dataset, train)
    first, second, third = sizes
    return Split(train, selection, holdout, (first, second, third), seed)


def drawn_share(dataset: Dataset, rows: IntArray) -> float:
    """Return the given rows' share of all rows of positive weight, if the split is purely random; else 1.

    It is 1 if a column of parts, times or members (persons, firms) determines the split.
    """
    partition = dataset.partition or Partition()
    is_divided = any(given is not None for given in (partition.parts, partition.times, partition.members))
    counting = len(dataset) if dataset.weights is None else len(dataset.weights.positive)
    return 1.0 if is_divided else len(rows) / counting


def straddling(dataset: Dataset, parts: Split) -> int:
    """Count the members (persons, firms) that have rows in more than one part."""
    if (members := dataset.members) is None:
        return 0
    seen = [np.unique(members[rows]) for rows in (parts.train, parts.selection, parts.holdout)]
    return int(np.count_nonzero(np.unique(np.concatenate(seen), return_counts=True)[1] > 1))


def _weighted_owners(dataset: Dataset, sizes: Sequence[float], seed: int) -> IntArray:
    """Return the part of each row; rows of weight 0 are marked as left out."""
    if dataset.weights is None or len(dataset.weights.positive) == len(dataset):
        return _owners(dataset, sizes, seed)
    rows = dataset.weights.positive
    owner = np.full(len(dataset), LEFT_OUT, dtype=np.intp)
    owner[rows] = _owners(dataset.take(rows), sizes, seed)
    return owner


def _owners(dataset: Dataset, sizes: Sequence[float], seed: int) -> IntArray:
    """Return the part of each row: by the column of parts or of times, or at random, with members kept together."""
    partition = dataset.partition or Partition()
    if partition.parts is not None:
        return _as_marked(dataset, partition, partition.parts, sizes, seed)
    counts = row_counts(sizes, len(dataset))
    if partition.times is not None:
        return _by_time(partition.times, counts)
    if partition.members is not None:
        return divided_together(partition.members, _strata(dataset), counts, stream(seed))
    return _at_random(dataset, counts, stream(seed))


def _at_random(dataset: Dataset, counts: Sequence[int], generator: np.random.Generator) -> IntArray:
    parts = _interleaved([*counts, len(dataset) - sum(counts)])
    owner = np.empty_like(parts)
    # Rotated by a random amount, the pattern gives every row the same probability of being in a part.
    rotated = np.roll(parts, generator.integers(len(dataset)))
    # Sorted by label first, rows of a rare label are adjacent, so that each part gets its share of them.
    owner[np.lexsort((generator.permutation(len(dataset)), _strata(dataset)))] = rotated
    return owner


def _as_marked(dataset: Dataset, partition: Partition, parts: IntArray, sizes: Sequence[float], seed: int) -> IntArray:
    """Return the part of each row as the table marks it; if no row is marked for selection, draw some training rows."""
    for part, name in ((TRAIN, "train"), (HOLDOUT, "holdout (or test)")):
        if part not in parts:
            raise SplitImpossible(
                f"{spelled('split_column')} marks none of {len(parts)} rows as {name}; mark some, or leave it out"
            )
    if SELECTION in parts:
        # the sizes of a saved run are those that it followed, or the default of its time
        if tuple(sizes) not in (_marked_shares(parts), SHARES):
            raise SplitImpossible(
                f"{spelled('split_column')} marks all three parts, so sizes {tuple(sizes)} (--split) have no effect; "
                "leave them out"
            )
        return parts
    row_counts(sizes, len(dataset))  # refuses invalid sizes
    rows = np.flatnonzero(parts == TRAIN)
    trained = replace(dataset.take(rows), partition=replace(partition.take(rows), parts=None))
    share = sizes[1] / (sizes[0] + sizes[1])
    owner = parts.copy()
    owner[rows] = _owners(trained, (1.0 - share, share, 0.0), seed)
    return owner


def _by_time(times: IntArray, counts: Sequence[int]) -> IntArray:
    """Return the part of each row by its time; sizes are adjusted so that rows of equal time are in one part."""
    rows = np.bincount(times)
    after = np.cumsum(rows[rows > 0])  # numbers of rows up to and including each time, where parts may end
    needed = [int(count > 0) for count in counts]
    if len(after) < sum(needed):
        raise SplitImpossible(
            f"{spelled('time_column')} holds {len(after)} different values, whose rows stay together, for "
            f"{sum(needed)} parts; give a finer time, or fewer parts (--split)"
        )
    places = np.concatenate([[0], after])
    cuts: list[int] = []
    for part, wanted in enumerate(np.cumsum(counts)):
        # every part that is not empty, before and after this end, needs at least one time
        lowest = (cuts[-1] if cuts else 0) + needed[part]
        highest = len(after) - sum(needed[part + 1 :])
        cuts.append(lowest + int(np.abs(places[lowest : highest + 1] - wanted).argmin()))
    ranks = np.unique(times, return_inverse=True)[1]
    return np.searchsorted(np.array(cuts), ranks, side="right").astype(np.intp)


def row_counts(sizes: Sequence[float], rows: int) -> list[int]:
    """Return the number of rows in each of the three parts, given their sizes in rows or as shares of `rows`."""
    if len(sizes) != 3 or not all(size >= 0 for size in sizes) or sizes[0] == 0:
        raise SplitImpossible(f"sizes {tuple(sizes)} are not three sizes with rows to train on; try {TRY}")
    whole = rows if all(isinstance(size, int | np.integer) for size in sizes) else 1
    if sum(sizes) > whole + 1e-9:
        raise SplitImpossible(f"sizes {tuple(sizes)} sum to more than {whole}, which is all; ask for less")
    # Cumulative sums are rounded, not sizes, so that shares that sum to 1 use every row.
    counts = np.diff(np.rint(np.cumsum([0, *sizes]) / whole * rows)).astype(int).tolist()
    if any(size > 0 and count == 0 for size, count in zip(sizes, counts, strict=True)):
        raise SplitImpossible(
            f"{rows} rows are too few for the shares {tuple(sizes)}: a part would be empty; "
            "bring more rows, or divide them otherwise (--split)"
        )
    return list(counts)


def _strata(dataset: Dataset) -> IntArray:
    """Return for each row the number of its stratum, the combination of label and groups, ordered by label first."""
    groups = dataset.intersection
    return dataset.y * len(groups.names) + groups.codes if groups else dataset.y.astype(np.intp)


def _interleaved(counts: Sequence[int]) -> IntArray:
    """Return part numbers, each repeated as often as `counts` says and spread evenly over the sequence."""
    places = np.concatenate([(np.arange(count) + 0.5) / max(count, 1) for count in counts])
    return np.repeat(np.arange(len(counts)), counts)[np.argsort(places, kind="stable")]


def _require_both_labels(dataset: Dataset, train: IntArray) -> None:
    for value, name in ((1, dataset.label.favourable), (0, dataset.label.unfavourable)):
        if value not in dataset.y[train]:
            raise SplitImpossible(
                f"no training row has the label {name!r}, which {np.count_nonzero(dataset.y == value)} of "
                f"{len(dataset)} rows have; give train more rows, or the table more rows of this label"
            )
