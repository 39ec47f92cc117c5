"""The view of an exploration: its models so far, on the selection split alone, as a typed value for any medium."""

from __future__ import annotations

from fairenum.document.choice import Cluster
from fairenum.document.decision_record import Step, StepEnd
from fairenum.document.feature_facts import FlippedRow, GroupFlips
from fairenum.document.models import ChangedRows, LeftOut
from fairenum.document.scores import SplitScores
from fairenum.document.terms import Gap, Origin
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate, Value


class ExploredModel(Value, frozen=True):
    """A model that was looked at. It is chosen by its scores on the selection split, so that they are biased.

    Attributes
    ----------
    number
        Permanent number of the model, from 1, in the order in which models were looked at.
    objective
        The objective of the problem without the left-out examples.
    objective_ratio
        Objective as a share of that of model 1.
    loss_ratio
        Relative loss on all training examples above the least.
    supports
        Number of models with distinct supports seen so far that decide these rows alike.
    cut
        Decision values of at least this are favourable.
    predictions_changed
        Rows of the selection split decided differently from model 1.
    scores
        Scores whose limits hold one by one, without a verdict.
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
        """The relative loss of objective against model 1."""
        return 1.0 - self.objective_ratio


class IncumbentScores(Value, frozen=True):
    """Scores of the model in use on the selection split."""

    name: str
    is_constant: bool
    scores: SplitScores


class ShownGap(Value, frozen=True):
    """One gap in one sensitive column on the selection split, for two models.

    Attributes
    ----------
    is_claim
        Whether this is the gap, in the primary column, that models are selected by.
    first, second
        The gaps of the two models, with limits that hold one by one.
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
    """A guardrail of one model, checked on the selection split.

    Attributes
    ----------
    guard
        As an option writes it.
    subject
        The guarded measure that comes closest to its limit, or exceeds it most.
    low, high
        Limits of the value; null without such a limit.
    value
        A change against the reference, or the measure itself; null where it is undefined.
    is_kept
        Whether the value lies within the limits; an undefined value counts as kept.
    """

    guard: str
    subject: str
    low: float | None
    high: float | None
    value: float | None
    is_kept: bool


class Standpoint(Value, frozen=True):
    """The candidates under the tolerances, and the chosen one, by the selection split alone.

    Attributes
    ----------
    chosen
        The number of the fairest candidate; null if there is none, or if the model in use stays.
    candidates
        Numbers of the models within the tolerances and guardrails.
    pareto_front
        Numbers of the models that none beats in both performance and gap.
    least_performance, gap
        The tolerance region: candidates perform at least this well, and are fairer than the reference below this gap.
    """

    tolerances: Tolerances
    chosen: int | None
    candidates: tuple[int, ...]
    pareto_front: tuple[int, ...]
    least_performance: float | None
    gap: float | None


class Seal(Value, frozen=True):
    """Rows and models looked at in an exploration. Everything shown while exploring is of the selection split.

    Attributes
    ----------
    rows
        Rows of the selection split.
    holdout
        Rows of the holdout, none of which is shown.
    looked_at
        Models looked at, including those of steps that were taken back.
    opened
        Number of times that the holdout was opened: by commits, and by the run that is explored.
    """

    rows: int
    holdout: int
    looked_at: int
    opened: int

    @property
    def is_broken(self) -> bool:
        """Whether the holdout was opened, so that later commits are exploratory."""
        return self.opened > 0


class TimelineEntry(Value, frozen=True):
    """A line of the decision record, as the exploration shows it.

    Attributes
    ----------
    number, at
        Number of the line, and when it was written.
    shown
        Numbers of the models that joined the list.
    is_undone
        Whether the step was taken back.
    """

    number: int
    at: str
    taken: Step
    shown: tuple[int, ...]
    end: StepEnd | None
    is_undone: bool


class ExplorationView(Value, frozen=True):
    """Everything that an exploration shows.

    Attributes
    ----------
    data, label, column
        The table, its label, and the sensitive column whose gap is to be small.
    seal
        Rows and models looked at.
    models
        In the order in which they were looked at, without those of steps that were taken back.
    incumbent
        The model in use; null if there is none.
    is_against_incumbent
        Whether models are compared with the model in use, not with model 1.
    current
        The number of the model in focus.
    standpoint
        The candidates, and the chosen one.
    strip, guards
        Every gap of the reference and of the model in focus, and each guardrail of the model in focus.
    clusters
        Left-out records of the model in focus.
    left_out, pinned
        Training rows that every box leaves out, and keeps.
    committed
        The number of the committed model; null if there is none.
    end
        Why the last step had nothing more to show; null if it had.
    timeline
        The lines of the decision record.
    """

    data: str
    label: str
    column: str | None
    seal: Seal
    models: tuple[ExploredModel, ...]
    incumbent: IncumbentScores | None
    is_against_incumbent: bool
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
    """The weights of two linear models for one encoded column."""

    column: str
    first: float
    second: float


class GroupPair(Value, frozen=True):
    """Selection rates of two models in one group of the selection split; null without rows."""

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
        Numbers of the models.
    weights
        Weights, those that differ most first; empty for a kernel without weights.
    flips
        Rows, by sensitive column and group, with the favourable outcome from only one of the two models.
    flipped
        The rows that the models decide differently, with the decision of the second model.
    """

    first: int
    second: int
    weights: tuple[WeightPair, ...]
    groups: tuple[GroupPair, ...]
    strip: tuple[ShownGap, ...]
    flips: dict[str, tuple[GroupFlips, ...]]
    flipped: tuple[FlippedRow, ...]


class Explored(Value, frozen=True):
    """How an audit came out of an exploration: the models looked at, and who decided for which model, and why.

    Attributes
    ----------
    number
        Number of the committed model in the exploration.
    looked_at
        Models looked at on the selection split.
    steps
        Steps taken, including those that were taken back.
    left_out, pinned
        Training rows that the author left out, and kept.
    look
        Number of times that the holdout has been opened, this run included; 1 if the model was decided for without
        having seen the holdout.
    record
        The sha256 of the commit's line in the decision record.
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
