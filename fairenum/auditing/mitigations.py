"""Other mitigations on the audited SVM and splits, scored on the holdout beside model 1."""

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
from fairenum.document.metric_registry import METRICS
from fairenum.document.models import Baseline
from fairenum.document.scores import BaselineScores
from fairenum.document.terms import Gap
from fairenum.document.training import SvmSettings, Tolerances
from fairenum.enumeration.division import Division, EncodedRows, class_weights, kernel_for, pose
from fairenum.enumeration.fairest import ROUNDING_DIGITS, candidate_scores, guard_excess
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
    """The SVM as an estimator of 0/1 labels with a weight for each row.

    Parameters
    ----------
    svm
        What to train; its C is a number. Identical rows are always one example, as only the sum of their weights
        counts.
    """

    def __init__(self, svm: SvmSettings) -> None:
        self.svm = svm

    def fit(self, X: npt.ArrayLike | Matrix, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Train exactly; if only one label is left, every row gets that label."""
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
        """Return the signed decision value of each row."""
        table = as_matrix(X)
        if self.only_ is not None:
            return np.full(table.shape[0], 2.0 * self.only_ - 1.0)
        return self.model_.decision_function(table)

    def predict(self, X: npt.ArrayLike | Matrix) -> IntArray:
        """Return 0 or 1 for each row."""
        return (self.decision_function(X) >= 0.0).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class MixedSvm:
    """A mixture of SVMs that decides by their mean decision value, instead of by one that is drawn."""

    models: Sequence[WeightedSvm]
    weights: FloatArray

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the mean decision value of each row."""
        return np.asarray(self.weights @ np.array([svm.decision_function(X) for svm in self.models]))


class TrainedSvm(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A trained model as an estimator that needs no training."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.classes_ = np.array([0, 1])

    def fit(self, X: npt.ArrayLike | Matrix, y: npt.ArrayLike) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Leave the model as it is."""
        return self

    def decision_function(self, X: npt.ArrayLike | Matrix) -> FloatArray:
        """Return the model's decision values, rounded."""
        # thresholds lie between values, and rows that are tied but for rounding have one value
        return np.round(self.model.decision_function(as_matrix(X)), ROUNDING_DIGITS)


GRID_SIZE = 20  # multipliers that GridSearch tries
LARGEST_TABLE = 1_000_000_000  # bytes


class Constraint(NamedTuple):
    """Fairlearn's names of a gap: for its reductions, and for its thresholds."""

    reduction: str
    threshold: str


CONSTRAINTS: Mapping[Gap, Constraint] = {one.key: Constraint(*one.constraint) for one in METRICS if one.constraint}


class Decided(NamedTuple):
    """Decisions of a mitigation about the holdout: chances of the favourable outcome, and values that rank rows."""

    chances: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class MitigationTask:
    """The input of a mitigation."""

    svm: SvmSettings  # the SVM to train
    first: Model  # model 1: that SVM trained on the training rows
    # train, selection, holdout: rows to learn from, to choose by, and to decide
    train: EncodedRows
    selection: EncodedRows
    holdout: EncodedRows
    tolerances: Tolerances  # the gap to make small, and the cost that is allowed for it
    point: OperatingPoint = SIGN  # where anything with decision values is cut, by the selection split

    @property
    def operating(self) -> Operating:
        """The operating point, with the rows on which it is reached."""
        return Operating(self.point, self.selection.X)

    def decided(self, model: Decides) -> Decided:
        """Decide the holdout by an estimator at the operating point."""
        values = self.operating.values(model, self.holdout.X)
        return Decided((values >= 0.0).astype(np.float64), values)

    @property
    def weighted_svm(self) -> WeightedSvm:
        """The SVM before training, with gamma and class weights of all training rows, whatever they weigh."""
        gamma = kernel_for(self.svm, self.train.X).gamma
        return WeightedSvm(replace(self.svm, gamma=gamma, class_weight=self.class_weights))

    @property
    def class_weights(self) -> tuple[float, float]:
        """Cost of a violated margin by label, favourable and unfavourable."""
        return class_weights(self.svm, self.train.y)

    @property
    def reduced(self) -> WeightedSvm:
        """The SVM for a reduction, which has the class weights among its own weights, and other labels."""
        return WeightedSvm(replace(self.weighted_svm.svm, class_weight="none"))

    @property
    def error(self) -> ErrorRate:
        """The error that a reduction keeps low: a wrong decision costs what the SVM pays for its label."""
        from fairlearn.reductions import ErrorRate

        favourable, unfavourable = self.class_weights
        return ErrorRate(costs={"fp": unfavourable, "fn": favourable})

    @property
    def constraint(self) -> Constraint:
        """Fairlearn's names of the gap; a gap that fairlearn does not know is refused."""
        metric = self.tolerances.metric
        if metric not in CONSTRAINTS:
            raise DataError(f"fairlearn has no constraint on {metric}")
        return CONSTRAINTS[metric]


@dataclass(frozen=True, slots=True)
class Mitigation:
    """A way to a smaller gap."""

    method: Callable[[MitigationTask], Decided]  # decides the holdout
    is_randomised: bool = False  # whether it decides by chance, unless it is cut where models are
    needs_groups: bool = False  # whether it has to know the group of the person it decides about

    def decided(self, task: MitigationTask) -> Decided:
        """Decide the holdout."""
        # warnings of fairlearn while it trains do not matter to the reader; its decisions do
        with warnings.catch_warnings(action="ignore"):
            return self.method(task)


@dataclass(frozen=True, slots=True, eq=False)
class MitigationOutcome:
    """The decisions of a mitigation about the holdout, or the error that kept it from any."""

    name: str
    mitigation: Mitigation
    decided: Decided | None = None
    error: str | None = None
    is_cut: bool = False  # whether it was cut where models are, instead of deciding in its own way

    @property
    def is_randomised(self) -> bool:
        """Whether it decides by chance."""
        return self.mitigation.is_randomised and not self.is_cut


def _with_zeros(rows: EncodedRows) -> FloatArray:
    """Return rows as the dense table that fairlearn takes; refuse one that is too large."""
    cells = rows.X.shape[0] * rows.X.shape[1]
    if 8 * cells > LARGEST_TABLE:
        raise DataError(
            f"fairlearn takes tables with all their zeros, {8e-9 * cells:.2g} GB of {rows.X.shape[1]} columns here; "
            f"at most {1e-9 * LARGEST_TABLE:g} GB are given to it"
        )
    return dense(rows.X)


def reweighing(task: MitigationTask) -> Decided:
    """Weight rows so that label and group look independent (Kamiran and Calders, 2012), and train."""
    codes, labels = task.train.groups.codes, task.train.labels
    counts = np.zeros((len(task.train.groups.names), 2))
    np.add.at(counts, (codes, labels), 1.0)
    with np.errstate(divide="ignore"):
        weights = counts.sum(1, keepdims=True) * counts.sum(0) / (counts.sum() * counts)
    return task.decided(task.weighted_svm.fit(task.train.X, labels, weights[codes, labels]))


def grid_search(task: MitigationTask) -> Decided:
    """Train under a grid of multipliers of the constraint, and choose on the selection split as an audit chooses."""
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
    """Mix SVMs under a constraint on the gap; at a rate or threshold, their mean decision value is cut."""
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
    """Return the chance that an SVM of the mixture, drawn by its weight, decides favourably."""
    weights = fairer.weights_
    decided = np.array([fairer.predictors_[place].predict(rows.X) for place in weights.index], dtype=np.float64)
    return np.asarray(decided.T @ weights.to_numpy())


def threshold_optimizer(task: MitigationTask) -> Decided:
    """Give each group its own threshold, or a random choice between two, learnt on the selection split."""
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
    """Return the chance that the rule of a row's group, drawn among its two thresholds, decides favourably."""
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
    """Try all mitigations; one that fails records its error, and the others go on."""
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
    """Try other mitigations and score them, if that is asked for and there are groups.

    Groups that are set aside count as one for them, so that none is a constraint of its own.
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
    """Decide each row of the holdout once, at random by its chance."""
    if outcome.decided is None:
        return None
    chances = outcome.decided.chances
    return (stream(config.seed, "baselines", "decisions", number).random(len(chances)) < chances).astype(np.uint8)


def _scores(
    listing: Listing, division: Division, decided: list[Bits], values: list[FloatArray], config: AuditConfig
) -> list[BaselineScores]:
    first = (listing.values["holdout"][0] >= 0.0).astype(np.uint8)
    rows = division.holdout
    decisions = Decisions(np.array([first, *decided]), rows.labels, rows.groups, drawn=rows.drawn)
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
