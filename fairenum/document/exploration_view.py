"""Everything that an exploration shows: the models so far, measured on the selection split alone, and the steps."""

from __future__ import annotations

from fairenum.document.choice import Cluster, GapChange, GuardValue, Incomparable
from fairenum.document.decision_record import Step, StepEnd
from fairenum.document.feature_facts import FlippedRow, GroupFlips
from fairenum.document.models import ChangedRows, ListedModel
from fairenum.document.scores import SplitScores
from fairenum.document.training import Tolerances
from fairenum.document.value import Value


class ExploredModel(ListedModel, frozen=True, kw_only=True):
    """A model that was looked at in an exploration, which is about the selection split alone.

    Models are chosen by these scores, so those of the chosen model are biased in its favour.

    Attributes
    ----------
    number
        Permanent number of the model, from 1, in the order in which models were looked at.
    predictions_changed
        Rows of the selection split decided differently from model 1.
    scores
        Scores on the selection split; confidence limits hold for each score alone, and there is no verdict.
    """

    number: int
    predictions_changed: ChangedRows
    scores: SplitScores


class IncumbentScores(Value, frozen=True):
    """Scores of the model in use on the selection split."""

    name: str
    is_constant: bool
    scores: SplitScores


class Standpoint(Value, frozen=True):
    """The models within the tolerances, and the fairest of them, by the selection split alone.

    Attributes
    ----------
    chosen
        Number of the fairest candidate; null if there is none, or if the model in use is kept.
    candidates
        Numbers of the models within the tolerances and guardrails.
    pareto_front
        Numbers of the models that no other model beats in both performance and gap.
    least_performance
        The performance that a candidate must have at least; null where undefined.
    gap
        The gap of the reference; a candidate with a smaller one is fairer. Null where undefined.
    incomparable
        What rules out every model looked at, so that nothing is known yet about the reference; empty if some model can
        be compared with it.
    """

    tolerances: Tolerances
    chosen: int | None
    candidates: tuple[int, ...]
    pareto_front: tuple[int, ...]
    least_performance: float | None
    gap: float | None
    incomparable: tuple[Incomparable, ...] = ()


class Seal(Value, frozen=True):
    """How much an exploration has looked at: rows, models, and how often the holdout was opened.

    Everything shown while exploring is measured on the selection split.

    Attributes
    ----------
    rows
        Number of rows of the selection split.
    holdout
        Number of rows of the holdout, none of which is shown.
    looked_at
        Number of models looked at, including those of steps that were taken back.
    opened
        Number of times that the holdout was opened: by commits, and by a saved run that the exploration starts from.
    """

    rows: int
    holdout: int
    looked_at: int
    opened: int

    @property
    def is_broken(self) -> bool:
        """Whether the holdout has been opened, so that it cannot confirm the models of later commits."""
        return self.opened > 0


class TimelineEntry(Value, frozen=True):
    """A step in the decision record, as the exploration shows it.

    Attributes
    ----------
    number, at
        Number of the line in the record, and when it was written, in ISO 8601.
    shown
        Numbers of the models that the step added to the list.
    end
        Why the step found no new model; null if it found one, or did not look for one.
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
        Name of the table, its label column, and the sensitive column whose gap is to be small.
    seal
        Numbers of rows and models looked at, and of times that the holdout was opened.
    models
        The models in the order in which they were looked at, without those of steps that were taken back.
    incumbent
        The model in use; null if there is none.
    is_against_incumbent
        Whether models are compared with the model in use, not with model 1.
    current
        Number of the model in focus, whose details are shown.
    standpoint
        The models within the tolerances, and the model that the rule chooses.
    strip, guards
        Every gap of the reference and of the model in focus, and each guardrail of the model in focus.
    clusters
        Training records that the model in focus leaves out, by label and group.
    left_out, pinned
        Training rows that every model has to leave out, and has to keep.
    committed
        Number of the committed model; null if there is none.
    end
        Why the last step found no new model; null if it found one, or did not look for one.
    timeline
        The steps in the decision record.
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
    strip: tuple[GapChange, ...]
    guards: tuple[GuardValue, ...]
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
    """Selection rates of two models in one group of the selection split; null if the group has no rows."""

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
        Weights of both models, those that differ most first; empty for a kernel without weights.
    groups
        Selection rates of both models in every group.
    strip
        Every gap of both models.
    flips
        Numbers of rows that only one of the two models decides favourably, by sensitive column and group.
    flipped
        The rows that the models decide differently, with the decision of the second model.
    """

    first: int
    second: int
    weights: tuple[WeightPair, ...]
    groups: tuple[GroupPair, ...]
    strip: tuple[GapChange, ...]
    flips: dict[str, tuple[GroupFlips, ...]]
    flipped: tuple[FlippedRow, ...]


class Explored(Value, frozen=True):
    """The exploration before an audit: who decided for which model, why, and after looking at how many models.

    Attributes
    ----------
    number
        Number of the committed model in the exploration.
    looked_at
        Number of models looked at on the selection split.
    steps
        Number of steps, including those that were taken back.
    left_out, pinned
        Number of training rows that the author required models to leave out, and to keep.
    look
        Number of times that the holdout has been opened, this run included; 1 if nobody had seen it before the
        decision.
    record
        The sha256 of the line of the commit in the decision record.
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
