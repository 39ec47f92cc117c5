"""Naming: how rows, columns and options are called in a message."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairenum.errors import ColumnRepeated

if TYPE_CHECKING:
    import pandas as pd

Names = Sequence[str] | str

LINE = "line"
"""Name of the index that carries each row's line in its file."""


def option(name: str, value: object, flag: str, word: str) -> str:
    """Say how to give an option, in Python and on the command line."""
    return f"{name}={value!r} (--{flag} {shlex.quote(word)})"


def without(column: object) -> str:
    """Say how to leave a column out."""
    return option("drop", [column], "drop", str(column))


def listed(names: Names) -> tuple[str, ...]:
    """Take one name for a list of one."""
    return (names,) if isinstance(names, str) else tuple(names)


def row_name(index: pd.Index[Any], position: int) -> str:
    """Call a row as its owner sees it: counted from 1 without the header, and its line if there is a file."""
    import pandas as pd

    row = f"row {position + 1}"
    if index.name == LINE:
        return f"{row} (line {index[position]} of the file)"
    return row if isinstance(index, pd.RangeIndex) else f"{row} (index {index[position]!r})"


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ColumnRepeated(
                f"columns {names.index(name) + 1} and {place + 1} are both called {name!r}; rename one"
            )
