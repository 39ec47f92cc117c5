"""Mantel-Haenszel estimates and tests against statsmodels, and the parts of a raw difference against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import StratifiedTable
from support.decisions import BERKELEY

from fairenum.metrics.strata import StratifiedPair, common_difference, common_odds, divided_difference

EXACT = {"rel": 1e-10, "abs": 1e-10}
CELL = st.integers(1, 60)
TABLES = st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=2, max_size=9)


def pair_of(tables):
    """Make a pair of groups from tables of (selected, not selected) of the group and of the reference group."""
    a, b, c, d = np.asarray(tables, dtype=np.float64).T
    return StratifiedPair(a, a + b, c, c + d)


def berkeley():
    """The women, with the men as reference."""
    return pair_of([(w[1], w[0] - w[1], m[1], m[0] - m[1]) for m, w in BERKELEY.values()])


def reference(tables):
    return StratifiedTable([np.reshape(one, (2, 2)).astype(float) for one in tables])


@settings(deadline=None)
@given(TABLES, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_common_odds_ratio_and_its_tests_are_those_of_statsmodels(tables, confidence):
    found, theirs = common_odds(pair_of(tables), confidence), reference(tables)
    assert found.ratio == pytest.approx(theirs.oddsratio_pooled, **EXACT)
    assert found.log_error == pytest.approx(theirs.logodds_pooled_se, **EXACT)
    limits = theirs.oddsratio_pooled_confint(alpha=1 - confidence)
    assert (found.lower, found.upper) == pytest.approx(limits, **EXACT)
    plain, corrected = theirs.test_null_odds(), theirs.test_null_odds(correction=True)
    assert found.statistic == pytest.approx(plain.statistic, **EXACT)
    if found.corrected:  # theirs adds to a distance below one half instead of ending at 0
        assert found.corrected == pytest.approx(corrected.statistic, **EXACT)
        assert found.p == pytest.approx(corrected.pvalue, **EXACT)
    if abs(found.ratio - 1) > 1e-3:  # theirs divides by 1 - ratio
        same = theirs.test_equal_odds(adjust=True)
        assert found.homogeneity == pytest.approx(same.statistic, rel=1e-8, abs=1e-8)


def test_admissions_to_berkeley_are_those_of_the_textbooks():
    found = common_odds(berkeley(), 0.95)
    # R: mantelhaen.test(UCBAdmissions) gives 0.9046968 for men, X-squared 1.4269 with correction, p 0.2323
    assert 1 / found.ratio == pytest.approx(0.9046968, abs=5e-8)
    assert found.corrected == pytest.approx(1.4269, abs=5e-5)
    assert found.p == pytest.approx(0.2323, abs=5e-5)
    assert common_odds(berkeley(), 0.95).homogeneity_p == pytest.approx(0.002071, abs=5e-7)


def test_strata_of_one_group_or_one_outcome_change_no_estimate():
    tables = [(5, 7, 9, 3), (8, 2, 4, 4)]
    more = [*tables, (3, 4, 0, 0), (0, 0, 6, 1)]
    assert common_odds(pair_of(more), 0.95) == common_odds(pair_of(tables), 0.95)
    assert common_difference(pair_of(more), 0.95).estimate == common_difference(pair_of(tables), 0.95).estimate
    assert common_odds(pair_of([*tables, (4, 0, 5, 0)]), 0.95).homogeneity == pytest.approx(
        common_odds(pair_of(tables), 0.95).homogeneity
    )


@given(TABLES)
def test_the_common_difference_is_a_weighted_mean_with_satos_variance(tables):
    found = common_difference(pair_of(tables), 0.95)
    weights, total, above, slope, spread = 0.0, 0.0, 0.0, 0.0, 0.0
    for a, b, c, d in tables:  # as printed in Sato (1989), stratum by stratum
        n1, n0 = a + b, c + d
        t = n1 + n0
        weights += n1 * n0 / t
        above += (a * n0 - c * n1) / t
        slope += (n1**2 * c - n0**2 * a + n1 * n0 * (n0 - n1) / 2) / t**2
        spread += (a * (n0 - c) + c * (n1 - a)) / (2 * t)
        total += n1 * n0 / t * (a / n1 - c / n0)
    value = total / weights
    assert found.estimate == pytest.approx(value)
    assert above / weights == pytest.approx(value)
    radius = 1.959963984540054 * np.sqrt(value * slope + spread) / weights
    assert found.lower == pytest.approx(max(value - radius, -1))
    assert found.upper == pytest.approx(min(value + radius, 1))


@given(TABLES)
def test_the_parts_add_up_to_the_raw_difference(tables):
    pair = pair_of(tables)
    found = divided_difference(pair, 0.95)
    assert found.unmatched == 0.0
    assert found.within.estimate + found.composition.estimate == pytest.approx(pair.raw(0.95).estimate[0])


def test_parts_are_what_exchanging_rates_and_shares_does():
    """Kitagawa's parts are the mean effect of exchanging rates, and of exchanging shares, in either order."""
    pair = berkeley()
    v, w = pair.rows / pair.rows.sum(), pair.reference_rows / pair.reference_rows.sum()
    r, q = pair.selected / pair.rows, pair.reference_selected / pair.reference_rows
    found = divided_difference(pair, 0.95)
    assert found.within.estimate == pytest.approx((v @ r - v @ q + w @ r - w @ q) / 2)
    assert found.composition.estimate == pytest.approx((v @ r - w @ r + v @ q - w @ q) / 2)


def test_rows_without_counterpart_are_a_part_of_their_own():
    tables = [(5, 7, 9, 3), (8, 2, 4, 4)]
    pair = pair_of([*tables, (30, 4, 0, 0)])
    found, shared = divided_difference(pair, 0.95), divided_difference(pair_of(tables), 0.95)
    assert found.within.estimate == shared.within.estimate
    whole = found.within.estimate + found.composition.estimate + found.unmatched
    assert whole == pytest.approx(pair.raw(0.95).estimate[0])


def test_groups_that_never_meet_have_no_estimate():
    pair = pair_of([(5, 7, 0, 0), (0, 0, 4, 4)])
    assert np.isnan(common_odds(pair, 0.95).ratio)
    assert np.isnan(common_difference(pair, 0.95).estimate)
    assert np.isnan(divided_difference(pair, 0.95).within.estimate)
