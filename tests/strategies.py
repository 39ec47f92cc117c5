"""Small SVM problems for hypothesis: continuous ones, and the degenerate ones that real tables are full of."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fairenum.problem import Kernel, SvmProblem

KINDS = ("continuous", "hypercube", "grid", "rounded")
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


def class_weights(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """A weight per class: simple ratios, so that sums of boxes tie, and steep ones."""
    favourable, unfavourable = rng.choice([0.1, 0.5, 1.0, 3.0, 20.0], size=2)
    return np.where(y > 0, favourable, unfavourable)


def example_weights(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    return rng.choice([0.25, 0.5, 1.0, 2.0, 5.0], size=len(y))


WEIGHTS = (class_weights, example_weights)


@st.composite
def problems(draw, max_size=7, kinds=KINDS, kernels=KERNELS, copies=False, boxes=False):
    """Draw a problem; with `boxes` its cost differs by class or by example."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, max_size)), draw(st.integers(1, 3))
    X, y = table(draw(st.sampled_from(kinds)), rng, n, d), labels(rng, n)
    cost = draw(st.sampled_from((0.01, 0.1, 1.0, 10.0, 100.0)))
    counts = rng.integers(1, 4, size=n) if copies else None
    weights = draw(st.sampled_from(WEIGHTS))(rng, y) if boxes else 1.0
    return SvmProblem(X, y, cost * weights, counts, draw(st.sampled_from(kernels)))
