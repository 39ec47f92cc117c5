"""Columns of probabilities that a row belongs to a group, such as from names and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fairenum.document.probable_facts import MOST_LIKELY
from fairenum.errors import ColumnUnusable
from fairenum.tables.columns import FloatArray, IntArray, read_only
from fairenum.tables.groups import Groups
from fairenum.tables.naming import row_name, unlike

if TYPE_CHECKING:
    import pandas as pd

OTHER = "(other)"
SLACK = 0.011  # by which probabilities of a row may miss a sum of 1, as they are rounded


@dataclass(frozen=True, slots=True, eq=False)
class ProbableGroups:
    """The probabilities of each row (first axis) to belong to each group (second axis), which add up to 1."""

    names: tuple[str, ...]
    probabilities: FloatArray = field(repr=False)

    @property
    def most_likely(self) -> Groups:
        """The most likely group of each row, as groups that can be compared."""
        found = Groups(self.probabilities.argmax(1), self.names, MOST_LIKELY)
        return found.narrowed(found.sizes > 0)


def read_probable(
    frame: pd.DataFrame, columns: Mapping[str, str], chances: Mapping[str, FloatArray], rows: IntArray
) -> ProbableGroups:
    """Return the probabilities of some rows; refuse numbers that are none, or add up to more than 1.

    `columns` has the column of each group, `chances` the numbers of each column. Where they add up to less than 1, the
    rest is for a group of its own.
    """
    for column, found in chances.items():
        _refuse(frame, rows, column, ~((found[rows] >= 0) & (found[rows] <= 1)), "a probability is from 0 to 1")
    table = np.stack([chances[column][rows] for column in columns.values()], axis=1)
    total, names = table.sum(1), tuple(columns)
    last = [*columns.values()][-1]
    _refuse(frame, rows, last, total > 1 + SLACK, "the probabilities of a row add up to at most 1")
    if (total < 1 - SLACK).any():
        table, names = np.column_stack([table, np.maximum(1 - total, 0)]), (*names, unlike(OTHER, list(names)))
    table = table / np.maximum(table.sum(1, keepdims=True), 1e-300)
    return ProbableGroups(names, read_only(np.ascontiguousarray(table)))


def _refuse(frame: pd.DataFrame, rows: IntArray, column: str, wrong: np.ndarray, must: str) -> None:
    places = np.flatnonzero(wrong)
    if places.size:
        first = int(rows[places[0]])
        raise ColumnUnusable(
            f"column {column!r}, named in group_probabilities (--group-probabilities), holds "
            f"{frame[column].iloc[first]!s} in {row_name(frame.index, first)}, but {must}; {places.size} such rows in "
            "all, correct or empty them"
        )
