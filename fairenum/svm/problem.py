"""The SVM training problem in its dual form, its kernel, and types for unproven and proven solutions and certificates.

With one dual variable ``alpha_i`` per example, labels ``y`` in {-1, +1}, kernel matrix ``K``, ``Q_ij = y_i y_j K_ij``
(plus ``ridge`` if i = j), bounds ``0 <= alpha_i <= upper_i`` (the box) and a linear term ``p`` (ones by default)::

    maximise  f(alpha) = p'alpha - 1/2 alpha'Q alpha   subject to  y'alpha = 0

Setting ``upper[i] = 0`` leaves example i out.
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
    """Return the numbers as a contiguous, read-only array of floats, without a copy if they are one already."""
    return _protected(np.ascontiguousarray(numbers, dtype=np.float64), numbers)


def _protected(array: npt.NDArray[Number], source: npt.ArrayLike) -> npt.NDArray[Number]:
    """Make an array read-only and return it, or a read-only copy if it may share its memory with `source`."""
    if array.flags.writeable:
        array = array.copy() if array is source or array.base is not None else array
        array.flags.writeable = False
    return array


def affordable(numbers: int, work: float, least: int, most: int | None = None) -> int:
    """Return how many solves fit into an amount of work, but at least `least` and at most `most`.

    One solve goes through `numbers` matrix entries; `work` is the number of entries that all solves may go through.
    """
    solves = max(least, int(work // numbers))
    return solves if most is None else min(solves, most)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of rows x and z: linear ``x'z``, rbf ``exp(-gamma |x - z|^2)``, poly ``(gamma x'z + coef0)^degree``."""

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
        """Tell whether squared distances must be computed from differences of rows; only an rbf kernel may need this.

        Computed from inner products, as ``|x|^2 + |z|^2 - 2 x'z``, the squared distance of rows x and z has the
        rounding errors of these terms: with a huge gamma, or rows far from 0, even two equal rows would seem to differ.
        `squares` are the squared lengths of the rows.
        """
        return self.name == "rbf" and self.gamma * max(float(part.max(initial=0.0)) for part in squares) > CANCELLING

    def of_distances(self, squared: FloatArray) -> FloatArray:
        """Return the rbf kernel's values for squared distances, which are overwritten."""
        return np.exp(-self.gamma * squared, out=squared)

    def of_products(self, inner: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return kernel values, given the rows' inner products (may be overwritten) and the rows' squared lengths."""
        if self.name == "rbf":
            inner *= -2.0
            inner += left[:, None]
            inner += right
            return self.of_distances(np.maximum(inner, 0.0, out=inner))
        if self.name == "poly":
            return np.asarray((self.gamma * inner + self.coef0) ** self.degree)
        return inner

    def summed(self, X: Matrix, rows: Matrix, weights: FloatArray) -> FloatArray:
        """Return ``sum_j weights_j k(rows_j, x)`` for each row x of X, where k is this kernel, in limited memory."""
        if self.name == "linear":
            return times(X, precise_sum(weights, rows))
        result = np.zeros(X.shape[0])
        for start in range(0, X.shape[0], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            result[block] = self(X[block], rows) @ weights
        return result


@dataclass(frozen=True, slots=True)
class Certificate:
    """Proven bounds on the optimum of the dual problem, computed from some alpha: ``objective <= optimum <= bound``.

    If alpha is optimal, ``bias_low`` and ``bias_high`` are the least and the largest optimal bias; the two coincide if
    some entry of alpha is strictly between its bounds.
    """

    objective: float
    bound: float
    bias_low: float
    bias_high: float

    @property
    def gap(self) -> float:
        """The width of the proven interval around the optimum, ``bound - objective``."""
        return self.bound - self.objective

    @property
    def relative_gap(self) -> float:
        """The gap divided by the absolute objective; 0 if the gap is not positive, infinite if the objective is 0."""
        if self.gap <= 0.0:
            return 0.0
        return self.gap / abs(self.objective) if self.objective and math.isfinite(self.gap) else math.inf

    def moved(self, offset: float) -> Certificate:
        """Return a copy of this certificate with `offset` added to both ends of the bias interval."""
        return Certificate(self.objective, self.bound, self.bias_low + offset, self.bias_high + offset)

    @property
    def bias(self) -> float:
        """The middle of the bias interval; the finite end if only one end is finite, 0 if neither is."""
        ends = [end for end in (self.bias_low, self.bias_high) if math.isfinite(end)]
        return sum(ends) / len(ends) if ends else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """An alpha as a solver returns it, not yet proven optimal.

    ``finished`` is False if the solver stopped at a limit of its own. ``handle`` may hold anything that the solver
    needs to continue from this alpha.
    """

    alpha: FloatArray
    handle: object = None
    finished: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """An alpha proven optimal for ``0 <= alpha <= upper``; ``slack`` is how far each example is short of its margin."""

    alpha: FloatArray
    upper: FloatArray
    certificate: Certificate
    slack: FloatArray
    handle: object = None

    @property
    def support(self) -> IntArray:
        """The indices of the examples with ``alpha > 0``, in ascending order."""
        return np.flatnonzero(self.alpha)

    def box_with(self, example: int, upper: float) -> FloatArray:
        """Return a read-only copy of the upper bounds in which one example has the bound `upper`."""
        box = self.upper.copy()
        box[example] = upper
        box.flags.writeable = False
        return box


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SvmProblem:
    """An SVM training problem: examples, costs, kernel and linear term, checked and read-only.

    Parameters
    ----------
    X
        One row of features per example; a dense or sparse array.
    y
        Labels, -1 or +1.
    cost
        Price of a violated margin, C: one number, or one per example.
    copies
        How many identical training rows each example stands for; its upper bound is ``cost * copies``.
    kernel
        The kernel function.
    linear
        The linear term of the objective; ones by default.
    unit
        The size of the margin, a scale of decision values; by default the mean absolute linear term. To be given for a
        problem whose linear term was changed but whose scale was not.
    ridge
        Added to the diagonal of the kernel matrix. With 0, several alpha may be optimal, of which `tie_weights`
        selects one; a positive ridge makes the optimum unique by changing the problem.
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
        """Return a CRC-32 checksum of X, y, linear term and upper bounds, to detect writes to these arrays."""
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
        """Refuse features and costs too large or too small to be squared and summed in double precision."""
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
        """Return how many copies of each example some upper bounds allow: ``upper / cost``, rounded."""
        return np.rint(upper / self.cost).astype(np.intp)

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha`` without holding an n x n matrix."""
        support = np.flatnonzero(alpha)
        weights = self.y[support] * alpha[support]
        return np.asarray(self.y * self.decide(self.X, support, weights) + self.ridge * alpha)

    def decide(self, X: Matrix, support: IntArray, weights: FloatArray) -> FloatArray:
        """Return ``sum_i weights_i k(x_i, x)`` for each row x of X: over examples i in `support`, with the kernel k."""
        return self.kernel.summed(X, self.X[support], weights)

    @property
    def numbers(self) -> int:
        """The number of matrix entries one solve goes through: those of X with a linear kernel, else those of Q."""
        return self.size * (int(self.X.shape[1]) if self.kernel.name == "linear" else self.size)

    def affordable(self, work: float, least: int, most: int | None = None) -> int:
        """Return how many solves of this problem fit into an amount of work; see the function `affordable`."""
        return affordable(self.numbers, work, least, most)

    def objective(self, alpha: FloatArray) -> float:
        """Return the dual objective ``p'alpha - 1/2 alpha'Q alpha``, where p is the linear term."""
        return float(self.linear @ alpha - 0.5 * (alpha @ self.product(alpha)))

    def certify(self, alpha: FloatArray, upper: FloatArray | None = None) -> Certificate:
        """Return the certificate of an alpha for some upper bounds, by default those of the problem; see `judge`."""
        return self.judge(alpha, self.upper if upper is None else upper, self.product(alpha))[0]

    def judge(self, alpha: FloatArray, upper: FloatArray, product: FloatArray) -> tuple[Certificate, FloatArray]:
        """Return the certificate of an alpha and the slack of every example, given ``product = Q alpha``.

        For any bias b, let ``slack_i = max(0, p_i - product_i - y_i b)``, where p is the linear term. By weak duality,
        with the dual objective f::

            f(alpha) <= optimum <= 1/2 alpha'Q alpha + sum_i upper_i slack_i

        The right side is piecewise linear in b; the b used, a weighted quantile, minimises it. The certificate's
        objective is ``f(alpha) - |b y'alpha|``, to account for a nonzero ``y'alpha``, or -inf if alpha is outside its
        bounds.
        """
        from fairenum.svm.certificate import judged

        objective, bound, low, high, slack = judged(self.y, self.linear, read_only(alpha), read_only(upper), product)
        # plain numbers, also from loops that are not compiled
        return Certificate(*map(float, (objective, bound, low, high))), slack

    def tie_weights(self) -> FloatArray:
        """Return weights that select one of several optimal alpha, the canonical one: that of least ``weights'alpha``.

        The weights are generic, so the canonical alpha is unique and a vertex: its examples on the margin are affinely
        independent. The weight of an example does not depend on which other examples are allowed. So if some examples
        outside the support of the canonical alpha are left out, this alpha is still optimal, now among fewer
        candidates, and hence still canonical. That is Assumption 1 of the paper whose enumeration is used here; it
        makes the enumeration exact on tied data.
        """
        return np.random.default_rng(20190606).uniform(1.0, 2.0, self.size)
