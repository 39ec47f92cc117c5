"""Periods of rows, in their order: whole numbers, years, quarters, months, weeks, or the months of dates."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fairenum.errors import ColumnConstant, ColumnUnusable
from fairenum.tables.columns import IntArray, plain_text, read_only
from fairenum.tables.table import parsed_dates, read_dates

if TYPE_CHECKING:
    from fairenum.tables.columns import Series

MOST_PERIODS = 500
NAMED = "by (--by)"
# Forms of a period; dates are read last, and count as their months.
WHOLE = re.compile(r"(?P<year>-?\d+)")
QUARTER = re.compile(r"(?P<year>\d{4})[-/ ]?[Qq](?P<part>[1-4])|[Qq](?P<other>[1-4])[-/ ](?P<after>\d{4})")
MONTH = re.compile(r"(?P<year>\d{4})[-/](?P<part>0?[1-9]|1[0-2])")
WEEK = re.compile(r"(?P<year>\d{4})-?[Ww](?P<part>0[1-9]|[1-4]\d|5[0-3])")


@dataclass(frozen=True, slots=True, eq=False)
class Periods:
    """The period of each row.

    Attributes
    ----------
    codes
        For each row the position of its period in `names`.
    names
        The periods that occur, in order of time.
    """

    column: str
    codes: IntArray = field(repr=False)
    names: tuple[str, ...]

    def take(self, rows: IntArray | slice) -> Periods:
        """Return the periods of some rows; refuse rows of a single period."""
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        names = tuple(self.names[place] for place in kept)
        if len(names) < 2:
            raise ColumnConstant(
                f"column {self.column!r}, named as {NAMED}, holds one period only, {names[0]!r}; give rows of two or "
                "more"
            )
        return Periods(self.column, read_only(codes.ravel().astype(np.intp)), names)


def read_periods(series: Series) -> Periods:
    """Read a column of periods without missing cells; refuse texts that are none, and more than 500 periods."""
    cells = series.astype(object).map(plain_text)
    texts, codes = np.unique(cells.to_numpy().astype(str), return_inverse=True)
    keys = _keys(series, cells, texts.tolist())
    order = sorted(set(keys.values()))
    if len(order) > MOST_PERIODS:
        raise ColumnUnusable(
            f"column {series.name!r}, named as {NAMED}, holds {len(order)} periods, more than {MOST_PERIODS}; give "
            "months or quarters, such as 2024-03 or 2024-Q1"
        )
    places = {key: place for place, key in enumerate(order)}
    of_texts = np.array([places[keys[text]] for text in texts.tolist()], dtype=np.intp)
    return Periods(str(series.name), read_only(of_texts[codes.ravel()]), tuple(name for _, name in order))


Key = tuple[tuple[int, int], str]  # what periods are sorted by, and the name of the period


def _keys(series: Series, cells: Series, texts: list[str]) -> dict[str, Key]:
    """Return the sort key and the name of the period that each text stands for, in the first form that fits all."""
    for pattern, sign, width in ((WHOLE, "", 0), (QUARTER, "-Q", 1), (MONTH, "-", 2), (WEEK, "-W", 2)):
        found = [pattern.fullmatch(text) for text in texts]
        if all(found):
            return {text: _key(one, sign, width) for text, one in zip(texts, found, strict=True) if one}
    iso = parsed_dates(cells, "ISO8601")
    dates = read_dates(series, cells, (iso,), NAMED) if iso.isna().any() else iso
    months = {text: (date.year, date.month) for text, date in zip(cells, dates, strict=True)}
    return {text: (month, f"{month[0]}-{month[1]:02d}") for text, month in months.items()}


def _key(found: re.Match[str], sign: str, width: int) -> Key:
    parts = found.groupdict()
    year, part = (parts.get(name) for name in ("year", "part"))
    year, part = year or parts.get("after"), part or parts.get("other")
    if part is None:
        return (int(year or 0), 0), str(int(year or 0))
    return (int(year or 0), int(part)), f"{year}{sign}{int(part):0{width}d}"
