"""Gaps against fairlearn, whatever the data."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.document.terms import GAPS, RATIOS
from fairenum.metrics.counts import Decisions
from fairenum.metrics.rates import fairlearn_metrics, score, undefined_groups
from fairenum.tables.groups import Groups


@st.composite
def decided(draw, models=3, rows=40):
    """Decisions with any number of groups, some of them empty, tiny or without positives."""
    k, n, g = draw(st.integers(1, models)), draw(st.integers(1, rows)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    chances = rng.choice([0, 0.1, 0.5, 0.9, 1], size=k + 1)
    predictions, labels = rng.random((k, n)) < chances[1:, None], rng.random(n) < chances[0]
    return Decisions(predictions, labels, Groups(rng.integers(0, g, n), tuple("abcdef"[:g])))


@settings(deadline=None, max_examples=30)
@given(decided())
def test_gaps_are_those_of_fairlearn_wherever_it_defines_them(decisions):
    gaps, reference = score(decisions).gaps, fairlearn_metrics(decisions)
    for name in (*GAPS, *RATIOS):
        ours, theirs = getattr(gaps, name), getattr(reference, name)
        known = ~np.isnan(theirs)
        np.testing.assert_allclose(ours[known], theirs[known], rtol=0, atol=1e-12, err_msg=name)


@settings(deadline=None, max_examples=25)
@given(decided(models=1), st.integers(0, 2**32))
def test_weighted_gaps_are_those_of_fairlearn(decisions, seed):
    from fairlearn import metrics

    weights = np.random.default_rng(seed).exponential(size=len(decisions.labels))
    scores = score(decisions, weights=weights)
    rows = {"sensitive_features": {"group": decisions.groups.codes}, "sample_weight": weights}
    for name in ("demographic_parity_difference", "equalized_odds_difference"):
        if not undefined_groups(scores.by_group, name).any():
            theirs = getattr(metrics, name)(decisions.labels, decisions.predictions[0], **rows)
            assert abs(getattr(scores.gaps, name)[0] - theirs) < 1e-12


@settings(deadline=None, max_examples=40)
@given(decided(models=1))
def test_rates_are_those_of_scikit_learn(decisions):
    from sklearn import metrics

    scores = score(decisions)
    for group, rates in enumerate(zip(scores.by_group.accuracy[0], scores.by_group.precision[0], strict=True)):
        rows = decisions.groups.codes == group
        truth, predicted = decisions.labels[rows], decisions.predictions[0, rows]
        if rows.any():
            assert abs(rates[0] - metrics.accuracy_score(truth, predicted)) < 1e-12
        if predicted.any():
            assert abs(rates[1] - metrics.precision_score(truth, predicted)) < 1e-12
        if len(set(truth)) == 2:
            expected = metrics.balanced_accuracy_score(truth, predicted)
            assert abs(scores.by_group.balanced_accuracy[0, group] - expected) < 1e-12


@settings(deadline=None, max_examples=100)
@given(decided(), st.integers(0, 2**32))
def test_the_order_of_rows_and_groups_does_not_matter(decisions, seed):
    rng = np.random.default_rng(seed)
    rows, names = rng.permutation(len(decisions.labels)), rng.permutation(len(decisions.groups.names))
    position = np.argsort(names)
    shuffled = Decisions(
        decisions.predictions[:, rows],
        decisions.labels[rows],
        Groups(position[decisions.groups.codes[rows]], tuple(decisions.groups.names[name] for name in names)),
    )
    ours, theirs = score(decisions), score(shuffled)
    for name in (*GAPS, *RATIOS):
        np.testing.assert_allclose(getattr(ours.gaps, name), getattr(theirs.gaps, name), atol=1e-12)


@settings(deadline=None, max_examples=100)
@given(decided())
def test_a_difference_lies_between_0_and_1_or_is_undefined(decisions):
    gaps = score(decisions).gaps
    for name in (*GAPS, *RATIOS):
        values = getattr(gaps, name)
        assert np.all(np.isnan(values) | ((values >= 0) & (values <= 1)))


@settings(deadline=None, max_examples=100)
@given(decided(rows=60))
def test_distinct_rows_stand_for_all_rows(decisions):
    kinds, copies, squares = decisions.distinct()
    np.testing.assert_array_equal(copies, squares)
    assert copies.sum() == len(decisions.labels)
    np.testing.assert_array_equal(score(kinds, weights=copies).counts.selected, score(decisions).counts.selected)
    everything = np.vstack([kinds.predictions, kinds.labels, kinds.groups.codes])
    assert len(np.unique(everything, axis=1).T) == len(copies)
