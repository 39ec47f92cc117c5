"""The document of a measurement: fairness of the decisions and scores of a model, a tool or a person in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import msgspec

from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import MeasureCaution
from fairenum.document.header import Document
from fairenum.document.metric_registry import metric_of
from fairenum.document.options import DATA, STATISTICS, Options, documented, flag, like, part
from fairenum.document.reading import CutoffText, Reading
from fairenum.document.scores import ColumnScores, GroupTable, MeasuredScore
from fairenum.document.table_facts import ComparedColumn, Regrouped, Remark
from fairenum.document.terms import Gap, Measure, SmallGroups
from fairenum.document.value import Estimate, Value
from fairenum.errors import ConfigError

# Reading options that apply to a measurement, which learns nothing.
READ = ("bands", "decimal", "delimiter", "sheet", "merge", "only", "exclude", "tidy_groups")


@documented
@dataclass(frozen=True, slots=True)
class MeasureConfig(Options):
    """Options of a measurement, apart from the table."""

    subject: ClassVar[str] = "a measurement"

    reading: Reading = part(Reading, "How the table is read; only the options about groups and about the file apply.")
    cutoff: CutoffText | None = like(
        Reading,
        "incumbent_cutoff",
        panel=DATA,
        unset="no cutoff, or the median if there are no decisions",
        help="Where the score is cut, to decide by it as well.",
    )
    lower_is_better: bool = flag(False, help="Lower scores are favourable.")
    metric: Gap = like(
        AuditConfig, "metric", panel=STATISTICS, help="Gap by which decisions are compared with the first ones."
    )
    primary: str | None = like(AuditConfig, "primary", help="Sensitive column that rules are about, or 'a & b'.")
    reference: str | None = like(AuditConfig, "reference")
    seed: int = like(AuditConfig, "seed", panel=STATISTICS, help="Seed of the bootstrap.")
    confidence: float = like(AuditConfig, "confidence", panel=STATISTICS)
    min_group_size: int = like(
        AuditConfig, "min_group_size", panel=STATISTICS, help="Groups with fewer rows are small."
    )
    small_groups: SmallGroups = like(AuditConfig, "small_groups", panel=STATISTICS)
    same_within: float = like(
        AuditConfig,
        "same_within",
        panel=STATISTICS,
        help="A gap that differs by no more than this from that of the first decisions is the same.",
    )
    replications: int = like(AuditConfig, "replications", panel=STATISTICS)
    data_source: str | None = like(AuditConfig, "data_source")
    data_dates: str | None = like(AuditConfig, "data_dates")

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        plain = Reading()
        for name, value in self.reading.options.items():
            if name not in READ and value != getattr(plain, name):
                raise ConfigError(f"option {name!r} is for tables to learn from, not for a measurement")

    @property
    def fewest(self) -> int | None:
        """Fewest rows of a compared group; None if all groups are compared."""
        return None if self.small_groups == "keep" else self.min_group_size


FourFifths = Literal["kept", "violated", "open"]
FOUR_FIFTHS = 0.8


class MeasuredColumn(ComparedColumn, frozen=True):
    """A sensitive column of a measurement, or the intersection of several.

    Attributes
    ----------
    unknown
        Rows without a value in the column, or in at least one of several.
    """

    unknown: int = 0
    regrouped: Regrouped = Regrouped()


class MeasuredTable(Value, frozen=True):
    """The table that was measured.

    Attributes
    ----------
    fingerprint
        The sha256 of the measured content, in any order of rows; counts and rows of the same content share it.
    form
        Whether the table holds rows, or counts by group.
    rows
        Rows that were measured.
    undecided
        Rows without a decision or a score, which were left out.
    left_out
        Number of left-out rows by the column that they lack.
    label, favourable, unfavourable
        The true outcome and its two values; null without a label; the values are null, too, where counts do not
        name them.
    positives
        Measured rows with a favourable label.
    remarks
        Remarks made while the file was read.
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
        """The sensitive column that rules apply to."""
        return next(column for column in self.sensitive if column.is_primary)


class GroupMeasures(Value, frozen=True):
    """Measures of one group beyond its row of an adverse-impact table.

    Attributes
    ----------
    ratio
        Selection rate as a share of that of the most selected group, whose rate the limits take as known.
    positives, accuracy
        Rows with a favourable label, and the share of decisions that agree with the label; null without a label.
    """

    group: str
    ratio: Estimate
    positives: int | None = None
    accuracy: Estimate = Estimate()


class ColumnMeasures(Value, frozen=True):
    """Decisions compared between the groups of one sensitive column.

    Attributes
    ----------
    impact
        The adverse-impact table; its rank is the number of the decisions.
    groups
        Further measures, in the order of the adverse-impact table.
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
        """Count the rows behind the rates of a gap or ratio, by compared group; of two rates, the fewer."""
        metric, found = metric_of(measure), {}
        for code, (one, own) in enumerate(zip(self.impact.groups, self.groups, strict=True)):
            if one.is_compared and metric:
                total = (one.n - (own.positives or 0), own.positives or 0)
                found[one.group] = metric.trials(total, self.scores.selected_by_label(code))
        return found

    @property
    def four_fifths(self) -> FourFifths:
        """Whether the four-fifths rule is shown to be kept: no group's selection rate is below 4/5 of another's."""
        ratio = self.scores.ratio("demographic_parity_ratio")
        if ratio.high is not None and ratio.high < FOUR_FIFTHS:
            return "violated"
        return "kept" if ratio.low is not None and ratio.low >= FOUR_FIFTHS else "open"


class MeasuredDecisions(Value, frozen=True):
    """Decisions about all measured rows, and their measures.

    Attributes
    ----------
    name
        The name that reports use.
    how
        Whether the decisions are a column, or come from a score that was cut.
    favourable, unfavourable
        Names of the two decisions in the column; null where they are not named.
    cutoff
        Scores of at least this are selected (at most, where lower is better; above, if it is the median).
    tied
        Rows with the score at the cutoff, which no cutoff can divide.
    selected
        Rows that get the favourable outcome.
    accuracy, balanced_accuracy
        Null without a label.
    is_constant
        Whether all rows of the compared groups of the primary column are decided alike.
    follows_label
        Whether every decision agrees with the label.
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
        """Return the measures for one sensitive column."""
        return next(one for one in self.columns if one.column == column)


class MeasureDocument(Document, frozen=True, kw_only=True, tag="measure"):
    """The result of measuring decisions and scores; nothing is trained. Undefined numbers are null.

    The same input and seed give the same document, apart from timings.

    Attributes
    ----------
    config
        The options, as resolved.
    decisions
        All decisions, first those that the others are compared with.
    score
        The score; null without one.
    warnings
        Cautions for the reader.
    """

    title: ClassVar[str] = "measurement"
    command: ClassVar[str] = "fairenum measure DATA"

    config: MeasureConfig
    dataset: MeasuredTable
    decisions: tuple[MeasuredDecisions, ...]
    score: MeasuredScore | None = None
    warnings: tuple[MeasureCaution, ...] = msgspec.field(default_factory=tuple)

    @property
    def name(self) -> str:
        """The name of the run, after its table."""
        return f"{self.dataset.name}-measured"

    @property
    def has_label(self) -> bool:
        """Whether the true outcomes are known."""
        return self.dataset.label is not None

    def measure(self, decisions: MeasuredDecisions, measure: Measure) -> Estimate:
        """Return one measure of decisions by its name; gaps and ratios are those of the primary column."""
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
