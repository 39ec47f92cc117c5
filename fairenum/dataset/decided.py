"""Decisions and scores as a table holds them: of a model, a tool or a person in use, not of anything trained here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.columns import Texts, is_missing, read_only, read_texts
from fairenum.dataset.decisions import Decided, Scored, read_decision, read_scores
from fairenum.dataset.groups import Groups, intersect
from fairenum.dataset.label import Label, meant_value, read_label
from fairenum.dataset.regrouping import read_regrouped
from fairenum.dataset.table import refuse_unknown_columns, with_plain_names
from fairenum.document.reading import Reading
from fairenum.document.remark import Remark
from fairenum.document.table import Regrouped
from fairenum.errors import ColumnConflict, ColumnMissing, EmptyTable, FavourableUnknown
from fairenum.phrases import quoted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns hold what.

    Attributes
    ----------
    decisions
        Columns of decisions, those to compare others with first.
    score
        Column of numbers that rank rows.
    label, favourable
        Column of what was true in the end, and its favourable value.
    decision_favourable
        Favourable value of decisions, where it is not clear.
    """

    sensitive: tuple[str, ...]
    decisions: tuple[str, ...] = ()
    score: str | None = None
    label: str | None = None
    favourable: object = None
    decision_favourable: object = None

    @property
    def named(self) -> dict[str, tuple[str, ...]]:
        """The columns by the option that names them."""
        single = {"score": self.score, "label": self.label}
        others = {part: (column,) for part, column in single.items() if column is not None}
        return {"decision": self.decisions, **others, "sensitive": self.sensitive}


@dataclass(frozen=True, slots=True, eq=False)
class DecidedTable:
    """Rows that were decided about, or scored, and the groups they are of.

    Attributes
    ----------
    form
        Whether it was read from rows, or from counts by group.
    left_out
        Rows without a decision or a score, which are no part of it, by the column that lacks it.
    undecided
        How many rows these are.
    regrouped
        What was made of the groups of a sensitive column, by its name.
    """

    name: str
    form: Literal["rows", "counts"]
    sensitive: tuple[Groups, ...]
    decisions: tuple[Decided, ...] = ()
    score: Scored | None = None
    label: Label | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    undecided: int = 0
    regrouped: Mapping[str, Regrouped] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def __len__(self) -> int:
        return self.sensitive[0].codes.size

    @property
    def columns(self) -> tuple[Groups, ...]:
        """The sensitive columns and, if they are several, their intersection."""
        return (*self.sensitive, intersect(self.sensitive)) if len(self.sensitive) > 1 else self.sensitive


def read_decided(
    frame: pd.DataFrame,
    roles: Roles,
    reading: Reading,
    *,
    name: str = "table",
    meanings: Mapping[str, Mapping[str, str]] | None = None,
    remarks: Sequence[Remark] = (),
) -> DecidedTable:
    """Read decisions and scores from a table of rows.

    Rows that lack a decision, or the score, are left out and counted.

    Parameters
    ----------
    frame
        The table.
    roles
        Which columns hold what; others are not looked at.
    reading
        How groups are made of sensitive columns.
    name
        What reports call the table.
    meanings
        For sensitive columns, names to show for values that are codes.
    remarks
        What was noticed while a file was read.
    """
    frame = with_plain_names(frame)
    refuse_roles(frame, roles)
    texts = {column: read_texts(frame[column]) for column in roles.decisions}
    values = None if roles.score is None else read_scores(frame[roles.score], reading.decimal)
    lacking = {column: is_missing(found) for column, found in texts.items()}
    if roles.score is not None and values is not None:
        lacking[roles.score] = np.isnan(values)
    is_lacking = np.any([*lacking.values()], axis=0)
    _refuse_nothing(lacking, is_lacking)
    rows = np.flatnonzero(~is_lacking)
    regrouping = read_regrouped(frame.iloc[rows], roles.sensitive, meanings, reading)
    rows = rows if regrouping.rows is None else rows[regrouping.rows]
    label = None if roles.label is None else read_label(frame[roles.label].iloc[rows], roles.favourable)
    return DecidedTable(
        name=name,
        form="rows",
        sensitive=regrouping.columns,
        decisions=_decisions({column: found[rows] for column, found in texts.items()}, roles, label),
        score=None if roles.score is None or values is None else Scored(roles.score, read_only(values[rows])),
        label=label,
        left_out={column: int(marks.sum()) for column, marks in lacking.items() if marks.any()},
        undecided=int(is_lacking.sum()),
        regrouped=regrouping.made,
        remarks=tuple(remarks),
    )


def refuse_roles(frame: pd.DataFrame, roles: Roles) -> None:
    """Refuse columns that the table does not have or that play two parts, and too few to measure anything."""
    refuse_unknown_columns(frame, **roles.named)
    claimed = [column for columns in roles.named.values() for column in columns]
    for column in claimed:
        if claimed.count(column) > 1:
            raise ColumnConflict(
                f"column {column!r} is named twice among decision, score, label and sensitive; give it one part"
            )
    if not roles.decisions and roles.score is None:
        raise ColumnMissing(
            "there is nothing to measure yet; name a column of decisions with decision=... (--decision COLUMN), or of "
            f"scores with score=... (--score COLUMN); the columns are {quoted(frame.columns)}"
        )
    if not roles.sensitive:
        raise ColumnMissing(
            "there are no groups to compare yet; name a column of them with sensitive=... (--sensitive COLUMN); the "
            f"columns are {quoted(frame.columns)}"
        )


def _refuse_nothing(lacking: Mapping[str, NDArray[np.bool_]], is_lacking: NDArray[np.bool_]) -> None:
    if is_lacking.all():
        found = ", ".join(f"{column!r} is empty in {int(marks.sum())}" for column, marks in lacking.items())
        raise EmptyTable(f"none of the {is_lacking.size} rows has all that is to be measured: {found}; choose others")


def _decisions(texts: Mapping[str, Texts], roles: Roles, label: Label | None) -> tuple[Decided, ...]:
    found = tuple(read_decision(column, cells, roles.decision_favourable, label) for column, cells in texts.items())
    wanted = roles.decision_favourable
    if found and wanted is not None and all(meant_value(wanted, _values(one)) is None for one in found):
        values = list(dict.fromkeys(value for one in found for value in _values(one)))
        raise FavourableUnknown(
            f"no decision is {str(wanted)!r}, named as decision_favourable (--decision-favourable); there are "
            f"{quoted(values)}"
        )
    return found


def _values(decided: Decided) -> list[str]:
    return [value for value in (decided.favourable, decided.unfavourable) if value is not None]
