"""What was noticed about a table while it was read."""

from __future__ import annotations

from fairenum.document.terms import RemarkKind
from fairenum.document.value import Value


class Remark(Value, frozen=True):
    """Something that a table's owner should know about how a column was read, or left out.

    Attributes
    ----------
    kind
        What was noticed.
    column
        The column; empty if it is about the file.
    detail
        How numbers are written, the one value, the sign between cells: whatever the kind needs to be put in words.
        Never the cell of a single row.
    count
        Different values of the column, where that is what was noticed.
    """

    kind: RemarkKind
    column: str = ""
    detail: str = ""
    count: int = 0
