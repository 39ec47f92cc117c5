"""A primal-dual interior point method for ``min 1/2 a'Qa - p'a`` subject to ``y'a = total``, ``0 <= a <= upper``.

It is Mehrotra's predictor-corrector method, with a centred step where the corrector stalls. The exact methods of this
package start from its result if they have no better guess. It takes about twenty iterations whatever the data, each
with one factorisation in d dimensions (linear kernel, d columns) or n (kernel matrix of n examples). It is compiled
because on a hundred examples the many short vector operations would cost ten times their arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairenum.runtime.budget import checkpoint
from fairenum.runtime.compiling import entry, in_any_order, inner
from fairenum.svm.gram import LARGEST_BOX, Gram, needed_alpha
from fairenum.svm.loop_rows import Nonzeros, Places
from fairenum.svm.problem import FloatArray

MAX_ITERATIONS = 150
START = 100.0
SHORTEST = 1e-10  # a shorter step makes no progress
# Below this complementarity, relative to the objective, further steps only move rounding errors.
TARGET = 1e-11
# Shares of the complementarity: a step that leaves more than the first is stalled; a centred step aims at the second.
STALLED, CENTRED = 0.95, 0.3
SOLVED = -1.0
PREDICTS, CORRECTS, CENTRES = 0, 1, 2


@dataclass(frozen=True, slots=True)
class InteriorPoint:
    """An approximate optimum: alpha strictly between its bounds, the bias, and the multipliers of both bounds."""

    alpha: FloatArray
    bias: float
    lower_multiplier: FloatArray
    upper_multiplier: FloatArray


class Programme(NamedTuple):
    """The quadratic programme; ``table`` is Q itself if `is_matrix`, else each example's features times its label.

    ``accuracy`` is the relative accuracy to reach. ``exclusive`` is a half-open range of columns in which no example
    has two nonzeros, such as the values of one category. Such columns make up most of a wide table; their part of the
    Newton matrix is diagonal, so they are eliminated one by one.
    """

    table: FloatArray
    nonzeros: Nonzeros
    exclusive: tuple[int, int]
    is_matrix: bool
    ridge: float
    y: FloatArray
    linear: FloatArray
    total: float
    accuracy: float


class Point(NamedTuple):
    """The current iterate: alpha (a), ``upper - alpha`` (z), multipliers of lower (s) and upper bounds (q), bias (b).

    ``z`` is stored because a computed difference would round to 0.
    """

    a: FloatArray
    z: FloatArray
    s: FloatArray
    q: FloatArray
    b: FloatArray


class Step(NamedTuple):
    """The change of alpha (a), of the bias (b), and of the multipliers of the lower (s) and upper bounds (q).

    ``upper - alpha`` changes by ``-a``.
    """

    a: FloatArray
    b: float
    s: FloatArray
    q: FloatArray


class Core(NamedTuple):
    """A factorised positive definite matrix, in which the block of the exclusive columns (`Programme`) is diagonal.

    ``pivots`` is that diagonal, ``edge`` the block between exclusive and other columns, and ``factor`` the Cholesky
    factor of the other columns' block after the exclusive columns are eliminated (the Schur complement).
    """

    pivots: FloatArray
    edge: FloatArray
    factor: FloatArray


class Newton(NamedTuple):
    """The factorised Newton matrix ``Q + diag(shift)``, with what is needed to eliminate the bias.

    ``along_y`` is the solution of the Newton system for the right side y (the labels), ``pivot`` is ``y'along_y``, and
    ``inverse`` is ``1 / (shift + ridge)`` if Q is given by features.
    """

    core: Core
    inverse: FloatArray
    along_y: FloatArray
    pivot: float


# Sums of arrays are written as loops, which compile in a fraction of the time that array expressions take. Compiled
# files share no code: numba looks for changes only in the file of an entry point.
@in_any_order
def dot(left: FloatArray, right: FloatArray, size: int) -> float:
    """Return the inner product of the first `size` numbers of two vectors."""
    total = 0.0
    for k in range(size):
        total += left[k] * right[k]
    return float(total)


@inner
def spread(programme: Programme, plane: FloatArray) -> FloatArray:
    """Return the programme's table times a vector."""
    values, columns, starts = programme.nonzeros
    result = np.empty(len(programme.y))
    for i in range(len(result)):
        if len(starts) == 0:
            result[i] = dot(programme.table[i], plane, len(plane))
        else:
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += values[k] * plane[columns[k]]
            result[i] = total
    return result


@inner
def gathered(programme: Programme, weights: FloatArray) -> FloatArray:
    """Return the weighted sum of the rows of the programme's table."""
    values, columns, starts = programme.nonzeros
    result = np.zeros(programme.table.shape[1])
    for i in range(len(weights)):
        if len(starts) == 0:
            row = programme.table[i]
            for k in range(len(row)):
                result[k] += weights[i] * row[k]
        else:
            for k in range(starts[i], starts[i + 1]):
                result[columns[k]] += weights[i] * values[k]
    return result


@inner
def weighted(table: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the rows of a table, each times its weight."""
    result = table.copy()
    for i in range(len(weights)):
        row = result[i]
        for k in range(len(row)):
            row[k] *= weights[i]
    return result


@inner
def filled_from(columns: Places, start: int, end: int, first: int) -> int:
    """Return the first position in ``range(start, end)`` at which `columns` is at least `first`, else `end`."""
    while start < end and columns[start] < first:
        start += 1
    return start


@inner
def squared(programme: Programme, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the three blocks of ``table' diag(weights) table`` that `factorised_core` takes.

    These are the diagonal of the exclusive columns (see `Programme`), the block between the exclusive and the other
    columns, and the block of the other columns, of which a sparse table fills the lower triangle only.
    """
    values, columns, starts = programme.nonzeros
    first, last = programme.exclusive
    wide, others = last - first, programme.table.shape[1] - (last - first)
    pivots, edge = np.zeros(wide), np.zeros((wide, others))
    if len(starts) == 0:
        dense: FloatArray = np.dot(programme.table.T, weighted(programme.table, weights))
        return pivots, edge, dense
    rest = np.zeros((others, others))
    for i in range(len(weights)):
        # the others before the exclusive columns, the one of these that is filled, the others after them
        ends = starts[i], filled_from(columns, starts[i], starts[i + 1], first), starts[i + 1]
        own = ends[1] < ends[2] and columns[ends[1]] < last
        for k in range(ends[0], ends[2]):
            weight = weights[i] * values[k]
            if own and k == ends[1]:
                pivots[columns[k] - first] += weight * values[k]
                continue
            is_after = k >= ends[1]
            place = columns[k] - wide if is_after else columns[k]
            row = rest[place]
            for m in range(ends[0], ends[1] if is_after else k + 1):
                row[columns[m]] += weight * values[m]
            for m in range(ends[1] + own, k + 1):
                row[columns[m] - wide] += weight * values[m]
            if own:
                edge[columns[ends[1]] - first, place] += weight * values[ends[1]]
    return pivots, edge, rest


@inner
def factorised_core(pivots: FloatArray, edge: FloatArray, rest: FloatArray) -> Core:
    """Return the factorisation of a positive definite matrix, given by its three blocks; see `Core`."""
    if len(pivots) > 0:
        inverse = np.empty(len(pivots))
        for k in range(len(pivots)):
            inverse[k] = 1.0 / pivots[k]
        explained = np.dot(edge.T, weighted(edge, inverse))
        for k in range(len(rest)):
            for m in range(len(rest)):
                rest[k, m] -= explained[k, m]
    return Core(pivots, edge, np.ascontiguousarray(np.linalg.cholesky(rest)))


@inner
def solved_core(core: Core, first: int, right: FloatArray) -> FloatArray:
    """Return the solution of a factorised system for a right side; exclusive columns (`Programme`) begin at `first`."""
    wide, edge, result = len(core.pivots), core.edge, right.copy()
    others = np.empty(len(right) - wide)
    for k in range(len(others)):
        others[k] = right[k if k < first else k + wide]
    for k in range(wide):
        result[first + k] /= core.pivots[k]
        for m in range(len(others)):
            others[m] -= result[first + k] * edge[k, m]
    others = substituted(core.factor, others)
    for k in range(wide):
        result[first + k] -= dot(edge[k], others, len(others)) / core.pivots[k]
    for k in range(len(others)):
        result[k if k < first else k + wide] = others[k]
    return result


@inner
def product(programme: Programme, a: FloatArray) -> FloatArray:
    """Return ``Q a``."""
    if programme.is_matrix:
        return spread(programme, a)
    result = spread(programme, gathered(programme, a))
    for i in range(len(a)):
        result[i] += programme.ridge * a[i]
    return result


@inner
def substituted(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution x of ``L L' x = right``, where L is the lower triangular `factor`."""
    x = right.copy()
    for i in range(len(x)):
        x[i] = (x[i] - dot(factor[i], x, i)) / factor[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= factor[i, i]
        row, known = factor[i], x[i]
        for k in range(i):
            x[k] -= known * row[k]
    return x


@inner
def solved(programme: Programme, newton: Newton, right: FloatArray) -> FloatArray:
    """Return the solution of the Newton system for one right side, by Woodbury's identity if Q is given by features."""
    if programme.is_matrix:
        return substituted(newton.core.factor, right)
    result, inverse = np.empty(len(right)), newton.inverse
    for i in range(len(right)):
        result[i] = right[i] * inverse[i]
    reached = spread(programme, solved_core(newton.core, programme.exclusive[0], gathered(programme, result)))
    for i in range(len(right)):
        result[i] = inverse[i] * (right[i] - reached[i])
    return result


@inner
def factorised(programme: Programme, shift: FloatArray) -> Newton:
    """Return the factorisation of the Newton matrix ``Q + diag(shift)``."""
    inverse, pivots, edge = shift, np.empty(0), np.empty((0, 0))
    if programme.is_matrix:
        rest = programme.table.copy()
        for i in range(len(rest)):
            rest[i, i] += shift[i]
    else:
        inverse = np.empty(len(shift))
        for i in range(len(shift)):
            inverse[i] = 1.0 / (shift[i] + programme.ridge)
        pivots, edge, rest = squared(programme, inverse)
        for k in range(len(pivots)):
            pivots[k] += 1.0
        for i in range(len(rest)):
            rest[i, i] += 1.0
    newton = Newton(factorised_core(pivots, edge, rest), inverse, shift, 0.0)
    along_y = solved(programme, newton, programme.y)
    return Newton(newton.core, inverse, along_y, dot(programme.y, along_y, len(along_y)))


@inner
def newton_step(
    programme: Programme, newton: Newton, point: Point, residual: FloatArray, imbalance: float, lower: FloatArray,
    upper: FloatArray,
) -> Step:  # fmt: skip
    """Return the Newton step towards ``a_i s_i = lower_i`` and ``z_i q_i = upper_i``; see `Point` for these names.

    `residual` is the gradient of the Lagrangian, `imbalance` is ``total - y'a``; the step aims at 0 for both.
    """
    a, z, s, q, n = point.a, point.z, point.s, point.q, len(point.a)
    right = np.empty(n)
    for i in range(n):
        right[i] = lower[i] / a[i] - s[i] - upper[i] / z[i] + q[i] - residual[i]
    da, ds, dq = solved(programme, newton, right), right, np.empty(n)
    db = (dot(programme.y, da, n) - imbalance) / newton.pivot
    for i in range(n):
        da[i] -= db * newton.along_y[i]
        ds[i] = (lower[i] - s[i] * da[i]) / a[i] - s[i]
        dq[i] = (upper[i] + q[i] * da[i]) / z[i] - q[i]
    return Step(da, db, ds, dq)


@inner
def longest_step(point: Point, move: Step) -> float:
    """Return the largest multiple of a step that keeps alpha, ``upper - alpha`` and the multipliers non-negative."""
    fastest, a, z, s, q = 0.0, point.a, point.z, point.s, point.q
    for i in range(len(a)):
        da, ds, dq = move.a[i], move.s[i], move.q[i]
        fastest = max(fastest, -da / a[i], da / z[i], -ds / s[i], -dq / q[i])
    return 1.0 / fastest if fastest > 0.0 else np.inf


@in_any_order
def complementarity(point: Point, move: Step, length: float) -> float:
    """Return ``a's + z'q`` after `length` times a step; see `Point` for these names."""
    total, a, z, s, q = 0.0, point.a, point.z, point.s, point.q
    for i in range(len(a)):
        total += (a[i] + length * move.a[i]) * (s[i] + length * move.s[i])
        total += (z[i] - length * move.a[i]) * (q[i] + length * move.q[i])
    return float(total)


@inner
def take(point: Point, move: Step, length: float) -> None:
    """Move a point by `length` times a step, in place."""
    a, z, s, q = point.a, point.z, point.s, point.q
    for i in range(len(a)):
        a[i] += length * move.a[i]
        z[i] -= length * move.a[i]
        s[i] += length * move.s[i]
        q[i] += length * move.q[i]
    point.b[0] += length * move.b


@entry()
def step(programme: Programme, point: Point) -> float:
    """Take one predictor-corrector step in place and return its length, or SOLVED if the accuracy is reached already.

    The accuracy is tested on the complementarity alone: the residuals, recomputed at every step, fall at least as fast.
    """
    a, z, s, q, y, linear, n = point.a, point.z, point.s, point.q, programme.y, programme.linear, len(point.a)
    reached, double = product(programme, a), 2 * n
    mu = (dot(a, s, n) + dot(z, q, n)) / double
    if double * mu <= programme.accuracy * (abs(dot(linear, a, n)) + 0.5 * dot(a, reached, n)):
        return SOLVED
    residual, shift, lower, upper = reached, np.empty(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        residual[i] = reached[i] - linear[i] + y[i] * point.b[0] - s[i] + q[i]
        shift[i] = s[i] / a[i] + q[i] / z[i]
    newton, imbalance, length, left, attempt = factorised(programme, shift), programme.total - dot(y, a, n), 0.0, 0.0, 0
    while True:
        move = newton_step(programme, newton, point, residual, imbalance, lower, upper)
        length = min(1.0, (1.0 if attempt == PREDICTS else 0.995) * longest_step(point, move))
        left = complementarity(point, move, length)
        if attempt == CENTRES or (attempt == CORRECTS and left <= STALLED * double * mu):
            break
        attempt += 1
        # where boxes differ by magnitudes the correction can cycle; a centred step always makes progress
        share = left / double / mu
        centring = mu * share * share * share if attempt == CORRECTS else CENTRED * mu
        for i in range(n):
            lower[i] = centring - move.a[i] * move.s[i] if attempt == CORRECTS else centring
            upper[i] = centring + move.a[i] * move.q[i] if attempt == CORRECTS else centring
    take(point, move, length)
    return length


def interior_point(
    gram: Gram, y: FloatArray, upper: FloatArray, linear: FloatArray, total: float = 0.0, accuracy: float = TARGET
) -> InteriorPoint:
    """Solve this module's quadratic programme to a relative `accuracy`, or as far as rounding permits."""
    # Copies are writable: the compiled step takes one type of array.
    programme = Programme(
        gram.table, gram.nonzeros, gram.exclusive, gram.is_matrix, gram.ridge, y.copy(), linear.copy(), total, accuracy
    )
    box = np.minimum(upper, LARGEST_BOX * needed_alpha(gram, linear))
    point = _found(programme, gram, box)
    if (point.alpha > 0.5 * box)[box < upper].any():  # too small a box
        return _found(programme, gram, upper)
    return point


def _found(programme: Programme, gram: Gram, upper: FloatArray) -> InteriorPoint:
    point = _start(gram, programme.y, upper, programme.linear)
    for _ in range(MAX_ITERATIONS):
        checkpoint()
        try:
            length = step(programme, point)
        except (np.linalg.LinAlgError, ZeroDivisionError):  # rounding has brought the point to its bounds
            break
        if not length > SHORTEST:
            break
    return InteriorPoint(point.a, float(point.b[0]), point.s, point.q)


def _start(gram: Gram, y: FloatArray, upper: FloatArray, linear: FloatArray) -> Point:
    """Return a first iterate: alpha at half its upper bound, or at START times `needed_alpha` if this is less."""
    a = np.minimum(0.5 * upper, START * needed_alpha(gram, linear))
    reduced = gram.product(a) - linear
    bias = -float(np.median(y * reduced))
    reduced += y * bias
    floor = max(float(np.abs(reduced).mean()), 1e-3 * float(np.abs(linear).mean()), 1e-12)
    return Point(a, upper - a, np.maximum(reduced, 0.0) + floor, np.maximum(-reduced, 0.0) + floor, np.array([bias]))
