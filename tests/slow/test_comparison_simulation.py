"""Verdicts on two samples: seldom false where nothing changed, limits that cover, and power."""

import numpy as np
import pandas as pd
import pytest

from fairenum import compare, measure

pytestmark = pytest.mark.slow
DRAWS = 300


def drawn(rng, rates, rows):
    frame = pd.DataFrame({"race": list("abcde")[: len(rates)], "n": rows, "selected": rng.binomial(rows, rates)})
    return measure(frame, counts=True)


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
def test_limits_cover_the_change_and_verdicts_are_seldom_false(old, new, rows):
    rng, missed, false = np.random.default_rng(4), 0, 0
    change = np.ptp(new) - np.ptp(old)
    for _ in range(DRAWS):
        gap = compare(drawn(rng, old, rows), drawn(rng, new, rows)).document.gaps[0]
        missed += not gap.change.low <= change <= gap.change.high
        false += (gap.verdict == "widened" and change <= 1e-12) or (gap.verdict == "narrowed" and change >= -1e-12)
    assert missed / DRAWS <= 0.075
    assert false / DRAWS <= 0.06
