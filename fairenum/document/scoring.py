"""How an exported model reads a table, and what it decided about the rows of a new one (`fairenum score`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import field

from fairenum.document.measure_document import ColumnMeasures
from fairenum.document.table_facts import Remark
from fairenum.document.terms import DecimalSign, SmallGroups
from fairenum.document.value import Estimate, Value

READING = "reading_"  # the attribute of an exported pipeline that holds its `ModelReading` as JSON text
Thousands = Literal[",", ".", " ", "'"]


class Notation(Value, frozen=True):
    """How the numbers of a column are written: decimal sign, thousands separator and unit, such as "$1,234.5".

    Attributes
    ----------
    thousands
        The character between groups of three digits; a number may do without it.
    unit
        A currency or "%"; empty if there is none. A percentage has its sign in every cell, a currency need not.
    """

    decimal: DecimalSign
    thousands: Thousands
    unit: str = ""


class CellReading(Value, frozen=True):
    """How the cells of a column become numbers or texts.

    Attributes
    ----------
    notation
        How numbers are written; null for numbers such as 12.5.
    is_coded
        Whether the column held numbers that were taken for texts, so that "007" and "7.0" are the text "7".
    """

    notation: Notation | None = None
    is_coded: bool = False


class FeatureReading(Value, frozen=True):
    """A feature of an exported model: how its cells are read, and its values in the training rows.

    Attributes
    ----------
    ranks
        Texts that are replaced by their position in this list, for texts that were coded as numbers; else empty.
    edges
        Ascending numbers that cut a numeric feature into bins, the deciles of the training rows; else empty.
    least, most
        Smallest and largest number in the training rows; null for texts.
    levels
        The texts in the training rows; empty for numbers.
    counts
        Number of training rows in each bin or with each text.
    missing
        Number of training rows without a value.
    """

    name: str
    kind: Literal["numeric", "categorical"]
    cells: CellReading = CellReading()
    ranks: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    least: float | None = None
    most: float | None = None
    levels: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    missing: int = 0


class GroupReading(Value, frozen=True):
    """A sensitive column: how its cells are read, and the group of each value.

    Attributes
    ----------
    bands
        Upper ends of the bands of a numeric column, which are its groups; empty if each text has a group.
    groups
        The group of each text or band.
    missing
        The group of rows without a value; null if the audit had no such rows.
    """

    column: str
    cells: CellReading = CellReading()
    bands: tuple[float, ...] = ()
    groups: dict[str, str] = field(default_factory=dict)
    missing: str | None = None


class ModelReading(Value, frozen=True):
    """How an exported model reads a table, what it saw in training, and what its decisions are called.

    Attributes
    ----------
    table
        Name of the table that was audited.
    rank, standing
        Rank of the model in its audit, and whether the audit proposed it.
    rows, selected
        Number of holdout rows of the audit, and of those that the model selects, both without weights.
    decimal
        The decimal sign that the user named; null if it was guessed.
    confidence, min_group_size, small_groups
        Options of the audit, which hold for new rows, too.
    """

    version: Literal["1"]
    fairenum: str
    table: str
    label: str
    favourable: str
    unfavourable: str
    rank: int
    standing: str
    rows: int
    selected: int
    features: tuple[FeatureReading, ...]
    sensitive: tuple[GroupReading, ...] = ()
    decimal: DecimalSign | None = None
    confidence: float = 0.95
    min_group_size: int = 30
    small_groups: SmallGroups = "set-aside"


class FeatureNews(Value, frozen=True):
    """What the new rows have in one feature that the training rows had not.

    Attributes
    ----------
    missing
        Number of rows without a value.
    filled
        The number that stands for a missing one, the median of the training rows; null for texts.
    unseen
        Number of rows whose text is in no training row.
    values
        Some of these texts, the most frequent first.
    outside
        Number of rows with a number below the smallest or above the largest of the training rows.
    least, most
        Smallest and largest number of the new rows; null for texts.
    trained
        Smallest and largest number of the training rows; null for texts.
    distance
        Share of the new rows that would have to have another value for the feature to be distributed as in the training
        rows, by tenths of the training rows or by text; null for fewer than 50 rows.
    p
        P-value of a chi-squared test that both are distributed alike; null where it cannot be computed.
    is_shifted
        Whether the distance is at least 0.1 and p below 0.01, divided by the number of features.
    """

    name: str
    missing: int = 0
    filled: float | None = None
    unseen: int = 0
    values: tuple[str, ...] = ()
    outside: int = 0
    least: float | None = None
    most: float | None = None
    trained: tuple[float, float] | None = None
    distance: float | None = None
    p: float | None = None
    is_shifted: bool = False

    @property
    def is_news(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.missing or self.unseen or self.outside or self.is_shifted)


class ScoredTable(Value, frozen=True):
    """What an exported model decided about the rows of a new table, and what these rows have that is new to it.

    Attributes
    ----------
    name, rows
        Name of the new table, and its number of rows.
    model, sha256
        Name of the model file, and its sha256.
    audited
        Name of the table that the model was audited on.
    selected, selection_rate
        Number and share of the rows with a favourable decision.
    audited_rate
        The share of the audit's holdout rows that the model selects, each row counted once.
    change, p
        Selection rate minus that of the holdout, and the p-value of a test that both are equal.
    features
        What is new in each feature, in the order of the model's features.
    ignored
        Columns of the table that the model does not read, sensitive columns apart.
    lacking
        Sensitive columns of the audit that the table does not have, or that have too many groups to compare.
    strange
        By sensitive column, groups that the audit did not have.
    columns
        Selection rates of the groups of each sensitive column that the table has, and of their intersection.
    """

    name: str
    rows: int
    model: str
    sha256: str
    audited: str
    rank: int
    standing: str
    label: str
    favourable: str
    unfavourable: str
    selected: int
    selection_rate: Estimate
    audited_rate: Estimate
    change: Estimate
    p: float | None
    features: tuple[FeatureNews, ...]
    confidence: float
    ignored: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    strange: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: tuple[ColumnMeasures, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def news(self) -> Iterator[FeatureNews]:
        """The features in which there is something new."""
        return (feature for feature in self.features if feature.is_news)
