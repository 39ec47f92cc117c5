"""Files: CSV, Parquet and ARFF read into pandas frames, with care for what users' files look like."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.arff import parse_arff
from fairenum.dataset.card import list_datasets
from fairenum.dataset.columns import by_value, is_missing, parse_numbers
from fairenum.dataset.naming import LINE, option, refuse_repeated
from fairenum.errors import (
    ColumnUnusable,
    DatasetNotFound,
    EmptyTable,
    FileUnreadable,
    FormatUnknown,
    NotUtf8,
    RaggedTable,
    ReaderMissing,
    WrongDelimiter,
)
from fairenum.phrases import did_you_mean, quoted

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {".csv": ",", ".tsv": "\t"}
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SUFFIXES = (*DELIMITERS, ".arff", ".parquet")
MISSING_MARKS = frozenset(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"])
"""Cells of a CSV file that count as empty."""


def read_table(path: str | Path, delimiter: str | None = None) -> pd.DataFrame:
    """Read a CSV, TSV, ARFF (each also with .gz) or Parquet file into a pandas frame.

    Parameters
    ----------
    path
        The file; its suffix says what it is. Text is UTF-8; the first line of a CSV file names the columns.
    delimiter
        What stands between the cells of a CSV file; a comma if not given, a tab for .tsv.

    Returns
    -------
    The frame. From a text file, its index is called "line" and holds the line on which each row begins.
    """
    path = Path(path)
    kind = _kind(path)
    if kind == ".parquet":
        return _read_parquet(path)
    text = _read_text(path)
    return parse_arff(text) if kind == ".arff" else parse_csv(text, delimiter or DELIMITERS[kind])


def parse_csv(text: str, delimiter: str) -> pd.DataFrame:
    """Read the text of a CSV file into a frame, each column as numbers if all its cells are."""
    import pandas as pd

    delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter  # a real tab is hard to type in a shell
    records = _records(text, delimiter)
    _, header = next(records, (0, []))
    names = [name.strip() for name in header]
    _check_header(names, delimiter)
    lines, rows = [], []
    for line, cells in records:
        if len(cells) != len(names):
            raise RaggedTable(
                f"line {line} has {len(cells)} cells, the header has {len(names)}; "
                "mend the line, and put quotes around a cell that holds the delimiter"
            )
        lines.append(line)
        rows.append(cells)
    if not rows:
        raise EmptyTable("the file has a header and no row below it; add rows")
    columns = {name: _typed(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}
    return pd.DataFrame(columns, index=pd.Index(lines, name=LINE))


def _kind(path: Path) -> str:
    """Say by its suffix what a file is, once it is sure that there is one."""
    if path.is_dir():
        raise FileUnreadable(f"{str(path)!r} is a directory; name a file in it")
    if not path.exists():
        raise _not_found(path)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in SUFFIXES or (suffix == ".parquet" and path.suffix.lower() == ".gz"):
        raise FormatUnknown(
            f"{path.name!r} has the suffix {path.suffix!r}, which is not read here; "
            f"save the table as one of {', '.join(SUFFIXES)}"
        )
    return suffix


def _not_found(path: Path) -> DatasetNotFound:
    bundled = [card.name for card in list_datasets()]
    nearby: list[str] = []
    with suppress(OSError):
        nearby = sorted(each.name for each in path.parent.iterdir())
    hint = did_you_mean(path.name, [*bundled, *nearby]) or f"; the bundled ones are {quoted(bundled)}"
    return DatasetNotFound(f"there is no file and no bundled dataset {str(path)!r}{hint}")


def _read_text(path: Path) -> str:
    """Read a text file, gunzipped if need be and without a byte order mark."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix.lower() == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise FileUnreadable(
            f"{str(path)!r} cannot be read ({error}); check its permissions and that it is whole"
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NotUtf8(
            f"{path.name!r} is not UTF-8 text: byte 0x{data[error.start]:02x} in line {line}; "
            f"convert it, for example with: iconv -f LATIN1 -t UTF-8 {path.name}"
        ) from error


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow as arrow
    except ImportError as error:
        raise ReaderMissing("Parquet files need pyarrow; install it with: pip install 'fairenum[parquet]'") from error
    import pandas as pd

    try:
        return pd.read_parquet(path, engine="pyarrow")
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise FileUnreadable(f"{path.name!r} is no Parquet file that can be read ({error}); write it anew") from error


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every record of a CSV text with the line on which it begins; blank lines are none."""
    if len(delimiter) != 1:
        raise WrongDelimiter(f"the delimiter {delimiter!r} is not one character; give one, such as ';'")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    line = 1
    try:
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip():
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileUnreadable(f"line {line} is not CSV ({error}); check the quotes in it") from error


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
    if "" in names:
        raise ColumnUnusable(
            f"column {names.index('') + 1} of the file has no name; name it in the first line, "
            "or remove it if it is a saved row number"
        )
    refuse_repeated(names)


def _typed(cells: Sequence[str]) -> NDArray[np.generic]:
    """Turn the cells of one column into numbers if all of them are; words such as True stay words."""
    texts = by_value(np.array(cells, dtype=object), _plain_cell, np.object_)
    numbers, missing = parse_numbers(texts), is_missing(texts)
    truths = {"true", "false"}.intersection(cell.strip().casefold() for cell in set(cells))
    if truths or (np.isnan(numbers) & ~missing).any():
        return texts
    if not missing.any() and np.all(np.abs(numbers) < 2**53) and np.all(numbers == np.floor(numbers)):
        return numbers.astype(np.int64)
    return numbers


def _plain_cell(cell: str) -> object:
    """Take a cell without the blanks around it, nan if it is marked as missing."""
    stripped = cell.strip()
    return np.nan if stripped in MISSING_MARKS else stripped
