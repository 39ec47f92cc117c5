"""Baselines: other bias mitigations applied to the audited SVM, and scored on the holdout beside model 1."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from fairenum.auditing.listing import Listing
from fairenum.auditing.scorecard import changed_performances, gap_scores, overall_estimates
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.metric_registry import METRICS
from fairenum.document.models import Baseline
from fairenum.document.scores import BaselineScores
from fairenum.document.terms import Gap
from fairenum.document.training import SvmSettings, Tolerances
from fairenum.enumeration.division import Division, EncodedRows, class_weights, kernel_for, pose
from fairenum.enumeration.fairest import candidate_scores, guard_excess
from fairenum.enumeration.model import Model, model_of
from fairenum.errors import DataError, FairenumError
from fairenum.metrics import Decisions
from fairenum.metrics.operating_point import SIGN, Decides, Operating, OperatingPoint
from fairenum.runtime.budget import Progress
from fairenum.runtime.random_streams import stream
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import Matrix, as_matrix, dense
from fairenum.tables import merge_identical

if TYPE_CHECKING:
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import ErrorRate, ExponentiatedGradient

    from fairenum.auditing.run_state import RunState


class WeightedSvm(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The audited SVM as a scikit-learn classifier for labels 0 and 1, with a weight for each row.

    Parameters
    ----------
    svm
        Settings of the SVM, with a number as C. Identical rows are always merged into one example with the sum of
        their weights.
    """

    def __init__(self, svm: SvmSettings) -> None:
        self.svm = svm

    def fit(self, X: npt.ArrayLike | Matrix, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Train the SVM; if all rows with a positive weight have the same label, every row will get that label."""
        table, labels = as_matrix(X), np.asarray(y).astype(np.intp)
        weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        used = weights > 0.0
        self.classes_ = np.array([0, 1])
        self.only_ = int(labels[used][0]) if len(np.unique(labels[used])) < 2 else None
        if self.only_ is None:
            rows, signs = table[used], np.where(labels[used] == 1, 1.0, -1.0)
            merged = merge_identical(rows, signs)
            sums = np.bincount(merged.inverse, weights[used]).astype(np.float64)
            problem = pose(merged.X, signs[merged.first], replace(self.svm, rows=True), weights=sums).problem
            solution = open_workspace(self.svm.solver, problem).solve()
            self.model_ = model_of(problem, solution, 1, solution.certificate.objective)
        return self

    def decision_function(self, X: npt.ArrayLike | Matrix) -> FloatArray:
        """Return the decision value of each row; values of at least 0 mean label 1."""
        table = as_matrix(X)
        if self.only_ is not None:
            return np.full(table.shape[0], 2.0 * self.only_ - 1.0)
        return self.model_.decision_function(table)

    def predict(self, X: npt.ArrayLike | Matrix) -> IntArray:
        """Return the label of each row, 0 or 1."""
        return (self.decision_function(X) >= 0.0).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class MixedSvm:
    """A mixture of SVMs that decides by their weighted mean decision value, not by an SVM drawn at random."""

    models: Sequence[WeightedSvm]
    weights: FloatArray

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the weighted mean of the SVMs' decision values for each row."""
        return np.asarray(self.weights @ np.array([svm.decision_function(X) for svm in self.models]))


class TrainedSvm(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A trained model as a scikit-learn classifier, for libraries that take no other form."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.classes_ = np.array([0, 1])

    def fit(self, X: npt.ArrayLike | Matrix, y: npt.ArrayLike) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Return the classifier unchanged, as the model is trained already."""
        return self

    def decision_function(self, X: npt.ArrayLike | Matrix) -> FloatArray:
        """Return the decision value of each row, rounded to `ROUNDING_DIGITS`."""
        # thresholds lie between values, and rows that are tied but for rounding have one value
        return np.round(self.model.decision_function(as_matrix(X)), ROUNDING_DIGITS)


GRID_SIZE = 20  # multipliers that GridSearch tries
LARGEST_TABLE = 1_000_000_000  # bytes


class Constraint(NamedTuple):
    """Fairlearn's names of the constraint on a gap: a class for its reductions, a text for `ThresholdOptimizer`."""

    reduction: str
    threshold: str


CONSTRAINTS: Mapping[Gap, Constraint] = {one.key: Constraint(*one.constraint) for one in METRICS if one.constraint}


class Decided(NamedTuple):
    """A mitigation's decisions about the holdout: probabilities of a favourable one, and values that rank the rows."""

    chances: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class MitigationTask:
    """The input of a mitigation: the SVM to train, the best model (model 1), the three splits, and the tolerances."""

    svm: SvmSettings  # the SVM to train
    first: Model  # model 1: that SVM trained on the training rows
    # train, selection, holdout: rows to learn from, to choose by, and to decide
    train: EncodedRows
    selection: EncodedRows
    holdout: EncodedRows
    tolerances: Tolerances  # the gap to make small, and the cost that is allowed for it
    point: OperatingPoint = SIGN  # the rule that sets decision thresholds, on the selection split

    @property
    def operating(self) -> Operating:
        """The rule that sets decision thresholds, with the selection rows that it is applied to."""
        return Operating(self.point, self.selection.X)

    def decided(self, model: Decides) -> Decided:
        """Return the decisions of an estimator about the holdout, thresholded in the same way as the listed models."""
        values = self.operating.values(model, self.holdout.X)
        return Decided((values >= 0.0).astype(np.float64), values)

    @property
    def weighted_svm(self) -> WeightedSvm:
        """The untrained SVM, with gamma and class weights computed from all training rows without weights."""
        gamma = kernel_for(self.svm, self.train.X).gamma
        return WeightedSvm(replace(self.svm, gamma=gamma, class_weight=self.class_weights))

    @property
    def class_weights(self) -> tuple[float, float]:
        """Factors of C for rows with a favourable and with an unfavourable label."""
        return class_weights(self.svm, self.train.y)

    @property
    def reduced(self) -> WeightedSvm:
        """The untrained SVM for fairlearn's reductions, without class weights: reductions put them into row weights."""
        return WeightedSvm(replace(self.weighted_svm.svm, class_weight="none"))

    @property
    def error(self) -> ErrorRate:
        """The objective of fairlearn's reductions: the error rate, with errors weighted by the SVM's class weights."""
        from fairlearn.reductions import ErrorRate

        favourable, unfavourable = self.class_weights
        return ErrorRate(costs={"fp": unfavourable, "fn": favourable})

    @property
    def constraint(self) -> Constraint:
        """Fairlearn's names of the constraint on the gap; refuse a gap for which fairlearn has none."""
        metric = self.tolerances.metric
        if metric not in CONSTRAINTS:
            raise DataError(f"fairlearn has no constraint on {metric}")
        return CONSTRAINTS[metric]


@dataclass(frozen=True, slots=True)
class Mitigation:
    """A method that makes the gap smaller, and whether its decisions are random or need a person's group."""

    method: Callable[[MitigationTask], Decided]  # decides the holdout
    is_randomised: bool = False  # whether its decisions are random, unless thresholded as the listed models are
    needs_groups: bool = False  # whether a decision about a person needs that person's group

    def decided(self, task: MitigationTask) -> Decided:
        """Run the method, and return its decisions about the holdout."""
        # warnings of fairlearn while it trains do not matter to the reader; its decisions do
        with warnings.catch_warnings(action="ignore"):
            return self.method(task)


@dataclass(frozen=True, slots=True, eq=False)
class MitigationOutcome:
    """The decisions of a mitigation about the holdout, or the error with which it failed."""

    name: str
    mitigation: Mitigation
    decided: Decided | None = None
    error: str | None = None
    is_cut: bool = False  # whether it was thresholded as the listed models are, instead of deciding in its own way

    @property
    def is_randomised(self) -> bool:
        """Whether decisions are drawn at random, so that equal rows may be decided differently."""
        return self.mitigation.is_randomised and not self.is_cut


def _with_zeros(rows: EncodedRows) -> FloatArray:
    """Return rows as a dense array, which fairlearn needs; refuse an array of more than `LARGEST_TABLE` bytes."""
    cells = rows.X.shape[0] * rows.X.shape[1]
    if 8 * cells > LARGEST_TABLE:
        raise DataError(
            f"fairlearn takes tables with all their zeros, {8e-9 * cells:.2g} GB of {rows.X.shape[1]} columns here; "
            f"at most {1e-9 * LARGEST_TABLE:g} GB are given to it"
        )
    return dense(rows.X)


def reweighing(task: MitigationTask) -> Decided:
    """Return decisions of the SVM with rows weighted so that label and group are independent.

    The weights are those of Kamiran and Calders (2012).
    """
    codes, labels = task.train.groups.codes, task.train.labels
    counts = np.zeros((len(task.train.groups.names), 2))
    np.add.at(counts, (codes, labels), 1.0)
    with np.errstate(divide="ignore"):
        weights = counts.sum(1, keepdims=True) * counts.sum(0) / (counts.sum() * counts)
    return task.decided(task.weighted_svm.fit(task.train.X, labels, weights[codes, labels]))


def grid_search(task: MitigationTask) -> Decided:
    """Return decisions of fairlearn's `GridSearch`, which trains one SVM for each of many Lagrange multipliers.

    Among these SVMs and model 1, one is chosen on the selection split by the audit's rule of choice.
    """
    from fairlearn import reductions

    constraint = getattr(reductions, task.constraint.reduction)()
    constraint.default_objective = lambda: task.error  # the search takes no other objective
    grid = reductions.GridSearch(task.reduced, constraint, grid_size=GRID_SIZE)
    grid.fit(_with_zeros(task.train), task.train.labels, sensitive_features=task.train.groups.codes)
    candidates = [task.first, *grid.predictors_]
    values = np.array([task.operating.values(candidate, task.selection.X) for candidate in candidates])
    excess = guard_excess(task.selection, values, task.tolerances)
    decisions = task.selection.decisions(values)
    stands = candidate_scores(decisions, values, np.ones(len(values)), task.tolerances, excess=excess)
    return task.decided(candidates[max(int(stands.fairest(task.tolerances)), 0)])


def exponentiated_gradient(task: MitigationTask) -> Decided:
    """Return decisions of fairlearn's `ExponentiatedGradient`, a random mixture of SVMs with a bounded gap.

    If the audit's models select a share of rows or use a threshold, the mixture's mean decision value is thresholded.
    """
    from fairlearn import reductions

    constraint = getattr(reductions, task.constraint.reduction)()
    fairer = reductions.ExponentiatedGradient(task.reduced, constraint, objective=task.error)
    fairer.fit(_with_zeros(task.train), task.train.labels, sensitive_features=task.train.groups.codes)
    if not task.point.is_sign:
        weights = fairer.weights_
        return task.decided(MixedSvm([fairer.predictors_[place] for place in weights.index], weights.to_numpy()))
    chances = mixed_chances(fairer, task.holdout)
    return Decided(chances, chances)


def mixed_chances(fairer: ExponentiatedGradient, rows: EncodedRows) -> FloatArray:
    """Return each row's probability that an SVM drawn from the mixture decides favourably."""
    weights = fairer.weights_
    decided = np.array([fairer.predictors_[place].predict(rows.X) for place in weights.index], dtype=np.float64)
    return np.asarray(decided.T @ weights.to_numpy())


def threshold_optimizer(task: MitigationTask) -> Decided:
    """Return decisions of fairlearn's `ThresholdOptimizer`, learned on the selection split.

    Each group has its own threshold on model 1's decision values, or a random choice between two thresholds.
    """
    from fairlearn.postprocessing import ThresholdOptimizer

    if not task.point.is_sign:
        raise DataError("it sets thresholds of its own, so it cannot be cut where models are")
    by, trained = task.selection, TrainedSvm(task.first)
    if not np.isin(task.holdout.groups.codes, by.groups.codes).all():
        raise DataError("a group of the holdout is not in the selection split, so it has no threshold")
    fairer = ThresholdOptimizer(
        estimator=trained, constraints=task.constraint.threshold, prefit=True, predict_method="decision_function"
    )
    fairer.fit(_with_zeros(by), by.labels, sensitive_features=by.groups.codes)
    chances = threshold_chances(fairer, task.holdout)
    return Decided(chances, chances)


def threshold_chances(fairer: ThresholdOptimizer, rows: EncodedRows) -> FloatArray:
    """Return each row's probability of a favourable decision under the random threshold of its group."""
    values, chances = fairer.estimator.decision_function(rows.X), np.zeros(len(rows))
    for code, rule in fairer.interpolated_thresholder_.interpolation_dict.items():
        chance = rule.p0 * rule.operation0(values) + rule.p1 * rule.operation1(values)
        if "p_ignore" in rule:
            chance = rule.p_ignore * rule.prediction_constant + (1.0 - rule.p_ignore) * chance
        chances = np.where(rows.groups.codes == code, chance, chances)
    return chances


MITIGATIONS: Mapping[str, Mitigation] = {
    "reweighing": Mitigation(reweighing),
    "grid_search": Mitigation(grid_search),
    "exponentiated_gradient": Mitigation(exponentiated_gradient, is_randomised=True),
    "threshold_optimizer": Mitigation(threshold_optimizer, is_randomised=True, needs_groups=True),
}


def try_mitigations(
    task: MitigationTask, progress: Callable[[int, int], None] = lambda *_: None
) -> list[MitigationOutcome]:
    """Run all mitigations, and return the decisions of each, or the error of one that failed."""
    outcomes = []
    for done, (name, mitigation) in enumerate(MITIGATIONS.items()):
        progress(done, len(MITIGATIONS))
        outcomes.append(_tried(name, mitigation, task))
    progress(len(MITIGATIONS), len(MITIGATIONS))
    return outcomes


def _tried(name: str, mitigation: Mitigation, task: MitigationTask) -> MitigationOutcome:
    try:
        return MitigationOutcome(name, mitigation, mitigation.decided(task), is_cut=not task.point.is_sign)
    except FairenumError as error:
        return MitigationOutcome(name, mitigation, error=str(error))
    except Exception as error:  # noqa: BLE001 - a foreign library failed: that is a row of the table, not the end
        return MitigationOutcome(name, mitigation, error=f"{type(error).__name__}: {error}"[:200])


Bits = NDArray[np.uint8]


def baselines(state: RunState, progress: Progress) -> tuple[Baseline, ...] | None:
    """Return the scores of other mitigations; None if not asked for, or without a sensitive column.

    For the mitigations, groups that are not compared (too small, or unknown) are merged into one, so that they add one
    constraint at most.
    """
    division, listing, config = state.division, state.listing, state.config
    if not config.baselines or division.primary is None:
        return None
    train, selection, holdout = (
        replace(rows, groups=rows.groups.folded()) for rows in (division.train, division.selection, division.holdout)
    )
    task = MitigationTask(
        svm=state.training.svm,
        first=listing.models[0],
        train=train,
        selection=selection,
        holdout=holdout,
        tolerances=config.tolerances,
        point=listing.point,
    )
    outcomes = try_mitigations(task, partial(progress, "baselines"))
    drawn = {number: bits for number, one in enumerate(outcomes) if (bits := _drawn(one, number, config)) is not None}
    values = [one.decided.values for one in outcomes if one.decided]
    scores = dict(zip(drawn, _scores(listing, division, list(drawn.values()), values, config), strict=True))
    return tuple(
        Baseline(
            name=outcome.name,
            is_randomised=outcome.is_randomised,
            needs_groups=outcome.mitigation.needs_groups,
            error=outcome.error,
            scores=scores.get(number),
        )
        for number, outcome in enumerate(outcomes)
    )


def _drawn(outcome: MitigationOutcome, number: int, config: AuditConfig) -> Bits | None:
    if outcome.decided is None:
        return None
    chances = outcome.decided.chances
    return (stream(config.seed, "baselines", "decisions", number).random(len(chances)) < chances).astype(np.uint8)


def _scores(
    listing: Listing, division: Division, decided: list[Bits], values: list[FloatArray], config: AuditConfig
) -> list[BaselineScores]:
    first = (listing.values["holdout"][0] >= 0.0).astype(np.uint8)
    rows = division.holdout
    decisions = Decisions(
        np.array([first, *decided]), rows.labels, rows.groups, drawn=rows.drawn, clusters=rows.clusters
    )
    name = ("baselines", "scores")
    ranked = np.array([listing.values["holdout"][0], *values])
    accuracy, performance = changed_performances(decisions, ranked, config, name)
    selected = overall_estimates(decisions, config.confidence)["selection_rate"]
    gaps = gap_scores(decisions, config, name)
    return [
        BaselineScores(
            **gaps[method],
            rows=len(rows),
            accuracy=accuracy[method],
            selection_rate=selected[method],
            performance=performance[method],
        )
        for method in range(1, len(decided) + 1)
    ]
