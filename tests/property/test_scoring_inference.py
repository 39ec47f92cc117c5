"""Intervals and verdicts that no data may break."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.scoring.comparison import Verdict, _gap_change_limits, accuracy_changes, compare
from fairenum.scoring.counts import Decisions, Groups
from fairenum.scoring.inference import gap_intervals, parity_p_values, rate_intervals, signed_differences
from fairenum.scoring.intervals import Interval
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, score

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
    holds(comparison.gap_change, 2)
    holds(comparison.difference_change, 2)
    verdicts = np.array(comparison.verdicts)
    assert np.all(verdicts[comparison.is_identical] == Verdict.OPEN)
    assert not np.any(verdicts[comparison.is_constant] == Verdict.FAIRER)
    assert np.all(comparison.gap_change.upper[verdicts == Verdict.FAIRER] < 0)


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
    lower, upper = _gap_change_limits(around(pairs[0], slack), around(pairs - pairs[0], slack))
    assert np.all(lower <= gaps - gaps[0] + 1e-12)
    assert np.all(upper >= gaps - gaps[0] - 1e-12)
    if slack == 0:
        np.testing.assert_allclose(lower, gaps - gaps[0], atol=1e-12)
        np.testing.assert_allclose(upper, gaps - gaps[0], atol=1e-12)
