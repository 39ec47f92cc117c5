"""The optimality conditions as a moving state: who is at which bound, who is on the margin, and how all that moves.

With the reduced costs ``g = Q alpha + y b - p`` (the gradient) an answer is optimal when every example is

* at 0 with ``g >= 0``  (side +1),
* at its upper bound with ``g <= 0``  (side -1),
* on the margin, ``0 <= alpha <= upper`` with ``g = 0``  (side 0), or
* fixed: left out, or being moved by a path  (side 0, not in the margin set).

The margin set S stays affinely independent, so its bordered matrix ``[[0, y_S'], [y_S, Q_SS]]`` is invertible; the
inverse is updated in O(m^2) when an example enters or leaves (Cauwenberghs and Poggio).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairenum.problem import FloatArray, IntArray, SvmProblem, read_only
from fairenum.qp import kernel
from fairenum.qp.gram import Gram
from fairenum.qp.tables import NOTHING

AT_LOWER, ON_MARGIN, AT_UPPER = 1.0, 0.0, -1.0

EPSILON = float(np.finfo(float).eps)


def constant_data(gram: Gram, problem: SvmProblem) -> kernel.Data:
    """Return what the compiled loop reads and no path changes."""
    return kernel.Data(
        gram.table, gram.places, NOTHING, gram.nonzeros, gram.is_matrix, gram.ridge, gram.longest, gram.diagonal,
        problem.y, problem.tie_weights(),
    )  # fmt: skip


def part_of(data: kernel.Data, gram: Gram, examples: IntArray) -> kernel.Data:
    """Return the data of some of the examples, given their Gram; what is large and small stays what it was."""
    y = read_only(data.y[examples])  # as labels are: the compiled loop knows one kind of array
    return kernel.Data(
        gram.table, gram.places, NOTHING, gram.nonzeros, gram.is_matrix, gram.ridge, data.longest,
        gram.diagonal, y, data.weights[examples],
    )  # fmt: skip


class Parked(NamedTuple):
    """An optimal answer by its active set: who is on the margin, and, one bit each, who is at the upper bound.

    The rest follows from one linear system, at a small share of the memory that a state takes.
    """

    margin: IntArray
    at_upper: npt.NDArray[np.uint8]
    bias: float


class ActiveSet:
    """One optimal answer (for a shifted linear term, possibly) and what is needed to move it."""

    __slots__ = (
        "alpha",
        "alpha_tolerance",
        "bias",
        "data",
        "gradient",
        "gradient_tolerance",
        "gram",
        "inverse",
        "linear",
        "margin",
        "side",
        "upper",
    )

    def __init__(
        self, gram: Gram, data: kernel.Data, linear: FloatArray, upper: FloatArray, alpha: FloatArray, bias: float,
        side: FloatArray, margin: IntArray,
    ) -> None:  # fmt: skip
        self.gram, self.data = gram, data
        self.linear, self.upper = linear.copy(), upper.copy()  # writable: the compiled loop knows one kind of array
        self.alpha, self.bias, self.side, self.margin = alpha, bias, side, margin
        self.gradient: FloatArray = np.empty_like(alpha)
        self.inverse: FloatArray = np.empty((0, 0))
        self.set_tolerances()
        self.factorise()

    def copy(self) -> ActiveSet:
        """Return a state that moves on its own."""
        size = len(self.margin) + 1
        vectors = (self.upper.copy(), self.alpha.copy(), self.gradient.copy(), self.side.copy())
        return self.moved(*vectors, self.margin.copy(), self.inverse[:size, :size].copy(), self.bias)

    def moved(
        self, upper: FloatArray, alpha: FloatArray, gradient: FloatArray, side: FloatArray, margin: IntArray,
        inverse: FloatArray, bias: float,
    ) -> ActiveSet:  # fmt: skip
        """Return another state of the same problem."""
        state = object.__new__(ActiveSet)
        state.gram, state.data, state.linear = self.gram, self.data, self.linear
        state.gradient_tolerance, state.alpha_tolerance = self.gradient_tolerance, self.alpha_tolerance
        state.upper, state.alpha, state.gradient, state.side = upper, alpha, gradient, side
        state.margin, state.inverse, state.bias = margin, inverse, bias
        return state

    def restricted(self, examples: IntArray) -> ActiveSet:
        """Return a state of some of the examples, all of the margin among them, while the others stay on their bounds.

        It moves as this one does for as long as none of the others reaches the margin.
        """
        part = object.__new__(ActiveSet)
        part.gram = self.gram.restrict(examples)
        part.data = part_of(self.data, part.gram, examples)
        part.gradient_tolerance, part.alpha_tolerance = self.gradient_tolerance, self.alpha_tolerance
        part.linear, part.upper, part.alpha = self.linear[examples], self.upper[examples], self.alpha[examples]
        part.gradient, part.side = self.gradient[examples], self.side[examples]
        part.margin, part.bias = np.searchsorted(examples, self.margin), self.bias
        part.inverse = self.inverse.copy()
        return part

    def joined(self, part: ActiveSet, examples: IntArray, linear: FloatArray) -> ActiveSet:
        """Return the state to which some of the examples have moved, for a linear term, to rounding."""
        upper, alpha, gradient, side = self.upper.copy(), self.alpha.copy(), self.gradient.copy(), self.side.copy()
        alpha[examples], side[examples] = part.alpha, part.side
        state = self.moved(upper, alpha, gradient, side, examples[part.margin], part.inverse, part.bias)
        state.linear = linear.copy()
        state.recompute()
        return state

    def trim(self) -> None:
        """Let go of the room that the inverse has for a margin set twice as large."""
        size = len(self.margin) + 1
        if len(self.inverse) > size:
            self.inverse = self.inverse[:size, :size].copy()

    def parked(self) -> Parked:
        """Return what is needed to have the state again."""
        return Parked(self.margin.copy(), np.packbits(self.side == AT_UPPER), self.bias)

    def factorise(self) -> None:
        """Invert the bordered matrix of the margin set from scratch."""
        self.inverse = np.asarray(np.linalg.inv(self._bordered())) if len(self.margin) else np.zeros((1, 1))

    def _bordered(self) -> FloatArray:
        m = len(self.margin)
        matrix = np.zeros((m + 1, m + 1))
        matrix[0, 1:] = matrix[1:, 0] = self.data.y[self.margin]
        matrix[1:, 1:] = self.gram.block(self.margin, self.margin)
        return matrix

    def vectors(self) -> kernel.Vectors:
        """Return what the compiled loop changes in place."""
        return kernel.Vectors(
            self.upper, self.linear, self.alpha, self.gradient, self.side, self.gradient_tolerance, self.alpha_tolerance
        )

    def margin_set(self) -> kernel.Margin:
        """Return the margin set as the compiled loop takes it."""
        return kernel.Margin(self.margin, len(self.margin), self.inverse)

    def ready(self, *examples: int) -> kernel.Data:
        """Return what the compiled loop reads, with the rows of the margin and of more examples at hand."""
        anchors = self.gram.anchors
        if anchors is None:
            return self.data
        rows = np.append(self.margin, [example for example in examples if example >= 0]).astype(np.intp)
        return self.data._replace(anchor=anchors.ready(self.alpha, rows))

    def recompute(self) -> None:
        """Recompute margin, bias and gradient from the sides alone, to rounding."""
        with self.gram.in_use:
            self.bias, _ = kernel.recompute(self.ready(), self.vectors(), self.margin_set(), self.bias)

    def set_tolerances(self) -> None:
        """Say how far from 0 a gradient, and from a bound an alpha, may be by rounding."""
        spread = float(np.sqrt((self.alpha * self.alpha) @ self.gram.diagonal)) * self.gram.longest
        self.gradient_tolerance = 1e-13 + 8.0 * EPSILON * (spread + float(np.abs(self.linear).max(initial=0.0)))
        largest = float(self.alpha.max(initial=0.0)) or float(self.upper.max(initial=0.0))  # a path may start from 0
        self.alpha_tolerance = kernel.ON_BOUND * largest

    def violation(self) -> float:
        """Return by how much the worst example at a bound is on the wrong side of the margin."""
        return float(-(self.side * self.gradient).min(initial=0.0))

    def answer(self) -> FloatArray:
        """Return alpha, read-only, with what is within rounding of a bound on it: a support is not read off noise.

        Only those on the margin can be near a bound and not on it.
        """
        alpha, margin, upper = self.alpha.copy(), self.margin, self.upper[self.margin]
        free = alpha[margin]
        if np.count_nonzero(np.minimum(free, upper - free) <= self.alpha_tolerance):
            close = np.minimum(kernel.ON_BOUND * upper, self.alpha_tolerance)
            alpha[margin] = np.where(free <= close, 0.0, np.where(free >= upper - close, upper, free))
        alpha.flags.writeable = False
        return alpha


def resumed(parked: Parked, gram: Gram, problem: SvmProblem, upper: FloatArray) -> ActiveSet:
    """Return the state of a parked answer within its box."""
    side = np.where(upper > 0.0, AT_LOWER, 0.0)
    side[np.unpackbits(parked.at_upper, count=len(side)) > 0] = AT_UPPER
    side[parked.margin] = ON_MARGIN
    alpha, data = np.where(side == AT_UPPER, upper, 0.0), constant_data(gram, problem)
    state = ActiveSet(gram, data, problem.linear, upper, alpha, parked.bias, side, parked.margin.copy())
    state.recompute()
    state.set_tolerances()
    return state
