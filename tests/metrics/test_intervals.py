"""Intervals against published figures and exact coverage."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from fairenum.metrics.intervals import (
    Interval,
    Overlap,
    clopper_pearson,
    difference,
    normal_critical,
    paired_change,
    pairwise,
    rate_limits,
    tukey_critical,
    wilson,
)

Z = normal_critical(0.95)


def whole(*numbers):
    return tuple(np.array([float(number)]) for number in numbers)


@pytest.mark.parametrize(("outcomes", "trials"), [(0, 1), (1, 1), (3, 10), (0, 50), (50, 50), (180, 1000)])
def test_wilson_is_that_of_scipy(outcomes, trials):
    ours = wilson(*whole(outcomes, trials), Z)
    theirs = stats.binomtest(outcomes, trials).proportion_ci(method="wilson")
    assert ours.lower[0] == pytest.approx(theirs.low, abs=1e-12)
    assert ours.upper[0] == pytest.approx(theirs.high, abs=1e-12)
    assert ours.estimate[0] == outcomes / trials


@pytest.mark.parametrize(("outcomes", "trials"), [(0, 1), (1, 1), (3, 10), (0, 29), (29, 29), (7, 29)])
def test_a_rate_of_few_trials_has_the_exact_limits_of_scipy(outcomes, trials):
    ours = rate_limits(*whole(outcomes, trials), Z)
    theirs = stats.binomtest(outcomes, trials).proportion_ci(method="exact")
    assert (ours.lower[0], ours.upper[0]) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_from_30_trials_on_a_rate_has_wilsons_limits():
    outcomes, trials = np.array([[3.0, 3.0, 9.5]]), np.array([[29.5, 30.0, 400.0]])
    ours, theirs = rate_limits(outcomes, trials, Z), wilson(outcomes, trials, Z)
    assert (ours.lower == theirs.lower).tolist() == [[False, True, True]]
    assert (ours.upper == theirs.upper).tolist() == [[False, True, True]]
    np.testing.assert_array_equal(ours.estimate, theirs.estimate)


@pytest.mark.parametrize("limits", [wilson, clopper_pearson, rate_limits])
def test_nothing_is_known_of_a_rate_without_trials(limits):
    nothing = limits(*whole(0, 0), Z)
    assert np.isnan(nothing.estimate[0])
    assert (nothing.lower[0], nothing.upper[0]) == (0, 1)


@pytest.mark.parametrize(
    ("left", "right", "lower", "upper"),
    [  # Newcombe (1998), Interval estimation for the difference between independent proportions, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_differences_are_those_that_newcombe_published(left, right, lower, upper):
    interval = difference(wilson(*whole(*left), Z), wilson(*whole(*right), Z))
    assert interval.lower[0] == pytest.approx(lower, abs=6e-5)
    assert interval.upper[0] == pytest.approx(upper, abs=6e-5)


def coverage(left, right, chances):
    """Sum the probabilities of all samples whose interval holds the true difference."""
    (n, m), (p, q) = (left, right), chances
    x, y = np.arange(n + 1.0)[:, None], np.arange(m + 1.0)
    interval = difference(wilson(x, np.float64(n), Z), wilson(y, np.float64(m), Z))
    holds = (interval.lower <= p - q) & (p - q <= interval.upper)
    return float(np.sum(stats.binom.pmf(x, n, p) * stats.binom.pmf(y, m, q) * holds))


@pytest.mark.parametrize(
    "sizes", [(25, 25), (35, 15), (40, 10), (45, 5), (100, 100), (180, 20), (500, 500), (900, 100)]
)
def test_differences_are_covered_as_often_as_they_say(sizes):
    for chances in product([0.2, 0.3, 0.5, 0.8], repeat=2):
        assert 0.93 <= coverage(*sizes, chances) <= 0.97, chances


@pytest.mark.parametrize("sizes", [(100, 100), (180, 20), (500, 500), (900, 100)])
def test_rare_outcomes_are_covered_as_often_from_200_rows(sizes):
    for chances in product([0.05, 0.1, 0.5], repeat=2):
        assert 0.93 <= coverage(*sizes, chances) <= 0.97, chances


def test_a_paired_change_is_that_of_bonett_and_price():
    # (f12 + 1) / (n + 2) etc.: with z = 2 the imaginary rows are one of each kind
    gained, lost, both, trials = 9, 3, 20, 60
    model, first = whole(both + gained, trials), whole(both + lost, trials)
    interval = paired_change(model, first, Overlap(*whole(both, trials, both + gained, both + lost)), 2.0)
    up, down = (gained + 1) / (trials + 2), (lost + 1) / (trials + 2)
    radius = 2 * np.sqrt((up + down - (up - down) ** 2) / (trials + 2))
    assert interval.estimate[0] == pytest.approx((gained - lost) / trials)
    assert interval.lower[0] == pytest.approx(up - down - radius)
    assert interval.upper[0] == pytest.approx(up - down + radius)


def test_a_paired_change_of_precisions_has_the_error_of_the_bootstrap():
    rng = np.random.default_rng(0)
    labels, first = rng.random(4000) < 0.5, rng.random(4000) < 0.6
    model = np.where(rng.random(4000) < 0.9, first, labels)
    shared = model & first
    right, both = np.sum(labels & shared), np.sum(shared)
    interval = paired_change(
        whole(np.sum(labels & model), np.sum(model)),
        whole(np.sum(labels & first), np.sum(first)),
        Overlap(*whole(right, both, right, right)),
        Z,
    )
    weights = rng.exponential(size=(4000, 4000))
    change = (weights @ (labels & model)) / (weights @ model) - (weights @ (labels & first)) / (weights @ first)
    assert (interval.upper - interval.lower)[0] == pytest.approx(2 * Z * change.std(), rel=0.05)


def test_nothing_is_known_of_a_change_without_trials():
    interval = paired_change(whole(0, 0), whole(0, 0), Overlap(*whole(0, 0, 0, 0)), Z)
    assert np.isnan(interval.estimate[0])
    assert (interval.lower[0], interval.upper[0]) == (-1, 1)


def test_groups_without_rows_differ_from_nobody():
    pairs = pairwise(wilson(np.array([1.0, 5.0, 0.0]), np.array([9.0, 9.0, 0.0]), Z), np.array([True, True, False]))
    assert pairs.lower[2].tolist() == pairs.upper[:, 2].tolist() == [0, 0, 0]
    assert pairs.upper.diagonal().tolist() == [0, 0, 0]
    np.testing.assert_allclose(pairs.lower, -pairs.upper.T)
    assert pairs.lower[0, 1] < pairs.estimate[0, 1] < pairs.upper[0, 1]


def test_tukey_is_normal_for_two_groups_and_grows_with_their_number():
    assert tukey_critical(0.95, 1) == pytest.approx(Z)
    assert tukey_critical(0.95, 2) == pytest.approx(Z)
    assert tukey_critical(0.95, 10) == pytest.approx(4.474 / np.sqrt(2), abs=1e-3)  # the table's q(10, inf)


def test_an_interval_can_be_cut_and_masked():
    interval = Interval(*(np.arange(3.0) + shift for shift in (0, -1, 1)))
    assert interval[1:].upper.tolist() == [2, 3]
    assert interval.where(np.array([True, False, True]), 9).lower.tolist() == [-1, 9, 1]
