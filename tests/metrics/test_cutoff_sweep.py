"""A score at any cutoff against counting row by row, and against fairlearn."""

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, demographic_parity_difference, demographic_parity_ratio, selection_rate
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from fairenum.errors import DataError
from fairenum.metrics.score_curves import ScoredRows, counted_at, scored_at, scoring_rates, sweep
from fairenum.tables.groups import Groups

ROWS = st.lists(st.tuples(st.integers(-3, 3).map(float), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40)


def graded(rows, *, has_labels=True):
    values, codes, labels = (np.array(part) for part in zip(*rows, strict=True))
    return ScoredRows(values, Groups(codes, ("a", "b", "c")), labels.astype(np.uint8) if has_labels else None)


@given(ROWS, st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=4), st.booleans())
def test_counts_are_those_of_counting_row_by_row(rows, cutoffs, is_above):
    counts = counted_at(graded(rows), np.array(cutoffs), is_above=is_above)
    for place, cutoff in enumerate(cutoffs):
        for group in range(3):
            for label in (0, 1):
                cell = [value for value, code, truth in rows if (code, truth) == (group, label)]
                kept = [value for value in cell if value > cutoff or (value == cutoff and not is_above)]
                assert counts.selected[place, group, label] == len(kept)
                assert counts.total[0, group, label] == len(cell)


@given(ROWS)
def test_a_sweep_selects_the_shares_that_it_is_asked_for_and_ties_with_them(rows):
    found, shares = sweep(graded(rows), (0.25, 0.5, 0.75)), (0.25, 0.5, 0.75)
    values = np.array([value for value, _, _ in rows])
    wanted = {min(value for value in values if (values > value).sum() < share * len(values)) for share in shares}
    assert found.cutoffs.tolist() == sorted(wanted, reverse=True)
    for cutoff, rate in zip(found.cutoffs, found.scores.overall.selection_rate, strict=True):
        assert rate == pytest.approx((values >= cutoff).mean())


def test_rates_gaps_and_accuracy_are_those_of_fairlearn_and_scikit_learn():
    rng = np.random.default_rng(0)
    values, codes, labels = rng.normal(size=300), rng.integers(0, 3, 300), rng.integers(0, 2, 300).astype(np.uint8)
    found = sweep(ScoredRows(values, Groups(codes, ("a", "b", "c")), labels))
    assert len(found.cutoffs) == 19
    for place, cutoff in enumerate(found.cutoffs):
        decided, by = values >= cutoff, {"sensitive_features": codes}
        frame = MetricFrame(metrics=selection_rate, y_true=labels, y_pred=decided, **by)
        assert found.scores.by_group.selection_rate[place] == pytest.approx(frame.by_group.to_numpy())
        gap = demographic_parity_difference(labels, decided, **by)
        ratio = demographic_parity_ratio(labels, decided, **by)
        assert found.scores.gaps.demographic_parity_difference[place] == pytest.approx(gap)
        assert found.scores.gaps.demographic_parity_ratio[place] == pytest.approx(ratio)
        assert found.scores.overall.accuracy[place] == pytest.approx(accuracy_score(labels, decided))


@given(ROWS)
def test_scoring_rates_are_shares_above_the_median(rows):
    median, scores = scoring_rates(graded(rows, has_labels=False))
    values, codes = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    assert median == np.median(values)
    for code, rate in enumerate(scores.by_group.selection_rate[0]):
        own = values[codes == code]
        assert np.isnan(rate) if not own.size else rate == pytest.approx((own > median).mean())


def test_a_group_that_is_set_aside_makes_no_gap():
    groups = Groups(np.array([0, 0, 1, 1, 2, 2]), ("a", "b", "c"), aside=(2,))
    scores = scored_at(ScoredRows(np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0]), groups), np.array([0.5]))
    assert scores.gaps.demographic_parity_difference[0] == 0.0
    assert scores.is_constant.tolist() == [True]


@pytest.mark.parametrize("values", [[1.0, np.nan], [1.0, np.inf], [1.0]])
def test_scores_that_cannot_be_ranked_are_refused(values):
    with pytest.raises(DataError, match="one finite number for each of 2 grouped rows"):
        ScoredRows(np.array(values), Groups(np.array([0, 1]), ("a", "b")))


def test_labels_of_another_length_are_refused():
    with pytest.raises(DataError, match="labels must be one for each of 2"):
        ScoredRows(np.zeros(2), Groups(np.array([0, 1]), ("a", "b")), np.zeros(3, np.uint8))
