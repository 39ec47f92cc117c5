"""The choice of a model: its reason, gains, guardrails, explanation and cautions."""

from __future__ import annotations

from fairenum.document.models import LeftOut
from fairenum.document.terms import Gap, GuardStatus, Outcome, Part, Proposal, Reason, Verdict
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate, Parts, Value


class Optimism(Value, frozen=True):
    """Selection bias: how much of the gain on the selection split is due to choosing on it.

    Attributes
    ----------
    gap
        Gap of the selected model, by split.
    observed
        Change of gap on the holdout minus that on the selection split; limits are those of the change on the holdout.
        Unbiased, however the model was found.
    expected
        Expected bias of the rule of choice, from the selection split alone; null where the rule did not choose, or a
        search had looked at these rows before, which cannot be repeated.
    """

    gap: Parts[Estimate]
    observed: Estimate
    expected: float | None


class GapChange(Value, frozen=True):
    """Change of one gap in one sensitive column on the holdout, from the reference to the selected model.

    Attributes
    ----------
    is_claim
        Whether the model was selected by this gap, in the primary column.
    change
        Gap of the selected model minus that of the reference.
    confidence
        Confidence of the limits of the change.
    verdict
        Null where nothing can be compared, or where the selected model decides all rows alike.
    is_coarse
        Whether a group has too few rows for a verdict, so that the verdict is open.
    """

    column: str
    metric: Gap
    is_claim: bool
    first: Estimate
    selected: Estimate
    change: Estimate
    confidence: float
    verdict: Verdict | None
    is_coarse: bool = False


class GuardCheck(Value, frozen=True):
    """A guardrail of the selected model, checked on the selection split and on the holdout.

    Attributes
    ----------
    guard
        As an option writes it: "selection_rate=+-0.1".
    subject
        The guarded measure that comes closest to its limit, or exceeds it most, with its column and group where it has
        them.
    low, high
        Limits of the value; null without such a limit.
    selection
        The value on the selection split: a change against the reference, or the measure itself.
    holdout
        The value on the holdout.
    status
        On the holdout: broken if the whole interval exceeds the limit, holds if all of it is within, else open.
    """

    guard: str
    subject: str
    low: float | None
    high: float | None
    selection: float | None
    holdout: Estimate
    status: GuardStatus

    @property
    def is_change(self) -> bool:
        """Whether the guardrail limits a change against the reference, as its signed limit says."""
        return "=+" in self.guard or "=-" in self.guard

    @property
    def is_kept(self) -> bool:
        """Whether the value measured on the holdout lies within the limits; an undefined value counts as kept."""
        value = self.holdout.value
        if value is None:
            return True
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


class Selection(Value, frozen=True):
    """The selected model, and the evidence for the choice.

    Attributes
    ----------
    rank
        The selected model; null if every model is constant, or the model in use is kept.
    outcome
        Selected: another model than the reference; kept: the reference, as no other is fairer; none: every model is
        constant. The reference is model 1, or the model in use.
    reason
        The reason, as a code.
    column
        The sensitive column, or intersection, whose gap was to be small.
    candidates
        Ranks of the models within the tolerances.
    pareto_front
        Ranks that no model beats in both performance and gap on the selection split.
    gap_change
        Gap of the selected model minus that of the reference; null if no other model was selected.
    performance_change, accuracy_change
        Change of performance and of accuracy, likewise.
    verdict
        On the holdout; null unless another model was selected.
    proposal
        Proposed: the holdout shows the model to be fairer, and no guardrail broken; candidate otherwise; null unless
        another model was selected.
    strip
        Change of every gap in every sensitive column, the one that the model was selected by first.
    guards
        Check of every guardrail.
    performance_floor
        One-sided lower limit of the change of performance on the holdout; null where it is not known.
    confirmed
        Ranks of other models within the tolerances that the holdout shows to be fairer, all models judged together.
    is_in_sight
        Whether the choice was made after the holdout was seen, so that limits hold for all models together.
    """

    rank: int | None
    outcome: Outcome
    reason: Reason
    column: str | None
    tolerances: Tolerances
    candidates: tuple[int, ...]
    pareto_front: tuple[int, ...]
    gap_change: Parts[Estimate] | None = None
    performance_change: Parts[Estimate] | None = None
    accuracy_change: Parts[Estimate] | None = None
    verdict: Verdict | None = None
    optimism: Optimism | None = None
    proposal: Proposal | None = None
    strip: tuple[GapChange, ...] = ()
    guards: tuple[GuardCheck, ...] = ()
    performance_floor: float | None = None
    confirmed: tuple[int, ...] = ()
    is_in_sight: bool = False

    @property
    def is_fairer(self) -> bool:
        """Whether the holdout shows the selected model to be fairer than the reference."""
        return self.verdict is Verdict.FAIRER

    @property
    def shortlist(self) -> list[int]:
        """Ranks of model 1 and of the selected model."""
        return sorted({1, self.rank or 1})


def proposal_of(selection: Selection, *, is_exploratory: bool = False) -> Proposal | None:
    """Propose a model in place of the reference if the holdout shows it to be fairer and every guardrail kept.

    A guardrail is kept if the measured value lies within its limits: that is more than not being shown broken. An
    exploratory run has no rows apart from those that it chose by, and proposes nothing.
    """
    if selection.outcome != "selected":
        return None
    is_kept = all(guard.is_kept for guard in selection.guards)
    return "proposed" if selection.is_fairer and is_kept and not is_exploratory else "candidate"


def reason_for(outcome: Outcome, column: str | None, models: int, others: set[int]) -> Reason:
    """Return the reason for the outcome of a choice; `others` are the candidates other than the reference."""
    if outcome == "none":
        return "all_constant"
    if outcome == "selected":
        return "smallest_gap"
    if column is None:
        return "no_sensitive_column"
    if models == 1:
        return "only_model"
    return "no_smaller_gap" if others else "no_other_candidate"


class Cluster(Value, frozen=True):
    """Left-out records of one label and group, and the values that most of them share.

    Attributes
    ----------
    cell
        Values that most of the records have.
    records
        Number of records; identical ones count by the share of them that is left out.
    share, share_of_training
        Share of the left-out records, and of the training rows.
    """

    label: str
    group: str | None
    cell: dict[str, float | str]
    records: float
    share: float
    share_of_training: float
    rows: tuple[int, ...]


class Core(Value, frozen=True):
    """The fewest left-out examples that still give most of the gain."""

    records: int
    left_out: tuple[LeftOut, ...]
    objective_ratio: float
    gap: Parts[float | None]
    share_of_gain: float | None


class Explanation(Value, frozen=True):
    """Why the selected model is fairer: common values of its left-out records, and the few records that matter most."""

    rank: int
    records: int
    clusters: tuple[Cluster, ...]
    core: Core


class ReferenceCheck(Value, frozen=True):
    """Gaps of the shortlist in the primary column on the holdout, computed again by another library."""

    library: str
    ranks: tuple[int, ...]
    compared: int
    largest_difference: float


class AnyCaution(Value, frozen=True):
    """A caution for the reader.

    Attributes
    ----------
    code
        The kind of caution; reports put it in words with the numbers of the document.
    column
        The sensitive column concerned, if there is one.
    """

    code: str
    column: str | None = None


class Caution(AnyCaution, frozen=True):
    """A caution for the reader of an audit.

    Attributes
    ----------
    part, rank
        The split and the model concerned, where the code alone does not say.
    """

    part: Part | None = None
    rank: int | None = None


class MeasureCaution(AnyCaution, frozen=True):
    """A caution for the reader of a measurement.

    Attributes
    ----------
    decision
        The number of the decisions concerned, from 1.
    """

    decision: int | None = None
