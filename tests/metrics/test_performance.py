"""Performance against scikit-learn, and its intervals against simulations and the bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from fairenum.document.terms import ACCURACY, PerformanceMeasure
from fairenum.errors import ConfigError
from fairenum.metrics import Decisions, accuracy_changes
from fairenum.metrics.intervals import Interval, weighted_mean
from fairenum.metrics.performance import (
    auc,
    auc_changes,
    auc_intervals,
    performance,
    performance_changes,
    performance_intervals,
    ranked,
    row_divisors,
)
from fairenum.tables import Groups

MEASURES = [PerformanceMeasure.of(text) for text in ("accuracy", "balanced_accuracy", "auc", "cost=5:1", "cost=1:3.5")]
BALANCED, AUC = MEASURES[1], MEASURES[2]


def decided(values: np.ndarray, labels: np.ndarray) -> Decisions:
    return Decisions((values >= 0.0).astype(np.uint8), labels.astype(np.uint8), Groups.everyone(len(labels)))


def scikit_learn(values: np.ndarray, labels: np.ndarray, measure: PerformanceMeasure) -> float:
    decisions = values >= 0.0
    if measure.name == "auc":
        return roc_auc_score(labels, values)
    if measure.name == "balanced_accuracy":
        return balanced_accuracy_score(labels, decisions)
    return accuracy_score(
        labels, decisions, sample_weight=np.where(labels == 1, measure.false_negative, measure.false_positive)
    )


@given(seed=st.integers(0, 10_000), rows=st.integers(2, 60), ties=st.booleans())
def test_measures_are_those_of_scikit_learn(seed, rows, ties):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(4, rows)).round(0 if ties else 9)
    labels = (rng.random(rows) < 0.7).astype(np.uint8)
    labels[:2] = [0, 1]
    decisions = decided(values, labels)
    for measure in MEASURES:
        expected = [scikit_learn(row, labels, measure) for row in values]
        found = performance_intervals(decisions, values, measure)
        np.testing.assert_allclose(performance(decisions, values, measure), expected, atol=1e-12)
        np.testing.assert_allclose(found.estimate, expected, atol=1e-12)
        assert ((found.lower >= -1e-12) & (found.upper <= 1 + 1e-12)).all()
        assert ((found.lower <= found.estimate + 1e-12) & (found.estimate <= found.upper + 1e-12)).all()
        changes = performance_changes(decisions, values, measure, rng, replications=50)
        np.testing.assert_allclose(changes.estimate, np.array(expected) - expected[0], atol=1e-12)
        assert changes.estimate[0] == changes.lower[0] == changes.upper[0] == 0.0


def test_equal_costs_are_accuracy_to_the_last_bit():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=(5, 300)), (rng.random(300) < 0.8).astype(np.uint8)
    decisions = decided(values, labels)
    same = PerformanceMeasure.of("cost=2:2")
    for end in ("estimate", "lower", "upper"):
        for find in (performance_intervals, lambda *of: performance_changes(*of, np.random.default_rng(1))):
            first, second = (getattr(find(decisions, values, one), end) for one in (ACCURACY, same))
            np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(
        accuracy_changes(decisions, np.random.default_rng(1)).lower,
        performance_changes(decisions, values, ACCURACY, np.random.default_rng(1)).lower,
    )


@pytest.mark.parametrize("only", [0, 1])
def test_a_missing_label_leaves_a_measure_undefined_or_without_it(only):
    values = np.array([[1.0, -1.0, 2.0, 0.5], [1.0, 1.0, 2.0, 0.5]])
    labels = np.full(4, only, dtype=np.uint8)
    decisions = decided(values, labels)
    for measure in (BALANCED, AUC):
        found = performance_intervals(decisions, values, measure)
        assert np.isnan(found.estimate).all()
        assert ((found.lower >= 0.0) & (found.upper <= 1.0)).all()
        changes = performance_changes(decisions, values, measure, np.random.default_rng(0), replications=20)
        assert np.isnan(changes.estimate[1])
    cost = performance(decisions, values, PerformanceMeasure.of("cost=5:1"))
    np.testing.assert_allclose(cost, (decisions.predictions == labels).mean(1))


def test_divisors_sum_rightness_to_the_measure():
    rng = np.random.default_rng(3)
    values, labels = rng.normal(size=(3, 80)), (rng.random(80) < 0.3).astype(np.uint8)
    decisions = decided(values, labels)
    for measure in (one for one in MEASURES if one.name != "auc"):
        right = (decisions.predictions == labels) / row_divisors(labels, measure)
        np.testing.assert_allclose(right.sum(1), performance(decisions, values, measure), atol=1e-12)


def test_a_mean_of_parts_has_the_limits_of_its_parts():
    parts = Interval(np.array([[0.5, 0.8]]), np.array([[0.4, 0.5]]), np.array([[0.7, 0.9]]))
    mean = weighted_mean(parts, np.array([0.25, 0.75]))
    assert mean.estimate == pytest.approx(0.725)
    assert mean.lower == pytest.approx(0.725 - np.hypot(0.25 * 0.1, 0.75 * 0.3))
    assert mean.upper == pytest.approx(0.725 + np.hypot(0.25 * 0.2, 0.75 * 0.1))


@given(seed=st.integers(0, 1000))
def test_the_auc_does_not_move_with_what_leaves_the_order(seed):
    rng = np.random.default_rng(seed)
    values, labels = rng.integers(-3, 4, size=(3, 30)).astype(float), rng.integers(0, 2, 30).astype(np.uint8)
    np.testing.assert_array_equal(auc(values, labels), auc(2.0 * values + 7.0, labels))
    np.testing.assert_allclose(auc(-values, labels), 1.0 - auc(values, labels), atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans())
def test_what_only_rounding_tells_apart_is_tied(seed, levels, is_weighted):
    rng = np.random.default_rng(seed)
    places, labels = rng.integers(-levels, levels + 1, 60), np.arange(60) % 3 == 0
    weights = rng.integers(1, 4, 60).astype(float) if is_weighted else None
    values = places / 7.0 * (1.0 + 1e-14 * rng.standard_normal(60))
    expected = roc_auc_score(labels, places, sample_weight=weights)
    assert auc(values[None], labels.astype(np.uint8), weights)[0] == pytest.approx(expected, abs=1e-12)


def test_what_rows_add_to_an_auc_sums_to_nothing_and_predicts_the_bootstrap():
    rng = np.random.default_rng(5)
    labels = (rng.random(400) < 0.3).astype(np.uint8)
    values = rng.normal(size=(2, 400)) + labels
    found = ranked(values, labels)
    np.testing.assert_allclose(found.parts.sum(1), 0.0, atol=1e-10)
    draws = []
    for _ in range(400):
        rows = rng.integers(0, 400, 400)
        draws.append(auc(values[:, rows], labels[rows]))
    drawn = np.array(draws)
    np.testing.assert_allclose(np.sqrt(found.variance), drawn.std(0), rtol=0.15)
    change = np.sqrt(((found.parts[1] - found.parts[0]) ** 2).sum())
    assert change == pytest.approx((drawn[:, 1] - drawn[:, 0]).std(), rel=0.15)


def test_a_perfect_order_is_not_known_for_certain():
    labels = np.repeat([0, 1], [40, 8]).astype(np.uint8)
    found = auc_intervals(np.arange(48.0)[None], labels)
    assert found.estimate == found.upper == 1.0
    assert 0.5 < found.lower < 0.9
    alike = auc_intervals(np.zeros((1, 48)), labels)
    assert alike.estimate == 0.5
    assert alike.lower < 0.5 < alike.upper


def test_models_of_one_order_differ_in_auc_by_what_other_rows_may_show():
    rng = np.random.default_rng(8)
    first, labels = rng.normal(size=100), rng.integers(0, 2, 100).astype(np.uint8)
    changes = auc_changes(np.array([first, first**3, -first]), labels, rng)
    assert changes.lower[0] == changes.upper[0] == changes.estimate[1] == 0.0
    # as a rate that has changed in none of the rows of the rarer label
    rare, h = min(labels.sum(), 100 - labels.sum()), stats.norm.ppf(0.975) ** 2 / 4
    assert changes.upper[1] == pytest.approx(-changes.lower[1])
    assert changes.upper[1] >= np.sqrt(8) * h / (rare + 2 * h) - 1e-9
    assert changes.upper[1] < 0.2
    assert changes.lower[2] < changes.upper[2]
    assert auc_changes(first[None], labels, rng).estimate == 0.0


@pytest.mark.parametrize("measure", [BALANCED, AUC, MEASURES[3]], ids=str)
def test_limits_of_changes_hold_together(measure):
    """Cover all true changes at once in at least 95 % of samples, up to the noise of 300 of them."""
    rng, rows, samples = np.random.default_rng(11), 250, 300
    truth = _simulated(rng, 400_000)
    exact = performance(decided(*truth), truth[0], measure)
    covered = 0
    for _ in range(samples):
        values, labels = _simulated(rng, rows)
        found = performance_changes(decided(values, labels), values, measure, rng, replications=200)
        change = exact - exact[0]
        covered += bool(((found.lower <= change + 2e-3) & (change - 2e-3 <= found.upper)).all())
    assert covered / samples >= 0.92


def _simulated(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw four models that share most of what they know, about rows of which one in five is unfavourable."""
    labels = (rng.random(rows) < 0.8).astype(np.uint8)
    shared = rng.normal(size=rows) + 1.6 * labels - 0.5
    return np.array([shared + noise * rng.normal(size=rows) for noise in (0.2, 0.3, 0.6, 1.0)]), labels


@pytest.mark.parametrize("text", ["", "precision", "cost", "cost=1", "cost=0:1", "cost=-1:2", "cost=1:inf", 3, None])
def test_unknown_measures_are_refused(text):
    with pytest.raises(ConfigError, match="'performance' must be accuracy, balanced_accuracy, auc, or cost=FN:FP"):
        PerformanceMeasure.of(text)


@pytest.mark.parametrize("text", ["accuracy", "balanced_accuracy", "auc", "cost=5:1", "cost=0.1:2.5", "cost=1e-05:1"])
def test_measures_are_written_as_they_are_read(text):
    assert str(PerformanceMeasure.of(text)) == text
