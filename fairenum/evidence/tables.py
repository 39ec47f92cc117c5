"""The tables of a run as files: CSV in a folder, or the sheets of a workbook."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from fairenum.document.audit import AuditDocument
from fairenum.document.files import write_atomically
from fairenum.errors import ResultError
from fairenum.frames import tables, to_csv, to_xlsx
from fairenum.report.wording.tables import TABLES

INDEX = "index"


def table_files(document: AuditDocument) -> dict[str, bytes]:
    """Write every table as CSV, by the name of its file, and a list of them that says what each is."""
    return {f"{name}.csv": to_csv(frame).encode(errors="backslashreplace") for name, frame in _frames(document).items()}


def table_names() -> list[str]:
    """Name the files that `table_files` writes."""
    return [f"{name}.csv" for name in (INDEX, *TABLES)]


def workbook(document: AuditDocument) -> bytes:
    """Write every table as a sheet of one workbook, after a list of them."""
    return to_xlsx(_frames(document))


def write_tables(document: AuditDocument, folder: str | Path) -> None:
    """Write every table to a folder, which is made if it is not there; what else it holds stays as it is."""
    files, place = table_files(document), Path(folder)
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise ResultError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from error
    for name, content in files.items():
        write_atomically(place / name, content)


def _frames(document: AuditDocument) -> dict[str, pd.DataFrame]:
    found = tables(document)
    found["models"] = found["models"].reset_index()
    about = [(f"{name}.csv", name, len(frame), TABLES[name]) for name, frame in found.items()]
    return {INDEX: pd.DataFrame(about, columns=["file", "table", "rows", "about"]), **found}
