"""Intervals and verdicts that no data may break."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairenum.document.terms import Verdict
from fairenum.metrics.changes import DifferenceLimits, change_limits
from fairenum.metrics.claims import Errors, compare_chosen, fixed_pairs
from fairenum.metrics.comparison import accuracy_changes, change_verdict, compare
from fairenum.metrics.counts import Decisions
from fairenum.metrics.inference import gap_intervals, parity_p_values, rate_intervals, signed_differences
from fairenum.metrics.intervals import Interval
from fairenum.metrics.rates import FRACTIONS, GAP_RATES, score
from fairenum.tables.groups import Groups

GAPS = st.sampled_from(sorted(GAP_RATES))
RATES = st.sampled_from(sorted(FRACTIONS))


@st.composite
def decided(draw, models=4, rows=60):
    k, n, g = draw(st.integers(1, models)), draw(st.integers(1, rows)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels, first = rng.random(n) < rng.choice([0, 0.2, 0.5, 1]), rng.random(n) < rng.choice([0, 0.3, 0.8, 1])
    flips = rng.random((k, n)) < rng.choice([0, 0.05, 0.5, 1], size=(k, 1))
    return Decisions(first ^ flips, labels, Groups(rng.integers(0, g, n), tuple("abcde"[:g])))


def holds(interval, widest):
    """Limits in order and in range, and the estimate between them wherever there is one."""
    known = ~np.isnan(interval.estimate)
    assert np.all(interval.lower >= -widest - 1e-12)
    assert np.all(interval.upper <= widest + 1e-12)
    assert np.all(interval.lower <= interval.upper)
    assert np.all(interval.lower[known] <= interval.estimate[known] + 1e-12)
    assert np.all(interval.upper[known] >= interval.estimate[known] - 1e-12)


@settings(deadline=None, max_examples=100)
@given(decided(), RATES, GAPS)
def test_intervals_hold_their_estimates(decisions, rate, gap):
    scores = score(decisions)
    holds(rate_intervals(scores.counts, rate), 1)
    holds(signed_differences(scores, rate), 1)
    holds(gap_intervals(scores, gap), 1)
    assert np.all(gap_intervals(scores, gap).lower >= 0)


@settings(deadline=None, max_examples=60)
@given(decided(rows=30), RATES)
def test_p_values_are_probabilities(decisions, rate):
    p_values = parity_p_values(score(decisions), rate)
    assert np.all(np.isnan(p_values) | ((p_values >= 0) & (p_values <= 1 + 1e-12)))


@settings(deadline=None, max_examples=100)
@given(decided(), GAPS, st.integers(0, 2**32))
def test_comparisons_hold_their_estimates_and_promises(decisions, gap, seed):
    comparison = compare(decisions, gap, np.random.default_rng(seed), replications=50)
    holds(comparison.gap_change, 1)
    holds(comparison.difference_change, 2)
    verdicts = np.array(comparison.verdicts)
    assert set(verdicts[comparison.is_identical]) <= {Verdict.OPEN, Verdict.SAME, None}
    assert set(verdicts[comparison.is_constant]) <= {None}
    assert np.all(comparison.gap_change.upper[verdicts == Verdict.FAIRER] < 0)
    assert np.all(comparison.gap_change.lower[verdicts == Verdict.LESS_FAIR] > 0)


@settings(deadline=None, max_examples=100)
@given(decided(models=2), GAPS, st.floats(0.00005, 0.25), st.floats(0.00005, 0.25))
def test_a_model_judged_alone_holds_its_estimate(decisions, gap, fairer, less_fair):
    last = len(decisions.predictions) - 1
    pairs = fixed_pairs(decisions, last, gap)
    assume(pairs is not None)
    judged = compare_chosen(decisions, last, gap, pairs, Errors(fairer, less_fair), margin=0.1)
    holds(judged.change, 1)
    gaps = getattr(score(decisions).gaps, gap)
    np.testing.assert_allclose(judged.change.estimate, gaps[last] - gaps[0], atol=1e-12)
    if judged.verdict is not None:
        assert judged.verdict is change_verdict(judged.change.lower, judged.change.upper, 0.1)


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 0.3))
def test_a_verdict_says_what_its_interval_shows(lower, width, margin):
    upper = min(lower + width, 1)
    verdict = change_verdict(lower, upper, margin)
    assert (verdict is Verdict.SAME) == (max(abs(lower), abs(upper)) <= margin)
    if verdict is not Verdict.SAME:
        assert (verdict is Verdict.FAIRER) == (upper < 0)
        assert (verdict is Verdict.LESS_FAIR) == (lower > 0)


@settings(deadline=None, max_examples=60)
@given(decided(), st.integers(0, 2**32))
def test_changes_of_accuracy_hold_their_estimates(decisions, seed):
    changes = accuracy_changes(decisions, np.random.default_rng(seed), replications=50)
    holds(changes, 1)
    right = (decisions.predictions == decisions.labels).mean(1)
    np.testing.assert_allclose(changes.estimate, right - right[0], atol=1e-12)


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 2), st.integers(1, 5), st.integers(0, 2**32))
def test_the_change_of_a_gap_is_bounded_whenever_the_signed_differences_are(rates, groups, seed):
    rng = np.random.default_rng(seed)

    def around(values, slack):
        """Limits that hold the truth, antisymmetric as those of differences are."""
        above, below = rng.exponential(slack, (2, *values.shape)) * (values != 0)
        above = np.maximum(above, np.swapaxes(below, -1, -2))
        return Interval(values, values - np.swapaxes(above, -1, -2), values + above)

    truth = rng.random((3, rates, groups)) * rng.choice([0.2, 1])
    pairs = truth[..., :, None] - truth[..., None, :]
    gaps = pairs.max((-3, -2, -1))
    slack = rng.choice([0, 0.01, 0.3])
    moved = DifferenceLimits(*(around(one, slack) for one in (pairs[0], pairs, pairs - pairs[0], pairs + pairs[0])))
    for single in {False, rates == 1 and groups == 2}:
        lower, upper = change_limits(moved, np.ones(groups, dtype=bool), single=single)
        assert np.all(lower <= gaps - gaps[0] + 1e-12)
        assert np.all(upper >= gaps - gaps[0] - 1e-12)
        if slack == 0:
            np.testing.assert_allclose(lower, gaps - gaps[0], atol=1e-12)
            np.testing.assert_allclose(upper, gaps - gaps[0], atol=1e-12)


@given(st.floats(-1, 1), st.floats(-1, 1), st.tuples(*[st.floats(0, 1)] * 4))
def test_two_groups_need_changes_and_sums_alone(x, y, slack):
    d, s = y - x, y + x
    assert abs(y) - abs(x) == pytest.approx(max(min(d, s), min(-d, -s)), abs=1e-12)
    assert abs(y) - abs(x) == pytest.approx(min(max(d, -s), max(s, -d)), abs=1e-12)
    ends = (d - slack[0], d + slack[1]), (s - slack[2], s + slack[3])
    (low_d, high_d), (low_s, high_s) = ends
    change, total = (_two_groups(value, *end) for value, end in zip((d, s), ends, strict=True))
    nothing = _two_groups(0, -1, 1)
    lower, upper = change_limits(
        DifferenceLimits(nothing[0], nothing, change, total), np.ones(2, dtype=bool), single=True
    )
    assert upper[0] == pytest.approx(np.clip(max(min(high_d, high_s), min(-low_d, -low_s)), -1, 1))
    assert lower[0] == pytest.approx(np.clip(min(max(low_d, -high_s), max(low_s, -high_d)), -1, 1))


def _two_groups(value, low, high):
    """The limits of a difference between two groups, in both orders, of one model and rate."""
    ends = ((0, value, -value, 0), (0, low, -high, 0), (0, high, -low, 0))
    return Interval(*(np.array(end, dtype=float).reshape(1, 1, 2, 2) for end in ends))


@settings(deadline=None, max_examples=50)
@given(decided(models=2, rows=200), st.integers(1, 3), GAPS)
def test_rows_that_count_alike_are_judged_alike_whatever_they_count(decisions, count, gap):
    weighted = replace(decisions, weights=np.full(len(decisions.labels), float(count)))
    last = len(decisions.predictions) - 1
    pairs = fixed_pairs(decisions, last, gap)
    assume(pairs is not None)
    plain, counted = (compare_chosen(one, last, gap, pairs, Errors(0.025, 0.025)) for one in (decisions, weighted))
    assert plain.verdict is counted.verdict
    for end in ("lower", "upper"):
        np.testing.assert_allclose(getattr(plain.change, end), getattr(counted.change, end), atol=1e-9)
