"""Tables of decisions and scores about rows, read from bundled datasets, files, pandas frames or arrays.

A table has one line for each row, or one line for each group with the number of its rows and of its selected rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fairenum.document.reading import Reading
from fairenum.document.table_facts import Regrouped, Remark
from fairenum.errors import (
    ColumnConflict,
    ColumnMissing,
    ColumnUnusable,
    ConfigError,
    DataError,
    EmptyTable,
    FavourableUnknown,
    TableTooLarge,
)
from fairenum.runtime.hints import quoted
from fairenum.tables.columns import (
    IntArray,
    Interpreted,
    Texts,
    interpret,
    is_missing,
    missing_marks,
    read_only,
    read_texts,
)
from fairenum.tables.decisions import DecisionColumn, ScoreColumn, read_chances, read_decision, read_scores
from fairenum.tables.groups import Groups, read_groups, with_intersection
from fairenum.tables.label import Label, meant_value, read_label
from fairenum.tables.loading import read_bundled
from fairenum.tables.naming import row_name, table_name
from fairenum.tables.periods import Periods, read_periods
from fairenum.tables.probable_groups import ProbableGroups, read_probable
from fairenum.tables.regrouping import read_regrouped, regroup
from fairenum.tables.table import member_columns, read_members, refuse_unknown_columns, with_plain_names
from fairenum.tables.table_files import Card, list_datasets, read_file

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from fairenum.tables.columns import Series


@dataclass(frozen=True, slots=True)
class Roles:
    """The names of the columns of a table of decisions, by role: sensitive, decision, score, label and others.

    Attributes
    ----------
    decisions
        Columns of decisions; the others are compared with the first.
    score
        Column of numbers that rank rows.
    label, favourable
        Column of true outcomes, and its favourable value.
    decision_favourable
        Favourable value of the decisions; None to infer it from the values.
    given
        Columns of legitimate factors, whose combinations of values are the strata that groups are compared in.
    members
        Column of persons or firms that can have several rows.
    period
        Column of the periods in which rows were decided.
    probabilities
        Columns of the probabilities that a row belongs to a group, by the name of the group.
    """

    sensitive: tuple[str, ...]
    decisions: tuple[str, ...] = ()
    score: str | None = None
    label: str | None = None
    favourable: object = None
    decision_favourable: object = None
    given: tuple[str, ...] = ()
    members: str | None = None
    period: str | None = None
    probabilities: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> dict[str, tuple[str, ...]]:
        """The names of the columns, keyed by the option that names them."""
        single = {"score": self.score, "label": self.label, "group_column": self.members, "by": self.period}
        others = {part: (column,) for part, column in single.items() if column is not None}
        several = {"group_probabilities": tuple(self.probabilities.values()), "given": self.given}
        return {"decision": self.decisions, **others, **several, "sensitive": self.sensitive}


@dataclass(frozen=True, slots=True, eq=False)
class DecidedTable:
    """A table read for measuring: the groups of its rows, and decisions or scores about them.

    Attributes
    ----------
    form
        "rows" if the table had one line for each row, "counts" if it had numbers of rows by group.
    left_out
        For each column of decisions or scores with missing cells, the number of these; their rows were left out.
    undecided
        Number of rows that were left out because a decision or a score is missing.
    regrouped
        Changes that were made to the groups of sensitive columns, by column name.
    given
        The groups of rows by each column of legitimate factors.
    factors
        The groups of rows by each column without a role that has few values, and so may be such a factor.
    members
        The number of each row's person or firm; None if no column says which rows belong together.
    periods
        The period of each row; None if no column says it.
    probable
        The probabilities that rows belong to groups; None if no columns have them.
    """

    name: str
    form: Literal["rows", "counts"]
    sensitive: tuple[Groups, ...]
    decisions: tuple[DecisionColumn, ...] = ()
    score: ScoreColumn | None = None
    label: Label | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    undecided: int = 0
    regrouped: Mapping[str, Regrouped] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    given: tuple[Groups, ...] = ()
    factors: tuple[Groups, ...] = ()
    members: IntArray | None = None
    periods: Periods | None = None
    probable: ProbableGroups | None = None

    def __len__(self) -> int:
        return self.sensitive[0].codes.size

    @property
    def columns(self) -> tuple[Groups, ...]:
        """The sensitive columns and, if there are several, the groups by combinations of their values."""
        return with_intersection(self.sensitive)


def read_decided(
    frame: pd.DataFrame,
    roles: Roles,
    reading: Reading,
    *,
    name: str = "table",
    meanings: Mapping[str, Mapping[str, str]] | None = None,
) -> DecidedTable:
    """Read decisions and scores from a frame; rows that lack one of them are left out and counted.

    Columns without a role are ignored. `meanings` holds, for sensitive columns, the names to show for coded values.
    """
    frame = with_plain_names(frame)
    refuse_roles(frame, roles)
    texts = {column: read_texts(frame[column]) for column in roles.decisions}
    values = None if roles.score is None else read_scores(frame[roles.score], reading.decimal)
    lacking = {column: is_missing(found) for column, found in texts.items()}
    if roles.score is not None and values is not None:
        lacking[roles.score] = np.isnan(values)
    if roles.period is not None:
        lacking[roles.period] = frame[roles.period].isna().to_numpy()
    chances = {column: read_chances(frame[column], reading.decimal) for column in roles.probabilities.values()}
    lacking |= {column: np.isnan(found) for column, found in chances.items()}
    is_lacking = np.any([*lacking.values()], axis=0)
    _refuse_without_rows(lacking, is_lacking)
    rows = np.flatnonzero(~is_lacking)
    regrouping = read_regrouped(frame.iloc[rows], roles.sensitive, meanings, reading)
    rows = rows if regrouping.rows is None else rows[regrouping.rows]
    label = None if roles.label is None else read_label(frame[roles.label].iloc[rows], roles.favourable)
    taken = [column for columns in roles.named.values() for column in columns]
    free = [] if roles.members else [column for column in frame.columns if column not in taken]
    probable = read_probable(frame, roles.probabilities, chances, rows) if chances else None
    return DecidedTable(
        name=name,
        form="rows",
        sensitive=regrouping.columns if probable is None or roles.sensitive else (probable.most_likely,),
        probable=probable,
        decisions=_decisions({column: found[rows] for column, found in texts.items()}, roles, label),
        score=None if roles.score is None or values is None else ScoreColumn(roles.score, read_only(values[rows])),
        label=label,
        left_out={column: int(marks.sum()) for column, marks in lacking.items() if marks.any()},
        undecided=int(is_lacking.sum()),
        regrouped=regrouping.made,
        remarks=(
            *(
                remark
                for column in (roles.score, *reading.bands)
                if column in frame
                for remark in missing_marks(frame[column], reading.decimal)
            ),
            *member_columns(frame.iloc[rows], free, "repeated_members"),
        ),
        given=_given(frame, roles, reading, rows),
        factors=_factors(frame, taken, rows),
        members=None if roles.members is None else read_members(frame[roles.members].iloc[rows]),
        periods=None if roles.period is None else read_periods(frame[roles.period].iloc[rows]).take(slice(None)),
    )


MOST_VALUES, MOST_FACTORS = 30, 100  # of a column that is tried as a factor, and such columns


def _given(frame: pd.DataFrame, roles: Roles, reading: Reading, rows: IntArray) -> tuple[Groups, ...]:
    """Return the groups of rows by each column of legitimate factors."""
    found = (read_groups(frame[column], reading.bands.get(column, ()), role="given") for column in roles.given)
    return tuple(_of_rows(groups, rows) for groups in found)


def _factors(frame: pd.DataFrame, taken: Sequence[str], rows: IntArray) -> tuple[Groups, ...]:
    """Return the groups of rows by each column that is not taken and has few values; unreadable columns are skipped."""
    found: list[Groups] = []
    for column in (one for one in frame.columns if one not in taken):
        if len(found) == MOST_FACTORS:
            break
        try:
            if 2 <= frame[column].nunique() <= MOST_VALUES:
                found.append(_of_rows(read_groups(frame[column]), rows))
        except (DataError, TypeError):  # dates, lists, numbers with words among them
            continue
    return tuple(found)


def _of_rows(groups: Groups, rows: IntArray) -> Groups:
    """Return the groups of some rows, without those that have none of these rows."""
    found = groups.take(rows)
    return found.narrowed(found.sizes > 0)


def refuse_roles(frame: pd.DataFrame, roles: Roles) -> None:
    """Refuse unknown columns, columns with two roles, and a lack of sensitive columns or of decisions and scores."""
    refuse_unknown_columns(frame, **roles.named)
    claimed = [column for columns in roles.named.values() for column in columns]
    for column in claimed:
        if claimed.count(column) > 1:
            found = [role for role, columns in roles.named.items() if column in columns]
            remedy = "give it one role" if len(found) > 1 else "name it once"
            raise ColumnConflict(f"column {column!r} is named twice, as {' and '.join(found)}; {remedy}")
    if not roles.decisions and roles.score is None:
        raise ColumnMissing(
            "there is nothing to measure yet; name a column of decisions with decision=... (--decision COLUMN), or of "
            f"scores with score=... (--score COLUMN); the columns are {quoted(frame.columns)}"
        )
    if not roles.sensitive and not roles.probabilities:
        raise ColumnMissing(
            "there are no groups to compare yet; name a column of them with sensitive=... (--sensitive COLUMN); the "
            f"columns are {quoted(frame.columns)}"
        )


def _refuse_without_rows(lacking: Mapping[str, NDArray[np.bool_]], is_lacking: NDArray[np.bool_]) -> None:
    if is_lacking.all():
        found = ", ".join(f"{column!r} is empty in {int(marks.sum())}" for column, marks in lacking.items())
        raise EmptyTable(f"none of the {is_lacking.size} rows has all that is to be measured: {found}; choose others")


def _decisions(texts: Mapping[str, Texts], roles: Roles, label: Label | None) -> tuple[DecisionColumn, ...]:
    found = tuple(read_decision(column, cells, roles.decision_favourable, label) for column, cells in texts.items())
    wanted = roles.decision_favourable
    if found and wanted is not None and all(meant_value(wanted, one.values) is None for one in found):
        values = list(dict.fromkeys(value for one in found for value in one.values))
        raise FavourableUnknown(
            f"no decision is {str(wanted)!r}, named as decision_favourable (--decision-favourable); there are "
            f"{quoted(values)}"
        )
    return found


ROWS, SELECTED, POSITIVES, TRUE_POSITIVES = "n", "selected", "positives", "true_positives"
MOST_ROWS = 20_000_000  # so many rows take half a gigabyte of memory


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Numbers of rows by label and decision, for each line of a table of counts.

    `cells` has one row for each line and four columns, for (label, decision) = (1, 1), (1, 0), (0, 1) and (0, 0).
    """

    cells: IntArray
    has_label: bool

    @property
    def lines(self) -> IntArray:
        """One entry for each counted row: the position of the line that counts the row."""
        return np.repeat(np.arange(len(self.cells)), self.cells.sum(1))

    def marks(self, of_cells: Sequence[int]) -> IntArray:
        """Return a number for each counted row; `of_cells` has the four numbers, one for each column of `cells`."""
        return np.repeat(np.tile(of_cells, len(self.cells)), self.cells.ravel())


def read_counted(frame: pd.DataFrame, roles: Roles, reading: Reading, *, name: str = "table") -> DecidedTable:
    """Read decisions from a frame whose lines hold groups and numbers of rows: n, selected and optional labels.

    Labels are given by the columns positives and true_positives. If `roles` names no sensitive column, all columns but
    those of numbers are sensitive; if it names a decision, the column of that name replaces `selected`.
    """
    frame = with_plain_names(frame)
    selected = _selected(roles)
    period = () if roles.period is None else (roles.period,)
    taken = (ROWS, selected, POSITIVES, TRUE_POSITIVES, *roles.given, *period)
    sensitive = roles.sensitive or tuple(column for column in frame.columns if column not in taken)
    refuse_roles(frame, Roles(sensitive, (selected,), given=roles.given, period=roles.period))
    counts = _counts(frame, selected)
    lines = counts.lines
    groups = [read_groups(frame[column], reading.bands.get(column, ())).take(lines) for column in sensitive]
    regrouping = regroup([one.narrowed(one.sizes > 0) for one in groups], reading)
    rows = slice(None) if regrouping.rows is None else regrouping.rows
    bits, labels = counts.marks((1, 0, 1, 0))[rows], counts.marks((1, 1, 0, 0))[rows]
    label = Label(POSITIVES, "", "", read_only(labels.astype(np.int64))) if counts.has_label else None
    return DecidedTable(
        name=name,
        form="counts",
        sensitive=regrouping.columns,
        decisions=(DecisionColumn(selected, None, None, read_only(bits.astype(np.uint8))),),
        label=label,
        regrouped=regrouping.made,
        given=_given(frame, roles, reading, lines[rows]),
        factors=_factors(frame, (*taken, *sensitive), lines[rows]),
        periods=None if roles.period is None else _counted_periods(frame[roles.period]).take(lines[rows]),
    )


def _counted_periods(series: Series) -> Periods:
    """Read the periods of a table of counts, every line of which needs one."""
    lost = np.flatnonzero(series.isna().to_numpy())
    if lost.size:
        raise ColumnUnusable(
            f"column {series.name!r}, named as by (--by), is empty in {row_name(series.index, int(lost[0]))}; every "
            "line of counts (--counts) needs its period"
        )
    return read_periods(series)


def _selected(roles: Roles) -> str:
    """Return the name of the column of selected rows; refuse a score, a label and a second decision."""
    if roles.probabilities:
        raise ConfigError(
            "group_probabilities (--group-probabilities) are about single rows, and counts (--counts) have none; give "
            "a table of rows"
        )
    if roles.members is not None:
        raise ConfigError(
            f"counts (--counts) do not say which rows are of one {roles.members!r}; give a table of rows, or leave out "
            "group_column (--group-column)"
        )
    if roles.score is not None or roles.label is not None or len(roles.decisions) > 1:
        raise ConfigError(
            "counts (--counts) hold one decision, in the columns n and selected, and labels in positives and "
            "true_positives; leave out score and label, and all but one decision, or give a table of rows"
        )
    return roles.decisions[0] if roles.decisions else SELECTED


def _counts(frame: pd.DataFrame, selected: str) -> Counts:
    for column in (ROWS, selected):
        if column not in frame.columns:
            raise ColumnMissing(
                f"a table of counts (--counts) has no column {column!r}; it needs columns of groups, {ROWS!r} for the "
                f"rows of each, and {SELECTED!r} (or the one that decision names) for those selected"
            )
    given = [column for column in (POSITIVES, TRUE_POSITIVES) if column in frame.columns]
    if len(given) == 1:
        raise ColumnMissing(
            f"a table of counts (--counts) has {given[0]!r} alone; labels need {POSITIVES!r}, rows with a favourable "
            f"label, and {TRUE_POSITIVES!r}, those of them that are selected"
        )
    n, chosen = _whole(frame[ROWS]), _whole(frame[selected])
    positives, hits = (_whole(frame[column]) for column in given) if given else (np.zeros_like(n), np.zeros_like(n))
    cells = np.stack([hits, positives - hits, chosen - hits, n - positives - chosen + hits], axis=1)
    _refuse_contradiction(frame, cells, {ROWS: n, selected: chosen, POSITIVES: positives, TRUE_POSITIVES: hits})
    if not n.any():
        raise EmptyTable(f"column {ROWS!r} counts no rows at all; give some")
    if n.sum() > MOST_ROWS:
        raise TableTooLarge(f"column {ROWS!r} counts {int(n.sum())} rows, more than {MOST_ROWS}; measure some of them")
    return Counts(cells, bool(given))


def _whole(series: Series) -> IntArray:
    """Read a column of counts; refuse a cell that is not a whole number from 0 to `MOST_ROWS`."""
    found = interpret(series)
    numbers = found.column.values if isinstance(found, Interpreted) and found.column.is_numeric else None
    if numbers is None:
        raise ColumnUnusable(f"column {series.name!r} of the counts (--counts) holds texts; a count is a whole number")
    values = numbers.astype(np.float64)
    wrong = np.flatnonzero(~((values >= 0) & (values == np.floor(values)) & (values <= MOST_ROWS)))
    if wrong.size:
        first = int(wrong[0])
        raise ColumnUnusable(
            f"column {series.name!r} of the counts (--counts) holds {series.iloc[first]!s} in "
            f"{row_name(series.index, first)}; a count is a whole number from 0 to {MOST_ROWS}"
        )
    return values.astype(np.intp)


def _refuse_contradiction(frame: pd.DataFrame, cells: IntArray, counts: Mapping[str, IntArray]) -> None:
    wrong = np.flatnonzero((cells < 0).any(1))
    if wrong.size:
        first = int(wrong[0])
        found = ", ".join(f"{column} = {int(values[first])}" for column, values in counts.items() if column in frame)
        raise ColumnUnusable(
            f"the counts in {row_name(frame.index, first)} contradict each other ({found}); no part is larger than "
            "what it is a part of"
        )


def load_decided(
    source: str | Path | pd.DataFrame | Mapping[str, ArrayLike], roles: Roles, reading: Reading, *, counts: bool = False
) -> DecidedTable:
    """Load decisions and scores from a bundled dataset, a file, a frame, or arrays of equal length by column name.

    If `roles` names no sensitive columns or no label, a bundled dataset has defaults for them. With `counts`, the lines
    of the table are groups with numbers of rows, not single rows.
    """
    read = read_counted if counts else read_decided
    if not isinstance(source, str | Path):
        return read(_framed(source), roles, reading)
    cards = {card.name: card for card in list_datasets()}
    if str(source) in cards:
        return _from_card(cards[str(source)], roles, reading)
    table = read_file(source, reading)
    found = read(table.frame, roles, reading, name=table_name(source))
    return replace(found, remarks=(*table.remarks, *found.remarks))


def _framed(source: pd.DataFrame | Mapping[str, ArrayLike]) -> pd.DataFrame:
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        return source
    _refuse_other_rows(source)
    try:
        return pd.DataFrame(dict(source))
    except (TypeError, ValueError) as error:
        raise DataError(f"decisions must be a file, a frame, or arrays of one length by name: {error}") from error


def _refuse_other_rows(source: Mapping[str, ArrayLike]) -> None:
    """Refuse Series with different indexes, because pandas would match their rows by index, not by position."""
    import pandas as pd

    series = {name: found for name, found in source.items() if isinstance(found, pd.Series)}
    first = next(iter(series), "")
    for name, found in series.items():
        if not found.index.equals(series[first].index):
            raise DataError(
                f"the Series {first!r} and {name!r} have different indexes, so it is not clear which of their rows "
                "belong together; give arrays in one order (series.to_numpy()), or a frame"
            )


def _from_card(card: Card, roles: Roles, reading: Reading) -> DecidedTable:
    """Read a bundled dataset; roles that are not given are taken from its card."""
    taken = (*roles.decisions, roles.score, *roles.given, roles.members, roles.period)
    sensitive = roles.sensitive or tuple(column for column in card.sensitive if column not in (*taken, roles.label))
    label = roles.label or (card.label if card.label not in (*taken, *sensitive) else None)
    favourable = card.favourable if roles.favourable is None and label == card.label else roles.favourable
    bands = {column: ends for column, ends in card.bands.items() if column in sensitive}
    return read_decided(
        read_bundled(card),
        replace(roles, sensitive=sensitive, label=label, favourable=favourable),
        replace(reading, bands={**bands, **reading.bands}),
        name=card.name,
        meanings=card.values,
    )
