"""What is known about a table: its columns, its groups and its splits."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from fairenum.document.remark import Remark
from fairenum.document.terms import Part
from fairenum.document.value import Value

Split = Literal["train", "selection", "holdout"]
SPLITS: tuple[Split, ...] = get_args(Split)


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


class SplitOrigin(Value, frozen=True):
    """How rows came to their splits.

    Attributes
    ----------
    how
        At random, as a column marks them, or in the order of time.
    column
        The one that marks them or holds their time; null at random.
    is_selection_drawn
        Whether the column marks rows to train on and to hold out alone, so that those to choose by were drawn.
    starts
        By time, the times at which selection and holdout start, where they have rows.
    group_column, members
        The column whose rows stay together, and how many different values it has; null and 0 without one.
    straddling
        How many of them have rows in more than one split all the same, as another column marks them so.
    """

    how: Literal["random", "column", "time"]
    column: str | None = None
    is_selection_drawn: bool = False
    starts: tuple[str, ...] = ()
    group_column: str | None = None
    members: int = 0
    straddling: int = 0


class SplitRows(Value, frozen=True):
    """Which row is in which split.

    Attributes
    ----------
    packed
        Two bits for each row of the table, in its order and four to a byte, the first in the lowest bits: 0 train,
        1 selection, 2 holdout, 3 none of them.
    rows
        How many rows are told; those of the table that follow are in none.
    """

    packed: bytes
    rows: int

    @classmethod
    def of(cls, owners: bytes) -> SplitRows:
        """Pack the splits of all rows, one byte each."""
        padded = owners + bytes(-len(owners) % 4)
        packed = bytes(a | b << 2 | c << 4 | d << 6 for a, b, c, d in zip(*[iter(padded)] * 4, strict=True))
        return cls(packed, len(owners))

    def of_split(self, split: Split) -> list[int]:
        """List the rows of one split, counted from 0 in the table."""
        wanted = SPLITS.index(split)
        return [row for row in range(self.rows) if self.packed[row // 4] >> 2 * (row % 4) & 3 == wanted]


class LabelWeights(Value, frozen=True):
    """What rows count in total, by label, with the sums of squares that say how much they tell."""

    unfavourable: float
    favourable: float
    squared_unfavourable: float
    squared_favourable: float


class WeightFacts(Value, frozen=True):
    """What rows count, where a column says so.

    Attributes
    ----------
    column
        The column; the weights of each split are divided by their mean.
    left_out
        Rows of weight 0, which are in no split.
    train, selection, holdout
        Rows of equal weight that would tell as much, (sum of weights)^2 / sum of squares (Kish); all rows of the split
        if they count alike.
    """

    column: str
    left_out: int
    train: float
    selection: float
    holdout: float


class GroupSizes(Value, frozen=True):
    """The rows of one group.

    Attributes
    ----------
    selection_positives, holdout_positives
        Those of them whose label is favourable.
    is_small
        Whether selection or holdout has too few of its rows to say much.
    is_compared
        Whether it has a part in gaps, search and choice; a group that is set aside is only shown.
    holdout_weights, selection_weights
        What its rows in the split count; null where all count alike, and in runs that did not keep it.
    """

    name: str
    train: int
    selection: int
    holdout: int
    selection_positives: int
    holdout_positives: int
    is_small: bool
    is_compared: bool = True
    holdout_weights: LabelWeights | None = None
    selection_weights: LabelWeights | None = None

    def rows(self, part: Part) -> int:
        """Return the rows in one split."""
        return self.selection if part == "selection" else self.holdout

    def positives(self, part: Part) -> int:
        """Return the rows with a favourable label in one split."""
        return self.selection_positives if part == "selection" else self.holdout_positives

    def weights(self, part: Part) -> LabelWeights | None:
        """Return what the rows of one split count."""
        return self.selection_weights if part == "selection" else self.holdout_weights


class Regrouped(Value, frozen=True):
    """What was made of the groups of a sensitive column before anything else.

    Attributes
    ----------
    merged
        Groups that were joined, by the name they were given.
    left_out
        Rows by group that have no part in the audit.
    alike
        Names that differ by case or blanks only, and are groups of their own.
    """

    merged: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    left_out: dict[str, int] = msgspec.field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()


class SensitiveColumn(Value, frozen=True):
    """A sensitive column, or the intersection of several.

    Attributes
    ----------
    is_primary
        Whether models are selected by it.
    reference
        The group that others are compared with.
    regrouped
        What was joined or left out before the groups were these.
    """

    column: str
    is_primary: bool
    is_intersection: bool
    reference: str
    groups: tuple[GroupSizes, ...]
    regrouped: Regrouped = Regrouped()

    @property
    def compared(self) -> tuple[GroupSizes, ...]:
        """The groups whose rates make the gaps."""
        return tuple(group for group in self.groups if group.is_compared)

    @property
    def aside(self) -> tuple[GroupSizes, ...]:
        """The groups that are shown but define no gap."""
        return tuple(group for group in self.groups if not group.is_compared)


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
    origin
        How rows came to their splits.
    split_rows
        Which row is in which split; null if it was left out.
    weights
        What rows count; null if no column says so, and all count alike.
    drawn
        The share of the table that the holdout is, if it was drawn with labels and groups in proportion; else 1.
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
    origin: SplitOrigin = SplitOrigin("random")
    split_rows: SplitRows | None = None
    weights: WeightFacts | None = None
    drawn: float = 1.0

    @property
    def sensitive_columns(self) -> list[str]:
        """The names of the sensitive columns, without their intersection."""
        return [column.column for column in self.sensitive if not column.is_intersection]

    @property
    def primary(self) -> SensitiveColumn | None:
        """The column that models are selected by; None if none was named."""
        return next((column for column in self.sensitive if column.is_primary), None)
