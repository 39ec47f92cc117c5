"""Files: CSV, Parquet, ARFF and Excel read into pandas frames, with care for what users' files look like."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fairenum.dataset.arff import parse_arff
from fairenum.dataset.card import list_datasets
from fairenum.dataset.contents import read_excel, read_parquet, read_text
from fairenum.dataset.delimited import parse_delimited
from fairenum.document.reading import Reading
from fairenum.document.remark import Remark
from fairenum.errors import DatasetNotFound, FileUnreadable, FormatUnknown
from fairenum.phrases import did_you_mean, quoted

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": ","}
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm")
SUFFIXES = (*DELIMITERS, ".arff", *PARQUET, *EXCEL)


@dataclass(frozen=True, slots=True, eq=False)
class FileTable:
    """A table as it stands in a file, and what had to be guessed to read it."""

    frame: pd.DataFrame = field(repr=False)
    remarks: tuple[Remark, ...] = ()


def read_table(path: str | Path, delimiter: str | None = None) -> pd.DataFrame:
    """Read a CSV, TSV, ARFF (each also with .gz), Parquet or Excel file into a pandas frame.

    Parameters
    ----------
    path
        The file; its suffix says what it is. The first line of a CSV file names the columns.
    delimiter
        What stands between the cells of a CSV file; told from its first lines if not given.

    Returns
    -------
    The frame. From a text file, its index is called "line" and holds the line on which each row begins.
    """
    return read_file(path, Reading(delimiter=delimiter)).frame


def read_file(path: str | Path, reading: Reading) -> FileTable:
    """Read a file as asked for, and say what had to be guessed."""
    path = Path(path)
    kind = _kind(path)
    if kind in PARQUET:
        return FileTable(read_parquet(path))
    if kind in EXCEL:
        return FileTable(read_excel(path, reading.sheet))
    text, remarks = read_text(path)
    if kind == ".arff":
        return FileTable(parse_arff(text), remarks)
    frame, guesses = parse_delimited(text, DELIMITERS[kind], reading.delimiter, reading.decimal)
    return FileTable(frame, (*remarks, *guesses))


def _kind(path: Path) -> str:
    """Say by its suffix what a file is, once it is sure that there is one."""
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
