"""How a score ranks within groups, against scikit-learn and against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from fairenum.metrics.score_curves import (
    ScoredRows,
    auc_by_group,
    calibration_by_group,
    means,
    roc_by_group,
    standardised_differences,
)
from fairenum.tables.groups import Groups

ROWS = st.lists(st.tuples(st.integers(-3, 3).map(float), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40)


def graded(rows):
    values, codes, labels = (np.array(part) for part in zip(*rows, strict=True))
    return ScoredRows(values, Groups(codes, ("a", "b", "c")), labels.astype(np.uint8))


@given(ROWS)
def test_auc_and_roc_are_those_of_scikit_learn_in_each_group(rows):
    found = graded(rows)
    areas, curves = auc_by_group(found), roc_by_group(found)
    for code, curve in enumerate(curves):
        own = found.groups.codes == code
        labels, values = found.labels[own], found.values[own]
        if len(set(labels.tolist())) < 2:
            assert np.isnan(areas.estimate[code])
            assert curve.true_positive_rate.size == 0
            continue
        assert areas.estimate[code] == pytest.approx(roc_auc_score(labels, values))
        assert areas.lower[code] <= areas.estimate[code] <= areas.upper[code]
        false, true, _ = roc_curve(labels, values, drop_intermediate=False)
        assert np.column_stack([curve.false_positive_rate, curve.true_positive_rate]) == pytest.approx(
            np.column_stack([false, true])
        )


def test_a_long_roc_curve_keeps_its_ends_and_some_of_its_points():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=5000), rng.integers(0, 2, 5000).astype(np.uint8)
    (curve,) = roc_by_group(ScoredRows(values, Groups.everyone(5000), labels), most=21)
    assert len(curve.true_positive_rate) <= 23
    assert (curve.false_positive_rate[0], curve.true_positive_rate[0]) == (0.0, 0.0)
    assert (curve.false_positive_rate[-1], curve.true_positive_rate[-1]) == (1.0, 1.0)
    false, true, _ = roc_curve(labels, values, drop_intermediate=False)
    points = set(zip(false.round(9), true.round(9), strict=True))
    kept = zip(curve.false_positive_rate.round(9), curve.true_positive_rate.round(9), strict=True)
    assert set(kept) <= points


def test_standardised_differences_by_hand():
    # means 2 and 4, pooled variance ((2 * 1 + 2 * 1) / 4) = 1
    values, codes = np.array([1.0, 2.0, 3.0, 3.0, 4.0, 5.0]), np.array([0, 0, 0, 1, 1, 1])
    found = standardised_differences(ScoredRows(values, Groups(codes, ("a", "b"))), 0)
    assert found.estimate.tolist() == [0.0, 2.0]
    radius = 1.959964 * np.sqrt(1 / 3 + 1 / 3 + 4 / 12)
    assert found.lower[1] == pytest.approx(2 - radius, abs=1e-6)
    assert found.upper[1] == pytest.approx(2 + radius, abs=1e-6)


@given(ROWS, st.floats(0.1, 10), st.floats(-10, 10))
def test_standardised_differences_do_not_depend_on_the_unit(rows, factor, shift):
    found = graded(rows)
    moved = ScoredRows(found.values * factor + shift, found.groups)
    first = int(found.groups.codes[0])
    ours, theirs = (standardised_differences(one, first).estimate for one in (found, moved))
    varies = np.nan_to_num(means(found)[1]) > 1e-6
    known = varies & varies[first]
    assert ours[known] == pytest.approx(theirs[known], abs=1e-6)


def test_scores_that_do_not_vary_have_no_standardised_difference():
    found = standardised_differences(ScoredRows(np.zeros(4), Groups(np.array([0, 0, 1, 1]), ("a", "b"))), 0)
    assert found.estimate[0] == 0.0
    assert np.isnan(found.estimate[1])


@given(ROWS)
def test_calibration_counts_every_row_once_and_rightly(rows):
    graded_rows = graded(rows)
    found = calibration_by_group(graded_rows, bins=4)
    assert found.rows.sum() == len(rows)
    for code in range(3):
        for place in range(found.rows.shape[1]):
            low, high = found.edges[place], found.edges[place + 1]
            inside = (graded_rows.values <= high) & ((graded_rows.values > low) | (place == 0))
            own = inside & (graded_rows.groups.codes == code)
            assert found.rows[code, place] == own.sum()
            if own.any():
                assert found.mean[code, place] == pytest.approx(graded_rows.values[own].mean())
                assert found.rate.estimate[code, place] == pytest.approx(graded_rows.labels[own].mean())


def test_without_labels_there_is_neither_a_curve_nor_calibration():
    found = ScoredRows(np.arange(4.0), Groups(np.array([0, 0, 1, 1]), ("a", "b")))
    assert calibration_by_group(found) is None
    assert np.isnan(auc_by_group(found).estimate).all()
    assert all(curve.true_positive_rate.size == 0 for curve in roc_by_group(found))
