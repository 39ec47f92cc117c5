"""Weak duality, compiled: what an answer proves about the optimum. `SvmProblem.judge` explains it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairenum.compiling import entry, inner

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

LEVEL = 1e-12  # the share of all weights below which a slope is flat

# These take writable vectors too, so one version serves all.
_VECTOR = "Array(float64, 1, 'C', readonly=True)"
_COUNTS = "Array(intp, 1, 'C', readonly=True)"


@inner
def bias_interval(kinks: FloatArray, weights: FloatArray, target: float) -> tuple[float, float]:
    """Return the minimisers of ``sum_i weights_i max(0, +-(kinks_i - b))``: where the slope crosses zero.

    The slope starts at ``-target`` (the weight of the positive examples) and rises by ``weights_i`` at ``kinks_i``.
    """
    flat = LEVEL * max(weights.sum(), np.finfo(np.float64).tiny)
    low = high = math.inf
    slope = -target
    for i in np.argsort(kinks, kind="mergesort"):
        if weights[i] > 0.0:
            slope += weights[i]
            if low == math.inf and slope >= -flat:
                low = kinks[i]
            if slope > flat:
                high = kinks[i]
                break
    return low if target > flat else -math.inf, high


@inner
def middle(low: float, high: float) -> float:
    """Return the middle of an interval; its finite end when the other is infinite, 0 if both are."""
    if math.isinf(low):
        return 0.0 if math.isinf(high) else high
    return low if math.isinf(high) else 0.5 * (low + high)


@entry(f"Tuple((float64, float64, float64, float64, float64[::1]))({', '.join([_VECTOR] * 5)})")
def judged(
    y: FloatArray, linear: FloatArray, alpha: FloatArray, upper: FloatArray, product: FloatArray
) -> tuple[float, float, float, float, FloatArray]:
    """Return objective, bound, the ends of the bias interval, and the slack of every example.

    An answer outside its box can seem better than the optimum: it proves nothing, so its objective is -inf.
    """
    kinks, positive = np.empty_like(alpha), 0.0
    for i in range(len(y)):
        kinks[i] = y[i] * (linear[i] - product[i])
        if y[i] > 0.0:
            positive += upper[i]
    low, high = bias_interval(kinks, upper, positive)
    bias = middle(low, high)
    slack = np.empty_like(alpha)
    objective = bound = balance = 0.0
    for i in range(len(y)):
        slack[i] = max(0.0, linear[i] - product[i] - y[i] * bias)
        objective += alpha[i] * (linear[i] - 0.5 * product[i]) if 0.0 <= alpha[i] <= upper[i] else -math.inf
        bound += 0.5 * alpha[i] * product[i] + upper[i] * slack[i]
        balance += y[i] * alpha[i]
    return objective - abs(balance * bias), bound, low, high, slack


@entry(
    f"Tuple((intp[::1], intp[::1], float64[::1]))({_COUNTS}, {_COUNTS}, {', '.join([_VECTOR] * 4)}, {'float64, ' * 3})"
)
def child_bounds(
    used: IntArray, floor: IntArray, cost: FloatArray, alpha: FloatArray, upper: FloatArray, slack: FloatArray,
    bound: float, best: float, tie: float,
) -> tuple[IntArray, IntArray, FloatArray]:  # fmt: skip
    """Return the examples of which a copy may be left out, the copies used of each, and a bound on the optimum then.

    The bound of a child is its parent's less what the slack no longer costs. Best first; among ties the smaller alpha.
    """
    examples = np.flatnonzero(used > floor)
    bounds, loss = np.empty(len(examples)), np.empty(len(examples))
    for p, i in enumerate(examples):
        bounds[p] = bound - (upper[i] - cost[i] * (used[i] - 1)) * slack[i]
        loss[p] = np.round((best - bounds[p]) / tie)
    order = np.argsort(alpha[examples], kind="mergesort")
    order = order[np.argsort(loss[order], kind="mergesort")]
    return examples[order], used[examples[order]], bounds[order]
