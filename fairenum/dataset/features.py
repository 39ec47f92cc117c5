"""Features: the columns that a model can learn from, and a remark on each one that it cannot, or had better not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.columns import (
    NUMERIC_KINDS,
    Column,
    FloatArray,
    Texts,
    Unclear,
    first_object,
    interpret,
    is_missing,
    plain_text,
    read_only,
    read_texts,
    unclear,
)
from fairenum.dataset.naming import row_name
from fairenum.document.reading import Reading
from fairenum.document.received import LARGEST_CELL
from fairenum.document.remark import Remark
from fairenum.document.terms import RemarkKind
from fairenum.errors import CellInfinite

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.dataset.columns import Series
    from fairenum.dataset.naming import Index

Found = tuple[Column | None, Remark | None]

MANY_TEXTS = 100  # fewer different texts are no burden, unless they are all different
ENOUGH = 20  # fewer rows can be all different by chance
NEARLY_ALL = 0.95
PACKED = 3  # numbers that were given out one by one leave few gaps between them
LONG = 1000  # numbers of one length are not given out below this
SENTENCE = 3  # words in a typical cell of free text
CODE_NAME = re.compile(r"zip|post_?(?:al_?)?code|^plz$|fips|naics|^sic$|(?:^|_|\b)codes?$", re.IGNORECASE)
ID_NAME = re.compile(r"(?:^|[_\W])(?:id|uuid|guid)$|^index$|^unnamed: \d+$|[a-z]I[Dd]$|^I[Dd]$")
DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
NAMED_DAY = rf"(?:\d{{1,2}}[-\s]{MONTH}[-,\s]\s?(?:\d{{4}}|\d{{2}})|{MONTH}\s\d{{1,2}},?\s\d{{4}})"
DATE = re.compile(rf"(?:{DAY}|{NAMED_DAY})(?:[T\s]\d{{1,2}}:\d{{2}}.*)?", re.IGNORECASE)


def read_features(
    frame: pd.DataFrame, names: Iterable[str], reading: Reading
) -> tuple[tuple[Column, ...], tuple[Remark, ...]]:
    """Read columns to learn from: those that can be, and a remark on every one that was left out or is suspicious.

    Columns that are neither numbers nor texts are refused, all in one message.
    """
    columns: list[Column] = []
    remarks: list[Remark] = []
    open_questions: list[Unclear] = []
    for name in names:
        found = _read(frame[name], reading)
        if isinstance(found, Unclear):
            open_questions.append(found)
            continue
        column, remark = found
        columns += [column] if column else []
        remarks += [remark] if remark else []
    if open_questions:
        raise unclear(open_questions)
    return tuple(columns), tuple(remarks)


def _read(series: Series, reading: Reading) -> Found | Unclear:
    if series.name in reading.categorical_columns:
        return _unless_constant(Column(str(series.name), read_only(_as_texts(series))))
    if series.dtype.kind not in NUMERIC_KINDS and (stranger := first_object(series)):
        return None, _object(str(series.name), stranger[1])
    found = interpret(series, reading.decimal)
    if isinstance(found, Unclear):
        return found
    column, sample = found
    if not column.varies():
        return _unless_constant(column)
    if not column.is_numeric:
        remark = _unlearnable(column)
        return (None, remark) if remark else (column, None)
    _refuse_infinite(column, series.index)
    return column, Remark("written_numbers", column.name, sample) if sample else _suspicion(column)


def _as_texts(series: Series) -> Texts:
    """Read cells as texts, dates among them."""
    return read_texts(series.map(lambda cell: _day(cell) if isinstance(cell, date) else cell, na_action="ignore"))


def _day(moment: date) -> str:
    return str(moment).removesuffix(" 00:00:00")


def _object(name: str, cell: object) -> Remark:
    """Tell of a column that holds dates or other objects."""
    kind: RemarkKind = "date_column" if isinstance(cell, date) else "object_column"
    return Remark(kind, name, type(cell).__name__)


def _unless_constant(column: Column) -> Found:
    if column.varies():
        return column, None
    known = column.values[~is_missing(column.values)]
    if not known.size:
        return None, Remark("empty_column", column.name)
    return None, Remark("constant_column", column.name, plain_text(known[0]))


def _refuse_infinite(column: Column, index: Index) -> None:
    infinite = np.flatnonzero(np.abs(column.values) > LARGEST_CELL)
    if infinite.size:
        raise CellInfinite(
            f"column {column.name!r} holds {column.values[infinite[0]]:g} in "
            f"{row_name(index, int(infinite[0]))}; correct the cell, or empty it to have it imputed"
        )


def _unlearnable(column: Column) -> Remark | None:
    """Tell texts that nothing can be learned from: dates, identifiers and free text."""
    known = [str(text) for text in column.values[~is_missing(column.values)]]
    distinct = set(known)
    if sum(map(_is_date, distinct)) >= NEARLY_ALL * len(distinct):
        return Remark("date_column", column.name, count=len(distinct))
    are_all_different = len(distinct) == len(known) >= ENOUGH
    if not are_all_different and len(distinct) <= max(MANY_TEXTS, column.values.size / 2):
        return None
    words = float(np.median([len(text.split()) for text in distinct]))
    kind: RemarkKind = "free_text" if words >= SENTENCE else "identifier_text"
    return Remark(kind, column.name, count=len(distinct))


def _is_date(text: str) -> bool:
    return DATE.fullmatch(text) is not None


def _suspicion(column: Column) -> Remark | None:
    """Tell numbers that are probably none: identifiers and codes."""
    known = np.asarray(column.values[~is_missing(column.values)], dtype=np.float64)
    if not np.array_equal(known, np.floor(known)):
        return None
    levels = column.levels()
    if _are_identifiers(column.name, known, levels):
        return Remark("identifier_number", column.name, count=levels)
    if levels >= 3 and CODE_NAME.search(column.name):
        return Remark("code_numbers", column.name, count=levels)
    return None


def _are_identifiers(name: str, whole: FloatArray, levels: int) -> bool:
    """Tell identifiers from counts: named so, hardly repeated and sorted, or unique and packed or of one length."""
    if levels < ENOUGH or ID_NAME.search(name):
        return levels >= ENOUGH
    steps, low, high = np.diff(whole), whole.min(), whole.max()
    is_sorted = bool(np.all(steps >= 0) or np.all(steps <= 0))
    is_packed = high - low < PACKED * levels
    is_of_one_length = low >= LONG and len(str(int(low))) == len(str(int(high)))
    return (levels >= NEARLY_ALL * whole.size and is_sorted) or (
        levels == whole.size and (is_packed or is_of_one_length)
    )
