"""The state of a run that a saved document lacks: rows and models, with their scoring, explanation and export."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_array, check_is_fitted

from fairenum.auditing import model_facts
from fairenum.auditing.ambiguity_stage import settled
from fairenum.auditing.choosing import choose_again
from fairenum.auditing.explanation import explanation
from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.listing import Listing
from fairenum.auditing.measurement import Setting, measured_score
from fairenum.auditing.model_training import Training
from fairenum.auditing.model_weights import anatomy, flips
from fairenum.auditing.schedule import Schedule, scoring_seconds
from fairenum.auditing.scorecard import BALANCED, score_part, stream
from fairenum.auditing.scored_set import ScoredSet
from fairenum.auditing.selection_bias import expected_optimism
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.feature_facts import ROUNDING
from fairenum.document.measure_document import MeasureConfig
from fairenum.document.models import AuditedModel, Incumbent
from fairenum.document.person import Person
from fairenum.document.scores import ModelScore, SplitScores
from fairenum.document.terms import GAPS, RATIOS, Gap, Measure, Part
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate, Parts
from fairenum.enumeration.division import PARTS, Division
from fairenum.enumeration.fairest import guard_excess
from fairenum.enumeration.model import Model
from fairenum.metrics import Decisions, gap_intervals, rate_intervals, score
from fairenum.metrics.comparison import gap_critical
from fairenum.metrics.impact_ratios import ratio_intervals
from fairenum.metrics.intervals import estimates
from fairenum.metrics.performance import auc_intervals, decided_intervals, performance_intervals
from fairenum.runtime.budget import Deadline, Interrupted, checkpoint, until, waited
from fairenum.svm.problem import FloatArray, Kernel
from fairenum.svm.sparse_or_dense import as_matrix, dense

if TYPE_CHECKING:
    from fairenum.tables import Encoding


class KernelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A fitted kernel SVM: support vectors, weights and bias.

    The decision value of x is ``sum_i dual_coef_i k(support_vector_i, x) + intercept``. As in scikit-learn, a value of
    exactly 0 is of the first class, unfavourable; :func:`pipeline` raises the bias so that ties come out favourable.
    """

    def __init__(self, kernel: str = "rbf", gamma: float = 1.0, degree: int = 3, coef0: float = 0.0) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Refuse to train: the model comes from an audit."""
        raise TypeError("this classifier was fitted by an audit; train a new one with fairenum.EnumSVC")

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Return the signed decision value of each row."""
        check_is_fitted(self, "support_vectors_")
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0)  # type: ignore[arg-type]
        rows = as_matrix(check_array(X, accept_sparse="csr"))
        return np.asarray(kernel(rows, self.support_vectors_) @ self.dual_coef_ + self.intercept_)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.generic]:
        """Return the class of each row."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)])


def pipeline(model: Model, encoding: Encoding, classes: tuple[str, str], cut: float = 0.0) -> Pipeline:
    """Build the pipeline of a model, which takes rows of the table and returns the label's texts.

    The cut is subtracted from the bias, so that the sign decides as the model does at its cut. A linear model becomes
    scikit-learn's own `LinearSVC`, which needs no fairenum to be loaded; other kernels become a `KernelClassifier`. The
    bias is raised by the rounding limit, as scikit-learn counts a decision value of exactly 0 as the first class, and
    an enumerated model as the second.
    """
    classifier = _linear(model) if model.problem.kernel.name == "linear" else _kernel(model)
    classifier.intercept_ = np.array([model.intercept - cut + ROUNDING])
    classifier.classes_ = np.array(classes)
    classifier.n_features_in_ = model.problem.X.shape[1]
    return Pipeline([("preprocessing", encoding.preprocessor), ("classifier", classifier)])


def _linear(model: Model) -> LinearSVC:
    classifier = LinearSVC(loss="hinge")
    classifier.coef_ = model.plane[None]
    classifier.n_iter_ = 0
    return classifier


def _kernel(model: Model) -> KernelClassifier:
    kernel = model.problem.kernel
    classifier = KernelClassifier(kernel.name, kernel.gamma, kernel.degree, kernel.coef0)
    rows, classifier.dual_coef_ = model.expansion
    classifier.support_vectors_ = dense(rows)
    return classifier


def model_scores(document: AuditDocument, scored_set: ScoredSet) -> tuple[ModelScore, ...]:
    """Measure decision values and the score of the model in use as `fairenum measure` does; none for weighted rows."""
    if not document.dataset.sensitive or scored_set.division.holdout.weights is not None:
        return ()
    return tuple(_measured(rank, document, scored_set) for rank in _wanted(document))


def _wanted(document: AuditDocument) -> Iterable[int]:
    incumbent = document.incumbent
    own = (0,) if incumbent is not None and incumbent.has_score else ()
    return (*own, *(document.selection.shortlist if document.config.scores else ()))


def _measured(rank: int, document: AuditDocument, scored_set: ScoredSet) -> ModelScore:
    told, place = document.incumbent if rank == 0 else None, scored_set.ranks.index(rank)
    rows, labels = scored_set.division.rows["holdout"], scored_set.division.holdout.labels
    measuring = _config(document.config, is_lower_better=told is not None and told.is_lower_better)
    values = scored_set.values("holdout")[place] if told else scored_set.uncut("holdout")[place]
    settings = [
        Setting(groups.take(rows), number, column.reference, True, measuring)
        for number, (groups, column) in enumerate(
            zip(scored_set.division.columns, document.dataset.sensitive, strict=True)
        )
    ]
    name = told.name if told else f"decision value of model {rank}"
    return ModelScore(rank, measured_score(name, np.asarray(values), labels, settings))


def _config(config: AuditConfig, *, is_lower_better: bool) -> MeasureConfig:
    """Return the options of a measurement that match the audit's."""
    return MeasureConfig(
        lower_is_better=is_lower_better,
        seed=config.seed,
        confidence=config.confidence,
        min_group_size=config.min_group_size,
        small_groups=config.small_groups,
        replications=config.replications,
    )


@dataclass(frozen=True, slots=True, eq=False)
class RunState:
    """The rows and models of a run, which a saved document does not hold.

    Attributes
    ----------
    asked, config
        The options as given, and as resolved.
    """

    asked: AuditConfig
    config: AuditConfig
    division: Division
    training: Training
    listing: Listing
    incumbent: IncumbentDecisions | None = None

    @property
    def scored_set(self) -> ScoredSet:
        """The models that are scored together."""
        return ScoredSet(self.division, self.listing, self.incumbent, self.config.against == "incumbent")

    def estimator(self, rank: int) -> Pipeline:
        """Build the scikit-learn pipeline of a model."""
        label = self.division.dataset.label
        classes = (label.unfavourable, label.favourable)
        cut = self.listing.cuts[rank - 1].value
        return pipeline(self.listing.models[rank - 1], self.division.encoding, classes, cut)

    def choose_again(self, document: AuditDocument, tolerances: Tolerances, rank: int | None) -> AuditDocument:
        """Return the document with another choice, its explanation, and its expected selection bias."""
        chosen = self.weighed(self.explained(choose_again(document, tolerances, rank)))
        return chosen.redacted() if document.is_redacted else chosen

    def explained(self, document: AuditDocument, schedule: Schedule | None = None) -> AuditDocument:
        """Add weights or effects of features and, for a selected model, why it is fairer and the rows it changes."""
        selection = document.selection
        parts = anatomy(self.division, self.listing, selection.shortlist, self.config)
        document = document.but(anatomy=parts, scores=model_scores(document, self.scored_set))
        if selection.outcome != "selected" or selection.rank is None:
            return document.but(explanation=None, flips=None)
        found, metric = None, selection.tolerances.metric
        if selection.rank > 1 and self.config.explanation:  # model 1 leaves nothing out
            explain = partial(explanation, self.division, self.training, self.listing, selection.rank, metric)
            found = schedule.optional("explain", explain) if schedule else explain()
        return document.but(explanation=found, flips=flips(self.scored_set, selection.rank))

    def settled(self, document: AuditDocument, person: Person) -> Person:
        """Add to a person the flip price of the decision."""
        return settled(document, person, self.division, self.training)

    def weighed(self, document: AuditDocument) -> AuditDocument:
        """Add the expected selection bias: the part of the gain that is due to choosing, estimated on redrawn rows.

        A model of a search was made to look fair on these rows, which drawing them again cannot undo; one that was
        asked for by its rank was not chosen by the rule. Against a model in use the holdout's own estimate is all there
        is.
        """
        selection, chosen = document.selection, document.selected
        is_ruled = selection.reason == "smallest_gap" and not document.is_against_incumbent
        if not is_ruled or selection.optimism is None or chosen is None or chosen.is_searched:
            return document
        values = self.listing.values["selection"]
        expected = expected_optimism(
            self.listing.decisions(self.division, "selection", self.division.column),
            values,
            self.listing.objective_ratio,
            selection.tolerances,
            stream(self.config, len(PARTS)),
            self.config.replications,
            loss_ratio=self.listing.loss_ratio,
            excess=guard_excess(self.division.selection, values, selection.tolerances),
        )
        return document.but(selection=selection.but(optimism=selection.optimism.but(expected=expected)))


PLACE = len(PARTS) + 2  # of their random numbers


def together(scored_set: ScoredSet, config: AuditConfig) -> list[dict[Measure, Estimate]]:
    """Return the measures of all models on the holdout, with limits that hold for all models together."""
    everyone, values, column = (
        scored_set.decisions("holdout", None),
        scored_set.values("holdout"),
        scored_set.division.column,
    )
    confidence = 1.0 - (1.0 - config.confidence) / len(values)
    counts = score(everyone).counts.overall()
    found: dict[Measure, list[Estimate]] = {
        "accuracy": estimates(rate_intervals(counts, "accuracy", confidence)),
        "balanced_accuracy": estimates(decided_intervals(counts, BALANCED, confidence)),
        "selection_rate": estimates(rate_intervals(counts, "selection_rate", confidence)),
        "auc": estimates(auc_intervals(values, everyone.labels, confidence, everyone.weights)),
        "performance": estimates(performance_intervals(everyone, values, config.tolerances.measure, confidence)),
    }
    if column:
        found |= _of_groups(scored_set.decisions("holdout", column), confidence, config)
    return [{name: column[model] for name, column in found.items()} for model in range(len(values))]


def _of_groups(decisions: Decisions, confidence: float, config: AuditConfig) -> dict[Measure, list[Estimate]]:
    scores, compared = score(decisions), decisions.compared()
    found: dict[Measure, list[Estimate]] = {}
    for number, gap in enumerate(GAPS):
        critical = gap_critical(
            compared,
            gap,
            stream(config, PLACE, number),
            confidence=config.confidence,
            replications=config.replications,
        )
        found[gap] = estimates(gap_intervals(scores, gap, critical=critical))
    return found | {ratio: estimates(ratio_intervals(scores, ratio, confidence)) for ratio in RATIOS}


HASTE = 0.8  # seconds for scores once the user has asked to come to an end


def scored_in_time(
    live: RunState, schedule: Schedule, *, is_free: bool
) -> tuple[RunState, tuple[AuditedModel, ...], Incumbent | None]:
    """Score all models or, after an interrupt, as many as can be scored in a moment.

    Without `is_free` no model may be left out, as one of them has been chosen already.
    """
    if not schedule.budget.is_interrupted or not is_free:
        with suppress(Interrupted), until(schedule.budget.whenever() if is_free else Deadline()):
            return live, *waited(partial(_scored, live))
    most = max(1, int(HASTE / (scoring_seconds(live.division) * schedule.budget.pace)))
    fewer = replace(live, listing=few_of(live.listing, live.division, live.config.metric, most))
    if len(fewer.listing.models) < len(live.listing.models):
        schedule.ended("score", "interrupted")
    return fewer, *_scored(fewer)


def _scored(live: RunState) -> tuple[tuple[AuditedModel, ...], Incumbent | None]:
    """Score the models and the model in use on both splits, and add the facts about them."""
    scored_set = live.scored_set
    scores: dict[Part, list[SplitScores]] = {}
    for part in PARTS:
        scores[part] = score_part(scored_set, part, live.config)
        checkpoint()
    limits = together(scored_set, live.config)
    scores["holdout"] = [one.but(together=own) for one, own in zip(scores["holdout"], limits, strict=True)]
    row_0 = None
    if live.incumbent is not None:
        place = scored_set.ranks.index(0)
        own = Parts(*(scores[part].pop(place) for part in PARTS))
        row_0 = model_facts.incumbent(live.incumbent, scored_set, own, live.config)
    return model_facts.audited_models(live.division, live.training, live.listing, scores), row_0


def few_of(listing: Listing, division: Division, metric: Gap, most: int) -> Listing:
    """Keep model 1 and the models of smallest gap on the selection split, at most `most` in all."""
    count = len(listing.models)
    if count <= most:
        return listing
    gaps = np.nan_to_num(division.selection.gaps(listing.values["selection"], metric), nan=np.inf)
    gaps[0] = -np.inf
    return listing.taken(np.sort(np.argsort(gaps, kind="stable")[:most]))
