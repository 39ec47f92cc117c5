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
    """The selection rate of a group, compared with other groups."""

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


# One field for each rate of the registry that needs labels; type checkers do not know these fields.
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
    """One group of an adverse-impact table.

    Attributes
    ----------
    ratio
        Selection rate as a share of that of the most selected group.
    difference
        Selection rate minus that of the reference group; limits hold one by one.
    p
        P-value of a test that the rate equals that of the reference group.
    shortfall
        Number of further rows of the group that would be selected at the rate of the most selected group.
    detectable
        The smallest true difference to the reference group that a sample of this size usually shows.
    is_compared
        Whether the group has a part in gaps, search and choice.
    true_positive_rate, false_positive_rate
        Shares of the rows with a favourable and with an unfavourable label that are selected; limits hold one by one,
        as for all rates. Null in runs that did not keep them.
    precision
        Share of the selected rows whose label is favourable.
    base_rate
        Share of all rows whose label is favourable.
    """

    base_rate: Estimate = Estimate()

    def of(self, rate: ComparedRate) -> Estimate:
        """Return one rate of the group."""
        found: Estimate = getattr(self, rate.column)
        return found


class GroupTable(Value, frozen=True):
    """An adverse-impact table on the holdout.

    Attributes
    ----------
    most_selected
        The group that ratio and shortfall refer to: the one with the highest rate among the compared groups, without
        small ones if others remain.
    is_weighted
        Whether rows have different weights: n and selected count rows, rates and all that follows from them are
        weighted, and a shortfall is in rows of average weight.
    """

    rank: int
    column: str
    reference: str
    most_selected: str | None
    groups: tuple[GroupRow, ...]
    is_weighted: bool = False


class ChangedEstimate(Estimate, frozen=True):
    """An estimate with its change against the reference.

    Attributes
    ----------
    change
        The change; limits hold for all models together. Null where nothing can be compared.
    """

    change: Estimate | None = None


class GapEstimate(ChangedEstimate, frozen=True):
    """A gap between groups, its change against the reference, and the verdict.

    Attributes
    ----------
    verdict
        Null where nothing can be compared.
    """

    verdict: Verdict | None = None


def _with_metrics(base: type[Value], name: str, measures: Mapping[str, bool], kind: type[Estimate]) -> type[Value]:
    """Add a field for each measure; measures that are newer than some saved documents are optional, and come last."""
    known = [(measure, kind) for measure, is_later in measures.items() if not is_later]
    later = [(measure, kind, kind()) for measure, is_later in measures.items() if is_later]
    fields = defstruct(name, known, bases=(base,), frozen=True)
    found = defstruct(f"Later{name}", later, bases=(fields,), frozen=True, kw_only=True)
    return cast(type[Value], found)


if TYPE_CHECKING:  # so that editors complete these names; `gap` and `ratio` reach every entry of the registry

    class GapFields(Value, frozen=True):
        """A field for each gap."""

        demographic_parity_difference: GapEstimate
        equal_opportunity_difference: GapEstimate
        equalized_odds_difference: GapEstimate
        predictive_parity_difference: GapEstimate
else:
    GapFields = _with_metrics(Value, "GapFields", {one.key: one.is_later for one in METRICS}, GapEstimate)


class GapScores(GapFields, frozen=True):
    """The gaps between the groups of a sensitive column: a field for each metric of the registry."""

    def gap(self, metric: Gap) -> GapEstimate:
        """Return one gap by its name."""
        gap: GapEstimate = getattr(self, metric)
        return gap


if TYPE_CHECKING:

    class RatioFields(GapScores, frozen=True):
        """A field for each gap and each ratio."""

        demographic_parity_ratio: Estimate
        equal_opportunity_ratio: Estimate
        equalized_odds_ratio: Estimate
else:
    ratios = {one.ratio: one.is_later for one in METRICS if one.ratio}
    RatioFields = _with_metrics(GapScores, "RatioFields", ratios, Estimate)


class GroupScores(RatioFields, frozen=True):
    """The gaps and ratios between the groups of a sensitive column: a field for each that the registry has."""

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
    """Total weights of the selected rows of each group, where rows have different weights.

    Attributes
    ----------
    false_positives, true_positives
        Sums over the selected rows with an unfavourable and with a favourable label.
    squared_false_positives, squared_true_positives
        Sums of squared weights over the same rows, for the effective number of rows.
    """

    false_positives: tuple[float, ...]
    true_positives: tuple[float, ...]
    squared_false_positives: tuple[float, ...]
    squared_true_positives: tuple[float, ...]

    def of_label(self, group: int, label: int) -> tuple[float, float]:
        """The weight of a group's selected rows with one label (1 is favourable), and its sum of squares."""
        if label:
            return self.true_positives[group], self.squared_true_positives[group]
        return self.false_positives[group], self.squared_false_positives[group]


class ColumnScores(GroupScores, frozen=True):
    """The gaps between the groups of one sensitive column, or of an intersection, and the counts behind them.

    Attributes
    ----------
    selected
        Rows that get the favourable outcome, by group in the order of dataset.sensitive.
    true_positives
        Selected rows whose label is favourable.
    weights
        Weights of these rows; null where all count alike.
    shared
        Selected rows that the reference also selects; empty in runs that did not count them.
    """

    selected: tuple[int, ...]
    true_positives: tuple[int, ...]
    weights: SelectedWeights | None = None
    shared: tuple[int, ...] = ()

    def selected_by_label(self, code: int) -> tuple[int, int]:
        """Return the selected rows of a group with an unfavourable and with a favourable label."""
        return self.selected[code] - self.true_positives[code], self.true_positives[code]


class SplitScores(GroupScores, frozen=True, kw_only=True):
    """One model on one split. The gaps are those of the primary sensitive column; all are null without one.

    Attributes
    ----------
    performance
        By the measure that models are chosen by.
    auc
        AUC of the decision values; null in runs that did not measure it.
    together
        On the holdout, measures with limits that hold for all models together, as for a model that was chosen after
        the holdout was seen.
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
        """Return one measure by its name."""
        measure: Estimate = getattr(self, name)
        return measure


class BaselineScores(GapScores, frozen=True):
    """Scores of another mitigation on the holdout; performance is by the measure that models are chosen by."""

    rows: int
    accuracy: ChangedEstimate
    selection_rate: Estimate
    performance: ChangedEstimate


class GroupRanking(Value, frozen=True):
    """A score within one group.

    Attributes
    ----------
    scoring_ratio
        Scoring rate as a share of that of the group that scores above the median most often.
    difference
        Mean score minus that of the reference group, in standard deviations; above 0 is more favourable.
    auc
        Null without a label, or where the group has one label only.
    false_positive_rates, true_positive_rates
        Points of the ROC curve; empty without one.
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
    """Selection by a score at one cutoff; limits hold one by one.

    Attributes
    ----------
    cutoff
        Scores of at least this are selected, or of at most this where lower is better.
    rates
        Selection rates of the groups, in the order of the scoring table.
    gap, ratio
        Demographic parity: largest difference, and smallest ratio.
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
    """Rows of about the same score, group by group.

    Attributes
    ----------
    low, high
        Lowest and highest score of the bin.
    rows
        Rows of each group, in the order of the scoring table.
    rates
        Share of these rows with a favourable label.
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
        Shares that score above the median, as an adverse-impact table of rank 0.
    lowest
        The smallest ratio of two scoring rates; limits hold for all groups together.
    groups
        In the order of the scoring table.
    sweep
        Cutoffs, from the most favourable down.
    calibration
        Empty without a label.
    """

    scoring: GroupTable
    lowest: Estimate
    groups: tuple[GroupRanking, ...]
    sweep: tuple[CutoffPoint, ...]
    calibration: tuple[CalibrationBin, ...] = ()

    @property
    def column(self) -> str:
        """The sensitive column."""
        return self.scoring.column


class MeasuredScore(Value, frozen=True):
    """A score of all measured rows, and its measures.

    Attributes
    ----------
    median
        Median over all measured rows.
    at_median
        Rows with exactly the median score, which do not count as above it.
    auc
        Over all rows; null without a label.
    columns
        In the order of the table's sensitive columns.
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
    """The score by which a model ranks the rows of the holdout; the model in use has rank 0."""

    rank: int
    score: MeasuredScore
