"""Limits of the change of a gap between two samples: they cover it, and are seldom beyond 0 where nothing changed."""

import numpy as np
import pytest

from fairenum.auditing.comparing import change_of_gap
from fairenum.metrics import Confusion

pytestmark = pytest.mark.slow
DRAWS, METRIC = 2000, "demographic_parity_difference"


def drawn(rng, rates, rows):
    selected = rng.binomial(rows, rates).astype(float)
    total = np.full(len(rates), float(rows))
    return Confusion(*(np.stack([part, np.zeros(len(rates))], axis=-1)[None] for part in (total, selected)))


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ((0.4, 0.4), (0.4, 0.4), 300),
        ((0.4, 0.3), (0.5, 0.6), 300),
        ((0.4, 0.3), (0.4, 0.2), 1500),
        ((0.4, 0.4, 0.4, 0.4), (0.3, 0.3, 0.3, 0.3), 300),
        ((0.4, 0.3, 0.35, 0.32), (0.3, 0.4, 0.35, 0.38), 300),
        ((0.5, 0.3, 0.3, 0.3), (0.5, 0.45, 0.45, 0.45), 1500),
    ],
)
def test_limits_cover_the_change_and_are_seldom_beyond_0(old, new, rows):
    rng, missed = np.random.default_rng(4), 0
    change = np.ptp(new) - np.ptp(old)
    for _ in range(DRAWS):
        lower, upper = change_of_gap(drawn(rng, old, rows), drawn(rng, new, rows), METRIC, 0.95)
        missed += not lower - 1e-12 <= change <= upper + 1e-12
    assert missed / DRAWS <= 0.065
