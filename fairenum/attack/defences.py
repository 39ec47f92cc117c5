"""Defences against flipped training labels, by a defender who does not know which labels were flipped.

A defence is a function from an `Aftermath`, the data after an attack, to decisions: for each holdout row, True if
favourable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fairenum.auditing.mitigations import MITIGATIONS, Mitigation, MitigationTask
from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.training import SvmSettings, Tolerances
from fairenum.enumeration.division import EncodedRows, pose, row_class_weights
from fairenum.enumeration.fairest import fairest, search_fairest
from fairenum.enumeration.model import Model
from fairenum.errors import AttackError
from fairenum.estimator import EnumSVC
from fairenum.metrics.counts import BoolArray
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import dense

NEIGHBOURS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Aftermath:
    """The data of a defender: training rows with flipped labels, selection and holdout rows, models, and settings."""

    train: EncodedRows  # the training rows, with the labels after the attack
    selection: EncodedRows | None  # rows with true labels, to choose models by; None if there are none
    holdout: EncodedRows
    models: tuple[Model, ...]  # the best models of the training rows, best first
    # the number of labels that were flipped; a real defender would not know it, but `loss_removal` uses it
    flips: int
    svm: SvmSettings
    # the gap to make small, and what a fairer model may cost. There are no guardrails, as they would be relative to the
    # best model of the flipped labels
    tolerances: Tolerances
    seed: int

    @property
    def chosen_by(self) -> EncodedRows:
        """The rows to choose models by: the selection rows or, without any, the training rows with flipped labels."""
        return self.train if self.selection is None else self.selection

    def decide(self, model: Model) -> BoolArray:
        """Return the decisions of a model about the holdout rows."""
        return model.decision_function(self.holdout.X) >= 0.0

    def refit(self, rows: IntArray, y: FloatArray) -> BoolArray:
        """Train an SVM on the given training rows and labels, and return its decisions about the holdout rows."""
        if len(np.unique(y[rows])) < 2:
            raise AttackError("one label is left, and an SVM needs two")
        return self.decide(EnumSVC.of(self.svm).fit(self.train.X[rows], y[rows]).models_[0])


Defence = Callable[[Aftermath], BoolArray]


def knn_relabelling(after: Aftermath) -> BoolArray:
    """Decide by an SVM trained on the majority label of each row's ten nearest neighbours (Paudice et al., 2018)."""
    X, y = dense(after.train.X), after.train.y
    votes = np.array([y[nearest_rows(X, row)].sum() for row in range(len(y))])
    return after.refit(np.arange(len(y)), np.where(votes == 0.0, y, np.sign(votes)))


def nearest_rows(X: FloatArray, row: int) -> IntArray:
    """Return the numbers of the ten rows nearest to a row, itself excluded; ties are ordered by row number."""
    squares = np.round(np.square(X - X[row]).sum(axis=1), ROUNDING_DIGITS)
    squares[row] = np.inf
    return np.argsort(squares, kind="stable")[: min(NEIGHBOURS, len(X) - 1)]


def loss_removal(after: Aftermath) -> BoolArray:
    """Decide by an SVM trained without the rows of largest hinge loss, as many rows as labels were flipped."""
    X, y = after.train.X, after.train.y
    losses = row_class_weights(after.svm, y) * np.maximum(0.0, 1.0 - y * after.models[0].decision_function(X))
    losses = np.round(losses, ROUNDING_DIGITS)  # so that rounding errors do not decide ties
    kept = np.sort(np.argsort(-losses, kind="stable")[after.flips :])
    return after.refit(kept, after.train.y)


def fairest_listed(after: Aftermath) -> BoolArray:
    """Decide by the fairest of the models listed after the attack, chosen by the same rules as in an audit."""
    return after.decide(fairest(after.models, after.chosen_by, after.tolerances))


def fairest_guided(after: Aftermath) -> BoolArray:
    """Decide by the fairest model of a guided search, chosen by the same rules as in an audit.

    The search merges identical rows into one example, and may leave out some of its rows, even if the SVM settings keep
    identical rows apart.
    """
    problem = pose(after.train.X, after.train.y, replace(after.svm, rows=False)).problem
    chosen, _ = search_fairest(problem, after.chosen_by, after.tolerances, solver=after.svm.solver)
    return after.decide(chosen.model)


def _mitigating(mitigation: Mitigation) -> Defence:
    """Return a defence that applies a mitigation; if this gives probabilities, one decision is drawn for each row."""

    def decide(after: Aftermath) -> BoolArray:
        rows = (after.train, after.chosen_by, after.holdout)
        task = MitigationTask(after.svm, after.models[0], *rows, after.tolerances)
        chances = mitigation.decided(task).chances
        return np.asarray(np.random.default_rng([after.seed, 2]).random(len(chances)) < chances)

    return decide


DEFENCES: Mapping[str, Defence] = {
    "knn_relabelling": knn_relabelling,
    "loss_removal": loss_removal,
    "fairest_listed": fairest_listed,
    "fairest_guided": fairest_guided,
    **{name: _mitigating(mitigation) for name, mitigation in MITIGATIONS.items()},
}
