"""The certified range of the difference of mean decision values, against a direct convex solve."""

from __future__ import annotations

import numpy as np
import piqp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.enumeration.reach import reach
from fairenum.problem import Kernel, SvmProblem
from fairenum.solvers.registry import open_workspace


def setting(seed: int, n: int = 16, d: int = 2, kernel: Kernel | None = None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(1)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    problem = SvmProblem(X, y, 1.0, rng.integers(1, 3, n), kernel)
    return problem, rng.normal(size=(9, d)) + 0.5, rng.normal(size=(7, d))


def least_loss(problem: SvmProblem, slope: np.ndarray, value: float) -> float:
    """The least loss of any plane whose difference is a given value: a quadratic programme in w, b and the slacks."""
    n, d = problem.X.shape
    signed = problem.y[:, None] * np.column_stack([problem.X, np.ones(n)])
    quadratic = np.diag(np.concatenate([np.ones(d), np.zeros(n + 1)]))
    linear = np.concatenate([np.zeros(d + 1), problem.upper])
    rows = np.hstack([signed, np.eye(n)])
    floor = np.concatenate([np.full(d + 1, -np.inf), np.zeros(n)])
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.setup(
        quadratic, linear, np.concatenate([slope, np.zeros(n + 1)])[None], np.array([value]), rows, np.ones(n),
        np.full(n, np.inf), floor, np.full(d + 1 + n, np.inf),
    )  # fmt: skip
    assert solver.solve() == piqp.Status.PIQP_SOLVED
    return float(solver.result.info.primal_obj)


def direct(problem: SvmProblem, slope: np.ndarray, most: float, inside: float) -> float:
    """The least difference within the loss, by bisection of the convex least loss at a given difference."""
    outside = inside - 1.0
    while least_loss(problem, slope, outside) <= most:
        outside = inside - 2.0 * (inside - outside)
    for _ in range(40):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if least_loss(problem, slope, middle) <= most else (inside, middle)
    return inside


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.1, 0.5]))
def test_the_ends_are_those_of_a_direct_solve(seed, eps):
    problem, first, second = setting(seed)
    best = open_workspace("path", problem).solve()
    found = reach(problem, best, first, second, eps)
    slope, most = first.mean(0) - second.mean(0), (1 + eps) * best.certificate.bound
    here = float((problem.y * best.alpha) @ problem.X @ slope)
    low, high = (sign * direct(problem, sign * slope, most, sign * here) for sign in (1.0, -1.0))
    slip = 1e-5 * (1.0 + abs(low) + abs(high))
    assert found.low.bound <= low + slip
    assert found.high.bound >= high - slip
    assert found.low.attained == pytest.approx(low, abs=slip + 2e-3 * (high - low))
    assert found.high.attained == pytest.approx(high, abs=slip + 2e-3 * (high - low))


@pytest.mark.parametrize("kernel", [None, Kernel("rbf", 0.4)])
def test_models_lie_within_and_the_range_grows_with_eps(kernel):
    problem, first, second = setting(3, 40, 3, kernel)
    best = open_workspace("path", problem).solve()
    weights = (problem.y * best.alpha)[best.support]
    here = problem.decide(first, best.support, weights).mean() - problem.decide(second, best.support, weights).mean()
    inner = reach(problem, best, first, second, 0.01)
    outer = reach(problem, best, first, second, 0.2)
    for found in (inner, outer):
        assert found.low.bound <= found.low.attained <= here + 1e-9
        assert here - 1e-9 <= found.high.attained <= found.high.bound
    assert outer.low.bound < inner.low.attained
    assert outer.high.bound > inner.high.attained
    rough = reach(problem, best, first, second, 0.2, most_solves=2)
    assert rough.low.bound <= outer.low.attained + 1e-9
    assert rough.low.solves == 2


def test_no_difference_of_means_no_range():
    problem, first, _ = setting(1)
    found = reach(problem, open_workspace("path", problem).solve(), first, first.copy(), 0.1)
    assert (found.low.bound, found.high.bound) == (0.0, 0.0)
    tight = reach(problem, open_workspace("path", problem).solve(), first, first + 1.0, 0.0)
    assert tight.low.bound == pytest.approx(tight.high.bound, abs=1e-3)
