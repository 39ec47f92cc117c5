"""Columns: what a cell means, decided and checked once, when the table is read.

A column is numeric if every cell that is not missing reads as a number, however few values it has: 0 and 1
are numbers, True and False read as 1 and 0, and numbers may be written as people do, "$1,234". Otherwise, or if its
pandas dtype is ``category``, it is categorical: texts, compared without the blanks around them. A missing cell is nan
in both kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.naming import as_categories, option, row_name, without
from fairenum.dataset.written import understand
from fairenum.document.reading import number
from fairenum.document.terms import DecimalSign
from fairenum.errors import ColumnUnusable

if TYPE_CHECKING:
    import pandas as pd

    Series = pd.Series[Any]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Texts = NDArray[np.object_]

Scalar = TypeVar("Scalar", bound=np.generic)

PLAIN = (str, Real, Decimal, np.bool_)
PLAIN_KINDS = ("string", "integer", "floating", "mixed-integer-float", "boolean", "empty")  # to pandas
NUMERIC_KINDS = "biuf"
MANY_NUMBERS = 10  # fewer numbers among words are codes or counts ("1", "2", "3 or more"), not a measurement


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

    def levels(self, rows: IntArray | None = None) -> int:
        """Count the different values; a missing number does not count, a missing text does."""
        known, has_missing_text = self._known(rows)
        return len(set(known.tolist())) + has_missing_text

    def varies(self, rows: IntArray | None = None) -> bool:
        """Say whether any two rows differ: told sooner than their values are counted."""
        known, has_missing_text = self._known(rows)
        return bool(known.size and (has_missing_text or (known != known[0]).any()))

    def _known(self, rows: IntArray | None) -> tuple[NDArray[np.generic], bool]:
        """Return the cells that are there, and whether a text is missing."""
        values = self.values if rows is None else self.values[rows]
        known = values[~is_missing(values)]
        return known, known.size < values.size and not self.is_numeric

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
    if found := first_object(series):
        where, kind = row_name(series.index, found[0]), type(found[1]).__name__
        raise ColumnUnusable(
            f"column {series.name!r} holds a {kind} in {where}; turn it into numbers or texts "
            f"(a date into a year, say), or leave it out with {without(series.name)}"
        )
    return by_value(series.astype(object).to_numpy(), lambda cell: plain_text(cell) or np.nan, np.object_)


def first_object(series: Series) -> tuple[int, object] | None:
    """Find the first cell that is neither a number nor a text, and its position."""
    from pandas.api.types import infer_dtype

    if infer_dtype(series) in PLAIN_KINDS:  # told much faster than cell by cell
        return None
    cells, missing = series.astype(object).to_numpy(), series.isna().to_numpy()
    places = (int(place) for place in np.flatnonzero(~missing) if not isinstance(cells[place], PLAIN))
    return next(((place, cells[place]) for place in places), None)


def parse_numbers(texts: Texts) -> FloatArray:
    """Read texts as numbers, nan where they are none."""
    return by_value(texts, number, np.float64)


@dataclass(frozen=True, slots=True)
class Unclear:
    """Why a column cannot be told to be numbers or texts, and whether the owner can say by an option."""

    column: str
    problem: str
    is_about_decimals: bool = False


def interpret(series: Series, decimal: DecimalSign | None = None) -> tuple[Column, str] | Unclear:
    """Read a column, numeric if all its cells are numbers, else categorical, and say how its numbers are written."""
    import pandas as pd

    name = str(series.name)
    if series.dtype.kind in NUMERIC_KINDS:
        return Column(name, read_only(series.to_numpy(dtype=np.float64, na_value=np.nan, copy=True))), ""
    texts = read_texts(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        return Column(name, read_only(texts)), ""
    written = understand(Counter(texts[~is_missing(texts)].tolist()), decimal)
    if written.rivals:
        text, one, other = written.rivals
        return Unclear(name, f"column {name!r} holds {text!r}, which is {one:.10g} or {other:.10g}", True)
    numbers = by_value(texts, written.values.__getitem__, np.float64)
    strangers = np.flatnonzero(np.isnan(numbers) & ~is_missing(texts))
    if not strangers.size:
        return Column(name, read_only(numbers)), written.sample
    if _is_soiled(numbers, strangers):
        where = row_name(series.index, int(strangers[0]))
        return Unclear(name, f"column {name!r} holds numbers, but {texts[strangers[0]]!r} in {where}")
    return Column(name, read_only(texts)), ""


def read_column(series: Series) -> Column:
    """Read a column of groups: cells that can be two numbers are texts, a few words among numbers are refused."""
    found = interpret(series)
    if not isinstance(found, Unclear):
        return found[0]
    if found.is_about_decimals:
        return Column(found.column, read_only(read_texts(series)))
    raise ColumnUnusable(f"{found.problem}; correct or empty such cells, or choose another column")


def unclear(columns: Sequence[Unclear]) -> ColumnUnusable:
    """Say of columns that are neither numbers nor texts what to do about them, all in one message."""
    advice = []
    if any(not column.is_about_decimals for column in columns):
        advice.append("correct or empty such cells")
    if any(column.is_about_decimals for column in columns):
        point, comma = (option("decimal", sign, "decimal", sign) for sign in ("point", "comma"))
        advice.append(f"say what begins the decimals with {point} or {comma}")
    names = [column.column for column in columns]
    advice.append(f"take {_them(names)} for texts with {as_categories(*names)}")
    advice.append(f"or leave {_them(names)} out with {without(*names)}")
    return ColumnUnusable(f"{'; '.join(column.problem for column in columns)}; {', '.join(advice)}")


def _them(names: Sequence[str]) -> str:
    return "the column" if len(names) == 1 else "the columns"


def _is_soiled(numbers: FloatArray, strangers: IntArray) -> bool:
    """Tell numbers with a few words among them: a 0/1 column per number is not what is meant."""
    known = numbers[~np.isnan(numbers)]
    return strangers.size <= 0.1 * known.size and len(set(known.tolist())) > MANY_NUMBERS
