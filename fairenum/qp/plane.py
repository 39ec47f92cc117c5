"""The tightest bound that double precision can prove for an answer, from a plane better than its own.

Every plane proves a bound, not only the one that ``alpha`` spans. With a huge cost the rounding of ``alpha``
itself, times the cost of each slack, makes a gap where there is none. So the plane is moved onto the examples
that it should touch, by more digits than ``alpha`` holds, and stretched until slack that is mere rounding is
gone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairenum.problem import Certificate, FloatArray, SvmProblem
from fairenum.qp.gram import Gram

ROUNDING = 1e-9  # slack below this share of the margin is rounding
MARGIN_OF_SAFETY = 1e-14


def sharpened(
    problem: SvmProblem, gram: Gram, alpha: FloatArray, upper: FloatArray, certificate: Certificate
) -> tuple[Certificate, FloatArray]:
    """Return the certificate with the bound of the refined plane, and the slack that this plane leaves."""
    reached, quadratic = _refined(problem, gram, alpha, upper, certificate.bias)
    slack = np.maximum(0.0, problem.linear - reached)
    rounding = (upper > 0) & (slack > 0) & (slack < ROUNDING * np.abs(problem.linear))
    stretch = MARGIN_OF_SAFETY + float(np.max(problem.linear[rounding] / reached[rounding], initial=1.0))
    slack = np.maximum(0.0, problem.linear - stretch * reached)
    bound = stretch**2 * quadratic + float(upper @ slack)
    return replace(certificate, bound=bound), slack


def _refined(
    problem: SvmProblem, gram: Gram, alpha: FloatArray, upper: FloatArray, bias: float
) -> tuple[FloatArray, float]:
    """Return ``Q alpha + y b`` and ``1/2 alpha'Q alpha`` of the plane moved onto the free support vectors."""
    product, y = gram.product(alpha), problem.y
    free = np.flatnonzero((alpha > 0) & (alpha < upper))
    matrix = np.zeros((len(free) + 1, len(free) + 1))
    matrix[0, 1:] = matrix[1:, 0] = y[free]
    matrix[1:, 1:] = gram.block(free, free)
    right = np.concatenate([[0.0], (problem.linear - product - y * bias)[free]])
    correction = np.linalg.lstsq(matrix, right, rcond=None)[0]
    change = np.zeros_like(alpha)
    change[free] = correction[1:]
    moved = gram.product(change)
    quadratic = 0.5 * float(alpha @ product) + float(change @ (product + 0.5 * moved))
    return product + moved + y * (bias + correction[0]), quadratic
