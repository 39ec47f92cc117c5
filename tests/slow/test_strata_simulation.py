"""Limits of differences within strata, and of the parts of a raw difference, cover the truth in simulations."""

import numpy as np
import pytest

from fairenum.metrics.clustered_strata import PairRows, strata_inflation
from fairenum.metrics.strata import StratifiedPair, common_difference, common_odds, divided_difference

pytestmark = pytest.mark.slow
SHARES = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
RATES = np.array([0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
EFFECTS = np.array([0.05, 0.0, 0.1, 0.05, 0.0, 0.1])
DRAWS = 4000


def drawn(rng, rows, reference_rows, rates, reference_rates):
    own, other = rng.multinomial(rows, SHARES), rng.multinomial(reference_rows, SHARES[::-1])
    counts = (rng.binomial(own, rates), own, rng.binomial(other, reference_rates), other)
    return StratifiedPair(*(part.astype(float) for part in counts))


@pytest.mark.parametrize("rows", [(120, 240), (600, 1200), (150, 3000)])
def test_limits_cover_what_they_are_about(rows):
    rng, hits = np.random.default_rng(3), np.zeros(4)
    v, w, r, q = SHARES, SHARES[::-1], RATES, RATES + EFFECTS
    within, composition = ((v + w) / 2 * (r - q)).sum(), ((v - w) * (r + q) / 2).sum()
    for _ in range(DRAWS):
        found = divided_difference(drawn(rng, *rows, r, q), 0.95)
        even = drawn(rng, *rows, r, r + 0.05)
        odds = r / (1 - r) * 1.5
        common, ratio = common_difference(even, 0.95), common_odds(drawn(rng, *rows, odds / (1 + odds), r), 0.95)
        hits += (
            found.within.lower <= within <= found.within.upper,
            found.composition.lower <= composition <= found.composition.upper,
            common.lower <= -0.05 <= common.upper,
            ratio.lower <= 1.5 <= ratio.upper,
        )
    assert (hits / DRAWS > 0.93).all()
    assert (hits / DRAWS < 0.985).all()


def clustered(rng, kind, number):
    """Rows of people in one group each, or of officers who decide about both; strata have different rates."""
    sizes = rng.integers(1, 9, number)
    clusters = np.repeat(np.arange(number), sizes)
    own = rng.normal(size=(number, 2))
    side = np.repeat(rng.random(number) < 0.4, sizes) if kind == "people" else rng.random(len(clusters)) < 0.4
    strata = rng.choice(3, len(clusters), p=[0.5, 0.3, 0.2])
    leaning = own[clusters, 0] + (0.7 * own[clusters, 1] * side if kind == "officers" else 0.0)
    selected = leaning + rng.normal(size=len(clusters)) + np.array([0.0, 0.4, -0.3])[strata] + 0.2 * side > 0.3
    return PairRows(strata, side, selected.astype(np.uint8), clusters)


def counted(rows):
    parts = (
        rows.selected * ~rows.is_reference,
        ~rows.is_reference,
        rows.selected * rows.is_reference,
        rows.is_reference,
    )
    return StratifiedPair(*(np.bincount(rows.strata, part, 3).astype(float) for part in parts))


@pytest.mark.parametrize(("kind", "number"), [("people", 60), ("people", 300), ("officers", 60)])
def test_limits_with_clusters_cover_what_they_are_about(kind, number):
    rng, hits = np.random.default_rng(7), np.zeros((2, 4))
    whole = counted(clustered(rng, kind, 200_000))
    parts = divided_difference(whole, 0.95)
    truth = (
        float(common_difference(whole, 0.95).estimate),
        common_odds(whole, 0.95).ratio,
        float(parts.within.estimate),
        float(parts.composition.estimate),
    )
    for _ in range(1500):
        rows = clustered(rng, kind, number)
        pair = counted(rows)
        for place, inflation in enumerate((strata_inflation(pair, rows), None)):
            odds, own = common_odds(pair, 0.95, inflation), divided_difference(pair, 0.95, inflation)
            limits = (common_difference(pair, 0.95, inflation), odds, own.within, own.composition)
            hits[place] += [one.lower <= value <= one.upper for one, value in zip(limits, truth, strict=True)]
    assert (hits[0] / 1500 > 0.93).all()
    assert kind == "officers" or hits[1].min() / 1500 < 0.8  # as if rows were independent
