"""The optimality conditions as a moving state: who is at which bound, who is on the margin, and how all that moves.

With ``g = Q alpha + y b - p`` an answer is optimal when every example is

* at 0 with ``g >= 0``  (side +1),
* at its upper bound with ``g <= 0``  (side -1),
* on the margin, ``0 <= alpha <= upper`` with ``g = 0``  (side 0), or
* fixed: left out, or being driven by a path  (side 0, not in the margin set).

The margin set S stays affinely independent, so its bordered matrix ``[[0, y_S'], [y_S, Q_SS]]`` is invertible; the
inverse is updated in O(m^2) when an example enters or leaves (Cauwenberghs and Poggio).
"""

from __future__ import annotations

import numpy as np

from fairenum.problem import FloatArray, IntArray
from fairenum.qp import kernel
from fairenum.qp.gram import Gram

AT_LOWER, ON_MARGIN, AT_UPPER = 1.0, 0.0, -1.0

EPSILON = float(np.finfo(float).eps)
PRECISE = 1e-10  # the share of the objective that rounding may cost before sums are made in extended precision


class ActiveSet:
    """One optimal answer (for a shifted linear term, possibly) and what is needed to move it."""

    __slots__ = (
        "alpha",
        "bias",
        "gradient",
        "gram",
        "inverse",
        "linear",
        "margin",
        "noise",
        "side",
        "slip",
        "upper",
        "y",
    )

    def __init__(
        self, gram: Gram, y: FloatArray, linear: FloatArray, upper: FloatArray, alpha: FloatArray, bias: float,
        side: FloatArray, margin: IntArray,
    ) -> None:  # fmt: skip
        self.gram, self.y, self.linear, self.upper = gram, y, linear, upper
        self.alpha, self.bias, self.side, self.margin = alpha, bias, side, margin
        self.gradient: FloatArray = np.empty(0)
        self.inverse: FloatArray = np.empty((0, 0))
        self._measure()
        self.factorise()

    def copy(self) -> ActiveSet:
        """Return a state that moves on its own."""
        twin = object.__new__(ActiveSet)
        twin.gram, twin.y, twin.linear, twin.bias = self.gram, self.y, self.linear, self.bias
        size = len(self.margin) + 1
        twin.margin, twin.inverse = self.margin.copy(), self.inverse[:size, :size].copy()
        twin.alpha, twin.gradient = self.alpha.copy(), self.gradient.copy()
        twin.side, twin.upper = self.side.copy(), self.upper
        twin.noise, twin.slip = self.noise, self.slip
        return twin

    def factorise(self) -> None:
        """Invert the bordered matrix of the margin set from scratch."""
        self.inverse = np.asarray(np.linalg.inv(self._bordered())) if len(self.margin) else np.zeros((1, 1))

    def _bordered(self) -> FloatArray:
        m = len(self.margin)
        matrix = np.zeros((m + 1, m + 1))
        matrix[0, 1:] = matrix[1:, 0] = self.y[self.margin]
        matrix[1:, 1:] = self.gram.block(self.margin, self.margin)
        return matrix

    def data(self, weights: FloatArray) -> kernel.Data:
        """Return what the compiled loop reads."""
        gram = self.gram
        return kernel.Data(gram.table, gram.is_matrix, gram.ridge, gram.longest, self.y, weights)

    def vectors(self) -> kernel.Vectors:
        """Return what the compiled loop changes in place."""
        return kernel.Vectors(self.upper, self.alpha, self.gradient, self.side, self.noise, self.slip)

    def margin_set(self) -> kernel.Margin:
        """Return the margin set as the compiled loop takes it."""
        return kernel.Margin(self.margin, len(self.margin), self.inverse)

    def release(self, example: int) -> None:
        """Take an example out of the conditions: from now on somebody drives it."""
        if self.side[example] == ON_MARGIN:
            position = int(np.flatnonzero(self.margin == example)[0])
            self.margin = self.margin[: kernel.take_out(self.margin_set(), position)]
        self.side[example] = 0.0

    def refresh(self) -> float:
        """Recompute margin, bias and gradient from the sides alone, to rounding, and return the objective.

        Paths gather rounding errors, answers do not. The margin system is solved by correcting its residual, which is
        summed in extended precision where large terms cancel.
        """
        margin, product = self.margin, self.gram.product
        if self.noise * float(self.upper.sum()) > PRECISE * abs(float(self.linear @ self.alpha)):
            product = self.gram.precise_product
        inverse = self.inverse[: len(margin) + 1, : len(margin) + 1]
        for _ in range(3 if len(margin) else 0):
            residual = np.empty(len(margin) + 1)
            residual[0] = -(self.y @ self.alpha)
            residual[1:] = (self.linear - product(self.alpha) - self.bias * self.y)[margin]
            correction = inverse @ residual
            self.bias += float(correction[0])
            self.alpha[margin] += correction[1:]
        self.alpha[margin] = np.clip(self.alpha[margin], 0.0, self.upper[margin])
        reached = product(self.alpha)
        self.gradient = reached + self.y * self.bias - self.linear
        self.gradient[margin] = 0.0
        return float(self.linear @ self.alpha - 0.5 * (self.alpha @ reached))

    def _measure(self) -> None:
        """Set the sizes below which a gradient (noise) and a distance of alpha from a bound (slip) are rounding."""
        spread = float(np.sqrt((self.alpha * self.alpha) @ self.gram.diagonal)) * self.gram.longest
        self.noise = 1e-13 + 8.0 * EPSILON * (spread + float(np.abs(self.linear).max(initial=0.0)))
        self.slip = kernel.BOX * float(self.alpha.max(initial=0.0))

    def violation(self) -> float:
        """Return by how much the worst example at a bound is on the wrong side of the margin."""
        return float(-(self.side * self.gradient).min(initial=0.0))

    def answer(self) -> FloatArray:
        """Return alpha with the values within rounding of a bound on it: a support is not read off noise."""
        slip = np.minimum(kernel.BOX * self.upper, self.slip)
        return np.where(self.alpha <= slip, 0.0, np.where(self.alpha >= self.upper - slip, self.upper, self.alpha))
