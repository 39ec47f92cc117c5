"""What an exploration shows: the models so far, on the selection split alone, as a typed value for any medium."""

from __future__ import annotations

from fairenum.document.anatomy import FlippedRow, GroupFlips
from fairenum.document.choice import Cluster
from fairenum.document.decision_record import Step, StepEnd
from fairenum.document.machine import Tolerances
from fairenum.document.models import ChangedRows, LeftOut
from fairenum.document.scores import SplitScores
from fairenum.document.terms import Gap, Origin
from fairenum.document.value import Estimate, Value


class ExploredModel(Value, frozen=True):
    """A model that was looked at. Its scores are those of the selection split, by which it is chosen: they flatter.

    Attributes
    ----------
    number
        In the order in which models were looked at, from 1; it stays the model's own.
    objective
        Of the problem that is left when examples are left out.
    objective_ratio
        As a share of that of model 1.
    loss_ratio
        Its loss on all training examples, relative to the best, minus 1.
    supports
        How many models with distinct supports were passed that decide these rows as this one does.
    cut
        Decision values of at least this are favourable.
    predictions_changed
        Rows of the selection split decided otherwise than by model 1.
    scores
        With limits that hold one by one, and no verdict.
    """

    number: int
    origin: Origin
    objective: float
    objective_ratio: float
    loss_ratio: float
    support_size: int
    supports: int
    left_out: tuple[LeftOut, ...]
    bias: float
    cut: float
    tied: int
    is_constant: bool
    predictions_changed: ChangedRows
    scores: SplitScores

    @property
    def shortfall(self) -> float:
        """What it lacks of the objective of model 1."""
        return 1.0 - self.objective_ratio


class InUseScores(Value, frozen=True):
    """The model in use on the selection split."""

    name: str
    is_constant: bool
    scores: SplitScores


class ShownGap(Value, frozen=True):
    """One gap in one sensitive column on the selection split, of two models.

    Attributes
    ----------
    is_claim
        Whether it is the gap, in the primary column, that is to be small.
    first, second
        With limits that hold one by one.
    change
        From the first to the second; null where it is undefined.
    """

    column: str
    metric: Gap
    is_claim: bool
    first: Estimate
    second: Estimate
    change: float | None


class GuardStanding(Value, frozen=True):
    """Where a model stands towards a guardrail on the selection split.

    Attributes
    ----------
    guard
        As an option says it.
    subject
        What of all that it guards comes closest to its limit, or goes farthest beyond it.
    low, high
        Between which values it has to lie; null without such a limit.
    value
        A change against the reference, or the measure itself; null where it is undefined.
    is_kept
        Whether it lies within the limits; what is undefined lies beyond none.
    """

    guard: str
    subject: str
    low: float | None
    high: float | None
    value: float | None
    is_kept: bool


class Standpoint(Value, frozen=True):
    """Who may be chosen under the tolerances, and who is, by the selection split alone.

    Attributes
    ----------
    chosen
        The number of the fairest candidate; null if there is none, or what is in use stays.
    candidates
        Numbers of the models within the tolerances and guardrails.
    pareto_front
        Numbers of those that none beats in both performance and gap.
    least_performance, gap
        The tolerance region: candidates perform at least so well, and are fairer than the reference below this gap.
    """

    tolerances: Tolerances
    chosen: int | None
    candidates: tuple[int, ...]
    pareto_front: tuple[int, ...]
    least_performance: float | None
    gap: float | None


class Seal(Value, frozen=True):
    """What has been looked at. All that is shown while exploring is of the selection split.

    Attributes
    ----------
    rows
        Rows of the selection split.
    holdout
        Rows of the holdout, none of which is shown.
    looked_at
        Models looked at, those that were taken back among them.
    opened
        How often the holdout was opened: by commits, and by the run that is explored.
    """

    rows: int
    holdout: int
    looked_at: int
    opened: int

    @property
    def is_broken(self) -> bool:
        """Whether the holdout was opened, so that what is committed from now on is exploratory."""
        return self.opened > 0


class TimelineEntry(Value, frozen=True):
    """A line of the record.

    Attributes
    ----------
    number, at
        Of the line, and when it was written.
    shown
        Numbers of the models that joined the list.
    is_undone
        Whether it was taken back.
    """

    number: int
    at: str
    taken: Step
    shown: tuple[int, ...]
    end: StepEnd | None
    is_undone: bool


class ExplorationView(Value, frozen=True):
    """All that an exploration shows.

    Attributes
    ----------
    data, label, column
        What is explored, what it is about, and the sensitive column whose gap is to be small.
    seal
        What has been looked at.
    models
        In the order in which they were looked at, but for those that were taken back.
    in_use
        The model in use; null if there is none.
    is_against_in_use
        Whether models are compared with it, and not with model 1.
    current
        The number of the model in focus.
    standpoint
        Who may be chosen, and who is.
    strip, guards
        Every gap of the reference and of the model in focus, and where that one stands towards each guardrail.
    clusters
        What the model in focus leaves out.
    left_out, pinned
        Rows that every box leaves out, and keeps.
    committed
        The number of the model that was decided for; null if there is none.
    end
        Why the last step had nothing more to show; null if it had.
    timeline
        The record.
    """

    data: str
    label: str
    column: str | None
    seal: Seal
    models: tuple[ExploredModel, ...]
    in_use: InUseScores | None
    is_against_in_use: bool
    current: int
    standpoint: Standpoint
    strip: tuple[ShownGap, ...]
    guards: tuple[GuardStanding, ...]
    clusters: tuple[Cluster, ...]
    left_out: tuple[int, ...]
    pinned: tuple[int, ...]
    committed: int | None
    end: StepEnd | None
    timeline: tuple[TimelineEntry, ...]

    def model(self, number: int) -> ExploredModel:
        """Return a model by its number."""
        return next(model for model in self.models if model.number == number)


class WeightPair(Value, frozen=True):
    """What two linear models give for one encoded column."""

    column: str
    first: float
    second: float


class GroupPair(Value, frozen=True):
    """The share of a group's rows of the selection split that two models select; null without rows."""

    column: str
    group: str
    rows: int
    first: float | None
    second: float | None


class ModelComparison(Value, frozen=True):
    """Two models side by side, on the selection split.

    Attributes
    ----------
    first, second
        Their numbers.
    weights
        Those that differ most first; empty for a kernel without weights.
    flips
        Rows by sensitive column and group that get the favourable outcome from one of them alone.
    flipped
        The rows themselves; what they become is what the second model decides.
    """

    first: int
    second: int
    weights: tuple[WeightPair, ...]
    groups: tuple[GroupPair, ...]
    strip: tuple[ShownGap, ...]
    flips: dict[str, tuple[GroupFlips, ...]]
    flipped: tuple[FlippedRow, ...]


class Explored(Value, frozen=True):
    """How an audit came out of an exploration: what was looked at before somebody decided, and why that model.

    Attributes
    ----------
    number
        Of the committed model in the exploration.
    looked_at
        Models looked at on the selection split.
    steps
        Steps that were taken, those that were taken back among them.
    left_out, pinned
        Training rows that its author left out, and kept.
    look
        The how manyeth look at the holdout this is; a run of the first look was decided without it.
    record
        The sha256 of the line of the decision record that the commit is.
    """

    number: int
    author: str
    reason: str
    looked_at: int
    steps: int
    left_out: int
    pinned: int
    look: int
    record: str
