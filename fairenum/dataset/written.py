"""Numbers as people write them: "$1,234.50", "1.234,5", "12 %", "(1,234)".

A column is read in a convention only if all its cells follow it, and if no other convention that they follow, too,
makes other numbers of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from fairenum.document.reading import number
from fairenum.document.terms import DecimalSign

SIGNS: Mapping[DecimalSign, str] = {"point": ".", "comma": ","}
PERCENT = "%"
MONEY = ("$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "JPY", "INR", "CHF")
# Nobody writes amounts of these with three decimals behind a comma: "$45,000" is in thousands.
POINTED = ("$", "£", "¥", "₹", "USD", "GBP", "JPY", "INR")
_UNIT = "|".join(map(re.escape, MONEY))
AMOUNT = re.compile(
    rf"(?P<bracket>\()?\s*(?P<sign>[-+−])?\s*(?P<before>{_UNIT})?\s*(?P<inner>[-+−])?\s*"
    rf"(?P<body>[.,]?\d(?:[\d.,'’\s]*\d)?)\s*(?P<after>%|{_UNIT})?\s*(?(bracket)\))"
)
BLANKS = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Amount:
    """A cell taken apart: its sign, its unit, its digits with what stands between them."""

    body: str
    unit: str
    is_negative: bool
    has_brackets: bool


@dataclass(frozen=True, slots=True)
class Convention:
    """What stands before the decimals, and what between groups of three digits."""

    decimal: DecimalSign
    thousands: str

    def number(self, amount: Amount | None) -> float:
        """Read an amount; nan if it does not follow the convention."""
        if amount is None or not _digits(self).fullmatch(amount.body):
            return math.nan
        value = float(amount.body.replace(self.thousands, "").replace(SIGNS[self.decimal], "."))
        return -value if amount.is_negative else value

    def sample(self, amounts: Sequence[Amount], unit: str) -> str:
        """Write a number as these cells are written."""
        bodies = [amount.body for amount in amounts]
        text = "1" + (f"{self.thousands}234" if any(self.thousands in body for body in bodies) else "2")
        text += f"{SIGNS[self.decimal]}5" if any(SIGNS[self.decimal] in body for body in bodies) else ""
        text = f"{text} {unit}" if unit in (PERCENT, "€") else f"{unit}{text}"
        return f"({text})" if any(amount.has_brackets for amount in amounts) else text


@cache
def _digits(convention: Convention) -> re.Pattern[str]:
    """What digits look like in a convention: "0,123" is no number of thousands, as none begins with 0."""
    decimal, thousands = re.escape(SIGNS[convention.decimal]), re.escape(convention.thousands)
    return re.compile(rf"(?:[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|\d+)(?:{decimal}\d+)?|{decimal}\d+")


SEPARATORS: Mapping[DecimalSign, tuple[str, ...]] = {"point": (",", " ", "'"), "comma": (".", " ", "'")}
CONVENTIONS = tuple(Convention(decimal, sign) for decimal, signs in SEPARATORS.items() for sign in signs)


@dataclass(frozen=True, slots=True)
class Written:
    """What the texts of a column mean as numbers.

    Parameters
    ----------
    values
        The number of each text, nan for one that is none.
    sample
        A number written as they are; empty if they are plain numbers.
    rivals
        A text and the two numbers that it can be, where that is open.
    """

    values: Mapping[str, float] = field(repr=False)
    sample: str = ""
    rivals: tuple[str, float, float] | None = None

    def covers(self, cells: Counter[str]) -> int:
        """Count the cells that are numbers."""
        return sum(count for text, count in cells.items() if not math.isnan(self.values[text]))


def understand(cells: Counter[str], decimal: DecimalSign | None = None) -> Written:
    """Find what the texts of a column mean as numbers, as many of them as are some.

    Parameters
    ----------
    cells
        Each text with the number of cells that hold it.
    decimal
        What begins the decimals, where the owner says so.
    """
    plain = Written({text: number(text) for text in cells})
    is_plain = plain.covers(cells) == cells.total()
    if is_plain and decimal != "comma":
        return plain
    styled = _in_conventions(cells, decimal)
    if complete := [one for one in styled if one.covers(cells) == cells.total()]:
        return _decided(complete, plain)
    return max([plain, *styled], key=lambda one: one.covers(cells))


def _in_conventions(cells: Counter[str], decimal: DecimalSign | None) -> list[Written]:
    """Read the texts in every convention; cells in another unit than most are no numbers."""
    amounts = {text: amount for text in cells if (amount := _amount(text))}
    units = Counter[str]()
    for text, amount in amounts.items():
        units[amount.unit] += cells[text] if amount.unit else 0
    unit = units.most_common(1)[0][0] if units else ""
    # Money may be written here with its sign and there without; 12 % and 0.12 are not of one kind.
    accepted = (unit,) if unit == PERCENT else (unit, "")
    fitting = {text: amount for text, amount in amounts.items() if amount.unit in accepted}
    return [
        Written({text: one.number(fitting.get(text)) for text in cells}, one.sample(list(fitting.values()), unit))
        for one in CONVENTIONS
        if fitting and decimal in (None, one.decimal)
    ]


def _decided(complete: list[Written], plain: Written) -> Written:
    """Choose among conventions that all cells follow; where they disagree, leave it open."""
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
    """Take a text apart; None if it is no amount."""
    found = AMOUNT.fullmatch(text.strip())
    if found is None or (found["before"] and found["after"]) or (found["sign"] and found["inner"]):
        return None
    body = BLANKS.sub(" ", found["body"]).replace("’", "'")
    has_brackets = bool(found["bracket"])
    is_negative = has_brackets or (found["sign"] or found["inner"] or "+") != "+"
    return Amount(body, found["before"] or found["after"] or "", is_negative, has_brackets)
