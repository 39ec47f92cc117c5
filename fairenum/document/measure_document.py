"""The document of a measurement: how fair the decisions and scores of a model, a tool or people are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import msgspec

from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import MeasureCaution
from fairenum.document.header import Document
from fairenum.document.metric_registry import metric_of
from fairenum.document.options import (
    DATA,
    STATISTICS,
    Options,
    documented,
    flag,
    like,
    mapping,
    names,
    number,
    part,
    shown,
    split_names,
    text,
    whole,
)
from fairenum.document.period_facts import PeriodMeasures
from fairenum.document.probable_facts import ProbableMeasures
from fairenum.document.reading import CutoffText, Reading
from fairenum.document.scores import ColumnScores, GroupTable, MeasuredScore
from fairenum.document.strata_facts import FactorHint, GivenMeasures
from fairenum.document.table_facts import ComparedColumn, Regrouped, Remark
from fairenum.document.terms import Gap, Measure, SmallGroups
from fairenum.document.value import Estimate, Value
from fairenum.errors import ConfigError

# Reading options that apply to a measurement, which trains no model.
READ = ("bands", "decimal", "delimiter", "sheet", "merge", "only", "exclude", "tidy_groups", "group_column")


def _is_columns(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(column, str) and name and column for name, column in value.items()
    )


def _parse_columns(text: str) -> list[tuple[str, str]]:
    """Return the groups and their columns that a text such as ``white=p_white,black=p_black`` states."""
    pairs = [tuple(map(str.strip, part.split("=", 1))) for part in split_names(text)]
    if not pairs or any(len(pair) < 2 or not all(pair) for pair in pairs):
        raise ValueError(f"{shown(text)} is no list of groups and columns, such as white=p_white,black=p_black")
    return [(pair[0], pair[1]) for pair in pairs]


def _joined_columns(parts: Iterable[list[tuple[str, str]]]) -> dict[str, str]:
    pairs = [pair for part in parts for pair in part]
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a group is named twice; give each one column")
    return dict(pairs)


@documented
@dataclass(frozen=True, slots=True)
class MeasureConfig(Options):
    """Options of a measurement, apart from the table and the names of its columns."""

    subject: ClassVar[str] = "a measurement"

    reading: Reading = part(
        Reading,
        "How the table is read; only the options about groups and about the file apply.",
        {"group_column": {"panel": DATA, "help": "Column of persons or firms that can have several rows."}},
    )
    given: tuple[str, ...] = names(
        (),
        metavar="COLUMN",
        help="Column of a legitimate factor, within whose values groups are compared as well; repeatable.",
    )
    group_probabilities: Mapping[str, str] = mapping(
        metavar="GROUP=COLUMN,..",
        test=_is_columns,
        must="names of groups, each with the column of its probabilities",
        parse=_parse_columns,
        gather=_joined_columns,
        help="Groups that are known by probability only, each with its column of probabilities; repeatable.",
    )
    by: str | None = text(
        None,
        metavar="COLUMN",
        help="Column of periods (months, quarters, dates, whole numbers) to measure one by one.",
    )
    baseline: int | None = whole(
        None,
        0,
        400,
        metavar="N",
        panel=STATISTICS,
        unset="1; 0 if limit and reference are given",
        help="Number of first periods (--by) that set the limits of the alarm, and are not watched.",
    )
    limit: float | None = number(
        None,
        0.0,
        1.0,
        metavar="GAP",
        panel=STATISTICS,
        unset="what the first periods show",
        help="Difference of rates between a group and the control group beyond which there is an alarm (--by).",
    )
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
    control: str | None = like(AuditConfig, "control", unset="the largest")
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
        if self.by is None and (self.baseline, self.limit) != (None, None):
            name = "limit" if self.baseline is None else "baseline"
            raise ConfigError(
                f"option {name!r} (--{name}) is about periods, and there are none; name their column with by=... (--by)"
            )
        if self.baseline == 0 and (self.limit is None or self.control is None):
            raise ConfigError(
                "without first periods (baseline=0, --baseline 0), the alarm needs a limit (--limit) and a control "
                "group (--control)"
            )

    @property
    def fewest(self) -> int | None:
        """The number of rows that a group needs to be compared with others; None if all groups are compared."""
        return None if self.small_groups == "keep" else self.min_group_size


FourFifths = Literal["kept", "violated", "open"]
FOUR_FIFTHS = 0.8


class MeasuredColumn(ComparedColumn, frozen=True):
    """A sensitive column of a measurement, or the intersection of several sensitive columns.

    Attributes
    ----------
    unknown
        Number of rows without a value in the column; in an intersection, in at least one of its columns.
    """

    unknown: int = 0
    regrouped: Regrouped = Regrouped()


class MeasuredTable(Value, frozen=True):
    """The table whose decisions or scores were measured.

    Attributes
    ----------
    fingerprint
        The sha256 of the measured content; it does not depend on the order of the rows, nor on the form of the table.
    form
        Whether the table lists single rows, or numbers of rows by group.
    rows
        Number of rows that were measured.
    undecided
        Number of rows without a decision or a score, which were left out.
    left_out
        Number of rows that were left out, by the column in which they have no value.
    label, favourable, unfavourable
        The column of true outcomes and its two values; null without such a column. The values are also null where a
        table of counts does not name them.
    positives
        Number of measured rows with a favourable label; null without a label.
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
        """The names of the single sensitive columns, without any intersection of them."""
        return [column.column for column in self.sensitive if not column.is_intersection]

    @property
    def primary(self) -> MeasuredColumn:
        """The sensitive column whose gaps and ratios are tested by rules that users give."""
        return next(column for column in self.sensitive if column.is_primary)


class GroupMeasures(Value, frozen=True):
    """Measures of one group that its row of the adverse-impact table does not have.

    Attributes
    ----------
    ratio
        Selection rate divided by that of the most selected group; the confidence limits treat the latter as known.
    positives, accuracy
        Number of rows with a favourable label, and share of decisions that agree with the label; null without a label.
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
        The adverse-impact table; its `rank` is 1 for the first decisions of the document, 2 for the second, and so on.
    groups
        Further measures of each group, in the order of the adverse-impact table.
    scores
        Gaps and ratios between the groups; changes and verdicts compare with the first decisions of the document.
    given
        The groups compared within strata; null without the option ``given``.
    periods
        Rates and gap by period, and the alarm; null without the option ``by``.
    """

    impact: GroupTable
    groups: tuple[GroupMeasures, ...]
    scores: ColumnScores
    given: GivenMeasures | None = None
    periods: PeriodMeasures | None = None

    @property
    def column(self) -> str:
        """The name of the sensitive column whose groups are compared."""
        return self.impact.column

    def trials(self, measure: Measure) -> dict[str, int]:
        """Return, for each compared group, the smallest denominator of the rates that a gap or ratio compares."""
        metric, found = metric_of(measure), {}
        for code, (one, own) in enumerate(zip(self.impact.groups, self.groups, strict=True)):
            if one.is_compared and metric:
                total = (one.n - (own.positives or 0), own.positives or 0)
                found[one.group] = metric.trials(total, self.scores.selected_by_label(code))
        return found

    @property
    def four_fifths(self) -> FourFifths:
        """Whether the four-fifths rule is "kept" or "violated", or, if the confidence limits allow both, "open".

        The rule is that no compared group's selection rate is below 4/5 of another's.
        """
        ratio = self.scores.ratio("demographic_parity_ratio")
        if ratio.high is not None and ratio.high < FOUR_FIFTHS:
            return "violated"
        return "kept" if ratio.low is not None and ratio.low >= FOUR_FIFTHS else "open"


class MeasuredDecisions(Value, frozen=True):
    """Decisions about all measured rows, with their rates, gaps and ratios.

    Attributes
    ----------
    name
        The name of the decisions in reports.
    how
        Whether the decisions are a column, or come from a score with a given cutoff or with its median as cutoff.
    favourable, unfavourable
        Names of the two decisions in the column; null where they are not named.
    cutoff
        Scores of at least the cutoff are selected, or of at most the cutoff where lower is better; if it is the median,
        scores that equal it are not selected. Null for a column of decisions.
    tied
        Number of rows whose score equals the cutoff, so that all of them get the same decision.
    selected
        Number of rows that get the favourable decision.
    accuracy, balanced_accuracy
        Share of decisions that agree with the label, and mean of this share over the two labels; null without a label.
    is_constant
        Whether all rows of the compared groups of the primary column get the same decision.
    follows_label
        Whether every decision agrees with the label.
    probable
        Rates of groups that are known by probability only; null without the option ``group_probabilities``.
    columns
        Measures by sensitive column, in the order of the table's sensitive columns.
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
    probable: ProbableMeasures | None = None

    def of_column(self, column: str) -> ColumnMeasures:
        """Return the measures for one sensitive column."""
        return next(one for one in self.columns if one.column == column)


class MeasureDocument(Document, frozen=True, kw_only=True, tag="measure"):
    """The result of measuring decisions and scores, without training a model; undefined numbers are null.

    The same input and seed give the same document, apart from timings.

    Attributes
    ----------
    config
        The options, with defaults filled in.
    decisions
        All decisions that were measured; the second and further ones are compared with the first.
    score
        The measured score; null if the table has none.
    factors
        Columns that reverse or remove the difference of the first decisions between groups of a sensitive column; empty
        with the option ``given``.
    warnings
        Cautions for the reader.
    """

    title: ClassVar[str] = "measurement"
    command: ClassVar[str] = "fairenum measure DATA"

    config: MeasureConfig
    dataset: MeasuredTable
    decisions: tuple[MeasuredDecisions, ...]
    score: MeasuredScore | None = None
    factors: tuple[FactorHint, ...] = ()
    warnings: tuple[MeasureCaution, ...] = msgspec.field(default_factory=tuple)

    @property
    def name(self) -> str:
        """The name of the run: that of its table, followed by "-measured"."""
        return f"{self.dataset.name}-measured"

    @property
    def has_label(self) -> bool:
        """Whether the table has a column of true outcomes."""
        return self.dataset.label is not None

    def measure(self, decisions: MeasuredDecisions, measure: Measure) -> Estimate:
        """Return a measure of some decisions by its name; gaps and ratios are those of the primary column."""
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
