"""The three-way split of a table: rows to train on, to select models by, and to hold out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fairenum.document.audit_config import SHARES
from fairenum.document.reading import spelled
from fairenum.errors import SplitImpossible
from fairenum.runtime.hints import option
from fairenum.runtime.random_streams import stream
from fairenum.tables.columns import FloatArray, IntArray, read_only
from fairenum.tables.table import HOLDOUT, LEFT_OUT, SELECTION, TRAIN, Dataset, Partition

SIZE_MATTERS = 4.0  # weight of the size of a part, relative to its share of a label and group


def divided_together(
    members: IntArray, strata: IntArray, counts: Sequence[int], generator: np.random.Generator
) -> IntArray:
    """Divide rows whose members (persons, firms) stay together, with sizes and strata as near as possible.

    The largest members are placed first, equals in random order, each where it most reduces the weighted squares of the
    parts' deficits: sum over strata of (rows - wanted)^2 / wanted, and likewise for the size of the part as a whole.
    When there are as many members left as empty parts, each of these gets one.

    `members` and `strata` (combinations of label and group) are numbers for each row. Rows that `counts` leave over are
    a last part, which is not used. The number of each row's part is returned.
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
    """Count the rows of each member by stratum, with their sum in the last column."""
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
    """Give each member, in this order, to the part where it costs least."""
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
    """Row numbers, ascending and disjoint, of the three parts, and the seed that drew them."""

    train: IntArray = field(repr=False)
    selection: IntArray = field(repr=False)
    holdout: IntArray = field(repr=False)
    seed: int


def split(dataset: Dataset, sizes: Sequence[float] = SHARES, seed: int = 0) -> Split:
    """Split rows as the table's own columns say, or else at random, stratified by label and groups.

    At random, every combination of label and (intersected) group is spread over the parts in proportion, to within a
    few rows, and the sizes of the parts are exact. Where rows have to stay together, both hold as nearly as possible. A
    column of parts is followed; if it marks no selection rows, they are drawn from the training rows. By time, the
    earliest rows are trained on and the latest held out; rows of one time stay together. Rows of weight 0 are in no
    part.

    Parameters
    ----------
    dataset
        The table.
    sizes
        Train, selection, holdout: row counts if all three are integers, else shares of the table. A size of 0
        leaves selection or holdout empty; rows that no part claims are left out.
    seed
        Equal seeds give equal splits.
    """
    owner = _weighted_owners(dataset, sizes, seed)
    train, selection, holdout = (read_only(np.flatnonzero(owner == part)) for part in (TRAIN, SELECTION, HOLDOUT))
    _require_both_labels(dataset, train)
    return Split(train, selection, holdout, seed)


def drawn_share(dataset: Dataset, rows: IntArray) -> float:
    """Return the sampling fraction of some rows, if they were drawn with labels and groups in proportion; else 1.

    Rows that a column divides were not drawn, and those that stay together are only roughly in proportion.
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
    """Find the part of each row of positive weight; the others are left out."""
    if dataset.weights is None or len(dataset.weights.positive) == len(dataset):
        return _owners(dataset, sizes, seed)
    rows = dataset.weights.positive
    owner = np.full(len(dataset), LEFT_OUT, dtype=np.intp)
    owner[rows] = _owners(dataset.take(rows), sizes, seed)
    return owner


def _owners(dataset: Dataset, sizes: Sequence[float], seed: int) -> IntArray:
    """Find the part of each row."""
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
    # Rotated by chance, the pattern puts every row into each part with the same probability, rare rows too.
    rotated = np.roll(parts, generator.integers(len(dataset)))
    # Ordered by label first: the few rows of a rare label lie together, and every part gets its share of them.
    owner[np.lexsort((generator.permutation(len(dataset)), _strata(dataset)))] = rotated
    return owner


def _as_marked(dataset: Dataset, partition: Partition, parts: IntArray, sizes: Sequence[float], seed: int) -> IntArray:
    """Follow the marked parts; draw the selection split from the training rows if none is marked."""
    for part, name in ((TRAIN, "train"), (HOLDOUT, "holdout (or test)")):
        if part not in parts:
            raise SplitImpossible(
                f"{spelled('split_column')} marks none of {len(parts)} rows as {name}; mark some, or leave it out"
            )
    if SELECTION in parts:
        if tuple(sizes) != SHARES:
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
    """Split in the order of time, each cut moved to the nearest place where the time changes."""
    rows = np.bincount(times)
    after = np.cumsum(rows[rows > 0])  # possible cuts: behind all rows of a time
    needed = [int(count > 0) for count in counts]
    if len(after) < sum(needed):
        raise SplitImpossible(
            f"{spelled('time_column')} holds {len(after)} different values, whose rows stay together, for "
            f"{sum(needed)} parts; give a finer time, or fewer parts (--split)"
        )
    places = np.concatenate([[0], after])
    cuts: list[int] = []
    for part, wanted in enumerate(np.cumsum(counts)):
        # every part before this cut and every one behind it needs a time of its own
        lowest = (cuts[-1] if cuts else 0) + needed[part]
        highest = len(after) - sum(needed[part + 1 :])
        cuts.append(lowest + int(np.abs(places[lowest : highest + 1] - wanted).argmin()))
    ranks = np.unique(times, return_inverse=True)[1]
    return np.searchsorted(np.array(cuts), ranks, side="right").astype(np.intp)


def row_counts(sizes: Sequence[float], rows: int) -> list[int]:
    """Turn the sizes of the three parts, in rows or shares, into numbers of rows."""
    if len(sizes) != 3 or not all(size >= 0 for size in sizes) or sizes[0] == 0:
        raise SplitImpossible(f"sizes {tuple(sizes)} are not three sizes with rows to train on; try {TRY}")
    whole = rows if all(isinstance(size, int | np.integer) for size in sizes) else 1
    if sum(sizes) > whole + 1e-9:
        raise SplitImpossible(f"sizes {tuple(sizes)} sum to more than {whole}, which is all; ask for less")
    # Rounding the ends instead of the sizes makes shares that sum to 1 use every row.
    counts = np.diff(np.rint(np.cumsum([0, *sizes]) / whole * rows)).astype(int).tolist()
    if any(size > 0 and count == 0 for size, count in zip(sizes, counts, strict=True)):
        raise SplitImpossible(
            f"{rows} rows are too few for the shares {tuple(sizes)}: a part would be empty; "
            "bring more rows, or divide them otherwise (--split)"
        )
    return list(counts)


def _strata(dataset: Dataset) -> IntArray:
    """Number the combinations of label and group, by label first."""
    groups = dataset.intersection
    return dataset.y * len(groups.names) + groups.codes if groups else dataset.y.astype(np.intp)


def _interleaved(counts: Sequence[int]) -> IntArray:
    """Spread the parts evenly, so that any stretch of rows holds them in nearly equal proportions."""
    places = np.concatenate([(np.arange(count) + 0.5) / max(count, 1) for count in counts])
    return np.repeat(np.arange(len(counts)), counts)[np.argsort(places, kind="stable")]


def _require_both_labels(dataset: Dataset, train: IntArray) -> None:
    for value, name in ((1, dataset.label.favourable), (0, dataset.label.unfavourable)):
        if value not in dataset.y[train]:
            raise SplitImpossible(
                f"no training row has the label {name!r}, which {np.count_nonzero(dataset.y == value)} of "
                f"{len(dataset)} rows have; give train more rows, or the table more rows of this label"
            )
