"""The document of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from fairenum.document.attack_document import Attack
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import Caution, Explanation, ReferenceCheck, Selection
from fairenum.document.exploration_view import Explored
from fairenum.document.feature_facts import Anatomy, Flips, Screening
from fairenum.document.flip_facts import AmbiguityFacts, ParityRange
from fairenum.document.header import Document, Spending
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.models import (
    AuditedModel,
    Baseline,
    EnumerationRun,
    Example,
    GuidedRun,
    Incumbent,
    Multiplicity,
    TiltedRun,
)
from fairenum.document.scores import GroupTable, ModelScore
from fairenum.document.table_facts import TableFacts
from fairenum.document.terms import RequestedPerformance
from fairenum.document.training import ClassWeight, ClassWeights, DecideText, SolverLapse, Tuning
from fairenum.document.value import Value


class Requested(Value, frozen=True):
    """Options as they were asked for, before the run resolved them."""

    C: float | Literal["auto"]
    gamma: float | Literal["scale", "auto"]
    max_nodes: int | Literal["auto"] | None
    performance: RequestedPerformance = "accuracy"
    decide: DecideText = "sign"
    class_weight: ClassWeight = "none"
    patience: int | Literal["auto"] = 1000


class AuditDocument(Document, frozen=True, kw_only=True, tag="audit"):
    """The result of one audit. Undefined numbers are null.

    The same input and seed give the same document, apart from timings.

    Attributes
    ----------
    config
        The options, as resolved.
    requested
        Options that had to be resolved, as they were asked for.
    is_exploratory
        Whether the reported scores are of rows that models were also selected by.
    is_redacted
        Whether row numbers, labels, groups and values of single rows were left out.
    tuning
        The choice of C; null if C was given.
    class_weights
        Class weights as resolved, and the selection rate that decided on them.
    guided
        How the guided search went; null if it was not asked for.
    tilted
        How the search among tilted models went; null if the guided search was not asked for or skipped.
    examples
        The training examples that some model leaves out.
    multiplicity
        Disagreement of the listed models; null if there was no time for it.
    parity_range
        The parity range over all near-optimal models. Null without two groups to compare, if it was not asked for or
        could not be proven, and where every model is cut at a rate of its own.
    baselines
        Other mitigations; null if they were not asked for.
    explanation
        Why the selected model is fairer; null unless another model than model 1 was selected, and explained.
    group_tables
        For the model in use, model 1 and the selected model, every sensitive column.
    warnings
        Cautions for the reader, the gravest first.
    attack
        Effect of label flips on the audit, over many draws of the table; null if it was not asked for.
    screening
        How well single features tell the label and the groups; null if there was no time for it.
    anatomy
        Encoding of the features, and the weights of the models.
    flips
        Rows that the selected model and the reference decide differently; null if they are the same model, and in a
        choice that was made again without the data.
    incumbent
        The model in use, row 0 of every table; null if none was given.
    scores
        Scores that models rank people by, on the holdout: the score of the model in use if it has one and, if asked
        for, the decision values of model 1 and of the selected model.
    exploration
        How the selected model was decided for in an exploration; null unless the run was explored.
    ambiguity
        Ambiguity: whose decision depends on the choice among all near-optimal models, listed or not; null if it was not
        asked for, if there was no time for it, and where the solver failed.
    spending
        How the audit kept to its time limit, and the stages that were cut; null where there was no limit and nothing
        was cut.
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
    parity_range: ParityRange | None
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
    ambiguity: AmbiguityFacts | None = None
    lapse: SolverLapse | None = None

    @property
    def name(self) -> str:
        """The name of the run: that of its table."""
        return self.dataset.name

    @property
    def first(self) -> AuditedModel:
        """Model 1, the best by its objective."""
        return self.models[0]

    @property
    def is_against_incumbent(self) -> bool:
        """Whether models are compared with the model in use, not with model 1."""
        return self.incumbent is not None and self.config.against == "incumbent"

    @property
    def reference(self) -> AuditedModel | Incumbent:
        """The reference that models are compared with: the model in use, or model 1."""
        return self.incumbent if self.incumbent and self.is_against_incumbent else self.first

    @property
    def ranks(self) -> Sequence[int]:
        """Ranks of all models in a table; the model in use has rank 0."""
        return range(0 if self.incumbent else 1, len(self.models) + 1)

    @property
    def members(self) -> Sequence[AuditedModel | Incumbent]:
        """All models in the order of their ranks, the model in use first."""
        return (self.incumbent, *self.models) if self.incumbent else self.models

    @property
    def shortlist(self) -> list[int]:
        """Ranks to show side by side: the model in use (rank 0), model 1, and the selected model."""
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
        """Return a copy without single rows: their numbers, splits, labels, groups and values."""
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
            ambiguity=self.ambiguity and self.ambiguity.redacted,
            scores=(),  # the least score and the curve of a small group are those of persons
        )


JudgedDocument = AuditDocument | MeasureDocument  # documents with cautions, which rules can judge
