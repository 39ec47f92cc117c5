"""False alarms over 24 and more looks, at many rates, shares and sizes; and how soon changes are noticed."""

import numpy as np
import pytest

from fairenum.metrics.monitoring import BASELINE_SHARE, Watched, accumulated, baseline_limit, log_steps

pytestmark = pytest.mark.slow
ERROR, DRAWS = 0.05, 1000


def first_alarms(rates, control, rows, looks=24, baseline=0, limit=None, draws=DRAWS, seed=0):
    """Return the number of the look with the first alarm in each draw, infinite without an alarm."""
    rng, periods = np.random.default_rng(seed), looks + baseline
    chances = np.stack([np.broadcast_to(part, periods) for part in (rates, control)], axis=-1)
    trials = np.broadcast_to(np.asarray(rows, dtype=float), (draws, periods, 2)).copy()
    outcomes = rng.binomial(trials.astype(int), chances).astype(float)
    if limit is None:
        pairs = zip(outcomes, trials, strict=True)
        limits = np.array([baseline_limit(Watched(*pair), baseline, BASELINE_SHARE * ERROR) for pair in pairs])
        threshold = -np.log((1 - BASELINE_SHARE) * ERROR)
    else:
        limits, threshold = np.full(draws, limit), -np.log(ERROR)
    evidence, _ = accumulated(log_steps(Watched(outcomes, trials), baseline, limits))
    reached = evidence >= threshold
    return np.where(reached.any(1), reached.argmax(1) + 1.0, np.inf)


@pytest.mark.parametrize("rows", [(30, 30), (300, 300), (60, 900), (2000, 2000)])
@pytest.mark.parametrize(
    ("rate", "control", "limit"),
    [(0.3, 0.3, 0.0), (0.5, 0.5, 0.0), (0.03, 0.03, 0.0), (0.25, 0.3, 0.05), (0.55, 0.45, 0.1), (0.02, 0.07, 0.05)],
)
def test_a_gap_at_its_limit_gives_few_false_alarms(rate, control, limit, rows):
    """Ties at the limit are the worst case of the null hypothesis."""
    assert np.isfinite(first_alarms(rate, control, rows, limit=limit)).mean() <= ERROR / 2  # it is a strict bound


def test_many_looks_and_levels_that_drift_give_few_false_alarms():
    level = np.linspace(0.2, 0.6, 120)
    found = first_alarms(level, level, (100, 100), looks=120, limit=0.0, draws=300)
    assert np.isfinite(found).mean() <= ERROR


@pytest.mark.parametrize("baseline", [1, 3, 6])
@pytest.mark.parametrize(("rate", "control"), [(0.3, 0.3), (0.25, 0.4), (0.03, 0.05)])
@pytest.mark.parametrize("rows", [(30, 30), (300, 300), (60, 900)])
def test_limits_of_the_first_periods_give_few_false_alarms(rate, control, rows, baseline):
    assert np.isfinite(first_alarms(rate, control, rows, baseline=baseline)).mean() <= ERROR


@pytest.mark.parametrize(
    ("gap", "rows", "delay"),
    [
        (0.10, 300, 14),
        (0.10, 1000, 5),
        (0.15, 100, 11),
        (0.15, 300, 4),
        (0.15, 1000, 2),
        (0.25, 100, 4),
        (0.25, 300, 1),
    ],
)
def test_changes_are_noticed_as_soon_as_documented(gap, rows, delay):
    """The gap is 0.02 in twelve periods, and then larger; the limit is 0.05."""
    rates = np.r_[np.full(12, 0.38), np.full(24, 0.40 - gap)]
    found = first_alarms(rates, 0.4, (rows, rows), looks=36, limit=0.05, draws=400)
    assert np.median(found) - 12 <= delay
