"""An enumerated model as a fitted scikit-learn pipeline: preprocessing and classifier, ready to be exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_array, check_is_fitted

from fairenum.document.anatomy import ROUNDING
from fairenum.enumeration.model import Model
from fairenum.matrices import as_matrix, dense
from fairenum.problem import FloatArray, Kernel

if TYPE_CHECKING:
    from fairenum.dataset import Encoding


class KernelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A kernel SVM that is fitted already: support vectors, weights and bias.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        The kernel; gamma is a number.

    Attributes
    ----------
    support_vectors_, dual_coef_, intercept_
        The decision value of x is ``sum_i dual_coef_i k(support_vector_i, x) + intercept``.
    classes_
        Unfavourable and favourable; a decision value of exactly 0 is favourable.
    """

    def __init__(self, kernel: str = "rbf", gamma: float = 1.0, degree: int = 3, coef0: float = 0.0) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Refuse: a model of an audit is taken as it was found."""
        raise TypeError("this classifier was fitted by an audit; train a new one with fairenum.EnumSVC")

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Return the signed decision value of each row."""
        check_is_fitted(self, "support_vectors_")
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0)  # type: ignore[arg-type]
        rows = as_matrix(check_array(X, accept_sparse="csr"))
        return np.asarray(kernel(rows, self.support_vectors_) @ self.dual_coef_ + self.intercept_)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.generic]:
        """Return the class of each row."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)])


def pipeline(model: Model, encoding: Encoding, classes: tuple[str, str], cut: float = 0.0) -> Pipeline:
    """Build the pipeline of a model: it takes rows of the table and returns the label's texts.

    The cut is subtracted from the bias, so that the sign decides as the model does at its cut.

    A linear model becomes scikit-learn's own `LinearSVC`, which needs no fairenum to be loaded; other kernels become a
    `KernelClassifier`. The bias is raised by what cannot be told from 0, as scikit-learn counts a decision value of
    exactly 0 as the first class, and an enumerated model as the second.
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
