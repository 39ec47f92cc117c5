"""What a score measures between groups: who scores high, how well it ranks, what it selects at any cutoff."""

from __future__ import annotations

from fairenum.document.impact import GroupTable
from fairenum.document.value import Estimate, Value


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
    """A score at one cutoff; limits hold one by one.

    Attributes
    ----------
    cutoff
        Scores of at least this are selected, or of at most this where lower is better.
    rates
        Selection rates of the groups, in the order of the scoring table.
    gap, ratio
        Demographic parity: largest difference, and smallest ratio.
    accuracy
        Null without a label.
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
        Scores from the one to the other.
    rows
        Of each group, in the order of the scoring table.
    rates
        Share of these with a favourable label.
    """

    low: float
    high: float
    rows: tuple[int, ...]
    rates: tuple[Estimate, ...]


class ColumnRanking(Value, frozen=True):
    """A score between the groups of one sensitive column.

    Attributes
    ----------
    scoring
        Who scores above the median, as an adverse-impact table of rank 0.
    lowest
        The smallest ratio of two scoring rates; limits hold for all groups together.
    groups
        In the order of that table.
    sweep
        From the most favourable cutoff down.
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
    """A score of all measured rows.

    Attributes
    ----------
    median
        Of all measured rows.
    at_median
        Rows that have exactly this score, and so are not above it.
    auc
        Over all rows; null without a label.
    columns
        In the order of the table's sensitive columns.
    is_lower_better
        Lower scores are favourable: whoever is said to score above the median scores below it, and a positive
        difference of means is one towards lower scores.
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
        """Return what is measured in one sensitive column."""
        return next(one for one in self.columns if one.column == column)


class ModelScore(Value, frozen=True):
    """What a model ranks the rows of the holdout by; the model in use has rank 0."""

    rank: int
    score: MeasuredScore
