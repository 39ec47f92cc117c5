"""Whose labels are flipped: against scikit-learn, brute force and linear programming as oracles."""

from dataclasses import replace
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC
from support.problems import scene
from support.stand_ins import Entry

from fairenum import load_dataset
from fairenum.attack import list_strategies, simulate
from fairenum.attack.strategies import (
    STRATEGIES,
    alfa,
    greedy_parity,
    group,
    margin_far,
    margin_near,
    paper,
    random,
    rows_to_flip,
    support,
)
from fairenum.errors import BudgetExceeded, StrategyBroken, StrategyConflict, StrategyNotFound

SEEDS = range(6)


def svc(one, y=None):
    """Train scikit-learn's SVC on a scene, as tightly as it reliably can."""
    names = ("C", "kernel", "gamma", "degree", "coef0")
    svm = SVC(**{name: getattr(one.svm, name) for name in names}, tol=1e-6)
    return svm.fit(one.train.X, one.train.y if y is None else y)


def gap(one, values):
    codes = one.watched.groups.codes
    return abs((values[codes == 0] >= 0).mean() - (values[codes == 1] >= 0).mean())


def possible_gaps(one, values):
    """Return the gap, or all that there may be where decisions are too close to call for scikit-learn."""
    close = np.flatnonzero(np.abs(values) < 1e-4)
    settled = [values.copy() for _ in range(2 ** len(close))]
    for some, signs in zip(settled, product((-1.0, 1.0), repeat=len(close)), strict=True):
        some[close] = signs
    return [gap(one, some) for some in settled]


def flipped(one, rows):
    y = one.train.y.copy()
    y[rows] *= -1
    return y


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strategy", [paper, random, group, margin_near, margin_far, support, greedy_parity, alfa])
def test_every_strategy_flips_as_many_rows_as_asked_and_the_same_ones_again(strategy, seed):
    one = scene(seed, kind="hypercube" if seed % 2 else "continuous")
    rows = rows_to_flip(strategy.__name__, strategy, one, 3)
    assert len(set(rows.tolist())) == 3
    assert strategy(one, 3).tolist() == rows.tolist()
    assert rows_to_flip(strategy.__name__, strategy, one, 0).size == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_paper_and_group_flip_against_the_target(seed):
    one = scene(seed)
    for row in paper(one, 5):
        assert one.train.y[row] == (1 if one.train.groups.codes[row] == 1 else -1)
    rows = group(one, 3)
    assert (one.train.groups.codes[rows] == 1).all()
    assert (one.train.y[rows] == 1).all()
    rows = group(replace(one, direction=1), 3)
    assert (one.train.groups.codes[rows] == 1).all()
    assert (one.train.y[rows] == -1).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strategy", [random, margin_near, margin_far, support, greedy_parity, alfa])
def test_a_direction_is_kept(strategy, seed):
    for direction in (-1, 1):
        one = scene(seed, direction=direction)
        assert (one.train.y[strategy(one, 3)] == -direction).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_margins_and_support_are_those_of_scikit_learn(seed, kernel):
    one = scene(seed, kernel=kernel)
    svm = svc(one)
    distances = np.abs(svm.decision_function(one.train.X))
    free = (np.abs(distances - 1) > 1e-4) & (distances > 1e-4)  # rows on the margin are tied
    order = np.argsort(distances)
    for strategy, expected in ((margin_near, order), (margin_far, order[::-1])):
        rows = strategy(one, 4)
        clear = [row for row in expected[:4] if free[row]]
        assert set(clear) <= set(rows.tolist())
        np.testing.assert_allclose(np.sort(distances[rows]), np.sort(distances[expected[:4]]), atol=1e-4)
    assert set(support(one, 4).tolist()) <= set(svm.support_.tolist())


def test_chance_reaches_every_candidate():
    one = scene(0)
    allowed = {int(row) for row in np.flatnonzero((one.train.groups.codes == 1) == (one.train.y > 0))}
    reached = {int(row) for seed in range(60) for row in paper(replace(one, seed=seed), 2)}
    assert reached == allowed
    nested = [set(paper(one, budget).tolist()) for budget in range(len(allowed) + 1)]
    assert all(small < large for small, large in pairwise(nested))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sees", ["train", "audit"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_first_greedy_flip_is_the_best_of_all(seed, sees, kernel):
    """Brute force: train scikit-learn's SVC under every single flip."""
    one = scene(seed, n=20, kernel=kernel, sees=sees)
    gaps = [possible_gaps(one, svc(one, flipped(one, [row])).decision_function(one.watched.X)) for row in range(20)]
    (chosen,) = greedy_parity(one, 1)
    assert max(gaps[chosen]) >= max(min(some) for some in gaps) - 1e-12
    assert sum(len(some) > 1 for some in gaps) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_more_greedy_flips_do_not_lower_the_gap_that_the_attacker_sees(seed):
    one = scene(seed, n=30)
    gaps = [
        gap(one, one.fit(flipped(one, greedy_parity(one, budget))).decision_function(one.train.X))
        for budget in (0, 1, 4)
    ]
    assert gaps[0] <= gaps[1]
    assert gaps[0] < gaps[2] or gaps[0] == 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_alfa_ends_where_no_other_flips_are_better(seed):
    """Given the machine trained under its flips, they solve the linear programme of the paper."""
    one, budget = scene(seed, n=20), 4
    rows = alfa(one, budget)
    trained, clean = svc(one, flipped(one, rows)), svc(one)
    price = regret(one, trained) - regret(one, clean)
    best = linprog(price, A_eq=np.ones((1, 20)), b_eq=[budget], bounds=(0.0, 1.0))
    assert price[rows].sum() == pytest.approx(best.fun, abs=1e-4)


def regret(one, svm):
    values = one.train.y * svm.decision_function(one.train.X)
    return np.maximum(0, 1 + values) - np.maximum(0, 1 - values)


def test_alfa_harms_accuracy_more_than_chance():
    errors = {"alfa": [], "random": []}
    for seed in range(20):
        one = scene(seed, n=40)
        separable = replace(one, train=replace(one.train, y=np.where(one.train.X.sum(1) > 0.5, 1.0, -1.0)))
        for name, strategy in (("alfa", alfa), ("random", random)):
            decided = svc(separable, flipped(separable, strategy(separable, 10))).predict(separable.train.X)
            errors[name].append((decided != separable.train.y).mean())
    assert np.mean(errors["alfa"]) > np.mean(errors["random"]) + 0.05


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (paper, "rows whose label speaks against the prejudice"),
        (group, "rows of that group to flip in that direction"),
        (support, "support vectors to flip in that direction"),
        (random, "rows to flip in that direction"),
        (greedy_parity, "rows to flip in that direction"),
        (alfa, "rows to flip in that direction"),
        (margin_near, "rows to flip in that direction"),
    ],
)
def test_more_flips_than_candidates_are_refused_with_their_number(strategy, words):
    one = scene(3, direction=-1)
    with pytest.raises(
        BudgetExceeded, match=rf"25 flips were asked for, but this draw has \d+ {words} among its 24"
    ) as caught:
        strategy(one, 25)
    there_are = int(str(caught.value).rpartition(" ")[2])
    assert len(strategy(one, there_are)) == there_are
    with pytest.raises(BudgetExceeded):
        strategy(one, there_are + 1)


def test_the_bundled_strategies_are_found():
    bundled = {"alfa", "greedy_parity", "group", "margin_far", "margin_near", "paper", "random", "support"}
    assert bundled <= set(list_strategies())
    assert STRATEGIES.load("paper") is paper


def test_foreign_strategies_are_found_and_broken_ones_named():
    entry = Entry("first_rows", lambda one, budget: np.arange(budget))
    assert rows_to_flip("first_rows", STRATEGIES.load("first_rows", [entry]), scene(0), 3).tolist() == [0, 1, 2]
    twin = Entry("first_rows", None, SimpleNamespace(name="zeta", version="1"))
    with pytest.raises(StrategyConflict, match="attack strategy 'first_rows' is provided by acme-solvers and by zeta"):
        STRATEGIES.load("first_rows", [entry, twin])
    with pytest.raises(StrategyBroken, match="is no attack strategy plugin: it is no function of a scene and a budget"):
        STRATEGIES.load("first_rows", [Entry("first_rows", 7)])
    with pytest.raises(StrategyNotFound, match="no attack strategy is called 'papr'; did you mean 'paper'"):
        STRATEGIES.load("papr")


@pytest.mark.parametrize("answer", [[0, 0, 1], [0, 1], [0.5, 1.0, 2.0], [[0, 1, 2]], [0, 1, 24], [-1, 0, 1], None])
def test_an_answer_that_is_no_set_of_rows_is_refused(answer):
    with pytest.raises(StrategyBroken, match="attack strategy 'bad'"):
        rows_to_flip("bad", lambda *_: answer, scene(0), 3)


def test_a_strategy_that_raises_fails_its_own_attack_alone(monkeypatch):
    def moody(one, budget):
        if one.seed % 2:
            raise RuntimeError("not today")
        return np.arange(budget)

    load = type(STRATEGIES).load
    monkeypatch.setattr(type(STRATEGIES), "load", lambda self, name, *_: moody if name == "moody" else load(self, name))
    options = {"strategies": ("moody", "random"), "flips": 3, "trials": 4, "sizes": (60, 0, 40), "k": 2, "seed": 10}
    attack = simulate(load_dataset("german"), **options).attack
    assert [(failure.seed, failure.strategy, failure.message) for failure in attack.failures] == [
        (11, "moody", "RuntimeError: not today"),
        (13, "moody", "RuntimeError: not today"),
    ]
    assert [curve.points[0].trials for curve in attack.curves] == [2, 4]


def test_greedy_flips_raise_the_gap_at_least_as_much_as_the_papers():
    """A few draws of the paper's set-up; tests/slow has 200."""
    options = {"sizes": (100, 0, 50), "flips": 10, "standardise": False, "rows": True, "trials": 6, "k": 1}
    table = load_dataset("compas", use_sensitive=True, incumbent="none")
    for record in simulate(table, strategies=("paper", "greedy_parity"), **options).records:
        by_paper, greedy = record.attacks
        assert greedy.train_gap >= by_paper.train_gap
