"""How often a strip of verdicts says something false, how often a claim is shown, and what intervals cover.

The figures are those of docs/statistics.md. A share of 300 runs has a standard error of about 0.013 at 0.05, so the
bounds allow for three of them above the stated error.
"""

import numpy as np
import pytest
from support.simulation.families import Population, coverage, false_share, power

RUNS = 300
ROWS = 2000
ALLOWED = 0.05 + 3 * np.sqrt(0.05 * 0.95 / RUNS)
SHARES = {
    2: (0.85, 0.15),
    3: (0.7, 0.2, 0.1),
    5: (0.4, 0.25, 0.17, 0.1, 0.08),
    8: (0.3, 0.2, 0.15, 0.1, 0.08, 0.07, 0.05, 0.05),
}
ROWS_COME = {
    "independent": {},
    "clusters": {"largest": 10},
    "clusters across groups": {"largest": 10, "is_spread": True},
    "weights": {"is_weighted": True},
    "weights and clusters": {"largest": 5, "is_weighted": True},
}


def spread(groups: int, gap: float, centre: float = 0.45) -> tuple[float, ...]:
    return tuple(centre + gap * place for place in np.linspace(0.5, -0.5, groups))


@pytest.mark.parametrize("how", ROWS_COME)
@pytest.mark.parametrize("groups", SHARES)
@pytest.mark.parametrize("gap", [0.0, 0.15])
def test_nothing_false_is_said_of_models_with_the_same_gaps(groups, how, gap):
    rates = spread(groups, gap)
    population = Population(rates, rates, SHARES[groups], **ROWS_COME[how])
    assert false_share(population, ROWS, RUNS) <= ALLOWED


@pytest.mark.parametrize("groups", [3, 5])
def test_nothing_false_is_said_where_the_extremes_are_tied(groups):
    rates = (0.5, 0.5, *(0.4,) * (groups - 2))
    population = Population(rates, rates, tuple([1 / groups] * groups))
    assert false_share(population, ROWS, RUNS) <= ALLOWED


@pytest.mark.parametrize("rows", [800, 2400, 6000])
def test_the_claim_among_five_groups_is_shown_nearly_as_often_as_for_a_pair_fixed_beforehand(rows):
    population = Population(spread(5, 0.18, 0.5), spread(5, 0.07, 0.5), SHARES[5])
    claim, fixed = power(population, rows, RUNS)
    assert claim >= 0.9 * fixed
    assert claim >= {800: 0.08, 2400: 0.6, 6000: 0.95}[rows]


@pytest.mark.parametrize("how", ROWS_COME)
@pytest.mark.parametrize(("rows", "groups"), [(600, 2), (2000, 2), (2000, 3)])
def test_intervals_cover_the_truth_as_often_as_stated(rows, groups, how):
    rates = spread(groups, 0.2)
    population = Population(rates, rates, tuple([1 / groups] * groups), **ROWS_COME[how])
    found = coverage(population, rows, 600)
    margin = 3 * np.sqrt(0.95 * 0.05 / 600)
    assert 0.95 - margin <= found["rate"] <= 0.97 + margin
    assert 0.95 - margin <= found["gap"]
