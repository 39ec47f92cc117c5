"""One enumerated support vector machine, with what is proven about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.problem import Certificate, FloatArray, IntArray, SvmProblem


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A near-optimal SVM: its answer, its place in the order, and its certificate.

    Attributes
    ----------
    rank
        Place in the enumeration, from 1.
    alpha
        Dual weights, one per example of the problem.
    certificate
        Proven interval around the optimum of the allowed set, and the interval of optimal biases.
    left_out
        Copies left out per example, relative to the whole problem: ``{example: copies}``.
    is_order_certified
        Whether the intervals prove this place: not below anything that comes later, nor above what came before.
    loss_ratio
        Primal loss of this model on *all* examples, relative to the best objective, minus 1: what the full data would
        say about it.
    """

    problem: SvmProblem
    rank: int
    alpha: FloatArray
    certificate: Certificate
    left_out: dict[int, int]
    is_order_certified: bool
    loss_ratio: float

    @property
    def objective(self) -> float:
        """The dual objective, proven to be within ``certificate.gap`` of the optimum of the allowed set."""
        return self.certificate.objective

    @property
    def support(self) -> IntArray:
        """Sorted indices of the support vectors."""
        return np.flatnonzero(self.alpha)

    @property
    def intercept(self) -> float:
        """The bias: the middle of the interval of optimal biases."""
        return self.certificate.bias

    @property
    def bias_interval(self) -> tuple[float, float]:
        """Every optimal bias is in here; a wide interval means that the optimum leaves some decisions open."""
        return self.certificate.bias_low, self.certificate.bias_high

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the signed decision value of each row; positive is class +1."""
        support = self.support
        weights = self.problem.y[support] * self.alpha[support]
        return self.problem.decide(np.asarray(X, dtype=float), support, weights) + self.intercept

    def predict(self, X: FloatArray) -> FloatArray:
        """Return -1 or +1 for each row; a decision value of exactly 0 counts as +1."""
        return np.where(self.decision_function(X) >= 0.0, 1.0, -1.0)
