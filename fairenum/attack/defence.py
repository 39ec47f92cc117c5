"""What a defender may do about flipped labels, without knowing which they are.

A defence is a function of what is left of a draw after an attack to decisions about its holdout. All of them train the
same machine on the same rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairenum.attack.scene import Part
from fairenum.dataset import merge_identical
from fairenum.dataset.columns import IntArray
from fairenum.enumeration.guided import Bounds, GuidedSearch
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import AttackError
from fairenum.estimator import EnumSVC
from fairenum.problem import FloatArray, SvmProblem
from fairenum.scoring import Gap
from fairenum.selection import Tolerances, standing
from fairenum.solvers.registry import open_workspace

BoolArray = npt.NDArray[np.bool_]

NEIGHBOURS = 10
MOST_ITERATIONS = 100_000  # of one fit of scikit-learn's SVC
# The constraints by which fairlearn knows the gaps: for its reductions, and for its thresholds.
CONSTRAINTS: Mapping[Gap, tuple[str, str]] = {
    "demographic_parity_difference": ("DemographicParity", "demographic_parity"),
    "equal_opportunity_difference": ("TruePositiveRateParity", "true_positive_rate_parity"),
    "equalized_odds_difference": ("EqualizedOdds", "equalized_odds"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Aftermath:
    """A draw after an attack, as a defender finds it.

    Attributes
    ----------
    train
        The training rows with the labels that the attack left.
    selection
        Rows with sound labels to choose by; None if the draw has none.
    holdout
        The rows to decide.
    models
        The best models of the training rows, best first.
    flips
        How many labels were flipped. A defender does not know it; `loss_removal` is given it all the same.
    machine, metric, seed
        As the attacker found them.
    """

    train: Part
    selection: Part | None
    holdout: Part
    models: tuple[Model, ...]
    flips: int
    machine: EnumSVC
    metric: Gap
    seed: int

    @property
    def chosen_by(self) -> Part:
        """The rows to choose models by: the selection split or, without one, the training rows as they were left."""
        return self.selection or self.train

    def refit(self, rows: IntArray, y: FloatArray) -> BoolArray:
        """Train the machine on some rows with some labels, and decide the holdout."""
        if len(np.unique(y[rows])) < 2:
            raise AttackError("one label is left, and a machine needs two")
        params = {**self.machine.get_params(), "n_models": 1, "distinct": "support"}
        model = EnumSVC(**params).fit(self.train.X[rows], y[rows]).models_[0]
        return model.decision_function(self.holdout.X) >= 0.0


def knn_relabelling(after: Aftermath) -> BoolArray:
    """Give each row the label of most of its ten nearest neighbours (Paudice et al., 2018), and train."""
    from sklearn.neighbors import NearestNeighbors

    X, y = after.train.X, after.train.y
    neighbours = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(y) - 1), algorithm="brute").fit(X)
    votes = y[neighbours.kneighbors(return_distance=False)].sum(axis=1)
    return after.refit(np.arange(len(y)), np.where(votes == 0.0, y, np.sign(votes)))


def loss_removal(after: Aftermath) -> BoolArray:
    """Leave out the rows of largest loss, as many as were flipped, and train."""
    values = after.models[0].decision_function(after.train.X)
    losses = np.maximum(0.0, 1.0 - after.train.y * values)
    kept = np.sort(np.argsort(-losses, kind="stable")[after.flips :])
    return after.refit(kept, after.train.y)


def fairest_listed(after: Aftermath) -> BoolArray:
    """Take the fairest of the best models, as an audit does."""
    return _fairest(after, after.models)


def fairest_guided(after: Aftermath) -> BoolArray:
    """Take the fairest of the models that a search guided by unfairness finds, as an audit does."""
    machine, by = after.machine, after.chosen_by
    merged = merge_identical(after.train.X, after.train.y)
    problem = SvmProblem(merged.X, merged.y, machine.C, merged.copies, machine.kernel_for(after.train.X))
    watched = Watched(by.X, (by.y > 0.0).astype(np.uint8), by.groups, after.metric)
    tolerances = Tolerances(after.metric)
    bounds = Bounds(loss=tolerances.eps, accuracy_drop=tolerances.max_accuracy_drop)
    search = GuidedSearch(open_workspace(machine.solver, problem), watched, bounds)
    return _fairest(after, [found.model for found in search])


def _fairest(after: Aftermath, models: Sequence[Model]) -> BoolArray:
    """Choose among models by an audit's rule and default tolerances; the first one if none is within them."""
    by = after.chosen_by
    values = np.array([model.decision_function(by.X) for model in models])
    objectives = np.array([model.objective for model in models])
    chosen = int(
        standing(by.decisions(values), objectives / objectives[0], after.metric).fairest(Tolerances(after.metric))
    )
    return models[max(chosen, 0)].decision_function(after.holdout.X) >= 0.0


def exponentiated_gradient(after: Aftermath) -> BoolArray:
    """Train under a constraint on the gap with fairlearn's ExponentiatedGradient; its decisions are drawn by chance."""
    from fairlearn import reductions

    constraint = getattr(reductions, _constraint(after.metric)[0])()
    fairer = reductions.ExponentiatedGradient(_svc(after.machine), constraint)
    with _calm():
        fairer.fit(after.train.X, _bits(after.train), sensitive_features=after.train.groups.codes)
    decided = fairer.predict(after.holdout.X, random_state=after.seed)
    return np.asarray(decided).astype(np.bool_)


def threshold_optimizer(after: Aftermath) -> BoolArray:
    """Give each group a threshold of its own with fairlearn's ThresholdOptimizer; it needs to be told the group."""
    from fairlearn.postprocessing import ThresholdOptimizer

    fairer = ThresholdOptimizer(
        estimator=_svc(after.machine), constraints=_constraint(after.metric)[1], predict_method="decision_function"
    )
    groups = (after.train.groups.codes, after.holdout.groups.codes)
    if not np.isin(groups[1], groups[0]).all():
        raise AttackError("a group of the holdout is not among the training rows, so it has no threshold")
    with _calm():
        fairer.fit(after.train.X, _bits(after.train), sensitive_features=groups[0])
        decided = fairer.predict(after.holdout.X, sensitive_features=groups[1], random_state=after.seed)
    return np.asarray(decided).astype(np.bool_)


def _bits(part: Part) -> IntArray:
    return (part.y > 0.0).astype(np.intp)


def _constraint(metric: Gap) -> tuple[str, str]:
    if metric not in CONSTRAINTS:
        raise AttackError(f"fairlearn has no constraint on {metric}")
    return CONSTRAINTS[metric]


def _svc(machine: EnumSVC) -> Any:
    from sklearn.svm import SVC

    names = ("C", "kernel", "gamma", "degree", "coef0")
    return SVC(**{name: getattr(machine, name) for name in names}, max_iter=MOST_ITERATIONS)


def _calm() -> warnings.catch_warnings[None]:
    """Keep quiet what fairlearn and libsvm say on the way: what counts is what they decide."""
    return warnings.catch_warnings(action="ignore")


Defence = Callable[[Aftermath], BoolArray]

DEFENCES: Mapping[str, Defence] = {
    "knn_relabelling": knn_relabelling,
    "loss_removal": loss_removal,
    "fairest_listed": fairest_listed,
    "fairest_guided": fairest_guided,
    "exponentiated_gradient": exponentiated_gradient,
    "threshold_optimizer": threshold_optimizer,
}
