"""`EnumSVC`, the enumeration of near-optimal SVMs as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fairenum.document.terms import Distinctness
from fairenum.document.training import ClassWeight, SvmSettings
from fairenum.enumeration.distinct import DistinctModels
from fairenum.enumeration.division import pose
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import FloatArray, IntArray, SvmProblem, read_only
from fairenum.svm.sparse_or_dense import Matrix, as_matrix


class EnumSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Lists support vector machines with distinct support vectors, best first; predicts with the best.

    Parameters
    ----------
    C
        Cost of a violated margin.
    kernel, gamma, degree, coef0
        The kernel, as in scikit-learn's `SVC`: linear, rbf or poly; gamma "scale", "auto" or a number.
    solver
        Name of a solver plugin, or a plugin.
    n_models
        Number of models that `fit` lists; `stream` has no such limit.
    distinct
        How two listed models must differ. ``support``: in their support vectors; ``predictions``: in a decision about
        an audited row; ``diverse``: in their decisions about a minimum share of the audited rows.
    min_difference
        The minimum share for ``diverse``.
    max_loss
        Stop when the objective (which is maximised) is lower than the best one by more than this share of it.
    max_nodes, max_seconds
        Stop after this number of solved subproblems (nodes of the search tree) or seconds.
    patience
        Stop after this number of successive models that are not distinct.
    merge_copies
        Whether identical rows (equal features and label) form one example with a multiplicity, so that models differ
        only in how many of these rows they leave out, not in which.
    ridge
        Number added to the diagonal of the kernel matrix.
    class_weight
        Multiples of C by class, as in scikit-learn's `SVC`: None, "balanced" or a dictionary. A row of weight k counts
        as k rows in "balanced", as it does everywhere.

    Attributes
    ----------
    models_
        The models, best first. Rows of weight 0 are left out of every model.
    class_sizes_
        For each model, the number of sets of support vectors found that were counted as that model, its own included;
        all 1 for ``support``.
    stopped_
        The limit that ended the enumeration: models (``n_models``), objective (``max_loss``), nodes, time, exhausted
        (there are no further models) or alike (``patience``).
    ties_
        If at least half of the sets of support vectors found count as a model listed before, the reason: the number of
        examples on the best model's margin, and how many of these would determine the hyperplane. Otherwise None.
    classes_, n_features_in_, support_, intercept_
        As in scikit-learn's `SVC`, for the best model.

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
        class_weight: Literal["balanced"] | Mapping[object, float] | None = None,
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
        self.class_weight = class_weight

    @classmethod
    def of(
        cls,
        svm: SvmSettings,
        n_models: int = 1,
        distinct: Distinctness = "support",
        min_difference: float = 0.01,
        patience: int = 1000,
    ) -> Self:
        """Return the unfitted estimator with the settings of an audit, for labels -1 and +1; by default one model."""
        svm.require_class_weight()
        return cls(
            svm.cost,
            kernel=svm.kernel,
            gamma=svm.gamma,
            degree=svm.degree,
            coef0=svm.coef0,
            solver=svm.solver,
            n_models=n_models,
            distinct=distinct,
            min_difference=min_difference,
            patience=patience,
            merge_copies=not svm.rows,
            class_weight=by_label(svm.class_weight),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def fit(
        self,
        X: npt.ArrayLike | Matrix,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        audited: npt.ArrayLike | Matrix | None = None,
    ) -> Self:
        """Enumerate the best models, and keep them in `models_`.

        Parameters
        ----------
        X, y
            The training rows and their labels, of two classes.
        sample_weight
            The factor by which C is multiplied for each row. A row of weight 0 is left out.
        audited
            The rows on which the decisions of models are compared for `distinct`; by default the training rows.
        """
        if not (isinstance(self.n_models, Integral) and self.n_models >= 1):
            raise ValueError(f"n_models must be a whole number >= 1, not {self.n_models!r}")
        models, present = self._open(X, y, sample_weight, audited, int(self.n_models))
        self.models_: list[Model] = [present(model) for model in models]
        self.class_sizes_ = np.array(models.sizes)
        self.stopped_, self.ties_ = models.stopped, models.ties
        self.support_ = self.models_[0].support
        self.intercept_ = self.models_[0].intercept
        return self

    def stream(
        self,
        X: npt.ArrayLike | Matrix,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        audited: npt.ArrayLike | Matrix | None = None,
    ) -> Iterator[Model]:
        """Return an iterator over models, best first, without the limit `n_models`; see `fit` for the parameters."""
        models, present = self._open(X, y, sample_weight, audited, None)
        return map(present, models)

    def decision_function(self, X: npt.ArrayLike | Matrix) -> FloatArray:
        """Return the decision value of each row by the best model."""
        check_is_fitted(self)
        return self.models_[0].decision_function(self._table(X))

    def predict(self, X: npt.ArrayLike | Matrix) -> npt.NDArray[np.generic]:
        """Return the class of each row that the best model predicts."""
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision >= 0.0).astype(np.intp)])

    def _open(
        self,
        X: npt.ArrayLike | Matrix,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None,
        audited: npt.ArrayLike | Matrix | None,
        k: int | None,
    ) -> tuple[DistinctModels, Callable[[Model], Model]]:
        """Return the iterator over models, and a function that restates a model with the caller's rows and classes."""
        rows = self._checked(X, y, sample_weight)
        watched = rows.X if audited is None else self._table(audited)
        svm, used = self._svm(), rows.used
        weights = None if rows.weights is None else rows.weights[used]
        posed = pose(rows.X[used], rows.y[used], svm, weights=weights, ridge=self.ridge)
        present = partial(replace, classes=(self.classes_[0], self.classes_[1]))
        if self.merge_copies or len(used) < len(rows.y):
            rows_of = tuple(used[found] for found in posed.rows_of)
            present = partial(_by_rows, _row_by_row(posed.problem, rows, rows_of), rows_of, present)
        limits = Limits(None, self.max_loss, self.max_nodes, self.max_seconds)
        enumeration = Enumeration(open_workspace(self.solver, posed.problem), limits)
        return DistinctModels(enumeration, self.distinct, watched, k, self.min_difference, self.patience), present

    def _table(self, X: npt.ArrayLike | Matrix) -> Matrix:
        return as_matrix(validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False))

    def _checked(self, X: npt.ArrayLike | Matrix, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> _Rows:
        """Validate the training rows, labels and weights; return them with the labels as -1 and +1."""
        table, labels = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr")
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"EnumSVC needs two classes; the data has one class only: {self.classes_[0]!r}")
        if len(self.classes_) > 2:
            kind = type_of_target(labels)
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
            if len(np.unique(codes[weights > 0.0])) < 2:
                raise ValueError("EnumSVC needs two classes; the rows that have a weight are of one class at most")
        return _Rows(as_matrix(table), np.where(codes == 1, 1.0, -1.0), weights)

    def _svm(self) -> SvmSettings:
        weight, rows = self._class_weight(), not self.merge_copies
        if not (isinstance(self.C, Real) and 0.0 < float(self.C) < np.inf):
            raise ValueError(f"C must be a positive number, not {self.C!r}")
        cost = float(self.C)
        return SvmSettings(cost, self.kernel, self.gamma, self.degree, self.coef0, rows=rows, class_weight=weight)

    def _class_weight(self) -> ClassWeight:
        """Return "none", "balanced", or the weights of the second and the first class, as `SvmSettings` takes them."""
        asked = self.class_weight
        if asked is None or asked == "balanced":
            return "none" if asked is None else "balanced"
        if not isinstance(asked, Mapping):
            raise ValueError(f"class_weight must be None, 'balanced' or a dictionary, not {asked!r}")
        first, second = self.classes_.tolist()
        if unknown := [name for name in asked if name not in (first, second)]:
            raise ValueError(f"class_weight names {unknown[0]!r}; the classes are {first!r} and {second!r}")
        return asked.get(second, 1.0), asked.get(first, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The validated training rows, with labels -1 and +1 and optional weights."""

    X: Matrix
    y: FloatArray
    weights: FloatArray | None

    @property
    def used(self) -> IntArray:
        return np.arange(len(self.y)) if self.weights is None else np.flatnonzero(self.weights)


def by_label(weight: ClassWeight) -> Literal["balanced"] | dict[object, float] | None:
    """Return class weights of `SvmSettings` in the form that scikit-learn takes, for labels 1 and -1."""
    if isinstance(weight, str):
        return "balanced" if weight == "balanced" else None
    return {1: weight[0], -1: weight[1]}


def _row_by_row(merged: SvmProblem, rows: _Rows, rows_of: Sequence[IntArray]) -> SvmProblem:
    """Return the SVM problem with one example per row.

    Rows of weight 0 get cost 1, which has no effect, as all models leave them out.
    """
    cost = np.ones(len(rows.y))
    for example, found in enumerate(rows_of):
        cost[found] = merged.cost[example]
    return SvmProblem(rows.X, rows.y, cost, kernel=merged.kernel, ridge=merged.ridge)


def _by_rows(
    problem: SvmProblem, rows_of: Sequence[IntArray], present: Callable[[Model], Model], model: Model
) -> Model:
    """Return a model of merged identical rows as a model of single rows.

    The alpha of an example is divided among its identical rows: the first get as much as their cost allows. The last
    count as left out, and so do rows of weight 0.
    """
    alpha = np.zeros(problem.size)
    left_out = dict.fromkeys(np.setdiff1d(np.arange(problem.size), np.concatenate(rows_of)).tolist(), 1)
    for example in np.union1d(model.support, list(model.left_out)).astype(int):
        rows = rows_of[example]
        cost = problem.cost[rows[0]]
        alpha[rows] = np.clip(model.alpha[example] - cost * np.arange(len(rows)), 0.0, cost)
        missing = model.left_out.get(int(example), 0)
        left_out.update(dict.fromkeys(rows[len(rows) - missing :].tolist(), 1))
    return replace(present(model), problem=problem, alpha=read_only(alpha), left_out=left_out)
