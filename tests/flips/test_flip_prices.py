"""Flip prices and value ranges against a convex solver, and against many planes one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles.convex import ConvexOracle

from fairenum.enumeration.model import model_of
from fairenum.errors import ProblemError
from fairenum.flips.flip_prices import FlipPrices, KnownPlanes, flip_prices, flipping_plane, value_ranges
from fairenum.runtime.budget import Deadline, until
from fairenum.solvers.conformance import KINDS
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import Kernel, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import dense

LINEAR, RBF = Kernel(), Kernel("rbf", gamma=0.5)


def solved(problem: SvmProblem) -> Solution:
    return open_workspace("path", problem).solve()


def drawn(kind: str, kernel: Kernel, n: int = 30, cost: float = 1.0, **further) -> tuple[SvmProblem, np.ndarray]:
    """A problem of a kind, and rows: two of its examples, and two like them."""
    rng = np.random.default_rng([n, *kind.encode()])
    X, y, copies, shares = KINDS[kind](rng, n)
    rows = dense(X)[rng.integers(0, n, 4)]
    rows[2:] += 0.3 * rng.normal(size=rows[2:].shape)
    return SvmProblem(X, y, cost * shares, copies, kernel, **further), rows


def decided(problem: SvmProblem, best: Solution, rows: np.ndarray) -> np.ndarray:
    return model_of(problem, best, 1, best.certificate.objective).decision_function(rows)


def plain_loss(problem: SvmProblem, values: np.ndarray, square: float) -> float:
    return 0.5 * square + float(problem.upper @ np.maximum(0.0, problem.linear - problem.y * values))


@pytest.mark.parametrize("kernel", [LINEAR, RBF], ids=["linear", "rbf"])
@pytest.mark.parametrize("kind", KINDS)
def test_prices_and_ranges_are_those_of_a_convex_solver(kind: str, kernel: Kernel) -> None:
    problem, rows = drawn(kind, kernel)
    best = solved(problem)
    oracle, values = ConvexOracle(problem, rows), decided(problem, best, rows)
    prices = flip_prices(problem, best, rows, ceiling=np.inf)
    expected = [oracle.price(k, -1.0 if value >= 0.0 else 1.0) for k, value in enumerate(values)]
    np.testing.assert_allclose(prices.low, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(prices.high, expected, rtol=0, atol=1e-6)
    assert prices.is_examined.all()
    ranges, scale = value_ranges(problem, best, rows[1:3], 0.05), max(1.0, float(np.abs(values).max()))
    for side, bound, attained in (
        (-1.0, ranges.low_bound, ranges.low_attained),
        (1.0, ranges.high_bound, ranges.high_attained),
    ):
        ends = [oracle.end(k, side, 0.05) for k in (1, 2)]
        np.testing.assert_allclose(bound, ends, rtol=0, atol=1e-6 * scale)
        np.testing.assert_allclose(attained, ends, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("kernel", [LINEAR, RBF], ids=["linear", "rbf"])
def test_a_ridge_and_a_threshold_are_those_of_a_convex_solver(kernel: Kernel) -> None:
    problem, rows = drawn("random", kernel, ridge=0.3)
    best = solved(problem)
    oracle, values = ConvexOracle(problem, rows), decided(problem, best, rows)
    prices = flip_prices(problem, best, rows, ceiling=np.inf, threshold=0.4)
    expected = [oracle.price(k, -1.0 if value >= 0.4 else 1.0, 0.4) for k, value in enumerate(values)]
    np.testing.assert_allclose(prices.low, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(prices.high, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("solver", ["libsvm", "osqp", "piqp", "path"])
def test_every_solver_finds_the_same_prices(solver: str) -> None:
    for kind, kernel in (("hypercube", LINEAR), ("random", RBF)):
        problem, rows = drawn(kind, kernel)
        best = solved(problem)
        walked = flip_prices(problem, best, rows, ceiling=np.inf)
        found = flip_prices(problem, best, rows, ceiling=np.inf, solver=solver)
        np.testing.assert_allclose(found.low, walked.low, rtol=0, atol=1e-7)
        np.testing.assert_allclose(found.high, walked.high, rtol=0, atol=1e-7)


grids = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@settings(max_examples=40, deadline=None)
@given(
    rng=grids,
    discrete=st.booleans(),
    cost=st.sampled_from([1e-3, 1.0, 1e4, 1e6]),
    threshold=st.sampled_from([0.0, 0.3]),
)
def test_no_plane_has_a_loss_below_the_proven_price(
    rng: np.random.Generator, discrete: bool, cost: float, threshold: float
) -> None:
    n, d = int(rng.integers(4, 25)), int(rng.integers(1, 4))
    X = rng.integers(0, 3, (n, d)).astype(float) if discrete else rng.normal(size=(n, d))
    y = np.where(rng.normal(size=n) + X[:, 0] > X[:, 0].mean(), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    problem = SvmProblem(X, y, cost)
    best = solved(problem)
    rows = np.vstack([X[:2], rng.normal(size=(2, d)), 5.0 * rng.normal(size=(1, d))])
    prices = flip_prices(problem, best, rows, threshold=threshold)
    model = model_of(problem, best, 1, best.certificate.objective)
    is_positive, least = model.decision_function(rows) >= threshold, best.certificate.bound
    assert (prices.low <= prices.high).all()
    for scale in (1e-3, 0.1, 1.0):
        w = model.plane + scale * rng.normal(size=(50, d))
        b = model.intercept + scale * rng.normal(size=50)
        losses = np.array([plain_loss(problem, X @ one + bias, one @ one) for one, bias in zip(w, b, strict=True)])
        flips = ((w @ rows.T + b[:, None]) >= threshold) != is_positive
        cheapest = np.where(flips, losses[:, None], np.inf).min(axis=0) / least - 1.0
        assert (np.minimum(prices.low, 0.1) <= cheapest + 1e-12).all()
    for k, row in enumerate(rows):
        plane = flipping_plane(problem, best, row[None], threshold=threshold)
        value = float(row @ plane.weights + plane.bias)
        rounding = 1e-9 * max(1.0, abs(plane.bias), float(np.abs(row @ plane.weights)))
        assert value <= threshold + rounding if is_positive[k] else value >= threshold - rounding
        loss = plain_loss(problem, X @ plane.weights + plane.bias, plane.weights @ plane.weights)
        assert loss / best.certificate.objective - 1.0 <= plane.high + 1e-9 * (1.0 + plane.high)
        assert plane.high - plane.low <= 1e-6 * (1.0 + plane.high)


def test_another_optimal_bias_costs_nothing() -> None:
    problem = SvmProblem([[0.0], [0.0], [1.0], [1.0]], [1.0, -1.0, 1.0, -1.0], 1.0)  # any bias within the margin
    best = solved(problem)
    assert best.certificate.bias_low < 0.0 < best.certificate.bias_high
    prices = flip_prices(problem, best, np.array([[0.5], [7.0]]))
    np.testing.assert_allclose(prices.high, 0.0, atol=1e-12)
    assert (prices.low == 0.0).all()


def test_a_plane_leaves_examples_out_and_takes_others_in() -> None:
    problem, rows = drawn("random", LINEAR)
    best = solved(problem)
    plane = flipping_plane(problem, best, rows[2:3])
    support = np.flatnonzero(plane.alpha)
    assert set(best.support) - set(plane.left) | set(plane.joined) == set(support)
    assert not set(plane.left) & set(support)
    assert not set(plane.joined) & set(best.support)
    curved, _ = drawn("random", RBF)
    assert flipping_plane(curved, solved(curved), rows[2:3]).weights is None


def prices_of(rows: np.ndarray | None = None, **options) -> tuple[FlipPrices, np.ndarray]:
    problem, own = drawn("random", LINEAR, n=60)
    best = solved(problem)
    table = own if rows is None else rows
    return flip_prices(problem, best, table, **options), decided(problem, best, table)


def test_identical_rows_are_asked_about_once_in_any_order() -> None:
    _, own = drawn("random", LINEAR, n=60)
    rows = np.vstack([own, own[::-1]])
    plain, _ = prices_of(rows)
    shuffled, _ = prices_of(rows, order=np.random.default_rng(0).permutation(len(rows)))
    assert plain.effort.distinct == len(own)
    np.testing.assert_array_equal(plain.low, shuffled.low)
    np.testing.assert_array_equal(plain.low[:4], plain.low[4:][::-1])
    some, _ = prices_of(rows, order=np.array([1, 5]))
    assert some.is_examined.tolist() == [False, True, False, False, False, True, False, False]
    assert some.high[0] == np.inf
    assert some.low[0] == 0.0


def test_prices_beyond_the_ceiling_are_proven_to_be() -> None:
    whole, _ = prices_of(ceiling=np.inf)
    ceiling = float(np.median(whole.low))
    cut, _ = prices_of(ceiling=ceiling)
    is_beyond = whole.low >= ceiling
    assert (cut.low[is_beyond] >= ceiling).all()
    assert np.isinf(cut.high[is_beyond]).all()
    np.testing.assert_allclose(cut.high[~is_beyond], whole.high[~is_beyond], rtol=0, atol=1e-9)


def test_planes_that_are_known_attain_prices() -> None:
    plain, values = prices_of(ceiling=1e-6)
    known = KnownPlanes(np.vstack([-values, values]), np.array([0.5, 1e-9]))
    known_prices, _ = prices_of(ceiling=1e-6, listed=known)
    assert np.isinf(plain.high).all()
    np.testing.assert_array_equal(known_prices.high, 0.5)


def test_rows_for_which_there_is_no_time_are_not_examined() -> None:
    problem, rows = drawn("random", LINEAR)
    best = solved(problem)
    with until(Deadline(at=0.0)):
        prices = flip_prices(problem, best, rows)
    assert not prices.is_examined.any()
    assert (prices.low == 0.0).all()
    assert np.isinf(prices.high).all()


def test_a_range_needs_a_loss() -> None:
    problem, rows = drawn("random", LINEAR)
    with pytest.raises(ProblemError, match=r"eps must be a positive number, not 0\.0"):
        value_ranges(problem, solved(problem), rows, 0.0)
