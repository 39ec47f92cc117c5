"""Intervals against published figures and exact coverage, verdicts against what they promise."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from fairenum.scoring.comparison import Verdict, accuracy_changes, compare
from fairenum.scoring.counts import Decisions, Groups, confusion
from fairenum.scoring.deviations import balanced, deviations, fractions, max_t_critical
from fairenum.scoring.inference import (
    detectable_differences,
    gap_intervals,
    parity_p_values,
    rate_intervals,
    signed_differences,
)
from fairenum.scoring.intervals import (
    Interval,
    clopper_pearson,
    difference,
    normal_critical,
    pairwise,
    rate_limits,
    tukey_critical,
    wilson,
)
from fairenum.scoring.paired import Overlap, paired_change
from fairenum.scoring.rates import GAP_RATES, score

Z = normal_critical(0.95)
PARITY = "demographic_parity_difference"


def whole(*numbers):
    return tuple(np.array([float(number)]) for number in numbers)


def decisions(models, codes, labels=None, names=None):
    codes = np.asarray(codes)
    labels = np.arange(len(codes)) % 2 if labels is None else labels
    names = names or tuple("abcdefgh"[: codes.max() + 1])
    return Decisions(np.asarray(models), labels, Groups(codes, names))


def selecting(*counts, sizes):
    """One model that selects so many rows of each group."""
    model = np.concatenate([np.arange(size) < count for count, size in zip(counts, sizes, strict=True)])
    return decisions([model], np.repeat(np.arange(len(sizes)), sizes))


# --- intervals ---


@pytest.mark.parametrize(("outcomes", "trials"), [(0, 1), (1, 1), (3, 10), (0, 50), (50, 50), (180, 1000)])
def test_wilson_is_that_of_scipy(outcomes, trials):
    ours = wilson(*whole(outcomes, trials), Z)
    theirs = stats.binomtest(outcomes, trials).proportion_ci(method="wilson")
    assert ours.lower[0] == pytest.approx(theirs.low, abs=1e-12)
    assert ours.upper[0] == pytest.approx(theirs.high, abs=1e-12)
    assert ours.estimate[0] == outcomes / trials


@pytest.mark.parametrize(("outcomes", "trials"), [(0, 1), (1, 1), (3, 10), (0, 29), (29, 29), (7, 29)])
def test_a_rate_of_few_trials_has_the_exact_limits_of_scipy(outcomes, trials):
    ours = rate_limits(*whole(outcomes, trials), Z)
    theirs = stats.binomtest(outcomes, trials).proportion_ci(method="exact")
    assert (ours.lower[0], ours.upper[0]) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_from_30_trials_on_a_rate_has_wilsons_limits():
    outcomes, trials = np.array([[3.0, 3.0, 9.5]]), np.array([[29.5, 30.0, 400.0]])
    ours, theirs = rate_limits(outcomes, trials, Z), wilson(outcomes, trials, Z)
    assert (ours.lower == theirs.lower).tolist() == [[False, True, True]]
    assert (ours.upper == theirs.upper).tolist() == [[False, True, True]]
    np.testing.assert_array_equal(ours.estimate, theirs.estimate)


@pytest.mark.parametrize("limits", [wilson, clopper_pearson, rate_limits])
def test_nothing_is_known_of_a_rate_without_trials(limits):
    nothing = limits(*whole(0, 0), Z)
    assert np.isnan(nothing.estimate[0])
    assert (nothing.lower[0], nothing.upper[0]) == (0, 1)


@pytest.mark.parametrize(
    ("left", "right", "lower", "upper"),
    [  # Newcombe (1998), Interval estimation for the difference between independent proportions, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_differences_are_those_that_newcombe_published(left, right, lower, upper):
    interval = difference(wilson(*whole(*left), Z), wilson(*whole(*right), Z))
    assert interval.lower[0] == pytest.approx(lower, abs=6e-5)
    assert interval.upper[0] == pytest.approx(upper, abs=6e-5)


def coverage(left, right, chances):
    """Sum the probabilities of all samples whose interval holds the true difference."""
    (n, m), (p, q) = (left, right), chances
    x, y = np.arange(n + 1.0)[:, None], np.arange(m + 1.0)
    interval = difference(wilson(x, np.float64(n), Z), wilson(y, np.float64(m), Z))
    holds = (interval.lower <= p - q) & (p - q <= interval.upper)
    return float(np.sum(stats.binom.pmf(x, n, p) * stats.binom.pmf(y, m, q) * holds))


@pytest.mark.parametrize(
    "sizes", [(25, 25), (35, 15), (40, 10), (45, 5), (100, 100), (180, 20), (500, 500), (900, 100)]
)
def test_differences_are_covered_as_often_as_they_say(sizes):
    for chances in product([0.2, 0.3, 0.5, 0.8], repeat=2):
        assert 0.93 <= coverage(*sizes, chances) <= 0.97, chances


@pytest.mark.parametrize("sizes", [(100, 100), (180, 20), (500, 500), (900, 100)])
def test_rare_outcomes_are_covered_as_often_from_200_rows(sizes):
    for chances in product([0.05, 0.1, 0.5], repeat=2):
        assert 0.93 <= coverage(*sizes, chances) <= 0.97, chances


def test_a_paired_change_is_that_of_bonett_and_price():
    # (f12 + 1) / (n + 2) etc.: with z = 2 the imaginary rows are one of each kind
    gained, lost, both, trials = 9, 3, 20, 60
    model, first = whole(both + gained, trials), whole(both + lost, trials)
    interval = paired_change(model, first, Overlap(*whole(both, trials, both + gained, both + lost)), 2.0)
    up, down = (gained + 1) / (trials + 2), (lost + 1) / (trials + 2)
    radius = 2 * np.sqrt((up + down - (up - down) ** 2) / (trials + 2))
    assert interval.estimate[0] == pytest.approx((gained - lost) / trials)
    assert interval.lower[0] == pytest.approx(up - down - radius)
    assert interval.upper[0] == pytest.approx(up - down + radius)


def test_a_paired_change_of_precisions_has_the_error_of_the_bootstrap():
    rng = np.random.default_rng(0)
    labels, first = rng.random(4000) < 0.5, rng.random(4000) < 0.6
    model = np.where(rng.random(4000) < 0.9, first, labels)
    shared = model & first
    right, both = np.sum(labels & shared), np.sum(shared)
    interval = paired_change(
        whole(np.sum(labels & model), np.sum(model)),
        whole(np.sum(labels & first), np.sum(first)),
        Overlap(*whole(right, both, right, right)),
        Z,
    )
    weights = rng.exponential(size=(4000, 4000))
    change = (weights @ (labels & model)) / (weights @ model) - (weights @ (labels & first)) / (weights @ first)
    assert (interval.upper - interval.lower)[0] == pytest.approx(2 * Z * change.std(), rel=0.05)


def test_nothing_is_known_of_a_change_without_trials():
    interval = paired_change(whole(0, 0), whole(0, 0), Overlap(*whole(0, 0, 0, 0)), Z)
    assert np.isnan(interval.estimate[0])
    assert (interval.lower[0], interval.upper[0]) == (-1, 1)


def test_groups_without_rows_differ_from_nobody():
    pairs = pairwise(wilson(np.array([1.0, 5.0, 0.0]), np.array([9.0, 9.0, 0.0]), Z), np.array([True, True, False]))
    assert pairs.lower[2].tolist() == pairs.upper[:, 2].tolist() == [0, 0, 0]
    assert pairs.upper.diagonal().tolist() == [0, 0, 0]
    np.testing.assert_allclose(pairs.lower, -pairs.upper.T)
    assert pairs.lower[0, 1] < pairs.estimate[0, 1] < pairs.upper[0, 1]


def test_tukey_is_normal_for_two_groups_and_grows_with_their_number():
    assert tukey_critical(0.95, 1) == pytest.approx(Z)
    assert tukey_critical(0.95, 2) == pytest.approx(Z)
    assert tukey_critical(0.95, 10) == pytest.approx(4.474 / np.sqrt(2), abs=1e-3)  # the table's q(10, inf)


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


def test_an_interval_can_be_cut_and_masked():
    interval = Interval(*(np.arange(3.0) + shift for shift in (0, -1, 1)))
    assert interval[1:].upper.tolist() == [2, 3]
    assert interval.where(np.array([True, False, True]), 9).lower.tolist() == [-1, 9, 1]


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
    monkeypatch.setattr("fairenum.scoring.deviations.MOST_ROOTED", most)
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
