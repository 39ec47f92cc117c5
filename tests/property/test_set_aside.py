"""Groups that are set aside are shown and change nothing else; no interval ends beyond what is possible."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.auditing.selection_bias import expected_optimism
from fairenum.document.terms import RATIOS
from fairenum.document.training import Tolerances
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.unfairness import Watched
from fairenum.metrics.comparison import compare
from fairenum.metrics.counts import Decisions
from fairenum.metrics.impact_ratios import ratio_intervals
from fairenum.metrics.inference import gap_intervals, signed_differences
from fairenum.metrics.rates import FRACTIONS, GAP_RATES, fairlearn_metrics, score
from fairenum.tables.groups import Groups

GAPS = st.sampled_from(sorted(GAP_RATES))
NAMES = tuple("abcdef")


@st.composite
def decided(draw, models=3, rows=60):
    """Decisions about groups of any size, some of them set aside; a compared group has a row at least."""
    k, n, g = draw(st.integers(1, models)), draw(st.integers(2, rows)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels, first = rng.random(n) < rng.choice([0, 0.3, 0.5, 1]), rng.random(n) < rng.choice([0, 0.3, 0.8, 1])
    flips = rng.random((k, n)) < rng.choice([0, 0.05, 0.5, 1], size=(k, 1))
    flips[0] = False
    codes = rng.integers(0, g, n)
    aside = sorted({*range(g)} - {int(codes[0])} - draw(st.sets(st.integers(0, g - 1))))
    weights = rng.exponential(size=n) if draw(st.booleans()) else None
    return Decisions(first ^ flips, labels, Groups(codes, NAMES[:g], "g", aside=tuple(aside)), weights)


def without(decisions: Decisions) -> Decisions:
    """Take the rows of the groups that are set aside away, by hand."""
    groups = decisions.groups
    kept = [code for code in range(len(groups.names)) if code not in groups.aside]
    rows = np.isin(groups.codes, kept)
    codes = np.array([kept.index(code) for code in groups.codes[rows]])
    names = tuple(groups.names[code] for code in kept)
    weights = None if decisions.weights is None else decisions.weights[rows]
    return Decisions(decisions.predictions[:, rows], decisions.labels[rows], Groups(codes, names, "g"), weights)


def same(left: object, right: object) -> None:
    for field in fields(left):
        np.testing.assert_array_equal(getattr(left, field.name), getattr(right, field.name), err_msg=field.name)


@settings(deadline=None, max_examples=100)
@given(decided())
def test_rows_of_groups_that_are_set_aside_change_no_gap(decisions):
    ours, theirs = score(decisions), score(without(decisions))
    for name in (*GAP_RATES, *RATIOS):
        np.testing.assert_array_equal(getattr(ours.gaps, name), getattr(theirs.gaps, name), err_msg=name)
    np.testing.assert_array_equal(ours.is_constant, theirs.is_constant)
    for gap in GAP_RATES:
        same(gap_intervals(ours, gap), gap_intervals(theirs, gap))
    for ratio in RATIOS:
        same(ratio_intervals(ours, ratio, 0.95), ratio_intervals(theirs, ratio, 0.95))


@settings(deadline=None, max_examples=40)
@given(decided(), GAPS, st.integers(0, 2**32))
def test_nor_do_they_change_a_verdict(decisions, gap, seed):
    ours, theirs = (
        compare(one, gap, np.random.default_rng(seed), replications=30) for one in (decisions, without(decisions))
    )
    assert ours.verdicts == theirs.verdicts
    assert ours.critical == theirs.critical
    same(ours.gap_change, theirs.gap_change)
    same(ours.difference_change, theirs.difference_change)


@settings(deadline=None, max_examples=50)
@given(decided())
def test_they_are_counted_all_the_same(decisions):
    everyone = replace(decisions, groups=Groups(decisions.groups.codes, decisions.groups.names))
    ours, theirs = score(decisions), score(everyone)
    np.testing.assert_array_equal(ours.counts.selected, theirs.counts.selected)
    np.testing.assert_array_equal(ours.by_group.selection_rate, theirs.by_group.selection_rate)
    np.testing.assert_array_equal(ours.overall.accuracy, theirs.overall.accuracy)


@settings(deadline=None, max_examples=25)
@given(decided(models=1))
def test_gaps_are_those_of_fairlearn_on_the_rows_of_compared_groups(decisions):
    from fairlearn import metrics

    alone, gaps, checked = without(decisions), score(decisions).gaps, fairlearn_metrics(decisions)
    rates = score(alone).by_group
    rows = {"sensitive_features": {"group": alone.groups.codes}, "sample_weight": alone.weights}
    theirs = metrics.demographic_parity_difference(alone.labels, alone.predictions[0], **rows)
    assert gaps.demographic_parity_difference[0] == pytest.approx(theirs, abs=1e-12)
    assert checked.demographic_parity_difference[0] == pytest.approx(theirs, abs=1e-12)
    if not np.isnan([rates.true_positive_rate, rates.false_positive_rate])[..., rates.count > 0].any():
        theirs = metrics.equalized_odds_difference(alone.labels, alone.predictions[0], **rows)
        assert gaps.equalized_odds_difference[0] == pytest.approx(theirs, abs=1e-12)
        assert checked.equalized_odds_difference[0] == pytest.approx(theirs, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(decided(), GAPS, st.integers(0, 2**32), st.sampled_from([0.5, 0.95, 0.999999]))
def test_no_interval_ends_beyond_what_is_possible(decisions, gap, seed, confidence):
    scores = score(decisions)
    comparison = compare(decisions, gap, np.random.default_rng(seed), replications=20, confidence=confidence)
    within(gap_intervals(scores, gap, confidence), 0.0, 1.0)
    within(comparison.gap_change, -1.0, 1.0)
    within(comparison.difference_change, -2.0, 2.0)  # from -1 to 1, say
    for rate in FRACTIONS:
        within(signed_differences(scores, rate, confidence=confidence), -1.0, 1.0)
    for ratio in RATIOS:
        within(ratio_intervals(scores, ratio, confidence), 0.0, 1.0)


def within(interval, least, most):
    assert np.all(interval.lower >= least - 1e-12)
    assert np.all(interval.upper <= most + 1e-12)
    assert np.all(interval.lower <= interval.upper)


def test_limits_of_a_change_of_gap_are_cut_off_at_one():
    """Two groups of which nothing is known, and a model that turns everything round."""
    decisions = Decisions(np.array([[0, 1], [1, 0]]), np.array([0, 1]), Groups(np.array([0, 1]), ("a", "b")))
    change = compare(decisions, "demographic_parity_difference", np.random.default_rng(0), replications=20).gap_change
    assert (change.lower[1], change.upper[1]) == (-1.0, 1.0)


@settings(deadline=None, max_examples=40)
@given(decided(models=1), GAPS, st.integers(0, 2**32))
def test_the_search_is_pushed_by_compared_groups_alone(decisions, gap, seed):
    rng, groups = np.random.default_rng(seed), decisions.groups
    values, signs = rng.normal(size=len(decisions.labels)), 2.0 * decisions.labels - 1.0
    rows = EncodedRows(np.zeros((len(signs), 1)), signs, groups)
    alone = without(decisions)
    kept = groups.compared[groups.codes]
    part = EncodedRows(np.zeros((len(alone.labels), 1)), 2.0 * alone.labels - 1.0, alone.groups)
    slope = Watched(rows, gap).slope(values, 1.0, 0.0)
    np.testing.assert_allclose(slope[kept], Watched(part, gap).slope(values[kept], 1.0, 0.0), atol=1e-15)
    assert not slope[~kept].any()
    found, expected = Watched(rows, gap).standing(values), Watched(part, gap).standing(values[kept])
    np.testing.assert_array_equal((found[0], found[2]), (expected[0], expected[2]))


def test_what_choosing_flatters_by_is_that_of_compared_groups():
    """A group of three that every model decides differently would make every draw choose another model."""
    rng = np.random.default_rng(5)
    n, models = 400, 8
    codes = np.repeat([0, 1, 2, 3], [200, 194, 3, 3])
    labels, predictions = rng.integers(0, 2, n), rng.integers(0, 2, (models, n))
    kept = Decisions(predictions, labels, Groups(codes, tuple("abcd"), aside=(2, 3)))
    tolerances, ratios, values = Tolerances(eps=1.0, max_performance_drop=1.0), np.ones(models), predictions - 0.5

    def expected(decisions: Decisions) -> float:
        rows = decisions.predictions.shape[1]
        return expected_optimism(decisions, values[:, :rows], ratios, tolerances, np.random.default_rng(1), 3000)

    alone = expected(without(kept))
    assert expected(kept) == pytest.approx(alone, abs=0.004)
    assert expected(Decisions(predictions, labels, Groups(codes, tuple("abcd")))) > alone + 0.02
