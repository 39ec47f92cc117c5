"""The document of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from fairenum.document.attack_document import Attack
from fairenum.document.audit_config import SHARES, AuditConfig
from fairenum.document.choice import Caution, Explanation, ReferenceCheck, Selection
from fairenum.document.exploration_view import Explored
from fairenum.document.feature_facts import Anatomy, FeatureEncoding, Flips, Screening
from fairenum.document.flip_facts import AmbiguityFacts, ParityRange
from fairenum.document.header import Document, Spending
from fairenum.document.incumbent_measures import IncumbentMeasures
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
from fairenum.document.options import Sizes
from fairenum.document.scores import GroupTable, ModelScore
from fairenum.document.table_facts import TableFacts
from fairenum.document.terms import RequestedFeatures, RequestedPerformance
from fairenum.document.training import (
    NEAR_OPTIMAL,
    REACH,
    ClassWeight,
    ClassWeights,
    Decide,
    DecideText,
    DecidingRule,
    SolverLapse,
    Tuning,
)
from fairenum.document.value import Value


class Requested(Value, frozen=True):
    """Options as the user gave them, before the run replaced "auto" and the like by values."""

    C: float | Literal["auto"]
    gamma: float | Literal["scale", "auto"]
    max_nodes: int | Literal["auto"] | None
    performance: RequestedPerformance = "accuracy"
    decide: DecideText = "sign"
    class_weight: ClassWeight = "none"
    patience: int | Literal["auto"] = 1000
    eps: float | Literal["auto"] = NEAR_OPTIMAL
    sizes: Sizes | Literal["auto"] = SHARES
    features: RequestedFeatures = "linear"


class AuditDocument(Document, frozen=True, kw_only=True, tag="audit"):
    """The result of one audit, in which undefined numbers are null.

    The same input and seed give the same document, apart from timings.

    Attributes
    ----------
    config
        The options, with "auto" and the like replaced by values.
    requested
        Options that can be "auto" or the like, as the user gave them.
    is_exploratory
        Whether the holdout proves nothing about the selected model: models were selected by the same rows, or somebody
        had seen the holdout before deciding.
    is_redacted
        Whether the row numbers, splits, labels, groups, values and scores of single rows were left out.
    tuning
        The choice of C; null if C was given.
    class_weights
        Class weights that were used, and the selection rate without them, by which they were chosen.
    enumeration
        Effort of the search that lists models best first, and why it stopped.
    guided
        Effort of the guided search for fairer models, and why it stopped; null if it was not asked for.
    models
        The listed models, in the order of their ranks from 1.
    tilted
        Effort of the search among tilted models, which are trained with a price on the difference between two groups;
        null if the guided search was not asked for or was skipped.
    examples
        The training examples that some listed model leaves out.
    multiplicity
        Disagreement of the listed models; null if there was no time for it.
    parity_range
        Bounds on the demographic parity difference over all near-optimal models, listed or not. Null without two groups
        to compare, if it was not asked for or could not be proven, and if each model has a threshold of its own.
    baselines
        Results of other mitigation methods; null if they were not asked for.
    explanation
        Why the selected model is fairer; null if the selected model is model 1, or was not explained.
    group_tables
        Adverse-impact tables of the model in use, model 1 and the selected model on the holdout, one for each sensitive
        column.
    reference_check
        Comparison of gaps with those that another library computes.
    warnings
        Cautions for the reader, the gravest first.
    attack
        Effect of label flips on the audit, over many draws of the table; null if it was not asked for.
    screening
        How well single features predict the label, the decisions of model 1 and the groups; null if there was no time
        for it.
    anatomy
        Encoding of the features, and the weights of the models for them.
    flips
        Rows that the selected model and the reference decide differently; null if they are the same model, or if the
        model was chosen again from a saved document without the data.
    incumbent
        The model in use, which has rank 0; null if none was given.
    incumbent_measures
        The model in use on all rows that it decided; null if there is none, or in a run that measured it on the holdout
        alone.
    scores
        Scores that models rank people by: the score of the model in use if it has one and, if asked for, the decision
        values of model 1 and of the selected model, on the holdout.
    exploration
        Who decided for the selected model in an exploration, and why; null if there was no exploration.
    ambiguity
        How many decisions depend on the choice among all near-optimal models, listed or not; null if it was not asked
        for, if there was no time for it, and if the solver failed.
    spending
        The time limit, and the stages that were cut; null if there was no limit and nothing was cut.
    options_file
        The name of the configuration file that options were taken from; null if there was none.
    features
        How numbers are encoded, and why; null if they are encoded as they are and nothing else was tried, and in older
        runs.
    lapse
        The solver that failed, and the solver that took over; null if none failed.
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
    incumbent_measures: IncumbentMeasures | None = None
    scores: tuple[ModelScore, ...] = ()
    exploration: Explored | None = None
    spending: Spending | None = None
    options_file: str | None = None
    ambiguity: AmbiguityFacts | None = None
    lapse: SolverLapse | None = None
    features: FeatureEncoding | None = None

    @property
    def name(self) -> str:
        """The name of the run, which is the name of its table."""
        return self.dataset.name

    @property
    def first(self) -> AuditedModel:
        """Model 1, which has the best objective of all models."""
        return self.models[0]

    @property
    def is_against_incumbent(self) -> bool:
        """Whether models are compared with the model in use, not with model 1."""
        return self.incumbent is not None and self.config.against == "incumbent"

    @property
    def deciding_rule(self) -> DecidingRule:
        """The rule by which models are cut, as requested or, if "auto" was, as the run resolved it."""
        asked = Decide.of(self.requested.decide).rule
        if asked != "auto" or self.config.rate is None:
            return Decide.of(self.config.decide).rule if asked == "auto" else asked
        rate = self.incumbent.scores.selection.selection_rate.value if self.incumbent else None
        is_mixed = self.is_against_incumbent and rate is not None and 0.0 < rate < 1.0
        return "like-incumbent" if is_mixed else "base-rate"

    @property
    def reach(self) -> float:
        """The relative loss up to which fairer models are looked for, unless the run itself widened that."""
        return REACH if self.requested.eps == "auto" else self.selection.tolerances.eps

    @property
    def near_optimal(self) -> float:
        """The relative loss up to which a model counts as near-optimal: eps, unless the run itself widened that."""
        eps = self.selection.tolerances.eps
        return min(eps, NEAR_OPTIMAL) if self.requested.eps == "auto" else eps

    @property
    def reference(self) -> AuditedModel | Incumbent:
        """The reference that models are compared with: the model in use, or model 1."""
        return self.incumbent if self.incumbent and self.is_against_incumbent else self.first

    @property
    def ranks(self) -> Sequence[int]:
        """The ranks of all models: those of listed models from 1 and, if there is a model in use, 0 for that model."""
        return range(0 if self.incumbent else 1, len(self.models) + 1)

    @property
    def members(self) -> Sequence[AuditedModel | Incumbent]:
        """All models in the order of their ranks; the model in use, if there is one, is the first."""
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
        """The selected model; None if no listed model was selected."""
        return None if self.selection.rank is None else self.models[self.selection.rank - 1]

    @property
    def column(self) -> str | None:
        """The sensitive column, or intersection of columns, by whose gap models are selected; None if there is none."""
        return self.config.primary

    def redacted(self) -> AuditDocument:
        """Return a copy without the row numbers, splits, labels, groups, values and scores of single rows."""
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
