"""One support vector machine, enumerated or found otherwise, with what is proven about it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fairenum.document.anatomy import ROUNDING
from fairenum.document.terms import TiltRate
from fairenum.matrices import Matrix, as_matrix, precise_sum, stacked, times
from fairenum.problem import Certificate, FloatArray, IntArray, Kernel, Solution, SvmProblem


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """A direction d of the features in which the kernel is an inner product: ``d = sum_j weights_j phi(rows_j)``."""

    rows: Matrix
    weights: FloatArray

    def along(self, kernel: Kernel, X: Matrix) -> FloatArray:
        """Return ``phi(x)'d`` for each row."""
        return kernel.summed(X, self.rows, self.weights)

    def square(self, kernel: Kernel) -> float:
        """Return ``|d|^2``."""
        return max(float(self.weights @ self.along(kernel, self.rows)), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Between whom planes are tilted.

    Attributes
    ----------
    rate
        What the two groups lie farthest apart in.
    groups
        The one that fares better for model 1, and the one that fares worse.
    direction
        From the mean of the latter to that of the former, over the rows that the rate is about.
    """

    rate: TiltRate
    groups: tuple[str, str]
    direction: Direction


@dataclass(frozen=True, slots=True, eq=False)
class Tilt:
    """By what a plane was moved, against a direction d that its machine had to pay for: ``- price * d``."""

    price: float
    axis: Axis


@dataclass(frozen=True, eq=False)
class Model:
    """A near-optimal SVM: its answer, its place in the order, and its certificate.

    Attributes
    ----------
    problem
        What alpha answers: the whole problem or, for a tilted model, that with a price on a direction.
    rank
        Place in the enumeration, from 1.
    alpha
        Dual weights, one per example of the problem.
    certificate
        Proven interval around the optimum of the allowed set, and the interval of optimal biases.
    left_out
        Copies left out per example, relative to the whole problem: ``{example: copies}``.
    is_order_certified
        Whether the intervals prove the order: this one lies wholly below that of the model before. If not, the two are
        tied as far as can be proven.
    loss_ratio
        Primal loss of this model on *all* examples, relative to the best objective, minus 1: what the full data would
        say about it.
    classes
        What `predict` calls the two classes.
    tilt
        What its plane has beside the examples; None but for a tilted model.
    """

    problem: SvmProblem
    rank: int
    alpha: FloatArray
    certificate: Certificate
    left_out: dict[int, int]
    is_order_certified: bool
    loss_ratio: float
    classes: tuple[object, object] = (-1, 1)
    tilt: Tilt | None = None

    @property
    def objective(self) -> float:
        """The dual objective, proven to be within ``certificate.gap`` of the optimum of the allowed set."""
        return self.certificate.objective

    @property
    def kept(self) -> IntArray:
        """Copies of each example of the problem that it was shown."""
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
        """Rows and their weights: a decision value is ``sum_j weights_j k(rows_j, x)`` plus the bias."""
        rows, weights = self.problem.X[self.support], self.problem.y[self.support] * self.alpha[self.support]
        if self.tilt is None:
            return rows, weights
        direction, price = self.tilt.axis.direction, self.tilt.price
        return stacked([rows, direction.rows]), np.concatenate([weights, -price * direction.weights])

    @cached_property
    def plane(self) -> FloatArray:
        """The weights of a linear model, one for each column."""
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
        """Every optimal bias is in here; a wide interval means that the optimum leaves some decisions open."""
        return self.certificate.bias_low, self.certificate.bias_high

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the signed decision value of each row; what cannot be told from 0 is 0."""
        rows, kernel = as_matrix(X), self.problem.kernel
        plain = times(rows, self.plane) if kernel.name == "linear" else kernel.summed(rows, *self.expansion)
        decision = plain + self.intercept
        return np.where(np.abs(decision) <= ROUNDING, 0.0, decision)

    def predict(self, X: Matrix) -> np.ndarray:
        """Return the class of each row; a decision value of exactly 0 counts as the second class."""
        return np.array(self.classes)[(self.decision_function(X) >= 0.0).astype(np.intp)]

    def undetermined(self, X: Matrix, threshold: float = 0.0) -> npt.NDArray[np.bool_]:
        """Tell for which rows the optimum leaves the decision open: it depends on the bias, or on rounding."""
        centred = self.decision_function(X) - self.intercept - threshold
        low, high = self.bias_interval
        return (centred + low <= ROUNDING) & (centred + high >= -ROUNDING)


def model_of(problem: SvmProblem, solution: Solution, rank: int, best: float, previous: float = -math.inf) -> Model:
    """Return the model of an answer.

    Parameters
    ----------
    problem, solution
        The answer, and what it answers.
    rank
        Its place.
    best, previous
        Objectives of the best model and of the one before.
    """
    certificate = solution.certificate
    missing = problem.upper - solution.upper
    (examples,) = missing.nonzero()
    copies = np.rint(missing[examples] / problem.cost[examples]).astype(np.intp)
    quadratic = float(problem.linear @ solution.alpha) - certificate.objective
    loss = quadratic + float(problem.upper @ solution.slack)
    is_below = certificate.bound < previous
    left_out = dict(zip(examples.tolist(), copies.tolist(), strict=True))
    return Model(problem, rank, solution.alpha, certificate, left_out, is_below, loss / best - 1.0)
