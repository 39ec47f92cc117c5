"""What each row counts: a column of numbers that are not negative."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.columns import FloatArray, IntArray, parse_numbers, read_only, read_texts
from fairenum.dataset.naming import row_name
from fairenum.document.reading import spelled
from fairenum.errors import ColumnUnusable

if TYPE_CHECKING:
    from fairenum.dataset.columns import Series


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """What each row counts; a row of weight 0 is left out.

    Attributes
    ----------
    column
        The name of the column.
    values
        One number of at least 0 for each row.
    """

    column: str
    values: FloatArray = field(repr=False)

    def take(self, rows: IntArray) -> Weights:
        """Return what some rows count."""
        return Weights(self.column, read_only(self.values[rows]))

    @property
    def positive(self) -> IntArray:
        """The rows that count at all."""
        return np.flatnonzero(self.values > 0.0)

    @property
    def is_even(self) -> bool:
        """Whether all rows that count at all count alike."""
        counting = self.values[self.positive]
        return bool((counting == counting[:1]).all())

    def relative(self, rows: IntArray) -> FloatArray | None:
        """Return what some rows count, on average 1; None where all rows that count at all count alike."""
        values = self.values[rows]
        return None if self.is_even or not values.size else read_only(values / values.mean())


def read_weights(series: Series) -> Weights:
    """Read a column of weights; refuse what is missing, negative or no number by its row."""
    values = parse_numbers(read_texts(series))
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if wrong.size:
        first = int(wrong[0])
        cell = series.iloc[first]
        what = "nothing" if series.isna().iloc[first] else repr(str(cell))
        raise ColumnUnusable(
            f"column {series.name!r}, named as {spelled('weight')}, holds {what} in {row_name(series.index, first)} "
            f"({wrong.size} such rows in all); a weight is a number of at least 0"
        )
    if not values.any():
        raise ColumnUnusable(
            f"column {series.name!r}, named as {spelled('weight')}, holds 0 in every row; give some rows "
            "a weight above 0"
        )
    return Weights(str(series.name), read_only(values))
