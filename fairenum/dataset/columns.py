"""Columns: what a cell means, decided and checked once, when the table is read.

A column is numeric if every cell that is not missing reads as a number, however few values it has: 0 and 1
are numbers, and True and False read as 1 and 0. Otherwise, or if its pandas dtype is ``category``, it is
categorical: texts, compared without the blanks around them. A missing cell is nan in both kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.naming import row_name, without
from fairenum.errors import CellInfinite, ColumnConstant, ColumnUnusable

if TYPE_CHECKING:
    import pandas as pd

    Series = pd.Series[Any]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Texts = NDArray[np.object_]

Scalar = TypeVar("Scalar", bound=np.generic)

PLAIN = (str, Real, Decimal, np.bool_)
NUMERIC_KINDS = "biuf"
LARGEST = 1e100  # the squares of larger numbers overflow once they are summed
MANY_NUMBERS = 10  # fewer numbers among words are codes or counts ("1", "2", "3 or more"), not a measurement
MANY_TEXTS = 100  # fewer different texts are no burden, whatever they are


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One feature: numbers (float64) or texts (object), nan where a cell is missing."""

    name: str
    values: NDArray[np.generic] = field(repr=False)

    @property
    def is_numeric(self) -> bool:
        """Say whether the column holds numbers."""
        return self.values.dtype == np.float64

    @property
    def missing(self) -> int:
        """Count the missing cells."""
        return int(np.count_nonzero(is_missing(self.values)))

    def varies(self, rows: IntArray | None = None) -> bool:
        """Say whether any two rows differ; a missing number does not count, a missing text does."""
        values = self.values if rows is None else self.values[rows]
        known = values[~is_missing(values)]
        has_missing_text = known.size < values.size and not self.is_numeric
        return len(set(known.tolist())) + has_missing_text > 1

    def ranked(self) -> Column:
        """Replace each text by its rank, from 0, among the column's texts in sorted order."""
        if self.is_numeric:
            return self
        known = sorted(set(self.values[~is_missing(self.values)].tolist()))
        ranks = {text: float(rank) for rank, text in enumerate(known)}
        return Column(self.name, read_only(np.array([ranks.get(text, np.nan) for text in self.values])))


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Forbid writing to an array, and return it."""
    array.setflags(write=False)
    return array


def is_missing(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Mark the nan cells of numbers or texts."""
    missing: NDArray[np.bool_] = np.not_equal(values, values).astype(np.bool_)
    return missing


def plain_text(cell: object) -> str:
    """Write a cell as its owner would: 1.0 is 1, and blanks around a text do not count."""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()


def number(text: str) -> float:
    """Read a text as a number, True as 1 and False as 0; nan if it is none."""
    folded = text.casefold()
    if folded in ("true", "false"):
        return float(folded == "true")
    try:
        return np.nan if "_" in text else float(text)
    except ValueError:
        return np.nan


def reading_order(text: str) -> tuple[bool, float, str]:
    """Sort texts as people do: numbers by value, then words."""
    value = number(text)
    return (True, 0.0, text) if np.isnan(value) else (False, value, text)


def by_value(cells: Texts, meaning: Callable[[str], object], dtype: type[Scalar]) -> NDArray[Scalar]:
    """Translate cells, each different value once; nan stays nan."""
    import pandas as pd

    codes, values = pd.factorize(cells)
    return np.array([*map(meaning, values), np.nan], dtype=dtype)[codes]  # the code of nan is -1, the last


def read_texts(series: Series) -> Texts:
    """Read cells as texts, nan where they are missing or blank; refuse dates and other objects."""
    cells, missing = series.astype(object).to_numpy(), series.isna().to_numpy()
    for position in np.flatnonzero(~missing):
        if not isinstance(cells[position], PLAIN):
            where, kind = row_name(series.index, int(position)), type(cells[position]).__name__
            raise ColumnUnusable(
                f"column {series.name!r} holds a {kind} in {where}; turn it into numbers or texts "
                f"(a date into a year, say), or leave it out with {without(series.name)}"
            )
    return by_value(cells, lambda cell: plain_text(cell) or np.nan, np.object_)


def parse_numbers(texts: Texts) -> FloatArray:
    """Read texts as numbers, nan where they are none."""
    return by_value(texts, number, np.float64)


def read_column(series: Series) -> Column:
    """Read a column, numeric if all its cells are numbers, else categorical."""
    import pandas as pd

    name = str(series.name)
    if series.dtype.kind in NUMERIC_KINDS:
        return Column(name, read_only(series.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)))
    texts = read_texts(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        return Column(name, read_only(texts))
    numbers = parse_numbers(texts)
    strangers = np.flatnonzero(np.isnan(numbers) & ~is_missing(texts))
    if not strangers.size:
        return Column(name, read_only(numbers))
    _refuse_soiled_numbers(series, numbers, texts, strangers)
    return Column(name, read_only(texts))


def read_feature(series: Series) -> Column:
    """Read a column that a model is to learn from, and refuse one that it cannot learn from."""
    column = read_column(series)
    if column.is_numeric:
        _refuse_infinite(column, series.index)
    _refuse_constant(column)
    _refuse_identifiers(column)
    return column


def _refuse_soiled_numbers(series: Series, numbers: FloatArray, texts: Texts, strangers: IntArray) -> None:
    """Refuse numbers with a few words among them: a 0/1 column per number is not what is meant."""
    known = numbers[~np.isnan(numbers)]
    if strangers.size <= 0.1 * known.size and len(set(known.tolist())) > MANY_NUMBERS:
        raise ColumnUnusable(
            f"column {series.name!r} holds numbers, but {texts[strangers[0]]!r} in "
            f"{row_name(series.index, int(strangers[0]))}; correct or empty this cell, "
            f"or leave the column out with {without(series.name)}"
        )


def _refuse_infinite(column: Column, index: pd.Index[Any]) -> None:
    infinite = np.flatnonzero(np.abs(column.values) > LARGEST)
    if infinite.size:
        raise CellInfinite(
            f"column {column.name!r} holds {column.values[infinite[0]]:g} in "
            f"{row_name(index, int(infinite[0]))}; correct the cell, or empty it to have it imputed"
        )


def _refuse_constant(column: Column) -> None:
    if not column.varies():
        known = column.values[~is_missing(column.values)]
        what = f"the one value {plain_text(known[0])!r}" if known.size else "nothing"
        empty = f" and {column.missing} empty cells" if known.size and column.missing else ""
        raise ColumnConstant(
            f"column {column.name!r} holds {what}{empty}, which teaches a model nothing; "
            f"leave it out with {without(column.name)}"
        )


def _refuse_identifiers(column: Column) -> None:
    if column.is_numeric:
        return
    distinct = len(set(column.values.tolist()))
    if distinct > max(MANY_TEXTS, column.values.size / 2):
        raise ColumnUnusable(
            f"column {column.name!r} holds {distinct} different texts in {column.values.size} rows, as "
            f"identifiers, dates and free text do; leave it out with {without(column.name)}"
        )
