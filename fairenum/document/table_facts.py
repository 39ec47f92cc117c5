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
        What the remark says, as a code such as ``date_column``; each kind has a sentence in reports.
    column
        The column; empty for a remark about the file.
    detail
        A text that the sentence about the remark contains, such as the way numbers are written, the only value of a
        column or the separator. Never the value of a single row.
    count
        Number of different values of the column, or for ``missing_marks`` of its cells that were read as missing; 0 if
        the kind of remark mentions no number.
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
        Number of rows without a value in the column.
    """

    name: str
    kind: Literal["numeric", "categorical"]
    missing: int


class ClassCounts(Value, frozen=True):
    """Numbers of rows by label."""

    favourable: int
    unfavourable: int


class SplitSizes(Value, frozen=True):
    """Numbers of rows by split."""

    train: int
    selection: int
    holdout: int


class SplitOrigin(Value, frozen=True):
    """How rows were assigned to splits.

    Attributes
    ----------
    how
        At random, by a column that names the split of each row, or in the order of time.
    column
        The column that names splits or holds times; null if rows were assigned at random.
    is_selection_drawn
        Whether the column names only train and test rows, so that the selection split was drawn at random from the
        train rows.
    starts
        The times at which the selection split and the holdout start, if they have rows; empty unless split by time.
    group_column
        A column, such as of persons, that keeps all rows of one value in one split; null if there is none.
    members
        Number of different values of that column; 0 if there is none.
    straddling
        Number of these values that have rows in more than one split, as the split column assigns them.
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
        Two bits for each row, in the order of the table: 0 train, 1 selection, 2 holdout, 3 no split. A byte has four
        rows, the first in its lowest bits.
    rows
        Number of rows in `packed`; any further rows of the table are in no split.
    """

    packed: bytes
    rows: int

    @classmethod
    def of(cls, owners: bytes) -> SplitRows:
        """Return the packed splits of all rows, given a byte for each: 0 train, 1 selection, 2 holdout, 3 no split."""
        padded = owners + bytes(-len(owners) % 4)
        packed = bytes(a | b << 2 | c << 4 | d << 6 for a, b, c, d in zip(*[iter(padded)] * 4, strict=True))
        return cls(packed, len(owners))

    def of_split(self, split: Split) -> list[int]:
        """Return the row numbers of one split, counted from 0 in the table."""
        wanted = SPLITS.index(split)
        return [row for row in range(self.rows) if self.packed[row // 4] >> 2 * (row % 4) & 3 == wanted]


class LabelWeights(Value, frozen=True):
    """Sums of the weights of rows by label, and sums of squared weights, from which effective sample sizes follow."""

    unfavourable: float
    favourable: float
    squared_unfavourable: float
    squared_favourable: float

    def of_label(self, label: int) -> tuple[float, float]:
        """Return the sums of weights and of squared weights of the rows with a label (1: favourable)."""
        return (self.favourable, self.squared_favourable) if label else (self.unfavourable, self.squared_unfavourable)


class WeightFacts(Value, frozen=True):
    """Facts about row weights, where a column of the table has weights.

    Attributes
    ----------
    column
        The column of weights; the weights of each split are divided by their mean.
    left_out
        Number of rows of weight 0, which are in no split.
    train, selection, holdout
        Kish's effective sample size of the split, (sum of weights)^2 / sum of squared weights, which is the number of
        its rows if all weights are equal.
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
        Number of rows with a favourable label in the selection split and in the holdout.
    is_small
        Whether the group has fewer rows than `min_group_size` in the selection split or the holdout.
    is_compared
        Whether the group counts in gaps, in the search for fairer models and in the choice of a model; other groups are
        only shown.
    holdout_weights, selection_weights
        Weights of the rows in the split; null if all rows have the same weight, or the run did not record weights.
    confirmable
        Smallest narrowing of the gap to the reference group that the holdout confirms with a power of 80 %, if the
        selected model and the reference decide alike about 95 % of the rows (80 % if the reference is the model in
        use); null for the reference group, for groups that are not compared, and for gaps in precision.
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
    confirmable: float | None = None

    def rows(self, part: Part) -> int:
        """Return the number of rows of the group in one split."""
        return self.selection if part == "selection" else self.holdout

    def positives(self, part: Part) -> int:
        """Return the number of rows of the group with a favourable label in one split."""
        return self.selection_positives if part == "selection" else self.holdout_positives

    def by_label(self, part: Part) -> tuple[int, int]:
        """Return the numbers of rows of the group in one split with an unfavourable and with a favourable label."""
        return self.rows(part) - self.positives(part), self.positives(part)

    def weights(self, part: Part) -> LabelWeights | None:
        """Return the group's weights in one split; None if all rows have the same weight or none are recorded."""
        return self.selection_weights if part == "selection" else self.holdout_weights


class Regrouped(Value, frozen=True):
    """Changes made to the groups of a sensitive column while the table was read.

    Attributes
    ----------
    merged
        Groups that were joined, by the name of the new group.
    left_out
        Number of rows that were left out, by group.
    alike
        Sets of group names that differ only by case or blanks; each name is still a group of its own.
    """

    merged: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    left_out: dict[str, int] = msgspec.field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()


class ComparedColumn(Value, frozen=True):
    """A sensitive column, or an intersection of several, whose groups are compared.

    Attributes
    ----------
    is_primary
        Whether models are selected by gaps in this column, and rules given by users test these gaps.
    reference
        The group that the other groups are compared with.
    regrouped
        Groups that were joined or left out while the table was read.
    """

    column: str
    is_primary: bool
    is_intersection: bool
    reference: str


class SensitiveColumn(ComparedColumn, frozen=True):
    """A sensitive column of an audit, or the intersection of several sensitive columns."""

    groups: tuple[GroupSizes, ...]
    regrouped: Regrouped = Regrouped()

    @property
    def compared(self) -> tuple[GroupSizes, ...]:
        """The groups between which gaps are measured."""
        return tuple(group for group in self.groups if group.is_compared)

    @property
    def aside(self) -> tuple[GroupSizes, ...]:
        """The groups that reports show but that no gap takes into account."""
        return tuple(group for group in self.groups if not group.is_compared)


class TableFacts(Value, frozen=True):
    """Facts about the audited table, and about its splits and its encoding.

    Attributes
    ----------
    fingerprint
        The sha256 of the content of the table.
    columns
        Number of columns that the audit uses: features, label and sensitive columns.
    encoded
        Names of the columns of the encoded matrix.
    splits
        Number of rows by split.
    missing
        Number of missing values by feature; a missing number is replaced by the median of the training rows, a missing
        text is treated as one more value.
    dropped
        Features left out of training, as they have a single value in all training rows.
    unseen
        Number of rows with a value that is in no training row, by feature.
    pooled
        Number of values that share one encoded column, as they are rare in the training rows, by feature.
    remarks
        Remarks made while the table was read: columns left out, and columns that were probably misread.
    identical_rows
        Number of training rows that repeat another training row in all encoded features and the label.
    examples
        Number of training examples of the SVM; identical rows are one example, unless the option ``rows`` is set.
    origin
        How rows were assigned to splits.
    split_rows
        The split of every row; null if the document was saved without it.
    weights
        Facts about row weights; null if all rows have the same weight.
    drawn
        The share of the table's rows that are in the holdout, if the holdout is a random sample stratified by label and
        group; otherwise 1.
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
        """The names of the single sensitive columns, without any intersection of them."""
        return [column.column for column in self.sensitive if not column.is_intersection]

    @property
    def primary(self) -> SensitiveColumn | None:
        """The sensitive column by whose gaps models are selected; None if no sensitive column was named."""
        return next((column for column in self.sensitive if column.is_primary), None)
