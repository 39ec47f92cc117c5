"""Changes to the groups of sensitive columns: joining of spellings, merging of groups, leaving out of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairenum.document.reading import Reading
from fairenum.document.table_facts import Regrouped
from fairenum.errors import ColumnConstant, DataError
from fairenum.runtime.hints import did_you_mean, quoted
from fairenum.tables.columns import IntArray
from fairenum.tables.groups import Groups, read_groups

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Regrouping:
    """Sensitive columns after changes to their groups.

    Attributes
    ----------
    columns
        For each sensitive column, the groups of the rows that remain.
    made
        The changes to each column that was changed, by its name.
    rows
        The numbers of the rows that remain; None if no row was left out.
    """

    columns: tuple[Groups, ...]
    made: Mapping[str, Regrouped]
    rows: IntArray | None


def read_regrouped(
    frame: pd.DataFrame, columns: Sequence[str], meanings: Mapping[str, Mapping[str, str]] | None, reading: Reading
) -> Regrouping:
    """Read the groups of sensitive columns, and merge them or leave them out as `reading` asks.

    `meanings` holds, by column, the names to show for coded values.
    """
    groups = [read_groups(frame[name], reading.bands.get(name, ()), (meanings or {}).get(name)) for name in columns]
    return regroup(groups, reading)


def regroup(columns: Sequence[Groups], reading: Reading) -> Regrouping:
    """Join groups that differ in spelling, merge groups, then leave out the rows of groups, as `reading` asks."""
    if not columns:
        _refuse_without_columns(reading)
        return Regrouping((), {}, None)
    made = {groups.column: Regrouped() for groups in columns}
    found = [_tidied(groups, made, joins=reading.tidy_groups) for groups in columns]
    for name, members in reading.merge.items():
        _merge(found, made, name, members)
    dropped = _dropped(found, reading)
    rows = np.flatnonzero(~np.any([dropped[groups.column][groups.codes] for groups in found], axis=0))
    for groups in found:
        left_out = {groups.names[code]: int(groups.sizes[code]) for code in np.flatnonzero(dropped[groups.column])}
        made[groups.column] = made[groups.column].but(left_out=left_out)
    is_less = any(marks.any() for marks in dropped.values())
    return Regrouping(
        columns=tuple(_remaining(groups, rows) for groups in found),
        made={column: one for column, one in made.items() if one != Regrouped()},
        rows=rows if is_less else None,
    )


def spelling(name: str) -> str:
    """Return a name in lower case, with single blanks, to recognise different spellings of it."""
    return " ".join(name.split()).casefold()


def _tidied(groups: Groups, made: dict[str, Regrouped], *, joins: bool) -> Groups:
    """Return the groups; if `joins`, those whose names differ only in case and blanks are joined.

    Joined or not, such names are recorded in `made`. A joined group has the name of the largest of its groups.
    """
    for members in list(_alike(groups)):
        names = sorted(members, key=lambda name: -int(groups.sizes[groups.names.index(name)]))
        before = made[groups.column]
        if joins:
            groups = _joined(groups, names, names[0])
            made[groups.column] = before.but(merged={**before.merged, names[0]: tuple(members)})
        else:
            made[groups.column] = before.but(alike=(*before.alike, tuple(members)))
    return groups


def _alike(groups: Groups) -> Iterator[list[str]]:
    by_spelling: dict[str, list[str]] = {}
    for name in groups.names:
        by_spelling.setdefault(spelling(name), []).append(name)
    return (names for names in by_spelling.values() if len(names) > 1)


def _merge(found: list[Groups], made: dict[str, Regrouped], name: str, members: Sequence[str]) -> None:
    """Merge groups of one column under a new name, in the list of groups `found`, and record the change in `made`.

    The new name may begin with the name of the column: ``race:Other``.
    """
    column, _, rest = name.partition(":")
    is_prefixed = column in made
    places = [_place(f"{column}:{member}" if is_prefixed else member, found, "merge") for member in members]
    if len({place for place, _ in places}) != 1:
        raise DataError(f"merge (--merge) joins groups of one column under {name!r}, not {quoted(members)}")
    place, old = places[0][0], [member for _, member in places]
    new = rest.strip() if is_prefixed else name
    found[place] = _joined(found[place], old, new)
    before = made[found[place].column]
    made[found[place].column] = before.but(merged={**before.merged, new: (*before.merged.get(new, ()), *old)})


def _joined(groups: Groups, members: Iterable[str], name: str) -> Groups:
    """Return the groups with those named in `members`, and any group called `name`, merged into one called `name`.

    The merged group takes the position of the first of them.
    """
    codes = sorted({groups.names.index(member) for member in (*members, *({name} & {*groups.names}))})
    home, kept = codes[0], [code for code in range(len(groups.names)) if code not in codes[1:]]
    places = {code: place for place, code in enumerate(kept)}
    moved = np.array([places.get(code, places[home]) for code in range(len(groups.names))])
    unknown = [places[code] for code in groups.unknown if code not in codes]
    if {*codes} <= {*groups.unknown}:
        unknown.append(places[home])
    names = tuple(name if code == home else groups.names[code] for code in kept)
    return Groups(moved[groups.codes], names, groups.column, tuple(unknown))


def _place(text: str, columns: Sequence[Groups], part: str) -> tuple[int, str]:
    """Return the position of a column, and the name of its group, for a text such as ``group`` or ``column:group``.

    `part` names the option that the text was given in, for messages.
    """
    meant = []
    for place, groups in enumerate(columns):
        column, _, rest = text.partition(":")
        own = rest.strip() if column == groups.column and rest.strip() in groups.names else text.strip()
        if own in groups.names:
            meant.append((place, own))
    if len(meant) == 1:
        return meant[0]
    if meant:
        choices = [f"{columns[place].column}:{name}" for place, name in meant]
        raise DataError(f"several columns have a group {text!r}, named in {part} (--{part}); say {quoted(choices)}")
    known = [name for groups in columns for name in groups.names]
    full = [f"{groups.column}:{name}" for groups in columns for name in groups.names]
    hint = did_you_mean(text, full if ":" in text else known) or f"; there are {quoted(known) or 'none'}"
    raise DataError(f"no group is called {text!r}, named in {part} (--{part}){hint}")


def _dropped(columns: Sequence[Groups], reading: Reading) -> dict[str, NDArray[np.bool_]]:
    """Return, by column, a boolean for each group: True if the options `only` and `exclude` leave out its rows."""
    named = {part: [_place(text, columns, part) for text in getattr(reading, part)] for part in ("only", "exclude")}
    dropped = {}
    for place, groups in enumerate(columns):
        kept, out = ({name for at, name in named[part] if at == place} for part in ("only", "exclude"))
        dropped[groups.column] = np.array([(bool(kept) and name not in kept) or name in out for name in groups.names])
    return dropped


def _remaining(groups: Groups, rows: IntArray) -> Groups:
    """Return the groups of the rows that remain, without empty groups; refuse fewer than two groups."""
    left = groups.take(rows).narrowed(groups.take(rows).sizes > 0) if rows.size else None
    if left is None or len(left.names) < 2:
        remains = f"one group, {left.names[0]!r}," if left else "nothing"
        raise ColumnConstant(
            f"merge, only and exclude (--merge, --only, --exclude) leave {remains} of sensitive column "
            f"{groups.column!r}, and parity compares two groups; join or leave out less"
        )
    return left


def _refuse_without_columns(reading: Reading) -> None:
    for part in ("merge", "only", "exclude"):
        if getattr(reading, part):
            raise DataError(f"{part} (--{part}) names groups of a sensitive column, and there is none; name one")
