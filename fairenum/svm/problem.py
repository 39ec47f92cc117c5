"""The SVM training problem, with its kernel, claimed answers, proven answers and certificates.

With labels ``y`` in {-1, +1}, kernel matrix ``K``, ``Q_ij = y_i y_j K_ij (+ ridge if i = j)``, a box ``0 <= alpha_i <=
upper_i`` and a linear term ``p`` (ones by default)::

    maximise  f(alpha) = p'alpha - 1/2 alpha'Q alpha   subject to  y'alpha = 0

Leaving example i out is ``upper[i] = 0``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal, TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt

from fairenum.errors import ProblemError
from fairenum.svm.sparse_or_dense import (
    Matrix,
    Sparse,
    first_not_finite,
    frozen,
    inner_products,
    is_sparse,
    precise_sum,
    squared_distances,
    squares,
    times,
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Number = TypeVar("Number", np.float64, np.intp)
BLOCK_ROWS = 1024  # of a kernel matrix that are built at once: bounds memory, never the result
CANCELLING = 100.0  # squared length times gamma beyond which an rbf kernel from inner products loses digits (1e-14)
# Numbers outside these limits may overflow or vanish when squared and summed.
LARGEST_NUMBER, COSTS = 1e100, (1e-100, 1e100)


def read_only(numbers: npt.ArrayLike) -> FloatArray:
    """Return a contiguous, read-only array of numbers, copied unless it is one already."""
    return _protected(np.ascontiguousarray(numbers, dtype=np.float64), numbers)


def _protected(array: npt.NDArray[Number], source: npt.ArrayLike) -> npt.NDArray[Number]:
    """Make an array read-only, or a copy of it if its source could still write to it."""
    if array.flags.writeable:
        array = array.copy() if array is source or array.base is not None else array
        array.flags.writeable = False
    return array


def affordable(numbers: int, work: float, least: int, most: int | None = None) -> int:
    """Return how many solves fit into an amount of work, within limits; each goes through `numbers` numbers."""
    solves = max(least, int(work // numbers))
    return solves if most is None else min(solves, most)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel function: ``x'z``, ``exp(-gamma |x - z|^2)`` or ``(gamma x'z + coef0)^degree``."""

    name: Literal["linear", "rbf", "poly"] = "linear"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in ("linear", "rbf", "poly"):
            raise ProblemError(f"unknown kernel {self.name!r}; choose linear, rbf or poly")
        if not (math.isfinite(self.gamma) and self.gamma > 0):
            raise ProblemError(f"a kernel's gamma must be a positive number, not {self.gamma!r}")
        if self.name == "poly" and (self.degree < 1 or self.coef0 < 0):
            raise ProblemError(
                f"a poly kernel is positive semidefinite for degree >= 1 and coef0 >= 0 only; "
                f"received degree={self.degree!r}, coef0={self.coef0!r}"
            )

    def __call__(self, left: Matrix, right: Matrix) -> FloatArray:
        """Return the matrix of kernel values between the rows of two tables."""
        lengths = squares(left), squares(right)
        if self.needs_distances(*lengths):
            return self.of_distances(squared_distances(left, right))
        return self.of_products(inner_products(left, right), *lengths)

    def needs_distances(self, *squares: FloatArray) -> bool:
        """Tell whether distances must be computed from differences because inner products lose digits.

        From inner products a distance is a difference of squares, wrong by their rounding: with a huge gamma, or far
        from 0, not even equal rows would be equal.
        """
        return self.name == "rbf" and self.gamma * max(float(part.max(initial=0.0)) for part in squares) > CANCELLING

    def of_distances(self, squared: FloatArray) -> FloatArray:
        """Turn squared distances into kernel values, in place."""
        return np.exp(-self.gamma * squared, out=squared)

    def of_products(self, inner: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return kernel values, in place if possible, given inner products and the squared lengths of both sides."""
        if self.name == "rbf":
            inner *= -2.0
            inner += left[:, None]
            inner += right
            return self.of_distances(np.maximum(inner, 0.0, out=inner))
        if self.name == "poly":
            return np.asarray((self.gamma * inner + self.coef0) ** self.degree)
        return inner

    def summed(self, X: Matrix, rows: Matrix, weights: FloatArray) -> FloatArray:
        """Return ``sum_j weights_j k(rows_j, x)`` for each row x of X, without holding all kernel values."""
        if self.name == "linear":
            return times(X, precise_sum(weights, rows))
        result = np.zeros(X.shape[0])
        for start in range(0, X.shape[0], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            result[block] = self(X[block], rows) @ weights
        return result


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof about an answer: ``objective <= optimum <= bound``, whichever solver made it.

    ``bias_low`` and ``bias_high`` enclose every optimal bias; with a free support vector they coincide.
    """

    objective: float
    bound: float
    bias_low: float
    bias_high: float

    @property
    def gap(self) -> float:
        """The width of the proven interval around the optimum."""
        return self.bound - self.objective

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective; infinite if the objective is 0."""
        if self.gap <= 0.0:
            return 0.0
        return self.gap / abs(self.objective) if self.objective and math.isfinite(self.gap) else math.inf

    def moved(self, offset: float) -> Certificate:
        """Return the certificate with its biases moved by an offset."""
        return Certificate(self.objective, self.bound, self.bias_low + offset, self.bias_high + offset)

    @property
    def bias(self) -> float:
        """The middle of the bias interval; its finite end when the other is infinite."""
        ends = [end for end in (self.bias_low, self.bias_high) if math.isfinite(end)]
        return sum(ends) / len(ends) if ends else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """An answer as a solver returns it, not yet proven; ``finished=False`` if the solver stopped at a limit of its own.

    ``handle`` may hold anything the solver needs to continue from this answer.
    """

    alpha: FloatArray
    handle: object = None
    finished: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """An answer proven optimal within a box; ``slack`` is what each example misses of its margin."""

    alpha: FloatArray
    upper: FloatArray
    certificate: Certificate
    slack: FloatArray
    handle: object = None

    @property
    def support(self) -> IntArray:
        """The examples with ``alpha > 0``, sorted."""
        return np.flatnonzero(self.alpha)

    def box_with(self, example: int, upper: float) -> FloatArray:
        """Return the box with another upper bound for one example."""
        box = self.upper.copy()
        box[example] = upper
        box.flags.writeable = False
        return box


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SvmProblem:
    """A support vector machine to train: examples, box, kernel and linear term, checked and read-only.

    Parameters
    ----------
    X
        One row of features per example; an array, or a sparse one.
    y
        Labels, -1 or +1.
    cost
        Price of a violated margin, C: one number, or one per example.
    copies
        How many identical records each example stands for; its box is ``cost * copies``.
    kernel
        The kernel function.
    linear
        The linear term of the objective; ones by default.
    unit
        The scale of decision values: the margin. The mean linear term by default; it stays when a tilted problem
        charges the linear term.
    ridge
        Added to the diagonal of the kernel matrix. With 0, ties between optimal answers are broken by the
        canonical rule (see `tie_weights`); a positive ridge makes the optimum unique by changing the problem.
    """

    X: Matrix
    y: FloatArray
    cost: FloatArray
    copies: IntArray
    kernel: Kernel
    linear: FloatArray
    ridge: float
    unit: float
    upper: FloatArray = field(repr=False)

    def __init__(
        self,
        X: npt.ArrayLike | Sparse,
        y: npt.ArrayLike,
        cost: npt.ArrayLike = 1.0,
        copies: npt.ArrayLike | None = None,
        kernel: Kernel | None = None,
        linear: npt.ArrayLike | None = None,
        ridge: float = 0.0,
        unit: float | None = None,
    ) -> None:
        table = frozen(X) if is_sparse(X) else read_only(X)
        if table.ndim != 2:
            raise ProblemError(f"X must be a table of examples by features; received shape {table.shape}")
        n = table.shape[0]
        counts = np.ones(n, dtype=np.intp) if copies is None else copies
        values = {
            "X": table,
            "y": read_only(y),
            "cost": read_only(np.broadcast_to(np.asarray(cost, float), n) if np.ndim(cost) == 0 else cost),
            "copies": _protected(np.ascontiguousarray(counts, dtype=np.intp), counts),
            "kernel": kernel or Kernel(),
            "linear": read_only(np.ones(n) if linear is None else linear),
            "ridge": float(ridge),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check()
        object.__setattr__(self, "unit", float(np.abs(self.linear).mean()) if unit is None else unit)
        object.__setattr__(self, "upper", read_only(self.cost * self.copies))

    def checksum(self) -> int:
        """Return a checksum of the arrays, to detect writes to them."""
        parts = [self.X.data, self.X.indices] if is_sparse(self.X) else [self.X]
        return reduce(lambda total, part: crc32(part, total), [*parts, self.y, self.linear, self.upper], 0)

    def _check(self) -> None:
        n = self.X.shape[0]
        for name in ("y", "cost", "copies", "linear"):
            if getattr(self, name).shape != (n,):
                raise ProblemError(
                    f"{name} must have one value per example ({n}); received shape {getattr(self, name).shape}"
                )
        for name in ("X", "cost", "linear"):
            if (row := first_not_finite(getattr(self, name))) is not None:
                raise ProblemError(f"{name} holds a value that is not finite, first at example {row}; impute it")
        if not np.isin(self.y, (-1.0, 1.0)).all():
            raise ProblemError(f"labels must be -1 or +1; received {sorted(set(self.y.tolist()))[:5]}")
        if (self.cost <= 0).any() or (self.copies < 1).any():
            raise ProblemError("cost must be positive and copies at least 1 for every example")
        self._check_magnitudes()
        if not (math.isfinite(self.ridge) and self.ridge >= 0):
            raise ProblemError(f"ridge must be a number >= 0, not {self.ridge!r}")
        if len(np.unique(self.y)) < 2:
            raise ProblemError(f"both labels are needed to train; all {n} examples have label {self.y[:1]}")

    def _check_magnitudes(self) -> None:
        """Refuse numbers that double precision cannot square and sum."""
        largest = float(np.abs(self.X.data if is_sparse(self.X) else self.X).max(initial=0.0))
        if largest > LARGEST_NUMBER:
            raise ProblemError(
                f"X holds numbers up to {largest:.2g}; at most {LARGEST_NUMBER:g} is taken: standardise the features"
            )
        low, high = float(self.cost.min()), float(self.cost.max() * self.copies.max())
        if low < COSTS[0] or high > COSTS[1]:
            raise ProblemError(
                f"costs range from {low:.2g} to {high:.2g}, copies counted; {COSTS[0]:g} to {COSTS[1]:g} is taken: "
                "use others, scaled alike"
            )

    @property
    def size(self) -> int:
        """Number of examples."""
        return len(self.y)

    def counted(self, upper: FloatArray) -> IntArray:
        """Return how many copies of each example a box allows."""
        return np.rint(upper / self.cost).astype(np.intp)

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha`` without holding an n x n matrix."""
        support = np.flatnonzero(alpha)
        weights = self.y[support] * alpha[support]
        return np.asarray(self.y * self.decide(self.X, support, weights) + self.ridge * alpha)

    def decide(self, X: Matrix, support: IntArray, weights: FloatArray) -> FloatArray:
        """Return ``sum_i weights_i k(x_i, x)`` over the support for each row of X."""
        return self.kernel.summed(X, self.X[support], weights)

    @property
    def numbers(self) -> int:
        """How many numbers one solve goes through."""
        return self.size * (int(self.X.shape[1]) if self.kernel.name == "linear" else self.size)

    def affordable(self, work: float, least: int, most: int | None = None) -> int:
        """Return how many solves of this problem fit into an amount of work, within limits."""
        return affordable(self.numbers, work, least, most)

    def objective(self, alpha: FloatArray) -> float:
        """Return the dual objective ``p'alpha - 1/2 alpha'Q alpha``."""
        return float(self.linear @ alpha - 0.5 * (alpha @ self.product(alpha)))

    def certify(self, alpha: FloatArray, upper: FloatArray | None = None) -> Certificate:
        """Prove how far an answer can be from the optimum within the box, from ``alpha`` alone; see `judge`."""
        return self.judge(alpha, self.upper if upper is None else upper, self.product(alpha))[0]

    def judge(self, alpha: FloatArray, upper: FloatArray, product: FloatArray) -> tuple[Certificate, FloatArray]:
        """Return the certificate of an answer and the slack of every example, given ``product = Q alpha``.

        Weak duality, for any bias b, with slack_i = max(0, p_i - product_i - y_i b)::

            f(alpha) <= optimum <= 1/2 alpha'Q alpha + sum_i upper_i slack_i

        The right side is piecewise linear in b; the best b is a weighted quantile. A nonzero ``y'alpha`` is charged to
        the objective at the price of the bias; an answer outside its box has the objective -inf.
        """
        from fairenum.svm.certificate import judged

        objective, bound, low, high, slack = judged(self.y, self.linear, read_only(alpha), read_only(upper), product)
        return Certificate(objective, bound, low, high), slack

    def tie_weights(self) -> FloatArray:
        """Return the weights of the canonical tie-break: among optimal answers, the one of least ``weights'alpha``.

        The weights are generic, so the least is unique and a vertex: its margin examples are affinely independent. They
        belong to the examples, not to the allowed set: if the canonical answer for a set has its support in a smaller
        set, it is optimal there, too, among fewer candidates, and so still canonical. That is the paper's Assumption 1,
        and it makes the enumeration exact on tied data.
        """
        return np.random.default_rng(20190606).uniform(1.0, 2.0, self.size)
