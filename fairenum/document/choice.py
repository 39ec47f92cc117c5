"""The choice of a model: the reason, the changes against the reference, guardrails, explanation and cautions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from fairenum.document.models import ComparedPair, LeftOut
from fairenum.document.terms import (
    Answer,
    AnswerReason,
    ComparedMeasure,
    Gap,
    GuardStatus,
    Outcome,
    Part,
    Reason,
    Verdict,
)
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate, Parts, Value

# Rates are ratios of whole numbers: where models are compared, differences beyond these digits are rounding.
ROUNDING_DIGITS = 12
STEP = 0.005  # of a wider tolerance that a report suggests
LIKELY = 0.8  # chance of confirmation that a choice is to have, the usual power in planning samples


class Optimism(Value, frozen=True):
    """Selection bias: how much of the gain on the selection split is due to choosing the model by these rows.

    Attributes
    ----------
    gap
        Gap of the selected model on each split.
    observed
        Change of the gap against the reference (model 1, or the model in use) on the holdout, minus the same change on
        the selection split. Unbiased, however the model was found; its limits allow for chance in the holdout only.
    expected
        Selection bias estimated by repeating the choice on rows drawn again from the selection split. Null if the model
        was asked for by its rank or found by a search on these rows, or if the reference is the model in use.
    """

    gap: Parts[Estimate]
    observed: Estimate
    expected: float | None


class GapChange(Value, frozen=True):
    """Change of one gap in one sensitive column, from the reference model to the selected model.

    In an audit on the holdout; in an exploration on the selection split, between any two models, and without a verdict.

    Attributes
    ----------
    is_claim
        Whether this is the claim: the gap in the primary column that the model was selected by or, if that has more
        than two groups or rates, the gap between the pair of groups that was widest on the selection split.
    first
        The gap of the reference.
    selected
        The gap of the selected model.
    change
        Gap of the selected model minus that of the reference.
    confidence
        Confidence of the limits of the change, or of the gaps where the change has none.
    verdict
        Verdict on the change; null if the change is undefined, or if the selected model decides all rows alike.
    is_coarse
        Whether a group has too few rows for a verdict, so that the verdict is open.
    pair
        The two groups, and the rate, that the gap is between; null if it is between any two groups.
    is_joint
        Whether these limits hold for all models together, though those of the claim hold for the selected model alone.
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
    pair: ComparedPair | None = None
    is_joint: bool = False


class Disparity(Value, frozen=True):
    """The gap of the reference on all rows that it was not trained on, before any other model is looked for.

    Attributes
    ----------
    rows
        Number of these rows.
    gap
        The gap, in the primary column, that models are selected by, with its confidence interval.
    detectable
        The smallest true gap that so many rows show with a probability of 0.8; null if no rows of two groups count.
    margin
        The gap up to which groups count as treated alike.
    """

    rows: int
    gap: Estimate
    detectable: float | None
    margin: float

    @property
    def is_shown(self) -> bool:
        """Whether the gap is shown to be above 0, and not shown to be within the margin; an unknown gap counts, too."""
        low, high = self.gap.low, self.gap.high
        return low is None or high is None or (low > 0.0 and high > self.margin)


class GuardValue(Value, frozen=True):
    """A guardrail, which limits a further measure of a model, with its value on the selection split.

    Attributes
    ----------
    guard
        Text of the guardrail, as in options: "selection_rate=+-0.1".
    subject
        The guarded measure that comes closest to its limit, or exceeds it most, with its column and group where it has
        them.
    low, high
        Lower and upper limit of the value; null if there is no such limit.
    selection
        The value on the selection split: a change against the reference, or the measure itself; null where it is
        undefined.
    """

    guard: str
    subject: str
    low: float | None
    high: float | None
    selection: float | None

    @property
    def is_change(self) -> bool:
        """Whether the guardrail limits a change against the reference; its limit is then written with a sign."""
        return "=+" in self.guard or "=-" in self.guard

    @property
    def is_kept_in_selection(self) -> bool:
        """Whether the value on the selection split is within the limits, as the rule of choice rounds it."""
        return self.is_within(self.selection, slack=0.5 * 10**-ROUNDING_DIGITS)

    def is_within(self, value: float | None, slack: float = 0.0) -> bool:
        """Tell whether a value exceeds no limit by more than the slack; an undefined value exceeds none."""
        if value is None:
            return True
        is_above = self.low is None or value >= self.low - slack
        return is_above and (self.high is None or value <= self.high + slack)


class GuardCheck(GuardValue, frozen=True):
    """A guardrail of the selected model, checked on the holdout.

    Attributes
    ----------
    holdout
        The value on the holdout, with its confidence interval.
    status
        On the holdout: broken if the whole interval lies outside the limits, holds if all of it is within, else open.
    """

    holdout: Estimate
    status: GuardStatus

    @property
    def is_kept(self) -> bool:
        """Whether the value measured on the holdout lies within the limits; an undefined value counts as kept."""
        return self.is_within(self.holdout.value)


class Incomparable(Value, frozen=True):
    """A measure, on the selection split, in which every model differs too much from the reference to be compared.

    Attributes
    ----------
    measure
        The selection rate: every model selects more or fewer than the reference; or the performance: none is nearly as
        good as the model in use.
    reference
        The measure of the reference: the model in use, or model 1.
    closest
        The measure of the model that comes closest to the reference.
    limit
        The largest difference allowed: by the guardrail on `selection_rate` in this direction, or by the tolerance of
        performance.
    """

    measure: ComparedMeasure
    reference: float
    closest: float
    limit: float

    @property
    def difference(self) -> float:
        """The distance between the closest model and the reference."""
        return round(abs(self.reference - self.closest), ROUNDING_DIGITS)

    @property
    def wider_limit(self) -> float:
        """The least multiple of `STEP`, as an option can state it, that allows this difference."""
        return in_steps(self.difference)


def in_steps(limit: float) -> float:
    """Return the least multiple of `STEP` that is not below a limit, but at most 1."""
    return min(1.0, round(math.ceil(round(limit / STEP, ROUNDING_DIGITS)) * STEP, ROUNDING_DIGITS))


class LooserLimits(Value, frozen=True):
    """Other limits of a choice under which the rule selects a model, found by applying it again.

    Attributes
    ----------
    max_performance_drop
        The tolerance of performance; null if that of the choice is wide enough.
    is_unguarded
        Whether no guardrail may stand in the way.
    """

    max_performance_drop: float | None
    is_unguarded: bool

    @property
    def options(self) -> str:
        """The options of the command line that ask for these limits."""
        drop = "" if self.max_performance_drop is None else f"--max-performance-drop {self.max_performance_drop:g}"
        return " ".join(one for one in ("--guard none" if self.is_unguarded else "", drop) if one)


class ShownEvidence(Value, frozen=True):
    """What the holdout showed of a model whose claim it judged alone; fields are as in `Selection`.

    Attributes
    ----------
    metric
        The gap by which the model was selected.
    """

    rank: int
    metric: Gap
    gap_change: Parts[Estimate] | None
    performance_change: Parts[Estimate] | None
    accuracy_change: Parts[Estimate] | None
    verdict: Verdict | None
    optimism: Optimism | None
    strip: tuple[GapChange, ...]
    performance_floor: float | None
    performance_ceiling: float | None
    is_in_advance: bool = False


class Selection(Value, frozen=True):
    """The selected model, and the evidence for the choice.

    Attributes
    ----------
    rank
        Rank of the selected model; null if the outcome is none, or if the model in use is kept.
    outcome
        Selected: another model than the reference; kept: the reference, as no other model is fairer, or as none can be
        compared with it (`answer`); none: each model decides favourably about all rows or about none. The reference is
        model 1, or the model in use.
    reason
        The reason for the outcome.
    column
        The sensitive column, or intersection of columns, whose gap was to be small.
    candidates
        Ranks of the models within the tolerances.
    pareto_front
        Ranks of the models that no other model beats in both performance and gap on the selection split.
    gap_change
        Gap of the selected model minus that of the reference, on each split; null unless another model than the
        reference was selected.
    performance_change
        Performance of the selected model minus that of the reference, on each split; null as for gap_change.
    accuracy_change
        Accuracy of the selected model minus that of the reference, on each split; null as for gap_change.
    verdict
        Verdict on the change of the gap on the holdout; null as for gap_change.
    optimism
        Selection bias of the gain in fairness; null as for gap_change.
    answer
        The answer of the audit. Proposed: the holdout shows the selected model to be fairer and as good, and no
        guardrail is beyond its limit there; candidate: something of this is not shown; not proposed: something is shown
        against it, or no fairer model was found; no disparity: the reference has no gap to reduce; not comparable: no
        model selects nearly as many as the reference, or none performs nearly as well as the model in use, so that the
        search says nothing about it. Null if no holdout has judged the choice.
    reasons
        What the answer rests on: what is not shown, or is shown against the model.
    disparity
        The gap of the reference on all rows that it was not trained on.
    strip
        Changes of every gap in every sensitive column on the holdout, first of the gap that the model was selected by.
    guards
        Results of checking each guardrail.
    performance_floor, performance_ceiling
        One-sided lower and upper confidence limits of the change of performance on the holdout; null where they were
        not computed.
    confirmed
        Ranks of other models within the tolerances that the holdout shows to be fairer, with limits that hold for all
        models together.
    is_in_sight
        Whether the holdout had been seen before the choice, so that confidence limits hold for all models together.
    claims
        Number of claims that the same holdout judges alone, in this choice and the choices before it in the same run;
        choices that were saved elsewhere are not counted. Each claim may be false with the stated probability, so that
        any of them is with at most the sum of these.
    chance
        Probability, predicted from the selection split, that the holdout confirms the selected model; null if unknown.
    incomparable
        What rules out every model, so that nothing is known about fairness at equal rates or at equal performance. The
        selection rate: all models select more or fewer than the guardrail on `selection_rate` allows, or those do that
        would be candidates. The performance: no near-optimal model is within the tolerance of the model in use. Empty
        if some model can be compared with the reference, and if a model was asked for by its rank.
    is_in_advance
        Whether it was stated, when the model was chosen again, that the choice had been fixed before anybody saw the
        holdout.
    shown
        What the holdout showed of other models, each judged alone, that were chosen before.
    looser
        Limits under which the rule would select a model, if no model is within those of this choice; null if unknown,
        or if there are none.
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
    answer: Answer | None = None
    reasons: tuple[AnswerReason, ...] = ()
    disparity: Disparity | None = None
    strip: tuple[GapChange, ...] = ()
    guards: tuple[GuardCheck, ...] = ()
    performance_floor: float | None = None
    performance_ceiling: float | None = None
    confirmed: tuple[int, ...] = ()
    is_in_sight: bool = False
    claims: int = 1
    chance: float | None = None
    incomparable: tuple[Incomparable, ...] = ()
    is_in_advance: bool = False
    shown: tuple[ShownEvidence, ...] = ()
    looser: LooserLimits | None = None

    @property
    def evidence(self) -> ShownEvidence | None:
        """What the holdout shows of the selected model alone; None if it judges all models together, or none."""
        if self.rank is None or self.outcome != "selected" or self.is_in_sight or not self.strip:
            return None
        own = {name: getattr(self, name) for name in ShownEvidence.__struct_fields__ if name not in ("rank", "metric")}
        return ShownEvidence(self.rank, self.tolerances.metric, **own)

    @property
    def is_fairer(self) -> bool:
        """Whether the holdout shows the selected model to be fairer than the reference."""
        return self.verdict is Verdict.FAIRER

    @property
    def is_as_good(self) -> bool:
        """Whether the holdout shows that the selected model loses no more performance than the tolerance."""
        floor = self.performance_floor
        return floor is not None and floor >= -self.tolerances.max_performance_drop

    @property
    def shortlist(self) -> list[int]:
        """Ranks of model 1 and of the selected model."""
        return sorted({1, self.rank or 1})


APART: Mapping[ComparedMeasure, AnswerReason] = {
    "selection_rate": "other_rates",
    "performance": "performance_not_reached",
}


def answered(selection: Selection, *, is_exploratory: bool = False) -> Selection:
    """Return the selection with the answer of the audit and its reasons, given verdicts, limits and guardrails.

    A model is as good if the lower limit of its change of performance is within the tolerance. A guardrail stops a
    proposal if it is shown to be broken, or if the value measured on the holdout is beyond its limit. So does a gap
    that is shown to be the same within the margin, even if it is shown to be smaller by less than that. The model of an
    exploratory run is never proposed, as it was chosen by the rows that would have to confirm it.
    """
    if selection.outcome != "selected":
        return selection.but(**_without_model(selection))
    if against := tuple(_against(selection)):
        return selection.but(answer="not proposed", reasons=against)
    if not selection.is_fairer and not _is_disparate(selection):
        return selection.but(answer="no disparity", reasons=(_why_alike(selection),))
    if selection.verdict is Verdict.SAME and not is_exploratory:
        return selection.but(answer="not proposed", reasons=(_why_same(selection),))
    missing = (*(("no_holdout",) if is_exploratory else ()), *_missing(selection))
    return selection.but(answer="candidate" if missing else "proposed", reasons=missing)


def _without_model(selection: Selection) -> dict[str, object]:
    """Return answer and reasons where no model replaces the reference."""
    if selection.outcome == "none":
        return {"answer": "not proposed", "reasons": ("nothing_decided",)}
    if not _is_disparate(selection):
        return {"answer": "no disparity", "reasons": (_why_alike(selection),)}
    if selection.incomparable:
        return {"answer": "not comparable", "reasons": tuple(APART[one.measure] for one in selection.incomparable)}
    return {"answer": "not proposed", "reasons": ("nothing_fairer",)}


def _is_disparate(selection: Selection) -> bool:
    return selection.disparity is None or selection.disparity.is_shown


def _why_alike(selection: Selection) -> AnswerReason:
    low = None if selection.disparity is None else selection.disparity.gap.low
    return "gap_within_margin" if low else "gap_not_shown"


def _why_same(selection: Selection) -> AnswerReason:
    high = None if selection.gap_change is None else selection.gap_change.holdout.high
    return "hardly_fairer" if high is not None and high < 0.0 else "same_gap"


def _against(selection: Selection) -> Iterator[AnswerReason]:
    """Yield what the holdout shows against the selected model."""
    if selection.verdict is Verdict.LESS_FAIR:
        yield "less_fair"
    ceiling = selection.performance_ceiling
    if ceiling is not None and ceiling < -selection.tolerances.max_performance_drop:
        yield "performance_lost"
    if any(guard.status == "broken" for guard in selection.guards):
        yield "guardrail_broken"


def _missing(selection: Selection) -> Iterator[AnswerReason]:
    """Yield what the holdout does not show of the selected model."""
    if not selection.is_fairer:
        yield "fairness_not_shown"
    if not selection.is_as_good:
        yield "performance_not_shown"
    if not all(guard.is_kept for guard in selection.guards):
        yield "guardrail_not_shown"


def reason_for(outcome: Outcome, column: str | None, models: int, others: set[int]) -> Reason:
    """Return the code of the reason for an outcome; `others` are the ranks of candidates other than the reference."""
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
    """Training records of one label and group that a model leaves out, and the values that most of them share.

    Attributes
    ----------
    cell
        Value that most of the records share, by feature.
    records
        Number of these records; if 2 of 5 identical records are left out, each of the 5 counts as 2/5.
    share
        These records as a share of all left-out records.
    share_of_training
        Training rows of this label and group as a share of all training rows.
    rows
        Row numbers of the records in the input table, counted from 0.
    """

    label: str
    group: str | None
    cell: dict[str, float | str]
    records: float
    share: float
    share_of_training: float
    rows: tuple[int, ...]


class Core(Value, frozen=True):
    """The fewest training examples found whose removal alone gives most of the selected model's gain in fairness.

    Attributes
    ----------
    records
        Number of training records that are left out.
    left_out
        The examples, each of which stands for identical records.
    objective_ratio
        Objective of the model that leaves out these examples only, as a share of that of model 1.
    gap
        Gap of that model on each split.
    share_of_gain
        Gain of that model over model 1 on the selection split, as a share of the gain of the selected model.
    loss_ratio
        Loss of that model on all training rows, divided by the least possible loss, minus 1; null in older runs.
    """

    records: int
    left_out: tuple[LeftOut, ...]
    objective_ratio: float
    gap: Parts[float | None]
    share_of_gain: float | None
    loss_ratio: float | None = None


class Explanation(Value, frozen=True):
    """Why the selected model is fairer: which training records it leaves out, and which few of them matter most.

    Attributes
    ----------
    rank
        Rank of the selected model.
    records
        Number of training records that it leaves out.
    clusters
        The left-out records by label and group; a redacted document has none.
    core
        The few examples that give most of the gain.
    """

    rank: int
    records: int
    clusters: tuple[Cluster, ...]
    core: Core


class ReferenceCheck(Value, frozen=True):
    """Comparison of gaps and ratios on the holdout, in the primary column, with those that another library computes.

    Attributes
    ----------
    ranks
        Ranks of the models compared: the model in use, model 1 and the selected model.
    compared
        Number of gaps and ratios compared.
    largest_difference
        Largest absolute difference between the results of the two libraries.
    """

    library: str
    ranks: tuple[int, ...]
    compared: int
    largest_difference: float


class AnyCaution(Value, frozen=True):
    """A caution for the reader of a document.

    Attributes
    ----------
    code
        The kind of caution; reports put it in words with the numbers of the document.
    column
        The column that the caution is about; null if it is about none in particular.
    """

    code: str
    column: str | None = None


class Caution(AnyCaution, frozen=True):
    """A caution for the reader of an audit.

    Attributes
    ----------
    part
        The split that the caution is about; null if it is about none in particular.
    rank
        The rank of the model that the caution is about; null if it is about none in particular.
    """

    part: Part | None = None
    rank: int | None = None


class MeasureCaution(AnyCaution, frozen=True):
    """A caution for the reader of a measurement.

    Attributes
    ----------
    decision
        Number, from 1, of the set of decisions that the caution is about; null if it is about none in particular.
    """

    decision: int | None = None
