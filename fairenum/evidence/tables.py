"""The tables of a run as files: CSV in a folder, or the sheets of a workbook."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from fairenum.document.files import write_atomically
from fairenum.document.kinds import JudgedDocument
from fairenum.errors import ResultError
from fairenum.frames import tables, to_csv, to_xlsx
from fairenum.report.wording.tables import about_tables

INDEX = "index"


def table_files(document: JudgedDocument) -> dict[str, bytes]:
    """Write every table as CSV, by the name of its file, and a list of them that says what each is."""
    return {f"{name}.csv": to_csv(frame).encode(errors="backslashreplace") for name, frame in _frames(document).items()}


def table_names(document: JudgedDocument) -> list[str]:
    """Name the files that `table_files` may write."""
    return [f"{name}.csv" for name in (INDEX, *about_tables(document))]


def workbook(document: JudgedDocument) -> bytes:
    """Write every table as a sheet of one workbook, after a list of them."""
    return to_xlsx(_frames(document))


def write_tables(document: JudgedDocument, folder: str | Path) -> None:
    """Write every table to a folder, which is made if it is not there; what else it holds stays as it is."""
    files, place = table_files(document), Path(folder)
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise ResultError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from error
    for name, content in files.items():
        write_atomically(place / name, content)


def _frames(document: JudgedDocument) -> dict[str, pd.DataFrame]:
    found = tables(document)
    if "models" in found:
        found["models"] = found["models"].reset_index()
    words = about_tables(document)
    about = [(f"{name}.csv", name, len(frame), words[name]) for name, frame in found.items()]
    return {INDEX: pd.DataFrame(about, columns=["file", "table", "rows", "about"]), **found}
