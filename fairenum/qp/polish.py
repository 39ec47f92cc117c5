"""From an approximate answer, or none, to the canonical optimal answer, exact to rounding.

1. Solve a slightly shifted problem, ``p - SHIFT * tie weights``, by interior point, over a working set: the examples
   whose bound a guess does not tell (all of them without a guess, or if it told too many wrong). The shift is generic:
   no ties, so the answer is a clear vertex.
2. Cross over to that vertex; what the rounding cost is written into the linear term, so that the state is exactly
   optimal for a linear term close to the one wanted.
3. Move the linear term to the shifted one, then back to ``p`` itself: a few exact breakpoints. The last stretch comes
   in along the tie weights, which makes the answer the canonical one.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cache

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import brentq

from fairenum.problem import FloatArray, IntArray, SvmProblem
from fairenum.qp.activeset import AT_LOWER, AT_UPPER, EPSILON, ON_MARGIN, ActiveSet, constant_data
from fairenum.qp.gram import Gram, open_gram
from fairenum.qp.interior import interior_point
from fairenum.qp.kernel import Data
from fairenum.qp.path import PathStuck, RemovalPath, shift_linear

SHIFT = 1e-3  # of the mean linear term; far above rounding, far below what moves many examples
LAST_LEG = 1e-3  # of the shift
# An example is on a clear bound where the gradient of a guess is this share of the linear term away from 0, or more if
# the guess is the answer to something else.
CLEAR, FAR = 1e-2, 1.0
WORTHWHILE = 1e-2  # a guess with a larger relative gap is the answer to something else
MOST_WRONG = 30  # examples on a wrong bound that are walked to the right one sooner than all are solved for again
INDEPENDENT = 1e-9
INSIDE = 1e-3  # the share of its box by which an example is clearly off both bounds


def optimal_state(gram: Gram, problem: SvmProblem, upper: FloatArray, guess: FloatArray | None = None) -> ActiveSet:
    """Return the canonical optimum within the box; a good guess makes it cheap, a bad one does not make it wrong.

    A guess may be the answer within another box: it is the plane that tells which examples are clearly on a bound.
    """
    allowed = upper > 0
    if len(np.unique(problem.y[allowed])) < 2:
        return _nothing(gram, problem, upper)
    crossing = _Crossing(gram, problem, upper)
    if guess is not None:
        alpha, gradient, gap = _on_clear_bounds(gram, problem, upper, guess)
        is_free, scale = (alpha > 0) & (alpha < upper), float(np.abs(problem.linear).mean())
        for window in (CLEAR, FAR) if gap <= WORTHWHILE else (FAR,):
            works = allowed & (is_free | (np.abs(gradient) <= window * scale))
            if _is_balanced(problem.y, upper, alpha, works):
                with suppress(PathStuck):
                    state = crossing.start(alpha, works)
                    if crossing.wrong(state) <= MOST_WRONG:
                        return crossing.finish(state)
    return crossing.finish(crossing.start(np.zeros(problem.size), allowed))


class _Crossing:
    """The way from an interior point of the shifted problem to the answer of the problem itself."""

    def __init__(self, gram: Gram, problem: SvmProblem, upper: FloatArray) -> None:
        self._gram, self._linear, self._upper = gram, problem.linear, upper
        self._data = constant_data(gram, problem)
        self._shift = SHIFT * float(np.abs(problem.linear).mean()) * self._data.weights

    def start(self, on_bounds: FloatArray, works: np.ndarray) -> ActiveSet:
        """Solve the shifted problem for a working set, and round to a vertex."""
        shifted, working = self._linear - self._shift, np.flatnonzero(works)
        return _vertex(self._gram, self._data, self._upper, shifted, on_bounds, working, self._upper > 0)

    def wrong(self, state: ActiveSet) -> int:
        """Return how many examples turned out to be on a wrong bound."""
        return int(np.count_nonzero(state.linear != self._linear - self._shift)) - len(state.margin)

    def finish(self, state: ActiveSet) -> ActiveSet:
        """Move on to the problem itself."""
        # Rounding gathers along a leg and is put right at its end; the last one is short, so that its ties stay ties.
        for left in (1.0, LAST_LEG, 0.0):
            shift_linear(state, self._linear - left * self._shift)
        return state


def _nothing(gram: Gram, problem: SvmProblem, upper: FloatArray) -> ActiveSet:
    """Return the only feasible answer when one class is left: alpha = 0."""
    allowed = upper > 0
    label = float(problem.y[allowed][0]) if allowed.any() else 0.0
    bias = label * float(problem.linear[allowed].max(initial=0.0))
    side = np.where(allowed, AT_LOWER, 0.0)
    data, nobody = constant_data(gram, problem), np.empty(0, np.intp)
    state = ActiveSet(gram, data, problem.linear, upper, np.zeros(problem.size), bias, side, nobody)
    state.recompute()
    return state


def _on_clear_bounds(
    gram: Gram, problem: SvmProblem, upper: FloatArray, guess: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return the guess with clear examples put on their bound, its gradient at the best bias, and its relative gap."""
    alpha, product = np.clip(guess, 0.0, upper), gram.product(guess)
    certificate, _ = problem.judge(alpha, upper, product)
    gap = certificate.relative_gap if np.array_equal(alpha, guess) else math.inf
    gradient = product + problem.y * certificate.bias - problem.linear
    near = np.minimum(alpha, upper - alpha) <= 1e-6 * upper
    alpha[near] = np.where(gradient[near] > 0, 0.0, upper[near])
    return alpha, gradient, gap


def _is_balanced(y: FloatArray, upper: FloatArray, alpha: FloatArray, works: np.ndarray) -> bool:
    """Tell whether the working set can make up for the label balance of the other examples."""
    total = -float(y[~works] @ alpha[~works])
    capacity = upper[works]
    most = float(capacity[y[works] > 0].sum())
    least = -float(capacity[y[works] < 0].sum())
    return bool(least < total < most)


def _vertex(
    gram: Gram, data: Data, upper: FloatArray, linear: FloatArray, on_bounds: FloatArray, working: IntArray,
    allowed: np.ndarray,
) -> ActiveSet:  # fmt: skip
    """Solve for the working set and round to a state that is optimal for some linear term near `linear`."""
    alpha, y = on_bounds.copy(), data.y
    alpha[working] = 0.0
    fixed = gram.product(alpha)
    total = -float(y @ alpha)
    inner = gram if len(working) == len(y) else gram.restrict(working)
    box = upper[working]
    point = interior_point(inner, y[working], box, (linear - fixed)[working], total)
    share = point.alpha / box
    scale = float(np.abs(linear).mean())
    low, high = point.lower_multiplier / scale > share, point.upper_multiplier / scale > 1.0 - share
    alpha[working], free = np.clip(point.alpha, 0.0, box), ~(low | high)
    inside = free & (np.minimum(share, 1.0 - share) > INSIDE)
    # Where many lie near a bound, those clearly inside their box must not give way to them.
    for candidates in (working[free], working[inside]):
        margin = _independent(gram, y, candidates)
        rounded = _rounded(alpha, y, upper, np.setdiff1d(working, margin, assume_unique=True), margin)
        if abs(float(y @ rounded)) <= 1e-9 * float(rounded.sum()):
            break
    else:
        raise PathStuck  # rounding moved more weight than the margin can make up for
    alpha = rounded
    side = np.where(alpha > 0, AT_UPPER, AT_LOWER)
    side[margin] = ON_MARGIN
    side[~allowed] = 0.0
    return _made_optimal(gram, data, linear, upper, alpha, point.bias, side, margin)


def _rounded(alpha: FloatArray, y: FloatArray, upper: FloatArray, bound: IntArray, margin: IntArray) -> FloatArray:
    """Put some examples on their nearer bound, and let the margin make up for it."""
    alpha = alpha.copy()
    alpha[bound] = np.where(alpha[bound] < 0.5 * upper[bound], 0.0, upper[bound])
    alpha[margin] = _balanced(alpha[margin], y[margin], upper[margin], -float(np.delete(y * alpha, margin).sum()))
    return alpha


def _independent(gram: Gram, y: FloatArray, candidates: IntArray) -> IntArray:
    """Return affinely independent examples among the candidates, by pivoted Cholesky."""
    if len(candidates) == 0:
        return candidates
    matrix = gram.block(candidates, candidates)
    matrix += max(float(matrix.diagonal().mean()), 1e-300) * np.outer(y[candidates], y[candidates])
    _, pivots, rank, _ = lapack.dpstrf(matrix, tol=INDEPENDENT * float(matrix.diagonal().max()))
    return np.sort(candidates[pivots[:rank] - 1])


def _balanced(alpha: FloatArray, y: FloatArray, upper: FloatArray, total: float) -> FloatArray:
    """Move margin values inside their box, all by the same amount, until ``y'alpha = total`` or the box ends."""

    def moved(step: float) -> FloatArray:
        return np.clip(alpha + step * y, 0.0, upper)

    def excess(step: float) -> float:
        return float(y @ moved(step)) - total

    furthest = float(upper.sum())
    if excess(furthest) <= 0.0:
        return moved(furthest)
    if excess(-furthest) >= 0.0:
        return moved(-furthest)
    return moved(brentq(excess, -furthest, furthest, xtol=EPSILON * furthest, rtol=4.0 * EPSILON))


def _made_optimal(
    gram: Gram, data: Data, linear: FloatArray, upper: FloatArray, alpha: FloatArray, bias: float, side: FloatArray,
    margin: IntArray,
) -> ActiveSet:  # fmt: skip
    """Return the state together with the nearest linear term for which it is optimal."""
    reached = gram.product(alpha) + data.y * bias
    gradient = reached - linear
    suited = linear.copy()
    suited[margin] = reached[margin]
    wrong = side * gradient < 0
    suited[wrong] = reached[wrong] - 0.1 * side[wrong] * np.abs(gradient[wrong])
    state = ActiveSet(gram, data, suited, upper, alpha, bias, side, margin)
    state.gradient = reached - suited
    state.gradient[margin] = 0.0
    return state


@cache
def warm_up() -> None:
    """Load the compiled inner loop, or compile it on the first run ever, so that nothing later waits for it."""
    problem = SvmProblem([[0.0], [1.0], [2.0], [3.0]], [-1.0, -1.0, 1.0, 1.0], 10.0)
    state = optimal_state(open_gram(problem), problem, problem.upper)
    example = int(state.margin[0])
    RemovalPath(state, problem.objective(state.alpha), example, 0.0).advance(-np.inf)
