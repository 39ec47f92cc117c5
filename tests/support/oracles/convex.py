"""An independent oracle for machines within a loss: cvxpy with CLARABEL, on explicit features."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np

from fairenum.svm.problem import SvmProblem
from fairenum.svm.sparse_or_dense import dense


class ConvexOracle:
    """The machine of a problem, and rows that it is asked about."""

    def __init__(self, problem: SvmProblem, rows: np.ndarray) -> None:
        n, features = problem.size, _features(problem, rows)
        self.w, self.b, slack = cp.Variable(features.shape[1]), cp.Variable(), cp.Variable(n, nonneg=True)
        self.loss = 0.5 * cp.sum_squares(self.w) + problem.upper @ slack
        values = features[:n] @ self.w + self.b
        if problem.ridge:
            own = cp.Variable(n)
            self.loss += 0.5 * cp.sum_squares(own)
            values += np.sqrt(problem.ridge) * own
        self.rows = [row @ self.w + self.b for row in features[n:]]
        self.limits = [slack >= problem.linear - cp.multiply(problem.y, values)]
        self.least = self._solved(cp.Minimize(self.loss), [])

    def _solved(self, aim: cp.Minimize, further: list[cp.Constraint]) -> float:
        """Return the least value of an aim.

        CLARABEL may warn that it is not sure of its last digits, which depends on the processor. Callers compare the
        value to 1e-6 all the same.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            return float(cp.Problem(aim, self.limits + further).solve(solver="CLARABEL"))

    def price(self, row: int, side: float, threshold: float = 0.0) -> float:
        """The least loss with the row on a side, relative to the least of all, minus 1."""
        return self._solved(cp.Minimize(self.loss), [side * (self.rows[row] - threshold) >= 0]) / self.least - 1.0

    def end(self, row: int, side: float, eps: float) -> float:
        """The farthest decision value of the row within the loss."""
        within = [self.loss / self.least <= 1.0 + eps]
        return -side * self._solved(cp.Minimize(-side * self.rows[row]), within)


def _features(problem: SvmProblem, rows: np.ndarray) -> np.ndarray:
    table = np.vstack([dense(problem.X), rows])
    if problem.kernel.name == "linear":
        return table
    values, vectors = np.linalg.eigh(problem.kernel(table, table))
    kept = values > 1e-13 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])
