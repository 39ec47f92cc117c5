"""Columns of a table, read as numbers or as texts; numbers may have units and thousands separators, "$1,234".

A column is numeric if every cell that is not missing reads as a number, even if it has two different values only:
0 and 1 are numbers, and True and False read as 1 and 0. A column that is not numeric, or whose pandas dtype is
``category``, is categorical: it holds texts, without the blanks around them. A missing cell is nan in both kinds; among
numbers, so is a cell such as "n/a".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairenum.document.reading import number
from fairenum.document.scoring import CellReading, Notation, Thousands
from fairenum.document.table_facts import Remark
from fairenum.document.terms import DecimalSign
from fairenum.errors import ColumnUnusable
from fairenum.runtime.hints import as_categories, option, without
from fairenum.tables.naming import row_name

SIGNS: Mapping[DecimalSign, str] = {"point": ".", "comma": ","}
PERCENT = "%"
MONEY = ("$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "JPY", "INR", "CHF")

# Currencies in which a comma separates thousands, never decimals: "$45,000" is forty-five thousand.
POINTED = ("$", "£", "¥", "₹", "USD", "GBP", "JPY", "INR")
_UNIT = "|".join(map(re.escape, MONEY))
AMOUNT = re.compile(
    rf"(?P<bracket>\()?\s*(?P<sign>[-+−])?\s*(?P<before>{_UNIT})?\s*(?P<inner>[-+−])?\s*"
    rf"(?P<body>[.,]?\d(?:[\d.,'’\s]*\d)?)\s*(?P<after>%|{_UNIT})?\s*(?(bracket)\))"
)
BLANKS = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as it is written in a cell: digits with separators (`body`), unit, sign, and brackets around it."""

    body: str
    unit: str
    is_negative: bool
    has_brackets: bool


@dataclass(frozen=True, slots=True)
class Convention:
    """A notation of numbers: the decimal separator, and the thousands separator."""

    decimal: DecimalSign
    thousands: Thousands

    def number(self, amount: Amount | None) -> float:
        """Return the value of a written number (`amount`); nan if `amount` is None or in another notation."""
        if amount is None or not _digits(self).fullmatch(amount.body):
            return math.nan
        value = float(amount.body.replace(self.thousands, "").replace(SIGNS[self.decimal], "."))
        return -value if amount.is_negative else value

    def sample(self, amounts: Sequence[Amount], unit: str) -> str:
        """Return an example of a number in this notation, with the separators and brackets that the amounts have."""
        bodies = [amount.body for amount in amounts]
        text = "1" + (f"{self.thousands}234" if any(self.thousands in body for body in bodies) else "2")
        text += f"{SIGNS[self.decimal]}5" if any(SIGNS[self.decimal] in body for body in bodies) else ""
        text = f"{text} {unit}" if unit in (PERCENT, "€") else f"{unit}{text}"
        return f"({text})" if any(amount.has_brackets for amount in amounts) else text


@cache
def _digits(convention: Convention) -> re.Pattern[str]:
    """Return a pattern that matches numbers in a notation; thousands separators are not allowed after a leading 0."""
    decimal, thousands = re.escape(SIGNS[convention.decimal]), re.escape(convention.thousands)
    return re.compile(rf"(?:[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|\d+)(?:{decimal}\d+)?|{decimal}\d+")


SEPARATORS: Mapping[DecimalSign, tuple[Thousands, ...]] = {"point": (",", " ", "'"), "comma": (".", " ", "'")}
CONVENTIONS = tuple(Convention(decimal, sign) for decimal, signs in SEPARATORS.items() for sign in signs)


@dataclass(frozen=True, slots=True)
class WrittenNumbers:
    """The numbers that the texts of a column stand for.

    Attributes
    ----------
    values
        The number of each text, nan for a text that is no number.
    sample
        An example of a number in the notation of the texts; empty if `float` reads them as they are.
    rivals
        A text and the two numbers that it can stand for; None if the notation is not ambiguous.
    notation
        The notation of the texts; None if `float` reads them as they are.
    """

    values: Mapping[str, float] = field(repr=False)
    sample: str = ""
    rivals: tuple[str, float, float] | None = None
    notation: Notation | None = None

    def covers(self, cells: Counter[str]) -> int:
        """Count the cells that hold numbers, given the number of cells that hold each text."""
        return sum(count for text, count in cells.items() if not math.isnan(self.values[text]))


def understand(cells: Counter[str], decimal: DecimalSign | None = None) -> WrittenNumbers:
    """Return the numbers that the texts of a column stand for, in the notation that fits most cells.

    `cells` holds the number of cells with each text; `decimal` is the decimal separator, None to infer it.
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
    """Return a reading of the texts for each notation; texts with a unit other than the commonest are no numbers."""
    amounts = {text: amount for text in cells if (amount := _amount(text))}
    units = Counter[str]()
    for text, amount in amounts.items():
        units[amount.unit] += cells[text] if amount.unit else 0
    unit = units.most_common(1)[0][0] if units else ""
    fitting = {text: amount for text, amount in amounts.items() if amount.unit in _accepted(unit)}
    return [
        WrittenNumbers(
            {text: one.number(fitting.get(text)) for text in cells},
            one.sample(list(fitting.values()), unit),
            notation=Notation(one.decimal, one.thousands, unit),
        )
        for one in CONVENTIONS
        if fitting and decimal in (None, one.decimal)
    ]


def _accepted(unit: str) -> tuple[str, ...]:
    """Return the units that a cell may have: amounts of money may lack the currency, percentages must have the sign."""
    return (unit,) if unit == PERCENT else (unit, "")


def number_in(notation: Notation | None, text: str) -> float:
    """Return the number that a text states in a notation, None for plain numbers; nan if it is no such number."""
    if notation is None:
        return number(text)
    amount = _amount(text)
    fits = amount is not None and amount.unit in _accepted(notation.unit)
    return Convention(notation.decimal, notation.thousands).number(amount if fits else None)


def sample_of(notation: Notation | None) -> str:
    """Return an example of a number in a notation, such as "$1,234.5"; "1234.5" for plain numbers."""
    if notation is None:
        return "1234.5"
    body = f"1{notation.thousands}234{SIGNS[notation.decimal]}5"
    amount = Amount(body, notation.unit, is_negative=False, has_brackets=False)
    return Convention(notation.decimal, notation.thousands).sample([amount], notation.unit)


def _decided(complete: list[WrittenNumbers], plain: WrittenNumbers) -> WrittenNumbers:
    """Return the first reading that fits all texts of a column, or the plain one where both give the same numbers.

    If another reading gives other numbers, `rivals` holds a text that shows it; but not where a currency sign such as $
    settles that commas separate thousands.
    """
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
    """Parse a text as a number with an optional unit, sign and brackets; return None if it is not one."""
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
CODED_KINDS = "iuf"  # numbers whose texts depend on how they were read: 007 becomes "7"
MANY_NUMBERS = 10  # a column of words and up to so many numbers is categorical ("1", "2", "3 or more")
EMPTY_THEM = "correct such cells or, if missing, empty them"
# Texts that mean a missing number wherever all other cells are numbers, and those that do so among many numbers only,
# as among few they may be a value of a category.
SURE_MARKS = frozenset(["n/a", "na", "n.a.", "nan", "null", "#n/a", "<na>", "<null>", "(null)"])
LIKELY_MARKS = frozenset(
    (
        *("-", "--", "---", "–", "—", ".", "..", "?", "??", "nil", "none", "missing", "(missing)", "unknown", "unk"),
        *("(unknown)", "undefined", "blank", "empty", "no data", "not available", "not applicable", "not known"),
        *("not given", "not provided", "not reported", "not stated"),
    )
)


PLAIN_CELLS = CellReading()


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a table: numbers (float64) or texts (object), nan where a cell is missing.

    Attributes
    ----------
    cells
        How the cells of the table became these numbers or texts.
    ranks
        The texts whose ranks the numbers are; empty if the numbers are those of the table.
    """

    name: str
    values: NDArray[np.generic] = field(repr=False)
    cells: CellReading = PLAIN_CELLS
    ranks: tuple[str, ...] = ()

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.values.dtype == np.float64

    @property
    def missing(self) -> int:
        """The number of missing cells."""
        return int(np.count_nonzero(is_missing(self.values)))

    def levels(self, rows: IntArray | None = None) -> int:
        """Count the different values; in a column of texts, missing cells count as one more value."""
        known, has_missing_text = self._known(rows)
        return len(set(known.tolist())) + has_missing_text

    def varies(self, rows: IntArray | None = None) -> bool:
        """Tell whether the column has at least two different values, counted as in `levels`, but faster."""
        known, has_missing_text = self._known(rows)
        return bool(known.size and (has_missing_text or (known != known[0]).any()))

    def _known(self, rows: IntArray | None) -> tuple[NDArray[np.generic], bool]:
        values = self.values if rows is None else self.values[rows]
        known = values[~is_missing(values)]
        return known, known.size < values.size and not self.is_numeric

    def ranked(self) -> Column:
        """Return a numeric column: each text is replaced by its rank, from 0, among the sorted texts of the column."""
        if self.is_numeric:
            return self
        known = sorted(set(self.values[~is_missing(self.values)].tolist()))
        ranks = {text: float(rank) for rank, text in enumerate(known)}
        numbers = read_only(np.array([ranks.get(text, np.nan) for text in self.values]))
        return Column(self.name, numbers, self.cells, tuple(known))


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Make an array read-only, and return it."""
    array.setflags(write=False)
    return array


def is_missing(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return a boolean array that is True where a cell is nan, in an array of numbers or of texts."""
    missing: NDArray[np.bool_] = np.not_equal(values, values).astype(np.bool_)
    return missing


def plain_text(cell: object) -> str:
    """Return a cell as text: whole floats without decimals (1.0 as "1"), texts without the blanks around them."""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()


def reading_order(text: str) -> tuple[bool, float, str]:
    """Return a sort key that puts texts of numbers first, by value, and then all other texts alphabetically."""
    value = number(text)
    return (True, 0.0, text) if np.isnan(value) else (False, value, text)


def by_value(cells: Texts, meaning: Callable[[str], object], dtype: type[Scalar]) -> NDArray[Scalar]:
    """Return a function's result for every cell, nan for a nan; the function is called once per distinct value."""
    import pandas as pd

    codes, values = pd.factorize(cells)
    return np.array([*map(meaning, values), np.nan], dtype=dtype)[codes]  # the code of nan is -1, the last


def read_texts(series: Series) -> Texts:
    """Return the cells as texts, nan where a cell is missing or blank; refuse dates and other objects."""
    if found := first_object(series):
        where, kind = row_name(series.index, found[0]), type(found[1]).__name__
        raise ColumnUnusable(
            f"column {series.name!r} holds a {kind} in {where}; turn it into numbers or texts "
            f"(a date into a year, say), or leave it out with {without(series.name)}"
        )
    return by_value(series.astype(object).to_numpy(), lambda cell: plain_text(cell) or np.nan, np.object_)


def as_texts(series: Series) -> Texts:
    """Return the cells as texts, as `read_texts` does, and dates as "2024-03-25"."""

    def text_of(cell: object) -> object:
        return str(cell).removesuffix(" 00:00:00") if isinstance(cell, date) else cell

    return read_texts(series.map(text_of, na_action="ignore") if first_object(series) else series)


def coded(series: Series) -> CellReading:
    """Return how the cells of a series are read as texts, which depends on whether they are numbers."""
    return CellReading(is_coded=series.dtype.kind in CODED_KINDS)


def first_object(series: Series) -> tuple[int, object] | None:
    """Return position and value of the first cell that is neither number nor text; None if there is no such cell."""
    from pandas.api.types import infer_dtype

    if infer_dtype(series) in PLAIN_KINDS:  # much faster than cell by cell
        return None
    cells, missing = series.astype(object).to_numpy(), series.isna().to_numpy()
    places = (int(place) for place in np.flatnonzero(~missing) if not isinstance(cells[place], PLAIN))
    return next(((place, cells[place]) for place in places), None)


def parse_numbers(texts: Texts) -> FloatArray:
    """Convert texts to numbers; a text that is not a number becomes nan."""
    return by_value(texts, number, np.float64)


@dataclass(frozen=True, slots=True)
class Unclear:
    """A column that can be read neither as numbers nor as texts, with the reason (`problem`).

    `is_about_decimals` is True if the column could be read once the user names the decimal separator.
    """

    column: str
    problem: str
    is_about_decimals: bool = False


class Interpreted(NamedTuple):
    """A column of numbers or of texts, and how its numbers were written.

    Attributes
    ----------
    sample
        An example of a number in the notation of the column; empty for texts and plain numbers.
    marks
        Number of cells with each text, such as "n/a", that was read as a missing number.
    """

    column: Column
    sample: str = ""
    marks: Mapping[str, int] = {}

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """A remark on the texts that were read as missing numbers, if there are any."""
        if not self.marks:
            return ()
        return (Remark("missing_marks", self.column.name, ", ".join(map(repr, self.marks)), sum(self.marks.values())),)


def interpret(series: Series, decimal: DecimalSign | None = None) -> Interpreted | Unclear:
    """Return a column of numbers, if all its cells are numbers or missing, or of texts; or else why it can be neither.

    Texts such as "n/a" count as missing in a column of numbers.
    """
    import pandas as pd

    name = str(series.name)
    if series.dtype.kind in NUMERIC_KINDS:
        return Interpreted(Column(name, read_only(series.to_numpy(dtype=np.float64, na_value=np.nan, copy=True))))
    texts = read_texts(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        return Interpreted(Column(name, read_only(texts)))
    if (marks := _marks(texts)) and (found := _without_marks(series, texts, marks, decimal)):
        return found
    return _interpreted(series, texts, decimal)


def _marks(texts: Texts) -> Counter[str]:
    """Return the texts that may mean a missing number, with the number of their cells, in order."""
    counts = Counter(texts[~is_missing(texts)].tolist())
    marks = sorted(text for text in counts if text.casefold() in SURE_MARKS | LIKELY_MARKS)
    return Counter({mark: counts[mark] for mark in marks})


def _without_marks(
    series: Series, texts: Texts, marks: Counter[str], decimal: DecimalSign | None
) -> Interpreted | Unclear | None:
    """Read a column with some texts as missing; return None if its other cells are no numbers, or too few."""
    others = by_value(texts, lambda text: np.nan if text in marks else text, np.object_)
    found = _interpreted(series, others, decimal)
    if isinstance(found, Unclear):
        return found
    levels = found.column.levels() if found.column.is_numeric else 0
    are_sure = all(mark.casefold() in SURE_MARKS for mark in marks)
    return found._replace(marks=marks) if levels > MANY_NUMBERS or (levels and are_sure) else None


def _interpreted(series: Series, texts: Texts, decimal: DecimalSign | None) -> Interpreted | Unclear:
    name = str(series.name)
    written = understand(Counter(texts[~is_missing(texts)].tolist()), decimal)
    if written.rivals:
        text, one, other = written.rivals
        return Unclear(name, f"column {name!r} holds {text!r}, which is {one:.10g} or {other:.10g}", True)
    numbers = by_value(texts, written.values.__getitem__, np.float64)
    strangers = np.flatnonzero(np.isnan(numbers) & ~is_missing(texts))
    if not strangers.size:
        return Interpreted(Column(name, read_only(numbers), CellReading(written.notation)), written.sample)
    if _has_stray_texts(numbers, strangers):
        where = row_name(series.index, int(strangers[0]))
        return Unclear(name, f"column {name!r} holds numbers, but {texts[strangers[0]]!r} in {where}")
    return Interpreted(Column(name, read_only(texts)))


def missing_marks(series: Series, decimal: DecimalSign | None = None) -> tuple[Remark, ...]:
    """Return a remark on the texts of a column of numbers that were read as missing, if there are any."""
    found = interpret(series, decimal)
    return () if isinstance(found, Unclear) else found.remarks


def read_column(series: Series) -> Column:
    """Read a sensitive column; ambiguous numbers are read as texts, numbers with a few words among them are refused."""
    found = interpret(series)
    if not isinstance(found, Unclear):
        return found.column
    if found.is_about_decimals:
        return Column(found.column, read_only(read_texts(series)))
    raise ColumnUnusable(f"{found.problem}; {EMPTY_THEM}, or choose another column")


def unclear(columns: Sequence[Unclear]) -> ColumnUnusable:
    """Return one error about all columns that can be read neither as numbers nor as texts, with advice."""
    advice = []
    if any(not column.is_about_decimals for column in columns):
        advice.append(EMPTY_THEM)
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
    """Tell whether a column holds many different numbers and few words, so that the words are probably mistakes."""
    known = numbers[~np.isnan(numbers)]
    return strangers.size <= 0.1 * known.size and len(set(known.tolist())) > MANY_NUMBERS
