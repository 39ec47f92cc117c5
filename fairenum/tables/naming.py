"""Names of tables, rows and columns, for messages, and checks that names of columns differ."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairenum.errors import ColumnRepeated

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    Index = pd.Index[Any]

Names = Sequence[str] | str
LINE = "line"  # name of the index that holds each row's line in its file


def table_name(path: str | Path) -> str:
    """Return the name of a table: that of its file without suffixes, with undecodable bytes replaced."""
    return os.fsencode(Path(path).name.partition(".")[0]).decode(errors="replace")


def listed(names: Names) -> tuple[str, ...]:
    """Return one name, or several, as a tuple of names."""
    return (names,) if isinstance(names, str) else tuple(names)


def row_name(index: Index, position: int) -> str:
    """Return text for a message about a row: its number, from 1, and its line in the file or its index, if any."""
    import pandas as pd

    row = f"row {position + 1}"
    if index.name == LINE:
        return f"{row} (line {index[position]} of the file)"
    is_counted = isinstance(index, pd.RangeIndex) or index.equals(pd.RangeIndex(len(index)))
    return row if is_counted else f"{row} (index {index[[position]].tolist()[0]!r})"


def rows_named(index: Index, positions: NDArray[np.intp]) -> str:
    """Return text for a message about several rows: the first of them, and their number."""
    return f"{row_name(index, int(positions[0]))} ({positions.size} such rows in all)"


def unlike(name: str, names: Container[str]) -> str:
    """Return a name in as many parentheses as it needs to differ from all names in `names`."""
    while name in names:
        name = f"({name})"
    return name


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse a list of column names in which a name occurs twice."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ColumnRepeated(
                f"columns {names.index(name) + 1} and {place + 1} are both called {name!r}; rename one"
            )
