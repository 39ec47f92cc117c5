"""Weak-duality certificates, which prove how near a solution is to the optimum (`SvmProblem.judge`); compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fairenum.runtime.compiling import entry, in_any_order, inner

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Copies = npt.NDArray[np.unsignedinteger[Any]]  # per example, in the smallest type that holds them: queues are long
LEVEL = 1e-12  # the share of all weights below which a slope is flat
TINY = float(np.finfo(np.float64).tiny)
NEAR = 1e-3  # how far from the guessed bias kinks are searched first, as a share of their usual size


def middle(low: float, high: float) -> float:
    """Return the middle of an interval; the finite end if one end is infinite, 0 if both are."""
    if math.isinf(low):
        return 0.0 if math.isinf(high) else high
    return low if math.isinf(high) else 0.5 * (low + high)


centre = inner(middle)


@in_any_order
def dot(left: FloatArray, right: FloatArray) -> float:
    """Return the inner product of two vectors."""
    total = 0.0
    for k in range(len(right)):
        total += left[k] * right[k]
    return total


@in_any_order
def total_of(numbers: FloatArray) -> float:
    """Return the sum of a vector, added in whichever order is fastest."""
    total = 0.0
    for number in numbers:
        total += number
    return total


@in_any_order
def weight_before(kinks: FloatArray, weights: FloatArray, place: float) -> float:
    """Return the total weight of the kinks below `place`; a kink's weight is the rise of a function's slope there."""
    total = 0.0
    for i in range(len(kinks)):
        total += weights[i] if kinks[i] < place else 0.0
    return total


@inner
def some(kinks: FloatArray, weights: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Return the kinks of a piecewise linear function with ``low <= kink <= high``, and the weights of these kinks."""
    count, places, heights = 0, np.empty(len(kinks)), np.empty(len(kinks))
    for i in range(len(kinks)):
        if low <= kinks[i] <= high:
            places[count], heights[count] = kinks[i], weights[i]
            count += 1
    return places[:count], heights[:count]


@inner
def crossing(kinks: FloatArray, weights: FloatArray, slope: float, level: float) -> float:
    """Return the first kink at which the slope of a piecewise linear function exceeds `level`, or infinity.

    The slope is `slope` before all kinks and rises by ``weights_i`` at ``kinks_i``. The search, a quickselect, takes
    linear expected time.
    """
    while len(kinks) > 0:
        pivot = kinks[len(kinks) // 2]
        before = slope + weight_before(kinks, weights, pivot)
        if before > level:
            kinks, weights = some(kinks, weights, -np.inf, np.nextafter(pivot, -np.inf))
            continue
        beyond = np.nextafter(pivot, np.inf)
        slope += weight_before(kinks, weights, beyond)
        if slope > level:
            return float(pivot)
        kinks, weights = some(kinks, weights, beyond, np.inf)
    return np.inf


@inner
def interval(kinks: FloatArray, weights: FloatArray, target: float, guess: float) -> tuple[float, float]:
    """Return the interval of biases of least loss, as `bias_interval` does, but callable from compiled code."""
    flat = LEVEL * max(total_of(weights), TINY)
    reach = NEAR * math.sqrt(dot(kinks, kinks) / len(kinks))
    near, heights = some(kinks, weights, guess - reach, guess + reach)
    slope = weight_before(kinks, weights, guess - reach) - target
    if slope < -flat and slope + total_of(heights) > 2.0 * flat:
        return crossing(near, heights, slope, -flat), crossing(near, heights, slope, flat)
    low = crossing(kinks, weights, -target, -flat) if target > flat else -np.inf
    return low, crossing(kinks, weights, -target, flat)


@entry()
def bias_interval(kinks: FloatArray, weights: FloatArray, target: float, guess: float) -> tuple[float, float]:
    """Return the least and the largest bias b that minimise the loss ``sum_i weights_i max(0, y_i (kinks_i - b))``.

    As b rises, the slope of this loss begins at ``-target``, where `target` is the total weight of the examples with
    label ``y_i = +1``, and rises by ``weights_i`` at ``kinks_i``. The search for the zero of the slope begins near the
    bias `guess`; a wrong guess costs time and changes nothing.
    """
    return interval(kinks, weights, target, guess)


@entry()
def judged(
    y: FloatArray, linear: FloatArray, alpha: FloatArray, upper: FloatArray, product: FloatArray
) -> tuple[float, float, float, float, FloatArray]:
    """Return alpha's objective, a bound on the optimum, the least and largest optimal bias, and each example's slack.

    `product` is ``Q alpha``; `SvmProblem.judge` has the formulas. An alpha outside its bounds could have an objective
    above the optimum; it proves nothing, so its objective is -inf.
    """
    n, guess, most, least = len(y), 0.0, -np.inf, np.inf
    kinks, slack, positive = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        kinks[i], positive[i] = y[i] * (linear[i] - product[i]), 0.5 * (1.0 + y[i])
        inside = min(alpha[i], upper[i] - alpha[i])
        if inside > most:  # at an optimum, the kink of an example inside its box is the bias
            most, guess = inside, kinks[i]
        least = min(least, inside)
    low, high = interval(kinks, upper, dot(upper, positive), guess)
    bias = centre(low, high)
    for i in range(n):
        slack[i] = max(linear[i] - product[i] - y[i] * bias, 0.0)
    quadratic = 0.5 * dot(alpha, product)
    objective = dot(linear, alpha) - quadratic - abs(dot(y, alpha) * bias)
    return objective if least >= 0.0 else -np.inf, quadratic + dot(upper, slack), low, high, slack


def child_bounds(
    used: Copies, floor: Copies, cost: FloatArray, alpha: FloatArray, upper: FloatArray, slack: FloatArray,
    bound: float, best: float, tie: float,
) -> tuple[IntArray, Copies, FloatArray]:  # fmt: skip
    """Return the examples that may lose a copy, their numbers of copies, and a bound on the optimum without that copy.

    `used` and `floor` are each example's present and least number of copies (identical rows). The bound for an example
    is the present `bound` minus the example's slack times the decrease of its upper bound. All three arrays are sorted
    by bound, highest first. Bounds whose distances from `best` round to the same multiple of `tie` count as equal; of
    these, examples of smaller alpha come first.
    """
    (examples,) = (used > floor).nonzero()
    copies = used[examples]
    bounds = bound - (upper[examples] - cost[examples] * (copies - 1)) * slack[examples]
    order = np.lexsort((alpha[examples], np.rint((best - bounds) / tie)))
    return examples[order], copies[order], bounds[order]
