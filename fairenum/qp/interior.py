"""A primal-dual interior point method for ``min 1/2 a'Qa - p'a, y'a = total, 0 <= a <= upper``.

Mehrotra's predictor and corrector, with a safeguard. It is the cold start of everything exact: about twenty iterations,
each one factorisation in d dimensions (linear kernel) or n (kernel matrix), whatever the data. An iteration is
compiled: on a hundred examples its many short vector operations would cost ten times their arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairenum.compiling import entry, inner
from fairenum.problem import FloatArray
from fairenum.qp.gram import Gram, Nonzeros

MAX_ITERATIONS = 150
START = 100.0
SHORTEST = 1e-10  # a step below this gets nowhere
# Below this complementarity, relative to the objective, further steps only move rounding errors about.
TARGET = 1e-11
# A step that leaves more of the complementarity than this gets nowhere; a centred one aims at that share of it.
STALLED, CENTRED = 0.95, 0.3
SOLVED = -1.0


@dataclass(frozen=True, slots=True)
class InteriorPoint:
    """An answer strictly inside the box: ``alpha``, the bias, and the multipliers of the two bounds."""

    alpha: FloatArray
    bias: float
    lower_multiplier: FloatArray
    upper_multiplier: FloatArray


class Programme(NamedTuple):
    """What is solved: Q (as signed features, or itself if `is_matrix`), the terms of the programme, and how well."""

    table: FloatArray
    nonzeros: Nonzeros
    is_matrix: bool
    ridge: float
    y: FloatArray
    linear: FloatArray
    total: float
    accuracy: float


class Point(NamedTuple):
    """What moves, in place: alpha, its distance from the upper bound, the multipliers of both bounds, the bias.

    The distance is kept apart: near the bound the difference would round to 0.
    """

    a: FloatArray
    z: FloatArray
    s: FloatArray
    q: FloatArray
    b: FloatArray


class Newton(NamedTuple):
    """The Newton matrix ``Q + diag(shift)``, factorised, and its answer to ``y``: the bias is eliminated."""

    factor: FloatArray
    inverse: FloatArray
    along_y: FloatArray
    pivot: float


# kernel.py has the same: numba looks for changes in the file of a way in alone, so that compiled files share nothing.
@inner
def spread(programme: Programme, plane: FloatArray) -> FloatArray:
    """Return the table times a vector."""
    values, columns, starts = programme.nonzeros
    if len(starts) == 0:
        dense: FloatArray = np.dot(programme.table, plane)
        return dense
    result = np.empty(len(starts) - 1)
    for i in range(len(result)):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * plane[columns[k]]
        result[i] = total
    return result


@inner
def gathered(programme: Programme, weights: FloatArray) -> FloatArray:
    """Return the sum of the rows of the table, weighted."""
    values, columns, starts = programme.nonzeros
    if len(starts) == 0:
        dense: FloatArray = np.dot(weights, programme.table)
        return dense
    result = np.zeros(programme.table.shape[1])
    for i in range(len(weights)):
        for k in range(starts[i], starts[i + 1]):
            result[columns[k]] += weights[i] * values[k]
    return result


@inner
def squared(programme: Programme, weights: FloatArray) -> FloatArray:
    """Return ``table' diag(weights) table``, of a sparse table the lower triangle only."""
    values, columns, starts = programme.nonzeros
    if len(starts) == 0:
        dense: FloatArray = np.dot(programme.table.T, programme.table * weights.reshape((-1, 1)))
        return dense
    result = np.zeros((programme.table.shape[1], programme.table.shape[1]))
    for i in range(len(weights)):
        for k in range(starts[i], starts[i + 1]):
            row, weight = result[columns[k]], weights[i] * values[k]
            for m in range(starts[i], k + 1):
                row[columns[m]] += weight * values[m]
    return result


@inner
def product(programme: Programme, a: FloatArray) -> FloatArray:
    """Return ``Q a``."""
    if programme.is_matrix:
        return spread(programme, a)
    return spread(programme, gathered(programme, a)) + programme.ridge * a


@inner
def substituted(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution of ``L L' x = right``, L by rows."""
    x = right.copy()
    for i in range(len(x)):
        x[i] = (x[i] - np.dot(factor[i, :i], x[:i])) / factor[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= factor[i, i]
        x[:i] -= x[i] * factor[i, :i]
    return x


@inner
def solved(programme: Programme, newton: Newton, right: FloatArray) -> FloatArray:
    """Return the solution of the Newton system, by Woodbury's identity in d dimensions for a linear kernel."""
    if programme.is_matrix:
        return substituted(newton.factor, right)
    core = substituted(newton.factor, gathered(programme, right * newton.inverse))
    result: FloatArray = newton.inverse * (right - spread(programme, core))
    return result


@inner
def factorised(programme: Programme, shift: FloatArray) -> Newton:
    """Factorise the Newton matrix."""
    inverse = shift
    if programme.is_matrix:
        core = programme.table.copy()
        for i in range(len(core)):
            core[i, i] += shift[i]
    else:
        inverse = 1.0 / (shift + programme.ridge)
        core = squared(programme, inverse)
        for i in range(len(core)):
            core[i, i] += 1.0
    newton = Newton(np.ascontiguousarray(np.linalg.cholesky(core)), inverse, shift, 0.0)
    along_y = solved(programme, newton, programme.y)
    return Newton(newton.factor, inverse, along_y, np.dot(programme.y, along_y))


@inner
def newton_step(
    programme: Programme, newton: Newton, point: Point, residual: FloatArray, imbalance: float, lower: FloatArray,
    upper: FloatArray,
) -> tuple[FloatArray, float, FloatArray, FloatArray]:  # fmt: skip
    """Return the Newton step towards ``a s = lower``, ``z q = upper``."""
    a, z, s, q = point.a, point.z, point.s, point.q
    free = solved(programme, newton, lower / a - s - upper / z + q - residual)
    db = (np.dot(programme.y, free) - imbalance) / newton.pivot
    da = free - db * newton.along_y
    return da, db, (lower - s * da) / a - s, (upper + q * da) / z - q


@inner
def longest_step(point: Point, da: FloatArray, ds: FloatArray, dq: FloatArray) -> float:
    """Return the longest step that keeps everything non-negative."""
    fastest = 0.0
    for i in range(len(da)):
        fastest = max(fastest, -da[i] / point.a[i], da[i] / point.z[i], -ds[i] / point.s[i], -dq[i] / point.q[i])
    return 1.0 / fastest if fastest > 0.0 else np.inf


@entry()
def step(programme: Programme, point: Point) -> float:
    """Take one predictor-corrector step in place and return its length; SOLVED if there is nothing left to gain.

    Residuals are recomputed from scratch. They fall at least as fast as complementarity, which is what is judged.
    """
    a, z, s, q, y = point.a, point.z, point.s, point.q, programme.y
    reached, double = product(programme, a), 2 * len(a)
    mu = (np.dot(a, s) + np.dot(z, q)) / double
    if double * mu <= programme.accuracy * (abs(np.dot(programme.linear, a)) + 0.5 * np.dot(a, reached)):
        return SOLVED
    residual = reached - programme.linear + y * point.b[0] - s + q
    imbalance = programme.total - np.dot(y, a)
    newton = factorised(programme, s / a + q / z)
    nothing = np.zeros_like(a)
    da, db, ds, dq = newton_step(programme, newton, point, residual, imbalance, nothing, nothing)
    predicted = min(1.0, longest_step(point, da, ds, dq))
    left = np.dot(a + predicted * da, s + predicted * ds) + np.dot(z - predicted * da, q + predicted * dq)
    centring = mu * (left / double / mu) ** 3
    da, db, ds, dq = newton_step(programme, newton, point, residual, imbalance, centring - da * ds, centring + da * dq)
    length = min(1.0, 0.995 * longest_step(point, da, ds, dq))
    left = np.dot(a + length * da, s + length * ds) + np.dot(z - length * da, q + length * dq)
    if left > STALLED * double * mu:
        # where boxes differ by magnitudes the correction can go round in circles; a centred step always comes nearer
        nearer = np.full_like(a, CENTRED * mu)
        da, db, ds, dq = newton_step(programme, newton, point, residual, imbalance, nearer, nearer)
        length = min(1.0, 0.995 * longest_step(point, da, ds, dq))
    a += length * da
    z -= length * da
    s += length * ds
    q += length * dq
    point.b[0] += length * db
    return length


def interior_point(
    gram: Gram, y: FloatArray, upper: FloatArray, linear: FloatArray, total: float = 0.0, accuracy: float = TARGET
) -> InteriorPoint:
    """Solve to an accuracy relative to the objective, or as far as rounding allows.

    The caller certifies the answer; this function promises only a point inside the box.
    """
    # Copies are writable whatever came in: the compiled step knows one kind of array.
    programme = Programme(
        gram.table, gram.nonzeros, gram.is_matrix, gram.ridge, y.copy(), linear.copy(), total, accuracy
    )
    point = _start(gram, y, upper, linear)
    for _ in range(MAX_ITERATIONS):
        try:
            length = step(programme, point)
        except np.linalg.LinAlgError:
            break
        if not length > SHORTEST:
            break
    return InteriorPoint(point.a, float(point.b[0]), point.s, point.q)


def _start(gram: Gram, y: FloatArray, upper: FloatArray, linear: FloatArray) -> Point:
    """Return a point well inside: half the box, unless that is far beyond what any margin asks for."""
    a = np.minimum(0.5 * upper, START * float(np.abs(linear).max()) / max(float(gram.diagonal.mean()), 1e-300))
    reduced = gram.product(a) - linear
    bias = -float(np.median(y * reduced))
    reduced += y * bias
    floor = max(float(np.abs(reduced).mean()), 1e-3 * float(np.abs(linear).mean()), 1e-12)
    return Point(a, upper - a, np.maximum(reduced, 0.0) + floor, np.maximum(-reduced, 0.0) + floor, np.array([bias]))
