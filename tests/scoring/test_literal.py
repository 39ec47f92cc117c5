"""The limits of changes of gaps against the rules written out by hand."""

import literal
import numpy as np
import pytest
from simulated import decided, grouped, named

from fairenum.scoring.changes import Criticals, change_limits, movement
from fairenum.scoring.counts import Decisions


@pytest.mark.parametrize("sizes", [(250, 250), (900, 70), (60, 100, 80), (40, 50, 60, 70, 300)])
@pytest.mark.parametrize("critical", [1.96, 3.1])
def test_at_one_critical_value_limits_are_those_of_the_literal_rule(sizes, critical):
    rng, codes = np.random.default_rng(len(sizes)), grouped(sizes)
    predictions = decided(rng, rng.normal(size=(6, 1)) + rng.normal(size=len(sizes))[codes] / 2, 0.8)
    decisions = Decisions(predictions, np.ones(len(codes), dtype=np.uint8), named(codes, len(sizes)))
    present = np.ones(len(sizes), dtype=bool)
    moved = movement(decisions, ("selection_rate",), present, Criticals(*[critical] * 4))
    lower, upper = change_limits(moved, present, single=False)
    low, high = literal.together_limits(literal.Sample.of(predictions, codes), critical)
    np.testing.assert_allclose(lower[1:], low[1:], atol=1e-12)
    np.testing.assert_allclose(upper[1:], high[1:], atol=1e-12)
