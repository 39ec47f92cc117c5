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
from fairenum.qp.gram import Gram

AT_LOWER, ON_MARGIN, AT_UPPER = 1.0, 0.0, -1.0

# An example whose distance from the affine hull of the margin set is below this share of its length is in the hull.
DEPENDENCE = 1e-11
EPSILON = float(np.finfo(float).eps)


class ActiveSet:
    """One optimal answer (for a shifted linear term, possibly) and what is needed to move it."""

    __slots__ = ("alpha", "bias", "gram", "gradient", "inverse", "linear", "margin", "side", "upper", "y")

    def __init__(
        self, gram: Gram, y: FloatArray, linear: FloatArray, upper: FloatArray, alpha: FloatArray, bias: float,
        side: FloatArray, margin: IntArray,
    ) -> None:  # fmt: skip
        self.gram, self.y, self.linear, self.upper = gram, y, linear, upper
        self.alpha, self.bias, self.side, self.margin = alpha, bias, side, margin
        self.gradient: FloatArray = np.empty(0)
        self.inverse: FloatArray = np.empty((0, 0))
        self.factorise()

    def copy(self) -> ActiveSet:
        """Return a state that moves on its own; what is never changed in place is shared."""
        twin = object.__new__(ActiveSet)
        twin.gram, twin.y, twin.linear, twin.bias = self.gram, self.y, self.linear, self.bias
        twin.margin, twin.inverse = self.margin, self.inverse
        twin.alpha, twin.gradient = self.alpha.copy(), self.gradient.copy()
        twin.side, twin.upper = self.side.copy(), self.upper.copy()
        return twin

    def factorise(self) -> None:
        """Invert the bordered matrix of the margin set from scratch."""
        if len(self.margin):
            self.inverse = np.linalg.inv(self._bordered())

    def _bordered(self) -> FloatArray:
        m = len(self.margin)
        matrix = np.zeros((m + 1, m + 1))
        matrix[0, 1:] = matrix[1:, 0] = self.y[self.margin]
        matrix[1:, 1:] = self.gram.block(self.margin, self.margin)
        return matrix

    def edge(self, example: int) -> FloatArray:
        """Return ``[y_i, Q_Si]``, the border that the example would add to the margin's matrix."""
        result = np.empty(len(self.margin) + 1)
        result[0] = self.y[example]
        result[1:] = self.gram.block(self.margin, np.array([example]))[:, 0]
        return result

    def enter(self, example: int) -> bool:
        """Put an example on the margin; False, and no change, if it is in the affine hull of the margin set."""
        diagonal = self.gram.diagonal[example]
        if len(self.margin) == 0:
            label = self.y[example]
            self.inverse = np.array([[-diagonal, label], [label, 0.0]])
        else:
            edge = self.edge(example)
            beta = self.inverse @ edge
            pivot = diagonal - edge @ beta
            if pivot <= DEPENDENCE * diagonal:
                return False
            self.inverse = _grown(self.inverse, beta, pivot)
        self.margin = np.append(self.margin, example)
        self.side[example] = ON_MARGIN
        self.gradient[example] = 0.0
        return True

    def leave(self, position: int, side: float) -> None:
        """Take the margin example at this position to a bound (or, with side 0, into the driver's hands)."""
        example = self.margin[position]
        m = len(self.margin)
        if m > 1:
            column = self.inverse[:, position + 1]
            shrunk = self.inverse - column[:, None] * (column / column[position + 1])
            shrunk[position + 1] = shrunk[m]
            shrunk[:, position + 1] = shrunk[:, m]
            self.inverse = shrunk[:m, :m]
        margin = self.margin.copy()
        margin[position] = margin[-1]
        self.margin = margin[:-1]
        self.side[example] = side
        if side:
            self.alpha[example] = 0.0 if side == AT_LOWER else self.upper[example]

    def refresh(self) -> None:
        """Recompute margin, bias and gradient from the sides alone, to rounding: paths gather errors, answers do not."""
        at_bounds = self.alpha.copy()
        margin = self.margin
        if len(margin):
            at_bounds[margin] = 0.0
            right = np.empty(len(margin) + 1)
            right[0] = -(self.y @ at_bounds)
            right[1:] = self.linear[margin] - self.gram.product(at_bounds)[margin]
            values = self.inverse @ right
            matrix = self._bordered()
            for _ in range(2):  # iterative refinement
                values += self.inverse @ (right - matrix @ values)
            self.bias = float(values[0])
            self.alpha[margin] = np.clip(values[1:], 0.0, self.upper[margin])
        self.gradient = self.gram.product(self.alpha) + self.y * self.bias - self.linear
        self.gradient[margin] = 0.0

    def noise(self) -> float:
        """Return the size below which a gradient cannot be told from 0."""
        diagonal = self.gram.diagonal
        spread = float(np.sqrt((self.alpha * self.alpha) @ diagonal) * np.sqrt(diagonal.max(initial=0.0)))
        return 1e-13 + 8.0 * EPSILON * (spread + float(np.abs(self.linear).max(initial=0.0)))

    def objective(self) -> float:
        """Return ``p'alpha - 1/2 alpha'Q alpha``."""
        return float(self.linear @ self.alpha - 0.5 * (self.alpha @ self.gram.product(self.alpha)))

    def violation(self) -> float:
        """Return by how much the worst example at a bound is on the wrong side of the margin."""
        return float(-(self.side * self.gradient).min(initial=0.0))


def _grown(inverse: FloatArray, beta: FloatArray, pivot: float) -> FloatArray:
    """Return the inverse of the matrix with one more border, whose Schur complement is the pivot."""
    size = len(inverse) + 1
    grown = np.empty((size, size))
    ratio = beta / pivot
    np.multiply(beta[:, None], ratio, out=grown[:-1, :-1])
    grown[:-1, :-1] += inverse
    grown[-1, :-1] = grown[:-1, -1] = -ratio
    grown[-1, -1] = 1.0 / pivot
    return grown
