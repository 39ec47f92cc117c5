"""CSV and similar texts, read into pandas frames: one header line, and cells separated by a delimiter."""

from __future__ import annotations

import csv
import gc
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairenum.document.reading import number
from fairenum.document.table_facts import Remark
from fairenum.document.terms import DecimalSign
from fairenum.errors import ColumnUnusable, EmptyTable, FileUnreadable, RaggedTable, WrongDelimiter
from fairenum.runtime.hints import option
from fairenum.tables.columns import FloatArray, Texts, is_missing
from fairenum.tables.headers import refuse_data_as_names
from fairenum.tables.naming import LINE, refuse_repeated

if TYPE_CHECKING:
    import _csv

    import pandas as pd

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
MISSING_MARKS = frozenset(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"])  # cells that count as empty

MANY_STEPS = 20  # a first column without a name is taken for row numbers if its numbers increase so many times
LOOKED_AT = 100  # first records by which the delimiter is guessed
AT_ONCE = 10_000  # records that are read and transposed together


def parse_delimited(
    text: str, usual: str, delimiter: str | None = None, decimal: DecimalSign | None = None, *, is_typed: bool = True
) -> tuple[pd.DataFrame, tuple[Remark, ...]]:
    """Return the frame of a delimited text, and remarks on a guessed delimiter and on dropped row numbers.

    The first line names the columns. `usual` is the delimiter that the file's suffix suggests; `delimiter` and
    `decimal` are those that the user named, if any. Unless `is_typed`, all cells stay texts, "NA" among them.
    """
    with _without_garbage_collection():
        return _parsed(text, usual, delimiter, partial(_typed, decimal=decimal) if is_typed else _texts)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Turn the garbage collector off inside a with block, where it would scan millions of cells repeatedly."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def _parsed(
    text: str, usual: str, delimiter: str | None, read: Callable[[Sequence[str]], NDArray[np.generic]]
) -> tuple[pd.DataFrame, tuple[Remark, ...]]:
    sign = _sign(delimiter) if delimiter else _guessed_delimiter(text, usual)
    remarks = [] if delimiter or sign == usual else [Remark("guessed_delimiter", detail=sign)]
    names, lines, columns = _table(text, sign)
    if names[0] == "" and _are_row_numbers(columns[0]):
        names, columns = names[1:], columns[1:]
        remarks.append(Remark("row_numbers"))
    refuse_data_as_names(names, columns)
    _check_names(names)
    return _frame(names, columns, lines, read), tuple(remarks)


def _sign(delimiter: str) -> str:
    delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter  # a real tab is hard to type in a shell
    if len(delimiter) != 1:
        raise WrongDelimiter(f"the delimiter {delimiter!r} is not one character; give one, such as ';'")
    return delimiter


def _guessed_delimiter(text: str, usual: str) -> str:
    """Return the delimiter that divides each of the first records into the same number of cells, at least two.

    `usual` is returned if it does so, else another delimiter if it is the only one that does. If there is none or
    several, the header alone is tried in the same way; if that fails, too, `usual` is returned.
    """
    for records in (LOOKED_AT, 1):
        if _width(text, usual, records) > 1:
            return usual
        others = [sign for sign in DELIMITER_NAMES if sign != usual and _width(text, sign, records) > 1]
        if len(others) == 1:
            return others[0]
    return usual


def _width(text: str, sign: str, records: int) -> int:
    """Return how many cells each of the first records has; 0 if that number differs between records."""
    try:
        widths = {len(cells) for _, cells in islice(_records(text, sign), records)}
    except FileUnreadable:
        return 0
    return widths.pop() if len(widths) == 1 else 0


def _table(text: str, delimiter: str) -> tuple[list[str], list[int], list[list[str]]]:
    """Return the names of a text's columns, the line number of each row, and the cells of each column."""
    _, header = next(_records(text, delimiter), (0, []))
    names = [name.strip() for name in header]
    _check_header(names, delimiter)
    lines: list[int] = []
    columns: list[list[str]] = [[] for _ in names]
    # rows are turned into columns in portions: a list for each of a million rows takes more memory than their cells
    for numbers, rows in _portions(text, delimiter):
        _check_widths(numbers, rows, len(names))
        lines.extend(numbers)
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(cells)
    if len(lines) == 1:
        raise EmptyTable("the file has a header and no row below it; add rows")
    return names, lines[1:], [column[1:] for column in columns]


def _check_widths(lines: Sequence[int], rows: Sequence[list[str]], width: int) -> None:
    for line, cells in zip(lines, rows, strict=True):
        if len(cells) != width:
            raise RaggedTable(
                f"line {line} has {len(cells)} cells, the header has {width}; "
                "correct the line, and put quotes around a cell that holds the delimiter"
            )


def _frame(
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    lines: Sequence[int],
    read: Callable[[Sequence[str]], NDArray[np.generic]],
) -> pd.DataFrame:
    import pandas as pd

    typed = {name: read(cells) for name, cells in zip(names, columns, strict=True)}
    return pd.DataFrame(typed, index=pd.Index(lines, name=LINE))


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield, for each record, the line number at which it begins and its cells; blank lines are skipped."""
    reader, line = _reader(text, delimiter), 1
    try:
        for cells in reader:
            if _is_record(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise _no_csv(line, error) from error


def _portions(text: str, delimiter: str) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
    """Yield pairs: the line numbers of up to `AT_ONCE` records, and the list of these records."""
    if '"' in text:  # a record may go over several lines
        records = _records(text, delimiter)
        while some := list(islice(records, AT_ONCE)):
            yield [line for line, _ in some], [cells for _, cells in some]
        return
    reader = _reader(text, delimiter)
    try:
        while rows := list(islice(reader, AT_ONCE)):
            lines: Sequence[int] = range(reader.line_num - len(rows) + 1, reader.line_num + 1)
            if min(map(len, rows)) < 2:
                kept = [(line, cells) for line, cells in zip(lines, rows, strict=True) if _is_record(cells)]
                lines, rows = [line for line, _ in kept], [cells for _, cells in kept]
            if rows:
                yield lines, rows
    except csv.Error as error:
        raise _no_csv(reader.line_num, error) from error


def _reader(text: str, delimiter: str) -> _csv.Reader:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)


def _is_record(cells: Sequence[str]) -> bool:
    return len(cells) > 1 or bool("".join(cells).strip())


def _no_csv(line: int, error: csv.Error) -> FileUnreadable:
    return FileUnreadable(f"line {line} is not CSV ({error}); check the quotes in it")


def _check_header(names: Sequence[str], delimiter: str) -> None:
    if not names:
        raise EmptyTable("the file is empty; its first line must name the columns")
    others = [other for other in DELIMITER_NAMES if other in names[0] and other != delimiter]
    if len(names) == 1 and others:
        sign = others[0]
        raise WrongDelimiter(
            f"the file has one column, {names[0]!r}: its cells seem to be separated by a {DELIMITER_NAMES[sign]}; "
            f"read it with {option('delimiter', sign, 'delimiter', sign)}, or save it with commas"
        )


def _check_names(names: Sequence[str]) -> None:
    if "" in names:
        raise ColumnUnusable(
            f"column {names.index('') + 1} of the file has no name; name it in the first line, or remove it"
        )
    refuse_repeated(names)


def _are_row_numbers(cells: Sequence[str]) -> bool:
    """Tell whether cells are row numbers, as pandas saves them in a first column; dropped rows leave gaps in them."""
    numbers = [int(cell) if cell.strip().isdecimal() else -1 for cell in cells]
    steps = [other - one for one, other in pairwise(numbers)]
    has_gaps = len(steps) >= MANY_STEPS and all(step > 0 for step in steps)
    return numbers[0] >= 0 and (has_gaps or (numbers[0] <= 1 and all(step == 1 for step in steps)))


def _typed(cells: Sequence[str], decimal: DecimalSign | None) -> NDArray[np.generic]:
    """Return the cells of one column as numbers if all of them are numbers, else as texts; True and False are texts."""
    import pandas as pd

    if decimal != "comma" and (numbers := _plain_numbers(cells)) is not None:
        return _whole(numbers)
    codes, different = pd.factorize(np.array(cells, dtype=object))  # every distinct value is parsed once
    return _typed_values(different, decimal)[codes]


def _texts(cells: Sequence[str]) -> NDArray[np.generic]:
    """Return the cells of one column as texts, nan where a cell is empty."""
    import pandas as pd

    codes, different = pd.factorize(np.array(cells, dtype=object))
    return np.array([cell.strip() or np.nan for cell in different], dtype=object)[codes]


def _plain_numbers(cells: Sequence[str]) -> FloatArray | None:
    """Return the cells as numbers; None if a cell is missing or not a finite number."""
    try:
        numbers = np.array([float(cell) for cell in cells])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() and not any("_" in cell for cell in cells) else None


def _typed_values(cells: Texts, decimal: DecimalSign | None) -> NDArray[np.generic]:
    texts = np.array([_plain_cell(cell) for cell in cells], dtype=object)
    if decimal == "comma" and any("." in cell for cell in cells):
        return texts  # 1.234 may mean 1234; `columns.interpret` decides by all cells of the column
    missing = is_missing(texts)
    numbers = np.array([np.nan if gone else number(text) for text, gone in zip(texts, missing, strict=True)])
    truths = {"true", "false"}.intersection(cell.strip().casefold() for cell in cells)
    if truths or (np.isnan(numbers) & ~missing).any():
        return texts
    return numbers if missing.any() else _whole(numbers)


def _whole(numbers: FloatArray) -> NDArray[np.generic]:
    is_whole = np.all(np.abs(numbers) < 2**53) and np.all(numbers == np.floor(numbers))
    return numbers.astype(np.int64) if is_whole else numbers


def _plain_cell(cell: str) -> object:
    stripped = cell.strip()
    return np.nan if stripped in MISSING_MARKS else stripped
