"""Limits of a claim about one model against the rule of the module's docstring, written out row by row."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from support.simulation.known_gaps import decided, grouped, named

from fairenum.document.terms import Verdict
from fairenum.metrics.claims import (
    Errors,
    FixedPair,
    FixedPairs,
    PairedRates,
    compare_chosen,
    compare_pair,
    fixed_pairs,
    is_one_pair,
    others_against,
    pair_gaps,
)
from fairenum.metrics.counts import Decisions
from fairenum.tables.groups import Groups

PARITY = "demographic_parity_difference"
RATES = {
    PARITY: ("selection_rate",),
    "equal_opportunity_difference": ("true_positive_rate",),
    "equalized_odds_difference": ("true_positive_rate", "false_positive_rate"),
    "predictive_parity_difference": ("precision",),
}
ERRORS = Errors(0.02, 0.05)


def made(seed, sizes=(150, 120, 90), models=3, **more):
    rng, codes = np.random.default_rng(seed), grouped(sizes)
    labels = (rng.random(len(codes)) < 0.5).astype(np.uint8)
    thresholds = rng.normal(size=(models, 1)) / 3 + rng.normal(size=len(sizes))[codes] / 2 - 0.4 * labels
    return Decisions(decided(rng, thresholds, 0.8), labels, named(codes, len(sizes)), **more)


def counts_as(rate, label, selected):
    """Tell whether a row is an outcome of a rate, and whether it is a trial."""
    trial = {
        "selection_rate": True,
        "true_positive_rate": label == 1,
        "false_positive_rate": label == 0,
        "precision": selected == 1,
    }[rate]
    outcome = label == 1 if rate == "precision" else selected == 1
    return float(trial and outcome), float(trial)


class Literal:
    """Rates of two models in every group with h imaginary rows of either kind, and each row's influence on them."""

    def __init__(self, decisions, model, rates, critical):
        self.h, self.rates = critical**2 / 4, rates
        self.labels, self.codes = decisions.labels.tolist(), decisions.groups.codes.tolist()
        self.names, self.clusters = decisions.groups.names, decisions.clusters
        rows = range(len(self.labels))
        weights = [1.0] * len(rows) if decisions.weights is None else decisions.weights.tolist()
        self.rate, self.size, self.influence = {}, {}, {}
        for place, predictions in enumerate(decisions.predictions[[0, model]].tolist()):
            for rate in rates:
                told = [counts_as(rate, self.labels[row], predictions[row]) for row in rows]
                for group in range(len(self.names)):
                    own = [row for row in rows if self.codes[row] == group and told[row][1]]
                    whole, squares = sum(weights[row] for row in own), sum(weights[row] ** 2 for row in own)
                    scale = whole / squares  # Kish: so many rows of weight 1 tell as much
                    size = scale * whole + 2 * self.h
                    centre = (scale * sum(weights[row] * told[row][0] for row in own) + self.h) / size
                    key = group, place, rate
                    self.rate[key], self.size[key] = centre, size
                    self.influence[key] = {row: scale * weights[row] * (told[row][0] - centre) / size for row in own}

    def limit(self, contrast, critical):
        """Return the lower and the upper limit of a sum of rates, each multiplied by a coefficient."""
        centre = sum(coefficient * self.rate[key] for key, coefficient in contrast)
        variance = self.varied(contrast) + self.imagined(contrast)
        return centre - critical * np.sqrt(variance), centre + critical * np.sqrt(variance)

    def varied(self, contrast):
        sums = {}
        for key, coefficient in contrast:
            for row, influence in self.influence[key].items():
                cluster = row if self.clusters is None else int(self.clusters[row])
                sums[cluster] = sums.get(cluster, 0.0) + coefficient * influence * np.sqrt(self.few(key[0]))
        return sum(one**2 for one in sums.values())

    def few(self, group):
        """Return what a variance is multiplied by that was estimated from the clusters of a group."""
        if self.clusters is None:
            return 1.0
        number = len({int(one) for one, code in zip(self.clusters, self.codes, strict=True) if code == group})
        return number / (number - 1) * (stats.t.ppf(0.975, number - 1) / stats.norm.ppf(0.975)) ** 2

    def alike(self, group):
        """Return the mean, over the rows of a group, of how many of its rows are in a row's cluster."""
        if self.clusters is None:
            return 1.0
        own = [int(one) for one, code in zip(self.clusters, self.codes, strict=True) if code == group]
        return float(np.mean([own.count(one) for one in own]))

    def imagined(self, contrast):
        """Return the variance of imaginary rows: in each group h are outcomes under one model only, h under another."""
        found = 0.0
        for group in range(len(self.names)):
            for rate in self.rates:
                for selecting in (0, 1):
                    moved = sum(
                        coefficient * ((key[1] == selecting) - self.rate[key]) / self.size[key]
                        for key, coefficient in contrast
                        if (key[0], key[2]) == (group, rate)
                    )
                    found += self.h * self.alike(group) * moved**2
        return found

    def contrast(self, chosen, first):
        """Return c_ab(m) - c_pq(1), given the pairs ab and pq, each a rate and two groups."""
        found = {}
        for place, sign, (rate, higher, lower) in ((1, 1.0, chosen), (0, -1.0, first)):
            for name, side in ((higher, sign), (lower, -sign)):
                key = self.names.index(name), place, rate
                found[key] = found.get(key, 0.0) + side
        return list(found.items())

    @property
    def pairs(self):
        return [(rate, a, b) for rate in self.rates for a, b in permutations(self.names, 2)]


def literal_limits(decisions, model, rates, pairs, errors):
    z = stats.norm.isf(errors.fairer)
    found = Literal(decisions, model, rates, z)
    upper = max(found.limit(found.contrast(pair, pairs.first), z)[1] for pair in found.pairs)
    z = stats.norm.isf(errors.less_fair / 2)
    found, (rate, r, s) = Literal(decisions, model, rates, z), pairs.chosen
    lower = max(
        min(found.limit(found.contrast(order, pair), z)[0] for pair in found.pairs)
        for order in ((rate, r, s), (rate, s, r))
    )
    return max(lower, -1.0), min(upper, 1.0)


def weighted(rows, seed=5):
    return np.random.default_rng(seed).lognormal(0, 0.6, rows)


def clustered(rows, size=4, seed=6):
    return np.random.default_rng(seed).integers(0, rows // size, rows)


@pytest.mark.parametrize("gap", RATES)
@pytest.mark.parametrize("sizes", [(90, 60), (70, 60, 50), (40, 60, 50, 70)])
@pytest.mark.parametrize(("has_weights", "has_clusters"), [(False, False), (True, False), (False, True), (True, True)])
def test_limits_are_those_of_the_rule_row_by_row(gap, sizes, has_weights, has_clusters):
    rows = sum(sizes)
    decisions = made(
        len(sizes),
        sizes,
        weights=weighted(rows) if has_weights else None,
        clusters=clustered(rows) if has_clusters else None,
    )
    pairs = fixed_pairs(made(len(sizes) + 20, sizes), 2, gap)
    found = compare_chosen(decisions, 2, gap, pairs, ERRORS)
    expected = literal_limits(decisions, 2, RATES[gap], pairs, ERRORS)
    assert (found.change.lower, found.change.upper) == (pytest.approx(expected[0]), pytest.approx(expected[1]))


@pytest.mark.parametrize("gap", RATES)
def test_the_estimate_is_the_change_of_the_gap_over_all_groups(gap):
    decisions = made(8)
    shares = np.array(
        [
            [
                [
                    np.divide(*np.sum([counts_as(rate, *row) for row in zip(labels, selected, strict=True)], axis=0))
                    for labels, selected in (
                        (decisions.labels[decisions.groups.codes == group], one[decisions.groups.codes == group])
                        for group in range(3)
                    )
                ]
                for rate in RATES[gap]
            ]
            for one in decisions.predictions[[0, 2]]
        ]
    )
    gaps = np.ptp(shares, axis=-1).max(-1)
    found = compare_chosen(decisions, 2, gap, fixed_pairs(decisions, 2, gap), ERRORS)
    assert found.change.estimate == pytest.approx(gaps[1] - gaps[0])


def test_with_two_groups_the_pair_is_the_gap():
    decisions, pair = made(3, (200, 150)), FixedPair("selection_rate", "g1", "g0")
    whole = compare_chosen(decisions, 1, PARITY, FixedPairs(pair, pair), ERRORS)
    alone = compare_pair(decisions, 1, pair, ERRORS)
    assert whole == alone
    assert is_one_pair(decisions, PARITY)
    assert not is_one_pair(decisions, "equalized_odds_difference")


def test_a_pair_is_judged_as_if_there_were_no_other_group():
    decisions, pair = made(3, (200, 150, 90)), FixedPair("selection_rate", "g2", "g0")
    rows = np.flatnonzero(decisions.groups.codes != 1)
    only = Decisions(
        decisions.predictions[:, rows], decisions.labels[rows], Groups(decisions.groups.codes[rows] // 2, ("g0", "g2"))
    )
    assert compare_pair(decisions, 1, pair, ERRORS) == compare_pair(only, 1, pair, ERRORS)
    assert not is_one_pair(decisions, PARITY)


def test_two_groups_have_two_terms():
    """The upper limit is the larger of those of y - x and -y - x, x and y being the differences of both models."""
    decisions, pair = made(4, (200, 150)), FixedPair("selection_rate", "g0", "g1")
    z = stats.norm.isf(ERRORS.fairer)
    literal = Literal(decisions, 1, ("selection_rate",), z)
    x = [((0, 0, "selection_rate"), -1.0), ((1, 0, "selection_rate"), 1.0)]
    y = [((0, 1, "selection_rate"), 1.0), ((1, 1, "selection_rate"), -1.0)]
    minus = [(key, -one) for key, one in y]
    expected = max(literal.limit([*y, *x], z)[1], literal.limit([*minus, *x], z)[1])
    found = compare_chosen(decisions, 1, PARITY, FixedPairs(pair, pair), ERRORS)
    assert found.change.upper == pytest.approx(expected)


@pytest.mark.parametrize("gap", RATES)
@pytest.mark.parametrize("weight", [0.25, 3.0])
def test_equal_weights_are_no_weights(gap, weight):
    plain = made(9)
    alike, pairs = replace(plain, weights=np.full(len(plain.labels), weight)), fixed_pairs(made(10), 1, gap)
    ours, theirs = (compare_chosen(one, 1, gap, pairs, ERRORS).change for one in (alike, plain))
    for end in ("estimate", "lower", "upper"):
        assert getattr(ours, end) == pytest.approx(getattr(theirs, end), abs=1e-12)


@pytest.mark.parametrize("gap", RATES)
def test_clusters_of_one_row_are_hardly_clusters(gap):
    plain = made(11, (500, 400, 600))
    pairs = fixed_pairs(made(12), 1, gap)
    single = replace(plain, clusters=np.arange(len(plain.labels)))
    widths = [width(compare_chosen(one, 1, gap, pairs, ERRORS)) for one in (single, plain)]
    assert widths[1] < widths[0] < 1.01 * widths[1]


@pytest.mark.parametrize("gap", RATES)
def test_rows_told_twice_have_twice_the_variance_as_clusters_of_two(gap):
    once = made(13, (500, 400, 600))
    pair, rows = fixed_pairs(made(14), 1, gap).first, np.repeat(np.arange(len(once.labels)), 2)
    twice = Decisions(once.predictions[:, rows], once.labels[rows], Groups(once.groups.codes[rows], once.groups.names))
    together = replace(twice, clusters=rows)
    own, naive, robust = (variances(one, RATES[gap], pair) for one in (once, twice, together))
    np.testing.assert_allclose(robust / naive, 2.0, rtol=0.02)
    np.testing.assert_allclose(robust / own, 1.0, rtol=0.02)


def variances(decisions, rates, pair, critical=2.0):
    """Return the variance of every contrast of an upper limit."""
    both = PairedRates.of(replace(decisions, predictions=decisions.predictions[:2]), rates, critical)
    lower, upper = both.limits(both.against(pair, is_upper=True), critical)
    return ((upper - lower) / (2 * critical)) ** 2


def width(found):
    return float(found.change.upper - found.change.lower)


def test_a_smaller_error_has_wider_limits_on_its_own_side():
    decisions, pairs = made(15), fixed_pairs(made(16), 1, PARITY)
    plain, surer, safer = (
        compare_chosen(decisions, 1, PARITY, pairs, one).change
        for one in (ERRORS, Errors(0.001, 0.05), Errors(0.02, 0.01))
    )
    assert (surer.upper > plain.upper, surer.lower == plain.lower) == (True, True)
    assert (safer.upper == plain.upper, safer.lower < plain.lower) == (True, True)


def of_rates(*models, rows=1000):
    """Models that select the first rows of every group, in these shares."""
    place = np.tile(np.arange(rows), len(models[0])) / rows
    predictions = np.stack([place < np.repeat(rates, rows) for rates in models])
    return Decisions(
        predictions, np.ones(predictions.shape[1], np.uint8), named(grouped([rows] * len(models[0])), len(models[0]))
    )


@pytest.mark.parametrize(
    ("second", "margin", "verdict"),
    [
        ((0.6, 0.59), 0.0, Verdict.FAIRER),
        ((0.6, 0.2), 0.0, Verdict.LESS_FAIR),
        ((0.6, 0.4), 0.0, Verdict.OPEN),
        ((0.6, 0.4), 0.02, Verdict.SAME),
        ((0.4, 0.6), 0.02, Verdict.OPEN),
        ((1.0, 1.0), 0.0, None),
        ((0.0, 0.0), 0.0, None),
    ],
)
def test_verdicts(second, margin, verdict):
    decisions = of_rates((0.6, 0.4), second)
    pairs = fixed_pairs(of_rates((0.6, 0.4), (0.6, 0.5)), 1, PARITY)
    assert compare_chosen(decisions, 1, PARITY, pairs, ERRORS, margin=margin).verdict is verdict


def test_a_model_that_widens_another_gap_is_not_fairer_over_all_groups():
    """The claim about a pair says nothing of the others, the gap over all groups does."""
    decisions = of_rates((0.7, 0.5, 0.5), (0.6, 0.6, 0.3))
    pairs = FixedPairs(FixedPair("selection_rate", "g0", "g1"), FixedPair("selection_rate", "g0", "g2"))
    assert compare_pair(decisions, 1, pairs.first, ERRORS).verdict is Verdict.FAIRER
    assert compare_chosen(decisions, 1, PARITY, pairs, ERRORS).verdict is Verdict.LESS_FAIR


def test_nothing_is_said_of_a_group_that_is_not_there():
    decisions, pair = made(17), FixedPair("selection_rate", "g0", "nobody")
    found = compare_chosen(decisions, 1, PARITY, FixedPairs(pair, pair), ERRORS)
    assert (found.change.lower, found.change.upper, found.verdict) == (-1.0, 1.0, None)
    assert np.isnan(found.change.estimate)


def newcombe_lower(a, b, z=1.959963984540054):
    """Return Newcombe's lower limit of the difference of two proportions, each given as outcomes and trials."""
    (p, low), (q, high) = (
        (k / n, (k + z**2 / 2 + sign * z * np.sqrt(k * (n - k) / n + z**2 / 4)) / (n + z**2))
        for (k, n), sign in ((a, -1), (b, 1))
    )
    return p - q - np.hypot(p - low, high - q)


@pytest.mark.parametrize("seed", range(12))
def test_the_fixed_pair_is_the_one_of_the_highest_lower_limit(seed):
    decisions = made(seed, (40, 300, 200, 90))
    sizes = np.bincount(decisions.groups.codes)
    for place, pair in zip((0, 2), fixed_pairs(decisions, 2, PARITY), strict=True):
        selected = np.bincount(decisions.groups.codes, decisions.predictions[place])
        limits = {
            (f"g{a}", f"g{b}"): newcombe_lower((selected[a], sizes[a]), (selected[b], sizes[b]))
            for a, b in permutations(range(4), 2)
        }
        assert (pair.higher, pair.lower) == max(limits, key=limits.get)
        assert pair.rate == "selection_rate"


def test_with_a_control_the_pair_is_one_of_the_control():
    decisions = of_rates((0.9, 0.5, 0.2, 0.6), (0.9, 0.5, 0.2, 0.6))
    assert fixed_pairs(decisions, 1, PARITY).first[1:] == ("g0", "g2")
    assert fixed_pairs(decisions, 1, PARITY, "g1").first[1:] == ("g0", "g1")
    assert fixed_pairs(decisions, 1, PARITY, "g3").first[1:] == ("g3", "g2")
    assert fixed_pairs(decisions, 1, PARITY, "nobody").first[1:] == ("g0", "g2")


def test_no_pair_is_fixed_where_a_gap_is_undefined():
    decisions = made(18)
    alone = replace(decisions, groups=Groups(np.zeros(len(decisions.labels), int), ("all",)))
    assert fixed_pairs(alone, 1, PARITY) is None
    nobody = replace(decisions, labels=np.zeros(len(decisions.labels), np.uint8))
    assert fixed_pairs(nobody, 1, "equal_opportunity_difference") is None


def test_the_other_groups_are_watched_against_the_control():
    decisions = of_rates((0.9, 0.5, 0.2, 0.6), (0.9, 0.5, 0.2, 0.6))
    pair = FixedPair("selection_rate", "g0", "g2")
    watched = others_against(decisions, pair, "g0")
    assert watched == [FixedPair("selection_rate", "g0", "g1"), FixedPair("selection_rate", "g0", "g3")]
    assert others_against(decisions, pair, "g2")[1] == FixedPair("selection_rate", "g3", "g2")


def test_the_gap_of_a_pair_is_that_of_its_rates():
    first, chosen = pair_gaps(
        of_rates((0.9, 0.5, 0.2), (0.4, 0.5, 0.45)), 1, FixedPair("selection_rate", "g0", "g2"), 0.95
    )
    assert (first.value, chosen.value) == (pytest.approx(0.7), pytest.approx(0.05))
    assert first.low < 0.7 < first.high
