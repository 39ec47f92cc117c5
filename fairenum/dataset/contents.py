"""What is in a file: its text, whatever it is encoded in, or the table of a Parquet file or a spreadsheet."""

from __future__ import annotations

import codecs
import gzip
import struct
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from fairenum.dataset.delimited import MISSING_MARKS
from fairenum.dataset.naming import LINE, option
from fairenum.document.remark import Remark
from fairenum.errors import EmptyTable, FileUnreadable, NotUtf8, ReaderMissing
from fairenum.phrases import did_you_mean, quoted

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.dataset.naming import Index

WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WESTERN = "cp1252"  # what Western spreadsheets call ANSI; latin-1 but for a few signs
DAMAGED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)  # what damaged descriptions make readers raise
BAD_BOOK = (BadZipFile, zlib.error, struct.error, EOFError, SyntaxError, RuntimeError)  # so do damaged zip and XML
INDEX_LEVEL = "__index_level_"  # the index of a frame without a name, as pandas calls it in Parquet


def read_text(path: Path) -> tuple[str, tuple[Remark, ...]]:
    """Read a text file, gunzipped if need be and without a byte order mark."""
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
            raise NotUtf8(f"{path.name!r} is marked as UTF-16 and is none ({error}); save it anew") from error
        line = data.count(b"\n", 0, error.start) + 1
        raise NotUtf8(
            f"{path.name!r} is no text that can be read: byte 0x{data[error.start]:02x} in line {line} is neither "
            f"UTF-8 nor Windows-1252; convert it, for example with: iconv -f LATIN1 -t UTF-8 {path.name}"
        ) from error


def _decoded(data: bytes, name: str) -> tuple[str, tuple[Remark, ...]]:
    """Decode UTF-8, UTF-16 with its mark, or else what Western spreadsheets write."""
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
    """Read a Parquet file; one whose notes for pandas are damaged is read without them."""
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
        raise FileUnreadable(f"{path.name!r} is no Parquet file that can be read ({error}); write it anew") from error


def read_excel(path: Path, sheet: str | None) -> pd.DataFrame:
    """Read a sheet of a spreadsheet, the first if none is named; its first row names the columns."""
    try:
        import openpyxl  # noqa: F401  # pandas reads with it, and would blame itself
    except ImportError as error:
        raise ReaderMissing("Excel files need openpyxl; install it with: pip install 'fairenum[excel]'") from error
    import pandas as pd

    try:
        # openpyxl warns of what it leaves aside, such as styles, and of cells that are no dates
        with warnings.catch_warnings(action="ignore"), pd.ExcelFile(path, engine="openpyxl") as book:
            wanted = _sheet([str(name) for name in book.sheet_names], sheet)
            frame = pd.read_excel(book, sheet_name=wanted, keep_default_na=False, na_values=sorted(MISSING_MARKS))
    except (OSError, *BAD_BOOK, *DAMAGED) as error:
        raise FileUnreadable(f"{path.name!r} is no Excel file that can be read ({error}); save it anew") from error
    return _without_blank_rows(frame)


def _sheet(names: list[str], wanted: str | None) -> str:
    """Find a sheet by its name."""
    if wanted is None:
        return names[0]
    if wanted not in names:
        example = option("sheet", names[0], "sheet", names[0])
        hint = did_you_mean(wanted, names) or f"; there are {quoted(names)}: {example}"
        raise FileUnreadable(f"the spreadsheet has no sheet {wanted!r}{hint}")
    return wanted


def _without_blank_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Call rows by their line in the sheet, and leave out those without any cell."""
    import pandas as pd

    lines: Index = pd.Index(range(2, len(frame) + 2), name=LINE)
    frame = frame.set_axis(lines, axis="index").dropna(how="all")
    if frame.empty:
        raise EmptyTable("the sheet has no row below its first; add rows")
    return frame
