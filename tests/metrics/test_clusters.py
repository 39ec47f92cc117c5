"""Variances of clustered rows against sums over clusters, written out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from fairenum.metrics.clusters import cluster_sizes, design, few_clusters, of_changes, summed_by_cluster
from fairenum.metrics.comparison import compare
from fairenum.metrics.counts import Decisions
from fairenum.metrics.inference import rate_intervals
from fairenum.metrics.intervals import effective
from fairenum.metrics.rates import FRACTIONS, counted
from fairenum.tables.groups import Groups

RATES = ("selection_rate", "true_positive_rate", "precision", "accuracy")


def made(seed=0, rows=300, clusters=60, weights=False, spanning=True, models=3):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, clusters, rows)
    codes = rng.integers(0, 2, rows) if spanning else numbers % 2
    labels, leaning = rng.integers(0, 2, rows), rng.normal(size=(models, clusters))
    predictions = leaning[:, numbers] + rng.normal(size=(models, rows)) + 0.3 * labels + 0.2 * codes > 0
    weight = rng.lognormal(0, 0.5, rows) if weights else None
    return Decisions(predictions, labels, Groups(codes, ("a", "b")), weight, clusters=numbers)


def told(rate, label, selected):
    """Return whether a row is an outcome of a rate, and whether it is a trial."""
    if rate == "precision":
        return float(label and selected), float(selected)
    if rate == "accuracy":
        return float(label == selected), 1.0
    return (float(selected), 1.0) if rate == "selection_rate" else (float(selected and label), float(label))


def literal(decisions, model, rate, group):
    """Return weights, influences w (x - p t), clusters and trials of the rows of a group."""
    weights = np.ones(len(decisions.labels)) if decisions.weights is None else decisions.weights
    weights = weights * weights.sum() / (weights**2).sum()
    rows = [row for row, code in enumerate(decisions.groups.codes) if code == group]
    parts = [told(rate, decisions.labels[row], decisions.predictions[model][row]) for row in rows]
    trials = sum(weights[row] * part[1] for row, part in zip(rows, parts, strict=True))
    share = sum(weights[row] * part[0] for row, part in zip(rows, parts, strict=True)) / trials
    influence = [weights[row] * (part[0] - share * part[1]) for row, part in zip(rows, parts, strict=True)]
    return np.array(influence), [int(decisions.clusters[row]) for row in rows], trials


def inflated(influence, clusters, imaginary):
    """Divide the variance of sums over clusters by that of independent rows, imaginary ones on both sides."""
    sums = {}
    for one, cluster in zip(influence, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + one
    number = len(sums)
    factor = number / (number - 1) * (stats.t.ppf(0.975, number - 1) / stats.norm.ppf(0.975)) ** 2
    alike = np.mean([clusters.count(one) for one in clusters])
    together = factor * sum(one**2 for one in sums.values())
    return (together + imaginary * alike) / (sum(influence**2) + imaginary)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("weights", [False, True])
def test_inflation_is_the_ratio_of_both_variances(rate, weights):
    decisions = made(weights=weights)
    found = design(decisions, FRACTIONS)
    everyone = replace(decisions, groups=Groups(np.zeros(300, int), ("all",)))
    for model in range(3):
        for group in range(2):
            influence, clusters, _ = literal(decisions, model, rate, group)
            assert found.of_rate(rate).factor[model, group] == pytest.approx(inflated(influence, clusters, 1.0))
        influence, clusters, _ = literal(everyone, model, rate, 0)
        assert found.overall(rate).factor[model] == pytest.approx(inflated(influence, clusters, 1.0))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_inflation_of_a_change_is_that_of_both_influences(rate, sign):
    decisions = made(1)
    found = of_changes(decisions, FRACTIONS[rate], sign)
    for model in (1, 2):
        for group in range(2):
            (first, clusters, size), (own, _, trials) = (literal(decisions, one, rate, group) for one in (0, model))
            moved = (own / trials + sign * first / size) * size
            assert found.factor[model, group] == pytest.approx(inflated(moved, clusters, 2.0))


def test_groups_that_share_clusters_are_correlated():
    decisions = made(2)
    found = design(decisions, FRACTIONS).of_rate("selection_rate").correlation
    sums = np.zeros((2, 60))
    for group in range(2):
        influence, clusters, _ = literal(decisions, 1, "selection_rate", group)
        np.add.at(sums[group], clusters, influence)
    expected = sums[0] @ sums[1] / np.linalg.norm(sums[0]) / np.linalg.norm(sums[1])
    assert found[1, 0, 1] == found[1, 1, 0] == pytest.approx(expected)
    assert design(made(2, spanning=False), FRACTIONS).of_rate("selection_rate").correlation is None


def test_independent_rows_have_no_design():
    assert design(replace(made(), clusters=None), FRACTIONS) is None


def test_rows_told_twice_are_worth_one_each():
    once = made(3, rows=600, clusters=600)
    rows = np.repeat(np.arange(600), 2)
    twice = Decisions(
        once.predictions[:, rows], once.labels[rows], Groups(once.groups.codes[rows], ("a", "b")), clusters=rows
    )
    np.testing.assert_allclose(design(twice, FRACTIONS).of_rate("selection_rate").factor, 2.0, rtol=0.02)
    ours = rate_intervals(counted(twice), "selection_rate")
    theirs = rate_intervals(counted(replace(once, clusters=None)), "selection_rate")
    np.testing.assert_allclose(ours.lower, theirs.lower, atol=1e-3)
    np.testing.assert_allclose(ours.upper, theirs.upper, atol=1e-3)


def test_inflation_divides_the_rows_of_a_rate():
    decisions = made(4)
    plain, robust = (effective("precision", counted(one)) for one in (replace(decisions, clusters=None), decisions))
    factor = design(decisions, FRACTIONS).of_rate("precision").factor
    for ours, theirs in zip(robust, plain, strict=True):
        np.testing.assert_allclose(ours * factor, np.broadcast_to(theirs, factor.shape))


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
def test_inflation_is_that_of_kish_for_equal_clusters(correlation):
    """Of m rows in every cluster, with this correlation, the variance is 1 + (m - 1) times the correlation."""
    rng, clusters, size = np.random.default_rng(5), 4000, 5
    common, own = rng.random(clusters) < 0.5, rng.random((clusters, size)) < 0.5
    is_common = rng.random((clusters, size)) < np.sqrt(correlation)
    selected = np.where(is_common, common[:, None], own).reshape(1, -1)
    rows = clusters * size
    decisions = Decisions(
        selected,
        np.ones(rows, int),
        Groups(np.zeros(rows, int), ("all",)),
        clusters=np.repeat(np.arange(clusters), size),
    )
    found = design(decisions, FRACTIONS).of_rate("selection_rate").factor
    assert found[0, 0] == pytest.approx(1 + (size - 1) * correlation, rel=0.05)


def test_a_group_without_rows_is_left_out_of_all_comparisons():
    decisions = made(6)
    padded = replace(decisions, groups=Groups(decisions.groups.codes, ("a", "b", "nobody")))
    ours, theirs = (
        compare(one, "demographic_parity_difference", np.random.default_rng(0), replications=50)
        for one in (padded, decisions)
    )
    assert ours.verdicts == theirs.verdicts
    np.testing.assert_array_equal(ours.gap_change.lower, theirs.gap_change.lower)
    np.testing.assert_array_equal(ours.gap_change.upper, theirs.gap_change.upper)


def test_sizes_and_numbers_of_clusters():
    codes, clusters = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 3])
    assert cluster_sizes(codes, clusters, 3).tolist() == [pytest.approx((2 + 2 + 1) / 3), 1.0, 1.0]
    found = few_clusters(codes, clusters, 2)
    expected = [n / (n - 1) * (stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)) ** 2 for n in (2, 3)]
    np.testing.assert_allclose(found, expected)
    assert few_clusters(np.zeros(5000, int), np.arange(5000), 1)[0] == pytest.approx(1.0, abs=2e-3)


def test_parts_of_an_error_are_added_by_cluster():
    parts, clusters = np.array([[1.0, -2.0, 4.0, 8.0]]), np.array([0, 1, 0, 2])
    factor = np.sqrt(few_clusters(np.zeros(4, int), clusters, 1)[0])
    np.testing.assert_allclose(summed_by_cluster(parts, clusters), factor * np.array([[5.0, -2.0, 8.0]]))
    assert summed_by_cluster(parts, None) is parts
