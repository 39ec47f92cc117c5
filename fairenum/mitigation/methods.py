"""What else a user would pick against a gap: fairlearn's mitigations and reweighing, on the same machine and rows.

All of them learn on the training rows; what is left to be chosen is chosen on the selection split, by the rule by which
models are selected. Some decide by chance, and some have to be told the group of whom they decide about: both are
said, since neither is needed to use a near-optimal model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairenum.document.machine import Machine, Tolerances
from fairenum.document.terms import Gap
from fairenum.enumeration.model import Model
from fairenum.errors import DataError, FairenumError
from fairenum.experiment import EncodedRows, class_weights, kernel_for
from fairenum.matrices import dense
from fairenum.mitigation.estimators import MixedSvm, TrainedSvm, WeightedSvm
from fairenum.problem import FloatArray
from fairenum.scoring.operating import SIGN, Decides, Operating, OperatingPoint
from fairenum.selection import guard_excess, standing

if TYPE_CHECKING:
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import ErrorRate, ExponentiatedGradient

GRID_SIZE = 20  # multipliers that GridSearch tries
LARGEST_TABLE = 1_000_000_000  # bytes


class Constraint(NamedTuple):
    """The names by which fairlearn knows a gap: for its reductions, and for its thresholds."""

    reduction: str
    threshold: str


CONSTRAINTS: Mapping[Gap, Constraint] = {
    "demographic_parity_difference": Constraint("DemographicParity", "demographic_parity"),
    "equal_opportunity_difference": Constraint("TruePositiveRateParity", "true_positive_rate_parity"),
    "equalized_odds_difference": Constraint("EqualizedOdds", "equalized_odds"),
}


class Decided(NamedTuple):
    """What a mitigation does to the holdout: the chance of the favourable outcome of each row, and what ranks rows."""

    chances: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class MitigationTask:
    """What a mitigation works with.

    Attributes
    ----------
    machine
        What is trained.
    first
        Model 1, which is the machine trained on the training rows.
    train, selection, holdout
        Rows to learn from, to choose by, and to decide.
    tolerances
        The gap to make small, and what that may cost where there is a choice.
    point
        Where whatever has decision values is cut, by the selection split.
    """

    machine: Machine
    first: Model
    train: EncodedRows
    selection: EncodedRows
    holdout: EncodedRows
    tolerances: Tolerances
    point: OperatingPoint = SIGN

    @property
    def operating(self) -> Operating:
        """The operating point, and the rows on which it is to be reached."""
        return Operating(self.point, self.selection.X)

    def decided(self, model: Decides) -> Decided:
        """Let an estimator decide the holdout at the operating point."""
        values = self.operating.values(model, self.holdout.X)
        return Decided((values >= 0.0).astype(np.float64), values)

    @property
    def svm(self) -> WeightedSvm:
        """The machine, not trained yet: gamma and class weights are those of all training rows, whatever they weigh."""
        gamma = kernel_for(self.machine, self.train.X).gamma
        return WeightedSvm(replace(self.machine, gamma=gamma, class_weight=self.class_weights))

    @property
    def class_weights(self) -> tuple[float, float]:
        """What a violated margin costs by label, favourable and unfavourable."""
        return class_weights(self.machine, self.train.y)

    @property
    def reduced(self) -> WeightedSvm:
        """The machine for a reduction, which has the class weights among its own weights, and other labels."""
        return WeightedSvm(replace(self.svm.machine, class_weight="none"))

    @property
    def error(self) -> ErrorRate:
        """The error that a reduction keeps low: a wrong decision costs what the machine pays for its label."""
        from fairlearn.reductions import ErrorRate

        favourable, unfavourable = self.class_weights
        return ErrorRate(costs={"fp": unfavourable, "fn": favourable})

    @property
    def constraint(self) -> Constraint:
        """The gap as fairlearn knows it; refuse one that it does not know."""
        metric = self.tolerances.metric
        if metric not in CONSTRAINTS:
            raise DataError(f"fairlearn has no constraint on {metric}")
        return CONSTRAINTS[metric]


@dataclass(frozen=True, slots=True)
class Mitigation:
    """A way to a smaller gap.

    Attributes
    ----------
    method
        Decides the holdout.
    is_randomised
        Whether it decides by chance, unless it is cut where models are.
    needs_groups
        Whether it has to be told the group of whom it decides about.
    """

    method: Callable[[MitigationTask], Decided]
    is_randomised: bool = False
    needs_groups: bool = False

    def decided(self, task: MitigationTask) -> Decided:
        """Decide the holdout."""
        # what fairlearn warns of on the way is no business of the reader's: what counts is what it decides
        with warnings.catch_warnings(action="ignore"):
            return self.method(task)


@dataclass(frozen=True, slots=True, eq=False)
class MitigationOutcome:
    """What became of a mitigation: what it decides about the holdout, or why it does not.

    Attributes
    ----------
    is_cut
        Whether it was cut where models are, instead of deciding as it does by itself.
    """

    name: str
    mitigation: Mitigation
    decided: Decided | None = None
    error: str | None = None
    is_cut: bool = False

    @property
    def is_randomised(self) -> bool:
        """Whether it decides by chance."""
        return self.mitigation.is_randomised and not self.is_cut


def _with_zeros(rows: EncodedRows) -> FloatArray:
    """Return rows as fairlearn takes them; refuse a table that would not fit."""
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
    return task.decided(task.svm.fit(task.train.X, labels, weights[codes, labels]))


def grid_search(task: MitigationTask) -> Decided:
    """Train under a grid of multipliers of the constraint, and choose on the selection split as models are chosen."""
    from fairlearn import reductions

    constraint = getattr(reductions, task.constraint.reduction)()
    constraint.default_objective = lambda: task.error  # the search takes no other objective
    grid = reductions.GridSearch(task.reduced, constraint, grid_size=GRID_SIZE)
    grid.fit(_with_zeros(task.train), task.train.labels, sensitive_features=task.train.groups.codes)
    candidates = [task.first, *grid.predictors_]
    values = np.array([task.operating.values(candidate, task.selection.X) for candidate in candidates])
    excess = guard_excess(task.selection, values, task.tolerances)
    decisions = task.selection.decisions(values)
    stands = standing(decisions, values, np.ones(len(values)), task.tolerances, excess=excess)
    return task.decided(candidates[max(int(stands.fairest(task.tolerances)), 0)])


def exponentiated_gradient(task: MitigationTask) -> Decided:
    """Mix machines under a constraint on the gap; at a rate or threshold, their mean decision value is cut."""
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
    """Return the chance that a machine of the mixture, drawn by its weight, decides favourably."""
    weights = fairer.weights_
    decided = np.array([fairer.predictors_[place].predict(rows.X) for place in weights.index], dtype=np.float64)
    return np.asarray(decided.T @ weights.to_numpy())


def threshold_optimizer(task: MitigationTask) -> Decided:
    """Give each group a threshold of its own, by chance between two where needed, learnt on the selection split."""
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
    """Try all mitigations; one that fails says why, and the others go on."""
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
