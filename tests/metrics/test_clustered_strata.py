"""Inflation within strata against numerical derivatives, sums over clusters by hand, and repeated rows."""

import numpy as np
import pytest
from scipy import stats

from fairenum.metrics.clustered_strata import PairRows, strata_inflation
from fairenum.metrics.strata import StratifiedPair, common_difference, common_odds, divided_difference

STRATA = 4


def made(seed=0, people=60):
    """Rows of persons in one or both groups, in several strata."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, people, 400)
    leaning = rng.normal(size=people)[clusters]
    strata, is_reference = rng.integers(0, STRATA, 400), rng.random(400) < 0.4
    selected = (leaning + rng.normal(size=400) + 0.3 * strata - 0.2 * is_reference > 0.4).astype(np.uint8)
    return PairRows(strata, is_reference, selected, clusters)


def pair_of(rows, weights=None):
    weights = np.ones(len(rows.strata)) if weights is None else weights

    def counted(mask):
        return np.bincount(rows.strata[mask], weights[mask], STRATA)

    own, taken = ~rows.is_reference, rows.selected > 0
    return StratifiedPair(
        counted(own & taken), counted(own), counted(rows.is_reference & taken), counted(rows.is_reference)
    )


def values(pair):
    parts = divided_difference(pair, 0.95)
    return np.array(
        [
            float(common_difference(pair, 0.95).estimate),
            np.log(common_odds(pair, 0.95).ratio),
            float(parts.within.estimate),
            float(parts.composition.estimate),
        ]
    )


def influences(rows):
    """Return the derivatives of all four estimates by the weight of each row, by central differences."""
    found = []
    for row in range(len(rows.strata)):
        ends = []
        for step in (1e-4, -1e-4):
            weights = np.ones(len(rows.strata))
            weights[row] += step
            ends.append(values(pair_of(rows, weights)))
        found.append((ends[0] - ends[1]) / 2e-4)
    return np.array(found).T


def test_the_inflation_is_that_of_numerical_influences():
    rows = made()
    found, influence = strata_inflation(pair_of(rows), rows), influences(rows)
    sizes = np.bincount(rows.clusters)
    number = min(len(set(rows.clusters[rows.is_reference == side])) for side in (True, False))
    few = number / (number - 1) * (stats.t.ppf(0.975, number - 1) / stats.norm.ppf(0.975)) ** 2
    for own, factor in zip(influence, found, strict=True):
        together = sum(own[rows.clusters == one].sum() ** 2 for one in set(rows.clusters.tolist())) * few
        imaginary = (own**2).max()
        alike = (sizes**2).sum() / sizes.sum()
        expected = (together + imaginary * alike) / ((own**2).sum() + imaginary)
        assert factor == pytest.approx(expected, rel=1e-5)


def test_rows_of_their_own_hardly_inflate_and_repeated_ones_do_so_by_their_number():
    rows = made(1)._replace(clusters=np.arange(400))
    assert strata_inflation(pair_of(rows), rows) == pytest.approx([1.0] * 4, abs=0.03)
    often = PairRows(*(np.repeat(part, 5) for part in rows))
    assert strata_inflation(pair_of(often), often) == pytest.approx([5.0] * 4, rel=0.03)


def test_strata_of_one_group_count_for_nothing():
    rows = made(2)
    apart = PairRows(
        np.append(rows.strata, [3] * 9),
        np.append(rows.is_reference, [False] * 9),
        np.append(rows.selected, [1] * 9).astype(np.uint8),
        np.append(rows.clusters, [0] * 9),
    )
    kept = apart.strata != 3
    without = PairRows(*(part[kept] for part in apart))
    lonely = apart._replace(is_reference=apart.is_reference & kept)
    assert strata_inflation(pair_of(lonely), lonely) == pytest.approx(strata_inflation(pair_of(without), without))
    nobody = without._replace(is_reference=np.zeros(len(without.strata), bool))
    assert strata_inflation(pair_of(nobody), nobody) == (1.0, 1.0, 1.0, 1.0)
