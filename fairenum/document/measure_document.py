"""The document of a measurement: fairness of the decisions and scores of a model, a tool or a person in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal, TypedDict, get_args

import msgspec

from fairenum.document.choice import MeasureCaution
from fairenum.document.header import Document
from fairenum.document.metric_registry import metric_of
from fairenum.document.options import ABOUT_DATA, Options, check_options, check_texts, numbers, require_part, whole
from fairenum.document.reading import Cutoff, CutoffText, Reading
from fairenum.document.scores import ColumnScores, GroupTable, MeasuredScore
from fairenum.document.table_facts import ComparedColumn, Regrouped, Remark
from fairenum.document.terms import GAPS, DecimalSign, Gap, Measure, SmallGroups
from fairenum.document.value import Estimate, Value
from fairenum.errors import ConfigError

# Reading options that apply to a measurement, which learns nothing.
READ = ("bands", "decimal", "delimiter", "sheet", "merge", "only", "exclude", "tidy_groups")


@dataclass(frozen=True, slots=True)
class MeasureConfig(Options):
    """Options of a measurement, apart from the table.

    Parameters
    ----------
    reading
        How the table is read; only the options about groups and about the file apply.
    cutoff
        Where a score is cut into decisions: a number, ``rate=0.3``, ``base-rate`` or ``median``; if None, a score is
        only measured, or cut at the median if the table has no decisions.
    lower_is_better
        Whether lower scores are favourable.
    metric
        The gap of the verdict that compares decisions with the first ones.
    primary
        The sensitive column, or the intersection ("sex & race"), that rules apply to; by default the first.
    reference
        The group of the primary column that others are compared with; by default the largest.
    seed
        Seed of the bootstrap.
    confidence
        Confidence of intervals and verdicts.
    min_group_size
        Groups with fewer rows are small.
    small_groups
        Treatment of small groups, and of rows without a group: "set-aside" shows them, but leaves them out of gaps
        while two others remain; "keep" compares them like the others.
    same_within
        A gap that differs by no more than this from that of the first decisions counts as the same.
    replications
        Replications of the bootstrap.
    data_source, data_dates
        Source of the data, and the period that they cover, as their owner states it: for reports alone.
    """

    subject: ClassVar[str] = "a measurement"

    reading: Reading = field(default_factory=Reading)
    cutoff: CutoffText | None = None
    lower_is_better: bool = False
    metric: Gap = "demographic_parity_difference"
    primary: str | None = None
    reference: str | None = None
    seed: int = 0
    confidence: float = 0.95
    min_group_size: int = 30
    small_groups: SmallGroups = "set-aside"
    same_within: float = 0.02
    replications: int = 1000
    data_source: str | None = None
    data_dates: str | None = None

    def __post_init__(self) -> None:
        require_part(self.reading, "reading", Reading)
        check_texts(self, ABOUT_DATA)
        check_options(self, WORDS, WHOLE, NUMBERS, ("lower_is_better",))
        if self.cutoff is not None:
            object.__setattr__(self, "cutoff", str(Cutoff.of(self.cutoff)))
        plain = Reading()
        for option in fields(Reading):
            if option.name not in READ and getattr(self.reading, option.name) != getattr(plain, option.name):
                raise ConfigError(f"option {option.name!r} is for tables to learn from, not for a measurement")

    @property
    def fewest(self) -> int | None:
        """Fewest rows of a compared group; None if all groups are compared."""
        return None if self.small_groups == "keep" else self.min_group_size


WORDS: Mapping[str, tuple[str, ...]] = {"metric": GAPS, "small_groups": get_args(SmallGroups)}
WHOLE = whole("seed", "min_group_size", "replications")
NUMBERS = numbers("confidence", "same_within")


class MeasureOptions(TypedDict, total=False):
    """Every option of a measurement and of its reading, as keyword arguments."""

    reading: Reading
    bands: Mapping[str, Sequence[float]]
    decimal: DecimalSign | None
    delimiter: str | None
    sheet: str | None
    merge: Mapping[str, Sequence[str]]
    only: Sequence[str]
    exclude: Sequence[str]
    tidy_groups: bool
    cutoff: str | float | None
    lower_is_better: bool
    metric: Gap
    primary: str | None
    reference: str | None
    seed: int
    confidence: float
    min_group_size: int
    small_groups: SmallGroups
    same_within: float
    replications: int
    data_source: str | None
    data_dates: str | None


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
