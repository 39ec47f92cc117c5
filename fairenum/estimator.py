"""scikit-learn's face of the enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from fairenum.document.machine import Machine
from fairenum.document.terms import Distinctness
from fairenum.enumeration.distinct import DistinctModels
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.experiment import pose
from fairenum.problem import FloatArray, IntArray, SvmProblem, read_only
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import open_workspace


class EnumSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The best support vector machines with distinct support vectors, best first, each with a proof.

    Parameters
    ----------
    C
        Price of a violated margin.
    kernel, gamma, degree, coef0
        The kernel, as in scikit-learn's `SVC`: linear, rbf or poly; gamma "scale", "auto" or a number.
    solver
        Name of a solver plugin, or a plugin.
    n_models
        How many models `fit` keeps; `stream` has no such limit.
    distinct
        ``support``: distinct support vectors; ``predictions``: distinct decisions on the audited rows; ``diverse``: a
        minimum share of the audited rows decided otherwise than by each model before.
    min_difference
        The minimum share for ``diverse``.
    max_loss
        Stop when the objective falls by more than this share of the best.
    max_nodes, max_seconds
        Stop after so many solved boxes, or seconds.
    patience
        Stop after so many models in a row that are nothing new by the chosen notion.
    merge_copies
        Treat identical records as one example that is left out copy by copy, instead of row by row.
    ridge
        Added to the diagonal of the kernel matrix.

    Attributes
    ----------
    models_
        The models, best first.
    class_sizes_
        How many supports each model stands for; all 1 for ``support``.
    stopped_
        Why the enumeration ended: models, objective, nodes, time, exhausted or alike.
    ties_
        Why many supports are few predictors: examples on the margin, and how many of them determine it; None if the
        supports are not.
    classes_, n_features_in_, support_, intercept_
        As in scikit-learn, of the best model.

    Examples
    --------
    >>> from fairenum import EnumSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> [model.support.tolist() for model in EnumSVC(C=1.0).fit(X, y).models_]
    [[1, 2], [1, 3], [0, 2], [0, 3]]
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Literal["linear", "rbf", "poly"] = "linear",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        solver: str | SolverPlugin = "path",
        n_models: int = 50,
        distinct: Distinctness = "support",
        min_difference: float = 0.01,
        max_loss: float | None = None,
        max_nodes: int | None = None,
        max_seconds: float | None = None,
        patience: int = 1000,
        merge_copies: bool = False,
        ridge: float = 0.0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.n_models = n_models
        self.distinct = distinct
        self.min_difference = min_difference
        self.max_loss = max_loss
        self.max_nodes = max_nodes
        self.max_seconds = max_seconds
        self.patience = patience
        self.merge_copies = merge_copies
        self.ridge = ridge

    @classmethod
    def of(
        cls,
        machine: Machine,
        n_models: int = 1,
        distinct: Distinctness = "support",
        min_difference: float = 0.01,
        patience: int = 1000,
    ) -> Self:
        """Build the estimator of a machine; by default it trains the best model alone."""
        return cls(
            machine.cost,
            kernel=machine.kernel,
            gamma=machine.gamma,
            degree=machine.degree,
            coef0=machine.coef0,
            solver=machine.solver,
            n_models=n_models,
            distinct=distinct,
            min_difference=min_difference,
            patience=patience,
            merge_copies=not machine.rows,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, audited: npt.ArrayLike | None = None) -> Self:
        """Enumerate the best models; `audited` rows (the training rows by default) decide what predicts alike."""
        if not (isinstance(self.n_models, Integral) and self.n_models >= 1):
            raise ValueError(f"n_models must be a whole number >= 1, not {self.n_models!r}")
        models, present = self._open(X, y, audited, int(self.n_models))
        self.models_: list[Model] = [present(model) for model in models]
        self.class_sizes_ = np.array(models.sizes)
        self.stopped_, self.ties_ = models.stopped, models.ties
        self.support_ = self.models_[0].support
        self.intercept_ = self.models_[0].intercept
        return self

    def stream(self, X: npt.ArrayLike, y: npt.ArrayLike, audited: npt.ArrayLike | None = None) -> Iterator[Model]:
        """Yield the next best model on request, without end but for the limits on loss, nodes and seconds."""
        models, present = self._open(X, y, audited, None)
        return map(present, models)

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Return the decision values of the best model."""
        check_is_fitted(self)
        return self.models_[0].decision_function(validate_data(self, X, dtype=np.float64, reset=False))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.generic]:
        """Return the classes that the best model predicts."""
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision >= 0.0).astype(np.intp)])

    def _open(
        self, X: npt.ArrayLike, y: npt.ArrayLike, audited: npt.ArrayLike | None, k: int | None
    ) -> tuple[DistinctModels, Callable[[Model], Model]]:
        """Return the stream of models, and how a model is presented in the caller's rows and classes."""
        table, signs = self._checked(X, y)
        rows = table if audited is None else validate_data(self, audited, dtype=np.float64, reset=False)
        posed = pose(table, signs, self._machine(), ridge=self.ridge)
        present = partial(replace, classes=(self.classes_[0], self.classes_[1]))
        if self.merge_copies:
            row_by_row = SvmProblem(table, signs, self._cost(), kernel=posed.problem.kernel, ridge=self.ridge)
            present = partial(_by_rows, row_by_row, posed.rows_of, present)
        limits = Limits(None, self.max_loss, self.max_nodes, self.max_seconds)
        enumeration = Enumeration(open_workspace(self.solver, posed.problem), limits)
        return DistinctModels(enumeration, self.distinct, rows, k, self.min_difference, self.patience), present

    def _checked(self, X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Validate the table and labels, and turn the labels into -1 and +1."""
        table, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"EnumSVC needs two classes; the data has one class only: {self.classes_[0]!r}")
        if len(self.classes_) > 2:
            kind = type_of_target(labels)
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        return table, np.where(codes == 1, 1.0, -1.0)

    def _cost(self) -> float:
        if not (isinstance(self.C, Real) and 0.0 < float(self.C) < np.inf):
            raise ValueError(f"C must be a positive number, not {self.C!r}")
        return float(self.C)

    def _machine(self) -> Machine:
        return Machine(self._cost(), self.kernel, self.gamma, self.degree, self.coef0, rows=not self.merge_copies)


def _by_rows(
    problem: SvmProblem, rows_of: Sequence[IntArray], present: Callable[[Model], Model], model: Model
) -> Model:
    """Return a model of merged examples in rows: the first copies carry the weight, the last are left out."""
    alpha = np.zeros(problem.size)
    left_out: dict[int, int] = {}
    for example in np.union1d(model.support, list(model.left_out)).astype(int):
        rows = rows_of[example]
        cost = problem.cost[rows[0]]
        alpha[rows] = np.clip(model.alpha[example] - cost * np.arange(len(rows)), 0.0, cost)
        missing = model.left_out.get(int(example), 0)
        left_out.update(dict.fromkeys(rows[len(rows) - missing :].tolist(), 1))
    return replace(present(model), problem=problem, alpha=read_only(alpha), left_out=left_out)
