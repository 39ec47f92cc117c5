"""ARFF: the text format of Weka and OpenML, in its dense form, with quotes and texts."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.naming import LINE, refuse_repeated
from fairenum.errors import EmptyTable, FileUnreadable, FormatUnknown, RaggedTable

if TYPE_CHECKING:
    import pandas as pd

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)$""", re.IGNORECASE)
CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(?P<comma>,|$)""")
NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column as declared: its nominal values, or none if it holds numbers or free text."""

    name: str
    values: tuple[str, ...] = ()
    is_numeric: bool = False

    def read(self, cell: str | None, line: int) -> object:
        """Turn a cell into what the declaration promises."""
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
    """Yield the lines that are neither blank nor comments, with their numbers."""
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
            f"line {line} has {len(cells)} cells, {len(attributes)} attributes are declared; mend the line"
        )
    return [attribute.read(cell, line) for attribute, cell in zip(attributes, cells, strict=True)]


def _cells(row: str) -> list[str | None]:
    """Divide a row at its commas."""
    cells = []
    for found in CELL.finditer(row):
        cells.append(_cell(*found.group(1, 2, 3)))
        if not found["comma"]:
            break
    return cells


def _cell(single: str | None, double: str | None, bare: str) -> str | None:
    """Take a cell out of its quotes; a bare question mark is a missing cell, a quoted one is not."""
    quoted = single if single is not None else double
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted)
    return None if bare == "?" else bare
