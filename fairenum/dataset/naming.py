"""Naming: how rows, columns and options are called in a message."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairenum.errors import ColumnRepeated
from fairenum.phrases import as_categories, option, without

if TYPE_CHECKING:
    import pandas as pd

    Index = pd.Index[Any]

__all__ = [
    "LINE",
    "Names",
    "as_categories",
    "listed",
    "option",
    "refuse_repeated",
    "row_name",
    "table_name",
    "unlike",
    "without",
]

Names = Sequence[str] | str

LINE = "line"
"""Name of the index that carries each row's line in its file."""


def table_name(path: str | Path) -> str:
    """Call a table after its file, in signs that can be written: a file's name is bytes, which may be no text."""
    return os.fsencode(Path(path).name.partition(".")[0]).decode(errors="replace")


def listed(names: Names) -> tuple[str, ...]:
    """Take one name for a list of one."""
    return (names,) if isinstance(names, str) else tuple(names)


def row_name(index: Index, position: int) -> str:
    """Call a row as its owner sees it: counted from 1 without the header, and its line if there is a file."""
    import pandas as pd

    row = f"row {position + 1}"
    if index.name == LINE:
        return f"{row} (line {index[position]} of the file)"
    is_counted = isinstance(index, pd.RangeIndex) or index.equals(pd.RangeIndex(len(index)))
    return row if is_counted else f"{row} (index {index[[position]].tolist()[0]!r})"


def unlike(name: str, names: Container[str]) -> str:
    """Put a name that no value should have in parentheses until none has it."""
    while name in names:
        name = f"({name})"
    return name


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ColumnRepeated(
                f"columns {names.index(name) + 1} and {place + 1} are both called {name!r}; rename one"
            )
