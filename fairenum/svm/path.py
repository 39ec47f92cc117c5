"""Active sets and parametric paths: change one part of a problem gradually and keep its solution optimal.

A path lowers one ``alpha_j`` to a smaller upper bound (`RemovalPath`: leaving an example out), or moves the linear term
p along a vector ``-shift`` (`shift_linear`: from an approximate solution to the exact one). With the margin set S (the
examples that are exactly on the margin), the bias b and the path length s, a path solves::

    [ 0   y_S' ] [ db   ]   [ y_j  ]                [   0      ]
    [ y_S Q_SS ] [ da_S ] = [ Q_Sj ] ds     or      [ -shift_S ] ds

where da_S is the change of alpha in S; the gradient ``Q alpha + y b - p`` moves accordingly. Everything is linear
between breakpoints; at a breakpoint an example reaches a bound and leaves S, or reaches the margin and joins S. If S is
empty while an alpha is to be lowered, only the bias moves, until an example reaches the margin.

Tied breakpoints are the normal case on discrete data. They are ordered as if the linear term were ``p - eps * weights``
with an infinitesimal eps (`SvmProblem.tie_weights`), the second component of a lexicographic ratio test. This order
depends only on S and is computed only on a tie. It makes cycling impossible, and leads to the canonical one of several
optima.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairenum.runtime.budget import checkpoint
from fairenum.svm import path_loop
from fairenum.svm.gram import Gram
from fairenum.svm.loop_rows import NOTHING
from fairenum.svm.problem import FloatArray, IntArray, SvmProblem, read_only

AT_LOWER, ON_MARGIN, AT_UPPER = 1.0, 0.0, -1.0
EPSILON = float(np.finfo(float).eps)
STRETCH = 500_000_000  # numbers of the table gone through between checks of the time budget
ALL_THERE = path_loop.MISSING + 1


def constant_data(gram: Gram, problem: SvmProblem) -> path_loop.Data:
    """Return the input of the compiled loop that is the same for all paths: Q, labels and tie weights."""
    return path_loop.Data(
        gram.table, gram.places, NOTHING, gram.nonzeros, gram.is_matrix, gram.ridge, gram.longest, gram.diagonal,
        problem.y, problem.tie_weights(),
    )  # fmt: skip


class Parked(NamedTuple):
    """A compact form of an optimal alpha: the margin set, a bit per example (1: at its upper bound), and the bias."""

    margin: IntArray
    at_upper: npt.NDArray[np.uint8]
    bias: float


class ActiveSet:
    """An optimal alpha (possibly for another linear term than the problem's), with everything that a path needs.

    ``gradient`` is ``Q alpha + y bias - linear``. ``side`` is 1 for an example at its lower bound, -1 at its upper
    bound, and 0 on the margin or left out. ``margin`` lists the examples on the margin; ``inverse`` is the inverse of
    their bordered matrix ``[[0, y_S'], [y_S, Q_SS]]``, in a buffer that may be larger.
    """

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
        self, gram: Gram, data: path_loop.Data, linear: FloatArray, upper: FloatArray, alpha: FloatArray, bias: float,
        side: FloatArray, margin: IntArray,
    ) -> None:  # fmt: skip
        self.gram, self.data = gram, data
        self.linear, self.upper = linear.copy(), upper.copy()  # writable: the compiled loop takes one type of array
        self.alpha, self.bias, self.side, self.margin = alpha, bias, side, margin
        self.gradient: FloatArray = np.empty_like(alpha)
        self.inverse: FloatArray = np.empty((0, 0))
        self.set_tolerances()
        self.factorise()

    def copy(self) -> ActiveSet:
        """Return an independent copy."""
        size = len(self.margin) + 1
        vectors = (self.upper.copy(), self.alpha.copy(), self.gradient.copy(), self.side.copy())
        return self.moved(*vectors, self.margin.copy(), self.inverse[:size, :size].copy(), self.bias)

    def moved(
        self, upper: FloatArray, alpha: FloatArray, gradient: FloatArray, side: FloatArray, margin: IntArray,
        inverse: FloatArray, bias: float,
    ) -> ActiveSet:  # fmt: skip
        """Return an active set of the same problem with the given vectors, margin set, inverse and bias."""
        state = object.__new__(ActiveSet)
        state.gram, state.data, state.linear = self.gram, self.data, self.linear
        state.gradient_tolerance, state.alpha_tolerance = self.gradient_tolerance, self.alpha_tolerance
        state.upper, state.alpha, state.gradient, state.side = upper, alpha, gradient, side
        state.margin, state.inverse, state.bias = margin, inverse, bias
        return state

    def restricted(self, examples: IntArray) -> ActiveSet:
        """Return a smaller active set of some examples only, the margin set among them; all other alpha stay fixed.

        The smaller set is valid until an example outside it reaches the margin.
        """
        part = object.__new__(ActiveSet)
        part.gram = gram = self.gram.restrict(examples)
        part.data = path_loop.Data(  # the scale of lengths stays that of all examples
            gram.table, gram.places, NOTHING, gram.nonzeros, gram.is_matrix, gram.ridge, self.data.longest,
            gram.diagonal, read_only(self.data.y[examples]), self.data.weights[examples],
        )  # fmt: skip
        part.gradient_tolerance, part.alpha_tolerance = self.gradient_tolerance, self.alpha_tolerance
        part.linear, part.upper, part.alpha = self.linear[examples], self.upper[examples], self.alpha[examples]
        part.gradient, part.side = self.gradient[examples], self.side[examples]
        part.margin, part.bias = np.searchsorted(examples, self.margin), self.bias
        part.inverse = self.inverse.copy()
        return part

    def joined(self, part: ActiveSet, examples: IntArray, linear: FloatArray) -> ActiveSet:
        """Return a copy of this active set that takes over alpha and margin set from `part`, recomputed for `linear`.

        `part` was made by `restricted` for `examples`, and then moved to the linear term ``linear[examples]``.
        """
        upper, alpha, gradient, side = self.upper.copy(), self.alpha.copy(), self.gradient.copy(), self.side.copy()
        alpha[examples], side[examples] = part.alpha, part.side
        state = self.moved(upper, alpha, gradient, side, examples[part.margin], part.inverse, part.bias)
        state.linear = linear.copy()
        state.recompute()
        return state

    def trim(self) -> None:
        """Free the unused part of the buffer that holds the inverse."""
        size = len(self.margin) + 1
        if len(self.inverse) > size:
            self.inverse = self.inverse[:size, :size].copy()

    def parked(self) -> Parked:
        """Return the compact form from which `resumed` restores this active set."""
        return Parked(self.margin.copy(), np.packbits(self.side == AT_UPPER), self.bias)

    def factorise(self) -> None:
        """Compute the inverse of the margin set's bordered matrix from scratch."""
        self.inverse = np.asarray(np.linalg.inv(self._bordered())) if len(self.margin) else np.zeros((1, 1))

    def _bordered(self) -> FloatArray:
        m = len(self.margin)
        matrix = np.zeros((m + 1, m + 1))
        matrix[0, 1:] = matrix[1:, 0] = self.data.y[self.margin]
        matrix[1:, 1:] = self.gram.block(self.margin, self.margin)
        return matrix

    def perform(
        self, task: int, data: path_loop.Data, value: float, goal: path_loop.Goal, below: float, limit: int
    ) -> path_loop.TaskResult:
        """Run a task of the compiled `path_loop` (such as FOLLOW) on this active set; see `path_loop.perform`."""
        vectors = path_loop.Vectors(
            self.upper, self.linear, self.alpha, self.gradient, self.side, self.gradient_tolerance, self.alpha_tolerance
        )
        return path_loop.perform(task, data, vectors, self.margin_set(), self.bias, value, goal, below, limit)

    def margin_set(self) -> path_loop.Margin:
        """Return the examples on the margin and the inverse in the form that the compiled `path_loop` takes."""
        return path_loop.Margin(self.margin, len(self.margin), self.inverse)

    def ready(self, *examples: int) -> path_loop.Data:
        """Return the constant input of `path_loop`, after loading the rows of Q of `examples` and of the margin set."""
        anchors = self.gram.anchors
        if anchors is None:
            return self.data
        rows = np.append(self.margin, [example for example in examples if example >= 0]).astype(np.intp)
        return self.data._replace(anchor=anchors.ready(self.alpha, rows))

    def recompute(self) -> None:
        """Recompute bias, gradient and the margin set's alpha, exact to rounding; other alpha stay the same."""
        with self.gram.lock:
            self.bias = self.perform(path_loop.RECOMPUTE, self.ready(), 0.0, path_loop.NOWHERE, 0.0, 0).bias

    def set_tolerances(self) -> None:
        """Set the distances within which a gradient counts as 0 and an alpha as being on its bound."""
        spread = float(np.sqrt((self.alpha * self.alpha) @ self.gram.diagonal)) * self.gram.longest
        self.gradient_tolerance = 1e-13 + 8.0 * EPSILON * (spread + float(np.abs(self.linear).max(initial=0.0)))
        largest = float(self.alpha.max(initial=0.0)) or float(self.upper.max(initial=0.0))  # a path may start from 0
        self.alpha_tolerance = path_loop.ON_BOUND * largest

    def violation(self) -> float:
        """Return the largest absolute gradient of wrong sign among the examples on a bound, 0 if no sign is wrong."""
        return float(-(self.side * self.gradient).min(initial=0.0))

    def answer(self) -> FloatArray:
        """Return a read-only copy of alpha, in which values within rounding of a bound are moved onto it.

        So the support has no noise. Only examples of the margin set can be near a bound without being on it.
        """
        alpha, margin, upper = self.alpha.copy(), self.margin, self.upper[self.margin]
        free = alpha[margin]
        if np.count_nonzero(np.minimum(free, upper - free) <= self.alpha_tolerance):
            close = np.minimum(path_loop.ON_BOUND * upper, self.alpha_tolerance)
            alpha[margin] = np.where(free <= close, 0.0, np.where(free >= upper - close, upper, free))
        alpha.flags.writeable = False
        return alpha


def resumed(parked: Parked, gram: Gram, problem: SvmProblem, upper: FloatArray) -> ActiveSet:
    """Restore the active set of a parked alpha, given the upper bounds for which this alpha was optimal."""
    side = np.where(upper > 0.0, AT_LOWER, 0.0)
    side[np.unpackbits(parked.at_upper, count=len(side)) > 0] = AT_UPPER
    side[parked.margin] = ON_MARGIN
    alpha, data = np.where(side == AT_UPPER, upper, 0.0), constant_data(gram, problem)
    state = ActiveSet(gram, data, problem.linear, upper, alpha, parked.bias, side, parked.margin.copy())
    state.recompute()
    state.set_tolerances()
    return state


class PathStuck(Exception):
    """Raised when rounding errors keep a path from reaching its end; the caller solves from scratch instead."""


def breakpoint_limit(state: ActiveSet) -> int:
    """Return the number of breakpoints after which a path counts as stuck."""
    return 1000 + 10 * len(state.alpha)


def _stretch(state: ActiveSet, limit: int) -> int:
    """Return how many breakpoints to pass between two checks of the time budget.

    They take about a second, but are always enough to recognise a path that cycles.
    """
    fewest = 2 * (path_loop.MOST_DEGENERATE + 2 * len(state.margin))
    numbers = len(state.data.nonzeros[0]) or state.data.table.size
    return min(limit, max(fewest, STRETCH // max(numbers, len(state.alpha))))


def _follow(
    state: ActiveSet, value: float, goal: path_loop.Goal, below: float, limit: int, missing: int = ALL_THERE
) -> tuple[int, float, int]:
    """Move an active set along a path, in place; return the status, the value and how many breakpoints are left.

    `path_loop.follow_path` explains the value. A status of `path_loop.MISSING` or less means that a row of Q is needed:
    pass the status as `missing` to the next call, which loads this row.
    """
    with state.gram.lock:
        data = state.ready(goal.example, path_loop.MISSING - missing)
        found = state.perform(path_loop.FOLLOW, data, value, goal, below, limit)
    state.margin, state.inverse, state.bias = found.examples[: found.size], found.inverse, found.bias
    return found.status, found.value, found.limit


class RemovalPath:
    """A resumable path that lowers the upper bound of one example, with a bound on the objective at its end.

    The optimal objective given ``alpha_j = t`` for this example j is concave in t with slope ``-g_j``, where g is the
    gradient. So at a point of the path with the objective ``value``, the final objective is at most
    ``value + (t - target) g_j``; on arrival this bound is exact. Most paths are given up at their first breakpoint,
    since their bound is too low, before they need an active set of their own.
    """

    __slots__ = ("_goal", "_limit", "_parent", "bound", "example", "state", "target", "value")

    def __init__(self, parent: ActiveSet, objective: float, example: int, target: float) -> None:
        self.value, self.example, self.target = objective, example, target
        self.state: ActiveSet | None = None
        self._parent, self._limit = parent, breakpoint_limit(parent)
        self._goal = path_loop.Goal(example, target, path_loop.NOWHERE.shift)
        self.bound = objective

    def advance(self, below: float) -> bool:
        """Follow the path; return True at its end, or False as soon as `bound` is less than `below`."""
        if self.bound < below:
            return False
        checkpoint()
        status = self._start(below) if self.state is None else self._resume(self.state, below)
        if status in (path_loop.STUCK, path_loop.DISORDERED):
            raise PathStuck
        if self.state is not None:
            slope = min(float(self.state.gradient[self.example]), 0.0)
            self.bound = min(self.bound, self.value + (float(self.state.alpha[self.example]) - self.target) * slope)
        return status == path_loop.ARRIVED

    def _start(self, below: float) -> int:
        """Start the path on a copy of the parent, unless the first step proves too low a bound; return the status."""
        parent = self._parent
        stretch = _stretch(parent, self._limit)
        with parent.gram.lock:
            data = parent.ready(self.example)
            found = parent.perform(path_loop.START, data, self.value, self._goal, below, stretch)
        self.bound = min(self.bound, found.bound)
        if found.status != path_loop.NOT_STARTED:
            vectors, margin = (found.upper, found.alpha, found.gradient, found.side), found.examples[: found.size]
            self.value, self.state = found.value, parent.moved(*vectors, margin, found.inverse, found.bias)
        self._limit -= stretch - found.limit
        return found.status if self.state is None else self._resume(self.state, below, found.status, found.limit)

    def _resume(self, state: ActiveSet, below: float, status: int = path_loop.STUCK, left: int = 0) -> int:
        """Go on along the path, loading missing rows of Q and checking the time budget; return a status."""
        while self._limit > 0 and (status <= path_loop.MISSING or (status == path_loop.STUCK and left == 0)):
            stretch = _stretch(state, self._limit)
            status, self.value, left = _follow(state, self.value, self._goal, below, stretch, min(status, ALL_THERE))
            self._limit -= stretch - left
            checkpoint()
        return status


def shift_linear(state: ActiveSet, target: FloatArray, keeps_rounding: bool = False, tied: float = 0.0) -> None:
    """Move an optimal active set to the linear term `target`, in place, and remove the rounding errors of the path.

    Breakpoints tied with the end of the path are not passed: the result is the optimum just before the end, which makes
    it the canonical one. Rounding may place such breakpoints a little before the end; `tied` is the share of the path,
    counted from its end, in which breakpoints count as tied with the end. With `keeps_rounding` the rounding errors
    stay.
    """
    goal = path_loop.Goal(-1, tied, state.linear - target)
    status, left, limit = _follow(state, 1.0, goal, -math.inf, breakpoint_limit(state))
    while status <= path_loop.MISSING:
        status, left, limit = _follow(state, left, goal, -math.inf, limit, status)
    if status == path_loop.STUCK:
        raise PathStuck
    state.linear = target.copy()
    if not keeps_rounding:
        state.recompute()


def admitted(state: ActiveSet, example: int, upper: float) -> ActiveSet:
    """Return the active set of an optimum after a left-out example is given the upper bound `upper`.

    The example enters with a linear term so low that ``alpha = 0`` is optimal for it; this term then rises to the
    value that `state.linear` has for the example. Among several optima the result need not be the canonical one.
    """
    state, goal = state.copy(), state.linear
    state.upper[example], state.side[example] = upper, AT_LOWER
    if state.gradient[example] < 0.0:
        state.linear = goal.copy()
        state.linear[example] += state.gradient[example]
        state.gradient[example] = 0.0
        shift_linear(state, goal)
    return state
