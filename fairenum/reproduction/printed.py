"""What the paper's own algorithm shows: Algorithm 1 as printed, on scikit-learn's SVC at its default tolerance."""

from __future__ import annotations

import numpy as np

from fairenum.attack.scene import BoolArray
from fairenum.bench import AlgorithmOne
from fairenum.bench.baseline import TOL
from fairenum.enumeration.search import Limits
from fairenum.problem import FloatArray, SvmProblem
from fairenum.reproduction.plan import MODELS

SECONDS = 20.0  # for one draw


def printed_values(
    X: FloatArray, true: FloatArray, y: FloatArray, untouched: BoolArray, cost: float, test: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Enumerate injected rows with SVC.

    Parameters
    ----------
    X, true, y
        The training rows with their labels, before and after the injection.
    untouched
        Marks the rows whose labels were not flipped.
    cost
        Price of a violated margin.
    test
        Rows to decide.

    Returns
    -------
    tuple
        The objectives of the listed models; and decision values on the test rows of the clean model, of the one
        trained on the untouched rows, and of the listed models.
    """
    fits = list(AlgorithmOne(SvmProblem(X, y, cost=cost), Limits(models=MODELS, seconds=SECONDS)))
    everybody = np.arange(len(y))
    values = [_decide(X, true, everybody, cost, test), _decide(X, y, np.flatnonzero(untouched), cost, test)]
    # SVC is deterministic: trained on the same rows again it is the model that was listed
    values += [_decide(X, y, np.delete(everybody, list(fit.left_out)), cost, test) for fit in fits]
    return np.array([fit.objective for fit in fits]), np.array(values)


def _decide(X: FloatArray, y: FloatArray, rows: np.ndarray, cost: float, test: FloatArray) -> FloatArray:
    from sklearn.svm import SVC

    return np.asarray(SVC(kernel="linear", C=cost, tol=TOL).fit(X[rows], y[rows]).decision_function(test))
