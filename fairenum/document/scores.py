"""Scores of models and decisions: rates of groups, gaps and ratios, and measures of scores that rank people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import defstruct

from fairenum.document.metric_registry import METRICS, ComparedRate, compared_rates
from fairenum.document.terms import GAPS, RATIOS, Gap, Measure, Ratio, Verdict
from fairenum.document.value import Estimate, Value


class GroupOutcome(Value, frozen=True):
    """The selection rate of a group, compared with the rates of other groups; `GroupRow` explains the fields."""

    group: str
    n: int
    selected: int
    rate: Estimate
    ratio: float | None
    difference: Estimate
    p: float | None
    shortfall: float | None
    detectable: float | None
    is_small: bool
    is_compared: bool = True


# One more field for each rate in the registry that needs labels; type checkers do not know these fields.
if TYPE_CHECKING:
    LabelledOutcome = GroupOutcome
else:
    LabelledOutcome = defstruct(
        "LabelledOutcome",
        [(rate.column, Estimate, Estimate()) for rate in compared_rates() if rate.needs_label],
        bases=(GroupOutcome,),
        frozen=True,
    )


class GroupRow(LabelledOutcome, frozen=True):
    """One row of an adverse-impact table: a group and its rates.

    The confidence limits of each rate and difference hold for this number alone, not for all numbers at once.

    Attributes
    ----------
    n, selected
        Number of rows of the group, and number of those that are selected.
    rate
        Selection rate: the share of the group's rows that are selected.
    ratio
        Selection rate divided by that of the most selected group.
    difference
        Selection rate minus that of the reference group.
    p
        P-value of a test that the rate equals that of the reference group.
    shortfall
        Number of further rows of the group that would be selected at the rate of the most selected group.
    detectable
        The smallest true difference to the reference group that a sample of this size shows with a probability of 0.8.
    is_small
        Whether the group has fewer rows than the option ``min_group_size``.
    is_compared
        Whether the group counts in gaps, in the search for fairer models and in the choice of a model.
    true_positive_rate, false_positive_rate
        Shares of the rows with a favourable and with an unfavourable label that are selected; null where the run did
        not record them.
    precision
        Share of the selected rows whose label is favourable.
    base_rate
        Share of all rows whose label is favourable.
    """

    base_rate: Estimate = Estimate()

    def of(self, rate: ComparedRate) -> Estimate:
        """Return the group's estimate of one rate of the registry, such as the true positive rate."""
        found: Estimate = getattr(self, rate.column)
        return found


class GroupTable(Value, frozen=True):
    """An adverse-impact table: the selection rates of the groups of one sensitive column; in an audit, on the holdout.

    Attributes
    ----------
    rank
        Rank of the model whose selections are counted; in a measurement, number of the decisions, from 1; 0 also for
        scoring rates.
    reference
        The group that other groups are compared with.
    most_selected
        The group that `ratio` and `shortfall` refer to: the compared group with the highest selection rate, small
        groups excepted unless all are small.
    is_weighted
        Whether rows have different weights. If so, `n` and `selected` still count rows, all rates and comparisons are
        weighted, and a shortfall is a number of rows of average weight.
    """

    rank: int
    column: str
    reference: str
    most_selected: str | None
    groups: tuple[GroupRow, ...]
    is_weighted: bool = False


class ChangedEstimate(Estimate, frozen=True):
    """An estimate, and its change from the reference: model 1, the model in use, or the first measured decisions.

    Attributes
    ----------
    change
        The estimate minus that of the reference, with confidence limits that hold for all models at once; null where
        there is nothing to compare.
    """

    change: Estimate | None = None


class GapEstimate(ChangedEstimate, frozen=True):
    """A gap between groups, its change from the gap of the reference, and the verdict on this change.

    Attributes
    ----------
    verdict
        Whether the gap is shown to be smaller or larger than that of the reference, or the same; null where there is
        nothing to compare.
    """

    verdict: Verdict | None = None


def _with_metrics(base: type[Value], name: str, measures: Mapping[str, bool], kind: type[Estimate]) -> type[Value]:
    """Return a subclass of `base` with a field for each measure; measures marked True are optional, and come last."""
    known = [(measure, kind) for measure, is_later in measures.items() if not is_later]
    later = [(measure, kind, kind()) for measure, is_later in measures.items() if is_later]
    fields = defstruct(name, known, bases=(base,), frozen=True)
    found = defstruct(f"Later{name}", later, bases=(fields,), frozen=True, kw_only=True)
    return cast(type[Value], found)


if TYPE_CHECKING:  # so that editors complete these names; `gap` and `ratio` reach every entry of the registry

    class GapFields(Value, frozen=True):
        """A struct with one field for each gap."""

        demographic_parity_difference: GapEstimate
        equal_opportunity_difference: GapEstimate
        equalized_odds_difference: GapEstimate
        predictive_parity_difference: GapEstimate
else:
    GapFields = _with_metrics(Value, "GapFields", {one.key: one.is_later for one in METRICS}, GapEstimate)


class GapScores(GapFields, frozen=True):
    """The gaps between the groups of a sensitive column, one field for each gap in the registry."""

    def gap(self, metric: Gap) -> GapEstimate:
        """Return one gap by its name."""
        gap: GapEstimate = getattr(self, metric)
        return gap


if TYPE_CHECKING:

    class RatioFields(GapScores, frozen=True):
        """A struct with one field for each gap and each ratio."""

        demographic_parity_ratio: Estimate
        equal_opportunity_ratio: Estimate
        equalized_odds_ratio: Estimate
else:
    ratios = {one.ratio: one.is_later for one in METRICS if one.ratio}
    RatioFields = _with_metrics(GapScores, "RatioFields", ratios, Estimate)


class GroupScores(RatioFields, frozen=True):
    """The gaps and ratios between the groups of a sensitive column, one field for each in the registry."""

    def ratio(self, name: Ratio) -> Estimate:
        """Return one ratio by its name."""
        ratio: Estimate = getattr(self, name)
        return ratio

    @property
    def between_groups(self) -> Mapping[str, Any]:
        """All gaps and ratios by their names."""
        return {name: getattr(self, name) for name in (*GAPS, *RATIOS)}


# Gaps and ratios where there are no groups to compare.
NO_GROUPS: Mapping[str, Any] = {**dict.fromkeys(GAPS, GapEstimate()), **dict.fromkeys(RATIOS, Estimate())}


class SelectedWeights(Value, frozen=True):
    """Sums of the weights of selected rows by group, where rows have different weights.

    Attributes
    ----------
    false_positives, true_positives
        By group, the sums of weights over the selected rows with an unfavourable and with a favourable label.
    squared_false_positives, squared_true_positives
        By group, the sums of squared weights over the same rows, from which effective sample sizes are computed.
    """

    false_positives: tuple[float, ...]
    true_positives: tuple[float, ...]
    squared_false_positives: tuple[float, ...]
    squared_true_positives: tuple[float, ...]

    def of_label(self, group: int, label: int) -> tuple[float, float]:
        """Return the sums of weights and of squared weights of a group's selected rows with a label (1: favourable)."""
        if label:
            return self.true_positives[group], self.squared_true_positives[group]
        return self.false_positives[group], self.squared_false_positives[group]


class ColumnScores(GroupScores, frozen=True):
    """The gaps between the groups of one sensitive column, or of an intersection, and counts of selected rows.

    Attributes
    ----------
    selected
        Number of selected rows by group, in the order of the groups in ``dataset.sensitive``.
    true_positives
        Number of selected rows with a favourable label, by group.
    weights
        Weights of the selected rows; null if all rows have the same weight.
    shared
        Number of selected rows that the reference also selects, by group; empty where the run did not count them.
    inflation
        Factors by which rows of one person or firm, which are alike, inflate the variance of each rate, by group; also
        that of the change of the selection rate. Null if rows are independent.
    correlation
        Correlations of each rate's estimates in every two groups (the first and the second, the first and the third,
        and so on), where rows of one person or firm are in several groups; null if there are none.
    """

    selected: tuple[int, ...]
    true_positives: tuple[int, ...]
    weights: SelectedWeights | None = None
    shared: tuple[int, ...] = ()
    inflation: dict[str, tuple[float, ...]] | None = None
    correlation: dict[str, tuple[float, ...]] | None = None

    def selected_by_label(self, code: int) -> tuple[int, int]:
        """Return the numbers of selected rows of a group with an unfavourable and with a favourable label."""
        return self.selected[code] - self.true_positives[code], self.true_positives[code]


class SplitScores(GroupScores, frozen=True, kw_only=True):
    """The scores of one model on one split.

    Gaps and ratios are those of the primary sensitive column; without such a column they are null.

    Attributes
    ----------
    by_column
        Gaps, ratios and counts by sensitive column.
    performance
        The measure of performance that the option ``performance`` names.
    auc
        AUC of the decision values; null where the run did not measure it.
    together
        On the holdout, the measures with confidence limits that hold for all models at once, and so also for a model
        that was chosen after the holdout was seen.
    """

    rows: int
    accuracy: ChangedEstimate
    balanced_accuracy: Estimate
    selection_rate: Estimate
    hinge_loss: Estimate
    by_column: dict[str, ColumnScores]
    auc: Estimate = Estimate()
    performance: ChangedEstimate
    together: dict[Measure, Estimate] = msgspec.field(default_factory=dict)

    def measure(self, name: Measure) -> Estimate:
        """Return the estimate of one measure by its name."""
        measure: Estimate = getattr(self, name)
        return measure


class BaselineScores(GapScores, frozen=True):
    """Scores of another method of bias mitigation on the holdout; fields are as in `SplitScores`."""

    rows: int
    accuracy: ChangedEstimate
    selection_rate: Estimate
    performance: ChangedEstimate


class GroupRanking(Value, frozen=True):
    """A score within one group: its distribution, and how well it tells favourable from unfavourable labels.

    Attributes
    ----------
    mean, deviation
        Mean and standard deviation of the score in the group.
    scoring_ratio
        Scoring rate, that is the share of the group's rows that score above the median of all rows, divided by the
        highest scoring rate of a group.
    difference
        Mean score minus that of the reference group, divided by the pooled standard deviation of both groups; above 0
        is more favourable.
    auc
        AUC of the score in the group; null without a label, or where all rows of the group have the same label.
    false_positive_rates, true_positive_rates
        Coordinates of the points of the group's ROC curve; empty where there is no curve.
    """

    group: str
    mean: float | None
    deviation: float | None
    scoring_ratio: Estimate
    difference: Estimate
    auc: Estimate = Estimate()
    false_positive_rates: tuple[float, ...] = ()
    true_positive_rates: tuple[float, ...] = ()


class CutoffPoint(Value, frozen=True):
    """Selection by a score at one cutoff, with confidence limits that hold for each number alone.

    Attributes
    ----------
    cutoff
        Scores of at least the cutoff are selected, or of at most the cutoff where lower is better.
    rates
        Selection rates of the groups, in the order of the groups in `ColumnRanking.scoring`.
    gap, ratio
        Largest difference, and smallest ratio, between the selection rates of two groups.
    accuracy
        Accuracy of the decisions; null without a label.
    """

    cutoff: float
    selection_rate: Estimate
    rates: tuple[Estimate, ...]
    gap: Estimate
    ratio: Estimate
    accuracy: Estimate = Estimate()


class CalibrationBin(Value, frozen=True):
    """Rows with similar scores, and the share of favourable labels among them by group.

    Attributes
    ----------
    low, high
        Lowest and highest score of the bin.
    rows
        Number of rows of each group, in the order of the groups in `ColumnRanking.scoring`.
    rates
        Share of these rows with a favourable label, for each group.
    """

    low: float
    high: float
    rows: tuple[int, ...]
    rates: tuple[Estimate, ...]


class ColumnRanking(Value, frozen=True):
    """A score compared between the groups of one sensitive column.

    Attributes
    ----------
    scoring
        An adverse-impact table of scoring rates, in which rows that score above the median count as selected; its
        `rank` is 0.
    lowest
        The smallest ratio of the scoring rates of two groups, with confidence limits that hold for all groups at once.
    groups
        The score within each group, in the order of the groups in `scoring`.
    sweep
        Selection at each of several cutoffs, from the most favourable score down.
    calibration
        Shares of favourable labels by score; empty without a label.
    """

    scoring: GroupTable
    lowest: Estimate
    groups: tuple[GroupRanking, ...]
    sweep: tuple[CutoffPoint, ...]
    calibration: tuple[CalibrationBin, ...] = ()

    @property
    def column(self) -> str:
        """The name of the sensitive column whose groups are compared."""
        return self.scoring.column


class MeasuredScore(Value, frozen=True):
    """A score of all measured rows, and its comparison between groups.

    Attributes
    ----------
    median
        Median score of all measured rows.
    least, most
        Smallest and largest score.
    at_median
        Number of rows whose score equals the median, which do not count as above it.
    auc
        AUC over all rows; null without a label.
    columns
        Comparisons between groups by sensitive column, in the order of the table's sensitive columns.
    is_lower_better
        Whether lower scores are favourable: "above the median" then means below it, and a positive difference of means
        is one towards lower scores.
    """

    name: str
    least: float
    median: float
    most: float
    at_median: int
    columns: tuple[ColumnRanking, ...]
    auc: Estimate = Estimate()
    is_lower_better: bool = False

    def of_column(self, column: str) -> ColumnRanking:
        """Return the measures for one sensitive column."""
        return next(one for one in self.columns if one.column == column)


class ModelScore(Value, frozen=True):
    """The score by which a model ranks rows: those of the holdout, or all rows that the model in use decided.

    Attributes
    ----------
    rank
        Rank of the model, 0 for the model in use.
    rows
        Number of rows, if they are all that the model in use decided; null for the holdout.
    """

    rank: int
    score: MeasuredScore
    rows: int | None = None
