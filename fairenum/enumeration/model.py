"""A near-optimal SVM with its certificate and, if a search has tilted its plane, the direction that was subtracted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fairenum.document.feature_facts import ROUNDING
from fairenum.document.terms import TiltRate
from fairenum.svm.problem import Certificate, FloatArray, IntArray, Kernel, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, as_matrix, precise_sum, stacked, times


@dataclass(frozen=True, slots=True, eq=False)
class FeatureDirection:
    """A direction in the kernel's feature space: ``d = sum_j weights_j phi(rows_j)``, where phi is the feature map."""

    rows: Matrix
    weights: FloatArray

    def along(self, kernel: Kernel, X: Matrix) -> FloatArray:
        """Return for each row x its inner product ``phi(x)'d`` with this direction d, phi being the feature map."""
        return kernel.summed(X, self.rows, self.weights)

    def square(self, kernel: Kernel) -> float:
        """Return the squared length of this direction in the kernel's feature space."""
        return max(float(self.weights @ self.along(kernel, self.rows)), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class TiltAxis:
    """The direction by which a search tilts planes, with the rate and the two groups that it is computed from.

    ``rate`` is one that the gap compares, and differs between the two groups under model 1. ``groups`` names the group
    of the higher rate, then that of the lower. ``direction`` leads from the mean of the lower group to that of the
    higher, over the rows that the rate is a share of.
    """

    rate: TiltRate
    groups: tuple[str, str]
    direction: FeatureDirection


@dataclass(frozen=True, slots=True, eq=False)
class PlaneTilt:
    """The tilt of a plane, whose weights contain the term ``-price * d``, with d the direction of ``axis``."""

    price: float
    axis: TiltAxis


@dataclass(frozen=True, eq=False)
class Model:
    """A near-optimal SVM: its dual variables, its rank, and a certificate of its objective.

    Attributes
    ----------
    problem
        The SVM problem on all examples; for a tilted model, its linear term includes the tilt.
    rank
        Position in the enumeration, from 1.
    alpha
        Dual variables, one per example of the problem.
    certificate
        Proven interval of the optimum without the left-out training rows, and the interval of optimal biases.
    left_out
        Number of training rows left out per example, ``{example: rows}``; an example stands for identical rows.
    is_order_certified
        Whether this model is proven to be worse than the model before it in the enumeration, that is, to have a smaller
        dual objective. If not, the two are tied as far as can be proven.
    loss_ratio
        Primal loss of this model on *all* examples, relative to the best objective, minus 1.
    classes
        The names of the two classes for `predict`.
    tilt
        The tilt of a tilted model's plane; None for other models.
    """

    problem: SvmProblem
    rank: int
    alpha: FloatArray
    certificate: Certificate
    left_out: dict[int, int]
    is_order_certified: bool
    loss_ratio: float
    classes: tuple[object, object] = (-1, 1)
    tilt: PlaneTilt | None = None

    @property
    def objective(self) -> float:
        """The dual objective, within ``certificate.gap`` of the optimum without the left-out training rows."""
        return self.certificate.objective

    @property
    def kept(self) -> IntArray:
        """Number of training rows of each example that the model was trained on."""
        copies = self.problem.copies.copy()
        for example, missing in self.left_out.items():
            copies[example] -= missing
        return copies

    @property
    def support(self) -> IntArray:
        """Sorted indices of the support vectors."""
        return np.flatnonzero(self.alpha)

    @property
    def expansion(self) -> tuple[Matrix, FloatArray]:
        """Rows and weights of the kernel expansion: x has decision value ``sum_j weights_j k(rows_j, x) + bias``."""
        rows, weights = self.problem.X[self.support], self.problem.y[self.support] * self.alpha[self.support]
        if self.tilt is None:
            return rows, weights
        direction, price = self.tilt.axis.direction, self.tilt.price
        return stacked([rows, direction.rows]), np.concatenate([weights, -price * direction.weights])

    @cached_property
    def plane(self) -> FloatArray:
        """The weights of a linear model, one per column."""
        if self.tilt is None:
            return precise_sum(self.problem.y * self.alpha, self.problem.X)
        rows, weights = self.expansion
        return precise_sum(weights, rows)

    @property
    def intercept(self) -> float:
        """The bias: the middle of the interval of optimal biases."""
        return self.certificate.bias

    @property
    def bias_interval(self) -> tuple[float, float]:
        """The interval of all optimal biases; a wide one means that the optimum leaves some decisions open."""
        return self.certificate.bias_low, self.certificate.bias_high

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the signed decision value of each row; a value whose sign rounding could change is set to 0."""
        rows, kernel = as_matrix(X), self.problem.kernel
        plain = times(rows, self.plane) if kernel.name == "linear" else kernel.summed(rows, *self.expansion)
        decision = plain + self.intercept
        return np.where(np.abs(decision) <= ROUNDING, 0.0, decision)

    def predict(self, X: Matrix) -> np.ndarray:
        """Return the class of each row: ``classes[1]`` for decision values of at least 0, else ``classes[0]``."""
        return np.array(self.classes)[(self.decision_function(X) >= 0.0).astype(np.intp)]

    def undetermined(self, X: Matrix, threshold: float = 0.0) -> npt.NDArray[np.bool_]:
        """Return a mask of rows whose decision at `threshold` depends on which optimal bias is used, or on rounding."""
        centred = self.decision_function(X) - self.intercept - threshold
        low, high = self.bias_interval
        return (centred + low <= ROUNDING) & (centred + high >= -ROUNDING)


def model_of(problem: SvmProblem, solution: Solution, rank: int, best: float, previous: float = -math.inf) -> Model:
    """Return the model of a solution, given the objectives of the best model and of the model ranked before it."""
    certificate = solution.certificate
    missing = problem.upper - solution.upper
    (examples,) = missing.nonzero()
    copies = np.rint(missing[examples] / problem.cost[examples]).astype(np.intp)
    quadratic = float(problem.linear @ solution.alpha) - certificate.objective
    loss = quadratic + float(problem.upper @ solution.slack)
    is_below = certificate.bound < previous
    left_out = dict(zip(examples.tolist(), copies.tolist(), strict=True))
    return Model(problem, rank, solution.alpha, certificate, left_out, is_below, loss / best - 1.0)
