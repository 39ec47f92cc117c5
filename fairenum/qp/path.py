"""Parametric paths: move one thing of an optimal state and keep all other optimality conditions.

Two things can be moved: one ``alpha_j`` towards a smaller box (`RemovalPath`: leaving an example out), or the linear
term along a vector (`shift_linear`: crossing from an approximate answer to the exact one). With the margin set S and
the length s of the path::

    [ 0   y_S' ] [ db   ]   [ y_j  ]                [   0      ]
    [ y_S Q_SS ] [ da_S ] = [ Q_Sj ] ds     or      [ -shift_S ] ds

and the gradient moves with them. Between breakpoints everything is linear; a breakpoint is an example reaching a bound
or the margin, and a pivot takes it out of the margin set or into it. With nobody on the margin the bias slides until an
example arrives there.

Tied breakpoints are the normal case on discrete data. They are ordered as if the linear term were ``p - eps * weights``
with an infinitesimal eps (`SvmProblem.tie_weights`): the second component of a lexicographic ratio test. It depends
only on the margin set, is computed only when there is a tie, and makes cycling impossible and the answer canonical.
"""

from __future__ import annotations

import math

import numpy as np

from fairenum.budget import checkpoint
from fairenum.problem import FloatArray
from fairenum.qp import kernel
from fairenum.qp.activeset import AT_LOWER, ActiveSet

NO_SHIFT = np.empty(0)
STRETCH = 500_000_000  # numbers of the table gone through without a look at the clock
ALL_THERE = kernel.MISSING + 1


class PathStuck(Exception):
    """Rounding led the path astray; solve from scratch instead."""


def breakpoint_limit(state: ActiveSet) -> int:
    """Return how many breakpoints a path may take before it counts as stuck."""
    return 1000 + 10 * len(state.alpha)


def _stretch(state: ActiveSet, limit: int) -> int:
    """Return how many breakpoints of a removal to take at a time: about a second's worth, of the limit.

    No fewer than the steps of length 0 that it takes to tell that a path goes in circles.
    """
    fewest = 2 * (kernel.MOST_DEGENERATE + 2 * len(state.margin))
    numbers = len(state.data.nonzeros[0]) or state.data.table.size
    return min(limit, max(fewest, STRETCH // max(numbers, len(state.alpha))))


def _follow(
    state: ActiveSet, value: float, goal: kernel.Goal, below: float, limit: int, missing: int = ALL_THERE
) -> tuple[int, float, int]:
    """Run the compiled loop on a state, in place; return its status, the value, and what is left of the limit.

    It stops before it needs a row that is not at hand: its status is then to be handed on as what is missing.
    """
    with state.gram.in_use:
        data = state.ready(goal.example, kernel.MISSING - missing)
        status, examples, size, state.inverse, state.bias, value, limit = kernel.follow(
            data, state.vectors(), state.margin_set(), state.bias, value, goal, below, limit
        )
    state.margin = examples[:size]
    return status, value, limit


class RemovalPath:
    """A resumable path that shrinks the box of one example, with a bound on the objective at its end.

    The optimal value given ``alpha_j = t`` is concave in t with slope ``-g_j``; so at every point of the path the value
    at the end is at most ``value + (t - target) g_j``, and the bound is exact when the path arrives. Most paths are
    given up for their bound at the first breakpoint, which needs no state of their own.
    """

    __slots__ = ("_goal", "_limit", "_parent", "bound", "example", "state", "target", "value")

    def __init__(self, parent: ActiveSet, objective: float, example: int, target: float) -> None:
        self.value, self.example, self.target = objective, example, target
        self.state: ActiveSet | None = None
        self._parent, self._limit = parent, breakpoint_limit(parent)
        self._goal = kernel.Goal(example, target, NO_SHIFT)
        self.bound = objective

    def advance(self, below: float) -> bool:
        """Go on until the path arrives (True) or its bound is under `below` (False)."""
        if self.bound < below:
            return False
        checkpoint()
        status = self._start(below) if self.state is None else self._resume(self.state, below)
        if status in (kernel.STUCK, kernel.DISORDERED):
            raise PathStuck
        if self.state is not None:
            slope = min(float(self.state.gradient[self.example]), 0.0)
            self.bound = min(self.bound, self.value + (float(self.state.alpha[self.example]) - self.target) * slope)
        return status == kernel.ARRIVED

    def _start(self, below: float) -> int:
        """Leave the parent, unless the bound at the first breakpoint says that a state of its own is not worth it."""
        parent = self._parent
        stretch = _stretch(parent, self._limit)
        with parent.gram.in_use:
            data, vectors, margin = parent.ready(self.example), parent.vectors(), parent.margin_set()
            status, bound, moved, examples, size, inverse, bias, value, left = kernel.start_removal(
                data, vectors, margin, parent.bias, self.value, self._goal, below, stretch
            )
        self.bound = min(self.bound, bound)
        if status != kernel.NOT_STARTED:
            self.value, self.state = value, parent.moved(*moved, examples[:size], inverse, bias)
        self._limit -= stretch - left
        return status if self.state is None else self._resume(self.state, below, status, left)

    def _resume(self, state: ActiveSet, below: float, status: int = kernel.STUCK, left: int = 0) -> int:
        """Go on if a stretch is over or a row was missing, with a look at the clock now and then."""
        while self._limit > 0 and (status <= kernel.MISSING or (status == kernel.STUCK and left == 0)):
            stretch = _stretch(state, self._limit)
            status, self.value, left = _follow(state, self.value, self._goal, below, stretch, min(status, ALL_THERE))
            self._limit -= stretch - left
            checkpoint()
        return status


def shift_linear(state: ActiveSet, target: FloatArray, keeps_rounding: bool = False, tied: float = 0.0) -> None:
    """Move the linear term of an optimal state to the target, in place; put right what rounding gathers on the way.

    Ties exactly at the end are left as they are: the state stays the optimum of the problem just before its end, which
    is what makes the canonical answer canonical. Rounding can bring ties forward to a last share of the path, `tied`.
    """
    goal = kernel.Goal(-1, tied, state.linear - target)
    status, left, limit = _follow(state, 1.0, goal, -math.inf, breakpoint_limit(state))
    while status <= kernel.MISSING:
        status, left, limit = _follow(state, left, goal, -math.inf, limit, status)
    if status == kernel.STUCK:
        raise PathStuck
    state.linear = target.copy()
    if not keeps_rounding:
        state.recompute()


def admitted(state: ActiveSet, example: int, upper: float) -> ActiveSet:
    """Return the optimum once an example that was left out is allowed, given an optimal state without it.

    The example enters with a linear term so low that it is content with ``alpha = 0``; the term is then moved to its
    place. Among tied answers the one found need not be the canonical one.
    """
    state, goal = state.copy(), state.linear
    state.upper[example], state.side[example] = upper, AT_LOWER
    if state.gradient[example] < 0.0:
        state.linear = goal.copy()
        state.linear[example] += state.gradient[example]
        state.gradient[example] = 0.0
        shift_linear(state, goal)
    return state
