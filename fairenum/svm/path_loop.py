"""Compiled inner loop of the parametric paths; `fairenum.svm.path` explains the method and calls the loop.

A breakpoint takes a few dozen operations on short vectors; interpreted, the calls would cost ten times the arithmetic.

The loop is in one file on purpose: numba looks for changes only in the file of the entry point, and would keep running
a cached loop whose parts had changed in other files.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fairenum.runtime.compiling import entry, in_any_order, inner
from fairenum.svm.loop_rows import Anchor, Nonzeros, Places
from fairenum.svm.problem import FloatArray, IntArray

Numbers = TypeVar("Numbers", float, FloatArray)
# See `TaskResult`: compiled code returns plain tuples.
Result = tuple[
    int, float, FloatArray, FloatArray, FloatArray, FloatArray, IntArray, int, FloatArray, float, float, int
]  # fmt: skip

leaf, leaf_in_any_order = partial(inner, allocates=False), partial(in_any_order, allocates=False)

# Statuses; NOT_STARTED: the first bound is under `below`; DISORDERED: the answer is not canonical. MISSING minus the
# index of an example: its row is needed in the table.
ARRIVED, PAUSED, STUCK, NOT_STARTED, DISORDERED, MISSING = 0, 1, 2, 3, 4, -1
END, ENTERS, FALLS, RISES, UNKNOWN = 0, 1, 2, 3, 4  # kinds of breakpoints
START, FOLLOW, RECOMPUTE, RAISE = 0, 1, 2, 3  # tasks
# Shares below which a rate, a distance from the margin's affine hull, or a weight in it counts as 0.
LEAST_RATE, DEPENDENCE, PIVOT = 1e-12, 1e-11, 1e-7
ON_BOUND = 1e-10  # the share of its box within which an alpha is on a bound
TIED = 1e3  # times the rounding of a gradient: no example is so near the margin by chance
TIED_RATE = 1e-6  # of tie weights, which are 1 to 2: rates below this may be rounding
PRECISE = 1e-10  # the share of the objective that rounding may cost before sums are made in doubled precision
REFINEMENTS = 3
SPLITTER = 134217729.0  # 2^27 + 1: halves the digits of a number (Dekker)
MOST_DEGENERATE = 100  # steps of length 0, plus two per margin example, after which a path is taken to cycle


class TaskResult(NamedTuple):
    """The result of a task: its status, the bound on a removal path's final objective, and the active set afterwards.

    ``examples[:size]`` are the examples on the margin, ``limit`` is the number of breakpoints left, and ``value`` is
    explained in `follow_path`.
    """

    status: int
    bound: float
    upper: FloatArray
    alpha: FloatArray
    gradient: FloatArray
    side: FloatArray
    examples: IntArray
    size: int
    inverse: FloatArray
    bias: float
    value: float
    limit: int


class Data(NamedTuple):
    """Constant data of all paths; ``table`` is Q itself if `is_matrix`, else each example's features times its label.

    If Q is too large to hold, the table has only the rows in use: ``places`` is each example's row index in it, -1 if
    the row is missing. ``diagonal`` is that of Q, ``longest`` the root of its largest entry; ``weights`` are the tie
    weights.
    """

    table: FloatArray
    places: IntArray
    anchor: Anchor
    nonzeros: Nonzeros
    is_matrix: bool
    ridge: float
    longest: float
    diagonal: FloatArray
    y: FloatArray
    weights: FloatArray


class Vectors(NamedTuple):
    """The vectors of an active set, changed in place, and the rounding tolerances of gradients and alpha."""

    upper: FloatArray
    linear: FloatArray
    alpha: FloatArray
    gradient: FloatArray
    side: FloatArray
    gradient_tolerance: float
    alpha_tolerance: float


class Margin(NamedTuple):
    """The margin set S (examples on the margin) and the inverse of its bordered matrix, in buffers that may be larger.

    The bordered matrix is ``[[0, y_S'], [y_S, Q_SS]]``.
    """

    examples: IntArray
    size: int
    inverse: FloatArray


class Goal(NamedTuple):
    """The goal of a path: alpha of `example` at `target` or, if `example` is -1, the linear term moved by ``-shift``.

    With an example, an infinite target means that alpha rises until the gradient of the example is 0. With a shift,
    `target` is the share of the path, counted from its end, in which breakpoints count as tied with the end, since
    rounding may have moved them there.
    """

    example: int
    target: float
    shift: FloatArray


NOWHERE = Goal(-1, 0.0, np.empty(0))


class Direction(NamedTuple):
    """Rates of change along a path: of the bias, of the margin set's alpha (``margin``) and of the gradient.

    Rates of the gradient up to ``least_rate``, and of alpha up to ``least_margin_rate``, count as 0.
    """

    bias: float
    margin: FloatArray
    gradient: FloatArray
    least_rate: float
    least_margin_rate: float


class Step(NamedTuple):
    """A straight piece of a path: its direction and length, and the kind and index of the breakpoint at its end."""

    direction: Direction
    length: float
    kind: int
    place: int


@leaf_in_any_order
def dot(left: FloatArray, right: FloatArray) -> float:
    """Return the inner product of short vectors, faster than a library call."""
    total = 0.0
    for k in range(len(right)):
        total += left[k] * right[k]
    return float(total)


@leaf
def place_of(data: Data, i: int) -> int:
    """Return the index of an example's row in the table."""
    return int(data.places[i]) if len(data.places) else i


@inner
def row_of(data: Data, i: int) -> FloatArray:
    """Return the table row of example i as a dense vector."""
    values, columns, starts = data.nonzeros
    row: FloatArray = np.zeros(data.table.shape[1]) if len(starts) else data.table[place_of(data, i)]
    if len(starts) == 0:
        return row
    for k in range(starts[i], starts[i + 1]):
        row[columns[k]] = values[k]
    return row


@leaf_in_any_order
def row_product(data: Data, i: int, plane: FloatArray) -> float:
    """Return the inner product of the table row of example i and a vector."""
    total, table = 0.0, data.table
    values, columns, starts = data.nonzeros
    if len(starts) == 0:
        for k in range(len(plane)):
            total += table[i, k] * plane[k]
    else:
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * plane[columns[k]]
    return total


@in_any_order
def products(data: Data, rows: IntArray, size: int, plane: FloatArray) -> FloatArray:
    """Return the inner products of the table rows ``rows[:size]`` with a vector.

    Here and below, arrays are unpacked before loops and loops call no functions: numba's reference counting would take
    longer than the work on a row.
    """
    result, table = np.zeros(size), data.table
    values, columns, starts = data.nonzeros
    for p in range(size):
        total, i = 0.0, rows[p]
        if len(starts) == 0:
            for k in range(len(plane)):
                total += table[i, k] * plane[k]
        else:
            for k in range(starts[i], starts[i + 1]):
                total += values[k] * plane[columns[k]]
        result[p] = total
    return result


@leaf
def add_rows(data: Data, rows: IntArray, weights: FloatArray, total: FloatArray) -> None:
    """Add a weighted sum of rows of the table to the vector `total`, in place."""
    table, places = data.table, data.places
    values, columns, starts = data.nonzeros
    for p in range(len(weights)):
        i, weight = rows[p], weights[p]
        if len(starts) == 0:
            place = places[i] if len(places) else i
            for k in range(len(total)):
                total[k] += weight * table[place, k]
        else:
            for k in range(starts[i], starts[i + 1]):
                total[columns[k]] += weight * values[k]


@inner
def border(data: Data, margin: Margin, i: int) -> FloatArray:
    """Return ``[y_i, Q_Si]``, the column that example i adds to the bordered matrix (`Margin`) of the margin set S."""
    edge = np.empty(margin.size + 1)
    edge[0] = data.y[i]
    if data.is_matrix:
        for p in range(margin.size):
            edge[p + 1] = data.table[place_of(data, margin.examples[p]), i]
        return edge
    reaches = products(data, margin.examples, margin.size, row_of(data, i))
    for p in range(margin.size):
        edge[p + 1] = reaches[p] + (data.ridge if i == margin.examples[p] else 0.0)
    return edge


@inner
def weighted_rows(data: Data, margin: Margin, weights: FloatArray) -> FloatArray:
    """Return the weighted sum of the table rows of the examples on the margin."""
    result = np.zeros(data.table.shape[1])
    add_rows(data, margin.examples, weights, result)
    return result


@in_any_order
def table_product(data: Data, plane: FloatArray) -> FloatArray:
    """Return the inner products of all rows of the table with a vector."""
    if len(data.nonzeros.starts) == 0:
        dense: FloatArray = np.dot(data.table, plane)  # a library handles several such short rows at a time
        return dense
    result = np.empty(len(data.y))
    values, columns, starts = data.nonzeros
    for i in range(len(result)):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * plane[columns[k]]
        result[i] = total
    return result


@inner
def times_inverse(margin: Margin, right: FloatArray) -> FloatArray:
    """Return the stored inverse of the margin set's bordered matrix times a vector."""
    result = np.empty(len(right))
    for p in range(len(right)):
        result[p] = dot(margin.inverse[p], right)
    return result


@inner
def residual_of(data: Data, margin: Margin, right: FloatArray, answer: FloatArray) -> FloatArray:
    """Return ``right`` minus the bordered matrix of the margin set times ``answer``."""
    result, m, examples, y, table = right.copy(), margin.size, margin.examples, data.y, data.table
    reaches = np.empty(0)
    if not data.is_matrix:
        reaches = products(data, examples, m, weighted_rows(data, margin, answer[1:]))
    for p in range(m):
        i = examples[p]
        result[0] -= y[i] * answer[p + 1]
        result[p + 1] -= y[i] * answer[0]
        if data.is_matrix:
            place = place_of(data, i)
            for q in range(m):
                result[p + 1] -= table[place, examples[q]] * answer[q + 1]
        else:
            result[p + 1] -= data.ridge * answer[p + 1] + reaches[p]
    return result


@inner
def solve_margin(data: Data, margin: Margin, right: FloatArray) -> FloatArray:
    """Solve the linear system with the bordered matrix of the margin set (`Margin`) for one right side.

    On discrete data this matrix is ill-conditioned, and after a dozen updates its inverse gives seven digits: too few
    to recognise tied breakpoints. One step of iterative refinement restores the rest.
    """
    answer = times_inverse(margin, right)
    missing = times_inverse(margin, residual_of(data, margin, right, answer))
    for p in range(len(answer)):
        answer[p] += missing[p]
    return answer


@inner
def copy_margin(margin: Margin) -> Margin:
    """Return an independent copy of the margin set."""
    m = margin.size
    return Margin(margin.examples[:m].copy(), m, margin.inverse[: m + 1, : m + 1].copy())


@inner
def with_capacity(margin: Margin) -> Margin:
    """Return the margin set in buffers that have room for one more example."""
    m = margin.size
    if m + 2 <= margin.inverse.shape[0] and m + 1 <= len(margin.examples):
        return margin
    inverse = np.zeros((2 * m + 4, 2 * m + 4))
    examples = np.empty(2 * m + 4, margin.examples.dtype)
    for p in range(m + 1):
        for q in range(m + 1):
            inverse[p, q] = margin.inverse[p, q]
    for p in range(m):
        examples[p] = margin.examples[p]
    return Margin(examples, m, inverse)


@inner
def enter(data: Data, vectors: Vectors, margin: Margin, i: int) -> tuple[bool, Margin]:
    """Let example i join the margin set, unless i lies in the affine hull of this set.

    Return True and the new set, or False and the old one.
    """
    margin = with_capacity(margin)
    m, inverse = margin.size, margin.inverse
    diagonal = data.diagonal[i]
    if m == 0:
        inverse[0, 0], inverse[0, 1], inverse[1, 0], inverse[1, 1] = -diagonal, data.y[i], data.y[i], 0.0
    else:
        edge = border(data, margin, i)
        beta = solve_margin(data, margin, edge)
        pivot = diagonal - dot(edge, beta)
        if pivot <= DEPENDENCE * diagonal:
            return False, margin
        for p in range(m + 1):
            ratio = beta[p] / pivot
            for q in range(m + 1):
                inverse[p, q] += ratio * beta[q]
            inverse[p, m + 1] = inverse[m + 1, p] = -ratio
        inverse[m + 1, m + 1] = 1.0 / pivot
    margin.examples[m] = i
    vectors.side[i] = 0.0
    vectors.gradient[i] = 0.0
    return True, Margin(margin.examples, m + 1, inverse)


@inner
def leave(margin: Margin, position: int) -> Margin:
    """Return the margin set without the example at a position; the last example moves to that position."""
    k, m, inverse = position + 1, margin.size, margin.inverse
    if m > 1:
        for p in range(m + 1):
            if p != k:
                ratio = inverse[p, k] / inverse[k, k]
                for q in range(m + 1):
                    if q != k:
                        inverse[p, q] -= ratio * inverse[k, q]
        for p in range(m + 1):
            inverse[k, p] = inverse[m, p]
        for p in range(m + 1):
            inverse[p, k] = inverse[p, m]
    margin.examples[position] = margin.examples[m - 1]
    return Margin(margin.examples, m - 1, inverse)


@inner
def release(vectors: Vectors, margin: Margin, example: int) -> Margin:
    """Take an example that a path moves out of the margin set, and set its side to 0, which exempts it from checks."""
    vectors.side[example] = 0.0
    for p in range(margin.size):
        if margin.examples[p] == example:
            return leave(margin, p)
    return margin


@leaf
def put_on_bound(vectors: Vectors, i: int, falls: bool) -> None:
    """Set alpha of example i to the bound it has reached: the lower one if `falls`, else the upper one."""
    vectors.side[i] = 1.0 if falls else -1.0
    vectors.alpha[i] = 0.0 if falls else vectors.upper[i]


@leaf
def distance_to_bound(vectors: Vectors, i: int, rate: float) -> float:
    """Return how far an example's alpha is from the bound ahead: the lower one for a negative rate, else the upper."""
    return float(max(vectors.alpha[i] if rate < 0.0 else vectors.upper[i] - vectors.alpha[i], 0.0))


@leaf
def bound_tolerance(vectors: Vectors, i: int) -> float:
    """Return the distance from a bound within which an example's alpha counts as being on it."""
    return float(min(ON_BOUND * vectors.upper[i], vectors.alpha_tolerance))


@leaf
def is_blocking(distance: float, speed: float, length: float, close: float, stops_short: bool) -> bool:
    """Tell whether an example that reaches the margin, or whose alpha reaches a bound, may end a step of a path.

    Without `stops_short` it always may. With `stops_short` it may only if a step of full `length` would take it more
    than `close` past the margin or bound, which it approaches at `speed` from `distance`.
    """
    return not stops_short or distance - length * speed < -close


@leaf
def step_length(vectors: Vectors, margin: Margin, direction: Direction, length: float, stops_short: bool) -> float:
    """Return the path length to the first breakpoint, at most `length`: the ratio test of active-set methods."""
    first, side, gradient, rate = length, vectors.side, vectors.gradient, direction.gradient
    for i in range(len(rate)):
        speed = -side[i] * rate[i]
        if speed > direction.least_rate:
            distance, close = max(side[i] * gradient[i], 0.0), vectors.gradient_tolerance
            if distance < first * speed and is_blocking(distance, speed, length, close, stops_short):
                first = distance / speed
    for p in range(margin.size):
        speed = abs(direction.margin[p])
        if speed > direction.least_margin_rate:
            i = margin.examples[p]
            distance, close = distance_to_bound(vectors, i, direction.margin[p]), bound_tolerance(vectors, i)
            if distance < first * speed and is_blocking(distance, speed, length, close, stops_short):
                first = distance / speed
    return first


@inner
def breakpoints_at(
    vectors: Vectors, margin: Margin, direction: Direction, length: float, stops_short: bool, first: float
) -> npt.NDArray[np.int64]:
    """Return the codes of all breakpoints tied at path length `first`, the distance to the nearest breakpoint.

    The code is i if example i reaches the margin, and n + p if the p-th example on the margin leaves it; n is the
    number of examples.
    """
    count, side, gradient, rate = 0, vectors.side, vectors.gradient, direction.gradient
    n = len(rate)
    breakpoints = np.empty(n + margin.size, np.int64)
    for i in range(n):
        speed = -side[i] * rate[i]
        if speed > direction.least_rate:
            distance, close = max(side[i] * gradient[i], 0.0), vectors.gradient_tolerance
            if distance - first * speed <= close and is_blocking(distance, speed, length, close, stops_short):
                breakpoints[count] = i
                count += 1
    for p in range(margin.size):
        speed = abs(direction.margin[p])
        if speed > direction.least_margin_rate:
            i = margin.examples[p]
            distance, close = distance_to_bound(vectors, i, direction.margin[p]), bound_tolerance(vectors, i)
            if distance - first * speed <= close and is_blocking(distance, speed, length, close, stops_short):
                breakpoints[count] = n + p
                count += 1
    return breakpoints[:count]


@inner
def first_breakpoint(
    data: Data, vectors: Vectors, margin: Margin, direction: Direction, length: float, stops_short: bool
) -> tuple[float, int, int]:
    """Return the path length to the first breakpoint, its kind and its index; tie weights break ties.

    `length` is the rest of the path. With `stops_short`, breakpoints tied with the end of the path do not count (see
    `is_blocking`). Without it, the end takes part in ties like any breakpoint.
    """
    first = step_length(vectors, margin, direction, length, stops_short)
    if stops_short and first == length:
        return first, END, -1
    breakpoints = breakpoints_at(vectors, margin, direction, length, stops_short, first)
    ends = not stops_short and first >= length * (1.0 - 1e-12)
    winner, earliest = -1, 0.0
    if len(breakpoints) == 1 and not ends:
        winner = breakpoints[0]
    elif len(breakpoints) > 0:
        tie, plane = tie_answer(data, margin)
        for code in breakpoints:
            delay = breakpoint_delay(data, direction, tie, plane, code)
            if delay < earliest or (winner < 0 and not ends):
                winner, earliest = code, delay
    n = len(direction.gradient)
    if winner < 0:
        return first, END, -1
    if winner < n:
        return first, ENTERS, winner
    return first, FALLS if direction.margin[winner - n] < 0.0 else RISES, winner - n


@inner
def tie_answer(data: Data, margin: Margin) -> tuple[FloatArray, FloatArray]:
    """Return how the optimum changes per eps if the linear term p becomes ``p - eps * weights`` (tie weights).

    The first vector returned is the change of the bias, then of the margin set's alpha. The second is the change of the
    weight vector, or of ``Q alpha`` if Q is held as a matrix.
    """
    right = margin_shift(margin, data.weights)
    tie = solve_margin(data, margin, right) if margin.size > 0 else right
    return tie, weighted_rows(data, margin, tie[1:])


@leaf
def tie_gradient(data: Data, tie: FloatArray, plane: FloatArray, i: int) -> float:
    """Return how the gradient of example i, off the margin, changes per eps if p becomes ``p - eps * weights``."""
    reached = plane[i] if data.is_matrix else row_product(data, i, plane)
    return float(tie[0] * data.y[i] + data.weights[i] + reached)


@leaf
def breakpoint_delay(data: Data, direction: Direction, tie: FloatArray, plane: FloatArray, code: int) -> float:
    """Return how much later a breakpoint comes, per eps, if the linear term p becomes ``p - eps * weights``.

    `tie` and `plane` are the result of `tie_answer`; `breakpoints_at` explains `code`.
    """
    n = len(direction.gradient)
    if code >= n:
        return float(-tie[code - n + 1] / direction.margin[code - n])
    return float(-tie_gradient(data, tie, plane, code) / direction.gradient[code])


@inner
def exchange(
    data: Data, vectors: Vectors, margin: Margin, direction: Direction, i: int, left: float
) -> tuple[bool, Margin]:
    """Let example i, in the margin set's affine hull, replace a member; return a success flag and the new margin set.

    Alpha moves along the affine dependence, which changes neither plane nor objective, until a member reaches a bound
    and leaves, or example i reaches its other bound and does not join. `left` is the rest of the path, infinite unless
    the end is near. If in this rest the gradient of example i would pass 0 by no more than rounding errors, the example
    is taken to reach the margin just at the end, and nothing is exchanged.
    """
    upper, alpha, toward = vectors.upper, vectors.alpha, vectors.side[i]
    change = solve_margin(data, margin, border(data, margin, i))[1:]
    past = left * abs(direction.gradient[i])
    if past <= vectors.gradient_tolerance * (1.0 + absolute_sum(change)):
        vectors.gradient[i] = toward * past
        return True, margin
    for p in range(margin.size):
        change[p] *= -toward
    tie, plane = tie_answer(data, margin)
    passed = breakpoint_delay(data, direction, tie, plane, i)
    length, later, position = upper[i], 0.0, margin.size
    for p in range(margin.size):
        k, speed = margin.examples[p], abs(change[p])
        if speed > PIVOT:
            step = distance_to_bound(vectors, k, change[p]) / speed
            delay = (tie[p + 1] + passed * direction.margin[p]) / -change[p]
            close = bound_tolerance(vectors, i) + bound_tolerance(vectors, k) / speed
            if step < length - close or (step <= length + close and delay < later):
                length, later, position = step, delay, p
    for p in range(margin.size):
        alpha[margin.examples[p]] += length * change[p]
    vectors.gradient[i] = 0.0
    if position == margin.size:
        put_on_bound(vectors, i, toward < 0.0)
        return True, margin
    alpha[i] += toward * length
    put_on_bound(vectors, margin.examples[position], change[position] < 0.0)
    return enter(data, vectors, leave(margin, position), i)


@inner
def apply_breakpoint(
    data: Data, vectors: Vectors, margin: Margin, direction: Direction, kind: int, index: int, left: float
) -> tuple[bool, Margin]:
    """Let a breakpoint's example join or leave the margin set; return a success flag and the new margin set."""
    if kind == ENTERS:
        done, margin = enter(data, vectors, margin, index)
        return (True, margin) if done else exchange(data, vectors, margin, direction, index, left)
    if kind != END:
        put_on_bound(vectors, margin.examples[index], kind == FALLS)
        margin = leave(margin, index)
    return True, margin


@inner
def gradient_rates(data: Data, margin: Margin, goal: Goal, bias: float, rates: FloatArray) -> FloatArray:
    """Return the rates of change of the gradient, given those of the bias and of the margin set's alpha."""
    example = goal.example
    plane = weighted_rows(data, margin, rates)
    if example >= 0:
        row = row_of(data, example)
        for k in range(len(plane)):
            plane[k] -= row[k]
    result = plane if data.is_matrix else table_product(data, plane)
    for i in range(len(result)):
        result[i] += bias * data.y[i]
        if example < 0:
            result[i] += goal.shift[i]
    if example >= 0 and not data.is_matrix and goal.target != np.inf:  # a row that rises is no example and has no ridge
        result[example] -= data.ridge
    return result


@leaf
def absolute_sum(numbers: FloatArray) -> float:
    """Return the sum of absolute values."""
    total = 0.0
    for number in numbers:
        total += abs(number)
    return total


@inner
def margin_shift(margin: Margin, shift: FloatArray) -> FloatArray:
    """Return ``[0, -shift_S]``, S being the margin set: the right side of the system for moving the linear term."""
    result = np.zeros(margin.size + 1)
    for p in range(margin.size):
        result[p + 1] = -shift[margin.examples[p]]
    return result


@inner
def search_direction(data: Data, margin: Margin, goal: Goal) -> Direction:
    """Return the direction of a path, in which the examples of the margin set stay on the margin.

    If this set is empty and the path is to move an example's alpha, only the bias moves.
    """
    m, example = margin.size, goal.example
    toward = -1.0 if goal.target == np.inf else 1.0  # a rising example reverses the direction of a falling one
    if m == 0 and example >= 0:
        slide = -toward * data.y[example]
        return Direction(slide, np.empty(0), slide * data.y, 0.5, LEAST_RATE)
    right = border(data, margin, example) if example >= 0 else margin_shift(margin, goal.shift)
    solution = solve_margin(data, margin, right) if m > 0 else right
    rates = solution[1:]
    scale = abs(solution[0]) + data.longest * data.longest * (1.0 + absolute_sum(rates))
    gradient = gradient_rates(data, margin, goal, solution[0], rates)
    if toward < 0.0:
        for i in range(len(gradient)):
            gradient[i] = -gradient[i]
        for p in range(m):
            rates[p] = -rates[p]
    return Direction(toward * solution[0], rates, gradient, LEAST_RATE * scale, LEAST_RATE)


@inner
def next_step(data: Data, vectors: Vectors, margin: Margin, goal: Goal, left: float) -> Step:
    """Return the step to the next breakpoint of a path whose remaining length is `left`."""
    slides = margin.size == 0 and goal.example >= 0
    direction = search_direction(data, margin, goal)
    length, kind, index = first_breakpoint(
        data, vectors, margin, direction, np.inf if slides else left, goal.example < 0
    )
    return Step(direction, length, kind, index)


@inner
def bound_after(vectors: Vectors, margin: Margin, value: float, goal: Goal, step: Step) -> float:
    """Return an upper bound on the final objective of a removal path, from its first step and the objective `value`."""
    left, length = vectors.alpha[goal.example] - goal.target, step.length
    slope, bend = vectors.gradient[goal.example], step.direction.gradient[goal.example]
    if length == np.inf:
        return value
    if margin.size > 0:
        value += length * (slope + 0.5 * length * bend)
        left -= length
    return float(value + left * min(slope + length * bend, 0.0))


@inner
def follow_path(
    data: Data, vectors: Vectors, margin: Margin, bias: float, value: float, goal: Goal, below: float, limit: int,
    step: Step,
) -> tuple[int, Margin, float, float, int]:  # fmt: skip
    """Follow a path until it ends, its bound on the final objective is under `below`, or `limit` breakpoints pass.

    `value` is the objective if an example is removed, or the remaining share of the path if the linear term moves.
    Returns the status, margin set, bias, value and number of breakpoints left.
    """
    alpha, gradient, example, left = vectors.alpha, vectors.gradient, goal.example, value
    degenerate = 0
    while True:
        if example >= 0:
            left = alpha[example] - goal.target
            if left <= 0.0:
                return ARRIVED, margin, bias, value, limit
            if value + left * min(gradient[example], 0.0) < below:
                return PAUSED, margin, bias, value, limit
        slides = margin.size == 0 and example >= 0
        if step.kind == UNKNOWN:
            step = next_step(data, vectors, margin, goal, left)
        direction, length, kind, index = step
        # Exact ties cannot cycle; ties that rounding has disordered can, and then no step has any length.
        degenerate = degenerate + 1 if example >= 0 and left - length == left else 0
        if limit <= 0 or length == np.inf or degenerate > MOST_DEGENERATE + 2 * margin.size:
            return STUCK, margin, bias, value, limit
        if kind == ENTERS and len(data.places) and data.places[index] < 0:
            return MISSING - index, margin, bias, value if example >= 0 else left, limit
        limit -= 1
        left -= length
        bias += length * direction.bias
        for p in range(margin.size):
            alpha[margin.examples[p]] += length * direction.margin[p]
        if example >= 0 and not slides:
            value += length * (gradient[example] + 0.5 * length * direction.gradient[example])
            alpha[example] = goal.target if kind == END else alpha[example] - length
        for i in range(len(gradient)):
            gradient[i] += length * direction.gradient[i]
        if kind == END and example < 0:
            return ARRIVED, margin, bias, value, limit
        remaining = left if example < 0 and left <= goal.target else np.inf
        done, margin = apply_breakpoint(data, vectors, margin, direction, kind, index, remaining)
        if not done:
            return STUCK, margin, bias, value, limit
        step = Step(direction, 0.0, UNKNOWN, -1)


@inner
def raise_alpha(
    data: Data, vectors: Vectors, margin: Margin, bias: float, value: float, goal: Goal, above: float, limit: int
) -> tuple[int, Margin, float, float, int]:
    """Raise an example's alpha until its gradient is 0, the objective exceeds `above`, or `limit` breakpoints pass.

    The objective, `value`, never falls, so it is a lower bound on the final one. Returns the same as `follow_path`.
    """
    alpha, gradient, example, degenerate = vectors.alpha, vectors.gradient, goal.example, 0
    while gradient[example] < 0.0:
        if value > above:
            return PAUSED, margin, bias, value, limit
        slides, direction = margin.size == 0, search_direction(data, margin, goal)
        rate, missing = direction.gradient[example], -gradient[example]
        left = missing / rate if rate > direction.least_rate else np.inf
        length, kind, index = first_breakpoint(data, vectors, margin, direction, left, False)
        before = -missing if slides else alpha[example]
        degenerate = degenerate + 1 if before + length == before else 0
        if limit <= 0 or length == np.inf or degenerate > MOST_DEGENERATE + 2 * margin.size:
            return STUCK, margin, bias, value, limit
        limit -= 1
        bias += length * direction.bias
        for p in range(margin.size):
            alpha[margin.examples[p]] += length * direction.margin[p]
        if not slides:
            value += length * (missing - 0.5 * length * rate)
            alpha[example] += length
        for i in range(len(gradient)):
            gradient[i] += length * direction.gradient[i]
        if kind == END:
            gradient[example] = 0.0
        done, margin = apply_breakpoint(data, vectors, margin, direction, kind, index, np.inf)
        if not done:
            return STUCK, margin, bias, value, limit
    return ARRIVED, margin, bias, value, limit


def add_precisely(high: Numbers, low: Numbers, weight: float, value: Numbers) -> tuple[Numbers, Numbers]:
    """Return ``high + low + weight * value`` in doubled precision, as a new pair (high, low)."""
    weight_head = SPLITTER * weight
    weight_head -= weight_head - weight
    head = SPLITTER * value
    head -= head - value
    product = weight * value
    cut = weight_head * head - product
    cut += weight_head * (value - head) + (weight - weight_head) * head
    cut += (weight - weight_head) * (value - head)
    total = high + product
    kept = total - high
    return total, low + (cut + ((high - (total - kept)) + (product - kept)))


add_product = leaf(add_precisely)


@leaf
def add_rows_precisely(data: Data, rows: IntArray, weights: FloatArray, high: FloatArray, low: FloatArray) -> None:
    """Add a weighted sum of rows of the table to ``high + low``, a vector in doubled precision, in place."""
    table, places = data.table, data.places
    values, columns, starts = data.nonzeros
    for p in range(len(weights)):
        i, weight = rows[p], weights[p]
        if len(starts) == 0:
            place = places[i] if len(places) else i
            for k in range(len(high)):
                high[k], low[k] = add_product(high[k], low[k], weight, table[place, k])
        else:
            for k in range(starts[i], starts[i + 1]):
                column = columns[k]
                high[column], low[column] = add_product(high[column], low[column], weight, values[k])


@inner
def plane_of(data: Data, alpha: FloatArray, precisely: bool) -> FloatArray:
    """Return the sum of the table's rows, weighted by alpha: the weight vector, or ``Q alpha`` if the table is Q."""
    count, rows, weights, known = 0, np.empty(2 * len(alpha), np.int64), np.empty(2 * len(alpha)), data.anchor.alpha
    for i in range(len(alpha)):
        there = known[i] if len(known) else 0.0
        if alpha[i] != there:  # two products: their difference would lose digits that a sum of both keeps
            rows[count], weights[count] = i, alpha[i]
            count += 1
            if there != 0.0:
                rows[count], weights[count] = i, -there
                count += 1
    high, low = np.zeros(data.table.shape[1]), np.zeros(data.table.shape[1])
    for k in range(len(data.anchor.high)):
        high[k], low[k] = data.anchor.high[k], data.anchor.low[k]
    if precisely or len(data.places):  # so that all digits are the same, whichever the anchor
        add_rows_precisely(data, rows, weights[:count], high, low)
    else:
        add_rows(data, rows, weights[:count], high)
    for k in range(len(high)):
        high[k] += low[k]
    return high


@inner
def refine(data: Data, vectors: Vectors, margin: Margin, bias: float, precisely: bool) -> float:
    """Correct alpha of the margin set in place by iterative refinement, and return the corrected bias."""
    alpha, linear, y, m, examples = vectors.alpha, vectors.linear, data.y, margin.size, margin.examples
    plane = plane_of(data, alpha, precisely)
    for _ in range(REFINEMENTS):
        residual = np.empty(m + 1)
        residual[0] = -dot(y, alpha)
        reaches = plane if data.is_matrix else products(data, examples, m, plane)
        for p in range(m):
            i = examples[p]
            reached = reaches[i] if data.is_matrix else reaches[p] + data.ridge * alpha[i]
            residual[p + 1] = linear[i] - reached - bias * y[i]
        correction = times_inverse(margin, residual)
        bias += correction[0]
        for p in range(m):
            alpha[examples[p]] += correction[p + 1]
        if precisely:
            plane = plane_of(data, alpha, precisely)
        else:
            add_rows(data, examples, correction[1:], plane)
    for p in range(m):
        alpha[examples[p]] = min(max(alpha[examples[p]], 0.0), vectors.upper[examples[p]])
    return bias


@inner
def recompute(data: Data, vectors: Vectors, margin: Margin, bias: float) -> tuple[float, float]:
    """Recompute alpha of the margin set, bias and gradient, exact to rounding; return bias and objective.

    All other alpha stay on their bounds.
    """
    alpha, linear = vectors.alpha, vectors.linear
    precisely = vectors.gradient_tolerance * absolute_sum(vectors.upper) > PRECISE * abs(dot(linear, alpha))
    if margin.size > 0:
        bias = refine(data, vectors, margin, bias, precisely)
    plane, value = plane_of(data, alpha, precisely), 0.0
    reaches = plane if data.is_matrix else table_product(data, plane)
    for i in range(len(alpha)):
        product = reaches[i] + data.ridge * alpha[i]  # a matrix contains its ridge: data.ridge is 0
        vectors.gradient[i] = product + data.y[i] * bias - linear[i]
        value += alpha[i] * (linear[i] - 0.5 * product)
    for i in margin.examples[: margin.size]:
        vectors.gradient[i] = 0.0
    return bias, value


@leaf
def is_rigid(vectors: Vectors, margin: Margin) -> bool:
    """Tell whether some example of the margin set has its alpha on a bound, so that `exchange` could move nothing."""
    for p in range(margin.size):
        i = margin.examples[p]
        if min(vectors.alpha[i], vectors.upper[i] - vectors.alpha[i]) <= TIED * vectors.alpha_tolerance:
            return True
    return False


@inner
def is_canonical(data: Data, vectors: Vectors, margin: Margin) -> bool:
    """Tell whether alpha is the canonical one of several optima, that of least ``weights'alpha``.

    Alpha is canonical unless an example whose gradient is 0 to rounding would join the margin set if the linear term p
    became ``p - eps * weights``. A path stays canonical while it recognises ties; where rounding changes their order,
    it may arrive at another optimum. Only examples in the affine hull of the margin set can take a member's place, and
    none can if alpha of a member is on a bound.
    """
    side, gradient, close = vectors.side, vectors.gradient, TIED * vectors.gradient_tolerance
    tie, plane = np.empty(0), np.empty(0)
    for i in range(len(side)):
        if side[i] == 0.0 or abs(gradient[i]) > close:
            continue
        if len(tie) == 0:
            if is_rigid(vectors, margin):
                return True
            tie, plane = tie_answer(data, margin)
        if side[i] * tie_gradient(data, tie, plane, i) < -TIED_RATE:
            edge = border(data, margin, i)
            if data.diagonal[i] - dot(edge, times_inverse(margin, edge)) <= DEPENDENCE * data.diagonal[i]:
                return False
    return True


@inner
def perform_task(
    task: int, data: Data, vectors: Vectors, margin: Margin, bias: float, value: float, goal: Goal, below: float,
    limit: int,
) -> Result:  # fmt: skip
    """Carry out a task (START, FOLLOW, RECOMPUTE or RAISE) and return the fields of `TaskResult`.

    START begins to lower an example's alpha unless the first bound is under `below`, FOLLOW continues a path, RECOMPUTE
    removes rounding errors, and RAISE raises an example's alpha.
    """
    status, bound, example = ARRIVED, value, goal.example
    upper, alpha, gradient, side = vectors.upper, vectors.alpha, vectors.gradient, vectors.side
    step = Step(Direction(0.0, NOWHERE.shift, NOWHERE.shift, 0.0, 0.0), 0.0, UNKNOWN, -1)
    if task == START:
        was = side[example]
        margin = release(vectors, copy_margin(margin), example)
        step = next_step(data, vectors, margin, goal, alpha[example] - goal.target)
        side[example] = was  # the state stays as it was: the path moves a copy
        bound = bound_after(vectors, margin, value, goal, step)
        status = ARRIVED if bound >= below else NOT_STARTED
    if task == RAISE:
        margin = copy_margin(margin)
    if task in (START, RAISE) and status != NOT_STARTED:
        upper, alpha, gradient, side = upper.copy(), alpha.copy(), gradient.copy(), side.copy()
    own = Vectors(upper, vectors.linear, alpha, gradient, side, vectors.gradient_tolerance, vectors.alpha_tolerance)
    if task == RAISE:
        status, margin, bias, value, limit = raise_alpha(data, own, margin, bias, value, goal, below, limit)
    elif task != RECOMPUTE and status != NOT_STARTED:
        if example >= 0:
            margin = release(own, margin, example)
        status, margin, bias, value, limit = follow_path(data, own, margin, bias, value, goal, below, limit, step)
        if example >= 0 and status == ARRIVED:
            alpha[example] = upper[example] = goal.target
            side[example] = -1.0 if goal.target > 0.0 else 0.0
            task = RECOMPUTE
    if task == RECOMPUTE:
        bias, value = recompute(data, own, margin, bias)
        if example >= 0 and not is_canonical(data, own, margin):
            status = DISORDERED
    return (
        status, bound, upper, alpha, gradient, side, margin.examples, margin.size, margin.inverse, bias, value, limit
    )  # fmt: skip


@entry()
def run(
    task: int, table: FloatArray, places: IntArray, known: FloatArray, high: FloatArray, low: FloatArray,
    values: FloatArray, columns: Places, starts: Places, is_matrix: bool, ridge: float, longest: float,
    diagonal: FloatArray, y: FloatArray, weights: FloatArray, upper: FloatArray, linear: FloatArray, alpha: FloatArray,
    gradient: FloatArray, side: FloatArray, gradient_tolerance: float, alpha_tolerance: float, examples: IntArray,
    size: int, inverse: FloatArray, bias: float, value: float, example: int, target: float, shift: FloatArray,
    below: float, limit: int,
) -> Result:  # fmt: skip
    """Carry out a task (see `perform_task`); the only compiled function of this file that Python calls.

    Arguments are passed flat, since dispatching on nested tuples would take longer than many tasks.
    """
    anchor, nonzeros = Anchor(known, high, low), Nonzeros(values, columns, starts)
    data = Data(table, places, anchor, nonzeros, is_matrix, ridge, longest, diagonal, y, weights)
    vectors = Vectors(upper, linear, alpha, gradient, side, gradient_tolerance, alpha_tolerance)
    goal = Goal(example, target, shift)
    return perform_task(task, data, vectors, Margin(examples, size, inverse), bias, value, goal, below, limit)


def perform(
    task: int, data: Data, vectors: Vectors, margin: Margin, bias: float, value: float, goal: Goal, below: float,
    limit: int,
) -> TaskResult:  # fmt: skip
    """Call the compiled `run` with grouped arguments, and return its result as a `TaskResult`.

    START and RAISE work on a copy of the active set, FOLLOW and RECOMPUTE in place. `follow_path` explains `value`,
    `below` and `limit`.
    """
    return TaskResult(*run(
        task, data.table, data.places, *data.anchor, *data.nonzeros, data.is_matrix, data.ridge, data.longest,
        data.diagonal, data.y, data.weights, *vectors[:5], vectors.gradient_tolerance, vectors.alpha_tolerance,
        *margin, bias, value, *goal, below, limit,
    ))  # fmt: skip
