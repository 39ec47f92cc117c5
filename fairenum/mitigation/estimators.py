"""The audited machine as fairlearn wants it: estimators that decide 0 or 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from fairenum.dataset import merge_identical
from fairenum.document.machine import Machine
from fairenum.enumeration.model import Model, model_of
from fairenum.experiment import pose
from fairenum.matrices import Matrix, as_matrix
from fairenum.problem import FloatArray, IntArray
from fairenum.selection import ROUNDING_DIGITS
from fairenum.solvers.registry import open_workspace


class WeightedSvm(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The machine, to be trained on 0/1 labels and a weight for each row.

    Parameters
    ----------
    machine
        What to train; its C is a number. Identical rows are always one example, as the sum of their weights is all
        that counts.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def fit(self, X: npt.ArrayLike | Matrix, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Train exactly; with one label left the answer is that label."""
        table, labels = as_matrix(X), np.asarray(y).astype(np.intp)
        weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        used = weights > 0.0
        self.classes_ = np.array([0, 1])
        self.only_ = int(labels[used][0]) if len(np.unique(labels[used])) < 2 else None
        if self.only_ is None:
            rows, signs = table[used], np.where(labels[used] == 1, 1.0, -1.0)
            merged = merge_identical(rows, signs)
            sums = np.bincount(merged.inverse, weights[used]).astype(np.float64)
            problem = pose(merged.X, signs[merged.first], replace(self.machine, rows=True), weights=sums).problem
            solution = open_workspace(self.machine.solver, problem).solve()
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
    """A mixture of machines that decides by their mean decision value, instead of by one of them that is drawn."""

    machines: Sequence[WeightedSvm]
    weights: FloatArray

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the mean decision value of each row."""
        return np.asarray(self.weights @ np.array([machine.decision_function(X) for machine in self.machines]))


class TrainedSvm(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model as an estimator that needs no training.

    Parameters
    ----------
    model
        What decides.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.classes_ = np.array([0, 1])

    def fit(self, X: npt.ArrayLike | Matrix, y: npt.ArrayLike) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Leave it as it is."""
        return self

    def decision_function(self, X: npt.ArrayLike | Matrix) -> FloatArray:
        """Return the model's decision values."""
        # thresholds lie between values, and rows that are tied but for rounding have one value
        return np.round(self.model.decision_function(as_matrix(X)), ROUNDING_DIGITS)
