"""The document of a measurement: decisions and scores of a model, a tool or a person in use, as they are."""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import field

from fairenum.document.header import Document
from fairenum.document.impact import GroupTable
from fairenum.document.measure_config import MeasureConfig
from fairenum.document.measured_score import MeasuredScore
from fairenum.document.remark import Remark
from fairenum.document.scores import ColumnScores
from fairenum.document.table import Regrouped
from fairenum.document.terms import Measure, RemarkKind
from fairenum.document.value import Estimate, Value

MeasureCautionCode = Literal[
    "undecided",
    "no_cutoff",
    "missed_rate",
    "follows_label",
    "constant",
    "regrouped",
    "alike_groups",
    "set_aside",
    "small_group",
    "single_group",
    "no_intersection",
    "low_power",
    RemarkKind,
]
FourFifths = Literal["kept", "violated", "open"]
FOUR_FIFTHS = 0.8


class MeasureCaution(Value, frozen=True):
    """Something to beware of, as a code; reports put it in words with the numbers of the document.

    Attributes
    ----------
    column
        The sensitive column that it is about, if it is about one.
    decision
        The number of the decisions that it is about, from 1.
    """

    code: MeasureCautionCode
    column: str | None = None
    decision: int | None = None


class MeasuredColumn(Value, frozen=True):
    """A sensitive column, or the intersection of several.

    Attributes
    ----------
    is_primary
        Whether rules are about it.
    reference
        The group that others are compared with.
    unknown
        Rows without a value, in one of the columns at least.
    regrouped
        What was joined or left out before the groups were these.
    """

    column: str
    is_primary: bool
    is_intersection: bool
    reference: str
    unknown: int = 0
    regrouped: Regrouped = Regrouped()


class MeasuredTable(Value, frozen=True):
    """The table that was measured.

    Attributes
    ----------
    fingerprint
        The sha256 of what was measured, in whatever order its rows are; counts and rows of one content have one.
    form
        Whether it holds rows, or counts by group.
    rows
        That were measured.
    undecided
        Rows without a decision or a score, which were left out.
    left_out
        How many of these lack each column.
    label, favourable, unfavourable
        What was true in the end; null without a label, the values also where counts do not tell them.
    positives
        Measured rows with a favourable label.
    remarks
        What was noticed while the file was read.
    """

    name: str
    fingerprint: str
    form: Literal["rows", "counts"]
    rows: int
    undecided: int
    left_out: dict[str, int]
    label: str | None
    favourable: str | None
    unfavourable: str | None
    positives: int | None
    sensitive: tuple[MeasuredColumn, ...]
    remarks: tuple[Remark, ...] = ()

    @property
    def sensitive_columns(self) -> list[str]:
        """The names of the sensitive columns, without their intersection."""
        return [column.column for column in self.sensitive if not column.is_intersection]

    @property
    def primary(self) -> MeasuredColumn:
        """The column that rules are about."""
        return next(column for column in self.sensitive if column.is_primary)


class GroupMeasures(Value, frozen=True):
    """What is known about one group beside its row of an adverse-impact table.

    Attributes
    ----------
    ratio
        Selection rate as a share of that of the most selected group, which the limits take as given.
    positives, accuracy
        Rows with a favourable label, and the share that is decided as the label says; null without a label.
    """

    group: str
    ratio: Estimate
    positives: int | None = None
    accuracy: Estimate = Estimate()


class ColumnMeasures(Value, frozen=True):
    """Decisions between the groups of one sensitive column.

    Attributes
    ----------
    impact
        The adverse-impact table; its rank is the number of the decisions.
    groups
        Further rates, in the order of that table.
    scores
        Gaps and ratios between the groups; changes and verdicts are against the first decisions.
    """

    impact: GroupTable
    groups: tuple[GroupMeasures, ...]
    scores: ColumnScores

    @property
    def column(self) -> str:
        """The sensitive column."""
        return self.impact.column

    def trials(self, measure: Measure) -> dict[str, int]:
        """Count the rows that the rates of a gap or ratio are shares of, by compared group; of two rates, the fewer."""
        groups = [(one, own) for one, own in zip(self.impact.groups, self.groups, strict=True) if one.is_compared]
        if measure.startswith("demographic_parity"):
            return {one.group: one.n for one, _ in groups}
        if measure.startswith("predictive_parity"):
            return {one.group: one.selected for one, _ in groups}
        is_single = measure.startswith("equal_opportunity")
        positives = {one.group: (own.positives or 0, one.n) for one, own in groups}
        return {name: found if is_single else min(found, rows - found) for name, (found, rows) in positives.items()}

    @property
    def four_fifths(self) -> FourFifths:
        """What the rows say about the rule that no group is selected at less than four fifths of another's rate."""
        ratio = self.scores.demographic_parity_ratio
        if ratio.high is not None and ratio.high < FOUR_FIFTHS:
            return "violated"
        return "kept" if ratio.low is not None and ratio.low >= FOUR_FIFTHS else "open"


class MeasuredDecisions(Value, frozen=True):
    """Decisions about all measured rows.

    Attributes
    ----------
    name
        What reports call them.
    how
        Whether they stand in a column, or come from a score that was cut.
    favourable, unfavourable
        What the column calls them; null where it does not tell.
    cutoff
        Scores of at least this are selected (at most, where lower is better; above, if it is the median).
    tied
        Rows that a finer cut would have to divide, as they have one score.
    selected
        Rows that get the favourable outcome.
    accuracy, balanced_accuracy
        Null without a label.
    is_constant
        Whether all rows of the compared groups of the primary column are decided alike.
    follows_label
        Whether every decision is what the label says.
    columns
        In the order of the table's sensitive columns.
    """

    name: str
    how: Literal["column", "cutoff", "median"]
    favourable: str | None
    unfavourable: str | None
    selected: int
    selection_rate: Estimate
    is_constant: bool
    columns: tuple[ColumnMeasures, ...]
    cutoff: float | None = None
    tied: int = 0
    accuracy: Estimate = Estimate()
    balanced_accuracy: Estimate = Estimate()
    follows_label: bool = False

    def of_column(self, column: str) -> ColumnMeasures:
        """Return what is measured in one sensitive column."""
        return next(one for one in self.columns if one.column == column)


class MeasureDocument(Document, frozen=True, kw_only=True, tag="measure"):
    """What decisions and scores measure; nothing is trained. Undefined numbers are null.

    Everything but timings is the same for the same input and seed.

    Attributes
    ----------
    config
        The options, as resolved.
    decisions
        Those that others are compared with first.
    score
        Null without one.
    warnings
        What to beware of.
    """

    title: ClassVar[str] = "measurement"
    command: ClassVar[str] = "fairenum measure DATA"

    config: MeasureConfig
    dataset: MeasuredTable
    decisions: tuple[MeasuredDecisions, ...]
    score: MeasuredScore | None = None
    warnings: tuple[MeasureCaution, ...] = field(default_factory=tuple)

    @property
    def name(self) -> str:
        """What the run is called: as its table."""
        return f"{self.dataset.name}-measured"

    @property
    def has_label(self) -> bool:
        """Whether it is known what was true in the end."""
        return self.dataset.label is not None

    def measure(self, decisions: MeasuredDecisions, measure: Measure) -> Estimate:
        """Return one measure of decisions by its name; of gaps and ratios, that of the primary column."""
        match measure:
            case "accuracy" | "performance":
                return decisions.accuracy
            case "balanced_accuracy" | "selection_rate":
                found: Estimate = getattr(decisions, measure)
            case "auc":
                found = self.score.auc if self.score else Estimate()
            case _:
                found = getattr(decisions.of_column(self.dataset.primary.column).scores, measure)
        return found
