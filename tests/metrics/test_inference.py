"""What is said of one model, and of all against the first: limits, p-values and verdicts against what they promise."""

import numpy as np
import pytest
from scipy import stats

from fairenum.document.terms import Verdict
from fairenum.metrics.changes import balanced, deviations, fractions, max_t_critical
from fairenum.metrics.comparison import accuracy_changes, compare
from fairenum.metrics.counts import Decisions, confusion
from fairenum.metrics.inference import (
    detectable_differences,
    gap_intervals,
    parity_p_values,
    rate_intervals,
    signed_differences,
)
from fairenum.metrics.intervals import difference, normal_critical, rate_limits, tukey_critical, wilson
from fairenum.metrics.rates import GAP_RATES, score
from fairenum.tables.groups import Groups

Z = normal_critical(0.95)
PARITY = "demographic_parity_difference"


def decisions(models, codes, labels=None, names=None):
    codes = np.asarray(codes)
    labels = np.arange(len(codes)) % 2 if labels is None else labels
    names = names or tuple("abcdefgh"[: codes.max() + 1])
    return Decisions(np.asarray(models), labels, Groups(codes, names))


def selecting(*counts, sizes):
    """One model that selects so many rows of each group."""
    model = np.concatenate([np.arange(size) < count for count, size in zip(counts, sizes, strict=True)])
    return decisions([model], np.repeat(np.arange(len(sizes)), sizes))


# --- one model ---


def test_signed_differences_refer_to_the_largest_group_or_to_the_one_named():
    scores = score(selecting(10, 20, 3, sizes=(20, 50, 10)))
    largest, named = signed_differences(scores), signed_differences(scores, reference="c")
    np.testing.assert_allclose(largest.estimate, [[0.1, 0, -0.1]])
    np.testing.assert_allclose(named.estimate, [[0.2, 0.1, 0]])
    assert largest.lower[0, 1] == largest.upper[0, 1] == 0
    assert np.all(largest.lower <= largest.estimate)


def test_rates_are_bounded_in_each_group_and_over_all_rows():
    counts = score(selecting(10, 20, sizes=(20, 50))).counts
    assert rate_intervals(counts).estimate.tolist() == [[0.5, 0.4]]
    overall = rate_intervals(counts.overall())
    assert overall.estimate.tolist() == [pytest.approx(30 / 70)]
    assert (
        overall.upper - overall.lower
        < np.diff([rate_intervals(counts).lower, rate_intervals(counts).upper], axis=0).min()
    )


@pytest.mark.parametrize(("counts", "covers_zero"), [((25, 25), True), ((27, 23), True), ((45, 5), False)])
def test_the_interval_of_a_gap_reaches_0_unless_a_difference_is_shown(counts, covers_zero):
    gap = gap_intervals(score(selecting(*counts, sizes=(50, 50))), PARITY)
    assert (gap.lower[0] == 0) == covers_zero
    assert gap.lower[0] <= gap.estimate[0] <= gap.upper[0]


def test_the_gap_of_two_groups_is_the_size_of_their_signed_difference():
    scores = score(selecting(45, 5, sizes=(50, 50)))
    gap, signed = gap_intervals(scores, PARITY), signed_differences(scores, reference="b")
    assert gap.lower[0] == pytest.approx(signed.lower[0, 0])
    assert gap.upper[0] == pytest.approx(signed.upper[0, 0])


def test_the_gap_of_one_group_is_certainly_0():
    gap = gap_intervals(score(selecting(3, sizes=(9,))), PARITY)
    assert (gap.estimate[0], gap.lower[0], gap.upper[0]) == (0, 0, 0)


def test_a_gap_with_an_undefined_rate_is_open_upwards():
    scores = score(decisions([[1, 1, 0, 0, 1, 0]], [0, 0, 0, 0, 1, 1], labels=[1, 1, 0, 0, 0, 0]))
    gap = gap_intervals(scores, "equal_opportunity_difference")
    assert np.isnan(gap.estimate[0])
    assert gap.lower[0] == 0
    assert gap.upper[0] > 0.9


def test_p_values_are_exact_where_cells_are_small_and_those_of_the_score_test_elsewhere():
    small = parity_p_values(score(selecting(9, 1, sizes=(11, 8))))
    assert small[0, 1] == pytest.approx(stats.fisher_exact([[9, 2], [1, 7]]).pvalue)
    assert np.isnan(small[0, 0])
    large = parity_p_values(score(selecting(60, 30, sizes=(101, 100))))
    table = [[60, 41], [30, 70]]
    assert large[0, 1] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_p_values_are_undefined_where_a_rate_is_and_1_where_nobody_is_selected():
    p_values = parity_p_values(score(selecting(0, 0, sizes=(40, 50))))
    assert p_values[0, 0] == 1
    undefined = parity_p_values(score(selecting(0, 0, sizes=(40, 50))), "precision")
    assert np.isnan(undefined).all()


def test_the_detectable_difference_has_the_power_that_it_claims():
    sizes, base = (200, 150), 0.4
    scores = score(selecting(80, 60, sizes=sizes))
    smallest = detectable_differences(scores)[1]
    rng = np.random.default_rng(4)
    drawn = (
        rng.binomial(sizes[0], base - smallest / 2, 4000),
        rng.binomial(sizes[1], base + smallest / 2, 4000),
    )
    interval = difference(*(wilson(x.astype(float), np.float64(n), Z) for x, n in zip(drawn, sizes, strict=True)))
    seen = np.mean((interval.lower > 0) | (interval.upper < 0))
    assert seen == pytest.approx(0.8, abs=0.04)


def test_nothing_can_be_detected_in_a_group_of_one_or_none():
    scores = score(decisions([[0] * 9], [0] * 8 + [1], names=("a", "one", "none")))
    smallest = detectable_differences(scores)
    assert np.isnan(smallest[0])
    assert smallest[1] > 0.8
    assert smallest[2] == 1


# --- all models against the first ---


def correlated(rng, sizes, chances, models, agreement=0.9, shift=0.0):
    """Models that share most decisions, and have the same chance of selection in each group.

    Parameters
    ----------
    shift
        Every other model selects this much more in all groups, which leaves the gap as it is.
    """
    codes = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.asarray(chances)[codes] + shift * (np.arange(models) % 2)[:, None]
    base, common, own = (
        rng.normal(size=len(codes)),
        rng.normal(size=len(codes)),
        rng.normal(size=(models, len(codes))),
    )
    noise = np.sqrt((1 - agreement**2) / 2) * (common + own)
    latent = np.vstack([base, agreement * base + noise[1:]])
    return decisions(latent > stats.norm.ppf(1 - chance), codes, labels=rng.integers(0, 2, len(codes)))


def test_a_model_that_halves_the_gap_is_fairer_and_its_mirror_image_is_not():
    rng = np.random.default_rng(5)
    codes = np.repeat([0, 1], 500)
    first = rng.random(1000) < np.where(codes == 0, 0.7, 0.4)
    better = first | ((codes == 1) & (rng.random(1000) < 0.25))
    worse = first & ~((codes == 1) & (rng.random(1000) < 0.4))
    comparison = compare(decisions([first, better, worse, first], codes), PARITY, rng)
    assert comparison.verdicts == (Verdict.SAME, Verdict.FAIRER, Verdict.LESS_FAIR, Verdict.OPEN)
    assert comparison.is_identical.tolist() == [True, False, False, True]
    assert comparison.gap_change.lower[0] == comparison.gap_change.upper[0] == 0
    # what has not changed in these rows may change in others
    assert comparison.gap_change.lower[3] < 0 < comparison.gap_change.upper[3]
    change = comparison.difference_change
    assert change.estimate.shape == (4, 1, 2)
    assert change.upper[2, 0, 1] < 0 < change.lower[1, 0, 1]


def test_a_gap_that_changes_sides_is_not_called_fairer():
    codes = np.repeat([0, 1], 500)
    first, mirrored = np.tile(np.arange(500), 2) < np.where(codes == 0, 300, 200), codes == 1
    comparison = compare(decisions([first, mirrored], codes), PARITY, np.random.default_rng(0))
    assert comparison.verdicts[1] == Verdict.LESS_FAIR


def test_a_model_without_a_choice_is_never_fairer():
    codes = np.repeat([0, 1], 500)
    first = np.tile(np.arange(500), 2) < np.where(codes == 0, 400, 100)
    comparison = compare(decisions([first, first | True, first & False], codes), PARITY, np.random.default_rng(0))
    assert comparison.gap_change.upper[1] < 0
    assert comparison.is_constant.tolist() == [False, True, True]
    assert comparison.verdicts[1:] == (None, None)


def test_a_small_group_leaves_the_verdict_open_and_is_marked():
    rng = np.random.default_rng(6)
    codes = np.repeat([0, 1, 2], [500, 500, 3])
    first = rng.random(1003) < np.where(codes == 0, 0.7, 0.4)
    better = first | ((codes == 1) & (rng.random(1003) < 0.5))
    comparison = compare(decisions([first, better], codes), PARITY, rng)
    assert comparison.is_small.tolist() == [[False, False, True]] * 2
    assert comparison.verdicts[1] == Verdict.OPEN


@pytest.mark.parametrize("gap", GAP_RATES)
def test_every_gap_can_be_judged(gap):
    rng = np.random.default_rng(7)
    codes, labels = np.repeat([0, 1], 1500), rng.integers(0, 2, 3000)
    chance = np.where(codes == 0, np.where(labels, 0.9, 0.1), np.where(labels, 0.5, 0.4))
    first = rng.random(3000) < chance
    better = np.where(codes == 1, rng.random(3000) < np.where(labels, 0.9, 0.1), first)
    comparison = compare(decisions([first, better], codes, labels), gap, rng)
    expected = Verdict.OPEN if gap == PARITY else Verdict.FAIRER
    assert comparison.verdicts == (Verdict.SAME, expected)
    assert comparison.difference_change.estimate.shape == (2, len(GAP_RATES[gap]), 2)


@pytest.mark.parametrize("gap", GAP_RATES)
@pytest.mark.parametrize(
    ("models", "codes", "labels"),
    [
        ([[1, 0]], [0, 1], [1, 0]),
        ([[1, 0], [0, 1]], [0, 1], [1, 0]),
        ([[1, 0], [0, 1]], [0, 0], [1, 0]),
        ([[1], [0]], [0], [1]),
        ([[0, 0, 0], [1, 1, 1]], [0, 1, 2], [0, 0, 0]),
        ([[0, 0, 0, 0], [1, 0, 1, 0]], [0, 0, 2, 2], [1, 1, 0, 0]),
    ],
)
def test_too_little_data_gives_no_verdict_and_no_warning(gap, models, codes, labels):
    comparison = compare(decisions(models, codes, labels), gap, np.random.default_rng(0), replications=50)
    assert comparison.verdicts[0] in (Verdict.SAME, None)
    assert set(comparison.verdicts[1:]) <= {Verdict.OPEN, None}
    assert np.all(comparison.gap_change.lower <= 0)
    assert np.all(comparison.gap_change.upper >= 0)


def test_the_same_seed_gives_the_same_limits():
    decided = correlated(np.random.default_rng(8), (60, 40), (0.5, 0.3), models=5)
    one, two = (compare(decided, PARITY, np.random.default_rng(9)) for _ in range(2))
    assert one.critical == two.critical
    np.testing.assert_array_equal(one.gap_change.upper, two.gap_change.upper)


def test_paired_changes_are_several_times_tighter_than_unpaired_ones():
    decided = correlated(np.random.default_rng(10), (1000, 1000), (0.6, 0.3), models=2, agreement=0.995)
    paired = compare(decided, PARITY, np.random.default_rng(0)).gap_change
    alone = gap_intervals(score(decided), PARITY)
    unpaired = np.hypot(*(alone.upper - alone.lower))
    assert unpaired / (paired.upper - paired.lower)[1] > 3


def test_max_t_is_the_normal_value_for_one_contrast_and_grows_with_independent_ones():
    rng = np.random.default_rng(11)
    assert max_t_critical([], 0.95) == pytest.approx(Z)
    assert max_t_critical([rng.normal(size=(20_000, 1))], 0.95) == pytest.approx(Z, abs=0.03)
    sidak = stats.norm.ppf((1 + 0.95 ** (1 / 40)) / 2)
    contrasts = [rng.normal(size=(20_000, 20)) * 7, rng.normal(size=(20_000, 20))]
    assert max_t_critical(contrasts, 0.95) == pytest.approx(sidak, abs=0.05)
    assert max_t_critical([np.tile(rng.normal(size=(20_000, 1)), 50)], 0.95) == pytest.approx(Z, abs=0.03)


def test_the_accuracy_of_each_model_is_held_against_the_first():
    rng = np.random.default_rng(12)
    labels = rng.integers(0, 2, 800)
    first = np.where(rng.random(800) < 0.2, 1 - labels, labels)
    worse = np.where(rng.random(800) < 0.2, 1 - labels, first)
    changes = accuracy_changes(decisions([first, worse, first], np.zeros(800, int), labels), rng)
    assert changes.estimate[1] == pytest.approx(np.mean(worse == labels) - np.mean(first == labels))
    assert changes.upper[1] < 0
    assert changes.lower[0] == changes.upper[0] == 0
    assert -0.01 < changes.lower[2] < 0 < changes.upper[2] < 0.01


@pytest.mark.parametrize(("chances", "shift"), [((0.5, 0.5), 0.0), ((0.6, 0.1), 0.0), ((0.6, 0.1), 0.05)])
def test_models_with_the_same_gap_are_seldom_called_fairer(chances, shift):
    rng, runs = np.random.default_rng(13), 120
    claims = 0
    for _ in range(runs):
        decided = correlated(rng, (250, 250), chances, models=20, agreement=0.8, shift=shift)
        claims += Verdict.FAIRER in compare(decided, PARITY, rng, replications=200).verdicts
    # at a true error rate of 5 % more than this would happen once in 10 000 times
    assert claims <= stats.binom.ppf(0.9999, runs, 0.05)


def test_kinds_of_contrasts_share_the_error_alike():
    rng = np.random.default_rng(3)
    one, many = np.abs(rng.normal(size=(2, 20_000, 50)))
    peaks = np.stack([one[:, 0], many.max(1), np.zeros(20_000)])
    single, largest, nothing = balanced(peaks, 0.95)
    exceeded = np.mean((peaks[0] > single) | (peaks[1] > largest))
    assert exceeded == pytest.approx(0.05, abs=0.002)
    assert np.mean(peaks[0] > single) == pytest.approx(np.mean(peaks[1] > largest), abs=0.002)
    assert nothing == pytest.approx(Z)


@pytest.mark.parametrize("most", [5000, 1], ids=["by the root", "row by row"])
@pytest.mark.parametrize("gap", GAP_RATES)
def test_deviations_have_the_covariance_of_rows_drawn_again(gap, most, monkeypatch):
    monkeypatch.setattr("fairenum.metrics.changes.MOST_ROOTED", most)
    rng = np.random.default_rng(4)
    codes, labels = np.repeat([0, 1], 300), rng.integers(0, 2, 600)
    first = rng.random(600) < 0.5
    models = np.stack([first, first ^ (rng.random(600) < 0.2)])
    decided = decisions(models, codes, labels)
    noise = deviations(decided, GAP_RATES[gap], 20_000, rng)
    rows = rng.multinomial(600, np.full(600, 1 / 600), size=4000).astype(float)
    again = fractions(confusion(decided, rows), GAP_RATES[gap])
    shares = again[0] / again[1]
    for place in range(len(GAP_RATES[gap])):
        for group in range(2):
            ours, theirs = np.cov(noise[place, group].T), np.cov(shares[:, :, place, group].T)
            np.testing.assert_allclose(ours, theirs, rtol=0.15, atol=1e-5)


def test_the_gap_of_many_groups_fails_upwards_as_often_as_that_of_two():
    two, five = (tukey_critical(0.95, groups) for groups in (2, 5))
    sizes = (1000,) * 5
    gap = gap_intervals(score(selecting(600, 500, 500, 500, 300, sizes=sizes)), PARITY)
    rates = rate_limits(
        np.array([600.0, 300.0]), np.array([1000.0, 1000.0]), float(stats.norm.isf(0.05 - stats.norm.sf(five)))
    )
    widest = difference(rates[:1], rates[1:])
    assert gap.upper[0] == pytest.approx(widest.upper[0])
    assert two < five
