"""How often the interval of exact ambiguity covers that of the population, and the gap between groups its own.

One machine is trained and stays; its flip prices are found for everybody in a population. Holdouts of several sizes are
drawn from it, and each gives intervals as an audit does.
"""

import numpy as np
import pytest

from fairenum.flips.flip_prices import flip_prices
from fairenum.flips.flippable_rows import flippable_shares
from fairenum.metrics.counts import Decisions
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem
from fairenum.tables.groups import Groups

PEOPLE, DRAWS = 20_000, 2000
TOLERANCES = (0.005, 0.02, 0.05)
NAMES = ("a", "b")


class Population:
    """People on a grid of values, so that many are alike, a third of them in a group that has other values."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.codes = (rng.random(PEOPLE) < 1 / 3).astype(int)
        self.rows = np.round(rng.normal(size=(PEOPLE, 3)) + 0.4 * self.codes[:, None], 0)
        self.labels = (self.rows @ [1.0, 0.7, -0.4] + rng.normal(scale=1.2, size=PEOPLE) > 0.3).astype(int)
        self.weights = np.where(self.codes == 1, 2.0, 1.0) * rng.choice([0.5, 1.5], PEOPLE)
        train = rng.choice(PEOPLE, 150, replace=False)
        problem = SvmProblem(self.rows[train], 2.0 * self.labels[train] - 1.0)
        self.prices = flip_prices(problem, open_workspace("path", problem).solve(), self.rows)

    def measured(self, drawn, is_weighted=False):
        weights = self.weights[drawn] if is_weighted else None
        labels, groups = self.labels[drawn], Groups(self.codes[drawn], NAMES)
        rows = Decisions(labels[None], labels, groups, weights)
        return flippable_shares(rows, self.prices.low[drawn], self.prices.high[drawn], TOLERANCES)


@pytest.fixture(scope="module")
def population():
    return Population(7)


def covered(population, size, *, is_weighted=False):
    """Return how often each interval holds the truth: of everybody, of each group, of the gap; by tolerance."""
    everybody = np.arange(PEOPLE)
    truth = population.measured(everybody, is_weighted)
    rng, holds = np.random.default_rng(size), []
    for _ in range(DRAWS):
        found = population.measured(rng.choice(everybody, size), is_weighted)
        parts = [(found.overall, truth.overall), (found.by_group, truth.by_group), (found.gap, truth.gap)]
        inside = [(one.lower <= true.least) & (true.most <= one.upper) for one, true in parts]
        holds.append(np.column_stack(inside))
    shares = np.mean(holds, axis=0)
    print(f"{size} rows, everybody, groups, gap by tolerance: {shares.round(3).tolist()}")
    return shares


@pytest.mark.parametrize("size", [200, 600, 2000])
def test_intervals_cover_as_often_as_they_say(population, size):
    assert population.prices.is_examined.all()
    shares = population.measured(np.arange(PEOPLE)).overall
    assert (shares.least == shares.most).all()
    assert 0.02 < shares.least[0] < shares.least[-1] < 0.98
    found = covered(population, size)
    assert ((found >= 0.93) & (found <= 0.97)).all()


def test_weighted_rows_are_covered_as_often(population):
    found = covered(population, 600, is_weighted=True)
    assert ((found >= 0.93) & (found <= 0.97)).all()
