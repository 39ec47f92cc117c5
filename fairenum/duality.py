"""Weak duality: what an answer proves about the optimum. `SvmProblem.judge` explains it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Copies = npt.NDArray[np.unsignedinteger[Any]]  # per example, in the smallest type that holds them: queues are long

LEVEL = 1e-12  # the share of all weights below which a slope is flat
TINY = float(np.finfo(np.float64).tiny)
NEAR = 1e-3  # how far from a bias that is thought to be the best kinks are looked at, as a share of their usual size


def bias_interval(
    kinks: FloatArray, weights: FloatArray, target: float, guess: float | None = None
) -> tuple[float, float]:
    """Return the minimisers of ``sum_i weights_i max(0, +-(kinks_i - b))``: where the slope crosses zero.

    The slope starts at ``-target`` (the weight of the positive examples) and rises by ``weights_i`` at ``kinks_i``. It
    is looked for near a guess first, which spares sorting the rest; a wrong one costs time and changes nothing.
    """
    flat = LEVEL * max(float(np.add.reduce(weights)), TINY)
    if guess is not None:
        reach = NEAR * math.sqrt(float(kinks @ kinks) / len(kinks))
        is_before = kinks < guess - reach
        (near,) = ((kinks <= guess + reach) ^ is_before).nonzero()
        slope = float(weights @ is_before.astype(np.float64)) - target
        if slope < -flat and slope + float(np.add.reduce(weights[near])) > 2.0 * flat:
            return _crossing(kinks[near], weights[near], slope, flat)
    low, high = _crossing(kinks, weights, -target, flat)
    return low if target > flat else -math.inf, high


def _crossing(kinks: FloatArray, weights: FloatArray, slope: float, flat: float) -> tuple[float, float]:
    """Return the kinks at which a slope is no longer negative, and at which it is positive; infinite if none is."""
    order = kinks.argsort()
    slopes = slope + weights[order].cumsum()  # a kink without weight crosses nothing
    low, high = int(slopes.searchsorted(-flat)), int(slopes.searchsorted(flat, "right"))
    return (
        float(kinks[order[low]]) if low < len(order) else math.inf,
        float(kinks[order[high]]) if high < len(order) else math.inf,
    )


def middle(low: float, high: float) -> float:
    """Return the middle of an interval; its finite end when the other is infinite, 0 if both are."""
    if math.isinf(low):
        return 0.0 if math.isinf(high) else high
    return low if math.isinf(high) else 0.5 * (low + high)


def judged(
    y: FloatArray, linear: FloatArray, alpha: FloatArray, upper: FloatArray, product: FloatArray
) -> tuple[float, float, float, float, FloatArray]:
    """Return objective, bound, the ends of the bias interval, and the slack of every example.

    An answer outside its box can seem better than the optimum: it proves nothing, so its objective is -inf.
    """
    missing = linear - product
    kinks, inside = y * missing, np.minimum(alpha, upper - alpha)
    free = int(inside.argmax())  # at an optimum the kink of one inside its box is the bias
    low, high = bias_interval(kinks, upper, 0.5 * float(upper @ (1.0 + y)), float(kinks[free]))
    bias = middle(low, high)
    slack = np.maximum(missing - y * bias, 0.0)
    quadratic = 0.5 * float(alpha @ product)
    objective = float(linear @ alpha) - quadratic - abs(float(y @ alpha) * bias)
    return (
        objective if inside[inside.argmin()] >= 0.0 else -math.inf,
        quadratic + float(upper @ slack),
        low,
        high,
        slack,
    )


def child_bounds(
    used: Copies, floor: Copies, cost: FloatArray, alpha: FloatArray, upper: FloatArray, slack: FloatArray,
    bound: float, best: float, tie: float,
) -> tuple[IntArray, Copies, FloatArray]:  # fmt: skip
    """Return the examples of which a copy may be left out, the copies used of each, and a bound on the optimum then.

    The bound of a child is its parent's less what the slack no longer costs. Best first; among ties the smaller alpha.
    """
    (examples,) = (used > floor).nonzero()
    copies = used[examples]
    bounds = bound - (upper[examples] - cost[examples] * (copies - 1)) * slack[examples]
    order = np.lexsort((alpha[examples], np.rint((best - bounds) / tie)))
    return examples[order], copies[order], bounds[order]
