"""Flip prices by plane searches, as for tables with many examples, against a convex solver and the exact one."""

from __future__ import annotations

import numpy as np
import pytest
from support.oracles.convex import ConvexOracle

from fairenum.flips import engines
from fairenum.flips.engines import SolverEngine
from fairenum.flips.flip_prices import flip_prices, flipping_plane, value_ranges
from fairenum.solvers.conformance import KINDS
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem
from fairenum.svm.sparse_or_dense import dense


@pytest.fixture
def is_large(monkeypatch):
    """Small problems are treated like large ones."""
    monkeypatch.setattr(engines, "LARGEST", 0)


@pytest.mark.usefixtures("is_large")
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_prices_are_those_of_a_convex_solver(kind: str, cost: float) -> None:
    rng = np.random.default_rng([60, *kind.encode()])
    X, y, copies, shares = KINDS[kind](rng, 60)
    problem, rows = SvmProblem(X, y, cost * shares, copies), dense(X)[rng.integers(0, 60, 3)]
    rows[1:] += 0.3 * rng.normal(size=rows[1:].shape)
    best = open_workspace("path", problem).solve()
    oracle, threshold = ConvexOracle(problem, rows), 0.2
    support = best.support
    values = problem.decide(rows, support, (y * best.alpha)[support]) + best.certificate.bias
    prices = flip_prices(problem, best, rows, ceiling=np.inf, threshold=threshold)
    expected = [oracle.price(k, -1.0 if value >= threshold else 1.0, threshold) for k, value in enumerate(values)]
    np.testing.assert_allclose(prices.low, expected, rtol=1e-6, atol=2e-6)
    np.testing.assert_allclose(prices.high, expected, rtol=1e-6, atol=2e-6)
    assert (prices.low <= prices.high).all()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_many_examples_need_no_other_solver(is_sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(7000, 4))
    if is_sparse:
        X = np.hstack([X[:, :1], np.eye(30)[rng.integers(0, 30, 7000)]])
    y = np.where(X @ rng.normal(size=X.shape[1]) + 2.0 * rng.normal(size=7000) > 0.0, 1.0, -1.0)
    problem, rows = SvmProblem(X[30:], y[30:], 1.0), X[:30]
    best = open_workspace("path", problem).solve()
    few = flip_prices(problem, best, rows[:4], solver="path", ceiling=np.inf)

    def refuse(*_: object) -> None:
        raise AssertionError("solved anew")

    monkeypatch.setattr(SolverEngine, "answers", refuse)
    prices = flip_prices(problem, best, rows)
    assert prices.is_examined.all()
    within = np.isfinite(prices.high)
    assert within.any()
    assert (prices.low <= prices.high).all()
    assert (prices.high - prices.low)[within].max() <= 1e-6
    is_near = few.high < 0.1
    np.testing.assert_allclose(prices.low[:4][is_near], few.low[is_near], rtol=0, atol=1e-6)
    ranges = value_ranges(problem, best, rows[:1], 0.01)
    assert ranges.low_bound[0] <= ranges.low_attained[0] < ranges.high_attained[0] <= ranges.high_bound[0]
    assert ranges.high_bound[0] - ranges.high_attained[0] <= 1e-2 * (ranges.high_bound[0] - ranges.low_bound[0])
    plane = flipping_plane(problem, best, rows[:1])
    assert plane.high - plane.low <= 1e-6
