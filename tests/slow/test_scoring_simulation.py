"""Simulated audits: do the intervals cover, and do the verdicts hold, as often as they say?"""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.simulation import known_gaps, power

from fairenum.document.terms import Verdict
from fairenum.metrics.comparison import accuracy_changes, compare
from fairenum.metrics.counts import Decisions
from fairenum.metrics.inference import gap_intervals, signed_differences
from fairenum.metrics.rates import GAP_RATES, score
from fairenum.tables.groups import Groups

PARITY = "demographic_parity_difference"
SHARES = {"even": (0.5, 0.5), "uneven": (0.7, 0.3), "very uneven": (0.9, 0.1)}


def grouped(rows, shares):
    sizes = np.round(rows * np.asarray(shares)).astype(int)
    return np.repeat(np.arange(len(sizes)), sizes)


def named(codes):
    return Groups(codes, tuple("abcdef"[: codes.max() + 1]))


@pytest.mark.parametrize("rows", [50, 200, 1000])
@pytest.mark.parametrize("shares", SHARES)
def test_signed_differences_are_covered_in_95_of_100_samples(rows, shares):
    rng, codes = np.random.default_rng(rows), grouped(rows, SHARES[shares])
    for chances in product([0.2, 0.5, 0.7], repeat=2):
        # each "model" is a sample of its own
        samples = rng.random((10_000, rows)) < np.asarray(chances)[codes]
        labels = np.zeros(rows, dtype=int)
        interval = signed_differences(score(Decisions(samples, labels, named(codes))), reference="a")
        truth = chances[1] - chances[0]
        covered = np.mean((interval.lower[:, 1] <= truth) & (truth <= interval.upper[:, 1]))
        # limits of fewer than 30 rows are exact, and on the safe side
        most = 0.97 if np.bincount(codes).min() >= 30 else 1.0
        assert 0.93 <= covered <= most, (chances, covered)


@pytest.mark.parametrize("rows", [50, 200, 1000])
def test_signed_differences_are_covered_when_group_sizes_are_left_to_chance(rows):
    rng, chances, covered = np.random.default_rng(rows + 1), np.array([0.5, 0.3]), 0
    for _ in range(3000):
        codes = (rng.random(rows) < 0.3).astype(int)
        sample = rng.random((1, rows)) < chances[codes]
        groups = Groups(codes, ("a", "b"))
        interval = signed_differences(score(Decisions(sample, codes, groups)), reference="a")
        covered += interval.lower[0, 1] <= -0.2 <= interval.upper[0, 1]
    assert 0.93 <= covered / 3000 <= (0.97 if rows >= 200 else 1.0)


@pytest.mark.parametrize("away", [0.0, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 6.0])
@pytest.mark.parametrize("shares", ["even", "uneven"])
@pytest.mark.parametrize("rows", [500, 2000])
def test_the_gap_of_two_groups_is_covered_in_95_of_100_samples_however_near_to_0(rows, shares, away):
    rng, codes = np.random.default_rng(rows), grouped(rows, SHARES[shares])
    truth = away * np.sqrt(0.24 * np.sum(1 / np.bincount(codes)))
    chances = np.array([0.4 - truth / 2, 0.4 + truth / 2])
    samples = rng.random((20_000, rows)) < chances[codes]
    interval = gap_intervals(score(Decisions(samples, np.zeros(rows, dtype=int), named(codes))), PARITY)
    covered = np.mean((interval.lower <= truth) & (truth <= interval.upper))
    assert 0.94 <= covered <= 0.96, covered


@pytest.mark.parametrize("rows", [50, 200, 1000])
@pytest.mark.parametrize("chances", [(0.4, 0.4, 0.4, 0.4), (0.6, 0.5, 0.4, 0.3), (0.5, 0.1, 0.1, 0.1)])
def test_the_gap_of_four_groups_is_covered_at_least_as_often_as_stated(rows, chances):
    rng, codes = np.random.default_rng(rows), grouped(rows, (0.4, 0.3, 0.2, 0.1))
    samples = rng.random((10_000, rows)) < np.asarray(chances)[codes]
    interval = gap_intervals(score(Decisions(samples, np.zeros(rows, dtype=int), named(codes))), PARITY)
    truth = max(chances) - min(chances)
    assert np.mean((interval.lower <= truth + 1e-12) & (truth <= interval.upper + 1e-12)) >= 0.94


def alike(rng, codes, chances, *, models=50, agreement=0.8, shift=0.0):
    """Models with correlated decisions and the same gap in the population.

    Parameters
    ----------
    chances
        Of selection, by group and label.
    agreement
        Correlation of the latent scores of a model and model 1.
    shift
        Two of three models select this much more or less, in all groups alike.
    """
    labels = rng.integers(0, 2, len(codes))
    tilt = shift * (np.arange(models) % 3 - 1) * (np.arange(models) > 0)
    chance = np.asarray(chances)[codes, labels] + tilt[:, None]
    base, common = rng.normal(size=(2, len(codes)))
    own = rng.normal(size=(models, len(codes)))
    latent = agreement * base + np.sqrt((1 - agreement**2) / 2) * (common + own)
    latent[0] = base
    return Decisions(latent > stats.norm.ppf(1 - chance), labels, named(codes))


def flat(*chances):
    return [(chance, chance) for chance in chances]


def claims(runs, rng, gap, *arguments, **options):
    """Shares of runs with at least one false claim: fairer, not fairer."""
    counted = np.zeros(2)
    for _ in range(runs):
        verdicts = compare(alike(rng, *arguments, **options), gap, rng, replications=300).verdicts
        counted += [Verdict.FAIRER in verdicts, Verdict.LESS_FAIR in verdicts]
    return counted / runs


@pytest.mark.parametrize("rows", [50, 200, 1000])
@pytest.mark.parametrize("shares", ["even", "very uneven"])
@pytest.mark.parametrize(("chances", "shift"), [(flat(0.5, 0.5), 0.0), (flat(0.6, 0.15), 0.0), (flat(0.6, 0.15), 0.05)])
def test_of_50_models_with_the_same_gap_none_is_fairer_in_95_of_100_runs(rows, shares, chances, shift):
    rng = np.random.default_rng(rows)
    fairer, not_fairer = claims(1000, rng, PARITY, grouped(rows, SHARES[shares]), chances, shift=shift)
    assert fairer <= 0.05
    assert fairer + not_fairer <= 0.07  # 5 % for both sides, and the error of 1000 runs


@pytest.mark.parametrize("agreement", [0.5, 0.95, 0.99])
def test_verdicts_hold_however_much_the_models_agree(agreement):
    rng = np.random.default_rng(0)
    fairer, not_fairer = claims(1000, rng, PARITY, grouped(1000, (0.5, 0.5)), flat(0.6, 0.2), agreement=agreement)
    assert fairer <= 0.05
    assert fairer + not_fairer <= 0.07


@pytest.mark.parametrize("gap", GAP_RATES)
@pytest.mark.parametrize("rows", [200, 1000])
def test_verdicts_hold_in_every_gap(gap, rows):
    chances = [(0.2, 0.9), (0.1, 0.5)]
    fairer, not_fairer = claims(500, np.random.default_rng(rows), gap, grouped(rows, (0.6, 0.4)), chances)
    assert fairer <= 0.05
    assert fairer + not_fairer <= 0.07


def test_verdicts_hold_for_four_groups():
    codes = grouped(2000, (0.4, 0.3, 0.2, 0.1))
    fairer, not_fairer = claims(500, np.random.default_rng(1), PARITY, codes, flat(0.8, 0.5, 0.45, 0.2))
    assert fairer <= 0.05
    assert fairer + not_fairer <= 0.07


@pytest.mark.parametrize("rows", [200, 1000])
def test_changes_of_gap_and_accuracy_are_covered_for_all_models_together(rows):
    rng, codes, covered = np.random.default_rng(2), grouped(rows, (0.6, 0.4)), np.zeros(2)
    for _ in range(500):
        decided = alike(rng, codes, flat(0.6, 0.2))
        gap, accuracy = (
            compare(decided, PARITY, rng, replications=300).gap_change,
            accuracy_changes(decided, rng),
        )
        covered += [np.all((change.lower <= 0) & (change.upper >= 0)) for change in (gap, accuracy)]
    assert np.all(covered / 500 >= 0.93)


def test_a_gap_cut_by_a_third_is_seen_in_1000_rows_among_50_models():
    rng, codes, seen = np.random.default_rng(3), grouped(1000, (0.5, 0.5)), 0
    for _ in range(200):
        decided = alike(rng, codes, flat(0.6, 0.25), agreement=0.99)
        lifted = decided.predictions[0] | ((codes == 1) & (rng.random(1000) < 0.16))
        predictions = np.vstack([decided.predictions[:-1], lifted])
        verdicts = compare(Decisions(predictions, decided.labels, decided.groups), PARITY, rng, replications=300)
        seen += verdicts.verdicts[-1] == Verdict.FAIRER
    assert seen / 200 >= 0.8


# --- what docs/statistics.md says ---

STATISTICS = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text()


@pytest.mark.parametrize(("change", "agreement"), power.GRID)
def test_a_change_is_seen_as_often_as_the_page_says_and_no_less_than_by_the_literal_rules(change, agreement):
    assert power.power_row(change, agreement) in STATISTICS
    for centre in power.CENTRES:
        assert power.weaker(change, centre, agreement, "together", "all models") > 0.001, centre
        assert power.weaker(change, centre, agreement, "alone", "claim") > 0.001, centre
        wrong = power.seen(change, centre, agreement)[1].sum(0)
        for rule in ("all models", "claim"):
            count = int(wrong[power.RULES.index(rule)])
            assert stats.binomtest(count, change.runs).proportion_ci(0.95, "exact").low <= 0.05, (rule, centre)


@pytest.mark.parametrize("groups", [2, 5])
def test_of_50_models_with_one_gap_few_runs_call_any_fairer_or_less_fair(groups):
    row = known_gaps.together_row(groups)
    assert row in STATISTICS
    assert_few(row)


@pytest.mark.parametrize("groups", [2, 5])
@pytest.mark.parametrize("truth", known_gaps.STRIP_TRUTHS)
def test_few_strips_say_anything_false_over_all_metrics_and_columns(truth, groups):
    row = known_gaps.strip_row(truth, groups)
    assert row in STATISTICS
    assert_few(row)


def test_the_strip_that_errs_most_errs_in_no_more_than_one_of_twenty_of_many_runs():
    share = known_gaps.false_in_strip("reversed", 2, 1000, 2000) / 2000
    assert f"{share:.3f} of 2000 runs" in STATISTICS
    assert share <= 0.05


def assert_few(row):
    """No more than one in twenty, but for the chance of so few runs."""
    for share in row.split("|")[-4:-1]:
        wrong = round(float(share) * known_gaps.RUNS)
        assert stats.binomtest(wrong, known_gaps.RUNS).proportion_ci(0.95, "exact").low <= 0.05, row


@pytest.mark.parametrize("agreement", [0.5, 0.95])
@pytest.mark.parametrize("rows", [200, 1000])
@pytest.mark.parametrize("groups", [2, 5])
def test_the_change_of_one_model_judged_alone_is_covered(groups, rows, agreement):
    for share in known_gaps.change_coverage(groups, rows, agreement):
        assert stats.binomtest(round(share * 500), 500).proportion_ci(0.99, "exact").high >= 0.95, share


@pytest.mark.parametrize("rows", [500, 2000])
@pytest.mark.parametrize("groups", [2, 5, 8])
def test_gaps_are_covered_as_often_as_the_page_says(groups, rows):
    row = known_gaps.gap_row(groups, rows)
    assert row in STATISTICS
    assert all(float(cell) >= 0.93 for cell in row.split("|")[3:-1])


@pytest.mark.parametrize("chance", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("trials", [1, 2, 3, 4, 5])
def test_groups_of_a_few_rows_show_no_gap_where_there_is_none(trials, chance):
    assert known_gaps.parity_refuted(trials, chance) <= 0.02


@pytest.mark.parametrize("better", [0.0, 0.05, 0.1])
def test_optimism_is_what_choosing_flatters_by(better):
    row = known_gaps.optimism_row(better)
    assert row in STATISTICS
    real, expected = (float(cell) for cell in row.split("|")[2:4])
    assert expected >= 0.85 * real
    if better == 0.0:
        assert expected <= 1.15 * real
