"""The best plane with another bias: how far it can be moved before it loses more than is allowed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairenum.problem import Solution, SvmProblem

HALVINGS = 50
FARTHEST = 60  # doublings of the margin: no bias that matters lies beyond


def bias_range(problem: SvmProblem, best: Solution, eps: float) -> tuple[float, float]:
    """Return the lowest and the highest bias with which the best plane loses no more than is allowed.

    The loss of a plane is convex in its bias, so all biases between the two are within it, too.

    Parameters
    ----------
    problem, best
        The machine, and its answer.
    eps
        The relative loss above the best that is allowed.
    """
    product, start = problem.product(best.alpha), best.certificate.bias
    quadratic = 0.5 * float(best.alpha @ product)
    most = (1.0 + eps) * best.certificate.objective

    def is_within(bias: float) -> bool:
        slack = np.maximum(problem.linear - product - problem.y * bias, 0.0)
        return quadratic + float(problem.upper @ slack) <= most

    low, high = (_last_within(is_within, start, direction * problem.unit) for direction in (-1.0, 1.0))
    return low, high


def _last_within(is_within: Callable[[float], bool], start: float, step: float) -> float:
    """Go from a bias in steps that grow until one is not within, then halve the last of them."""
    inside, outside = start, start + step
    for _ in range(FARTHEST):
        if not is_within(outside):
            break
        inside, outside = outside, start + 2.0 * (outside - start)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2.0
        inside, outside = (middle, outside) if is_within(middle) else (inside, middle)
    return inside
