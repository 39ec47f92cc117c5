"""Reading of CSV, Parquet, ARFF and Excel files into pandas frames, and the cards of the bundled datasets."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import struct
import tomllib
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import msgspec
import numpy as np

from fairenum.document.reading import Reading
from fairenum.document.table_facts import Remark
from fairenum.errors import (
    DatasetNotFound,
    EmptyTable,
    FileUnreadable,
    FormatUnknown,
    NotUtf8,
    RaggedTable,
    ReaderMissing,
)
from fairenum.runtime.hints import did_you_mean, option, quoted
from fairenum.tables.columns import plain_text
from fairenum.tables.delimited import MISSING_MARKS, parse_delimited
from fairenum.tables.headers import LOOKED_AT, refuse_data_as_names
from fairenum.tables.naming import LINE, refuse_repeated

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.tables.naming import Index


@dataclass(frozen=True, slots=True)
class Source:
    """The file that a bundled dataset was made from, in a public package."""

    package: str
    version: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Card:
    """The description of one bundled dataset: its file, source, licence, columns and pitfalls, and default options."""

    name: str
    title: str
    file: str
    sha256: str
    rows: int
    columns: int
    licence: str
    licence_note: str
    citation: str
    label: str
    favourable: str
    derived: str
    source: tuple[Source, ...]
    types: Mapping[str, list[str]]
    traits: tuple[str, ...]
    pitfalls: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    also_sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    incumbent: str | None = None
    bands: Mapping[str, list[float]] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The path of the dataset's file in the folder of bundled files."""
        return folder() / self.file


def folder() -> Path:
    """Return the folder of the bundled files: in the installed package or, if it is editable, in the repository."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "bundled"
    return installed if installed.is_dir() else package.parent / "datasets"


def list_datasets() -> tuple[Card, ...]:
    """Return the cards of all bundled datasets, ordered by name."""
    return tuple(_read(path) for path in sorted(folder().glob("*.toml")))


def read_card(name: str) -> Card:
    """Return the card of the bundled dataset of this name; refuse an unknown name."""
    cards = {card.name: card for card in list_datasets()}
    if name not in cards:
        hint = did_you_mean(name, cards) or f"; there are {quoted(cards)}"
        raise DatasetNotFound(f"no bundled dataset is called {name!r}{hint}")
    return cards[name]


def _read(path: Path) -> Card:
    return msgspec.convert({"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}, Card)


WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WESTERN = "cp1252"  # "ANSI" in Western spreadsheets; latin-1 but for a few signs
# Errors that readers raise on damaged metadata, and on damaged zip or XML.
DAMAGED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
BAD_BOOK = (BadZipFile, zlib.error, struct.error, EOFError, SyntaxError, RuntimeError)
INDEX_LEVEL = "__index_level_"  # how pandas begins the name of an unnamed index in a Parquet file


def read_text(path: Path) -> tuple[str, tuple[Remark, ...]]:
    """Return the text of a file, decompressed if its suffix is .gz, and a remark if its encoding was guessed."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix.lower() == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise FileUnreadable(
            f"{str(path)!r} cannot be read ({error}); check its permissions and that it is whole"
        ) from error
    try:
        return _decoded(data, path.name)
    except UnicodeDecodeError as error:
        if data.startswith(WIDE_MARKS):
            raise NotUtf8(f"{path.name!r} has the mark of UTF-16 and is not UTF-16 ({error}); save it again") from error
        line = data.count(b"\n", 0, error.start) + 1
        raise NotUtf8(
            f"{path.name!r} is no text that can be read: byte 0x{data[error.start]:02x} in line {line} is neither "
            f"UTF-8 nor Windows-1252; convert it, for example with: iconv -f LATIN1 -t UTF-8 {path.name}"
        ) from error


def _decoded(data: bytes, name: str) -> tuple[str, tuple[Remark, ...]]:
    """Return bytes as text, and a remark if the encoding was guessed.

    Encodings are UTF-16 with a byte order mark, UTF-8, or else (guessed) Windows-1252, of Western spreadsheets.
    """
    if data.startswith(WIDE_MARKS):
        return data.decode("utf-16"), ()
    if b"\0" in data:
        raise NotUtf8(
            f"{name!r} holds zero bytes, as UTF-16 without its mark and files that are no text do; "
            f"convert it, for example with: iconv -f UTF-16LE -t UTF-8 {name}"
        )
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        return data.decode(WESTERN), (Remark("guessed_encoding", detail="Windows-1252"),)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file into a frame; damaged pandas metadata in it are ignored."""
    try:
        import pyarrow as arrow
    except ImportError as error:
        raise ReaderMissing("Parquet files need pyarrow; install it with: pip install 'fairenum[parquet]'") from error
    import pandas as pd
    from pyarrow.parquet import read_table

    try:
        try:
            return pd.read_parquet(path, engine="pyarrow")
        except DAMAGED:
            frame: pd.DataFrame = read_table(path).replace_schema_metadata(None).to_pandas()
            return frame.drop(columns=[name for name in frame if str(name).startswith(INDEX_LEVEL)])
    except (OSError, arrow.ArrowException, *DAMAGED) as error:
        raise FileUnreadable(f"{path.name!r} is no Parquet file that can be read ({error}); write it again") from error


def read_excel(path: Path, sheet: str | None) -> pd.DataFrame:
    """Read one sheet of an Excel file into a frame, by default the first sheet; its first row names the columns."""
    try:
        import openpyxl  # noqa: F401  # pandas needs it, and its own error would not say how to install it
    except ImportError as error:
        raise ReaderMissing("Excel files need openpyxl; install it with: pip install 'fairenum[excel]'") from error
    import pandas as pd

    try:
        # openpyxl warns of content that it skips, such as styles, and of cells that are no dates
        with warnings.catch_warnings(action="ignore"), pd.ExcelFile(path, engine="openpyxl") as book:
            wanted = _sheet([str(name) for name in book.sheet_names], sheet)
            frame = pd.read_excel(book, sheet_name=wanted, keep_default_na=False, na_values=sorted(MISSING_MARKS))
    except (OSError, *BAD_BOOK, *DAMAGED) as error:
        raise FileUnreadable(f"{path.name!r} is no Excel file that can be read ({error}); save it again") from error
    frame = _without_blank_rows(frame)
    first = frame.head(LOOKED_AT).astype(object)
    cells = [first.iloc[:, place].map(plain_text, na_action="ignore").fillna("") for place in range(first.shape[1])]
    refuse_data_as_names([plain_text(name) for name in frame.columns], [column.tolist() for column in cells])
    return frame


def _sheet(names: list[str], wanted: str | None) -> str:
    """Return the name of the wanted sheet, by default the first; refuse a name that is not among `names`."""
    if wanted is None:
        return names[0]
    if wanted not in names:
        example = option("sheet", names[0], "sheet", names[0])
        hint = did_you_mean(wanted, names) or f"; there are {quoted(names)}: {example}"
        raise FileUnreadable(f"the spreadsheet has no sheet {wanted!r}{hint}")
    return wanted


def _without_blank_rows(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    lines: Index = pd.Index(range(2, len(frame) + 2), name=LINE)
    frame = frame.set_axis(lines, axis="index").dropna(how="all")
    if frame.empty:
        raise EmptyTable("the sheet has no row below its first; add rows")
    return frame


ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)$""", re.IGNORECASE)
CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(?P<comma>,|$)""")
NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True, slots=True)
class Attribute:
    """The declaration of a column in an ARFF file; `values` are the allowed ones of a nominal column, else ()."""

    name: str
    values: tuple[str, ...] = ()
    is_numeric: bool = False

    def read(self, cell: str | None, line: int) -> object:
        """Return a cell in the declared type, nan if it is missing; refuse a cell that does not fit the declaration."""
        if cell is None:
            return np.nan
        if self.values and cell not in self.values:
            raise FileUnreadable(
                f"line {line} holds {cell!r}, which attribute {self.name!r} does not declare; correct one"
            )
        try:
            return float(cell) if self.is_numeric else cell
        except ValueError as error:
            raise FileUnreadable(
                f"line {line} holds {cell!r} for the numeric attribute {self.name!r}; write a number or ?"
            ) from error


def parse_arff(text: str) -> pd.DataFrame:
    """Read the text of an ARFF file into a frame; nominal attributes become categorical columns."""
    import pandas as pd

    attributes, lines, rows = [], [], []
    content = _content(text)
    for line, row in content:
        if row.casefold().startswith("@data"):
            break
        if row.casefold().startswith("@attribute"):
            attributes.append(_attribute(row, line))
    names = [attribute.name for attribute in attributes]
    refuse_repeated(names)
    for line, row in content:
        lines.append(line)
        rows.append(_row(row, line, attributes))
    if not rows:
        raise EmptyTable("the file has no row below @data; add rows")
    frame = pd.DataFrame(rows, columns=names, index=pd.Index(lines, name=LINE))
    nominal = {each.name: pd.CategoricalDtype(list(each.values)) for each in attributes if each.values}
    return frame.astype(nominal)


def _content(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the stripped text of each line of an ARFF file that is neither blank nor a comment."""
    for line, row in enumerate(io.StringIO(text, newline=None), start=1):
        if row.strip() and not row.lstrip().startswith("%"):
            yield line, row.strip()


def _attribute(row: str, line: int) -> Attribute:
    found = ATTRIBUTE.match(row)
    if found is None:
        raise FileUnreadable(f"line {line} is no attribute declaration; write: @attribute name type")
    name, kind = _cells(found[1])[0] or "?", found[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, tuple(value for value in _cells(kind[1:-1]) if value))
    if kind.casefold() not in (*NUMERIC, "string"):
        raise FormatUnknown(
            f"line {line} declares attribute {name!r} as {kind!r}, which is not read here; "
            "make it numeric, string or a list of values in braces"
        )
    return Attribute(name, is_numeric=kind.casefold() in NUMERIC)


def _row(row: str, line: int, attributes: list[Attribute]) -> list[object]:
    if row.startswith("{"):
        raise FormatUnknown(
            f"line {line} is in the sparse form of ARFF, which is not read here; save it in the dense form"
        )
    cells = _cells(row)
    if len(cells) != len(attributes):
        raise RaggedTable(
            f"line {line} has {len(cells)} cells, {len(attributes)} attributes are declared; correct the line"
        )
    return [attribute.read(cell, line) for attribute, cell in zip(attributes, cells, strict=True)]


def _cells(row: str) -> list[str | None]:
    """Return the cells of a line of an ARFF file, without quotes; a missing cell is None."""
    cells = []
    for found in CELL.finditer(row):
        cells.append(_cell(*found.group(1, 2, 3)))
        if not found["comma"]:
            break
    return cells


def _cell(single: str | None, double: str | None, bare: str) -> str | None:
    """Return the text of an ARFF cell, given in single, double or no quotes; None if missing (a bare question mark)."""
    quoted = single if single is not None else double
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted)
    return None if bare == "?" else bare


DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": ","}
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm")
SUFFIXES = (*DELIMITERS, ".arff", *PARQUET, *EXCEL)


@dataclass(frozen=True, slots=True, eq=False)
class FileTable:
    """A frame read from a file, with remarks on what was guessed (encoding, delimiter, row numbers)."""

    frame: pd.DataFrame = field(repr=False)
    remarks: tuple[Remark, ...] = ()


def read_table(path: str | Path, delimiter: str | None = None) -> pd.DataFrame:
    """Read a CSV, TSV, ARFF (each also with .gz), Parquet or Excel file into a pandas frame.

    Parameters
    ----------
    path
        The file; its suffix determines its format. The first line of a CSV file names the columns.
    delimiter
        The character between the cells of a CSV file; guessed from its first lines if not given.

    Returns
    -------
    The frame. Unless the file is Parquet, its index is called "line" and holds the line at which each row begins.
    """
    return read_file(path, Reading(delimiter=delimiter)).frame


def read_file(path: str | Path, reading: Reading, *, is_typed: bool = True) -> FileTable:
    """Read a table file with the given options into a frame, with remarks on what was guessed.

    Unless `is_typed`, the cells of a CSV file stay texts.
    """
    path = Path(path)
    kind = _kind(path)
    if kind in PARQUET:
        return FileTable(read_parquet(path))
    if kind in EXCEL:
        return FileTable(read_excel(path, reading.sheet))
    text, remarks = read_text(path)
    if kind == ".arff":
        return FileTable(parse_arff(text), remarks)
    frame, guesses = parse_delimited(text, DELIMITERS[kind], reading.delimiter, reading.decimal, is_typed=is_typed)
    return FileTable(frame, (*remarks, *guesses))


def _kind(path: Path) -> str:
    """Return the suffix of a table file, without .gz; refuse a missing file and a format that cannot be read."""
    if path.is_dir():
        raise FileUnreadable(f"{str(path)!r} is a directory; name a file in it")
    if not path.exists():
        raise _not_found(path)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    is_packed_again = path.suffix.lower() == ".gz" and suffix in (*PARQUET, *EXCEL)
    if suffix not in SUFFIXES or is_packed_again:
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
