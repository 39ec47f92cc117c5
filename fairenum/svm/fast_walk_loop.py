"""Compiled fast walk for linear kernels: raise the weight of an added row until the row reaches its margin.

It costs a third of the exact walk in `fairenum.svm.walks`. Many rows need a walk, and no result has to be canonical or
exact, since all are certified by weak duality. So ties are broken by a tiny perturbation of the linear term, linear
systems are not refined at every breakpoint, and only examples near the margin are checked at each step. All examples
are checked once the near ones have moved as far, in total, as the distance that counts as near, since by then others
may have reached the margin. If one has passed the margin unnoticed, the walk returns to its last full check, and from
there checks more examples at each step. A walk that rounding keeps from its end returns LOST.

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

ARRIVED, PAUSED, LOST = 0, 1, 2  # statuses
BIAS, MISSING, VALUE, WEIGHT = 0, 1, 2, 3  # positions in `State.numbers`
# Shares below which a rate, a distance from the margin's affine hull, or a weight in it counts as 0.
LEAST_RATE, DEPENDENCE, PIVOT = 1e-12, 1e-9, 1e-7
MOST_DEGENERATE = 30  # steps of length 0 after which a walk is taken to cycle
PART = 1.0  # of the distance of examples that are not near: check all after such a move
WIDER = 3.0  # times the distance, once an example has passed the margin unnoticed
PASSED = 1e-7  # of the margin: an example this far past it counts as having passed


class Rows(NamedTuple):
    """Constant data of a walk: each example's features times its label, and vectors with one number per example.

    ``shifted`` is the linear term with ties broken, ``squares`` are the squared lengths of the examples. Distances from
    the margin are divided by ``scale`` to be comparable: the longer an example, the more it moves with the plane.
    """

    table: FloatArray
    nonzeros: Nonzeros
    y: FloatArray
    upper: FloatArray
    linear: FloatArray
    shifted: FloatArray
    squares: FloatArray
    scale: FloatArray


class State(NamedTuple):
    """Everything that a walk changes in place.

    ``alpha``, ``gradient`` and ``side`` are those of an `ActiveSet`, ``plane`` is the weight vector. ``numbers`` has
    the bias, how far the added row falls short of its margin, the dual objective and the row's weight. ``size`` holds
    the number of examples on the margin, and ``examples`` lists them. ``inverse`` is the inverse of their bordered
    matrix (`path_loop.Margin`), ``row_border`` the column that the row would add to this matrix. ``rates`` are the
    changes of the bias and of these examples' alpha per unit of the row's weight. The last four arrays have spare room.
    """

    alpha: FloatArray
    gradient: FloatArray
    side: FloatArray
    plane: FloatArray
    numbers: FloatArray
    size: IntArray
    examples: IntArray
    inverse: FloatArray
    row_border: FloatArray
    rates: FloatArray


class NearExamples(NamedTuple):
    """The examples near the margin, stored contiguously because every breakpoint goes through them.

    ``every`` lists all examples, ``places`` the indices of the near ones, ``positions`` each example's position among
    the near ones. The other vectors have one number per near example; ``inverse_scale`` is ``1 / scale`` (see `Rows`),
    and ``speeds`` are the rates of change of ``gradient``.
    """

    every: IntArray
    places: IntArray
    positions: IntArray
    y: FloatArray
    inverse_scale: FloatArray
    side: FloatArray
    gradient: FloatArray
    speeds: FloatArray


class Scratch(NamedTuple):
    """Buffers for intermediate results, so that the loop allocates nothing.

    ``plane_rates`` is the rate of change of the weight vector, ``features`` are one example's features times its label.
    ``border``, ``hull`` and ``line`` are one example's column of the bordered matrix (`path_loop.Margin`), its
    coefficients in the affine hull of the margin set, and its row of the inverse.
    """

    plane_rates: FloatArray
    features: FloatArray
    border: FloatArray
    hull: FloatArray
    line: FloatArray


class Task(NamedTuple):
    """Input of a walk: the added row times its label `side`, the loss to prove, and how far from the margin is near."""

    row: FloatArray
    side: float
    enough: float
    near: float


@in_any_order
def dot(left: FloatArray, right: FloatArray, size: int) -> float:
    """Return the inner product of the first `size` numbers of two vectors."""
    total = 0.0
    for k in range(size):
        total += left[k] * right[k]
    return float(total)


@in_any_order
def dense_products(table: FloatArray, some: IntArray, size: int, plane: FloatArray, result: FloatArray) -> None:
    """Write the inner products of the rows ``some[:size]`` of a dense table with a vector into `result`."""
    for p in range(size):
        i, total = some[p], 0.0
        for k in range(len(plane)):
            total += table[i, k] * plane[k]
        result[p] = total


@inner
def products(rows: Rows, some: IntArray, size: int, plane: FloatArray, result: FloatArray) -> None:
    """Write the inner products of the examples ``some[:size]``, times their labels, with a vector into `result`.

    Sums over sparse rows are not reordered: these rows are too short to gain from it.
    """
    values, columns, starts = rows.nonzeros
    if len(starts) == 0:
        dense_products(rows.table, some, size, plane, result)
        return
    for p in range(size):
        i, total = some[p], 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * plane[columns[k]]
        result[p] = total


@in_any_order
def add_rows(rows: Rows, some: IntArray, weights: FloatArray, size: int, plane: FloatArray) -> None:
    """Add a weighted sum of some examples' features, each times its label, to the vector `plane`, in place."""
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
def multiply(inverse: FloatArray, size: int, right: FloatArray, sign: float, result: FloatArray) -> None:
    """Write ``sign * M right`` into `result`, where M is the first `size` rows and columns of the matrix `inverse`."""
    for p in range(size):
        total = 0.0
        for q in range(size):
            total += inverse[p, q] * right[q]
        result[p] = sign * total


@inner
def put_on_bound(rows: Rows, state: State, nearby: NearExamples, i: int, falls: bool) -> None:
    """Set alpha of example i to the bound it has reached: the lower one if `falls`, else the upper one."""
    state.side[i] = nearby.side[nearby.positions[i]] = 1.0 if falls else -1.0
    state.alpha[i] = 0.0 if falls else rows.upper[i]
    nearby.gradient[nearby.positions[i]] = 0.0


@in_any_order
def add_square(inverse: FloatArray, line: FloatArray, share: float, size: int) -> None:
    """Add ``share * line line'`` to the first `size` rows and columns of the matrix `inverse`, in place."""
    for p in range(size):
        weight = share * line[p]
        for q in range(size):
            inverse[p, q] += weight * line[q]


@inner
def write_row(rows: Rows, i: int, result: FloatArray) -> None:
    """Write an example's features, times its label, into `result`."""
    table, (values, columns, starts) = rows.table, rows.nonzeros
    for k in range(len(result)):
        result[k] = table[i, k] if len(starts) == 0 else 0.0
    if len(starts) > 0:
        for k in range(starts[i], starts[i + 1]):
            result[columns[k]] = values[k]


@inner
def enter(rows: Rows, state: State, nearby: NearExamples, scratch: Scratch, i: int, row: FloatArray) -> bool:
    """Let example i join the margin set; return False if this set is full or has i in its affine hull.

    Afterwards, ``scratch.hull`` holds the coefficients of i in the hull. `row` is the added row of the walk.
    """
    size, inverse, rates, row_border, border, hull = (
        state.size[0], state.inverse, state.rates, state.row_border, scratch.border, scratch.hull
    )  # fmt: skip
    write_row(rows, i, scratch.features)
    border[0] = rows.y[i]
    products(rows, state.examples, size, scratch.features, border[1:])
    multiply(inverse, size + 1, border, 1.0, hull)
    pivot = rows.squares[i] - dot(border, hull, size + 1)
    if pivot <= DEPENDENCE * rows.squares[i] or size + 2 > len(inverse):
        return False
    add_square(inverse, hull, 1.0 / pivot, size + 1)
    for p in range(size + 1):
        inverse[p, size + 1] = inverse[size + 1, p] = -hull[p] / pivot
    inverse[size + 1, size + 1] = 1.0 / pivot
    state.examples[size], row_border[size + 1] = i, dot(scratch.features, row, len(row))
    rates[size + 1] = (dot(hull, row_border, size + 1) - row_border[size + 1]) / pivot
    for p in range(size + 1):
        rates[p] -= rates[size + 1] * hull[p]
    state.side[i] = nearby.side[nearby.positions[i]] = 0.0
    state.size[0] = size + 1
    return True


@inner
def leave(state: State, scratch: Scratch, position: int) -> None:
    """Take the example at a position out of the list of the margin set; the last example moves to that position."""
    k, inverse, rates, size, line = position + 1, state.inverse, state.rates, state.size[0], scratch.line
    if size > 1:  # an empty margin set has no inverse, and the walk ends
        for p in range(size + 1):
            line[p] = inverse[k, p]
        add_square(inverse, line, -1.0 / line[k], size + 1)
        share = rates[k] / line[k]
        for p in range(size + 1):
            rates[p] -= share * line[p]
    for p in range(size + 1):
        inverse[k, p] = inverse[size, p]
    for p in range(size + 1):
        inverse[p, k] = inverse[p, size]
    state.examples[position], state.row_border[k] = state.examples[size - 1], state.row_border[size]
    rates[k] = rates[size]
    state.size[0] = size - 1


@inner
def exchange(rows: Rows, state: State, i: int, hull: FloatArray) -> int:
    """Move alpha along an affine dependence until one example reaches a bound; return the position of that example.

    Example i is an affine combination, with coefficients `hull`, of the examples on the margin. The position is that in
    the list of these examples, or the length of the list if i itself reaches its other bound.
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
def put_on_margin(rows: Rows, state: State, nearby: NearExamples, scratch: Scratch, i: int, row: FloatArray) -> bool:
    """Let example i join the margin set, replace a member or go to its other bound; False if rounding prevents it."""
    nearby.gradient[nearby.positions[i]] = 0.0
    if enter(rows, state, nearby, scratch, i, row):
        return True
    toward, position = state.side[i], exchange(rows, state, i, scratch.hull)
    if position == state.size[0]:
        put_on_bound(rows, state, nearby, i, toward < 0.0)
        return True
    put_on_bound(rows, state, nearby, state.examples[position], toward * scratch.hull[position + 1] > 0.0)
    leave(state, scratch, position)
    return state.size[0] > 0 and enter(rows, state, nearby, scratch, i, row)


@inner
def refine(rows: Rows, state: State, scratch: Scratch, linear: FloatArray) -> None:
    """Correct the rounding errors of weight vector, bias and alpha, in place, for the linear term `linear`.

    Afterwards each example i in the margin set is at its margin, ``linear_i``; all other alpha stay the same.
    """
    examples, size, numbers, alpha, y = state.examples, state.size[0], state.numbers, state.alpha, rows.y
    short, answer = scratch.border, scratch.hull
    products(rows, examples, size, state.plane, short[1:])
    short[0] = 0.0
    for p in range(size):
        i = examples[p]
        short[p + 1] = linear[i] - short[p + 1] - y[i] * numbers[BIAS]
    multiply(state.inverse, size + 1, short, 1.0, answer)
    for p in range(size):
        alpha[examples[p]] += answer[p + 1]
    add_rows(rows, examples, answer[1:], size, state.plane)
    numbers[BIAS] += answer[0]


@inner
def check_all(rows: Rows, state: State, near: float, nearby: NearExamples) -> int:
    """Put the examples near the margin into `nearby`; return their number, or -1 if any has passed the margin."""
    count, gradient, side, bias, n = 0, state.gradient, state.side, state.numbers[BIAS], len(state.side)
    y, shifted, scale = rows.y, rows.shifted, rows.scale
    products(rows, nearby.every, n, state.plane, gradient)
    for i in range(n):
        gradient[i] += y[i] * bias - shifted[i]
        if side[i] * gradient[i] < -PASSED:
            return -1
        if side[i] == 0.0 or abs(gradient[i]) <= near * scale[i]:
            nearby.places[count], nearby.positions[i] = i, count
            nearby.y[count], nearby.inverse_scale[count] = y[i], 1.0 / scale[i]
            nearby.side[count], nearby.gradient[count] = side[i], gradient[i]
            count += 1
    return count


@inner
def copy(source: FloatArray | IntArray, target: FloatArray | IntArray, size: int) -> None:
    """Copy the first `size` numbers of a vector into another one."""
    for k in range(size):
        target[k] = source[k]


@inner
def copy_state(source: State, target: State) -> None:
    """Copy a state into another one, except gradient and rates, which follow from the rest."""
    size, n, width = source.size[0], len(source.alpha), len(source.plane)
    copy(source.alpha, target.alpha, n)
    copy(source.side, target.side, n)
    copy(source.plane, target.plane, width)
    copy(source.numbers, target.numbers, len(source.numbers))
    copy(source.examples, target.examples, size)
    copy(source.row_border, target.row_border, size + 1)
    for p in range(size + 1):
        copy(source.inverse[p], target.inverse[p], size + 1)
    target.size[0] = size


@inner
def first_breakpoint(rows: Rows, state: State, nearby: NearExamples, count: int, rate: float) -> tuple[float, int]:
    """Return the length of the next step, as an increase of the row's weight, and a code for the event that ends it.

    The code is c if near example c reaches the margin, n + p if the p-th example on the margin leaves it (n is the
    number of examples), and -1 if the row reaches its margin. The single test per near example is almost always false,
    which suits the processor's branch prediction.
    """
    n, alpha, upper, examples, rates = len(state.side), state.alpha, rows.upper, state.examples, state.rates
    side, gradient, speeds, length, kind = nearby.side, nearby.gradient, nearby.speeds, np.inf, -1
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
def move(state: State, nearby: NearExamples, count: int, plane_rates: FloatArray, length: float) -> float:
    """Take a step in place; return the largest change of a near example's gradient, divided by the example's scale."""
    alpha, plane, examples, rates, fastest = state.alpha, state.plane, state.examples, state.rates, 0.0
    gradient, speeds, inverse_scale = nearby.gradient, nearby.speeds, nearby.inverse_scale
    for p in range(state.size[0]):
        alpha[examples[p]] += length * rates[p + 1]
    for k in range(len(plane)):
        plane[k] += length * plane_rates[k]
    for c in range(count):
        gradient[c] += length * speeds[c]
        fastest = max(fastest, abs(speeds[c]) * inverse_scale[c])
    state.numbers[BIAS] += length * rates[0]
    return length * fastest


@inner
def step(
    rows: Rows, state: State, task: Task, nearby: NearExamples, scratch: Scratch, count: int
) -> tuple[float, bool]:
    """Step to the next breakpoint; return the largest change of a gradient (see `move`), and True for success."""
    row, numbers, rates, speeds, width, plane_rates = (
        task.row, state.numbers, state.rates, nearby.speeds, len(task.row), scratch.plane_rates
    )  # fmt: skip
    copy(row, plane_rates, width)
    add_rows(rows, state.examples, rates[1:], state.size[0], plane_rates)
    products(rows, nearby.places, count, plane_rates, speeds)
    for c in range(count):
        speeds[c] += nearby.y[c] * rates[0]
    rate = dot(row, plane_rates, width) + task.side * rates[0]
    rate = rate if rate > LEAST_RATE * dot(row, row, width) else 0.0
    length, kind = first_breakpoint(rows, state, nearby, count, rate)
    if length == np.inf:
        return 0.0, False
    numbers[VALUE] += length * (numbers[MISSING] - 0.5 * length * rate)
    numbers[WEIGHT] += length
    numbers[MISSING] = 0.0 if kind < 0 else numbers[MISSING] - length * rate
    distance, n = move(state, nearby, count, plane_rates, length), len(state.side)
    if kind >= n:
        put_on_bound(rows, state, nearby, state.examples[kind - n], rates[kind - n + 1] < 0.0)
        leave(state, scratch, kind - n)
    elif kind >= 0:
        return distance, put_on_margin(rows, state, nearby, scratch, nearby.places[kind], row)
    return distance, True


@inner
def full_check(
    rows: Rows, state: State, checked: State, task: Task, nearby: NearExamples, scratch: Scratch, reach: float
) -> tuple[int, float]:
    """Check all examples; if one has passed the margin unnoticed, restore the state of the last successful check.

    Returns the number of examples near the margin (-1 if even the restored state fails), and the distance within which
    examples count as near from now on.
    """
    refine(rows, state, scratch, rows.shifted)
    count = check_all(rows, state, reach, nearby)
    if count >= 0:
        copy_state(state, checked)
        farther = max(task.near, reach / WIDER)
    else:
        copy_state(checked, state)
        farther = WIDER * reach
        count = check_all(rows, state, farther, nearby)
    multiply(state.inverse, state.size[0] + 1, state.row_border, -1.0, state.rates)
    return count, farther


@compiling.entry(allocates=False)
def walk(
    rows: Rows, state: State, checked: State, task: Task, nearby: NearExamples, scratch: Scratch, limit: int
) -> int:
    """Raise a row's weight until the row is on its margin or the objective exceeds ``task.enough``; return a status."""
    numbers, reach, distance, degenerate, count = state.numbers, task.near, np.inf, 0, 0
    products(rows, state.examples, state.size[0], task.row, state.row_border[1:])
    state.row_border[0] = task.side
    copy_state(state, checked)
    while state.size[0] > 0 and limit > 0 and degenerate <= MOST_DEGENERATE:
        if distance > PART * task.near:
            count, reach = full_check(rows, state, checked, task, nearby, scratch, reach)
            distance = 0.0
            if count < 0:
                break
        if numbers[MISSING] <= 0.0 or numbers[VALUE] > task.enough:
            refine(rows, state, scratch, rows.linear)
            return ARRIVED if numbers[MISSING] <= 0.0 else PAUSED
        before = numbers[WEIGHT]
        further, is_well = step(rows, state, task, nearby, scratch, count)
        if not is_well:
            break
        degenerate = degenerate + 1 if numbers[WEIGHT] == before else 0
        distance = np.inf if numbers[MISSING] <= 0.0 else distance + further
        limit -= 1
    return LOST
