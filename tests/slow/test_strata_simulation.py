"""Limits of differences within strata, and of the parts of a raw difference, cover the truth in simulations."""

import numpy as np
import pytest

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
