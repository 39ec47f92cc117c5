"""The inner loop of the parametric paths, compiled.

A path is a few dozen operations on short vectors per breakpoint; interpreted, the calls would cost ten times the
arithmetic. Everything that is not this loop lives in `fairenum.qp.path`, which explains what happens here.

It is one file on purpose: numba looks for changes in the file of the way in only, and would go on running a cached loop
whose parts had changed in another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairenum.compiling import entry as way_in
from fairenum.compiling import in_any_order, inner

Array = np.ndarray[Any, Any]

ARRIVED, PARKED, STUCK, STAYED = 0, 1, 2, 3
END, ENTERS, FALLS, RISES = 0, 1, 2, 3

# Shares below which a rate, a distance from the margin's affine hull, or a weight in it counts as 0.
STILL = 1e-12
DEPENDENCE = 1e-11
PIVOT = 1e-7
BOX = 1e-10
PRECISE = 1e-10  # the share of the objective that rounding may cost before sums are made in doubled precision
CORRECTIONS = 3
SPLITTER = 134217729.0  # 2^27 + 1: halves the digits of a number (Dekker)
MOST_IDLE = 100  # steps without any length, besides two for each margin example, after which a path goes in circles


class Data(NamedTuple):
    """What never moves: Q (as signed features, or itself if `is_matrix`), labels, tie weights."""

    table: Array
    is_matrix: bool
    ridge: float
    longest: float
    y: Array
    weights: Array


class Vectors(NamedTuple):
    """What moves, one number per example, in place; and the sizes below which a gradient or an alpha is rounding."""

    upper: Array
    linear: Array
    alpha: Array
    gradient: Array
    side: Array
    noise: float
    slip: float


class Margin(NamedTuple):
    """The margin set: its examples and the inverse of its bordered matrix, bias first; buffers that may be longer."""

    examples: Array
    size: int
    inverse: Array


class Drive(NamedTuple):
    """What is driven: an example's alpha down to a target, or (example < 0) the linear term along ``-shift``."""

    example: int
    target: float
    shift: Array


class Motion(NamedTuple):
    """Rates per unit of length: bias, margin examples (by position), gradient; and which rates are still."""

    bias: float
    margin: Array
    gradient: Array
    still: float
    still_margin: float


@in_any_order
def dot(left: Array, right: Array) -> float:
    """Return the inner product of short vectors, sooner than a library is called."""
    total = 0.0
    for k in range(len(right)):
        total += left[k] * right[k]
    return float(total)


@inner
def entry(data: Data, i: int, j: int) -> float:
    """Return ``Q_ij``."""
    if data.is_matrix:
        return float(data.table[i, j])
    return dot(data.table[i], data.table[j]) + (data.ridge if i == j else 0.0)


@inner
def border(data: Data, margin: Margin, i: int) -> Array:
    """Return ``[y_i, Q_Si]``."""
    edge = np.empty(margin.size + 1)
    edge[0] = data.y[i]
    for p in range(margin.size):
        edge[p + 1] = entry(data, margin.examples[p], i)
    return edge


@inner
def combined(data: Data, margin: Margin, weights: Array) -> Array:
    """Return the sum of the margin examples' rows of the table, weighted."""
    result = np.zeros(data.table.shape[1])
    for p in range(margin.size):
        row, weight = data.table[margin.examples[p]], weights[p]
        for k in range(len(result)):
            result[k] += weight * row[k]
    return result


@inner
def applied(margin: Margin, right: Array) -> Array:
    """Return the inverse of the bordered matrix, as it has been kept up to date, times a vector."""
    result = np.empty(len(right))
    for p in range(len(right)):
        result[p] = dot(margin.inverse[p], right)
    return result


@inner
def missed(data: Data, margin: Margin, right: Array, answer: Array) -> Array:
    """Return what the bordered matrix times an answer misses of the right side."""
    result, m = right.copy(), margin.size
    plane = np.empty(0)
    if not data.is_matrix:
        plane = combined(data, margin, answer[1:])
    for p in range(m):
        i = margin.examples[p]
        result[0] -= data.y[i] * answer[p + 1]
        result[p + 1] -= data.y[i] * answer[0]
        if data.is_matrix:
            for q in range(m):
                result[p + 1] -= data.table[i, margin.examples[q]] * answer[q + 1]
        else:
            result[p + 1] -= data.ridge * answer[p + 1] + dot(data.table[i], plane)
    return result


@inner
def solved(data: Data, margin: Margin, right: Array) -> Array:
    """Return the solution of the bordered system of the margin set.

    On discrete data the matrix is ill-conditioned and its inverse, updated a dozen times, holds seven digits: too few
    to tell tied events from others. One correction brings them back.
    """
    answer = applied(margin, right)
    answer += applied(margin, missed(data, margin, right, answer))
    return answer


@inner
def copied(margin: Margin) -> Margin:
    """Return a margin set that changes on its own."""
    m = margin.size
    return Margin(margin.examples[:m].copy(), m, margin.inverse[: m + 1, : m + 1].copy())


@inner
def with_room(margin: Margin) -> Margin:
    """Return the margin set with room for one more example."""
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
    """Put example i on the margin; False if it is in the affine hull of the margin set."""
    margin = with_room(margin)
    m, inverse = margin.size, margin.inverse
    diagonal = entry(data, i, i)
    if m == 0:
        inverse[0, 0], inverse[0, 1], inverse[1, 0], inverse[1, 1] = -diagonal, data.y[i], data.y[i], 0.0
    else:
        edge = border(data, margin, i)
        beta = solved(data, margin, edge)
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
    """Take the example at this position out of the margin set; the last one takes its place."""
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
def released(vectors: Vectors, margin: Margin, example: int) -> Margin:
    """Take an example out of the conditions: from now on it is driven."""
    vectors.side[example] = 0.0
    for p in range(margin.size):
        if margin.examples[p] == example:
            return leave(margin, p)
    return margin


@inner
def settle(vectors: Vectors, i: int, falls: bool) -> None:
    """Put an example on the bound that it has reached."""
    vectors.side[i] = 1.0 if falls else -1.0
    vectors.alpha[i] = 0.0 if falls else vectors.upper[i]


@inner
def margin_room(vectors: Vectors, i: int, rate: float) -> float:
    """Return how far a margin example is from the bound that it moves to."""
    return float(max(vectors.alpha[i] if rate < 0.0 else vectors.upper[i] - vectors.alpha[i], 0.0))


@inner
def slip(vectors: Vectors, i: int) -> float:
    """Return the distance from its bounds below which an alpha is on them."""
    return float(min(BOX * vectors.upper[i], vectors.slip))


@inner
def counts(room: float, speed: float, length: float, close: float, stops_short: bool) -> bool:
    """Tell whether an example counts on this path: always, or only if it would clearly pass its bound by the end."""
    return not stops_short or room - length * speed < -close


@inner
def shortest(vectors: Vectors, margin: Margin, motion: Motion, length: float, stops_short: bool) -> float:
    """Return the distance to the first event within the length."""
    first, side, gradient, rate = length, vectors.side, vectors.gradient, motion.gradient
    for i in range(len(rate)):
        speed = -side[i] * rate[i]
        if speed > motion.still:
            room = max(side[i] * gradient[i], 0.0)
            if room < first * speed and counts(room, speed, length, vectors.noise, stops_short):
                first = room / speed
    for p in range(margin.size):
        speed = abs(motion.margin[p])
        if speed > motion.still_margin:
            i = margin.examples[p]
            room = margin_room(vectors, i, motion.margin[p])
            if room < first * speed and counts(room, speed, length, slip(vectors, i), stops_short):
                first = room / speed
    return first


@inner
def events_at(
    vectors: Vectors, margin: Margin, motion: Motion, length: float, stops_short: bool, first: float
) -> Array:
    """Return the events at this distance: example i for one that enters, n + position for one that leaves."""
    count, side, gradient, rate = 0, vectors.side, vectors.gradient, motion.gradient
    n = len(rate)
    events = np.empty(n + margin.size, np.int64)
    for i in range(n):
        speed = -side[i] * rate[i]
        if speed > motion.still:
            room = max(side[i] * gradient[i], 0.0)
            if room - first * speed <= vectors.noise and counts(room, speed, length, vectors.noise, stops_short):
                events[count] = i
                count += 1
    for p in range(margin.size):
        speed = abs(motion.margin[p])
        if speed > motion.still_margin:
            i = margin.examples[p]
            room = margin_room(vectors, i, motion.margin[p])
            close = slip(vectors, i)
            if room - first * speed <= close and counts(room, speed, length, close, stops_short):
                events[count] = n + p
                count += 1
    return events[:count]


@inner
def first_event(
    data: Data, vectors: Vectors, margin: Margin, motion: Motion, length: float, stops_short: bool
) -> tuple[float, int, int]:
    """Return length, kind and index of the first event; ties go by the infinitesimal tie weights.

    With `stops_short` only examples that would be clearly past their bound at the end count, and nothing ties with the
    end. Otherwise the end takes part in the tie like any other event.
    """
    first = shortest(vectors, margin, motion, length, stops_short)
    if stops_short and first == length:
        return first, END, -1
    events = events_at(vectors, margin, motion, length, stops_short, first)
    ends = not stops_short and first >= length * (1.0 - 1e-12)
    winner, earliest = -1, 0.0
    if len(events) == 1 and not ends:
        winner = events[0]
    elif len(events) > 0:
        tie, plane = tie_answer(data, margin)
        for event in events:
            delay = event_delay(data, motion, tie, plane, event)
            if delay < earliest or (winner < 0 and not ends):
                winner, earliest = event, delay
    n = len(motion.gradient)
    if winner < 0:
        return first, END, -1
    if winner < n:
        return first, ENTERS, winner
    return first, FALLS if motion.margin[winner - n] < 0.0 else RISES, winner - n


@inner
def tie_answer(data: Data, margin: Margin) -> tuple[Array, Array]:
    """Return how bias and margin answer to the infinitesimal ``p - eps * weights``, per eps, and their plane."""
    tie = np.zeros(1)
    if margin.size > 0:
        right = np.zeros(margin.size + 1)
        for p in range(margin.size):
            right[p + 1] = -data.weights[margin.examples[p]]
        tie = solved(data, margin, right)
    return tie, combined(data, margin, tie[1:])


@inner
def event_delay(data: Data, motion: Motion, tie: Array, plane: Array, event: int) -> float:
    """Return by how many eps an event comes later than its tied real place."""
    n = len(motion.gradient)
    if event >= n:
        return float(-tie[event - n + 1] / motion.margin[event - n])
    gradient = tie[0] * data.y[event] + data.weights[event]
    gradient += plane[event] if data.is_matrix else dot(data.table[event], plane)
    return float(-gradient / motion.gradient[event])


@inner
def exchange(data: Data, vectors: Vectors, margin: Margin, motion: Motion, i: int) -> tuple[bool, Margin]:
    """Let an example in the affine hull of the margin set trade places with one of the set.

    Moving along the dependence changes neither the separating plane nor the objective; it ends where a margin example
    reaches a bound and leaves, or where the newcomer reaches its own other bound.
    """
    upper, alpha, toward = vectors.upper, vectors.alpha, vectors.side[i]
    change = -toward * solved(data, margin, border(data, margin, i))[1:]
    tie, plane = tie_answer(data, margin)
    passed = event_delay(data, motion, tie, plane, i)
    length, later, position = upper[i], 0.0, -1
    for p in range(margin.size):
        k, speed = margin.examples[p], abs(change[p])
        if speed > PIVOT:
            distance = margin_room(vectors, k, change[p]) / speed
            delay = (tie[p + 1] + passed * motion.margin[p]) / -change[p]
            close = slip(vectors, i) + slip(vectors, k) / speed
            if distance < length - close or (distance <= length + close and delay < later):
                length, later, position = distance, delay, p
    for p in range(margin.size):
        alpha[margin.examples[p]] += length * change[p]
    vectors.gradient[i] = 0.0
    if position < 0:
        settle(vectors, i, toward < 0.0)
        return True, margin
    alpha[i] += toward * length
    settle(vectors, margin.examples[position], change[position] < 0.0)
    return enter(data, vectors, leave(margin, position), i)


@inner
def crossed(data: Data, vectors: Vectors, margin: Margin, motion: Motion, kind: int, index: int) -> tuple[bool, Margin]:
    """Let the example of an event enter or leave the margin set; False if rounding forbids it."""
    if kind == ENTERS:
        done, margin = enter(data, vectors, margin, index)
        return (True, margin) if done else exchange(data, vectors, margin, motion, index)
    if kind != END:
        settle(vectors, margin.examples[index], kind == FALLS)
        margin = leave(margin, index)
    return True, margin


@inner
def gradient_rates(data: Data, margin: Margin, drive: Drive, bias: float, rates: Array) -> Array:
    """Return how the gradient moves with the margin, the bias and what is driven."""
    table, example = data.table, drive.example
    plane = combined(data, margin, rates)
    if example >= 0:
        plane -= table[example]
    result = plane if data.is_matrix else np.dot(table, plane)
    result += bias * data.y
    if example < 0:
        result += drive.shift
    elif not data.is_matrix:
        result[example] -= data.ridge
    return result


@inner
def direction(data: Data, margin: Margin, drive: Drive) -> Motion:
    """Return the rates that keep the margin set on the margin.

    With nobody there to make up for a driven example only the bias moves, towards those who can.
    """
    m, example, nobody = margin.size, drive.example, np.empty(0)
    if m == 0 and example >= 0:
        return Motion(-data.y[example], nobody, -data.y[example] * data.y, 0.5, STILL)
    solution = np.zeros(1)
    if m > 0:
        right = np.zeros(m + 1)
        if example >= 0:
            right = border(data, margin, example)
        else:
            for p in range(m):
                right[p + 1] = -drive.shift[margin.examples[p]]
        solution = solved(data, margin, right)
    rates = solution[1:]
    scale = abs(solution[0]) + data.longest * data.longest * (1.0 + np.abs(rates).sum())
    gradient = gradient_rates(data, margin, drive, solution[0], rates)
    return Motion(solution[0], rates, gradient, STILL * scale, STILL)


@inner
def glimpse(data: Data, vectors: Vectors, margin: Margin, value: float, drive: Drive) -> float:
    """Return the bound of a removal path at its first breakpoint, leaving the state as it was."""
    example, was = drive.example, vectors.side[drive.example]
    margin = released(vectors, copied(margin) if was == 0.0 else margin, example)
    left, slides = vectors.alpha[example] - drive.target, margin.size == 0
    motion = direction(data, margin, drive)
    length, _, _ = first_event(data, vectors, margin, motion, np.inf if slides else left, example < 0)
    vectors.side[example] = was
    slope, bend = vectors.gradient[example], motion.gradient[example]
    if length == np.inf:
        return value
    if not slides:
        value += length * (slope + 0.5 * length * bend)
        left -= length
    return float(value + left * min(slope + length * bend, 0.0))


@inner
def followed(
    data: Data, vectors: Vectors, margin: Margin, bias: float, value: float, drive: Drive, below: float, limit: int
) -> tuple[int, Margin, float, float, int]:
    """Follow a path until it arrives, until the bound on its end is under `below`, or until the limit is used up.

    Returns the status, the margin set, bias, value, and what is left of the limit of breakpoints.
    """
    alpha, gradient, example, left = vectors.alpha, vectors.gradient, drive.example, 1.0
    idle = 0
    while True:
        if example >= 0:
            left = alpha[example] - drive.target
            if left <= 0.0:
                return ARRIVED, margin, bias, value, limit
            if value + left * min(gradient[example], 0.0) < below:
                return PARKED, margin, bias, value, limit
        slides = margin.size == 0 and example >= 0
        motion = direction(data, margin, drive)
        length, kind, index = first_event(data, vectors, margin, motion, np.inf if slides else left, example < 0)
        # Exact ties cannot cycle; ties that rounding has disordered can, and then no step has any length.
        idle = idle + 1 if example >= 0 and left - length == left else 0
        if limit <= 0 or length == np.inf or idle > MOST_IDLE + 2 * margin.size:
            return STUCK, margin, bias, value, limit
        limit -= 1
        left -= length
        bias += length * motion.bias
        for p in range(margin.size):
            alpha[margin.examples[p]] += length * motion.margin[p]
        if example >= 0 and not slides:
            value += length * (gradient[example] + 0.5 * length * motion.gradient[example])
            alpha[example] = drive.target if kind == END else alpha[example] - length
        for i in range(len(gradient)):
            gradient[i] += length * motion.gradient[i]
        if kind == END and example < 0:
            return ARRIVED, margin, bias, value, limit
        done, margin = crossed(data, vectors, margin, motion, kind, index)
        if not done:
            return STUCK, margin, bias, value, limit


@inner
def add_product(high: Array, low: Array, weight: float, row: Array) -> None:
    """Add a weighted row to a sum of doubled precision: what a product and a sum round off is kept apart."""
    weight_head = SPLITTER * weight
    weight_head -= weight_head - weight
    for k in range(len(row)):
        head = SPLITTER * row[k]
        head -= head - row[k]
        product = weight * row[k]
        cut = weight_head * head - product
        cut += weight_head * (row[k] - head) + (weight - weight_head) * head
        cut += (weight - weight_head) * (row[k] - head)
        total = high[k] + product
        kept = total - high[k]
        low[k] += cut + ((high[k] - (total - kept)) + (product - kept))
        high[k] = total


@inner
def spanned(data: Data, alpha: Array, precisely: bool) -> Array:
    """Return the sum of all rows of the table, weighted by alpha: the plane, or ``Q alpha`` of a matrix."""
    high, low = np.zeros(data.table.shape[1]), np.zeros(data.table.shape[1])
    for i in range(len(alpha)):
        weight, row = alpha[i], data.table[i]
        if precisely:
            add_product(high, low, weight, row)
        elif weight != 0.0:
            for k in range(len(row)):
                high[k] += weight * row[k]
    return high + low


@inner
def reached(data: Data, plane: Array, alpha: Array, i: int) -> float:
    """Return ``(Q alpha)_i``."""
    if data.is_matrix:
        return float(plane[i])
    return float(dot(data.table[i], plane) + data.ridge * alpha[i])


@inner
def corrected(data: Data, vectors: Vectors, margin: Margin, bias: float, precisely: bool) -> float:
    """Solve the margin system by correcting its residual; alpha moves in place, the bias is returned."""
    alpha, examples = vectors.alpha, margin.examples[: margin.size]
    for _ in range(CORRECTIONS):
        plane = spanned(data, alpha, precisely)
        residual = np.empty(margin.size + 1)
        residual[0] = -np.dot(data.y, alpha)
        for p, i in enumerate(examples):
            residual[p + 1] = vectors.linear[i] - reached(data, plane, alpha, i) - bias * data.y[i]
        correction = applied(margin, residual)
        bias += correction[0]
        for p, i in enumerate(examples):
            alpha[i] += correction[p + 1]
    for i in examples:
        alpha[i] = min(max(alpha[i], 0.0), vectors.upper[i])
    return bias


@inner
def settled(data: Data, vectors: Vectors, margin: Margin, bias: float) -> tuple[float, float]:
    """Recompute margin, bias and gradient from the sides alone, to rounding; return the bias and the objective.

    Paths gather rounding errors, answers do not: sums are made in doubled precision where large terms cancel.
    """
    alpha, linear = vectors.alpha, vectors.linear
    precisely = vectors.noise * vectors.upper.sum() > PRECISE * abs(np.dot(linear, alpha))
    if margin.size > 0:
        bias = corrected(data, vectors, margin, bias, precisely)
    plane, value = spanned(data, alpha, precisely), 0.0
    for i in range(len(alpha)):
        product = reached(data, plane, alpha, i)
        vectors.gradient[i] = product + data.y[i] * bias - linear[i]
        value += alpha[i] * (linear[i] - 0.5 * product)
    for i in margin.examples[: margin.size]:
        vectors.gradient[i] = 0.0
    return bias, value


@inner
def removed(
    data: Data, vectors: Vectors, margin: Margin, bias: float, value: float, drive: Drive, below: float, limit: int
) -> tuple[int, Margin, float, float, int]:
    """Follow a removal; one that arrives is settled."""
    example = drive.example
    margin = released(vectors, margin, example)
    status, margin, bias, value, limit = followed(data, vectors, margin, bias, value, drive, below, limit)
    if status == ARRIVED:
        vectors.alpha[example] = vectors.upper[example] = drive.target
        vectors.side[example] = -1.0 if drive.target > 0.0 else 0.0
        bias, value = settled(data, vectors, margin, bias)
    return status, margin, bias, value, limit


@way_in()
def set_out(
    data: Data, vectors: Vectors, margin: Margin, bias: float, value: float, drive: Drive, below: float, limit: int
) -> tuple[int, float, tuple[Array, Array, Array, Array], Array, int, Array, float, float, int]:
    """Start a removal on a copy of the state, unless a glimpse shows that its bound is under `below` (STAYED).

    Returns the status, the bound after the glimpse, the moved vectors, and what else `walk` returns.
    """
    bound = glimpse(data, vectors, margin, value, drive)
    upper, alpha, gradient, side = vectors.upper, vectors.alpha, vectors.gradient, vectors.side
    status = STAYED
    if bound >= below:
        upper, alpha, gradient, side = upper.copy(), alpha.copy(), gradient.copy(), side.copy()
        own = Vectors(upper, vectors.linear, alpha, gradient, side, vectors.noise, vectors.slip)
        status, margin, bias, value, limit = removed(data, own, copied(margin), bias, value, drive, below, limit)
    moved = (upper, alpha, gradient, side)
    return status, bound, moved, margin.examples, margin.size, margin.inverse, bias, value, limit


@way_in()
def walk(
    data: Data, vectors: Vectors, margin: Margin, bias: float, value: float, drive: Drive, below: float, limit: int
) -> tuple[int, Array, int, Array, float, float, int]:
    """Move a state in place; return the status, the parts of its margin set, bias, value, and what is left to go."""
    if drive.example >= 0:
        status, margin, bias, value, limit = removed(data, vectors, margin, bias, value, drive, below, limit)
    else:
        status, margin, bias, value, limit = followed(data, vectors, margin, bias, value, drive, below, limit)
    return status, margin.examples, margin.size, margin.inverse, bias, value, limit


@way_in()
def settle_down(data: Data, vectors: Vectors, margin: Margin, bias: float) -> tuple[float, float]:
    """Return what `settled` does."""
    return settled(data, vectors, margin, bias)


@way_in()
def rounded(vectors: Vectors) -> Array:
    """Return alpha with the values within rounding of a bound on it."""
    result = vectors.alpha.copy()
    for i in range(len(result)):
        close = slip(vectors, i)
        if result[i] <= close:
            result[i] = 0.0
        elif result[i] >= vectors.upper[i] - close:
            result[i] = vectors.upper[i]
    return result
