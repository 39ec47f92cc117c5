"""The rows and models of a run, which a saved document does not hold: their scoring, explanation and export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_array, check_is_fitted

from fairenum.auditing import model_facts
from fairenum.auditing.ambiguity_stage import with_flip_price
from fairenum.auditing.choosing import own_verdicts, selection_again, with_selection
from fairenum.auditing.explanation import anatomy, explanation, flips
from fairenum.auditing.group_tables import incumbent_settings
from fairenum.auditing.listing import Listing
from fairenum.auditing.measurement import ColumnSetting, measured_score
from fairenum.auditing.preparing import Prepared
from fairenum.auditing.prospects import prospects
from fairenum.auditing.schedule import Schedule, scoring_seconds
from fairenum.auditing.scored_set import ScoredSet, joint_limits, score_part
from fairenum.auditing.selection_bias import expected_optimism
from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import Selection
from fairenum.document.feature_facts import ROUNDING
from fairenum.document.measure_document import MeasureConfig
from fairenum.document.models import AuditedModel, Incumbent
from fairenum.document.person import Person
from fairenum.document.scores import ModelScore, SplitScores
from fairenum.document.table_facts import SensitiveColumn
from fairenum.document.terms import Gap, Part
from fairenum.document.training import Tolerances
from fairenum.document.value import Parts
from fairenum.enumeration.division import PARTS, Division
from fairenum.enumeration.fairest import guard_excess
from fairenum.enumeration.model import Model
from fairenum.runtime.budget import Deadline, Interrupted, checkpoint, until, waited
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray, IntArray, Kernel
from fairenum.svm.sparse_or_dense import as_matrix, dense

if TYPE_CHECKING:
    from fairenum.tables import Encoding


class KernelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A fitted kernel SVM as a scikit-learn classifier: support vectors, dual coefficients and bias.

    The decision value of x is ``sum_i dual_coef_i k(support_vector_i, x) + intercept``. As in scikit-learn, a value of
    exactly 0 gives the first class, which is unfavourable; :func:`pipeline` raises the bias slightly, so that 0 gives
    the favourable class as in an audit.
    """

    def __init__(self, kernel: str = "rbf", gamma: float = 1.0, degree: int = 3, coef0: float = 0.0) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Refuse to train, as the model was trained by an audit."""
        raise TypeError("this classifier was fitted by an audit; train a new one with fairenum.EnumSVC")

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Return the decision value of each row; positive values mean the second class."""
        check_is_fitted(self, "support_vectors_")
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0)  # type: ignore[arg-type]
        rows = as_matrix(check_array(X, accept_sparse="csr"))
        return np.asarray(kernel(rows, self.support_vectors_) @ self.dual_coef_ + self.intercept_)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.generic]:
        """Return the class of each row."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)])


def pipeline(model: Model, encoding: Encoding, classes: tuple[str, str], cut: float = 0.0) -> Pipeline:
    """Return the pipeline of a model, which takes rows of the table and predicts the texts of the label.

    `cut`, the decision threshold of the model, is subtracted from the bias. A linear model becomes scikit-learn's own
    `LinearSVC`, which can be loaded without fairenum unless the encoding has cut points; other kernels become a
    `KernelClassifier`. The bias is raised by the rounding limit, as scikit-learn gives a decision value of exactly 0
    the first class, and an audit the second.
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


@dataclass(frozen=True, slots=True, eq=False)
class RunState(Prepared):
    """The rows and models of a run, which a saved document does not hold."""

    listing: Listing

    @classmethod
    def of(cls, prepared: Prepared, listing: Listing) -> Self:
        """Return the state of a run, given the prepared audit and its listed models."""
        return cls(**{one.name: getattr(prepared, one.name) for one in fields(Prepared)}, listing=listing)

    @property
    def scored_set(self) -> ScoredSet:
        """The listed models and the model in use, in the order in which they are scored."""
        return ScoredSet(self.division, self.listing, self.incumbent, self.config.against == "incumbent")

    def estimator(self, rank: int) -> Pipeline:
        """Return the fitted scikit-learn pipeline of the model of a rank."""
        label = self.division.dataset.label
        classes = (label.unfavourable, label.favourable)
        cut = self.listing.cuts[rank - 1].value
        return pipeline(self.listing.models[rank - 1], self.division.encoding, classes, cut)

    def choose_again(
        self, document: AuditDocument, tolerances: Tolerances, rank: int | None, *, in_advance: bool = False
    ) -> AuditDocument:
        """Return the document with a model chosen again, its explanation, and the expected selection bias."""
        selection = selection_again(document, tolerances, rank, in_advance=in_advance)
        details = self.selection_details(selection, document.dataset.sensitive)
        chosen = with_selection(document, self.with_expected_bias(selection), **details)
        return chosen.redacted() if document.is_redacted else chosen

    def selection_details(
        self, selection: Selection, sensitive: Sequence[SensitiveColumn], schedule: Schedule | None = None
    ) -> dict[str, Any]:
        """Return the fields of a document that depend on the selected model.

        These are `anatomy` (weights or effects of features), `scores` and, if a model was selected, `explanation` (why
        it is fairer) and `flips` (the rows it decides differently). With a schedule, the explanation may be cut short.
        """
        details: dict[str, Any] = {
            "anatomy": anatomy(self, selection.shortlist),
            "scores": self._model_scores(selection, sensitive),
            "explanation": None,
            "flips": None,
        }
        rank = selection.rank
        if selection.outcome == "selected" and rank is not None:
            if rank > 1 and self.config.explanation:  # model 1 leaves nothing out
                metric = selection.tolerances.metric
                explain = partial(explanation, self, rank, metric)
                details["explanation"] = schedule.optional("explain", explain) if schedule else explain()
            details["flips"] = flips(self.scored_set, rank)
        return details

    def _model_scores(self, selection: Selection, sensitive: Sequence[SensitiveColumn]) -> tuple[ModelScore, ...]:
        """Return the measures of the score of the model in use on all its rows, and of decision values on the holdout.

        There are none with weighted rows or without sensitive columns.
        """
        if not sensitive or self.division.holdout.weights is not None:
            return ()
        wanted = selection.shortlist if self.config.scores else []
        return (*self._incumbent_score(), *(self._model_score(rank, sensitive) for rank in wanted))

    def _incumbent_score(self) -> Iterator[ModelScore]:
        """Yield the measures of the score of the model in use, if it has one, on all rows that it scored."""
        answers = self.incumbent.answers if self.incumbent else None
        if answers is None or answers.scores is None:
            return
        rows, settings = incumbent_settings(
            self.division, self.table, self.config, lower_is_better=answers.is_lower_better
        )
        labels = self.division.dataset.y[rows].astype(np.uint8)
        found = measured_score(answers.name, answers.scores[rows], labels, settings, self._clusters(rows))
        yield ModelScore(0, found, len(rows))

    def _model_score(self, rank: int, sensitive: Sequence[SensitiveColumn]) -> ModelScore:
        rows, place = self.division.rows["holdout"], self.scored_set.ranks.index(rank)
        values = self.scored_set.uncut("holdout")[place]
        config = MeasureConfig(
            seed=self.config.seed,
            confidence=self.config.confidence,
            min_group_size=self.config.min_group_size,
            small_groups=self.config.small_groups,
            replications=self.config.replications,
        )
        settings = [
            ColumnSetting(groups.take(rows), number, column.reference, True, config)
            for number, (groups, column) in enumerate(zip(self.division.columns, sensitive, strict=True))
        ]
        name = f"decision value of model {rank}"
        labels, clusters = self.division.holdout.labels, self._clusters(rows)
        return ModelScore(rank, measured_score(name, np.asarray(values), labels, settings, clusters))

    def _clusters(self, rows: IntArray) -> IntArray | None:
        """Return the persons or firms of some rows; None if every row is one of its own."""
        members = self.division.dataset.members
        return None if members is None else members[rows]

    def with_flip_price(self, document: AuditDocument, person: Person) -> Person:
        """Return a person with the flip price of model 1's decision."""
        return with_flip_price(document, person, self.division, self.training)

    def with_expected_bias(self, selection: Selection) -> Selection:
        """Return a selection with the expected selection bias: the part of the gain due to choosing on the same rows.

        It is estimated by resampling the selection split, and is left out where that is not valid: for a model that a
        search made fair on these rows, for a model chosen by its rank and not by the rule, and for comparisons with the
        model in use.
        """
        is_against_incumbent = self.incumbent is not None and self.config.against == "incumbent"
        if selection.reason != "smallest_gap" or is_against_incumbent:
            return selection
        if selection.optimism is None or selection.rank is None or self.listing.origins[selection.rank - 1] != "exact":
            return selection
        values = self.listing.values["selection"]
        expected = expected_optimism(
            self.listing.decisions(self.division, "selection", self.division.column),
            values,
            self.listing.loss_ratio,
            selection.tolerances,
            stream(self.config.seed, "selection bias"),
            self.config.replications,
            excess=guard_excess(self.division.selection, values, selection.tolerances),
        )
        return selection.but(optimism=selection.optimism.but(expected=expected))


HASTE = 0.8  # seconds for scores after an interrupt


def scored_in_time(
    state: RunState, schedule: Schedule, *, is_free: bool
) -> tuple[RunState, tuple[AuditedModel, ...], Incumbent | None]:
    """Return the run state, its scored models and the scored model in use.

    After an interrupt, only as many models are kept as can be scored in about `HASTE` seconds. If `is_free` is false,
    all models are scored, as the user has already chosen one of them.
    """
    if not schedule.budget.is_interrupted or not is_free:
        with suppress(Interrupted), until(schedule.budget.whenever() if is_free else Deadline()):
            return state, *waited(partial(_scored, state))
    most = max(1, int(HASTE / (scoring_seconds(state.division) * schedule.budget.pace)))
    fewer = replace(state, listing=few_of(state.listing, state.division, state.config.metric, most))
    if len(fewer.listing.models) < len(state.listing.models):
        schedule.ended("score", "interrupted")
    return fewer, *_scored(fewer)


def _scored(state: RunState) -> tuple[tuple[AuditedModel, ...], Incumbent | None]:
    scored_set = state.scored_set
    scores: dict[Part, list[SplitScores]] = {}
    for part in PARTS:
        scores[part] = score_part(scored_set, part, state.config)
        checkpoint()
    limits = joint_limits(scored_set, state.config)
    scores["holdout"] = [one.but(together=own) for one, own in zip(scores["holdout"], limits, strict=True)]
    row_0 = None
    if state.incumbent is not None:
        place = scored_set.ranks.index(0)
        own = Parts(*(scores[part].pop(place) for part in PARTS))
        row_0 = model_facts.incumbent(state.incumbent, scored_set, own, state.config)
    expected, judged = prospects(scored_set, state.config), own_verdicts(scored_set, state.config)
    return model_facts.audited_models(state.division, state.training, state.listing, scores, expected, judged), row_0


def few_of(listing: Listing, division: Division, metric: Gap, most: int) -> Listing:
    """Return a listing of at most `most` models: model 1, and those of smallest gap on the selection split."""
    count = len(listing.models)
    if count <= most:
        return listing
    gaps = np.nan_to_num(division.selection.gaps(listing.values["selection"], metric), nan=np.inf)
    gaps[0] = -np.inf
    return listing.taken(np.sort(np.argsort(gaps, kind="stable")[:most]))
