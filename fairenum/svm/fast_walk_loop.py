"""Compiled fast walk across a row, for linear kernels: a third of the cost of the exact walk in `fairenum.svm.walks`.

Many rows need a walk, and none of the answers has to be canonical or exact, since weak duality judges them. So ties are
broken by a tiny perturbation of the linear term, systems are not refined at every breakpoint, and only examples near
the margin are checked at each step. All examples are checked whenever those near the margin have moved by a part of
their distance. If one has passed the margin unseen, the walk returns to its last full check and widens its view. A walk
that loses its way reports so, and the exact walk replaces it.

Compiled files share no code: numba looks for changes in one file alone.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from fairenum.runtime import compiling
from fairenum.svm.loop_rows import Nonzeros
from fairenum.svm.problem import FloatArray, IntArray

inner = partial(compiling.inner, allocates=False)
in_any_order = partial(compiling.in_any_order, allocates=False)


ARRIVED, PAUSED, LOST = 0, 1, 2


LEAST_RATE, DEPENDENCE, PIVOT = 1e-12, 1e-9, 1e-7


MOST_DEGENERATE = 30  # steps of length 0 after which a walk is taken to cycle
PART = 1.0  # of the distance of examples that are not looked at: check all after such a move
WIDER = 3.0  # times the distance, once an example has passed the margin unseen
PASSED = 1e-7  # of the margin: an example this far past it counts as having passed


BIAS, MISSING, VALUE, WEIGHT = 0, 1, 2, 3  # numbers of a walk


class Rows(NamedTuple):
    """Constant data of a walk: signed features, labels, box, linear term (plain and with ties broken), squared lengths.

    `pace` makes distances from the margin comparable: the longer an example, the more it moves with the plane.
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
    """Everything that a walk changes in place.

    ``numbers`` holds the bias, what the row misses of its margin, the dual value and the weight of the row; ``size``
    the size of the margin set. ``examples``, ``inverse``, ``edge`` and ``rates`` are the margin set, the inverse of its
    bordered matrix, the border of the row, and the speed of the bias and the margin set as the weight of the row rises,
    ``-inverse @ edge``; all four have spare room.
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
    rates: FloatArray


class Close(NamedTuple):
    """The examples near the margin, stored contiguously because every breakpoint goes through them.

    ``every`` lists all examples, ``places`` the indices of the near ones, ``spots`` each example's position among the
    near ones. The rest has one number per near example; ``slowness`` is 1 / pace.
    """

    every: IntArray
    places: IntArray
    spots: IntArray
    y: FloatArray
    slowness: FloatArray
    side: FloatArray
    gradient: FloatArray
    speeds: FloatArray


class Room(NamedTuple):
    """Scratch vectors, so that the loop allocates nothing.

    ``push`` is the change of the plane, ``own`` the features of one example. ``border``, ``hull`` and ``gone`` are one
    example's border, its coefficients in the affine hull of the margin set, and its line of the inverse.
    """

    push: FloatArray
    own: FloatArray
    border: FloatArray
    hull: FloatArray
    gone: FloatArray


class Pulled(NamedTuple):
    """The task of a walk: a signed row, its side, the value that suffices, and the distance that counts as near."""

    row: FloatArray
    side: float
    above: float
    near: float


# interior.py has its own copy: compiled files share no code.
@in_any_order
def dot(left: FloatArray, right: FloatArray, size: int) -> float:
    """Return the inner product of the first `size` numbers of two vectors."""
    total = 0.0
    for k in range(size):
        total += left[k] * right[k]
    return float(total)


@in_any_order
def reached_on(table: FloatArray, some: IntArray, size: int, plane: FloatArray, result: FloatArray) -> None:
    """Write the inner products of some rows of a dense table with a plane."""
    for p in range(size):
        i, total = some[p], 0.0
        for k in range(len(plane)):
            total += table[i, k] * plane[k]
        result[p] = total


@inner
def reached(rows: Rows, some: IntArray, size: int, plane: FloatArray, result: FloatArray) -> None:
    """Write the inner products of some examples with a plane; sparse rows are too short to gain from reordered sums."""
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
    """Add a weighted sum of signed features to a plane."""
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
def applied(inverse: FloatArray, size: int, right: FloatArray, sign: float, result: FloatArray) -> None:
    """Write a signed product of a matrix's leading block and a vector."""
    for p in range(size):
        total = 0.0
        for q in range(size):
            total += inverse[p, q] * right[q]
        result[p] = sign * total


@inner
def put_on_bound(rows: Rows, state: State, close: Close, i: int, falls: bool) -> None:
    """Put an example on the bound it has reached."""
    state.side[i] = close.side[close.spots[i]] = 1.0 if falls else -1.0
    state.alpha[i] = 0.0 if falls else rows.upper[i]
    close.gradient[close.spots[i]] = 0.0


@in_any_order
def add_square(inverse: FloatArray, line: FloatArray, share: float, size: int) -> None:
    """Add ``share * line line'`` to the leading block of a matrix."""
    for p in range(size):
        weight = share * line[p]
        for q in range(size):
            inverse[p, q] += weight * line[q]


@inner
def write_row(rows: Rows, i: int, result: FloatArray) -> None:
    """Write the signed features of an example."""
    table, (values, columns, starts) = rows.table, rows.nonzeros
    for k in range(len(result)):
        result[k] = table[i, k] if len(starts) == 0 else 0.0
    if len(starts) > 0:
        for k in range(starts[i], starts[i + 1]):
            result[columns[k]] = values[k]


@inner
def entered(rows: Rows, state: State, close: Close, room: Room, i: int, row: FloatArray) -> bool:
    """Put an example on the margin; False if it lies in the margin set's affine hull (see ``room.hull``)."""
    size, inverse, rates, edge, border, hull = (
        state.size[0], state.inverse, state.rates, state.edge, room.border, room.hull
    )  # fmt: skip
    write_row(rows, i, room.own)
    border[0] = rows.y[i]
    reached(rows, state.examples, size, room.own, border[1:])
    applied(inverse, size + 1, border, 1.0, hull)
    pivot = rows.squares[i] - dot(border, hull, size + 1)
    if pivot <= DEPENDENCE * rows.squares[i] or size + 2 > len(inverse):
        return False
    add_square(inverse, hull, 1.0 / pivot, size + 1)
    for p in range(size + 1):
        inverse[p, size + 1] = inverse[size + 1, p] = -hull[p] / pivot
    inverse[size + 1, size + 1] = 1.0 / pivot
    state.examples[size], edge[size + 1] = i, dot(room.own, row, len(row))
    rates[size + 1] = (dot(hull, edge, size + 1) - edge[size + 1]) / pivot
    for p in range(size + 1):
        rates[p] -= rates[size + 1] * hull[p]
    state.side[i] = close.side[close.spots[i]] = 0.0
    state.size[0] = size + 1
    return True


@inner
def left(state: State, room: Room, position: int) -> None:
    """Take the example at a position off the margin; the last one takes its place."""
    k, inverse, rates, size, gone = position + 1, state.inverse, state.rates, state.size[0], room.gone
    if size > 1:  # an empty margin set has no inverse, and the walk ends
        for p in range(size + 1):
            gone[p] = inverse[k, p]
        add_square(inverse, gone, -1.0 / gone[k], size + 1)
        share = rates[k] / gone[k]
        for p in range(size + 1):
            rates[p] -= share * gone[p]
    for p in range(size + 1):
        inverse[k, p] = inverse[size, p]
    for p in range(size + 1):
        inverse[p, k] = inverse[p, size]
    state.examples[position], state.edge[k], rates[k] = state.examples[size - 1], state.edge[size], rates[size]
    state.size[0] = size - 1


@inner
def exchanged(rows: Rows, state: State, i: int, hull: FloatArray) -> int:
    """Trade weight along the affine hull until a bound is reached; return the position, or size if it is example i."""
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
def admitted(rows: Rows, state: State, close: Close, room: Room, i: int, row: FloatArray) -> bool:
    """Put an example on the margin, in exchange for another if necessary; False if rounding prevents it."""
    close.gradient[close.spots[i]] = 0.0
    if entered(rows, state, close, room, i, row):
        return True
    toward, position = state.side[i], exchanged(rows, state, i, room.hull)
    if position == state.size[0]:
        put_on_bound(rows, state, close, i, toward < 0.0)
        return True
    put_on_bound(rows, state, close, state.examples[position], toward * room.hull[position + 1] > 0.0)
    left(state, room, position)
    return state.size[0] > 0 and entered(rows, state, close, room, i, row)


@inner
def settled(rows: Rows, state: State, room: Room, linear: FloatArray) -> None:
    """Correct alpha of the margin set, plane and bias for a linear term."""
    examples, size, numbers, alpha, y = state.examples, state.size[0], state.numbers, state.alpha, rows.y
    short, answer = room.border, room.hull
    reached(rows, examples, size, state.plane, short[1:])
    short[0] = 0.0
    for p in range(size):
        i = examples[p]
        short[p + 1] = linear[i] - short[p + 1] - y[i] * numbers[BIAS]
    applied(state.inverse, size + 1, short, 1.0, answer)
    for p in range(size):
        alpha[examples[p]] += answer[p + 1]
    add_rows(rows, examples, answer[1:], size, state.plane)
    numbers[BIAS] += answer[0]


@inner
def looked(rows: Rows, state: State, near: float, close: Close) -> int:
    """Check all examples and collect those near the margin; return their number, or -1 if one has passed the margin."""
    count, gradient, side, bias, n = 0, state.gradient, state.side, state.numbers[BIAS], len(state.side)
    y, apart, pace = rows.y, rows.apart, rows.pace
    reached(rows, close.every, n, state.plane, gradient)
    for i in range(n):
        gradient[i] += y[i] * bias - apart[i]
        if side[i] * gradient[i] < -PASSED:
            return -1
        if side[i] == 0.0 or abs(gradient[i]) <= near * pace[i]:
            close.places[count], close.spots[i] = i, count
            close.y[count], close.slowness[count] = y[i], 1.0 / pace[i]
            close.side[count], close.gradient[count] = side[i], gradient[i]
            count += 1
    return count


@inner
def copy(source: FloatArray | IntArray, target: FloatArray | IntArray, size: int) -> None:
    """Copy the first `size` numbers of a vector."""
    for k in range(size):
        target[k] = source[k]


@inner
def kept(source: State, target: State) -> None:
    """Copy a state without its gradient and rates, which follow from the rest."""
    size, n, width = source.size[0], len(source.alpha), len(source.plane)
    copy(source.alpha, target.alpha, n)
    copy(source.side, target.side, n)
    copy(source.plane, target.plane, width)
    copy(source.numbers, target.numbers, len(source.numbers))
    copy(source.examples, target.examples, size)
    copy(source.edge, target.edge, size + 1)
    for p in range(size + 1):
        copy(source.inverse[p], target.inverse[p], size + 1)
    target.size[0] = size


@inner
def first_breakpoint(rows: Rows, state: State, close: Close, count: int, rate: float) -> tuple[float, int]:
    """Return the step length and its cause: a near example enters, n + position leaves, or -1 at the end.

    The single test per example is almost always false, which suits the processor's branch prediction.
    """
    n, alpha, upper, examples, rates = len(state.side), state.alpha, rows.upper, state.examples, state.rates
    side, gradient, speeds, length, kind = close.side, close.gradient, close.speeds, np.inf, -1
    if rate > 0.0:
        length = state.numbers[MISSING] / rate
    for p in range(state.size[0]):
        i, speed = examples[p], rates[p + 1]
        distance = alpha[i] if speed < 0.0 else upper[i] - alpha[i]
        if distance < length * abs(speed) and abs(speed) > LEAST_RATE:
            length, kind = max(distance, 0.0) / abs(speed), n + p
    for c in range(count):
        speed, distance = -side[c] * speeds[c], max(side[c] * gradient[c], 0.0)
        if distance <= length * speed and speed > 0.0:
            length, kind = distance / speed, c
    return length, kind


@inner
def moved(state: State, close: Close, count: int, push: FloatArray, length: float) -> float:
    """Take a step in place; return how far the fastest example near the margin has moved."""
    alpha, plane, examples, rates, fastest = state.alpha, state.plane, state.examples, state.rates, 0.0
    gradient, speeds, slowness = close.gradient, close.speeds, close.slowness
    for p in range(state.size[0]):
        alpha[examples[p]] += length * rates[p + 1]
    for k in range(len(plane)):
        plane[k] += length * push[k]
    for c in range(count):
        gradient[c] += length * speeds[c]
        fastest = max(fastest, abs(speeds[c]) * slowness[c])
    state.numbers[BIAS] += length * rates[0]
    return length * fastest


@inner
def stepped(rows: Rows, state: State, pulled: Pulled, close: Close, room: Room, count: int) -> tuple[float, bool]:
    """Go to the next breakpoint; return how far the fastest example has moved, and whether the step succeeded."""
    row, numbers, rates, speeds, width, push = (
        pulled.row, state.numbers, state.rates, close.speeds, len(pulled.row), room.push
    )  # fmt: skip
    copy(row, push, width)
    add_rows(rows, state.examples, rates[1:], state.size[0], push)
    reached(rows, close.places, count, push, speeds)
    for c in range(count):
        speeds[c] += close.y[c] * rates[0]
    rate = dot(row, push, width) + pulled.side * rates[0]
    rate = rate if rate > LEAST_RATE * dot(row, row, width) else 0.0
    length, kind = first_breakpoint(rows, state, close, count, rate)
    if length == np.inf:
        return 0.0, False
    numbers[VALUE] += length * (numbers[MISSING] - 0.5 * length * rate)
    numbers[WEIGHT] += length
    numbers[MISSING] = 0.0 if kind < 0 else numbers[MISSING] - length * rate
    distance, n = moved(state, close, count, push, length), len(state.side)
    if kind >= n:
        put_on_bound(rows, state, close, state.examples[kind - n], rates[kind - n + 1] < 0.0)
        left(state, room, kind - n)
    elif kind >= 0:
        return distance, admitted(rows, state, close, room, close.places[kind], row)
    return distance, True


@inner
def looked_around(
    rows: Rows, state: State, spare: State, pulled: Pulled, close: Close, room: Room, reach: float
) -> tuple[int, float]:
    """Check all examples; go back to the last full check if one has passed the margin unseen.

    Returns how many are near the margin (-1 if rounding led the walk astray), and the distance to use next time.
    """
    settled(rows, state, room, rows.apart)
    count = looked(rows, state, reach, close)
    if count >= 0:
        kept(state, spare)
        farther = max(pulled.near, reach / WIDER)
    else:
        kept(spare, state)
        farther = WIDER * reach
        count = looked(rows, state, farther, close)
    applied(state.inverse, state.size[0] + 1, state.edge, -1.0, state.rates)
    return count, farther


@compiling.entry(allocates=False)
def walk(
    rows: Rows, state: State, spare: State, pulled: Pulled, close: Close, room: Room, limit: int
) -> tuple[int, int]:
    """Raise the weight of a row until it reaches its margin, in place; return the status and the breakpoints left."""
    numbers, reach, distance, degenerate, count = state.numbers, pulled.near, np.inf, 0, 0
    reached(rows, state.examples, state.size[0], pulled.row, state.edge[1:])
    state.edge[0] = pulled.side
    kept(state, spare)
    while state.size[0] > 0 and limit > 0 and degenerate <= MOST_DEGENERATE:
        if distance > PART * pulled.near:
            count, reach = looked_around(rows, state, spare, pulled, close, room, reach)
            distance = 0.0
            if count < 0:
                break
        if numbers[MISSING] <= 0.0 or numbers[VALUE] > pulled.above:
            settled(rows, state, room, rows.linear)
            return ARRIVED if numbers[MISSING] <= 0.0 else PAUSED, limit
        before = numbers[WEIGHT]
        further, is_well = stepped(rows, state, pulled, close, room, count)
        if not is_well:
            break
        degenerate = degenerate + 1 if numbers[WEIGHT] == before else 0
        distance = np.inf if numbers[MISSING] <= 0.0 else distance + further
        limit -= 1
    return LOST, limit
