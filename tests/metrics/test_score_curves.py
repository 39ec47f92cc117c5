"""How a score ranks within groups, against scikit-learn and against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from fairenum.metrics.clusters import design, inflation_of_shares
from fairenum.metrics.counts import Decisions
from fairenum.metrics.impact_ratios import ratio_intervals
from fairenum.metrics.inference import gap_intervals
from fairenum.metrics.rates import FRACTIONS
from fairenum.metrics.score_curves import (
    ScoredRows,
    auc_by_group,
    calibration_by_group,
    means,
    roc_by_group,
    scored_at,
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


def persons(seed, people=200, rows=5):
    """Scores and labels of people in two groups with several rows each, which are alike."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(people), rows)
    codes, own = np.repeat(rng.integers(0, 2, people), rows), np.repeat(rng.normal(size=people), rows)
    values = own + rng.normal(size=people * rows)
    labels = (own + rng.normal(size=people * rows) > 0).astype(np.uint8)
    return values + 0.3 * codes, Groups(codes, ("a", "b")), labels, clusters


def limits(found):
    """Return the limits of every measure of a score that a report shows."""
    score = scored_at(found, np.quantile(found.values, [0.7, 0.5, 0.2]))
    calibrated = calibration_by_group(found, bins=4)
    return [
        standardised_differences(found, 0),
        auc_by_group(found),
        gap_intervals(score, "demographic_parity_difference"),
        ratio_intervals(score, "demographic_parity_ratio"),
        calibrated.rate,
    ]


def test_repeated_rows_of_one_person_say_no_more_than_one_row():
    values, groups, labels, _ = persons(0, people=1000, rows=1)
    once = ScoredRows(values, groups, labels, np.arange(1000))
    repeated = [np.repeat(part, 6) for part in (values, labels, np.arange(1000))]
    often = ScoredRows(repeated[0], Groups(np.repeat(groups.codes, 6), groups.names), repeated[1], repeated[2])
    for first, second in zip(limits(once), limits(often), strict=True):
        assert second.estimate == pytest.approx(first.estimate, abs=1e-3, nan_ok=True)
        assert second.lower == pytest.approx(first.lower, abs=0.01)
        assert second.upper == pytest.approx(first.upper, abs=0.01)


def test_people_of_one_row_have_the_limits_of_independent_rows():
    values, groups, labels, _ = persons(1, people=800, rows=1)
    alone, known = (ScoredRows(values, groups, labels, clusters) for clusters in (None, np.arange(800)))
    for first, second in zip(limits(alone), limits(known), strict=True):
        assert second.lower == pytest.approx(first.lower, abs=0.005)
        assert second.upper == pytest.approx(first.upper, abs=0.005)


def test_standardised_differences_of_clustered_rows_cover_the_truth():
    truth = 0.3 / np.sqrt(2)
    hits = np.zeros(2)
    for seed in range(400):
        values, groups, labels, clusters = persons(seed, people=80, rows=6)
        for place, known in enumerate((clusters, None)):
            found = standardised_differences(ScoredRows(values, groups, labels, known), 0)
            hits[place] += found.lower[1] <= truth <= found.upper[1]
    assert hits[0] / 400 > 0.92
    assert hits[1] / 400 < 0.85  # as if rows were independent


def test_clustered_shares_in_cells_are_inflated_as_those_of_groups():
    _, groups, labels, clusters = persons(2)
    decisions = Decisions(labels[None], labels, groups, clusters=clusters)
    expected = design(decisions, FRACTIONS).of_rate("selection_rate").factor[0]
    found = inflation_of_shares(labels.astype(float), groups.codes, clusters, 3)
    assert found == pytest.approx([*expected, 1.0])
