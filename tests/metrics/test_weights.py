"""Rows that count differently: rates as fairlearn and repeated rows give them, intervals that keep their promise."""

from dataclasses import fields, replace

import numpy as np
import pytest
from fairlearn import metrics
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, precision_score, roc_auc_score
from support.simulation.known_gaps import weighted_coverage

from fairenum.document.terms import GAPS, RATES, RATIOS, PerformanceMeasure
from fairenum.errors import DataError
from fairenum.metrics import (
    Decisions,
    compare,
    decision_multiplicity,
    fairlearn_metrics,
    gap_intervals,
    parity_p_values,
    rate_intervals,
    score,
    score_multiplicity,
)
from fairenum.metrics.counts import confusion
from fairenum.metrics.intervals import effective
from fairenum.metrics.operating_point import OperatingPoint
from fairenum.metrics.performance import (
    auc,
    performance,
    performance_changes,
    performance_intervals,
    ranked,
    row_divisors,
)
from fairenum.metrics.rates import FRACTIONS, GAP_RATES
from fairenum.tables.groups import Groups

PROFILE = settings(deadline=None, max_examples=40)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
MEASURES = ("accuracy", "balanced_accuracy", "auc", "cost=3:1")


def drawn(seed, rows=60, models=4, groups=3, weights=None):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, groups, rows)
    weighing = rng.lognormal(0, 0.5, rows) if weights is None else rng.integers(1, weights + 1, rows).astype(float)
    predictions, labels = rng.integers(0, 2, (models, rows)), rng.integers(0, 2, rows)
    names = tuple("abcdefgh"[:groups])
    return Decisions(predictions.astype(np.uint8), labels.astype(np.uint8), Groups(codes, names), weighing)


def repeated(decisions):
    """Write each row as often as its whole weight says."""
    copies = decisions.weights.astype(int)
    groups = Groups(np.repeat(decisions.groups.codes, copies), decisions.groups.names)
    return Decisions(np.repeat(decisions.predictions, copies, axis=1), np.repeat(decisions.labels, copies), groups)


@pytest.mark.parametrize("seed", range(5))
def test_gaps_and_rates_are_fairlearns_weighted_ones(seed):
    decisions = drawn(seed)
    scores, weights = score(decisions), decisions.weights
    known = {"selection_rate": metrics.selection_rate, "true_positive_rate": metrics.true_positive_rate}
    known |= {
        "false_positive_rate": metrics.false_positive_rate,
        "accuracy": accuracy_score,
        "precision": precision_score,
    }
    for model, bits in enumerate(decisions.predictions):
        given = {"sensitive_features": decisions.groups.values, "sample_weight": weights}
        for gap in ("demographic_parity", "equalized_odds", "equal_opportunity"):
            for kind in ("difference", "ratio"):
                theirs = getattr(metrics, f"{gap}_{kind}")(decisions.labels, bits, **given)
                assert getattr(scores.gaps, f"{gap}_{kind}")[model] == pytest.approx(theirs, abs=1e-12)
        frame = metrics.MetricFrame(
            metrics=known,
            y_true=decisions.labels,
            y_pred=bits,
            sensitive_features=decisions.groups.values,
            sample_params={name: {"sample_weight": weights} for name in known},
        )
        for rate in known:
            np.testing.assert_allclose(
                getattr(scores.by_group, rate)[model], frame.by_group[rate].to_numpy(float), **CLOSE
            )
            assert getattr(scores.overall, rate)[model] == pytest.approx(frame.overall[rate], abs=1e-12)
        balanced = balanced_accuracy_score(decisions.labels, bits, sample_weight=weights)
        assert scores.overall.balanced_accuracy[model] == pytest.approx(balanced, abs=1e-12)


def test_the_reference_check_is_told_the_weights():
    decisions = drawn(3)
    ours, theirs = score(decisions).gaps, fairlearn_metrics(decisions)
    for name in (*GAPS, *RATIOS):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **CLOSE)
    assert not np.allclose(
        theirs.equalized_odds_difference, score(replace(decisions, weights=None)).gaps.equalized_odds_difference
    )


@PROFILE
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_whole_weights_are_repeated_rows_in_every_estimate(seed, most):
    decisions = drawn(seed, rows=40, weights=most)
    values = np.random.default_rng(seed).normal(size=decisions.predictions.shape).round(1)
    rows = repeated(decisions)
    again = np.repeat(values, decisions.weights.astype(int), axis=1)
    ours, theirs = score(decisions, decision_values=values), score(rows, decision_values=again)
    for part in ("by_group", "overall"):
        for name in (*RATES, "count", "accuracy", "balanced_accuracy", "error", "hinge_loss"):
            np.testing.assert_allclose(
                getattr(getattr(ours, part), name), getattr(getattr(theirs, part), name), **CLOSE
            )
    for name in (*GAPS, *RATIOS):
        np.testing.assert_allclose(getattr(ours.gaps, name), getattr(theirs.gaps, name), **CLOSE)
    for name in MEASURES:
        measure = PerformanceMeasure.of(name)
        np.testing.assert_allclose(performance(decisions, values, measure), performance(rows, again, measure), **CLOSE)
    found, expected = decision_multiplicity(decisions), decision_multiplicity(rows)
    for name in ("changed", "ambiguity", "discrepancy", "disagreement", "group_ambiguity", "group_disagreement"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), **CLOSE)
    chances = 1 / (1 + np.exp(-values))
    near = score_multiplicity(chances, decisions.groups, decisions.weights)
    far = score_multiplicity(np.repeat(chances, decisions.weights.astype(int), axis=1), rows.groups)
    assert (near.mean_range, near.mean_capacity) == pytest.approx((far.mean_range, far.mean_capacity))
    np.testing.assert_allclose(near.group_range, far.group_range, **CLOSE)


@PROFILE
@given(st.integers(0, 10_000), st.floats(0.05, 0.95))
def test_whole_weights_are_repeated_rows_where_models_are_cut(seed, share):
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=30).round(1), rng.integers(1, 4, 30)
    cut = OperatingPoint(share, weights=weights.astype(float)).cut(values)
    assert cut.value == OperatingPoint(share).cut(np.repeat(values, weights)).value


@pytest.mark.parametrize("name", MEASURES[:2] + MEASURES[3:])
def test_divisors_add_up_to_the_weighted_measure(name):
    decisions, measure = drawn(1), PerformanceMeasure.of(name)
    right = (decisions.predictions == decisions.labels) / row_divisors(decisions.labels, measure, decisions.weights)
    np.testing.assert_allclose(right.sum(1), performance(decisions, np.zeros((4, 60)), measure), **CLOSE)


def test_the_auc_is_scikit_learns_weighted_one():
    rng = np.random.default_rng(0)
    values, labels, weights = rng.normal(size=(3, 80)).round(1), rng.integers(0, 2, 80), rng.lognormal(0, 0.5, 80)
    expected = [roc_auc_score(labels, row, sample_weight=weights) for row in values]
    np.testing.assert_allclose(auc(values, labels, weights), expected, **CLOSE)
    alike, plain = ranked(values, labels, np.full(80, 3.0)), ranked(values, labels)
    for field in fields(plain):
        np.testing.assert_allclose(getattr(alike, field.name), getattr(plain, field.name), **CLOSE)


@PROFILE
@given(st.integers(0, 10_000), st.floats(0.1, 9.0))
@example(665, 1.0)  # thirty rows, the fewest that have no exact limits
def test_rows_that_count_alike_tell_what_they_tell_without_weights(seed, weight):
    plain = replace(drawn(seed), weights=None)
    alike = replace(plain, weights=np.full(60, weight))
    for rate, fraction in FRACTIONS.items():
        for ours, theirs in zip(effective(rate, confusion(alike)), fraction(confusion(plain)), strict=True):
            np.testing.assert_allclose(*np.broadcast_arrays(ours, theirs), rtol=1e-9, atol=1e-9, err_msg=rate)
    for gap in GAP_RATES:
        ours, theirs = (compare(one, gap, np.random.default_rng(1), replications=30) for one in (alike, plain))
        for side in ("estimate", "lower", "upper"):
            np.testing.assert_allclose(getattr(ours.gap_change, side), getattr(theirs.gap_change, side), atol=1e-9)
        assert ours.verdicts == theirs.verdicts


def test_scaling_all_weights_changes_nothing():
    decisions = drawn(5)
    scaled = replace(decisions, weights=7.0 * decisions.weights)
    for gap in GAP_RATES:
        ours, theirs = (gap_intervals(score(one), gap) for one in (decisions, scaled))
        np.testing.assert_allclose([ours.lower, ours.upper], [theirs.lower, theirs.upper], atol=1e-12)
    np.testing.assert_allclose(parity_p_values(score(decisions)), parity_p_values(score(scaled)), atol=1e-9)


def test_rows_of_weight_0_tell_nothing():
    decisions = drawn(5)
    without = replace(decisions, weights=np.where(np.arange(60) < 20, 0.0, decisions.weights))
    kept = Decisions(
        decisions.predictions[:, 20:],
        decisions.labels[20:],
        decisions.groups.take(slice(20, None)),
        decisions.weights[20:],
    )
    for side in ("estimate", "lower", "upper"):
        ours, theirs = (getattr(rate_intervals(score(one).counts), side) for one in (without, kept))
        np.testing.assert_allclose(ours, theirs, **CLOSE)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.nan]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(DataError, match="weights must be one number >= 0 for each of the 2 rows"):
        Decisions(np.array([[0, 1]]), np.array([0, 1]), Groups.everyone(2), np.array(weights))


def test_known_variance_of_a_weighted_rate():
    weights, chosen = np.array([1.0, 2.0, 3.0, 4.0]), np.array([[1, 0, 1, 0]], dtype=np.uint8)
    decisions = Decisions(chosen, np.array([0, 1, 0, 1]), Groups.everyone(4), weights)
    outcomes, trials = effective("selection_rate", score(decisions).counts)
    rate, kish = 0.4, 100 / 30
    variance = sum((w * (x - rate)) ** 2 for w, x in zip(weights, chosen[0], strict=True)) / 100
    assert trials[0, 0] == pytest.approx(min(kish, rate * (1 - rate) / variance))
    assert outcomes[0, 0] / trials[0, 0] == pytest.approx(rate)


@pytest.mark.parametrize("tied", [0.0, 1.0])
def test_intervals_of_weighted_rows_hold_the_truth(tied):
    found = weighted_coverage(range(150), tied=tied)
    assert all(share >= 0.89 for share in found.values()), found
    assert found["rate"] <= 0.99


def test_limits_of_a_measure_widen_with_the_weights():
    decisions = drawn(2, rows=300)
    values, rng = np.random.default_rng(2).normal(size=(4, 300)), np.random.default_rng(0)
    for name in MEASURES:
        measure = PerformanceMeasure.of(name)
        ours, theirs = (
            performance_intervals(one, values, measure) for one in (decisions, replace(decisions, weights=None))
        )
        assert ((ours.upper - ours.lower) > (theirs.upper - theirs.lower)).mean() >= 0.75
        found = performance(decisions, values, measure)
        changes = performance_changes(decisions, values, measure, rng, replications=50)
        np.testing.assert_allclose(changes.estimate, found - found[0], **CLOSE)
