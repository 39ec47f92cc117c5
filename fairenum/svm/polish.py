"""Find the optimum of an SVM problem, exact to rounding, from an approximate alpha or from scratch.

Of several optima it is the canonical one, which `SvmProblem.tie_weights` selects. It is found in three steps:

1. Solve the problem with the linear term ``p - SHIFT * tie weights`` by interior point over a working set: the examples
   for which it is not yet clear on which bound, if any, alpha is (`fairenum.svm.working_set`). This shift rules out
   ties, so that the optimum is a clear vertex.
2. Round to that vertex, and change the linear term so that the rounded alpha is exactly optimal for it.
3. Move the linear term to the shifted one, then back to ``p``, along exact paths with few breakpoints. The last part
   runs along the tie weights, so that it ends at the canonical optimum. Only examples near the margin take part; the
   rest are checked at the end.

`rough_answer` asks libsvm for a first guess where that is faster.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from contextlib import suppress
from functools import cache

import numpy as np
from scipy.linalg import lapack

from fairenum.svm.gram import Gram, open_gram
from fairenum.svm.path import (
    AT_LOWER,
    AT_UPPER,
    ON_MARGIN,
    ActiveSet,
    PathStuck,
    RemovalPath,
    constant_data,
    shift_linear,
)
from fairenum.svm.path_loop import Data
from fairenum.svm.problem import FloatArray, IntArray, SvmProblem
from fairenum.svm.working_set import MATRIX_AT_ONCE, ApproximateSolution, Start, WorkingSetSolver

MANY = 1024  # examples from which libsvm is faster than an interior point
CACHE = 500.0  # megabytes for libsvm's columns of the kernel matrix
MOST_STEPS = 1000  # of libsvm per example: it may hardly progress
SHIFT = 1e-3  # of the mean linear term; far above rounding, far below what moves many examples
LAST_LEG = 1e-3  # of the shift
TIED = 1e-6  # of the last leg: 1e-12 of the linear term, which rounding cannot distinguish from its end
CLEAR = 1e-2  # of the linear term: an example is on a clear bound if its gradient at a guess is farther from 0
NEAR = 20.0  # times the shift: examples within it may come to the margin on the way
WORTHWHILE = 1e-2  # a guess with a larger relative gap belongs to another problem
INDEPENDENT = 1e-9
INSIDE = 1e-3  # the share of its box by which an example is clearly off both bounds


def rough_answer(problem: SvmProblem, upper: FloatArray) -> FloatArray | None:
    """Return libsvm's alpha, good to about three digits; None where libsvm does not apply or saves no time.

    libsvm takes only a linear term of ones. Another constant p only changes the scale: with ``alpha = p beta`` the
    objective is ``p^2 (1'beta - 1/2 beta'Q beta)`` with the upper bounds ``upper / p``.
    """
    allowed, scale = np.flatnonzero(upper > 0.0), float(problem.linear[0])
    if len(allowed) <= MANY or scale <= 0.0 or (problem.linear != scale).any():
        return None
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC  # only here: most problems are linear or small

    kernel = problem.kernel
    svm = SVC(
        C=1.0, kernel=kernel.name, gamma=kernel.gamma, degree=kernel.degree, coef0=kernel.coef0, cache_size=CACHE,
        max_iter=MOST_STEPS * len(allowed),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            svm.fit(problem.X[allowed], problem.y[allowed], sample_weight=upper[allowed] / scale)
        except ValueError:  # its single precision overflows
            return None
    alpha = np.zeros(problem.size)
    alpha[allowed[svm.support_]] = scale * np.abs(svm.dual_coef_[0])
    return np.minimum(alpha, upper)


def optimal_state(
    gram: Gram, problem: SvmProblem, upper: FloatArray, guess: FloatArray | ActiveSet | None = None
) -> ActiveSet:
    """Return the active set of the canonical optimum (`SvmProblem.tie_weights`) for some upper bounds.

    A guess may be an alpha for other upper bounds, since its plane shows which examples are on a bound, or an active
    set for any linear term. A good guess saves time; a bad one does not change the result.
    """
    allowed = upper > 0
    if len(np.unique(problem.y[allowed])) < 2:
        return _nothing(gram, problem, upper)
    crossover = _Crossover(gram, problem, upper)
    if gram.is_matrix and (guess is None or isinstance(guess, ActiveSet)):
        # with many examples, those that a neighbour's plane leaves in doubt take longer to solve for than libsvm takes
        rough = rough_answer(problem, upper)
        guess = guess if rough is None else rough
    start = None if guess is None else _start(gram, problem, upper, guess)
    with suppress(PathStuck):
        return crossover.optimum(crossover.solver.solve(start))
    return crossover.optimum(crossover.solver.solve_all())


class _Crossover:
    """The steps from an interior point for the shifted linear term to the canonical optimum of the problem."""

    def __init__(self, gram: Gram, problem: SvmProblem, upper: FloatArray) -> None:
        self._gram, self._linear, self._upper = gram, problem.linear, upper
        self._data = constant_data(gram, problem)
        self._unit, self._shift = problem.unit, SHIFT * problem.unit * self._data.weights
        self.solver = WorkingSetSolver(gram, problem.y, upper, problem.linear - self._shift, problem.unit)

    def optimum(self, found: ApproximateSolution) -> ActiveSet:
        """Return the canonical optimum: an interior point rounded to a vertex, then moved to the linear term ``p``."""
        state = _vertex(self._gram, self._data, self.solver, found, self._unit)
        walks = np.abs(found.gradient) <= NEAR * SHIFT * self._unit
        walks |= self.solver.wrong(found)
        walks[found.working] = True
        # Rounding grows along a leg and is corrected at its end; the last one is short, so that its ties stay ties.
        for stops, tied in (((1.0, LAST_LEG), 0.0), ((0.0,), TIED)):
            state = _shifted(state, [self._linear - left * self._shift for left in stops], walks, tied)
        return state


def _shifted(state: ActiveSet, stops: list[FloatArray], walks: np.ndarray, tied: float) -> ActiveSet:
    """Return an active set moved to each linear term of `stops` in turn; `tied` is explained in `shift_linear`.

    Only the examples marked in `walks` take part. All take part if otherwise an unmarked one would end on the wrong
    bound, or if too many are marked for a kernel matrix.
    """
    few = np.flatnonzero(walks)
    if len(few) < len(walks) and not (state.gram.is_matrix and len(few) > MATRIX_AT_ONCE):
        part = state.restricted(few)
        for linear in stops:
            shift_linear(part, linear[few], keeps_rounding=True, tied=tied)
        trial = state.joined(part, few, stops[-1])
        if trial.violation() <= trial.gradient_tolerance:
            return trial
    for linear in stops:
        shift_linear(state, linear, tied=tied)
    return state


def _nothing(gram: Gram, problem: SvmProblem, upper: FloatArray) -> ActiveSet:
    """Return the active set of ``alpha = 0``, the only feasible alpha if the allowed examples have one label."""
    allowed = upper > 0
    label = float(problem.y[allowed][0]) if allowed.any() else 0.0
    bias = label * float(problem.linear[allowed].max(initial=0.0))
    side = np.where(allowed, AT_LOWER, 0.0)
    data, nobody = constant_data(gram, problem), np.empty(0, np.intp)
    state = ActiveSet(gram, data, problem.linear, upper, np.zeros(problem.size), bias, side, nobody)
    state.recompute()
    return state


def _start(gram: Gram, problem: SvmProblem, upper: FloatArray, guess: FloatArray | ActiveSet) -> Start:
    """Return the start that a guess gives: the gradient at its plane, and the examples whose bound is in doubt."""
    if isinstance(guess, ActiveSet):
        in_doubt = guess.upper != upper
        in_doubt[guess.margin] = True
        return Start(guess.gradient, in_doubt, guess.alpha if np.array_equal(guess.linear, problem.linear) else None)
    alpha, product = np.clip(guess, 0.0, upper), gram.product(guess)
    certificate, _ = problem.judge(alpha, upper, product)
    gap = certificate.relative_gap if np.array_equal(alpha, guess) else math.inf
    gradient = product + problem.y * certificate.bias - problem.linear
    in_doubt = np.minimum(alpha, upper - alpha) > 1e-6 * upper
    if gap > WORTHWHILE:
        return Start(gradient, in_doubt, guess)
    return Start(gradient, in_doubt | (np.abs(gradient) <= CLEAR * problem.unit), guess, is_close=True)


def _vertex(gram: Gram, data: Data, solver: WorkingSetSolver, found: ApproximateSolution, unit: float) -> ActiveSet:
    """Return a vertex near an interior point, as an active set that is optimal for a nearby linear term."""
    y, upper, working, point = data.y, solver.upper, found.working, found.point
    box = upper[working]
    # A box can be far larger than any answer needs: an alpha that is a tiny share of it need not be on its bound.
    scale = np.minimum(box, float(found.alpha.max()) or 1.0)
    below, above = point.alpha / scale, (box - point.alpha) / scale
    low, high = point.lower_multiplier / unit > below, point.upper_multiplier / unit > above
    free = ~(low | high)
    inside = free & (np.minimum(below, above) > INSIDE)
    # Where many lie near a bound, they must not displace those clearly inside their box.
    for candidates in (working[free], working[inside]):
        margin = _independent(gram, y, candidates)
        alpha = _rounded(found.alpha, y, upper, np.setdiff1d(working, margin, assume_unique=True), margin)
        if abs(float(y @ alpha)) <= 1e-9 * float(alpha.sum()):
            break
    else:
        raise PathStuck  # rounding moved more weight than the margin can balance
    side = np.where(alpha > 0, AT_UPPER, AT_LOWER)
    side[margin] = ON_MARGIN
    side[~solver.allowed] = 0.0
    return _made_optimal(gram, data, solver.linear, upper, alpha, point.bias, side, margin)


def _rounded(alpha: FloatArray, y: FloatArray, upper: FloatArray, bound: IntArray, margin: IntArray) -> FloatArray:
    """Return alpha with examples `bound` on the nearer bound, and examples `margin` moved to keep ``y'alpha = 0``."""
    alpha = alpha.copy()
    alpha[bound] = np.where(alpha[bound] < 0.5 * upper[bound], 0.0, upper[bound])
    alpha[margin] = _balanced(alpha[margin], y[margin], upper[margin], -float(np.delete(y * alpha, margin).sum()))
    return alpha


def _independent(gram: Gram, y: FloatArray, candidates: IntArray) -> IntArray:
    """Return a largest affinely independent subset of the candidates, by pivoted Cholesky factorisation."""
    if len(candidates) == 0:
        return candidates
    matrix = gram.block(candidates, candidates)
    matrix += max(float(matrix.diagonal().mean()), 1e-300) * np.outer(y[candidates], y[candidates])
    _, pivots, rank, _ = lapack.dpstrf(matrix, tol=INDEPENDENT * float(matrix.diagonal().max()))
    return np.sort(candidates[pivots[:rank] - 1])


def _balanced(alpha: FloatArray, y: FloatArray, upper: FloatArray, total: float) -> FloatArray:
    """Return alpha plus ``step * y``, cut to its bounds, for the step that brings ``y'alpha`` nearest to `total`."""

    def moved(step: float) -> FloatArray:
        return np.clip(alpha + step * y, 0.0, upper)

    def excess(step: float) -> float:
        return float(y @ moved(step)) - total

    # linear between the steps at which an example meets a bound
    steps = np.sort(np.concatenate([[0.0], -alpha * y, (upper - alpha) * y]))
    after = bisect_left(steps, 0.0, key=excess)
    if after in (0, len(steps)):
        return moved(steps[max(after - 1, 0)])
    low, high = steps[after - 1 : after + 1]
    below, above = excess(low), excess(high)
    # from the nearer end: in a large box the other may be so far away that all digits are lost
    near, missing = (low, below) if -below <= above else (high, above)
    return moved(near - missing * ((high - low) / (above - below)))


def _made_optimal(
    gram: Gram, data: Data, linear: FloatArray, upper: FloatArray, alpha: FloatArray, bias: float, side: FloatArray,
    margin: IntArray,
) -> ActiveSet:  # fmt: skip
    """Return the active set of a vertex, for the linear term changed where needed to make the vertex optimal."""
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
    """Load the compiled loops, or compile them on the very first run, so that nothing waits for them later."""
    problem = SvmProblem([[0.0], [1.0], [2.0], [3.0]], [-1.0, -1.0, 1.0, 1.0], 10.0)
    problem.certify(np.zeros(problem.size))  # while another process compiles the paths' loop
    state = optimal_state(open_gram(problem), problem, problem.upper)
    example = int(state.margin[0])
    RemovalPath(state, problem.objective(state.alpha), example, 0.0).advance(-np.inf)
