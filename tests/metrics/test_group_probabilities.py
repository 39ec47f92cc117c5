"""Weighted rates of groups known by probability, against plain counting, weighted regression, brute force and bias."""

from functools import partial

import numpy as np
import pytest
from statsmodels.api import WLS

from fairenum.metrics.group_probabilities import SoftGroups, rate_bounds, soft_differences, soft_rates
from fairenum.metrics.intervals import wilson


def drawn(rows=4000, effect=0.0, seed=0):
    """Draw rows of 30 places, each with its share of the first group and its selection rate; `effect` harms it."""
    rng = np.random.default_rng(seed)
    shares = rng.beta(0.6, 0.9, 30)
    place = rng.integers(0, 30, rows)
    p, rate = shares[place], (0.6 - 0.3 * shares)[place]
    is_member = rng.random(rows) < p
    bits = (rng.random(rows) < rate - effect * is_member).astype(np.uint8)
    truth = np.array([(rate - effect) @ p / p.sum(), rate @ (1 - p) / (1 - p).sum()])
    return SoftGroups(np.stack([p, 1 - p], axis=1), bits), truth, is_member


def test_sure_groups_have_the_rates_and_limits_of_counting():
    codes = np.repeat([0, 1], [300, 500])
    bits = np.r_[np.arange(300) % 3 == 0, np.arange(500) % 2 == 0].astype(np.uint8)
    soft = SoftGroups(np.eye(2)[codes], bits)
    found, expected = (
        soft_rates(soft, 0.95),
        wilson(np.array([100.0, 250.0]), np.array([300.0, 500.0]), 1.959963984540054),
    )
    assert found.estimate == pytest.approx(expected.estimate)
    assert found.lower == pytest.approx(expected.lower)
    assert found.upper == pytest.approx(expected.upper)
    bounds = rate_bounds(soft, 0.5)
    assert bounds.lower == pytest.approx(found.estimate)
    assert bounds.upper == pytest.approx(found.estimate)


def test_the_weighted_rate_is_a_weighted_regression_on_a_constant():
    soft, _, _ = drawn(500)
    p = soft.probabilities[:, 0]
    theirs = WLS(soft.bits.astype(float), np.ones(500), weights=p).fit(cov_type="HC0")
    assert soft.rates[0] == pytest.approx(theirs.params[0])
    assert np.sqrt((soft.influences[:, 0] ** 2).sum()) == pytest.approx(theirs.bse[0])


def test_limits_of_differences_allow_for_the_same_rows():
    soft, _, _ = drawn(500)
    found = soft_differences(soft, 1, 0.95)
    assert found.estimate[1] == found.lower[1] == found.upper[1] == 0.0
    rng, values = np.random.default_rng(1), []
    for _ in range(1000):
        rows = rng.integers(0, 500, 500)
        rates = SoftGroups(soft.probabilities[rows].copy(), soft.bits[rows].copy()).rates
        values.append(rates[0] - rates[1])
    assert (found.upper[0] - found.lower[0]) / 2 / 1.96 == pytest.approx(np.std(values), rel=0.08)


def test_the_estimate_is_right_where_rows_of_one_place_are_selected_alike_and_understates_otherwise():
    hits, errors, harmed = 0, [], []
    for seed in range(200):
        soft, truth, _ = drawn(seed=seed)
        found = soft_differences(soft, 1, 0.95)
        hits += found.lower[0] <= truth[0] - truth[1] <= found.upper[0]
        errors.append(found.estimate[0] - (truth[0] - truth[1]))
        soft, truth, _ = drawn(effect=0.15, seed=seed)
        p = soft.probabilities[:, 0]
        # Chen and others: the bias of a group's rate is minus the mean covariance of group and outcome over its share
        bias = [0.15 * (p * (1 - p)).sum() / p.sum(), -0.15 * (p * (1 - p)).sum() / (1 - p).sum()]
        harmed.append(soft.rates - truth - bias)
    assert 0.9 <= hits / 200 <= 0.99
    assert np.mean(errors) == pytest.approx(0.0, abs=0.004)
    assert np.mean(harmed, axis=0) == pytest.approx([0.0, 0.0], abs=0.004)


@pytest.mark.parametrize("effect", [0.0, 0.15, 0.3])
def test_bounds_hold_the_truth_without_assumptions(effect):
    for seed in range(60):
        soft, _, is_member = drawn(effect=effect, seed=seed)
        bounds = rate_bounds(soft, 0.95)
        truth = np.array([soft.bits[is_member].mean(), soft.bits[~is_member].mean()])
        assert (bounds.lower <= truth).all()
        assert (truth <= bounds.upper).all()
        assert (bounds.lower <= soft.rates).all()


def test_bounds_of_one_place_are_those_of_frechet():
    bits = (np.arange(1000) % 10 < 3).astype(np.uint8)
    bounds = rate_bounds(SoftGroups(np.tile([0.2, 0.8], (1000, 1)), bits), 0.5)
    assert bounds.lower == pytest.approx([0.0, 0.1 / 0.8])
    assert bounds.upper == pytest.approx([1.0, 0.3 / 0.8])


def test_repeated_rows_of_one_person_say_no_more_than_one_row():
    rng = np.random.default_rng(4)
    p = rng.beta(0.5, 0.5, 3000)
    table, bits = np.column_stack([p, 1 - p]), (rng.random(3000) < 0.3 + 0.2 * p).astype(np.uint8)
    once = SoftGroups(table, bits)
    often = SoftGroups(np.repeat(table, 4, axis=0), np.repeat(bits, 4), np.repeat(np.arange(3000), 4))
    for measure in (soft_rates, rate_bounds, partial(soft_differences, reference=0)):
        first, second = measure(once, confidence=0.95), measure(often, confidence=0.95)
        assert (second.lower, second.upper) == (
            pytest.approx(first.lower, abs=1e-3),
            pytest.approx(first.upper, abs=1e-3),
        )
