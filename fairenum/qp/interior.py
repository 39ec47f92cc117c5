"""A primal-dual interior point method for ``min 1/2 a'Qa - p'a, y'a = total, 0 <= a <= upper``.

Mehrotra's predictor and corrector. It is the cold start of everything exact: about twenty iterations, each one
factorisation in d dimensions (linear kernel) or n (kernel matrix), whatever the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from fairenum.problem import FloatArray
from fairenum.qp.gram import Gram

MAX_ITERATIONS = 80
START = 100.0
# Below this complementarity, relative to the objective, further steps only stir rounding errors.
TARGET = 1e-11


@dataclass(frozen=True, slots=True)
class InteriorPoint:
    """An answer strictly inside the box: ``alpha``, the bias, and the prices of the two bounds."""

    alpha: FloatArray
    bias: float
    lower_price: FloatArray
    upper_price: FloatArray


class _Iterate:
    """The moving point; residuals are recomputed from scratch at every step."""

    def __init__(self, gram: Gram, y: FloatArray, upper: FloatArray, linear: FloatArray, total: float) -> None:
        self.gram, self.y, self.upper, self.linear, self.total = gram, y, upper, linear, total
        # Half the box, unless that is far beyond what any margin asks for: a huge box would drown the digits.
        self.a = np.minimum(0.5 * upper, START * float(np.abs(linear).max()) / max(float(gram.diagonal.mean()), 1e-300))
        self.z = upper - self.a  # kept apart from now on: near the bound the difference would round to 0
        reduced = gram.product(self.a) - linear
        self.b = -float(np.median(y * reduced))
        reduced += y * self.b
        floor = max(float(np.abs(reduced).mean()), 1e-3 * float(np.abs(linear).mean()), 1e-12)
        self.s = np.maximum(reduced, 0.0) + floor
        self.q = np.maximum(-reduced, 0.0) + floor

    def measure(self) -> None:
        """Recompute residuals and complementarity at the current point."""
        self.v = self.gram.product(self.a)
        self.dual_residual = self.v - self.linear + self.y * self.b - self.s + self.q
        self.primal_residual = self.total - float(self.y @ self.a)
        self.mu = float(self.a @ self.s + self.z @ self.q) / (2 * len(self.a))

    def is_solved(self) -> bool:
        """Tell whether complementarity is down to the target; the residuals fall at least as fast, to rounding."""
        scale = abs(float(self.linear @ self.a)) + 0.5 * float(self.a @ self.v)
        return 2 * len(self.a) * self.mu <= TARGET * scale

    def factorise(self) -> None:
        """Factorise the Newton matrix, with the bias eliminated."""
        self.solve = self.gram.shifted_solver(self.s / self.a + self.q / self.z)
        self.along_y = self.solve(self.y)
        self.pivot = float(self.y @ self.along_y)

    def direction(
        self, lower_target: FloatArray, upper_target: FloatArray
    ) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        """Return the Newton step towards ``a s = lower_target``, ``z q = upper_target``."""
        right = -self.dual_residual + lower_target / self.a - self.s - upper_target / self.z + self.q
        free = self.solve(right)
        db = (float(self.y @ free) - self.primal_residual) / self.pivot
        da = free - db * self.along_y
        ds = (lower_target - self.s * da) / self.a - self.s
        dq = (upper_target + self.q * da) / self.z - self.q
        return da, db, ds, dq

    def longest_step(self, da: FloatArray, ds: FloatArray, dq: FloatArray) -> float:
        """Return the longest step that keeps everything non-negative."""
        longest = np.inf
        for value, change in ((self.a, da), (self.z, -da), (self.s, ds), (self.q, dq)):
            ratio = float(np.min(change / value))
            longest = min(longest, -1.0 / ratio if ratio < 0 else np.inf)
        return longest

    def step(self) -> float:
        """Take one predictor-corrector step and return its length."""
        self.factorise()
        nothing = np.zeros_like(self.a)
        da, _, ds, dq = self.direction(nothing, nothing)
        ahead = min(1.0, self.longest_step(da, ds, dq))
        foreseen = (self.a + ahead * da) @ (self.s + ahead * ds) + (self.z - ahead * da) @ (self.q + ahead * dq)
        target = self.mu * (float(foreseen) / (2 * len(self.a)) / self.mu) ** 3
        da, db, ds, dq = self.direction(target - da * ds, target + da * dq)
        length = min(1.0, 0.995 * self.longest_step(da, ds, dq))
        self.a += length * da
        self.z -= length * da
        self.b += length * db
        self.s += length * ds
        self.q += length * dq
        return length


def interior_point(
    gram: Gram, y: FloatArray, upper: FloatArray, linear: FloatArray, total: float = 0.0
) -> InteriorPoint:
    """Solve to about eleven digits of the objective, or as far as rounding allows.

    The caller certifies the answer; this function promises only a point inside the box.
    """
    point = _Iterate(gram, y, upper, linear, total)
    for _ in range(MAX_ITERATIONS):
        point.measure()
        if point.is_solved():
            break
        try:
            length = point.step()
        except linalg.LinAlgError:
            break
        if not length > 1e-10:
            break
    return InteriorPoint(point.a, point.b, point.s, point.q)
