"""Interior points near the plane of model 1, by which rows of large tables are examined."""

import numpy as np
import pytest

from fairenum.flips import engines
from fairenum.flips.engines import TIGHT, Inquiry, NearPuller
from fairenum.flips.flip_prices import flip_prices
from fairenum.solvers.conformance import KINDS
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem
from fairenum.svm.sparse_or_dense import dense


@pytest.mark.parametrize(("kind", "n"), [*((kind, 30) for kind in KINDS), ("random", 1500)])
def test_they_prove_and_attain_what_walks_do(monkeypatch, kind, n):
    rng = np.random.default_rng([n, *kind.encode()])
    X, y, copies, shares = KINDS[kind](rng, n)
    problem = SvmProblem(X, y, shares, copies)
    rows = dense(X)[:4] + 0.1 * rng.normal(size=(4, X.shape[1]))
    best = open_workspace("path", problem).solve()
    walked = flip_prices(problem, best, rows, ceiling=np.inf)
    monkeypatch.setattr(engines, "LARGEST", 0)
    monkeypatch.setattr(engines, "WIDEST", 0)
    inquiry = Inquiry(problem, best, rows, None)
    assert isinstance(inquiry._pullers[0], NearPuller)
    near = flip_prices(problem, best, rows, ceiling=np.inf)
    np.testing.assert_allclose(near.low, walked.low, atol=1e-7)
    np.testing.assert_allclose(near.high, walked.high, atol=1e-7)
    assert (near.low <= walked.high).all()
    assert (walked.low <= near.high).all()


def test_they_are_good_enough_by_themselves(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 6))
    problem = SvmProblem(X, np.where(X[:, 0] + rng.normal(size=3000) > 0.0, 1.0, -1.0))
    best = open_workspace("path", problem).solve()
    monkeypatch.setattr(engines, "LARGEST", 0)
    monkeypatch.setattr(engines, "WIDEST", 0)
    inquiry = Inquiry(problem, best, rng.normal(size=(6, 6)), None)
    pulls = inquiry.pulls(0.0)
    found = inquiry.court.judge(pulls, *inquiry._pullers[0].pulled(pulls, np.inf))
    assert (found.gaps <= TIGHT * found.attained).all()
