"""Flip prices by interior points near the plane of model 1, as for large tables."""

import numpy as np
import pytest

from fairenum.flips import engines
from fairenum.flips.engines import TIGHT, FlipSearch, InteriorEngine
from fairenum.flips.flip_prices import flip_prices
from fairenum.solvers.conformance import KINDS
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem
from fairenum.svm.sparse_or_dense import dense


@pytest.mark.parametrize(("kind", "n"), [*((kind, 30) for kind in KINDS), ("random", 1500)])
def test_interior_points_give_the_prices_of_walks(monkeypatch, kind, n):
    rng = np.random.default_rng([n, *kind.encode()])
    X, y, copies, shares = KINDS[kind](rng, n)
    problem = SvmProblem(X, y, shares, copies)
    rows = dense(X)[:4] + 0.1 * rng.normal(size=(4, X.shape[1]))
    best = open_workspace("path", problem).solve()
    walked = flip_prices(problem, best, rows, ceiling=np.inf)
    monkeypatch.setattr(engines, "LARGEST", 0)
    monkeypatch.setattr(engines, "WIDEST", 0)
    search = FlipSearch(problem, best, rows, None)
    assert isinstance(search._engines[0], InteriorEngine)
    near = flip_prices(problem, best, rows, ceiling=np.inf)
    np.testing.assert_allclose(near.low, walked.low, atol=1e-7)
    np.testing.assert_allclose(near.high, walked.high, atol=1e-7)
    assert (near.low <= walked.high).all()
    assert (walked.low <= near.high).all()


@pytest.mark.parametrize(("rows", "columns"), [(300, 110), (700, 100), (200, 30)])
def test_walks_find_their_way_where_the_margin_has_many_examples(rows, columns):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, columns))
    problem = SvmProblem(X, np.where(X[:, :5].sum(1) + rng.normal(size=rows) > 0.0, 1.0, -1.0))
    best = open_workspace("path", problem).solve()
    search = FlipSearch(problem, best, rng.normal(size=(6, columns)), None)
    flips = search.flips(0.0)
    assert isinstance(search._engines[0], engines.WalkEngine)
    found = search.certifier.certified(flips, *search._engines[0].answers(flips, np.inf))
    assert (found.gaps <= 1e-6 * found.attained).all()


def test_interior_points_need_no_second_engine(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 6))
    problem = SvmProblem(X, np.where(X[:, 0] + rng.normal(size=3000) > 0.0, 1.0, -1.0))
    best = open_workspace("path", problem).solve()
    monkeypatch.setattr(engines, "LARGEST", 0)
    monkeypatch.setattr(engines, "WIDEST", 0)
    search = FlipSearch(problem, best, rng.normal(size=(6, 6)), None)
    flips = search.flips(0.0)
    found = search.certifier.certified(flips, *search._engines[0].answers(flips, np.inf))
    assert (found.gaps <= TIGHT * found.attained).all()
