"""Parametric paths: drive one thing of an optimal state and keep all other optimality conditions.

Two things can be driven: one ``alpha_j`` towards a smaller box (`Removing`: leaving an example out), or the linear term
along a vector (`Shifting`: crossing from an approximate answer to the exact one). Between breakpoints everything is
linear in the length s of the path; a breakpoint is an example reaching a bound or the margin.

Tied breakpoints are the normal case on discrete data. They are ordered as if the linear term were ``p - eps * weights``
with an infinitesimal eps (`SvmProblem.tie_weights`): the second component of the lexicographic ratio test. It depends
only on the margin set, is computed only when there is a tie, and makes cycling impossible and the answer canonical.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from fairenum.problem import FloatArray, IntArray
from fairenum.qp.activeset import AT_LOWER, AT_UPPER, ActiveSet

# Rates below this share of the driving force are rounding errors of a rate of 0.
STILL = 1e-12


class PathStuck(Exception):
    """The path took more breakpoints than a sane path takes; solve from scratch instead."""


class Drive(Protocol):
    """What is being driven: the right side for the margin set, and the gradient's own rate."""

    rate: FloatArray

    def right(self, margin: IntArray) -> FloatArray:
        """Return the right side of the margin system per unit of length."""


class Removing:
    """``alpha_j`` falls by one per unit of length."""

    def __init__(self, state: ActiveSet, example: int) -> None:
        self.example = example
        self.label = float(state.y[example])
        self.column = state.gram.column(example)
        self.rate = -self.column

    def right(self, margin: IntArray) -> FloatArray:
        """Return ``[y_j, Q_Sj]``."""
        result = np.empty(len(margin) + 1)
        result[0] = self.label
        result[1:] = self.column[margin]
        return result


class Shifting:
    """The linear term moves along ``-shift``."""

    def __init__(self, shift: FloatArray) -> None:
        self.rate = shift

    def right(self, margin: IntArray) -> FloatArray:
        """Return ``[0, -shift_S]``."""
        result = np.empty(len(margin) + 1)
        result[0] = 0.0
        np.negative(self.rate[margin], out=result[1:])
        return result


class Velocity(NamedTuple):
    """How bias, margin examples and gradient move per unit of length."""

    bias: float
    margin: FloatArray
    gradient: FloatArray


class Approach(NamedTuple):
    """Examples on their way to a breakpoint: the room each has left, and how fast it is used up."""

    index: IntArray
    room: FloatArray
    speed: FloatArray


class Breakpoint(NamedTuple):
    """The first event on a path: its distance, and who enters (`outside`) or leaves (`inside`: a position)."""

    length: float
    outside: int
    inside: int


def velocity(state: ActiveSet, drive: Drive) -> Velocity:
    """Solve the margin system for the direction of the path."""
    margin = state.margin
    if len(margin) == 0:
        return Velocity(0.0, np.empty(0), drive.rate)
    solution = state.inverse @ drive.right(margin)
    gradient = state.gram.combine(margin, solution[1:])
    gradient += drive.rate
    gradient += solution[0] * state.y
    return Velocity(float(solution[0]), solution[1:], gradient)


def approaching_margin(state: ActiveSet, speed: FloatArray, threshold: float) -> Approach:
    """Find the examples at a bound that move towards the margin."""
    towards = state.side * speed
    index = np.flatnonzero(towards < -threshold)
    room = state.side[index] * state.gradient[index]
    return Approach(index, np.maximum(room, 0.0, out=room), -towards[index])


def approaching_bounds(state: ActiveSet, speed: FloatArray, threshold: float) -> Approach:
    """Find the margin examples (by position) that move towards a bound."""
    alpha = state.alpha[state.margin]
    room = np.where(speed < 0.0, alpha, state.upper[state.margin] - alpha)
    index = np.flatnonzero(np.abs(speed) > threshold)
    room = room[index]
    return Approach(index, np.maximum(room, 0.0, out=room), np.abs(speed[index]))


def first_breakpoint(
    state: ActiveSet, outside: Approach, inside: Approach, move: FloatArray, length: float, weights: FloatArray, noise: float
) -> Breakpoint:
    """Return the first event within the length; ties are broken by the infinitesimal tie weights."""
    entering = float((outside.room / outside.speed).min(initial=np.inf))
    leaving = float((inside.room / inside.speed).min(initial=np.inf))
    first = min(entering, leaving, length)
    tied_out = np.flatnonzero(outside.room - first * outside.speed <= noise)
    scale = 1e-10 * state.upper[state.margin[inside.index]]
    tied_in = np.flatnonzero(inside.room - first * inside.speed <= scale)
    at_end = first >= length * (1.0 - 1e-12)
    if len(tied_out) + len(tied_in) + at_end > 1:
        return _break_tie(state, outside, inside, tied_out, tied_in, move, first, at_end, weights)
    if at_end:
        return Breakpoint(length, -1, -1)
    if len(tied_out):
        return Breakpoint(first, int(outside.index[tied_out[0]]), -1)
    return Breakpoint(first, -1, int(inside.index[tied_in[0]]))


def _break_tie(
    state: ActiveSet, outside: Approach, inside: Approach, tied_out: IntArray, tied_in: IntArray, move: FloatArray,
    first: float, at_end: bool, weights: FloatArray,
) -> Breakpoint:  # fmt: skip
    bias, margin = tie_velocity(state, weights)
    examples = outside.index[tied_out]
    gradient = state.gram.block(examples, state.margin) @ margin + bias * state.y[examples] + weights[examples]
    late_out = state.side[examples] * gradient / outside.speed[tied_out]
    positions = inside.index[tied_in]
    late_in = -np.sign(move[positions]) * margin[positions] / inside.speed[tied_in]
    order = np.concatenate([late_out, late_in, [0.0] if at_end else []])
    winner = int(order.argmin())
    if winner < len(examples):
        return Breakpoint(first, int(examples[winner]), -1)
    winner -= len(examples)
    return Breakpoint(first, -1, int(positions[winner]) if winner < len(positions) else -1)


def tie_velocity(state: ActiveSet, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return how bias and margin answer to the infinitesimal ``p - eps * weights``, per eps."""
    if len(state.margin) == 0:
        return 0.0, np.empty(0)
    solution = state.inverse[:, 1:] @ -weights[state.margin]
    return float(solution[0]), solution[1:]


NOBODY = Approach(np.empty(0, np.intp), np.empty(0), np.empty(0))


def cross(state: ActiveSet, at: Breakpoint, way: Velocity, weights: FloatArray) -> None:
    """Let the example of a breakpoint leave the margin, or enter it."""
    if at.inside >= 0:
        state.leave(at.inside, AT_LOWER if way.margin[at.inside] < 0.0 else AT_UPPER)
    elif not state.enter(at.outside):
        _exchange(state, at.outside, weights)


def _exchange(state: ActiveSet, example: int, weights: FloatArray) -> None:
    """Let an example in the affine hull of the margin set trade places with one of the set.

    Moving along the dependence changes neither the separating plane nor the objective; it ends where a margin example
    reaches a bound and leaves, or where the newcomer reaches its own other bound.
    """
    side = float(state.side[example])
    change = -side * (state.inverse @ state.edge(example))[1:]
    inside = approaching_bounds(state, change, 1e-7)
    box = float(state.upper[example])
    at = first_breakpoint(state, NOBODY, inside, change, box, weights, 0.0)
    state.alpha[state.margin] += at.length * change
    state.alpha[example] += side * at.length
    state.gradient[example] = 0.0
    if at.inside < 0:
        state.side[example] = -side
        state.alpha[example] = box if side == AT_LOWER else 0.0
        return
    state.leave(at.inside, AT_LOWER if change[at.inside] < 0.0 else AT_UPPER)
    if not state.enter(example):
        raise PathStuck


def breakpoint_limit(state: ActiveSet) -> int:
    """Return how many breakpoints a path may take before it counts as stuck."""
    return 1000 + 10 * len(state.alpha)


class RemovalPath:
    """A resumable path that shrinks the box of one example, with a bound on the objective at its end.

    The optimal value given ``alpha_j = t`` is concave in t with slope ``-g_j``; so at every point of the path the value
    at the end is at most ``value + (t - target) g_j``, and the bound is exact when the path arrives.
    """

    def __init__(self, parent: ActiveSet, objective: float, example: int, target: float, weights: FloatArray) -> None:
        self.state = state = parent.copy()
        self.value, self.example, self.target = objective, example, target
        self._weights = weights
        self._noise = state.noise()
        self._drive = Removing(state, example)
        self._still = STILL * float(np.abs(self._drive.rate).max())
        self._left = breakpoint_limit(state)
        on_margin = np.flatnonzero(state.margin == example)
        if len(on_margin):
            state.leave(int(on_margin[0]), 0.0)
        state.side[example] = 0.0

    @property
    def bound(self) -> float:
        """An upper bound on the objective at the end of the path; it only ever falls."""
        state, example = self.state, self.example
        return self.value + (float(state.alpha[example]) - self.target) * min(float(state.gradient[example]), 0.0)

    def advance(self, below: float) -> bool:
        """Walk until the path arrives (True) or its bound is under `below` (False)."""
        while self.state.alpha[self.example] > self.target:
            if self.bound < below:
                return False
            self._left -= 1
            if self._left < 0:
                raise PathStuck
            if len(self.state.margin):
                self._step()
            else:
                self._slide_bias()
        if self.state.upper[self.example] != self.target:
            self._arrive()
        return True

    def _arrive(self) -> None:
        state, example = self.state, self.example
        state.alpha[example] = state.upper[example] = self.target
        state.side[example] = AT_UPPER if self.target else 0.0
        state.refresh()
        self.value = state.objective()

    def _step(self) -> None:
        state, example = self.state, self.example
        way = velocity(state, self._drive)
        outside = approaching_margin(state, way.gradient, self._still)
        inside = approaching_bounds(state, way.margin, STILL)
        room = float(state.alpha[example]) - self.target
        at = first_breakpoint(state, outside, inside, way.margin, room, self._weights, self._noise)
        self.value += at.length * float(state.gradient[example]) + 0.5 * at.length**2 * float(way.gradient[example])
        move(state, way, at.length)
        state.alpha[example] -= at.length
        if at.outside < 0 and at.inside < 0:
            state.alpha[example] = self.target
        else:
            cross(state, at, way, self._weights)

    def _slide_bias(self) -> None:
        """With nobody on the margin, move the bias until an example that can make up for j arrives there."""
        state, label = self.state, self._drive.label
        way = Velocity(-label, np.empty(0), -label * state.y)
        outside = approaching_margin(state, way.gradient, 0.5)
        if len(outside.index) == 0:
            raise PathStuck
        at = first_breakpoint(state, outside, NOBODY, way.margin, np.inf, self._weights, self._noise)
        move(state, way, at.length)
        cross(state, at, way, self._weights)


def move(state: ActiveSet, way: Velocity, length: float) -> None:
    """Move margin, bias and gradient along the path."""
    state.bias += length * way.bias
    state.alpha[state.margin] += length * way.margin
    state.gradient += length * way.gradient


def shift_linear(state: ActiveSet, target: FloatArray, weights: FloatArray) -> None:
    """Move the linear term of an optimal state to the target, in place.

    Ties exactly at the end are left as they are: the state stays the optimum of the problem just before its end, which
    is what makes the canonical answer canonical.
    """
    drive = Shifting(state.linear - target)
    left, noise = 1.0, state.noise()
    for _ in range(breakpoint_limit(state)):
        way = velocity(state, drive)
        outside = _overrunning(approaching_margin(state, way.gradient, 0.0), left, noise)
        inside = approaching_bounds(state, way.margin, 0.0)
        inside = _overrunning(inside, left, 1e-10 * state.upper[state.margin[inside.index]])
        at = first_breakpoint(state, outside, inside, way.margin, np.inf, weights, noise)
        length = min(at.length, left)
        move(state, way, length)
        left -= length
        if at.outside < 0 and at.inside < 0:
            state.linear = target
            state.refresh()
            return
        cross(state, at, way, weights)
    raise PathStuck


def _overrunning(approach: Approach, length: float, noise: float | FloatArray) -> Approach:
    """Keep the examples that would be clearly past their breakpoint at the end of the path."""
    keep = approach.room - length * approach.speed < -np.asarray(noise)
    return Approach(approach.index[keep], approach.room[keep], approach.speed[keep])
