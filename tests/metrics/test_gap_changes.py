"""The limits of changes of gaps against the rules written out by hand."""

import numpy as np
import pytest
from scipy import stats
from support.oracles import literal_rules
from support.simulation.known_gaps import PARITY, decided, grouped, named

from fairenum.metrics.changes import Criticals, bonferroni_criticals, change_limits, difference_limits
from fairenum.metrics.claims import Errors, FixedPair, FixedPairs, compare_chosen
from fairenum.metrics.comparison import compare
from fairenum.metrics.counts import Decisions


@pytest.mark.parametrize("sizes", [(250, 250), (900, 70), (60, 100, 80), (40, 50, 60, 70, 300)])
@pytest.mark.parametrize("critical", [1.96, 3.1])
def test_at_one_critical_value_limits_are_those_of_the_literal_rule(sizes, critical):
    rng, codes = np.random.default_rng(len(sizes)), grouped(sizes)
    predictions = decided(rng, rng.normal(size=(6, 1)) + rng.normal(size=len(sizes))[codes] / 2, 0.8)
    decisions = Decisions(predictions, np.ones(len(codes), dtype=np.uint8), named(codes, len(sizes)))
    present = np.ones(len(sizes), dtype=bool)
    moved = difference_limits(decisions, ("selection_rate",), present, Criticals(*[critical] * 5))
    lower, upper = change_limits(moved, present, single=False)
    low, high = literal_rules.together_limits(literal_rules.Sample.of(predictions, codes), critical)
    np.testing.assert_allclose(lower[1:], low[1:], atol=1e-12)
    np.testing.assert_allclose(upper[1:], high[1:], atol=1e-12)


@pytest.mark.parametrize(("groups", "rates", "models"), [(3, 1, 1), (5, 1, 49), (2, 2, 9), (8, 2, 200)])
def test_shares_of_the_error_add_up_to_that_of_one_side(groups, rates, models):
    found = bonferroni_criticals(0.9, groups, rates, models)
    own = models * sum(stats.norm.sf(value) for value in (found.change, found.total, found.level))
    for value, times in ((found.first, 1), (found.least, models)):
        beyond = stats.studentized_range.sf(value * np.sqrt(2), groups, np.inf)
        assert own + times * rates * beyond == pytest.approx(0.05, rel=1e-3)


@pytest.fixture
def five() -> Decisions:
    rng, codes = np.random.default_rng(2), grouped((300, 200, 250, 220, 260))
    predictions = decided(rng, np.array([[0.5], [0.4]]) + np.linspace(-0.3, 0.3, 5)[codes], 0.9)
    return Decisions(predictions, np.ones(len(codes), dtype=np.uint8), named(codes, 5))


def test_a_table_of_two_models_shares_the_error_without_a_bootstrap(five):
    table = compare(five, PARITY, np.random.default_rng(2)).gap_change[1]
    present = np.ones(5, dtype=bool)
    moved = difference_limits(five, ("selection_rate",), present, bonferroni_criticals(0.95, 5, 1))
    lower, upper = change_limits(moved, present, single=False)
    assert (table.lower, table.upper) == (lower[1], upper[1])


def test_pairs_fixed_before_say_more_than_a_table_of_two_models(five):
    table = compare(five, PARITY, np.random.default_rng(2)).gap_change[1]
    pairs = FixedPairs(*[FixedPair("selection_rate", "g0", "g4")] * 2)
    alone = compare_chosen(five, 1, PARITY, pairs, Errors(0.025, 0.025)).change
    assert alone.estimate == table.estimate
    assert table.lower < alone.lower < alone.estimate < alone.upper < table.upper
