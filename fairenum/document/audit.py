"""The document of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from fairenum.document.anatomy import Anatomy, Flips
from fairenum.document.arbitrariness import Arbitrariness
from fairenum.document.attack import Attack
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import Caution, Explanation, ReferenceCheck, Selection
from fairenum.document.deciding import DecideText
from fairenum.document.exploration import Explored
from fairenum.document.header import Document
from fairenum.document.impact import GroupTable
from fairenum.document.incumbent import Incumbent
from fairenum.document.machine import ClassWeight
from fairenum.document.measured_score import ModelScore
from fairenum.document.models import (
    AuditedModel,
    Baseline,
    EnumerationRun,
    Example,
    GuidedRun,
    Multiplicity,
)
from fairenum.document.performance import RequestedPerformance
from fairenum.document.possible import PossibleRange
from fairenum.document.screening import Screening
from fairenum.document.spending import Spending
from fairenum.document.table import TableFacts
from fairenum.document.tilted import TiltedRun
from fairenum.document.training import ClassWeights, SolverLapse, Tuning
from fairenum.document.value import Value


class Requested(Value, frozen=True):
    """What was asked for where it had to be resolved."""

    C: float | Literal["auto"]
    gamma: float | Literal["scale", "auto"]
    max_nodes: int | Literal["auto"] | None
    performance: RequestedPerformance = "accuracy"
    decide: DecideText = "sign"
    class_weight: ClassWeight = "none"
    patience: int | Literal["auto"] = 1000


class AuditDocument(Document, frozen=True, kw_only=True, tag="audit"):
    """The result of one audit. Undefined numbers are null.

    Everything but timings is the same for the same input and seed.

    Attributes
    ----------
    config
        The options, as resolved.
    requested
        Those of them that had to be resolved, as they were asked for.
    is_exploratory
        Whether models were selected and reported on rows that are not separate.
    is_redacted
        Whether row numbers, labels, groups and values of single rows were left out.
    tuning
        Null if C was given.
    class_weights
        As resolved, and what they were resolved by.
    guided
        Null if it was not asked for.
    tilted
        Null if the guided search was not asked for or skipped, and in runs of older versions.
    examples
        The training examples that some model leaves out.
    multiplicity
        Null if there was no time for it.
    range
        Null without two groups to compare, if it was not asked for or could not be proven, where every model is cut at
        a rate of its own, and in runs of older versions.
    baselines
        Null if they were not asked for.
    explanation
        Null unless another model than model 1 was selected, and explained.
    group_tables
        For the model in use, model 1 and the selected model, every sensitive column.
    warnings
        What to beware of.
    attack
        What label flips do to the audit, over many draws of the table; null if it was not asked for.
    screening
        What single features give away; null in runs of older versions.
    anatomy
        What the models go by; null in runs of older versions.
    flips
        Whom the selected model decides otherwise than the reference; null unless that is another, and in a choice that
        was made again without the data.
    incumbent
        The model in use, row 0 of every table; null if none was given.
    scores
        What models rank people by, on the holdout: the score of the model in use if it has one and, if that was asked
        for, the decision values of model 1 and of the selected model.
    exploration
        How somebody came to decide for the selected model; null unless the run was explored.
    arbitrariness
        Whose decision depends on which of the near-optimal machines is used, over all of them; null if it was not asked
        for, if there was no time for it, where the solver failed, and in runs of older versions.
    spending
        How the audit kept to its time limit, and what was cut; null where there was no limit and nothing was cut.
    options_file
        The name of the configuration file that options were taken from; null if there was none.
    lapse
        The solver that failed, if another went on in its place.
    """

    title: ClassVar[str] = "audit"
    command: ClassVar[str] = "fairenum audit DATA"

    config: AuditConfig
    requested: Requested
    is_exploratory: bool
    dataset: TableFacts
    tuning: Tuning | None
    enumeration: EnumerationRun
    guided: GuidedRun | None
    models: tuple[AuditedModel, ...]
    examples: tuple[Example, ...]
    multiplicity: Multiplicity | None
    range: PossibleRange | None
    baselines: tuple[Baseline, ...] | None
    selection: Selection
    explanation: Explanation | None
    group_tables: tuple[GroupTable, ...]
    reference_check: ReferenceCheck
    warnings: tuple[Caution, ...]
    attack: Attack | None = None
    is_redacted: bool = False
    screening: Screening | None = None
    anatomy: Anatomy | None = None
    flips: Flips | None = None
    class_weights: ClassWeights = ClassWeights()
    tilted: TiltedRun | None = None
    incumbent: Incumbent | None = None
    scores: tuple[ModelScore, ...] = ()
    exploration: Explored | None = None
    spending: Spending | None = None
    options_file: str | None = None
    arbitrariness: Arbitrariness | None = None
    lapse: SolverLapse | None = None

    @property
    def name(self) -> str:
        """What the run is called: as its table."""
        return self.dataset.name

    @property
    def first(self) -> AuditedModel:
        """Model 1, the best by its objective."""
        return self.models[0]

    @property
    def is_against_incumbent(self) -> bool:
        """Whether models are compared with the model in use, and not with model 1."""
        return self.incumbent is not None and self.config.against == "incumbent"

    @property
    def reference(self) -> AuditedModel | Incumbent:
        """What models are compared with: the model in use, or model 1."""
        return self.incumbent if self.incumbent and self.is_against_incumbent else self.first

    @property
    def ranks(self) -> Sequence[int]:
        """Ranks of all rows of a table of models: the model in use is row 0."""
        return range(0 if self.incumbent else 1, len(self.models) + 1)

    @property
    def members(self) -> Sequence[AuditedModel | Incumbent]:
        """All rows of a table of models, the model in use first."""
        return (self.incumbent, *self.models) if self.incumbent else self.models

    @property
    def shortlist(self) -> list[int]:
        """Ranks to be shown side by side: the model in use, which has rank 0, model 1, and the selected one."""
        return [*([0] if self.incumbent else []), *self.selection.shortlist]

    def member(self, rank: int) -> AuditedModel | Incumbent:
        """Return a model by its rank; the model in use has rank 0."""
        return self.incumbent if rank == 0 and self.incumbent else self.models[rank - 1]

    @property
    def selected(self) -> AuditedModel | None:
        """The selected model; None if there is none."""
        return None if self.selection.rank is None else self.models[self.selection.rank - 1]

    @property
    def column(self) -> str | None:
        """The sensitive column, or intersection, that models are selected by."""
        return self.config.primary

    def redacted(self) -> AuditDocument:
        """Leave out what it holds of single rows: their numbers, splits, labels, groups and values."""
        models = tuple(model.but(left_out=tuple(entry.counted for entry in model.left_out)) for model in self.models)
        explanation = self.explanation
        if explanation:
            core = explanation.core.but(left_out=tuple(entry.counted for entry in explanation.core.left_out))
            explanation = explanation.but(clusters=(), core=core)
        flips = self.flips and self.flips.but(flipped=())
        return self.but(
            is_redacted=True,
            dataset=self.dataset.but(split_rows=None),
            models=models,
            examples=(),
            explanation=explanation,
            flips=flips,
            arbitrariness=self.arbitrariness and self.arbitrariness.redacted,
            scores=(),  # the least score and the curve of a small group are those of persons
        )
