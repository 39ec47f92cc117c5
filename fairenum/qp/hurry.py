"""Walks across a row in a hurry, compiled: those of `fairenum.qp.raising` for a linear kernel, at a third of the cost.

Many rows ask for many walks, and none of them needs to be canonical or exact: what comes out is judged by weak duality.
So ties are set apart by a trifle in the linear term, systems are not refined at every breakpoint, and only examples
near the margin are looked at. All others are looked at now and then, when those near it have moved by a part of their
distance; if one has passed the margin unseen, the walk goes back to where it looked before, and looks farther. A walk
that has lost its way says so, and is walked again without haste.

Compiled files share nothing (`fairenum.qp.kernel` has the like): numba looks for changes in one file alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairenum.compiling import entry, in_any_order, inner
from fairenum.problem import FloatArray, IntArray
from fairenum.qp.tables import Nonzeros

ARRIVED, PAUSED, LOST = 0, 1, 2
LEAST_RATE, DEPENDENCE, PIVOT = 1e-12, 1e-9, 1e-7
MOST_DEGENERATE = 30  # steps of length 0, after which a walk goes in circles
PART = 1.0  # of the distance of those that are not looked at
WIDER = 3.0  # times the distance, once an example has passed the margin unseen
PASSED = 1e-7  # of the margin, by which it may
BIAS, MISSING, VALUE, WEIGHT = 0, 1, 2, 3  # numbers of a walk


class Rows(NamedTuple):
    """What never moves: signed features, labels, box, linear term, the same with ties set apart, squared lengths.

    The longer an example, the more it moves when the plane does; `pace` makes distances from the margin comparable.
    """

    table: FloatArray
    nonzeros: Nonzeros
    y: FloatArray
    upper: FloatArray
    linear: FloatArray
    apart: FloatArray
    squares: FloatArray
    pace: FloatArray


class State(NamedTuple):
    """What moves, in place.

    Attributes
    ----------
    numbers
        The bias, what the row misses of its margin, the value of the dual, the weight of the row.
    size
        Of the margin set: one number.
    examples, inverse, edge
        The margin set, the inverse of its bordered matrix, and the border of the row; with room for more.
    """

    alpha: FloatArray
    gradient: FloatArray
    side: FloatArray
    plane: FloatArray
    numbers: FloatArray
    size: IntArray
    examples: IntArray
    inverse: FloatArray
    edge: FloatArray


class Pulled(NamedTuple):
    """A row times its side, the value that is high enough, and what is near the margin."""

    row: FloatArray
    side: float
    above: float
    near: float


# interior.py has the same: compiled files share nothing, as it says there.
@in_any_order
def dot(left: FloatArray, right: FloatArray, size: int) -> float:
    """Return the inner product of the first numbers of two vectors."""
    total = 0.0
    for k in range(size):
        total += left[k] * right[k]
    return float(total)


@in_any_order
def reached_on(table: FloatArray, some: IntArray, size: int, plane: FloatArray, result: FloatArray) -> None:
    """Write what some examples reach on a plane, of a table with all its zeros."""
    for p in range(size):
        i, total = some[p], 0.0
        for k in range(len(plane)):
            total += table[i, k] * plane[k]
        result[p] = total


@inner
def reached(rows: Rows, some: IntArray, size: int, plane: FloatArray, result: FloatArray) -> None:
    """Write what some examples reach on a plane; rows without their zeros are too short to be summed in any order."""
    values, columns, starts = rows.nonzeros
    if len(starts) == 0:
        reached_on(rows.table, some, size, plane, result)
        return
    for p in range(size):
        i, total = some[p], 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * plane[columns[k]]
        result[p] = total


@in_any_order
def add_rows(rows: Rows, some: IntArray, weights: FloatArray, size: int, plane: FloatArray) -> None:
    """Add some signed features, weighted, to a plane."""
    table, (values, columns, starts), width = rows.table, rows.nonzeros, len(plane)
    for p in range(size):
        i, weight = some[p], weights[p]
        if len(starts) == 0:
            for k in range(width):
                plane[k] += weight * table[i, k]
        else:
            for k in range(starts[i], starts[i + 1]):
                plane[columns[k]] += weight * values[k]


@in_any_order
def applied(state: State, right: FloatArray, sign: float, result: FloatArray) -> None:
    """Write the inverse of the bordered matrix times a vector."""
    inverse, size = state.inverse, state.size[0] + 1
    for p in range(size):
        total = 0.0
        for q in range(size):
            total += inverse[p, q] * right[q]
        result[p] = sign * total


@inner
def put_on_bound(rows: Rows, state: State, i: int, falls: bool) -> None:
    """Put an example on the bound that it has reached."""
    state.side[i] = 1.0 if falls else -1.0
    state.alpha[i] = 0.0 if falls else rows.upper[i]
    state.gradient[i] = 0.0


@in_any_order
def add_square(inverse: FloatArray, line: FloatArray, share: float, size: int) -> None:
    """Add the square of a vector to a matrix, as a share of it."""
    for p in range(size):
        weight = share * line[p]
        for q in range(size):
            inverse[p, q] += weight * line[q]


@inner
def entered(rows: Rows, state: State, i: int, row: FloatArray, hull: FloatArray) -> bool:
    """Put an example on the margin; False if it is in the affine hull of those there: how is written."""
    size, inverse, own = state.size[0], state.inverse, np.zeros(len(row))
    one, weight, border = np.empty(1, np.int64), np.ones(1), np.empty(size + 1)
    one[0] = i
    add_rows(rows, one, weight, 1, own)
    border[0] = rows.y[i]
    reached(rows, state.examples, size, own, border[1:])
    applied(state, border, 1.0, hull)
    pivot = rows.squares[i] - dot(border, hull, size + 1)
    if pivot <= DEPENDENCE * rows.squares[i] or size + 2 > len(inverse):
        return False
    add_square(inverse, hull, 1.0 / pivot, size + 1)
    for p in range(size + 1):
        inverse[p, size + 1] = inverse[size + 1, p] = -hull[p] / pivot
    inverse[size + 1, size + 1] = 1.0 / pivot
    state.examples[size], state.edge[size + 1] = i, dot(own, row, len(row))
    state.side[i], state.size[0] = 0.0, size + 1
    return True


@inner
def left(state: State, position: int) -> None:
    """Take the example at a position off the margin; the last one takes its place."""
    k, inverse, size = position + 1, state.inverse, state.size[0]
    if size > 1:  # of nobody there is no inverse, and the walk ends
        gone = inverse[k, : size + 1].copy()
        add_square(inverse, gone, -1.0 / gone[k], size + 1)
    for p in range(size + 1):
        inverse[k, p] = inverse[size, p]
    for p in range(size + 1):
        inverse[p, k] = inverse[p, size]
    state.examples[position], state.edge[k] = state.examples[size - 1], state.edge[size]
    state.size[0] = size - 1


@inner
def exchanged(rows: Rows, state: State, i: int, hull: FloatArray) -> int:
    """Move along the affine hull, in which the plane stays, until one on the margin reaches a bound: its position.

    It is the size of the margin set if the newcomer reaches its own other bound before.
    """
    alpha, examples, upper, toward, size = state.alpha, state.examples, rows.upper, state.side[i], state.size[0]
    length, position = upper[i], size
    for p in range(size):
        k, speed = examples[p], -toward * hull[p + 1]
        distance = max(alpha[k] if speed < 0.0 else upper[k] - alpha[k], 0.0)
        if abs(speed) > PIVOT and distance < length * abs(speed):
            length, position = distance / abs(speed), p
    for p in range(size):
        alpha[examples[p]] -= toward * length * hull[p + 1]
    alpha[i] += toward * length
    return int(position)


@inner
def admitted(rows: Rows, state: State, i: int, row: FloatArray, hull: FloatArray) -> bool:
    """Put an example on the margin, in exchange for another if need be; False if rounding forbids it."""
    state.gradient[i] = 0.0
    if entered(rows, state, i, row, hull):
        return True
    toward, position = state.side[i], exchanged(rows, state, i, hull)
    if position == state.size[0]:
        put_on_bound(rows, state, i, toward < 0.0)
        return True
    put_on_bound(rows, state, state.examples[position], toward * hull[position + 1] > 0.0)
    left(state, position)
    return state.size[0] > 0 and entered(rows, state, i, row, hull)


@inner
def settled(rows: Rows, state: State, linear: FloatArray) -> None:
    """Put the margin right for a linear term."""
    examples, size, numbers, alpha, y = state.examples, state.size[0], state.numbers, state.alpha, rows.y
    right, answer = np.zeros(size + 1), np.empty(size + 1)
    reached(rows, examples, size, state.plane, right[1:])
    for p in range(size):
        i = examples[p]
        right[p + 1] = linear[i] - right[p + 1] - y[i] * numbers[BIAS]
    applied(state, right, 1.0, answer)
    for p in range(size):
        alpha[examples[p]] += answer[p + 1]
    add_rows(rows, examples, answer[1:], size, state.plane)
    numbers[BIAS] += answer[0]


@inner
def looked(rows: Rows, state: State, near: float, every: IntArray, close: IntArray) -> int:
    """Look at all examples; return how many are near the margin, which are written, or -1 if one has passed it."""
    count, gradient, side, bias = 0, state.gradient, state.side, state.numbers[BIAS]
    y, apart, pace = rows.y, rows.apart, rows.pace
    reached(rows, every, len(every), state.plane, gradient)
    for i in range(len(every)):
        gradient[i] += y[i] * bias - apart[i]
        if side[i] * gradient[i] < -PASSED:
            return -1
        if abs(gradient[i]) <= near * pace[i]:
            close[count] = i
            count += 1
    return count


@inner
def kept(source: State, target: State) -> None:
    """Copy a state."""
    size = source.size[0] + 1
    target.alpha[:], target.side[:], target.plane[:] = source.alpha, source.side, source.plane
    target.numbers[:], target.size[:], target.edge[:] = source.numbers, source.size, source.edge
    target.examples[:] = source.examples
    target.inverse[:size, :size] = source.inverse[:size, :size]


@inner
def first_breakpoint(
    rows: Rows, state: State, close: IntArray, count: int, speeds: FloatArray, rates: FloatArray, rate: float
) -> tuple[float, int]:
    """Return the length of the step, and who ends it: an example that enters, n + the position of one that leaves, -1.

    The last says that the row is content.
    """
    n, side, gradient, alpha, upper = len(state.side), state.side, state.gradient, state.alpha, rows.upper
    y, examples, bias_rate = rows.y, state.examples, rates[0]
    length, kind = state.numbers[MISSING] / rate if rate > 0.0 else np.inf, -1
    for c in range(count):
        i = close[c]
        speeds[c] += y[i] * bias_rate
        speed = -side[i] * speeds[c]
        if speed > 0.0 and side[i] * gradient[i] < length * speed:
            length, kind = max(side[i] * gradient[i], 0.0) / speed, i
    for p in range(state.size[0]):
        i, speed = examples[p], rates[p + 1]
        distance = alpha[i] if speed < 0.0 else upper[i] - alpha[i]
        if abs(speed) > LEAST_RATE and distance < length * abs(speed):
            length, kind = max(distance, 0.0) / abs(speed), n + p
    return length, kind


@inner
def moved(
    rows: Rows, state: State, close: IntArray, count: int, speeds: FloatArray, rates: FloatArray, push: FloatArray,
    length: float,
) -> float:  # fmt: skip
    """Take a step, in place; return by how much the fastest example near the margin has moved."""
    alpha, gradient, plane, pace, fastest = state.alpha, state.gradient, state.plane, rows.pace, 0.0
    examples = state.examples
    for p in range(state.size[0]):
        alpha[examples[p]] += length * rates[p + 1]
    for k in range(len(plane)):
        plane[k] += length * push[k]
    for c in range(count):
        i = close[c]
        gradient[i] += length * speeds[c]
        fastest = max(fastest, abs(speeds[c]) / pace[i])
    state.numbers[BIAS] += length * rates[0]
    return length * fastest


@inner
def stepped(
    rows: Rows, state: State, pulled: Pulled, close: IntArray, count: int, speeds: FloatArray
) -> tuple[float, bool]:
    """Go on to the next breakpoint; return by how much the fastest has moved, and whether all is well."""
    row, numbers, width, size = pulled.row, state.numbers, len(pulled.row), state.size[0]
    rates, push = np.empty(len(state.edge)), row.copy()
    applied(state, state.edge, -1.0, rates)
    add_rows(rows, state.examples, rates[1:], size, push)
    reached(rows, close, count, push, speeds)
    rate = dot(row, push, width) + pulled.side * rates[0]
    rate = rate if rate > LEAST_RATE * dot(row, row, width) else 0.0
    length, kind = first_breakpoint(rows, state, close, count, speeds, rates, rate)
    if length == np.inf:
        return 0.0, False
    numbers[VALUE] += length * (numbers[MISSING] - 0.5 * length * rate)
    numbers[WEIGHT] += length
    numbers[MISSING] = 0.0 if kind < 0 else numbers[MISSING] - length * rate
    distance, n = moved(rows, state, close, count, speeds, rates, push, length), len(state.side)
    if kind >= n:
        put_on_bound(rows, state, state.examples[kind - n], rates[kind - n + 1] < 0.0)
        left(state, kind - n)
    elif kind >= 0:
        return distance, admitted(rows, state, kind, row, rates)
    return distance, True


@inner
def looked_around(
    rows: Rows, state: State, spare: State, pulled: Pulled, reach: float, every: IntArray, close: IntArray
) -> tuple[int, float]:
    """Look at all examples, and go back to where that was done before if one has passed the margin unseen.

    Returns how many are near the margin (-1 if rounding led the walk astray), and how far to look the next time.
    """
    settled(rows, state, rows.apart)
    count = looked(rows, state, reach, every, close)
    if count >= 0:
        kept(state, spare)
        return count, max(pulled.near, reach / WIDER)
    kept(spare, state)
    reach *= WIDER
    return looked(rows, state, reach, every, close), reach


@entry()
def walk(rows: Rows, state: State, spare: State, pulled: Pulled, limit: int) -> tuple[int, int]:
    """Raise the weight of a row until it is content, in place; return the status, and what is left of the limit."""
    n, numbers, reach, distance, degenerate, count = len(state.alpha), state.numbers, pulled.near, np.inf, 0, 0
    every, close, speeds = np.arange(n), np.empty(n, np.int64), np.empty(n)
    reached(rows, state.examples, state.size[0], pulled.row, state.edge[1:])
    state.edge[0] = pulled.side
    kept(state, spare)
    while state.size[0] > 0 and limit > 0 and degenerate <= MOST_DEGENERATE:
        if distance > PART * pulled.near:
            count, reach = looked_around(rows, state, spare, pulled, reach, every, close)
            distance = 0.0
            if count < 0:
                break
        if numbers[MISSING] <= 0.0 or numbers[VALUE] > pulled.above:
            settled(rows, state, rows.linear)
            return ARRIVED if numbers[MISSING] <= 0.0 else PAUSED, limit
        before = numbers[WEIGHT]
        further, is_well = stepped(rows, state, pulled, close, count, speeds)
        if not is_well:
            break
        degenerate = degenerate + 1 if numbers[WEIGHT] == before else 0
        distance = np.inf if numbers[MISSING] <= 0.0 else distance + further
        limit -= 1
    return LOST, limit
