"""An independent oracle in a hundred digits: what the active set of an answer proves, sharing no code with it."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

import numpy as np

from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.svm.sparse_or_dense import dense

DIGITS = Context(prec=100)
NOTHING = Decimal(0)
Numbers = list[Decimal]


def proven_interval(problem: SvmProblem, alpha: np.ndarray) -> tuple[Decimal, Decimal]:
    """Return between what the optimum lies: the values of a feasible answer and of a plane, both of one active set.

    Who is at 0, at the upper bound and between them is read off the answer. The linear system of that active set is
    solved in a hundred digits, so the two agree to some ninety of them if the active set is the optimal one.
    """
    with localcontext(DIGITS):
        return _Digits(problem, alpha).interval()


def objective(problem: SvmProblem, alpha: np.ndarray) -> Decimal:
    """Return the dual objective of an answer as it is, to a hundred digits."""
    with localcontext(DIGITS):
        digits = _Digits(problem, alpha)
        return digits.objective(digits.alpha)


class _Digits:
    def __init__(self, problem: SvmProblem, alpha: np.ndarray) -> None:
        self.rows = [_exact(row) for row in dense(problem.X)]
        self.y, self.linear, self.upper = map(_exact, (problem.y, problem.linear, problem.upper))
        self.alpha, self.kernel, self.ridge = _exact(alpha), problem.kernel, Decimal(problem.ridge)
        self.free = np.flatnonzero((alpha > 0.0) & (alpha < problem.upper)).tolist()
        self.used = np.flatnonzero(alpha).tolist()
        self.Q = {j: [self._entry(i, j) for i in range(problem.size)] for j in self.used}

    def _entry(self, i: int, j: int) -> Decimal:
        value = self.y[i] * self.y[j] * _kernel_value(self.kernel, self.rows[i], self.rows[j])
        return value + self.ridge if i == j else value

    def interval(self) -> tuple[Decimal, Decimal]:
        alpha, bias = self._vertex()
        quadratic = _dot(alpha, self._product(alpha)) / 2
        biases = [bias] if self.free else self._kinks(alpha)
        missing = [p - reached for p, reached in zip(self.linear, self._product(alpha), strict=True)]
        losses = (self._loss(missing, b) for b in biases)
        return self.objective(self._feasible(alpha)), quadratic + min(losses)

    def _loss(self, missing: Numbers, bias: Decimal) -> Decimal:
        slack = (max(m - y * bias, NOTHING) for m, y in zip(missing, self.y, strict=True))
        return sum((c * s for c, s in zip(self.upper, slack, strict=True)), NOTHING)

    def objective(self, alpha: Numbers) -> Decimal:
        return _dot(self.linear, alpha) - _dot(alpha, self._product(alpha)) / 2

    def _vertex(self) -> tuple[Numbers, Decimal]:
        """Solve ``Q alpha + y b = p`` and ``y'alpha = 0`` for those between their bounds."""
        fixed = [NOTHING if i in set(self.free) else a for i, a in enumerate(self.alpha)]
        if not self.free:
            return fixed, NOTHING
        product = self._product(fixed)
        matrix = [[NOTHING, *(self.y[j] for j in self.free), -_dot(self.y, fixed)]]
        matrix += [[self.y[i], *(self.Q[j][i] for j in self.free), self.linear[i] - product[i]] for i in self.free]
        bias, *found = _solved(matrix)
        for i, value in zip(self.free, found, strict=True):
            fixed[i] = value
        return fixed, bias

    def _kinks(self, alpha: Numbers) -> Numbers:
        """With nobody on the margin the best bias is at a kink of somebody's hinge."""
        product = self._product(alpha)
        return [y * (p - r) for y, p, r in zip(self.y, self.linear, product, strict=True)]

    def _feasible(self, alpha: Numbers) -> Numbers:
        """Put an answer into its box, and shrink the heavier class until both weigh the same."""
        inside = [min(max(a, NOTHING), c) for a, c in zip(alpha, self.upper, strict=True)]
        weight = {sign: sum((a for a, y in zip(inside, self.y, strict=True) if y == sign), NOTHING) for sign in (1, -1)}
        least = min(weight.values())
        return [a * least / weight[int(y)] if a else a for a, y in zip(inside, self.y, strict=True)]

    def _product(self, alpha: Numbers) -> Numbers:
        total = [NOTHING] * len(alpha)
        for j in self.used:
            total = [t + alpha[j] * q for t, q in zip(total, self.Q[j], strict=True)]
        return total


def _exact(numbers: np.ndarray) -> Numbers:
    return [Decimal(float(number)) for number in numbers]


def _dot(left: Numbers, right: Numbers) -> Decimal:
    return sum((a * b for a, b in zip(left, right, strict=True)), NOTHING)


def _kernel_value(kernel: Kernel, left: Numbers, right: Numbers) -> Decimal:
    if kernel.name == "rbf":
        return (-Decimal(kernel.gamma) * sum(((a - b) ** 2 for a, b in zip(left, right, strict=True)), NOTHING)).exp()
    if kernel.name == "poly":
        return (Decimal(kernel.gamma) * _dot(left, right) + Decimal(kernel.coef0)) ** kernel.degree
    return _dot(left, right)


def _solved(rows: list[Numbers]) -> Numbers:
    """Solve a system, its right side the last column, by elimination with the largest pivot."""
    size = len(rows)
    for k in range(size):
        best = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(size):
            if i != k and rows[i][k]:
                ratio = rows[i][k] / rows[k][k]
                rows[i] = [a - ratio * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]
