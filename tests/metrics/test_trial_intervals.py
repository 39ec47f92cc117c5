"""Numbers over trials against scipy."""

import numpy as np
import pytest
from scipy import stats

from fairenum.document.value import Estimate
from fairenum.metrics.intervals import mean, mean_change, quantiles, share_of_draws


def test_means_have_students_limits_within_what_is_possible():
    values = np.array([0.1, 0.4, np.nan, 0.2, 0.7])
    expected = stats.ttest_1samp(values[~np.isnan(values)], 0.0).confidence_interval(0.9)
    found = mean(values, 0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.value == pytest.approx(0.35)
    assert mean(np.array([0.3]), 0.9) == Estimate(0.3)
    assert mean(np.array([np.nan]), 0.9) == Estimate()
    assert mean(np.array([0.0, 1.0]), 0.95) == Estimate(0.5, 0.0, 1.0)  # nothing else is possible
    assert mean_change(np.array([-1.0, 1.0]), 0.95) == Estimate(0.0, -1.0, 1.0)


def test_shares_have_the_limits_of_clopper_and_pearson():
    low, high = stats.beta.ppf([0.05, 0.95], [3, 4], [8, 7])  # 3 of 10
    found = share_of_draws(np.arange(10) < 3, 0.9)
    assert (found.value, found.low, found.high) == pytest.approx((0.3, low, high))
    assert share_of_draws([], 0.9) == Estimate()


def test_quantiles_are_those_of_what_is_defined():
    found = quantiles(np.array([3.0, np.nan, 1.0, 2.0]))
    assert (found.q05, found.q25, found.q50, found.q75, found.q95) == pytest.approx((1.1, 1.5, 2.0, 2.5, 2.9))
    assert quantiles(np.array([np.nan])) is None
