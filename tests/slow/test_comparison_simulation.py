"""Limits of the change of a gap between two samples: they cover it, and are seldom beyond 0 where nothing changed."""

import numpy as np
import pytest

from fairenum.auditing.comparing import change_of_gap
from fairenum.metrics import Confusion, Decisions
from fairenum.metrics.rates import counted
from fairenum.tables.groups import Groups

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


def clustered(rng, kind):
    """Decisions with clusters and without any change: of people with eight rows each, or of officers of both groups."""
    number, rows = (150, 8) if kind == "people" else (60, 20)
    own = rng.normal(size=(number, 2))
    if kind == "people":
        codes, leaning = np.repeat(rng.integers(0, 2, (number, 1)), rows, axis=1), own[:, :1]
    else:
        codes = rng.integers(0, 2, (number, rows))
        leaning = 0.3 * own[:, :1] + 0.8 * own[:, 1:] * (2 * codes - 1)
    decided = leaning + rng.normal(size=codes.shape) > 0.2
    clusters = np.repeat(np.arange(number), rows)
    return Decisions(
        decided.reshape(1, -1).astype(int),
        np.zeros(codes.size, int),
        Groups(codes.ravel(), ("a", "b")),
        None,
        1.0,
        clusters,
    )


@pytest.mark.parametrize("kind", ["people", "officers"])
def test_clusters_give_no_more_false_verdicts(kind):
    rng, false = np.random.default_rng(6), 0
    for _ in range(600):
        lower, upper = change_of_gap(*(counted(clustered(rng, kind)) for _ in range(2)), METRIC, 0.95)
        false += not lower <= 0.0 <= upper
    assert false / 600 <= 0.065
