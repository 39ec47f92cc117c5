"""What a table of a document is made of: its columns, and what yields its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from fairenum.document.audit import AuditDocument
from fairenum.document.value import Estimate

Row = dict[str, object]
LIMITS = ("value", "low", "high")
WHOLE = ("rank", "row")  # numbers that stay whole where some of them are missing


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of a document.

    Attributes
    ----------
    columns
        Those that every document has, which are there even if the table has no rows.
    rows
        Yields the rows by column; a column that a row does not name is empty in it.
    more
        Names the columns that one document has and another has not.
    """

    columns: tuple[str, ...]
    rows: Callable[[AuditDocument], Iterable[Row]]
    more: Callable[[AuditDocument], Iterable[str]] = lambda _document: ()

    def frame(self, document: AuditDocument) -> pd.DataFrame:
        """Make the frame of one document."""
        frame = pd.DataFrame(list(self.rows(document)), columns=[*self.columns, *self.more(document)])
        return frame.astype({name: "Int64" for name in WHOLE if name in frame and frame[name].isna().any()})


def limits(found: Estimate, name: str = "") -> Row:
    """Give an estimate and its limits a column each: name, name_low and name_high, or value, low and high."""
    return dict(zip(three(name) if name else LIMITS, (found.value, found.low, found.high), strict=True))


def three(name: str) -> tuple[str, str, str]:
    """Name the columns of an estimate and its limits."""
    return name, f"{name}_low", f"{name}_high"
