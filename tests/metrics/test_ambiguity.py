"""Ambiguity out of flip prices, against counting by hand, SciPy, and what must hold of any prices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairenum.flips.flippable_rows import flippable_shares, flipped, largest_share
from fairenum.metrics.counts import Decisions
from fairenum.tables.groups import Groups

EPS = (0.001, 0.01, 0.05, 0.1)
NEVER = np.inf


def rows(codes, names=("a", "b"), weights=None, **groups):
    codes = np.array(codes)
    bits = np.zeros(len(codes))
    return Decisions(bits[None], bits, Groups(codes, names, **groups), None if weights is None else np.array(weights))


@st.composite
def priced(draw):
    """Rows in up to three groups, some of them open, with weights or without."""
    size = draw(st.integers(1, 40))
    few = st.sampled_from([0.0, 0.0005, 0.001, 0.004, 0.01, 0.03, 0.05, 0.08, 0.1, 0.2])
    low = np.array(draw(st.lists(few, min_size=size, max_size=size)))
    wider = draw(st.lists(st.sampled_from([0.0, 0.0, 0.02, NEVER]), min_size=size, max_size=size))
    codes = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=size, max_size=size))
    return rows(codes, ("a", "b", "c"), weights), low, low + np.array(wider)


def by_hand(found, prices, eps):
    """Sum what flipped rows count, row by row; None for a group without rows."""
    weights = np.ones(len(prices)) if found.weights is None else found.weights
    shares = []
    for code in (*range(len(found.groups.names)), None):
        own = [place for place in range(len(prices)) if code is None or found.groups.codes[place] == code]
        total = sum(weights[place] for place in own)
        shares.append(sum(weights[place] for place in own if prices[place] <= eps) / total if own else np.nan)
    return shares


@given(priced())
def test_shares_are_those_of_the_prices(one):
    found, low, high = one
    measured = flippable_shares(found, low, high, EPS)
    for place, eps in enumerate(EPS):
        for prices, overall, by_group in (
            (high, measured.overall.least, measured.by_group.least),
            (low, measured.overall.most, measured.by_group.most),
        ):
            *groups, everybody = by_hand(found, prices, eps)
            assert overall[place] == pytest.approx(everybody)
            np.testing.assert_allclose(by_group[place], groups)


@given(priced())
def test_ambiguity_grows_with_what_a_model_may_lose(one):
    measured = flippable_shares(*one, EPS)
    for part in (measured.overall, measured.by_group):
        for shares in (part.least, part.most):
            assert (np.diff(np.nan_to_num(shares), axis=0) >= -1e-12).all()


@given(priced())
def test_limits_hold_what_is_known_of_the_rows(one):
    measured = flippable_shares(*one, EPS)
    for part in (measured.overall, measured.by_group, measured.gap):
        known = ~np.isnan(part.least)
        least, most, lower, upper = (v[known] for v in (part.least, part.most, part.lower, part.upper))
        assert ((lower <= least + 1e-9) & (least <= most + 1e-12) & (most <= upper + 1e-9)).all()
        assert ((lower >= 0.0) & (upper <= 1.0)).all()


@given(priced(), st.data())
def test_the_gap_holds_whatever_open_rows_turn_out_to_be(one, data):
    found, low, high = one
    true = np.array([low[i] if data.draw(st.booleans()) else high[i] for i in range(len(low))])
    settled, measured = flippable_shares(found, true, true, EPS), flippable_shares(found, low, high, EPS)
    known = ~np.isnan(settled.gap.least)
    np.testing.assert_array_equal(settled.gap.least[known], settled.gap.most[known])
    assert (measured.gap.least[known] <= settled.gap.least[known] + 1e-12).all()
    assert (settled.gap.most[known] <= measured.gap.most[known] + 1e-12).all()


def test_a_gap_is_the_largest_difference_of_compared_groups():
    found = rows([0, 0, 1, 1, 2, 2], ("a", "b", "c"), aside=(2,))
    prices = np.array([0.0, 0.2, 0.2, 0.2, 0.0, 0.0])
    measured = flippable_shares(found, prices, prices, [0.01])
    assert measured.gap.least[0] == measured.gap.most[0] == 0.5
    assert measured.by_group.least[0].tolist() == [0.5, 0.0, 1.0]


def test_one_group_has_no_gap():
    measured = flippable_shares(rows([0, 0]), np.zeros(2), np.zeros(2), EPS)
    assert np.isnan(measured.gap.least).all()
    assert np.isnan(measured.gap.upper).all()


def test_limits_are_those_of_wilson():
    prices = np.repeat([0.0, 1.0], [37, 163])
    measured = flippable_shares(rows(np.zeros(200, dtype=int), ("a",)), prices, prices, [0.01])
    limits = stats.binomtest(37, 200).proportion_ci(0.95, method="wilson")
    assert (measured.overall.lower[0], measured.overall.upper[0]) == pytest.approx((limits.low, limits.high))


def test_a_price_at_the_tolerance_flips():
    assert flipped(np.array([0.01, 0.0100001]), [0.01]).tolist() == [[True, False]]


def test_the_machine_that_changes_most_is_found_by_weight():
    changed = np.array([[True, True, False], [False, False, True]])
    assert largest_share(rows([0, 0, 1]), changed) == (0, pytest.approx(2 / 3))
    assert largest_share(rows([0, 0, 1], weights=[1.0, 1.0, 3.0]), changed) == (1, pytest.approx(0.6))
