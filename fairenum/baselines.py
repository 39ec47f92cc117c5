"""What else a user would pick against a gap: fairlearn's mitigations and reweighing, on the same machine and rows.

All of them learn on the training rows; what is left to be chosen is chosen on the selection split, by the rule by which
models are selected. Some decide by chance, and some have to be told the group of whom they decide about: both are
said, since neither is needed to use a near-optimal model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from fairenum.dataset.merging import merge_identical
from fairenum.enumeration.model import Model, model_of
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import DataError, FairenumError
from fairenum.problem import FloatArray, Kernel, SvmProblem
from fairenum.scoring import Decisions, Gap
from fairenum.selection import ROUNDING_DIGITS, Tolerances, standing
from fairenum.solvers.registry import open_workspace

GRID = 20  # multipliers that GridSearch tries
# The constraints by which fairlearn knows the gaps: for its reductions, and for its thresholds.
CONSTRAINTS: Mapping[Gap, tuple[str, str]] = {
    "demographic_parity_difference": ("DemographicParity", "demographic_parity"),
    "equal_opportunity_difference": ("TruePositiveRateParity", "true_positive_rate_parity"),
    "equalized_odds_difference": ("EqualizedOdds", "equalized_odds"),
}


class WeightedSvm(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The audited support vector machine as fairlearn wants it: 0/1 labels, and a weight for each row.

    Parameters
    ----------
    C, kernel
        The machine.
    solver
        Name of a solver plugin.
    """

    def __init__(self, C: float = 1.0, kernel: Kernel | None = None, solver: str = "path") -> None:
        self.C = C
        self.kernel = kernel
        self.solver = solver

    def fit(self, X: FloatArray, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Train exactly; with one label left the answer is that label."""
        table, labels = np.asarray(X, dtype=np.float64), np.asarray(y).astype(np.intp)
        weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        used = weights > 0.0
        self.classes_ = np.array([0, 1])
        self.only_ = int(labels[used][0]) if len(np.unique(labels[used])) < 2 else None
        if self.only_ is None:
            merged = merge_identical(table[used], np.where(labels[used] == 1, 1.0, -1.0))
            cost = self.C * np.bincount(merged.inverse, weights[used])
            problem = SvmProblem(merged.X, merged.y, cost, kernel=self.kernel)
            solution = open_workspace(self.solver, problem).solve()
            self.model_ = model_of(problem, solution, 1, solution.certificate.objective)
        return self

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Return the signed decision value of each row."""
        table = np.asarray(X, dtype=np.float64)
        if self.only_ is not None:
            return np.full(len(table), 2.0 * self.only_ - 1.0)
        return self.model_.decision_function(table)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Return 0 or 1 for each row."""
        return (self.decision_function(X) >= 0.0).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """What a mitigation works with.

    Attributes
    ----------
    machine
        Not trained yet.
    first
        Model 1, which is the machine trained on the training rows.
    train, selection, holdout
        Rows to learn from, to choose by, and to decide; all watch the same gap.
    tolerances
        Of the choice, where there is one.
    """

    machine: WeightedSvm
    first: Model
    train: Watched
    selection: Watched
    holdout: Watched
    tolerances: Tolerances

    def constraint(self, place: int) -> str:
        """Name the constraint of fairlearn: for its reductions (0), or for its thresholds (1)."""
        metric = self.train.metric
        if metric not in CONSTRAINTS:
            raise DataError(f"fairlearn has no constraint on {metric}")
        return CONSTRAINTS[metric][place]


@dataclass(frozen=True, slots=True)
class Mitigation:
    """A way to a smaller gap; `decide` gives the chance of the favourable outcome for each row of the holdout."""

    title: str
    decide: Callable[[Stage], FloatArray]
    is_randomised: bool = False
    needs_groups: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of a mitigation: the chances of the holdout's rows, or why there are none."""

    name: str
    mitigation: Mitigation
    chances: FloatArray | None = None
    error: str | None = None


def reweighing(stage: Stage) -> FloatArray:
    """Weight rows so that label and group look independent (Kamiran and Calders, 2012), and train."""
    train = stage.train
    counts = np.zeros((len(train.groups.names), 2))
    np.add.at(counts, (train.groups.codes, train.labels), 1.0)
    with np.errstate(divide="ignore"):
        weights = counts.sum(1, keepdims=True) * counts.sum(0) / (counts.sum() * counts)
    fitted = stage.machine.fit(train.X, train.labels, weights[train.groups.codes, train.labels])
    return fitted.predict(stage.holdout.X).astype(np.float64)


def exponentiated_gradient(stage: Stage) -> FloatArray:
    """Mix machines under a constraint on the gap."""
    from fairlearn import reductions

    fairer = reductions.ExponentiatedGradient(stage.machine, getattr(reductions, stage.constraint(0))())
    fairer.fit(stage.train.X, stage.train.labels, sensitive_features=stage.train.groups.codes)
    return np.asarray(fairer._pmf_predict(stage.holdout.X)[:, 1], dtype=np.float64)


def grid_search(stage: Stage) -> FloatArray:
    """Train under a grid of multipliers of the constraint, and choose on the selection split as models are chosen."""
    from fairlearn import reductions

    grid = reductions.GridSearch(stage.machine, getattr(reductions, stage.constraint(0))(), grid_size=GRID)
    grid.fit(stage.train.X, stage.train.labels, sensitive_features=stage.train.groups.codes)
    by = stage.selection
    values = [stage.first.decision_function(by.X), *(fitted.decision_function(by.X) for fitted in grid.predictors_)]
    decisions = Decisions((np.array(values) >= 0.0).astype(np.uint8), by.labels, by.groups)
    tolerances = stage.tolerances
    place = int(standing(decisions, np.ones(len(values)), tolerances.metric).fairest(tolerances))
    chosen = grid.predictors_[place - 1] if place > 0 else stage.first
    return (chosen.decision_function(stage.holdout.X) >= 0.0).astype(np.float64)


def threshold_optimizer(stage: Stage) -> FloatArray:
    """Give each group a threshold of its own, by chance between two where needed, learnt on the selection split."""
    from fairlearn.postprocessing import ThresholdOptimizer

    by, rows = stage.selection, stage.holdout
    if not np.isin(rows.groups.codes, by.groups.codes).all():
        raise DataError("a group of the holdout is not in the selection split, so it has no threshold")
    fairer = ThresholdOptimizer(
        estimator=_Prefit(stage.first), constraints=stage.constraint(1), prefit=True, predict_method="decision_function"
    )
    fairer.fit(by.X, by.labels, sensitive_features=by.groups.codes)
    return np.asarray(fairer._pmf_predict(rows.X, sensitive_features=rows.groups.codes)[:, 1], dtype=np.float64)


class _Prefit(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Model 1 as a fitted estimator."""

    def __init__(self, model: Model | None = None) -> None:
        self.model = model
        self.classes_ = np.array([0, 1])

    def fit(self, X: FloatArray, y: npt.ArrayLike) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Leave it as it is."""
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the model's decision values."""
        if self.model is None:
            raise TypeError("there is no model")
        # thresholds lie between values, and rows that are tied but for rounding have one value
        return np.round(self.model.decision_function(np.asarray(X)), ROUNDING_DIGITS)


MITIGATIONS: Mapping[str, Mitigation] = {
    "reweighing": Mitigation("reweighing", reweighing),
    "grid_search": Mitigation("fairlearn GridSearch", grid_search),
    "exponentiated_gradient": Mitigation("fairlearn ExponentiatedGradient", exponentiated_gradient, is_randomised=True),
    "threshold_optimizer": Mitigation(
        "fairlearn ThresholdOptimizer", threshold_optimizer, is_randomised=True, needs_groups=True
    ),
}


def try_mitigations(stage: Stage, progress: Callable[[int, int], Any] = lambda *_: None) -> list[Outcome]:
    """Try all mitigations; one that fails says why, and the others go on."""
    outcomes = []
    for done, (name, mitigation) in enumerate(MITIGATIONS.items()):
        progress(done, len(MITIGATIONS))
        outcomes.append(_tried(name, mitigation, stage))
    progress(len(MITIGATIONS), len(MITIGATIONS))
    return outcomes


def _tried(name: str, mitigation: Mitigation, stage: Stage) -> Outcome:
    try:
        # what fairlearn warns of on the way is no business of the reader's: what counts is what it decides
        with warnings.catch_warnings(action="ignore"):
            return Outcome(name, mitigation, mitigation.decide(stage))
    except FairenumError as error:
        return Outcome(name, mitigation, error=str(error))
    except Exception as error:  # noqa: BLE001 - a foreign library failed: that is a row of the table, not the end
        return Outcome(name, mitigation, error=f"{type(error).__name__}: {error}"[:200])
