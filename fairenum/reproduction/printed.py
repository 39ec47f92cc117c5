"""What the paper's own algorithm shows: Algorithm 1 as printed, on scikit-learn's SVC at its default tolerance."""

from __future__ import annotations

import numpy as np

from fairenum.bench.algorithm_one import TOL, AlgorithmOne
from fairenum.document.paper import MODELS
from fairenum.enumeration.search import Limits
from fairenum.experiment import EncodedRows
from fairenum.matrices import Matrix
from fairenum.problem import FloatArray, IntArray
from fairenum.reproduction.tuning import plain_problem
from fairenum.scoring.counts import BoolArray

SECONDS = 20.0  # for one draw


def printed_values(
    train: EncodedRows, y: FloatArray, untouched: BoolArray, cost: float, test: Matrix
) -> tuple[FloatArray, FloatArray]:
    """Enumerate injected rows with SVC.

    Parameters
    ----------
    train, y
        The training rows, and their labels after the injection.
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
    fits = list(AlgorithmOne(plain_problem(train.X, y, cost), Limits(models=MODELS, seconds=SECONDS)))
    everybody = np.arange(len(y))
    values = [_decide(train.X, train.y, everybody, cost, test)]
    values.append(_decide(train.X, y, np.flatnonzero(untouched), cost, test))
    # SVC is deterministic: trained on the same rows again it is the model that was listed
    values += [_decide(train.X, y, np.delete(everybody, list(fit.left_out)), cost, test) for fit in fits]
    return np.array([fit.objective for fit in fits]), np.array(values)


def _decide(X: Matrix, y: FloatArray, rows: IntArray, cost: float, test: Matrix) -> FloatArray:
    from sklearn.svm import SVC

    return np.asarray(SVC(kernel="linear", C=cost, tol=TOL).fit(X[rows], y[rows]).decision_function(test))
