"""Decisions as counts by group: a line for each group, with its rows and how many of them are selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.columns import IntArray, interpret, read_only
from fairenum.dataset.decided import DecidedTable, Roles, refuse_roles
from fairenum.dataset.decisions import Decided
from fairenum.dataset.groups import read_groups
from fairenum.dataset.label import Label
from fairenum.dataset.naming import row_name
from fairenum.dataset.regrouping import regroup
from fairenum.dataset.table import with_plain_names
from fairenum.document.reading import Reading
from fairenum.document.remark import Remark
from fairenum.errors import ColumnMissing, ColumnUnusable, ConfigError, EmptyTable, TableTooLarge

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.dataset.columns import Series

ROWS, SELECTED, POSITIVES, TRUE_POSITIVES = "n", "selected", "positives", "true_positives"
MOST_ROWS = 20_000_000  # half a gigabyte of them


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Rows of each line by label and decision, shape (lines, 4): (1, 1), (1, 0), (0, 1), (0, 0)."""

    cells: IntArray
    has_label: bool

    @property
    def lines(self) -> IntArray:
        """For each counted row, the line it is counted on."""
        return np.repeat(np.arange(len(self.cells)), self.cells.sum(1))

    def marks(self, of_cells: Sequence[int]) -> IntArray:
        """For each counted row, what its cell is marked with."""
        return np.repeat(np.tile(of_cells, len(self.cells)), self.cells.ravel())


def read_counted(
    frame: pd.DataFrame, roles: Roles, reading: Reading, *, name: str = "table", remarks: Sequence[Remark] = ()
) -> DecidedTable:
    """Read decisions from a table of counts: columns of groups, n, selected and, for labels, positives, true_positives.

    Parameters
    ----------
    frame
        The table.
    roles
        The columns of groups, all but the counts if none is named; a decision names the column of those selected.
    reading
        How groups are made of sensitive columns.
    name, remarks
        As in `read_decided`.
    """
    frame = with_plain_names(frame)
    selected = _selected(roles)
    taken = (ROWS, selected, POSITIVES, TRUE_POSITIVES)
    sensitive = roles.sensitive or tuple(column for column in frame.columns if column not in taken)
    refuse_roles(frame, Roles(sensitive, (selected,)))
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
        decisions=(Decided(selected, None, None, read_only(bits.astype(np.uint8))),),
        label=label,
        regrouped=regrouping.made,
        remarks=tuple(remarks),
    )


def _selected(roles: Roles) -> str:
    """Name the column of those selected; refuse what counts cannot hold."""
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
    """Read a column of counts; refuse what is no whole number of at least 0 by its row."""
    found = interpret(series)
    numbers = found[0].values if isinstance(found, tuple) and found[0].is_numeric else None
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
