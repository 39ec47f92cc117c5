"""Facts about a table: its columns, its groups and its splits."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from fairenum.document.terms import Part, RemarkKind
from fairenum.document.value import Value


class Remark(Value, frozen=True):
    """A remark for the owner of a table about how a column was read, or why it was left out.

    Attributes
    ----------
    kind
        The kind of remark.
    column
        The column; empty for a remark about the file.
    detail
        Detail that the wording needs, such as the form of numbers, the only value or the separator. Never the cell of a
        single row.
    count
        Number of different values of the column, if the kind is about that.
    """

    kind: RemarkKind
    column: str = ""
    detail: str = ""
    count: int = 0


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
    """How rows were assigned to splits.

    Attributes
    ----------
    how
        At random, as a column marks them, or in the order of time.
    column
        The column that marks splits or holds times; null at random.
    is_selection_drawn
        Whether the column marks only train and test rows, so that the selection split was drawn.
    starts
        By time, the times at which selection and holdout start, where they have rows.
    group_column, members
        The column whose rows stay together, and how many different values it has; null and 0 without one.
    straddling
        How many of these values have rows in more than one split, as the split column assigns them.
    """

    how: Literal["random", "column", "time"]
    column: str | None = None
    is_selection_drawn: bool = False
    starts: tuple[str, ...] = ()
    group_column: str | None = None
    members: int = 0
    straddling: int = 0


class SplitRows(Value, frozen=True):
    """The split of every row.

    Attributes
    ----------
    packed
        Two bits for each row of the table, in its order and four to a byte, the first in the lowest bits: 0 train,
        1 selection, 2 holdout, 3 none of them.
    rows
        Number of rows in `packed`; any further rows of the table are in no split.
    """

    packed: bytes
    rows: int

    @classmethod
    def of(cls, owners: bytes) -> SplitRows:
        """Pack the splits of all rows, given as one byte each."""
        padded = owners + bytes(-len(owners) % 4)
        packed = bytes(a | b << 2 | c << 4 | d << 6 for a, b, c, d in zip(*[iter(padded)] * 4, strict=True))
        return cls(packed, len(owners))

    def of_split(self, split: Split) -> list[int]:
        """List the rows of one split, counted from 0 in the table."""
        wanted = SPLITS.index(split)
        return [row for row in range(self.rows) if self.packed[row // 4] >> 2 * (row % 4) & 3 == wanted]


class LabelWeights(Value, frozen=True):
    """Total weights of rows by label, with the sums of squares for the effective number of rows."""

    unfavourable: float
    favourable: float
    squared_unfavourable: float
    squared_favourable: float

    def of_label(self, label: int) -> tuple[float, float]:
        """The weight of the rows with one label (1 is favourable), and its sum of squares."""
        return (self.favourable, self.squared_favourable) if label else (self.unfavourable, self.squared_unfavourable)


class WeightFacts(Value, frozen=True):
    """Weights of the rows, where a column gives them.

    Attributes
    ----------
    column
        The column of weights; the weights of each split are divided by their mean.
    left_out
        Rows of weight 0, which are in no split.
    train, selection, holdout
        Effective number of rows, (sum of weights)^2 / sum of squares (Kish); all rows of the split if they count alike.
    """

    column: str
    left_out: int
    train: float
    selection: float
    holdout: float


class GroupSizes(Value, frozen=True):
    """Numbers of rows of one group.

    Attributes
    ----------
    selection_positives, holdout_positives
        Rows whose label is favourable.
    is_small
        Whether the group has fewer rows than `min_group_size` in the selection split or the holdout.
    is_compared
        Whether the group counts in gaps, search and choice; a group that is set aside is only shown.
    holdout_weights, selection_weights
        Weights of the rows in the split; null where all count alike, and in runs that did not keep them.
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
        """Return the number of rows in one split."""
        return self.selection if part == "selection" else self.holdout

    def positives(self, part: Part) -> int:
        """Return the number of rows with a favourable label in one split."""
        return self.selection_positives if part == "selection" else self.holdout_positives

    def by_label(self, part: Part) -> tuple[int, int]:
        """Return the numbers of rows in one split with an unfavourable and with a favourable label."""
        return self.rows(part) - self.positives(part), self.positives(part)

    def weights(self, part: Part) -> LabelWeights | None:
        """Return the weights of the rows in one split."""
        return self.selection_weights if part == "selection" else self.holdout_weights


class Regrouped(Value, frozen=True):
    """Changes made to the groups of a sensitive column before anything else.

    Attributes
    ----------
    merged
        Groups that were joined, by the name they were given.
    left_out
        Rows left out of the audit, by group.
    alike
        Names that differ only by case or blanks, and were kept as separate groups.
    """

    merged: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    left_out: dict[str, int] = msgspec.field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()


class ComparedColumn(Value, frozen=True):
    """A column, or an intersection of several, whose groups are compared.

    Attributes
    ----------
    is_primary
        Whether models are selected by this column, and rules apply to it.
    reference
        The group that others are compared with.
    regrouped
        Groups that were joined or left out first.
    """

    column: str
    is_primary: bool
    is_intersection: bool
    reference: str


class SensitiveColumn(ComparedColumn, frozen=True):
    """A sensitive column of an audit, or the intersection of several."""

    groups: tuple[GroupSizes, ...]
    regrouped: Regrouped = Regrouped()

    @property
    def compared(self) -> tuple[GroupSizes, ...]:
        """The groups that count in gaps."""
        return tuple(group for group in self.groups if group.is_compared)

    @property
    def aside(self) -> tuple[GroupSizes, ...]:
        """The groups that are shown but do not count in gaps."""
        return tuple(group for group in self.groups if not group.is_compared)


class TableFacts(Value, frozen=True):
    """The table, and how it was split and encoded.

    Attributes
    ----------
    fingerprint
        The sha256 of its content.
    columns
        Number of columns in use: features, label and sensitive.
    encoded
        Names of the columns of the encoded matrix.
    splits
        Rows by split.
    missing
        Missing cells by feature; numbers get the median of the training rows, a missing text is a value of its own.
    dropped
        Features that do not vary in the training rows.
    unseen
        Cells whose value is in no training row, by feature.
    pooled
        Number of values that share one encoded column, as they are rare in the training rows, by feature.
    remarks
        Remarks made while the table was read: columns left out, and columns that were probably misread.
    identical_rows
        Training rows that repeat another in all encoded features and the label.
    examples
        Number of training examples of the SVM.
    origin
        How rows were assigned to splits.
    split_rows
        The split of every row; null if it was left out.
    weights
        Weights of the rows; null if no column gives them, and all count alike.
    drawn
        The holdout's share of the table, if it was drawn with labels and groups in proportion; else 1.
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
