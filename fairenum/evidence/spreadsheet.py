"""CSV files, Excel workbooks and Parquet files of data frames; no text in them is run as a formula."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from numbers import Number
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairenum.errors import ResultError
from fairenum.runtime.formatting import plain

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

# The first character of cells that a spreadsheet would compute (OWASP, CSV injection), also in full width.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# The same after a separator of cells, as spreadsheets in some countries split even quoted text at other separators.
PARTED = re.compile(r"([;|\t\r\n]\s*)(?=[=+\-@＝＋－＠])")
BLANKS = " \u00a0\u200b\u2060\ufeff"  # ignored by some spreadsheets
LONGEST_TITLE, LONGEST_CELL, MOST_ROWS = 31, 32_767, 1_048_576  # of a sheet, by Excel's specification
FORBIDDEN = str.maketrans(dict.fromkeys("[]:*?/\\'", "_"))
ADVICE = "pip install 'fairenum[excel]'"


def to_csv(frame: pd.DataFrame) -> str:
    """Return a data frame as CSV text; an apostrophe before formulas keeps spreadsheets from computing them.

    Texts are in quotes, so that a text with commas or line breaks stays in one cell; numbers are not.
    """
    inert = frame.rename(columns=_inert).apply(_inert_column)
    return str(inert.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC))


def to_parquet(frame: pd.DataFrame) -> bytes:
    """Return a data frame as the content of a Parquet file; refuse if pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401  # pandas' own error would not say how to install it
    except ImportError as error:
        raise ResultError("Parquet files need pyarrow; install it with: pip install 'fairenum[parquet]'") from error
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    return content.getvalue()


def is_formula(text: str) -> bool:
    """Tell whether a spreadsheet might take a text for a formula and compute it."""
    return text.lstrip(BLANKS).startswith(FORMULA)


def _inert_column(column: pd.Series) -> pd.Series:
    """Return a column with an apostrophe before formulas; numeric columns stay, as `map` could change their type."""
    return column if pd.api.types.is_numeric_dtype(column) else column.map(_inert)


def _inert(cell: object) -> object:
    """Return a text with an apostrophe before each formula; any other cell as it is.

    A formula may also follow a semicolon, bar, tab or line break, where some spreadsheets begin a new cell.
    """
    if not isinstance(cell, str):
        return cell
    return PARTED.sub(r"\1'", f"'{cell}" if is_formula(cell) else cell)


def require_xlsx() -> None:
    """Raise `ResultError` if openpyxl, which writes Excel workbooks, is not installed."""
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise ResultError(f"spreadsheets need openpyxl; install it with: {ADVICE}") from error


def to_xlsx(frames: Mapping[str, pd.DataFrame]) -> bytes:
    """Return an Excel workbook with one sheet for each data frame; texts that look like formulas stay texts.

    A frame with more rows than a sheet can hold is cut, and the last row of the sheet says so.
    """
    require_xlsx()
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for title, frame in zip(sheet_titles(frames), frames.values(), strict=True):
        _add(book, title, frame)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def sheet_titles(names: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return sheet titles that Excel allows: at most 31 characters, none forbidden, unique when case is ignored."""
    titles: dict[str, str] = {}
    for name in names:
        base = plain(name).translate(FORBIDDEN) or "_"
        title, number = base[:LONGEST_TITLE], 1
        while title.casefold() in titles:
            number += 1
            title = base[: LONGEST_TITLE - len(f"_{number}")] + f"_{number}"
        titles[title.casefold()] = title
    return list(titles.values())


def _add(book: Workbook, title: str, frame: pd.DataFrame) -> None:
    from openpyxl.cell import WriteOnlyCell

    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"
    for row in _rows(frame):
        sheet.append([_cell(WriteOnlyCell(sheet), value) for value in row])


def _rows(frame: pd.DataFrame) -> Iterator[list[object]]:
    yield list(frame.columns)
    kept = frame if len(frame) < MOST_ROWS else frame.iloc[: MOST_ROWS - 2]
    yield from (list(row) for row in kept.itertuples(index=False, name=None))
    if len(kept) < len(frame):
        yield [f"{len(frame) - len(kept)} more rows, which a sheet cannot hold; write CSV instead (--tables)"]


def _cell(cell: WriteOnlyCell, value: object) -> WriteOnlyCell:
    """Return the cell filled with a value: a number or truth value, nothing if missing or infinite, else a text."""
    if isinstance(value, bool | np.bool_):
        cell.value = bool(value)
    elif isinstance(value, Number):
        number = value.item() if isinstance(value, np.generic) else value
        cell.value = number if math.isfinite(number) else None  # type: ignore[arg-type]  # none is complex
    elif value is not None and value is not pd.NA:
        text = plain(value)[:LONGEST_CELL]
        cell.value, cell.data_type = text, "s"  # else "=1" would be a formula, "#N/A" an error
        cell.quotePrefix = is_formula(str(value))  # so that it stays a text when the cell is edited
    return cell
