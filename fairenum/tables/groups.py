"""Groups of rows by the values of sensitive columns or of combinations of them, and which groups are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairenum.errors import ColumnConstant, ColumnMissing, ColumnUnusable, DataError
from fairenum.runtime.hints import did_you_mean, option, quoted
from fairenum.tables.columns import (
    FloatArray,
    IntArray,
    Texts,
    by_value,
    is_missing,
    plain_text,
    read_column,
    read_only,
    read_texts,
    reading_order,
)
from fairenum.tables.naming import unlike

if TYPE_CHECKING:
    from fairenum.tables.columns import Series

MISSING, EVERYONE = "(missing)", "everyone"
MOST_NUMBERS = 10
MOST_COMBINATIONS = np.iinfo(np.intp).max


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The group of each row, by the value of one sensitive column or by the combination of values of several.

    Attributes
    ----------
    codes
        For each row the position of its group in `names`.
    names
        One name for each group, all different; a group may be without rows.
    column
        The name of the sensitive column, or of several columns, joined by " & ".
    unknown
        Positions of the groups whose rows lack a value in at least one of the columns.
    aside
        Positions of the groups that are shown but not compared: no gap, search or choice of a model depends on them.
    """

    codes: IntArray = field(repr=False)
    names: tuple[str, ...]
    column: str = ""
    unknown: tuple[int, ...] = ()
    aside: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        codes, names = np.asarray(self.codes), tuple(str(name) for name in self.names)
        if codes.ndim != 1 or codes.size == 0 or codes.dtype.kind not in "iu":
            raise DataError(f"group codes must be one integer for each row, got {codes.dtype} {codes.shape}")
        if codes.min() < 0 or codes.max() >= len(names):
            raise DataError(f"group codes must lie in 0..{len(names) - 1}, got {codes.min()}..{codes.max()}")
        if len(set(names)) < len(names):
            raise DataError(f"group names must differ from each other, got {list(names)}")
        if not {*self.unknown, *self.aside} <= {*range(len(names))}:
            raise DataError(f"unknown and aside must name groups by positions in 0..{len(names) - 1}")
        object.__setattr__(self, "codes", read_only(codes.astype(np.intp)))
        object.__setattr__(self, "names", names)

    @classmethod
    def everyone(cls, rows: int) -> Groups:
        """Return a single group with all rows, for a table without sensitive columns."""
        return cls(np.zeros(rows, dtype=np.intp), (EVERYONE,))

    def take(self, rows: IntArray | slice) -> Groups:
        """Return the groups of some rows."""
        return replace(self, codes=self.codes[rows])

    def narrowed(self, kept: NDArray[np.bool_]) -> Groups:
        """Return the groups for which `kept` is True, renumbered; the other groups must have no rows."""
        places = np.cumsum(kept) - 1
        return Groups(
            places[self.codes],
            tuple(name for name, is_kept in zip(self.names, kept, strict=True) if is_kept),
            self.column,
            *(tuple(int(places[code]) for code in codes if kept[code]) for codes in (self.unknown, self.aside)),
        )

    def folded(self) -> Groups:
        """Return the groups with all groups in `aside` merged into one, which is the only one in `aside`."""
        if len(self.aside) < 2:
            return self
        home = min(self.aside)
        kept = self.compared.copy()
        kept[home] = True
        return replace(self, codes=np.where(self.compared[self.codes], self.codes, home)).narrowed(kept)

    def setting_aside(self, fewest: int, parts: Sequence[IntArray | slice]) -> Groups:
        """Return the groups with `aside` set to those of missing values and those with too few rows in some part.

        Too few are fewer than `fewest`; `parts` holds the row numbers of each part. If fewer than two groups would be
        left to compare, small groups are compared, too; if there are still fewer than two, all groups are compared.
        """
        rows = np.min([self.take(part).sizes for part in parts], axis=0)
        known = self._without(self.unknown)
        for compared in (known & (rows >= fewest), known):
            if np.count_nonzero(compared & (rows > 0)) >= 2:
                return replace(self, aside=tuple(np.flatnonzero(~compared).tolist()))
        return replace(self, aside=())

    @property
    def compared(self) -> NDArray[np.bool_]:
        """A boolean for each group: True if it is compared with others, False if it is in `aside`."""
        return self._without(self.aside)

    def _without(self, positions: Sequence[int]) -> NDArray[np.bool_]:
        return np.isin(np.arange(len(self.names)), positions, invert=True)

    @property
    def values(self) -> Texts:
        """The name of every row's group."""
        return read_only(np.array(self.names, dtype=object)[self.codes])

    @property
    def sizes(self) -> IntArray:
        """The number of rows in each group."""
        return read_only(np.bincount(self.codes, minlength=len(self.names)))

    @property
    def is_single(self) -> bool:
        """Whether all rows are in one group, so that all gaps between groups are 0."""
        return int(np.count_nonzero(self.sizes)) == 1

    def small(self, minimum_size: int = 30) -> NDArray[np.bool_]:
        """Return a boolean for each group: True if it has fewer rows than `minimum_size`."""
        return np.asarray(self.sizes < minimum_size)

    def reference(self, name: str | None = None) -> int:
        """Return the position of the reference group: the one named, by default the largest that is compared."""
        if name is None:
            return int(np.where(self.compared, self.sizes, -1).argmax())
        if name not in self.names:
            raise DataError(f"no group is called {name!r}; choose the control among {list(self.names)}")
        return self.names.index(name)


def read_groups(
    series: Series, cuts: Sequence[float] = (), meanings: Mapping[str, str] | None = None, role: str = "sensitive"
) -> Groups:
    """Read the groups of a sensitive column; refuse a column with one group, or with too many different numbers.

    Parameters
    ----------
    cuts
        Numbers at which a numeric column is cut into groups: ``[25]`` makes the groups "<= 25" and "> 25".
    meanings
        Names to show for values that are codes; values with equal names become one group.
    role
        What the column is for, in error messages.
    """
    names, codes = _bands(series, cuts, role) if cuts else _values(series, meanings or {}, role)
    unknown: tuple[int, ...] = ()
    if (codes < 0).any():
        names, unknown = [*names, unlike(MISSING, names)], (len(names),)
        codes = np.where(codes < 0, len(names) - 1, codes)
    groups = Groups(codes, tuple(names), str(series.name), unknown)
    groups = groups.narrowed(groups.sizes > 0)
    if len(groups.names) < 2:
        raise ColumnConstant(
            f"{role} column {series.name!r} holds one group only, {groups.names[0]!r}, and parity "
            "compares two; choose another column"
        )
    return groups


def intersect(groups: Sequence[Groups]) -> Groups:
    """Return the groups by combinations of values of several sensitive columns, for combinations that occur."""
    if len(groups) == 1:
        return groups[0]
    columns = [each.column for each in groups]
    _, first, codes = np.unique(_crossed(groups), return_index=True, return_inverse=True)
    combinations = np.column_stack([each.codes[first] for each in groups])
    parts = [[each.names[code] for each, code in zip(groups, row, strict=True)] for row in combinations]
    names = [_joined(columns, row) for row in parts]
    if len(set(names)) < len(names):  # a value that holds " & " can make two combinations read alike
        names = [_joined(columns, map(repr, row)) for row in parts]
    unknown = np.any([np.isin(each.codes[first], each.unknown) for each in groups], axis=0)
    return Groups(codes.ravel(), tuple(names), " & ".join(columns), tuple(np.flatnonzero(unknown).tolist()))


def with_intersection(columns: tuple[Groups, ...]) -> tuple[Groups, ...]:
    """Return the sensitive columns and, if there are several, the groups by combinations of their values."""
    return (*columns, intersect(columns)) if len(columns) > 1 else columns


def _crossed(groups: Sequence[Groups]) -> IntArray:
    """Return a number for each row's combination of groups; numbers are ordered by the first column, then the next."""
    crossed, size = groups[0].codes, len(groups[0].names)
    for each in groups[1:]:
        if size * len(each.names) > MOST_COMBINATIONS:
            found, crossed = np.unique(crossed, return_inverse=True)
            size = len(found)
        crossed, size = crossed.ravel() * len(each.names) + each.codes, size * len(each.names)
    return np.asarray(crossed)


def named_groups(columns: Sequence[Groups], name: str | None = None) -> Groups:
    """Return the groups of the sensitive column, or intersection of columns, that is named; by default the first."""
    named = {groups.column: groups for groups in columns}
    if name is not None and name not in named:
        hint = did_you_mean(name, named) or f"; there are {quoted(named) or 'none'}"
        raise ColumnMissing(f"no sensitive column is called {name!r}, named as primary{hint}")
    if not columns:
        raise ColumnMissing("no sensitive column was named, so there are no groups to compare; name one")
    return columns[0] if name is None else named[name]


def _joined(columns: Iterable[str], names: Iterable[str]) -> str:
    return " & ".join(f"{column}: {name}" for column, name in zip(columns, names, strict=True))


def _values(series: Series, meanings: Mapping[str, str], role: str) -> tuple[list[str], IntArray]:
    texts = read_texts(series)
    known = sorted(set(texts[~is_missing(texts)].tolist()), key=reading_order)
    if len(known) > MOST_NUMBERS and (column := read_column(series)).is_numeric:
        numbers = np.unique(column.values[~is_missing(column.values)])
        middle = float(numbers[numbers.size // 2])
        end = int(middle) if middle.is_integer() else middle
        bands = option("bands", {str(series.name): [end]}, "band", f"{series.name}={end}")
        raise ColumnUnusable(
            f"{role} column {series.name!r} holds {len(known)} different numbers, too many for groups; "
            f"cut it into bands, for example {bands}"
        )
    named = {value: meanings.get(value, value) for value in known}
    names = list(dict.fromkeys(named.values()))
    places = {value: names.index(name) for value, name in named.items()}
    return names, np.nan_to_num(by_value(texts, places.__getitem__, np.float64), nan=-1.0).astype(np.intp)


def _bands(series: Series, cuts: Sequence[float], role: str) -> tuple[list[str], IntArray]:
    column = read_column(series)
    if not column.is_numeric:
        raise ColumnUnusable(f"{role} column {series.name!r} is not numeric and has no bands; leave bands out for it")
    return cut_into_bands(column.values.astype(np.float64), cuts)


def cut_into_bands(numbers: FloatArray, cuts: Iterable[float]) -> tuple[list[str], IntArray]:
    """Return the names of the bands that end at the given numbers, and the band of each number, -1 for nan."""
    edges = sorted({float(cut) for cut in cuts})
    ends = [plain_text(edge) for edge in edges]
    names = [f"<= {ends[0]}", *(f"> {low} to {high}" for low, high in pairwise(ends)), f"> {ends[-1]}"]
    codes = np.searchsorted(edges, numbers, side="left")
    return names, np.where(np.isnan(numbers), -1, codes)


# Most groups of a column that are compared with each other: with 60, an audit of 100,000 rows takes less than a minute
# on one processor (tests/slow/test_load.py), and the number of pairs grows with the square of the number of groups.
MOST_GROUPS = 60

# Most groups of a column, compared or not: the saved run holds counts for each group and model, and would be too large
# with more. Pages show only the largest groups.
MOST_SHOWN = 5000


def comparable(
    columns: Iterable[Groups],
    asked_for: Collection[str],
    fewest: int | None,
    parts: Sequence[IntArray | slice] = (slice(None),),
) -> tuple[Groups, ...]:
    """Return the columns that do not have too many groups; refuse a column with too many that the user asked for.

    Parameters
    ----------
    columns
        Sensitive columns and their intersection, with `aside` already determined.
    asked_for
        The names of the columns that are refused if they have too many groups; other columns are left out.
    fewest
        Rows that a group needs in each part to be compared; None if groups are compared whatever their size.
    parts
        Row numbers of each part of the table.
    """
    kept = []
    for groups in columns:
        is_shown = len(groups.names) <= MOST_SHOWN
        if is_shown and np.count_nonzero(groups.compared) <= MOST_GROUPS:
            kept.append(groups)
        elif groups.column in asked_for:
            problem = _too_many_to_compare(groups, fewest, parts) if is_shown else _too_many_to_show(groups)
            raise ColumnUnusable(problem)
    return tuple(kept)


def _too_many_to_show(groups: Groups) -> str:
    return (
        f"sensitive column {groups.column!r} has {len(groups.names)} groups, more than {MOST_SHOWN}; join some with "
        "merge (--merge), keep the rows of some with only (--only), or name a coarser column"
    )


def _too_many_to_compare(groups: Groups, fewest: int | None, parts: Sequence[IntArray | slice]) -> str:
    aside = option("small_groups", "set-aside", "small-groups", "set-aside")
    enough = _large_enough(groups, fewest or 0, parts)
    if fewest is not None:
        aside = option("min_group_size", enough, "min-group-size", str(enough))
    remedy = f"set small ones aside with {aside}, or join some with" if enough else "none is large; join some with"
    return (
        f"sensitive column {groups.column!r} has {np.count_nonzero(groups.compared)} groups to compare two by two, "
        f"more than {MOST_GROUPS}; {remedy} merge (--merge)"
    )


def _large_enough(groups: Groups, fewest: int, parts: Sequence[IntArray | slice]) -> int:
    """Return a number of rows that 2 to `MOST_GROUPS` groups reach in every part of the table; 0 if there is none."""
    sizes = np.min([groups.take(part).sizes for part in parts], axis=0)
    known = np.sort(np.delete(sizes, groups.unknown))[::-1]
    least = int(known[MOST_GROUPS]) + 1 if len(known) > MOST_GROUPS else 1
    for size in (max(2 * fewest, MOST_GROUPS, least), least):
        if np.count_nonzero(known >= size) >= 2:
            return size
    return 0
