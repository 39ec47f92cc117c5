"""Flip prices of many problems, small and larger, against a convex solver; and what those of real tables take."""

from __future__ import annotations

import time

import numpy as np
import pytest
from support.oracles.convex import ConvexOracle

from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import divide, pose
from fairenum.enumeration.model import model_of
from fairenum.flips.flip_prices import flip_prices
from fairenum.solvers.conformance import conformance_cases
from fairenum.solvers.registry import open_workspace
from fairenum.svm.sparse_or_dense import dense
from fairenum.tables import load_dataset

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("case", [case for case in conformance_cases((40, 150), thorough=True) if case.is_ordinary])
def test_prices_are_those_of_a_convex_solver(case) -> None:
    problem, rng = case.problem, np.random.default_rng(case.seed)
    rows = dense(problem.X)[rng.integers(0, problem.size, 6)]
    rows[3:] += 0.3 * rng.normal(size=rows[3:].shape)
    best = open_workspace("path", problem).solve()
    values = model_of(problem, best, 1, best.certificate.objective).decision_function(rows)
    oracle, prices = ConvexOracle(problem, rows), flip_prices(problem, best, rows, ceiling=np.inf)
    expected = [oracle.price(k, -1.0 if value >= 0.0 else 1.0) for k, value in enumerate(values)]
    np.testing.assert_allclose(prices.low, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(prices.high, expected, rtol=1e-6, atol=1e-6)


TABLES = [("german", (600, 200, 200)), ("compas", (2000, 500, 500)), ("adult", (2000, 500, 500))]


@pytest.mark.parametrize(("name", "sizes"), TABLES)
def test_a_price_takes_a_fraction_of_a_solve(name: str, sizes: tuple[int, ...]) -> None:
    division = divide(load_dataset(name), sizes)
    problem = pose(division.train.X, division.train.y, SvmSettings()).problem
    workspace, roots = open_workspace("path", problem), []
    best = workspace.solve()
    flip_prices(problem, best, division.holdout.X[:2])  # compiled
    for _ in range(9):
        begun = time.process_time()
        workspace.solve()
        roots.append(time.process_time() - begun)
    begun = time.process_time()
    prices = flip_prices(problem, best, division.holdout.X)
    spent = (time.process_time() - begun) / prices.effort.distinct
    assert prices.is_examined.all()
    within = np.isfinite(prices.high)
    assert (prices.high - prices.low)[within].max() <= 1e-6
    assert spent <= 0.2 * float(np.median(roots))
