"""Parity ranges over all near-optimal models, against a grid of planes and random models."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.flips.flip_prices import flip_prices, value_ranges
from fairenum.flips.near_optimal import CountObjective, GroupedRows, NearOptimalModels
from fairenum.flips.parity_bounds import ParityBounds, parity_range
from fairenum.runtime.budget import Deadline, until
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import Kernel, SvmProblem

ROUNDING = 1e-9


class Case:
    """A small table: examples, rows to decide about with their groups, and the best model."""

    def __init__(self, seed, rows=8, kernel=None, groups=2, is_discrete=False, is_weighted=False, threshold=0.0):
        rng = np.random.default_rng(seed)
        X, self.rows = rng.normal(size=(14, 2)), rng.normal(size=(rows, 2))
        if is_discrete:
            X, self.rows = X.round(), self.rows.round()
        y = np.where(X.sum(axis=1) + 0.7 * rng.normal(size=14) > 0.0, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        self.codes, self.threshold = np.arange(rows) % groups, threshold
        self.weights = rng.uniform(0.5, 2.0, rows) if is_weighted else None
        self.problem = SvmProblem(X, y, 1.0, rng.integers(1, 3, 14), kernel=kernel)
        self.best = open_workspace("path", self.problem).solve()
        self.prices = flip_prices(self.problem, self.best, self.rows, threshold=threshold).low

    def ranged(self, eps, work=math.inf, prices=None, **options) -> ParityBounds:
        rows = GroupedRows.of(self.rows, self.codes, self.weights)
        prices = self.prices if prices is None else prices
        options = {"threshold": self.threshold, "work": work, **options}
        return parity_range(self.problem, self.best, rows, prices, eps, **options)

    def rates(self, decisions) -> np.ndarray:
        members = [self.codes == code for code in range(self.codes.max() + 1)]
        weights = [None if self.weights is None else self.weights[own] for own in members]
        return np.stack(
            [np.average(decisions[:, own], axis=1, weights=some) for own, some in zip(members, weights, strict=True)], 1
        )

    def allowed(self, values, norms, eps) -> np.ndarray:
        """Tell which models are within the loss, given their decision values on the examples."""
        slack = (1.0 - self.problem.y * values).clip(min=0.0)
        return 0.5 * norms + slack @ self.problem.upper <= (1.0 + eps) * self.best.certificate.bound

    def decided(self, eps, steps=61) -> np.ndarray:
        """Return the decisions of all planes of a fine grid around the best one that are within the loss."""
        best, bias = (self.problem.y * self.best.alpha) @ self.problem.X, self.best.certificate.bias
        reach = math.sqrt(2.0 * eps * self.best.certificate.bound)  # the loss is strongly convex in w
        sides = np.linspace(-reach, reach, steps)
        planes = np.concatenate([best[None], best + np.stack(np.meshgrid(sides, sides), -1).reshape(-1, 2)])
        norms, found = (planes**2).sum(axis=1), []
        for shift in np.linspace(-3.0, 3.0, 4 * steps + 1):
            is_allowed = self.allowed(planes @ self.problem.X.T + bias + shift, norms, eps)
            found.append(planes[is_allowed] @ self.rows.T + bias + shift >= self.threshold)
        return np.unique(np.concatenate(found), axis=0)


def is_inside(case: Case, found: ParityBounds, decisions) -> bool:
    """Tell whether the rates of decisions, and the attained ranges, are within the proven ranges."""
    rates = case.rates(decisions)
    pairs = [(found.gap, np.ptp(rates, axis=1)), *zip(found.rates, rates.T, strict=True)]
    is_nested = all(one.low <= one.least <= one.most <= one.high for one, _ in pairs)
    return is_nested and all(
        one.low - ROUNDING <= numbers.min() and numbers.max() <= one.high + ROUNDING for one, numbers in pairs
    )


def is_within(inner, outer) -> bool:
    return outer[0] - ROUNDING <= inner[0] and inner[1] <= outer[1] + ROUNDING


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.25])
def test_every_plane_is_within_the_range_and_complete_branching_closes_it(seed, eps):
    case = Case(seed)
    decisions = case.decided(eps)
    gaps = np.ptp(case.rates(decisions), axis=1)
    by_rows, found = case.ranged(eps, 0.0), case.ranged(eps)
    assert is_inside(case, by_rows, decisions)
    assert is_inside(case, found, decisions)
    assert by_rows.solves == 0
    assert found.by_rows == (by_rows.gap.low, by_rows.gap.high)
    # the ends are proven and attained, and no fine grid of planes knows better
    assert found.gap.high == pytest.approx(found.gap.most, abs=ROUNDING)
    assert found.gap.most >= gaps.max() - ROUNDING
    if found.gap.low > 0.0:
        assert found.gap.low == pytest.approx(found.gap.least, abs=ROUNDING)
        assert found.gap.least <= gaps.min() + ROUNDING


@settings(max_examples=20)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.005, 0.05, 0.3]),
    st.integers(2, 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 0.4]),
    st.sampled_from([0.0, 1e6, 1e7]),
)
def test_the_range_holds_every_plane_whatever_the_rows_and_the_work(
    seed, eps, groups, is_discrete, is_weighted, threshold, work
):
    case = Case(seed, 12, None, groups, is_discrete, is_weighted, threshold)
    decisions = case.decided(eps, 21)
    found = case.ranged(eps, work, listed=decisions[:2])
    assert is_inside(case, found, decisions)
    assert is_within((found.gap.low, found.gap.high), found.by_envelope or found.by_rows)
    assert is_within(found.by_envelope or found.by_rows, found.by_rows)
    known = np.ptp(case.rates(decisions[:2]), axis=1)
    assert found.gap.least <= known.min() + ROUNDING
    assert found.gap.most >= known.max() - ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_kernel_models_are_within_the_range(seed):
    case = Case(seed, kernel=Kernel("rbf", 0.7))
    rng = np.random.default_rng(seed)
    K = case.problem.kernel(case.problem.X, case.problem.X)
    best = case.problem.y * case.best.alpha
    weights = best + rng.normal(size=(4000, 14)) * rng.choice([0.02, 0.05, 0.1, 0.2], (4000, 1))
    biases = case.best.certificate.bias + 0.3 * rng.normal(size=(4000, 1))
    is_allowed = case.allowed(weights @ K + biases, np.einsum("ij,ij->i", weights @ K, weights), 0.1)
    assert is_allowed.sum() > 50
    values = weights @ case.problem.kernel(case.problem.X, case.rows) + biases
    for work in (0.0, math.inf):
        found = case.ranged(0.1, work)
        assert is_inside(case, found, values[is_allowed] >= 0.0)
    assert found.gap.high == pytest.approx(found.gap.most, abs=ROUNDING)


@pytest.mark.parametrize("eps", [0.01, 0.2])
def test_bounds_on_decision_values_are_valid_and_nearly_tight(eps):
    case = Case(3)
    area = NearOptimalModels(case.problem, case.best, case.rows, eps)
    exact = value_ranges(case.problem, case.best, case.rows, eps)
    for worth in (np.ones(8), -np.ones(8)):
        assert area.bound_values(CountObjective(worth, 0.0, np.zeros(8, np.int8)), 100) <= 40
    assert (area.low <= exact.low_attained + ROUNDING).all()
    assert (area.high >= exact.high_attained - ROUNDING).all()
    stretch = np.array(
        [
            (area.values - area.low) / (area.values - exact.low_bound),
            (area.high - area.values) / (exact.high_bound - area.values),
        ]
    )
    assert stretch.min() >= 1.0 - ROUNDING
    assert np.median(stretch) <= 1.1
    assert stretch.max() <= 1.5


def test_each_of_many_groups_is_bounded():
    case = Case(5, rows=21, groups=7)
    decisions = case.decided(0.1)
    by_rows, found = case.ranged(0.1, 0.0), case.ranged(0.1)
    for one in (by_rows, found):
        assert is_inside(case, one, decisions)
    assert found.gap.high <= by_rows.gap.high
    assert found.solves > 0


def test_rows_that_no_model_flips_leave_no_range():
    case = Case(0)
    found = case.ranged(0.01, prices=np.full(8, 0.02))
    assert (found.gap.low, found.doubtful, found.solves) == (found.gap.high, 0, 0)
    assert found.gap.low == found.gap.least == found.gap.most
    assert all(rate.low == rate.high for rate in found.rates)


def test_rows_that_were_not_examined_are_doubtful():
    case = Case(0)
    found = case.ranged(0.01, 0.0, prices=np.zeros(8))
    assert (found.gap.low, found.gap.high, found.doubtful) == (0.0, 1.0, 8)
    assert is_inside(case, found, case.decided(0.01))


@pytest.mark.parametrize("seed", range(3))
def test_without_a_loss_to_spare_only_the_best_planes_count(seed):
    case = Case(seed)
    found = case.ranged(0.0)
    values = case.problem.decide(case.rows, case.best.support, (case.problem.y * case.best.alpha)[case.best.support])
    biases = np.linspace(case.best.certificate.bias_low, case.best.certificate.bias_high, 50)
    assert is_inside(case, found, values + biases[:, None] >= 0.0)
    assert found.eps == 0.0


def test_the_same_rows_in_both_groups_are_decided_alike():
    case = Case(1)
    case.rows = np.repeat(case.rows[:4], 2, axis=0)
    case.prices = np.zeros(8)
    found = case.ranged(0.2)
    assert (found.gap.low, found.gap.high) == (0.0, 0.0)
    assert [rate.high for rate in found.rates] == [found.rates[0].high] * 2


def test_rows_of_no_group_do_not_count():
    case = Case(2)
    alone = case.ranged(0.1)
    case.rows = np.concatenate([case.rows, 10.0 * np.ones((3, 2))])
    case.codes, case.prices = np.append(case.codes, [-1, -1, -1]), np.append(case.prices, np.zeros(3))
    assert case.ranged(0.1) == alone


def test_bounds_stay_valid_when_time_runs_out():
    case = Case(1)
    with until(Deadline(-math.inf)):
        found = case.ranged(0.1)
    assert (found.gap.low, found.gap.high) == found.by_rows
    assert is_inside(case, found, case.decided(0.1))


def test_of_many_groups_no_pair_takes_as_much_memory_as_a_group():
    case, groups, rows = Case(0), 20, 4000
    case.rows, case.codes = np.random.default_rng(0).normal(size=(rows, 2)), np.arange(rows) % groups
    tracemalloc.start()
    try:
        found = case.ranged(0.05, 0.0, prices=np.zeros(rows))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.rates) == groups
    assert found.doubtful == rows
    assert peak < 8 * groups * rows * 8  # which 380 ordered pairs, of a number for each row, are far beyond
