"""Limits of the size of a difference: against a construction by brute force, and what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairenum.metrics.counts import Decisions
from fairenum.metrics.inference import LEAST_CONFIDENCE, folded_limits, gap_intervals, signed_differences
from fairenum.metrics.intervals import normal_critical
from fairenum.metrics.rates import score
from fairenum.tables.groups import Groups

PARITY = "demographic_parity_difference"
SAMPLES = np.linspace(0.0, 14.0, 2801)


def densities(sizes):
    """Of every sample on the grid, for every size."""
    return stats.norm.pdf(SAMPLES, sizes[:, None]) + stats.norm.pdf(SAMPLES, -sizes[:, None])


def neyman(confidence, sizes):
    """Hold each size by as few samples as give this confidence, in the order of likelihood ratios."""
    chances = densities(sizes)
    ratios = chances / densities(np.linspace(0.0, 15.0, 601)).max(0)
    chances[:, 0] /= 2  # the trapezoidal rule
    held = np.zeros(ratios.shape, dtype=bool)
    for size, chance, ratio in zip(range(len(sizes)), chances, ratios, strict=True):
        order = np.argsort(-ratio, kind="stable")
        needed = np.searchsorted(np.cumsum(chance[order]) * SAMPLES[1], confidence)
        held[size, order[: needed + 1]] = True
    return held


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_a_sample_holds_the_sizes_that_brute_force_says(confidence):
    sizes = np.linspace(0.0, 6.0, 41)
    lower, upper = folded_limits(SAMPLES, confidence)
    held = (lower <= sizes[:, None]) & (sizes[:, None] <= upper)
    other = np.sum(held != neyman(confidence, sizes), axis=1) * SAMPLES[1]
    # but for samples next to the ends of a region, by the steps of the table and of the grids
    assert other.max() < 0.03
    assert other.mean() < 0.01


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.96, 0.999])
def test_every_size_is_held_exactly_as_often_as_said(confidence):
    sizes = np.r_[np.linspace(0.0, 4.0, 81), 6.0, 9.0]
    lower, upper = folded_limits(SAMPLES, confidence)
    held = (lower <= sizes[:, None]) & (sizes[:, None] <= upper)
    covered = np.trapezoid(densities(sizes) * held, SAMPLES, axis=1)
    np.testing.assert_allclose(covered, confidence, atol=3e-3 if confidence < 0.99 else 3e-4)


@given(st.floats(0.5, 1 - 1e-9), st.lists(st.floats(0.0, 40.0), min_size=2, max_size=20))
def test_limits_rise_with_the_sample_hold_it_and_tell_from_0_as_before(confidence, samples):
    sample = np.sort(samples)
    (lower, upper), critical = folded_limits(sample, confidence), normal_critical(confidence)
    assert np.all(np.diff(lower) >= -1e-9)
    assert np.all(np.diff(upper) >= -1e-9)
    assert np.all((lower <= sample) & (sample <= upper))
    assert np.all(upper <= sample + critical + 1e-3)
    is_clear = np.abs(sample - critical) > 1e-6
    np.testing.assert_array_equal((lower > 0.0)[is_clear], (sample > critical)[is_clear])


def test_far_from_0_and_at_a_low_confidence_limits_are_those_of_the_difference():
    far, near = np.array([9.0, 30.0]), np.array([0.3, 1.0, 3.0])
    np.testing.assert_allclose(folded_limits(far, 0.95), [far - 1.959964, far + 1.959964], atol=1e-6)
    critical = normal_critical(0.6)
    assert LEAST_CONFIDENCE > 0.6
    np.testing.assert_allclose(folded_limits(near, 0.6), [np.maximum(near - critical, 0), near + critical])


# --- gaps ---


def every_sample(first, second):
    """All that two groups of so many rows may show; "models" are samples, in the order of both counts."""
    own, other = (np.tri(size + 1, size, -1, dtype=np.uint8) for size in (first, second))
    drawn = np.hstack([np.repeat(own, second + 1, axis=0), np.tile(other, (first + 1, 1))])
    codes = np.repeat([0, 1], [first, second])
    return score(Decisions(drawn, np.zeros(len(codes), dtype=int), Groups(codes, ("a", "b"))))


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_a_gap_is_told_from_0_where_its_signed_difference_is(confidence):
    scores = every_sample(60, 35)
    gap, signed = (
        gap_intervals(scores, PARITY, confidence),
        signed_differences(scores, "selection_rate", "a", confidence),
    )
    np.testing.assert_array_equal(gap.lower > 0.0, (signed.lower[:, 1] > 0.0) | (signed.upper[:, 1] < 0.0))
    assert np.all((gap.lower <= gap.estimate) & (gap.estimate <= gap.upper) & (gap.upper <= 1.0))
    old = np.maximum(signed.upper[:, 1], -signed.lower[:, 1])
    assert np.all(gap.upper <= old + 1e-3)


def test_a_wider_gap_has_no_lower_limits():
    gap = gap_intervals(every_sample(60, 35), PARITY)
    wide = gap.estimate.reshape(61, 36)
    for axis in (0, 1):
        rises = np.diff(wide, axis=axis) > 1e-9
        for limits in (gap.lower, gap.upper):
            # as a rate moves away from the other one, and both stay on their sides
            steps = np.diff(limits.reshape(61, 36), axis=axis)
            assert np.all(steps[rises & same_side(axis)] >= -1e-9)


def same_side(axis):
    sign = np.sign(np.arange(61)[:, None] / 60 - np.arange(36) / 35)
    first, second = (np.take(sign, np.arange(sign.shape[axis] - 1) + step, axis) for step in (0, 1))
    return first * second >= 0


def test_exact_limits_of_few_trials_and_limits_for_all_models_stay_as_they_are():
    few, many = every_sample(29, 35), every_sample(40, 35)
    signed = signed_differences(few, reference="a")
    gap = gap_intervals(few, PARITY)
    np.testing.assert_allclose(gap.lower, np.maximum(np.maximum(signed.lower[:, 1], -signed.upper[:, 1]), 0.0))
    np.testing.assert_allclose(gap.upper, np.maximum(signed.upper[:, 1], -signed.lower[:, 1]))
    signed, gap = signed_differences(many, reference="a"), gap_intervals(many, PARITY, critical=normal_critical(0.95))
    np.testing.assert_allclose(gap.upper, np.maximum(signed.upper[:, 1], -signed.lower[:, 1]))
