"""The choice of a model: which, why, what it gains, what it leaves out, and what to beware of."""

from __future__ import annotations

from fairenum.document.machine import Tolerances
from fairenum.document.models import LeftOut
from fairenum.document.terms import CautionCode, Gap, GuardStatus, Outcome, Part, Proposal, Reason, Verdict
from fairenum.document.value import Estimate, Parts, Value


class Optimism(Value, frozen=True):
    """How much of a gain on the selection split the choice itself has put there.

    Attributes
    ----------
    gap
        Of the selected model, by split.
    observed
        Change of gap on the holdout minus that which the selection split showed; limits are those of the change on the
        holdout. It has no bias, however the model was found.
    expected
        What choosing by the rule is expected to flatter by, from the selection split alone; null where the rule did not
        choose, or a search had looked at these rows before, which cannot be repeated.
    """

    gap: Parts[Estimate]
    observed: Estimate
    expected: float | None


class GapChange(Value, frozen=True):
    """One gap in one sensitive column on the holdout: model 1, the selected model, and what the change shows.

    Attributes
    ----------
    is_claim
        Whether it is the gap, in the primary column, that the model was selected by.
    change
        Gap of the selected model minus that of model 1.
    confidence
        With which the limits of the change hold.
    verdict
        Null where nothing can be compared, or where the selected model decides all rows alike.
    is_coarse
        Whether so few rows of a group stand behind it that it is left open, whatever they say.
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
    """What became of a guardrail: where the selected model was chosen, and where it was judged.

    Attributes
    ----------
    guard
        As an option says it: "selection_rate=+-0.1".
    subject
        What of all that it guards comes closest to its limit, or goes farthest beyond it: a measure, with its column
        and group where it has them.
    low, high
        Between which values it has to lie; null without such a limit.
    selection
        The value on the selection split: a change against model 1, or the measure itself.
    holdout
        The same on the holdout.
    status
        On the holdout: broken if all that is likely lies beyond the limit, holds if all of it is within.
    """

    guard: str
    subject: str
    low: float | None
    high: float | None
    selection: float | None
    holdout: Estimate
    status: GuardStatus

    @property
    def is_kept(self) -> bool:
        """Whether what was measured on the holdout lies within the limits; what is undefined lies beyond none."""
        value = self.holdout.value
        if value is None:
            return True
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


class Selection(Value, frozen=True):
    """The model that was selected, and what is known about the choice.

    Attributes
    ----------
    rank
        The selected model; null if every model is constant.
    outcome
        Selected: another model than model 1; kept: model 1, as no other is fairer; none: no model can be selected.
    reason
        Why, as a word.
    column
        The sensitive column, or intersection, whose gap was to be small.
    candidates
        Ranks of the models within the tolerances.
    pareto_front
        Ranks that no model beats in both performance and gap on the selection split.
    gap_change
        Gap of the selected model minus that of model 1; null without another model.
    performance_change, accuracy_change
        The same for performance, and for accuracy.
    verdict
        On the holdout; null unless another model was selected.
    proposal
        Proposed: the holdout shows it to be fairer, and breaks no guardrail; candidate otherwise; null unless another
        model was selected.
    strip
        Every gap in every sensitive column, the one that the model was selected by first.
    guards
        What became of every guardrail.
    performance_floor
        What the change of performance on the holdout is at least, one-sidedly; null where that is not known.
    confirmed
        Ranks of other models within the tolerances that the holdout shows to be fairer, all models judged together.
    is_in_sight
        Whether the choice was made with the holdout in sight, so that limits hold for all models together.
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
        """Whether the holdout shows the selected model to be fairer than model 1."""
        return self.verdict is Verdict.FAIRER

    @property
    def shortlist(self) -> list[int]:
        """Model 1, and the selected one if that is another."""
        return sorted({1, self.rank or 1})


def proposal_of(selection: Selection, *, is_exploratory: bool = False) -> Proposal | None:
    """Propose another model than model 1 if the holdout shows it to be fairer and keeps every guardrail there.

    A guardrail is kept if what was measured lies within its limits: that is more than not being shown broken. An
    exploratory run has no rows apart from those that it chose by, and proposes nothing.
    """
    if selection.outcome != "selected":
        return None
    is_kept = all(guard.is_kept for guard in selection.guards)
    return "proposed" if selection.is_fairer and is_kept and not is_exploratory else "candidate"


def reason_for(outcome: Outcome, column: str | None, models: int, others: set[int]) -> Reason:
    """Say why a choice came out as it did; others are the candidates but for what they are compared with."""
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
    """Left-out records of one label and group, and what most of them share.

    Attributes
    ----------
    cell
        Values that most of them have.
    records
        How many there are; identical ones count by the share of them that is left out.
    share, share_of_training
        Their share of what is left out, and of the training rows.
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
    """Why the selected model is fairer: what its left-out records have in common, and which of them matter."""

    rank: int
    records: int
    clusters: tuple[Cluster, ...]
    core: Core


class ReferenceCheck(Value, frozen=True):
    """The gaps of the shortlist in the primary column on the holdout, computed again by the reference library."""

    library: str
    ranks: tuple[int, ...]
    compared: int
    largest_difference: float


class Caution(Value, frozen=True):
    """Something to beware of, as a code; reports put it in words with the numbers of the document.

    Attributes
    ----------
    column, part, rank
        What it is about, where the code alone does not say that.
    """

    code: CautionCode
    column: str | None = None
    part: Part | None = None
    rank: int | None = None
