"""Accelerated projected gradient: a simple, honest solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairenum.solvers.protocol import Tolerance
from fairenum.svm.problem import Claim, FloatArray, Solution, SvmProblem

GOOD_GAP = 1e-2  # the core polishes the rest


@dataclass(frozen=True, slots=True)
class SampleSolver:
    """Projected gradient with momentum, on the kernel matrix.

    Parameters
    ----------
    max_iter
        Steps after which it gives up.
    """

    name: ClassVar[str] = "sample"
    requires: ClassVar[tuple[str, ...]] = ("numpy",)
    install: ClassVar[str] = "pip install fairenum-sample"

    max_iter: int = 300

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> SampleWorkspace:
        """Build the matrix and its largest eigenvalue once."""
        return SampleWorkspace(problem, self.max_iter)


class SampleWorkspace:
    """A problem opened in this solver; every box starts from the given start, or from zeros."""

    def __init__(self, problem: SvmProblem, max_iter: int) -> None:
        self._problem, self._max_iter = problem, max_iter
        self._Q = problem.kernel(problem.X, problem.X) * np.outer(problem.y, problem.y)
        self._Q[np.diag_indices_from(self._Q)] += problem.ridge
        self._step = 1.0 / max(float(np.linalg.eigvalsh(self._Q)[-1]), 1e-300)

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Take gradient steps until the certificate is good."""
        alpha = self._project(np.zeros(len(upper)) if start is None else start.alpha, upper)
        ahead, momentum = alpha, 1.0
        for step in range(self._max_iter):
            if step % 50 == 0 and self._problem.certify(alpha, upper).relative_gap <= GOOD_GAP:
                return Claim(alpha)
            uphill = self._problem.linear - self._Q @ ahead
            moved = self._project(ahead + self._step * uphill, upper)
            grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            ahead = moved + (momentum - 1.0) / grown * (moved - alpha)
            if uphill @ (moved - alpha) < 0:  # the momentum leads downhill: forget it
                ahead, grown = moved, 1.0
            alpha, momentum = moved, grown
        return Claim(alpha, finished=False)

    def _project(self, point: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the nearest balanced point of the box, by bisection on the price of the balance."""
        y = self._problem.y
        low, high = -np.abs(point).max() - upper.max(), np.abs(point).max() + upper.max()
        for _ in range(50):
            middle = 0.5 * (low + high)
            balance = y @ np.clip(point - middle * y, 0.0, upper)
            low, high = (middle, high) if balance > 0 else (low, middle)
        return np.clip(point - high * y, 0.0, upper)


def first_rows(_scene: object, budget: int) -> np.ndarray:
    """Flip the labels of the first rows."""
    return np.arange(budget)
