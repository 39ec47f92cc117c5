"""The inner loop of the parametric paths, compiled.

A path is a few dozen operations on short vectors per breakpoint; interpreted, the calls would cost ten times the
arithmetic. Everything that is not this loop lives in `fairenum.qp.path`, which explains what happens here.

Conventions: `table` is the signed features Z (n x d) or, with `is_matrix`, Q itself; `margin[:m]` are the margin
examples, `inverse[:m+1, :m+1]` the inverse of their bordered matrix with the bias first; both are buffers that grow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]

ARRIVED, PARKED, STUCK = 0, 1, 2
END, ENTERS, FALLS, RISES = 0, 1, 2, 3

# Shares below which a rate, a distance from the margin's affine hull, or a weight in it counts as 0.
STILL = 1e-12
DEPENDENCE = 1e-11
PIVOT = 1e-7
BOX = 1e-10


@njit(cache=True)
def entry(table: Array, is_matrix: bool, ridge: float, i: int, j: int) -> float:
    """Return ``Q_ij``."""
    if is_matrix:
        return float(table[i, j])
    total = ridge if i == j else 0.0
    for k in range(table.shape[1]):
        total += table[i, k] * table[j, k]
    return total


@njit(cache=True)
def border(table: Array, is_matrix: bool, ridge: float, y: Array, margin: Array, m: int, i: int) -> Array:
    """Return ``[y_i, Q_Si]``."""
    edge = np.empty(m + 1)
    edge[0] = y[i]
    for p in range(m):
        edge[p + 1] = entry(table, is_matrix, ridge, margin[p], i)
    return edge


@njit(cache=True)
def times(inverse: Array, right: Array, size: int) -> Array:
    """Return the leading block of the inverse times a vector."""
    result = np.zeros(size)
    for p in range(size):
        for q in range(size):
            result[p] += inverse[p, q] * right[q]
    return result


@njit(cache=True)
def enter(
    table: Array, is_matrix: bool, ridge: float, y: Array, side: Array, gradient: Array, margin: Array, m: int,
    inverse: Array, i: int,
) -> tuple[bool, int, Array, Array]:  # fmt: skip
    """Put example i on the margin; False if it is in the affine hull of the margin set."""
    diagonal = entry(table, is_matrix, ridge, i, i)
    if m + 2 > inverse.shape[0] or m + 1 > len(margin):
        capacity = 2 * inverse.shape[0] + 2
        grown = np.zeros((capacity, capacity))
        grown[: m + 1, : m + 1] = inverse[: m + 1, : m + 1]
        inverse = grown
        longer = np.empty(capacity, margin.dtype)
        longer[:m] = margin[:m]
        margin = longer
    if m == 0:
        inverse[0, 0], inverse[0, 1], inverse[1, 0], inverse[1, 1] = -diagonal, y[i], y[i], 0.0
    else:
        edge = border(table, is_matrix, ridge, y, margin, m, i)
        beta = times(inverse, edge, m + 1)
        pivot = diagonal
        for p in range(m + 1):
            pivot -= edge[p] * beta[p]
        if pivot <= DEPENDENCE * diagonal:
            return False, m, margin, inverse
        for p in range(m + 1):
            for q in range(m + 1):
                inverse[p, q] += beta[p] * beta[q] / pivot
            inverse[p, m + 1] = inverse[m + 1, p] = -beta[p] / pivot
        inverse[m + 1, m + 1] = 1.0 / pivot
    margin[m] = i
    side[i] = 0.0
    gradient[i] = 0.0
    return True, m + 1, margin, inverse


@njit(cache=True)
def leave(margin: Array, m: int, inverse: Array, position: int) -> int:
    """Take the example at this position out of the margin set."""
    k = position + 1
    if m > 1:
        pivot = inverse[k, k]
        for p in range(m + 1):
            if p != k:
                ratio = inverse[p, k] / pivot
                for q in range(m + 1):
                    if q != k:
                        inverse[p, q] -= ratio * inverse[k, q]
        for p in range(m + 1):  # the last one takes the free place
            inverse[k, p] = inverse[m, p]
        for p in range(m + 1):
            inverse[p, k] = inverse[p, m]
    margin[position] = margin[m - 1]
    return m - 1


@njit(cache=True)
def settle(alpha: Array, upper: Array, side: Array, i: int, falls: bool) -> None:
    """Put an example on the bound that it has reached."""
    side[i] = 1.0 if falls else -1.0
    alpha[i] = 0.0 if falls else upper[i]


@njit(cache=True)
def overruns(room: float, speed: float, length: float, slip: float, stops_short: bool) -> bool:
    """Tell whether an example counts on this path: always, or only if it would clearly pass its bound by the end."""
    return not stops_short or room - length * speed < -slip


@njit(cache=True)
def shortest(
    upper: Array, alpha: Array, gradient: Array, side: Array, margin: Array, m: int, da: Array, dg: Array, still: float,
    still_in: float, length: float, noise: float, stops_short: bool,
) -> float:  # fmt: skip
    """Return the distance to the first event within the length."""
    first = length
    for i in range(len(dg)):
        speed = -side[i] * dg[i]
        if speed > still:
            room = max(side[i] * gradient[i], 0.0)
            if room < first * speed and overruns(room, speed, length, noise, stops_short):
                first = room / speed
    for p in range(m):
        speed = abs(da[p])
        if speed > still_in:
            i = margin[p]
            room = max(alpha[i] if da[p] < 0.0 else upper[i] - alpha[i], 0.0)
            if room < first * speed and overruns(room, speed, length, BOX * upper[i], stops_short):
                first = room / speed
    return first


@njit(cache=True)
def tied_events(
    upper: Array, alpha: Array, gradient: Array, side: Array, margin: Array, m: int, da: Array, dg: Array, still: float,
    still_in: float, length: float, noise: float, stops_short: bool, first: float, events: Array,
) -> int:  # fmt: skip
    """Write the events at this distance, as example i or as n + position, and return how many there are."""
    count, n = 0, len(dg)
    for i in range(n):
        speed = -side[i] * dg[i]
        if speed > still:
            room = max(side[i] * gradient[i], 0.0)
            if room - first * speed <= noise and overruns(room, speed, length, noise, stops_short):
                events[count] = i
                count += 1
    for p in range(m):
        speed = abs(da[p])
        if speed > still_in:
            i = margin[p]
            slip = BOX * upper[i]
            room = max(alpha[i] if da[p] < 0.0 else upper[i] - alpha[i], 0.0)
            if room - first * speed <= slip and overruns(room, speed, length, slip, stops_short):
                events[count] = n + p
                count += 1
    return count


@njit(cache=True)
def first_event(
    table: Array, is_matrix: bool, ridge: float, y: Array, weights: Array, upper: Array, alpha: Array, gradient: Array,
    side: Array, margin: Array, m: int, inverse: Array, da: Array, dg: Array, still: float, still_in: float, length: float,
    noise: float, stops_short: bool,
) -> tuple[float, int, int]:  # fmt: skip
    """Return length, kind and index of the first event; ties go by the infinitesimal tie weights.

    With `stops_short` only examples that would be clearly past their bound at the end count, and nothing ties with the
    end. Otherwise the end takes part in the tie like any other event.
    """
    first = shortest(upper, alpha, gradient, side, margin, m, da, dg, still, still_in, length, noise, stops_short)
    if stops_short and first == length:
        return first, END, -1
    n = len(dg)
    events = np.empty(n + m, np.int64)
    count = tied_events(
        upper, alpha, gradient, side, margin, m, da, dg, still, still_in, length, noise, stops_short, first, events
    )
    ends = not stops_short and first >= length * (1.0 - 1e-12)
    winner, earliest = -1, 0.0
    if count == 1 and not ends:
        winner = events[0]
    elif count > 0:
        tie = tie_answer(weights, margin, m, inverse)
        for k in range(count):
            delay = event_delay(table, is_matrix, ridge, y, weights, side, margin, m, tie, dg, da, events[k])
            if delay < earliest or (winner < 0 and not ends):
                winner, earliest = events[k], delay
    if winner < 0:
        return first, END, -1
    if winner < n:
        return first, ENTERS, winner
    return first, FALLS if da[winner - n] < 0.0 else RISES, winner - n


@njit(cache=True)
def tie_answer(weights: Array, margin: Array, m: int, inverse: Array) -> Array:
    """Return how bias and margin answer to the infinitesimal ``p - eps * weights``, per eps."""
    result = np.zeros(m + 1)
    if m > 0:
        for p in range(m + 1):
            for q in range(m):
                result[p] -= inverse[p, q + 1] * weights[margin[q]]
    return result


@njit(cache=True)
def event_delay(
    table: Array, is_matrix: bool, ridge: float, y: Array, weights: Array, side: Array, margin: Array, m: int, tie: Array,
    dg: Array, da: Array, event: int,
) -> float:  # fmt: skip
    """Return by how many eps an event comes later than its tied real place."""
    if event < len(dg):
        gradient = tie[0] * y[event] + weights[event]
        for p in range(m):
            gradient += tie[p + 1] * entry(table, is_matrix, ridge, event, margin[p])
        return float(-gradient / dg[event])
    position = event - len(dg)
    return float(-tie[position + 1] / da[position])


@njit(cache=True)
def exchange(
    table: Array, is_matrix: bool, ridge: float, y: Array, weights: Array, upper: Array, alpha: Array, gradient: Array,
    side: Array, margin: Array, m: int, inverse: Array, da: Array, dg: Array, i: int,
) -> tuple[bool, int, Array, Array]:  # fmt: skip
    """Let an example in the affine hull of the margin set trade places with one of the set.

    Moving along the dependence changes neither the separating plane nor the objective; it ends where a margin example
    reaches a bound and leaves, or where the newcomer reaches its own other bound.
    """
    toward = side[i]
    change = -toward * times(inverse, border(table, is_matrix, ridge, y, margin, m, i), m + 1)[1:]
    tie = tie_answer(weights, margin, m, inverse)
    passed = event_delay(table, is_matrix, ridge, y, weights, side, margin, m, tie, dg, da, i)
    length, later, position = upper[i], 0.0, -1
    for p in range(m):
        k, speed = margin[p], abs(change[p])
        if speed > PIVOT:
            falls = change[p] < 0.0
            distance = max(alpha[k] if falls else upper[k] - alpha[k], 0.0) / speed
            delay = (tie[p + 1] + passed * da[p]) / -change[p]
            slip = BOX * (upper[i] + upper[k] / speed)
            if distance < length - slip or (distance <= length + slip and delay < later):
                length, later, position = distance, delay, p
    for p in range(m):
        alpha[margin[p]] += length * change[p]
    gradient[i] = 0.0
    if position < 0:
        settle(alpha, upper, side, i, toward < 0.0)
        return True, m, margin, inverse
    alpha[i] += toward * length
    settle(alpha, upper, side, margin[position], change[position] < 0.0)
    m = leave(margin, m, inverse, position)
    return enter(table, is_matrix, ridge, y, side, gradient, margin, m, inverse, i)


@njit(cache=True)
def rates(
    table: Array, is_matrix: bool, y: Array, margin: Array, m: int, da: Array, db: float, example: int, shift: Array
) -> Array:
    """Return how the gradient moves with the margin, the bias and the driven quantity."""
    n = len(y)
    if is_matrix:
        dg = -table[example].copy() if example >= 0 else np.zeros(n)
        for p in range(m):
            dg += da[p] * table[margin[p]]
    else:
        dw = -table[example].copy() if example >= 0 else np.zeros(table.shape[1])
        for p in range(m):
            dw += da[p] * table[margin[p]]
        dg = np.dot(table, dw)
    dg += db * y
    if example < 0:
        dg += shift
    return dg


@njit(cache=True)
def stretch(
    table: Array, is_matrix: bool, ridge: float, y: Array, weights: Array, upper: Array, alpha: Array, gradient: Array,
    side: Array, margin: Array, m: int, inverse: Array, example: int, shift: Array, left: float,
    longest: float, noise: float,
) -> tuple[bool, float, Array, Array, float, int, int]:  # fmt: skip
    """Return the path to its next breakpoint: whether only the bias slides, all rates, and the event at its end."""
    if m == 0 and example >= 0:  # nobody can make up for the example: the bias moves until somebody can
        db, da, dg = -y[example], np.empty(0), -y[example] * y
        length, kind, index = first_event(
            table, is_matrix, ridge, y, weights, upper, alpha, gradient, side, margin, m, inverse, da, dg, 0.5, STILL,
            np.inf, noise, False,
        )  # fmt: skip
        return True, db, da, dg, length, kind, index
    solution = np.zeros(1)
    if m > 0:
        right = np.zeros(m + 1)
        if example >= 0:
            right = border(table, is_matrix, ridge, y, margin, m, example)
        else:
            for p in range(m):
                right[p + 1] = -shift[margin[p]]
        solution = times(inverse, right, m + 1)
    da = solution[1:]
    scale = abs(solution[0]) + longest * longest * (1.0 + np.abs(da).sum())
    dg = rates(table, is_matrix, y, margin, m, da, solution[0], example, shift)
    if example >= 0 and not is_matrix:
        dg[example] -= ridge
    length, kind, index = first_event(
        table, is_matrix, ridge, y, weights, upper, alpha, gradient, side, margin, m, inverse, da, dg, STILL * scale,
        STILL, left, noise, example < 0,
    )  # fmt: skip
    return False, solution[0], da, dg, length, kind, index


@njit(cache=True)
def glimpse(
    table: Array, is_matrix: bool, ridge: float, y: Array, weights: Array, upper: Array, alpha: Array, gradient: Array,
    side: Array, margin: Array, m: int, inverse: Array, value: float, example: int, target: float,
    longest: float, noise: float,
) -> float:  # fmt: skip
    """Return the bound of a removal path at its first breakpoint, without touching the state."""
    was = side[example]
    if was == 0.0:
        margin, inverse = margin[:m].copy(), inverse[: m + 1, : m + 1].copy()
        for p in range(m):
            if margin[p] == example:
                m = leave(margin, m, inverse, p)
                break
    side[example] = 0.0
    left = alpha[example] - target
    slides, _, _, dg, length, _, _ = stretch(
        table, is_matrix, ridge, y, weights, upper, alpha, gradient, side, margin, m, inverse, example, np.empty(0), left,
        longest, noise,
    )  # fmt: skip
    side[example] = was
    slope = gradient[example]
    if length == np.inf:
        return value
    if not slides:
        value += length * (slope + 0.5 * length * dg[example])
        left -= length
    return float(value + left * min(slope + length * dg[example], 0.0))


@njit(cache=True)
def walk(
    table: Array, is_matrix: bool, ridge: float, y: Array, weights: Array, upper: Array, alpha: Array, gradient: Array,
    side: Array, margin: Array, m: int, inverse: Array, bias: float, value: float, example: int, target: float,
    shift: Array, below: float, longest: float, noise: float, limit: int,
) -> tuple[int, int, Array, Array, float, float, int]:  # fmt: skip
    """Follow a path: of `example` down to its target, or (example < 0) of the linear term along ``-shift``.

    Stops when it arrives, when the bound on the value at the end is under `below`, or when the limit of breakpoints is
    used up. Returns status, the margin set, bias, value, and what is left of the limit.
    """
    left = 1.0
    while True:
        if example >= 0:
            left = alpha[example] - target
            if left <= 0.0:
                return ARRIVED, m, margin, inverse, bias, value, limit
            if value + left * min(gradient[example], 0.0) < below:
                return PARKED, m, margin, inverse, bias, value, limit
        slides, db, da, dg, length, kind, index = stretch(
            table, is_matrix, ridge, y, weights, upper, alpha, gradient, side, margin, m, inverse, example, shift, left,
            longest, noise,
        )  # fmt: skip
        if limit <= 0 or length == np.inf:
            return STUCK, m, margin, inverse, bias, value, limit
        limit -= 1
        bias += length * db
        for p in range(m):
            alpha[margin[p]] += length * da[p]
        if example >= 0 and not slides:
            value += length * (gradient[example] + 0.5 * length * dg[example])
            alpha[example] -= length
        for i in range(len(gradient)):
            gradient[i] += length * dg[i]
        left -= length
        if kind == END:
            if example < 0:
                return ARRIVED, m, margin, inverse, bias, value, limit
            alpha[example] = target
        elif kind == ENTERS:
            done, m, margin, inverse = enter(table, is_matrix, ridge, y, side, gradient, margin, m, inverse, index)
            if not done:
                done, m, margin, inverse = exchange(
                    table, is_matrix, ridge, y, weights, upper, alpha, gradient, side, margin, m, inverse, da, dg, index
                )
            if not done:
                return STUCK, m, margin, inverse, bias, value, limit
        else:
            settle(alpha, upper, side, margin[index], kind == FALLS)
            m = leave(margin, m, inverse, index)
