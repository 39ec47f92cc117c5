"""The alarm: its likelihood ratios against brute force, its mean under the null hypothesis, and looks that agree."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from fairenum.metrics.monitoring import EXCESSES, Watched, accumulated, baseline_limit, log_steps, monitored


def watched(outcomes, trials):
    return Watched(np.asarray(outcomes, dtype=float), np.asarray(trials, dtype=float))


def brute_step(outcomes, trials, level, limit, signed):
    """Return log E of one period for one alternative, with the nearest point of the null found by a general search."""
    n, m = trials
    p1 = level + signed * m / (n + m)
    q1 = p1 - signed

    def distance(p, q):
        parts = (n * (a * np.log(a / b) + (1 - a) * np.log((1 - a) / (1 - b))) for a, b in ((p1, p),))
        other = (m * (a * np.log(a / b) + (1 - a) * np.log((1 - a) / (1 - b))) for a, b in ((q1, q),))
        return sum(parts) + sum(other)

    bound = np.sign(signed) * limit
    ends = max(1e-9, -bound + 1e-9), min(1 - 1e-9, 1 - bound - 1e-9)
    q0 = optimize.minimize_scalar(
        lambda q: distance(q + bound, q), bounds=ends, method="bounded", options={"xatol": 1e-13}
    ).x
    found = 0.0
    for x, rows, one, null in ((outcomes[0], n, p1, q0 + bound), (outcomes[1], m, q1, q0)):
        found += stats.binom.logpmf(x, rows, one) - stats.binom.logpmf(x, rows, null)
    return found


@pytest.mark.parametrize("limit", [0.0, 0.05, 0.1])
def test_steps_are_likelihood_ratios_to_the_nearest_point_of_the_null(limit):
    rows = watched([[30, 45], [25, 60]], [[100, 120], [90, 150]])
    found = log_steps(rows, 1, limit)[0]
    level = (75 + 0.5) / (220 + 1)
    signed = [sign * (limit + excess) for sign in (1, -1) for excess in EXCESSES]
    expected = [brute_step((25, 60), (90, 150), level, limit, one) for one in signed]
    fitting = np.array([0 < level + one * 150 / 240 < 1 and 0 < level - one * 90 / 240 < 1 for one in signed])
    assert found[fitting] == pytest.approx(np.array(expected)[fitting], abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 7),
    st.integers(1, 7),
    st.floats(0, 1),
    st.floats(-1, 1),
    st.sampled_from([0.0, 0.05, 0.2]),
    st.booleans(),
)
def test_the_mean_of_a_step_is_at_most_1_under_the_null(n, m, p, share, limit, has_past):
    """Sum over all outcomes of a period, for any pair of rates that differ by no more than the limit."""
    q = np.clip(p + share * limit, 0, 1)
    before = [[2.0, 3.0]] if has_past else []
    sizes = [[5.0, 6.0]] if has_past else []
    mean = np.zeros(2 * len(EXCESSES))
    for x, y in itertools.product(range(n + 1), range(m + 1)):
        chance = stats.binom.pmf(x, n, p) * stats.binom.pmf(y, m, q)
        mean += chance * np.exp(log_steps(watched([*before, [x, y]], [*sizes, [n, m]]), len(before), limit)[0])
    assert (mean <= 1 + 1e-9).all()


def test_evidence_is_the_mixture_over_starts_and_alternatives():
    steps = np.random.default_rng(0).normal(size=(7, 4))
    found, _ = accumulated(steps)
    for last in range(1, 8):
        parts = [np.exp(steps[start - 1 : last].sum(0)).mean() / (start * (start + 1)) for start in range(1, last + 1)]
        assert np.exp(found[last - 1]) == pytest.approx(sum(parts) + 1 / (last + 1))


@pytest.mark.parametrize("limit", [None, 0.05])
def test_every_look_says_what_later_looks_say_about_it(limit):
    rng = np.random.default_rng(2)
    trials = rng.integers(20, 90, (12, 2))
    outcomes = rng.binomial(trials, [0.3, 0.5])
    whole = monitored(watched(outcomes, trials), 1, 0.05, limit)
    for periods in range(2, 12):
        look = monitored(watched(outcomes[:periods], trials[:periods]), 1, 0.05, limit)
        assert look.limit == whole.limit
        assert look.log_evidence == pytest.approx(whole.log_evidence[: periods - 1])


def test_groups_change_places_without_changing_the_evidence():
    rng = np.random.default_rng(3)
    trials = rng.integers(20, 90, (8, 2))
    outcomes = rng.binomial(trials, [0.3, 0.5])
    one, other = (monitored(watched(outcomes[:, order], trials[:, order]), 1, 0.05, 0.1) for order in ([0, 1], [1, 0]))
    assert one.log_evidence == pytest.approx(other.log_evidence)


def test_a_period_without_rows_of_a_group_shows_nothing():
    trials = np.array([[50, 60], [0, 60], [50, 60]])
    outcomes = np.array([[20, 30], [0, 60], [20, 30]])
    assert not log_steps(watched(outcomes, trials), 1, 0.05)[0].any()
    assert np.isnan(baseline_limit(watched(outcomes[1:], trials[1:]), 1, 0.01))
    silent = monitored(watched(outcomes[1:], trials[1:]), 1, 0.05)
    assert silent.alarm is None


def test_a_clear_change_is_noticed_and_dated():
    trials = np.full((20, 2), 1000)
    outcomes = np.array([[380, 400]] * 12 + [[250, 400]] * 8)
    found = monitored(watched(outcomes, trials), 2, 0.05)
    assert found.alarm == 11
    assert found.since == 10
    assert found.limit == pytest.approx(0.02 + stats.norm.isf(0.01) * np.sqrt(2 * 0.24 / 2000), abs=2e-3)
