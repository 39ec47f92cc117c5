"""What a model measures on the rows of one split."""

from __future__ import annotations

import msgspec
from msgspec.structs import force_setattr

from fairenum.document.terms import Gap, Measure, Verdict
from fairenum.document.value import Estimate, Value


class ChangedEstimate(Estimate, frozen=True):
    """An estimate with its change against the reference.

    Attributes
    ----------
    change
        Limits hold for all models together; null where nothing can be compared.
    """

    change: Estimate | None = None


NOT_MEASURED = ChangedEstimate()


class GapEstimate(ChangedEstimate, frozen=True):
    """A gap between groups, its change against the reference, and what the change shows.

    Attributes
    ----------
    verdict
        Null where nothing can be compared.
    """

    verdict: Verdict | None = None


class GapScores(Value, frozen=True):
    """The gaps between the groups of a sensitive column."""

    demographic_parity_difference: GapEstimate
    equal_opportunity_difference: GapEstimate
    equalized_odds_difference: GapEstimate
    predictive_parity_difference: GapEstimate

    def gap(self, metric: Gap) -> GapEstimate:
        """Return one gap by its name."""
        gap: GapEstimate = getattr(self, metric)
        return gap


class GroupScores(GapScores, frozen=True):
    """Gaps, and the ratios that go with them."""

    demographic_parity_ratio: Estimate
    equal_opportunity_ratio: Estimate
    equalized_odds_ratio: Estimate


class SelectedWeights(Value, frozen=True):
    """What the selected rows of each group count, where rows count differently.

    Attributes
    ----------
    false_positives, true_positives
        Sums over the selected rows with an unfavourable and with a favourable label.
    squared_false_positives, squared_true_positives
        The same sums of squares, which say how much the rows tell.
    """

    false_positives: tuple[float, ...]
    true_positives: tuple[float, ...]
    squared_false_positives: tuple[float, ...]
    squared_true_positives: tuple[float, ...]


class ColumnScores(GroupScores, frozen=True):
    """The gaps between the groups of one sensitive column, or of their intersection, and the counts behind them.

    Attributes
    ----------
    selected
        Rows that get the favourable outcome, by group in the order of dataset.sensitive.
    true_positives
        Those of them whose label is favourable.
    weights
        What these rows count; null where all count alike.
    shared
        The selected rows that the reference selects, too; empty in runs that did not count them.
    """

    selected: tuple[int, ...]
    true_positives: tuple[int, ...]
    weights: SelectedWeights | None = None
    shared: tuple[int, ...] = ()


class SplitScores(GroupScores, frozen=True):
    """One model on one split. The gaps are those of the primary sensitive column; all are null without one.

    Attributes
    ----------
    performance
        By the measure that models are chosen by; accuracy in runs that knew no other.
    auc
        Of the decision values; null in runs that did not measure it.
    together
        On the holdout, the same measures with limits that hold for all models together: what is known of a model that
        was chosen with the holdout in sight. Empty in runs of older versions.
    """

    rows: int
    accuracy: ChangedEstimate
    balanced_accuracy: Estimate
    selection_rate: Estimate
    hinge_loss: Estimate
    by_column: dict[str, ColumnScores]
    auc: Estimate = Estimate()
    performance: ChangedEstimate = NOT_MEASURED
    together: dict[Measure, Estimate] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        _perform(self)

    def measure(self, name: Measure) -> Estimate:
        """Return one measure by its name."""
        measure: Estimate = getattr(self, name)
        return measure


class BaselineScores(GapScores, frozen=True):
    """Another mitigation on the holdout; its performance is by the measure that models are chosen by."""

    rows: int
    accuracy: ChangedEstimate
    selection_rate: Estimate
    performance: ChangedEstimate = NOT_MEASURED

    def __post_init__(self) -> None:
        _perform(self)


def _perform(scores: SplitScores | BaselineScores) -> None:
    """Take accuracy for performance where a run knew no other measure."""
    if scores.performance is NOT_MEASURED:
        force_setattr(scores, "performance", scores.accuracy)
