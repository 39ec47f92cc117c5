"""How much rows tell that were drawn with labels in the proportions of their table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.metrics import Decisions
from fairenum.metrics.counts import Confusion, confusion
from fairenum.metrics.intervals import FEW_TRIALS, IMAGINARY, effective
from fairenum.metrics.rates import FRACTIONS
from fairenum.tables.groups import Groups

DRAWS = 20_000


def outcome(rate, label, selected):
    """Return which rows are outcomes, and which are trials, of a rate."""
    match rate:
        case "selection_rate":
            return selected, np.ones_like(selected)
        case "accuracy":
            return selected == label, np.ones_like(selected)
        case "precision":
            return label & selected, selected
        case "true_positive_rate":
            return label & selected, label
        case "base_rate":
            return label, np.ones_like(label)
    return ~label & selected, ~label


@settings(deadline=None, max_examples=60)
@given(
    rate=st.sampled_from(sorted(FRACTIONS)),
    rows=st.integers(1, 400),
    share=st.floats(0.01, 0.99),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_rows_are_counted_by_what_varies_within_labels(rate, rows, share, weighted, seed):
    rng = np.random.default_rng(seed)
    label, selected = rng.random((2, rows)) < rng.uniform(0.1, 0.9, (2, 1))
    weights = rng.uniform(0.5, 2.0, rows) if weighted else None
    decisions = Decisions(selected[None], label, Groups.everyone(rows), weights, share)
    plain = effective(rate, confusion(Decisions(selected[None], label, Groups.everyone(rows), weights)))
    outcomes, trials = (float(np.broadcast_to(part, (1, 1))[0, 0]) for part in effective(rate, confusion(decisions)))
    before = float(np.broadcast_to(plain[1], (1, 1))[0, 0])
    if before < FEW_TRIALS:
        assert trials == before
        return
    counting = np.ones(rows) if weights is None else weights
    x, t = outcome(rate, label, selected)
    p = (counting * x).sum() / (counting * t).sum()
    u = counting * (x - p * t)
    within = (u**2).sum()
    for own in (label, ~label):
        within -= (1 - share) * u[own].sum() ** 2 * own.sum() / (own.sum() + IMAGINARY) ** 2
    gained = (u**2).sum() / within if within > 0 else 1.0
    assert outcomes == pytest.approx(p * trials)
    assert trials == pytest.approx(before * gained, rel=1e-6)
    assert before * (1 - 1e-9) <= trials <= before / share * (1 + 1e-9)
    if rate in ("true_positive_rate", "false_positive_rate"):
        assert trials == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("rate", ["selection_rate", "accuracy", "precision"])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_so_many_rows_vary_as_much_as_a_split_in_proportion_does(rate, share):
    """Tables of 5000 rows, of which a share is drawn in proportion to the label."""
    rng = np.random.default_rng(1)
    positives = rng.binomial(5000, 0.3, DRAWS)
    total = np.rint(share * np.stack([5000 - positives, positives], axis=-1))
    selected = rng.binomial(total.astype(int), (0.05, 0.6)).astype(float)
    counts = Confusion(total[:, None, None, :], selected[:, None, None, :], drawn=share)
    outcomes, rows = (np.broadcast_to(part, (DRAWS, 1, 1)).ravel() for part in effective(rate, counts))
    found = outcomes / rows
    assert np.mean(found * (1 - found) / rows) == pytest.approx(found.var(), rel=0.04)
    naive = FRACTIONS[rate](counts)[1].mean()
    assert rows.mean() > 1.05 * naive  # else there would be nothing to tell
