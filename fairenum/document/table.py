"""What is known about a table: its columns, its groups and its splits."""

from __future__ import annotations

from typing import Literal

import msgspec

from fairenum.document.remark import Remark
from fairenum.document.terms import Part
from fairenum.document.value import Value


class Feature(Value, frozen=True):
    """A column that models learn from.

    Attributes
    ----------
    missing
        Cells without a value.
    """

    name: str
    kind: Literal["numeric", "categorical"]
    missing: int


class ClassCounts(Value, frozen=True):
    """Rows by label."""

    favourable: int
    unfavourable: int


class SplitSizes(Value, frozen=True):
    """Rows by split."""

    train: int
    selection: int
    holdout: int


class GroupSizes(Value, frozen=True):
    """The rows of one group.

    Attributes
    ----------
    selection_positives, holdout_positives
        Those of them whose label is favourable.
    is_small
        Whether selection or holdout has too few of its rows to say much.
    """

    name: str
    train: int
    selection: int
    holdout: int
    selection_positives: int
    holdout_positives: int
    is_small: bool

    def rows(self, part: Part) -> int:
        """Return the rows in one split."""
        return self.selection if part == "selection" else self.holdout

    def positives(self, part: Part) -> int:
        """Return the rows with a favourable label in one split."""
        return self.selection_positives if part == "selection" else self.holdout_positives


class SensitiveColumn(Value, frozen=True):
    """A sensitive column, or the intersection of several.

    Attributes
    ----------
    is_primary
        Whether models are selected by it.
    reference
        The group that others are compared with.
    """

    column: str
    is_primary: bool
    is_intersection: bool
    reference: str
    groups: tuple[GroupSizes, ...]


class TableFacts(Value, frozen=True):
    """The table, and how it was divided and encoded.

    Attributes
    ----------
    fingerprint
        The sha256 of its content.
    columns
        Columns of the table in use: features, label and sensitive.
    encoded
        Columns of the encoded matrix.
    splits
        Rows by split.
    missing
        Missing cells by feature; numbers get the median of the training rows, a missing text is a value of its own.
    dropped
        Features that do not vary in the training rows.
    unseen
        Cells whose value the training rows did not hold, by feature.
    pooled
        Values that share one encoded column, as the training rows hold them too rarely, by feature.
    remarks
        What was noticed while the table was read: columns left out, columns that are probably not what they look like.
    identical_rows
        Training rows that repeat another in all encoded features and the label.
    examples
        Training examples of the SVM.
    """

    name: str
    fingerprint: str
    rows: int
    columns: int
    features: tuple[Feature, ...]
    encoded: tuple[str, ...]
    label: str
    favourable: str
    unfavourable: str
    class_counts: ClassCounts
    splits: SplitSizes
    sensitive: tuple[SensitiveColumn, ...]
    missing: dict[str, int]
    dropped: tuple[str, ...]
    unseen: dict[str, int]
    identical_rows: int
    examples: int
    pooled: dict[str, int] = msgspec.field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    @property
    def sensitive_columns(self) -> list[str]:
        """The names of the sensitive columns, without their intersection."""
        return [column.column for column in self.sensitive if not column.is_intersection]

    @property
    def primary(self) -> SensitiveColumn | None:
        """The column that models are selected by; None if none was named."""
        return next((column for column in self.sensitive if column.is_primary), None)
