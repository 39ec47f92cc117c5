"""Columns read as numbers or texts, with numbers in the notations that people use.

A column is numeric if every cell that is not missing reads as a number, however few values it has: 0 and 1
are numbers, True and False read as 1 and 0, and numbers may be written as people do, "$1,234". Otherwise, or if its
pandas dtype is ``category``, it is categorical: texts, compared without the blanks around them. A missing cell is nan
in both kinds.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairenum.document.reading import number
from fairenum.document.terms import DecimalSign
from fairenum.errors import ColumnUnusable
from fairenum.runtime.hints import as_categories, option, without
from fairenum.tables.naming import row_name

SIGNS: Mapping[DecimalSign, str] = {"point": ".", "comma": ","}
PERCENT = "%"
MONEY = ("$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "JPY", "INR", "CHF")

# Amounts of these have no three decimals behind a comma: "$45,000" is in thousands.
POINTED = ("$", "£", "¥", "₹", "USD", "GBP", "JPY", "INR")
_UNIT = "|".join(map(re.escape, MONEY))
AMOUNT = re.compile(
    rf"(?P<bracket>\()?\s*(?P<sign>[-+−])?\s*(?P<before>{_UNIT})?\s*(?P<inner>[-+−])?\s*"
    rf"(?P<body>[.,]?\d(?:[\d.,'’\s]*\d)?)\s*(?P<after>%|{_UNIT})?\s*(?(bracket)\))"
)
BLANKS = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Amount:
    """The parts of a number as written: digits with their separators, unit, sign and brackets."""

    body: str
    unit: str
    is_negative: bool
    has_brackets: bool


@dataclass(frozen=True, slots=True)
class Convention:
    """A notation of numbers: the sign before the decimals, and the one between groups of three digits."""

    decimal: DecimalSign
    thousands: str

    def number(self, amount: Amount | None) -> float:
        """Read an amount; nan if it does not follow the convention."""
        if amount is None or not _digits(self).fullmatch(amount.body):
            return math.nan
        value = float(amount.body.replace(self.thousands, "").replace(SIGNS[self.decimal], "."))
        return -value if amount.is_negative else value

    def sample(self, amounts: Sequence[Amount], unit: str) -> str:
        """Write a sample number in the notation of these cells."""
        bodies = [amount.body for amount in amounts]
        text = "1" + (f"{self.thousands}234" if any(self.thousands in body for body in bodies) else "2")
        text += f"{SIGNS[self.decimal]}5" if any(SIGNS[self.decimal] in body for body in bodies) else ""
        text = f"{text} {unit}" if unit in (PERCENT, "€") else f"{unit}{text}"
        return f"({text})" if any(amount.has_brackets for amount in amounts) else text


@cache
def _digits(convention: Convention) -> re.Pattern[str]:
    """Return the pattern of numbers in a convention: "0,123" is not in thousands, as none of these begins with 0."""
    decimal, thousands = re.escape(SIGNS[convention.decimal]), re.escape(convention.thousands)
    return re.compile(rf"(?:[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|\d+)(?:{decimal}\d+)?|{decimal}\d+")


SEPARATORS: Mapping[DecimalSign, tuple[str, ...]] = {"point": (",", " ", "'"), "comma": (".", " ", "'")}
CONVENTIONS = tuple(Convention(decimal, sign) for decimal, signs in SEPARATORS.items() for sign in signs)


@dataclass(frozen=True, slots=True)
class WrittenNumbers:
    """The numbers that the texts of a column stand for.

    Attributes
    ----------
    values
        The number of each text, nan for a text that is no number.
    sample
        A number in their notation; empty if they are plain numbers.
    rivals
        A text and the two numbers that it can stand for, where the notation is ambiguous.
    """

    values: Mapping[str, float] = field(repr=False)
    sample: str = ""
    rivals: tuple[str, float, float] | None = None

    def covers(self, cells: Counter[str]) -> int:
        """Count the cells that are numbers."""
        return sum(count for text, count in cells.items() if not math.isnan(self.values[text]))


def understand(cells: Counter[str], decimal: DecimalSign | None = None) -> WrittenNumbers:
    """Find the numbers that the texts of a column stand for, in the notation that fits most cells.

    `cells` counts the cells of each text; `decimal` is the sign before the decimals, where the owner names it.
    """
    plain = WrittenNumbers({text: number(text) for text in cells})
    is_plain = plain.covers(cells) == cells.total()
    if is_plain and decimal != "comma":
        return plain
    styled = _in_conventions(cells, decimal)
    if complete := [one for one in styled if one.covers(cells) == cells.total()]:
        return _decided(complete, plain)
    return max([plain, *styled], key=lambda one: one.covers(cells))


def _in_conventions(cells: Counter[str], decimal: DecimalSign | None) -> list[WrittenNumbers]:
    """Read the texts in every convention; cells in another unit than most are not numbers."""
    amounts = {text: amount for text in cells if (amount := _amount(text))}
    units = Counter[str]()
    for text, amount in amounts.items():
        units[amount.unit] += cells[text] if amount.unit else 0
    unit = units.most_common(1)[0][0] if units else ""
    # Money may be written here with its sign and there without; 12 % and 0.12 are not of one kind.
    accepted = (unit,) if unit == PERCENT else (unit, "")
    fitting = {text: amount for text, amount in amounts.items() if amount.unit in accepted}
    return [
        WrittenNumbers(
            {text: one.number(fitting.get(text)) for text in cells}, one.sample(list(fitting.values()), unit)
        )
        for one in CONVENTIONS
        if fitting and decimal in (None, one.decimal)
    ]


def _decided(complete: list[WrittenNumbers], plain: WrittenNumbers) -> WrittenNumbers:
    """Choose among the conventions that all cells follow; where they disagree, keep the rivals."""
    first = complete[0]
    if dict(first.values) == dict(plain.values):
        return plain
    rivals = (
        (text, value, other.values[text])
        for other in complete[1:]
        for text, value in first.values.items()
        if value != other.values[text]
    )
    is_settled = first.sample.strip("(").startswith(POINTED)
    return first if is_settled else replace(first, rivals=next(rivals, None))


def _amount(text: str) -> Amount | None:
    """Parse a text as an amount; None if it is not one."""
    found = AMOUNT.fullmatch(text.strip())
    if found is None or (found["before"] and found["after"]) or (found["sign"] and found["inner"]):
        return None
    body = BLANKS.sub(" ", found["body"]).replace("’", "'")
    has_brackets = bool(found["bracket"])
    is_negative = has_brackets or (found["sign"] or found["inner"] or "+") != "+"
    return Amount(body, found["before"] or found["after"] or "", is_negative, has_brackets)


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
        """Whether the column holds numbers."""
        return self.values.dtype == np.float64

    @property
    def missing(self) -> int:
        """The number of missing cells."""
        return int(np.count_nonzero(is_missing(self.values)))

    def levels(self, rows: IntArray | None = None) -> int:
        """Count the different values; a missing number does not count, a missing text does."""
        known, has_missing_text = self._known(rows)
        return len(set(known.tolist())) + has_missing_text

    def varies(self, rows: IntArray | None = None) -> bool:
        """Tell whether any two rows differ, which is quicker than counting values."""
        known, has_missing_text = self._known(rows)
        return bool(known.size and (has_missing_text or (known != known[0]).any()))

    def _known(self, rows: IntArray | None) -> tuple[NDArray[np.generic], bool]:
        """Return the cells that are not missing, and whether a text is missing."""
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
    """Make an array read-only, and return it."""
    array.setflags(write=False)
    return array


def is_missing(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Mark the nan cells of numbers or texts."""
    missing: NDArray[np.bool_] = np.not_equal(values, values).astype(np.bool_)
    return missing


def plain_text(cell: object) -> str:
    """Write a cell as its owner would: 1.0 as 1, and texts without blanks around them."""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()


def reading_order(text: str) -> tuple[bool, float, str]:
    """Return a key that sorts texts as people do: numbers by value, then words."""
    value = number(text)
    return (True, 0.0, text) if np.isnan(value) else (False, value, text)


def by_value(cells: Texts, meaning: Callable[[str], object], dtype: type[Scalar]) -> NDArray[Scalar]:
    """Translate cells, computing each distinct value once; nan stays nan."""
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
    """Find the position and value of the first cell that is neither a number nor a text."""
    from pandas.api.types import infer_dtype

    if infer_dtype(series) in PLAIN_KINDS:  # much faster than cell by cell
        return None
    cells, missing = series.astype(object).to_numpy(), series.isna().to_numpy()
    places = (int(place) for place in np.flatnonzero(~missing) if not isinstance(cells[place], PLAIN))
    return next(((place, cells[place]) for place in places), None)


def parse_numbers(texts: Texts) -> FloatArray:
    """Read texts as numbers, nan where they are not."""
    return by_value(texts, number, np.float64)


@dataclass(frozen=True, slots=True)
class Unclear:
    """The reason why a column is neither numbers nor texts, and whether naming the decimal sign would decide it."""

    column: str
    problem: str
    is_about_decimals: bool = False


def interpret(series: Series, decimal: DecimalSign | None = None) -> tuple[Column, str] | Unclear:
    """Read a column, numeric if all its cells are numbers, else categorical, with a sample of their notation."""
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
    if _has_stray_texts(numbers, strangers):
        where = row_name(series.index, int(strangers[0]))
        return Unclear(name, f"column {name!r} holds numbers, but {texts[strangers[0]]!r} in {where}")
    return Column(name, read_only(texts)), ""


def read_column(series: Series) -> Column:
    """Read a column of groups: ambiguous numbers are texts, a few words among numbers are refused."""
    found = interpret(series)
    if not isinstance(found, Unclear):
        return found[0]
    if found.is_about_decimals:
        return Column(found.column, read_only(read_texts(series)))
    raise ColumnUnusable(f"{found.problem}; correct or empty such cells, or choose another column")


def unclear(columns: Sequence[Unclear]) -> ColumnUnusable:
    """Make one error of all columns that are neither numbers nor texts, with what to do about them."""
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


def _has_stray_texts(numbers: FloatArray, strangers: IntArray) -> bool:
    """Tell whether a column holds numbers with a few words among them, not categories."""
    known = numbers[~np.isnan(numbers)]
    return strangers.size <= 0.1 * known.size and len(set(known.tolist())) > MANY_NUMBERS
