"""Small SVM problems for hypothesis: continuous ones, and the degenerate ones that real tables are full of."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fairenum.problem import Kernel, SvmProblem

KERNELS = (Kernel("linear"), Kernel("rbf", 0.5), Kernel("poly", 0.5, 2, 1.0))


def table(kind: str, rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    if kind == "hypercube":
        return rng.integers(0, 2, size=(n, d)).astype(float)
    if kind == "grid":
        return rng.integers(-2, 3, size=(n, d)).astype(float)
    values = rng.normal(size=(n, d))
    return np.round(values, 1) if kind == "rounded" else values


def labels(rng: np.random.Generator, n: int) -> np.ndarray:
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def posed(n: int = 60, d: int = 3, kind: str = "continuous", seed: int = 0, **arguments) -> SvmProblem:
    """One problem with labels that nothing explains."""
    rng = np.random.default_rng(seed)
    return SvmProblem(table(kind, rng, n, d), labels(rng, n), **arguments)


@st.composite
def problems(draw, max_size=7, kinds=("continuous", "hypercube", "grid", "rounded"), kernels=KERNELS, copies=False):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, max_size)), draw(st.integers(1, 3))
    X, y = table(draw(st.sampled_from(kinds)), rng, n, d), labels(rng, n)
    cost = draw(st.sampled_from((0.01, 0.1, 1.0, 10.0, 100.0)))
    counts = rng.integers(1, 4, size=n) if copies else None
    return SvmProblem(X, y, cost, counts, draw(st.sampled_from(kernels)))
