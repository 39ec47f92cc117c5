"""Ratios of rates: what their limits cover, exactly, and where they have none."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairenum.metrics.counts import Confusion
from fairenum.metrics.impact_ratios import impact_ratios, ratio_intervals
from fairenum.metrics.rates import scored
from fairenum.tables.groups import Groups


def selecting(counts, sizes):
    """Score many selections from groups of these sizes at once."""
    selected = np.zeros((len(counts), len(sizes), 2))
    selected[..., 0] = counts
    total = np.zeros((1, len(sizes), 2))
    total[0, :, 0] = sizes
    groups = Groups(np.arange(len(sizes)), tuple("abcdef"[: len(sizes)]))
    return scored(groups, Confusion(total, selected), np.zeros(len(counts), dtype=np.bool_))


def ratios(counts, sizes, best=0, confidence=0.95):
    """Bound the ratios of groups of these sizes, for many selections at once."""
    return impact_ratios(selecting(counts, sizes), best, confidence=confidence)


@pytest.mark.parametrize(("rate", "ratio"), list(product((0.2, 0.5, 0.8), (0.3, 0.8, 1.0))))
@pytest.mark.parametrize("sizes", [(40, 40), (100, 30), (30, 100)])
def test_they_cover_the_true_ratio_as_often_as_they_say(sizes, rate, ratio):
    chances = [stats.binom.pmf(np.arange(n + 1), n, p) for n, p in zip(sizes, (rate, rate * ratio), strict=True)]
    grid = np.array(list(product(range(sizes[0] + 1), range(sizes[1] + 1))))
    limits = ratios(grid, sizes)[:, 1]
    covered = (limits.lower <= ratio) & (ratio <= limits.upper)
    assert np.outer(*chances).ravel() @ covered >= 0.93


@given(st.integers(1, 60), st.integers(0, 60), st.integers(60, 80), st.integers(60, 80))
def test_they_hold_the_estimate_and_turn_over_with_the_groups(best, other, many, more):
    found, turned = ratios([[best, other]], (many, more)), ratios([[best, other]], (many, more), best=1)
    assert found.estimate[0, 0] == found.lower[0, 0] == found.upper[0, 0] == 1.0
    assert found.lower[0, 1] <= found.estimate[0, 1] + 1e-12
    assert found.estimate[0, 1] <= found.upper[0, 1] + 1e-12
    if other:
        assert 1 / turned.upper[0, 0] == pytest.approx(found.lower[0, 1], rel=1e-9)
        assert 1 / turned.lower[0, 0] == pytest.approx(found.upper[0, 1], rel=1e-9)


def test_of_large_groups_they_are_those_of_the_logarithm():
    found = ratios([[4000, 3000]], (10_000, 10_000))
    theirs = stats.contingency.relative_risk(3000, 10_000, 4000, 10_000).confidence_interval()
    assert (found.lower[0, 1], found.upper[0, 1]) == pytest.approx((theirs.low, theirs.high), abs=2e-4)


def test_where_nobody_is_selected_there_is_no_upper_limit():
    found = ratios([[0, 3]], (20, 20))
    assert found.upper[0, 1] == np.inf
    assert found.lower[0, 1] >= 0.0
    assert np.isnan(found.estimate[0, 0])


# --- the smallest of all ratios ---


@pytest.mark.parametrize(("rate", "ratio"), list(product((0.2, 0.5, 0.8), (0.3, 0.8, 1.0))))
@pytest.mark.parametrize("sizes", [(40, 40), (100, 30)])
def test_of_two_groups_the_smallest_ratio_is_covered_as_often_as_it_says(sizes, rate, ratio):
    chances = [stats.binom.pmf(np.arange(n + 1), n, p) for n, p in zip(sizes, (rate, rate * ratio), strict=True)]
    grid = np.array(list(product(range(sizes[0] + 1), range(sizes[1] + 1))))
    limits = ratio_intervals(selecting(grid, sizes), "demographic_parity_ratio")
    covered = (limits.lower <= ratio) & (ratio <= limits.upper)
    assert np.outer(*chances).ravel() @ covered >= 0.93


@pytest.mark.parametrize(
    "rates", [(0.5, 0.5, 0.5, 0.5), (0.5, 0.4, 0.4, 0.4), (0.3, 0.3, 0.3, 0.1), (0.9, 0.8, 0.7, 0.6)]
)
def test_of_four_groups_it_is_covered_at_least_as_often(rates):
    sizes = (200, 100, 100, 50)
    drawn = np.random.default_rng(0).binomial(sizes, rates, size=(4000, 4))
    limits = ratio_intervals(selecting(drawn, sizes), "demographic_parity_ratio")
    truth = min(rates) / max(rates)
    # two standard errors of a share of 4000 draws below 0.95
    assert ((limits.lower <= truth) & (truth <= limits.upper)).mean() >= 0.943


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=5))
def test_its_limits_hold_the_estimate_and_lie_between_0_and_1(groups):
    sizes = [max(pair) for pair in groups]
    if not any(sizes):
        return
    found = ratio_intervals(selecting([[min(pair) for pair in groups]], sizes), "demographic_parity_ratio")
    value, low, high = found.estimate[0], found.lower[0], found.upper[0]
    assert 0.0 <= low <= high <= 1.0
    assert np.isnan(value) or low - 1e-12 <= value <= high + 1e-12
