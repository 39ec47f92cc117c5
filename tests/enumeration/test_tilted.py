"""Tilted machines: their loss and difference written out, their answers against other planes, their promises."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fairenum.document.guards import Guard
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.model import Model, model_of
from fairenum.enumeration.tilted import MOST_AXES, TiltedSearch, tilt_axes, tilted_problem
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import AnswerRefused
from fairenum.metrics import Groups
from fairenum.metrics.operating_point import OperatingPoint
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import Kernel, SvmProblem

PARITY, OPPORTUNITY, ODDS, PRECISION = (
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "predictive_parity_difference",
)
KERNELS = (Kernel(), Kernel("rbf", 0.5), Kernel("poly", 0.5, 2, 1.0))
path = partial(open_workspace, "path")


def drawn(n: int, seed: int, digits: int = 6) -> EncodedRows:
    """Rows in which a proxy of the group has a say; few digits make many ties."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, n)
    X = np.column_stack([rng.normal(size=n), rng.normal(size=n) + 1.2 * codes]).round(digits)
    y = np.where(X.sum(1) + 0.8 * rng.normal(size=n) > 0.6, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return EncodedRows(X, y, Groups(codes, ("a", "b")))


def posed(rows: EncodedRows, seed: int = 0, kernel: Kernel | None = None) -> SvmProblem:
    """A machine whose examples cost differently, and stand for several records."""
    rng = np.random.default_rng(seed)
    return SvmProblem(rows.X, rows.y, rng.choice([0.5, 2.0], len(rows)), rng.integers(1, 3, len(rows)), kernel)


def searched(problem: SvmProblem, rows: EncodedRows, metric: str = PARITY, **options) -> TiltedSearch:
    return started(path, problem, Watched(rows, metric), **options)


def started(opened, problem: SvmProblem, watched: Watched, **options) -> TiltedSearch:
    """Return a search along the widest difference between groups of the watched rows."""
    best = path(problem).solve()
    first = model_of(problem, best, 1, best.certificate.objective)
    axes = tilt_axes(watched, watched.rows, watched.values_of(first), problem.kernel)
    return TiltedSearch(opened, problem, best, watched, axes[0] if axes else None, **options)


@st.composite
def settings_of_a_search(draw) -> tuple[SvmProblem, EncodedRows, str]:
    seed, digits = draw(st.integers(0, 10**6)), draw(st.sampled_from([0, 1, 6]))
    problem = posed(drawn(draw(st.integers(8, 40)), seed, digits), seed, draw(st.sampled_from(KERNELS)))
    return problem, drawn(40, seed + 1, digits), draw(st.sampled_from([PARITY, OPPORTUNITY, ODDS]))


def plane_norm(model: Model) -> float:
    """The squared length of the plane in the features of the kernel."""
    rows, weights = model.expansion
    return float(weights @ model.problem.kernel(rows, rows) @ weights)


def loss(model: Model, problem: SvmProblem) -> float:
    slack = np.maximum(0.0, 1.0 - problem.y * model.decision_function(problem.X))
    return 0.5 * plane_norm(model) + float(problem.upper @ slack)


def difference(model: Model, rows: EncodedRows) -> float:
    """Mean decision value of one group minus that of the other, over the rows that the rate is about."""
    axis = model.tilt.axis
    labels = {"selection_rate": (0, 1), "true_positive_rate": (1,), "false_positive_rate": (0,)}[axis.rate]
    values, means = model.decision_function(rows.X), []
    for name in axis.groups:
        chosen = np.isin(rows.labels, labels) & (rows.groups.codes == rows.groups.names.index(name))
        means.append(np.average(values[chosen], weights=rows.counting[chosen]))
    return float(means[0] - means[1])


@settings(max_examples=40)
@given(settings_of_a_search())
def test_what_a_tilted_model_loses_and_gives_is_what_it_says(setting):
    problem, rows, metric = setting
    search = searched(problem, rows, metric)
    found = list(search)
    least = search.best.certificate.objective
    for one in found:
        assert (1.0 + one.model.loss_ratio) * least == pytest.approx(loss(one.model, problem), rel=1e-6)
        assert one.model.loss_ratio <= search.rise + 1e-9
        assert one.model.left_out == {}
        values = one.model.decision_function(rows.X)
        assert one.gap == pytest.approx(rows.gaps(values[None], metric)[0], nan_ok=True)
    models = sorted((one.model for one in found), key=lambda model: model.tilt.price)
    for cheap, dear in pairwise(models):
        assert cheap.loss_ratio <= dear.loss_ratio + 1e-7
        assert difference(cheap, rows) >= difference(dear, rows) - 1e-6


@settings(max_examples=25)
@given(settings_of_a_search(), st.integers(0, 10**6))
def test_no_other_plane_pays_less(setting, seed):
    """P + v z of a solved model against planes near and far, with weights on any rows and any bias."""
    problem, rows, metric = setting
    rng = np.random.default_rng(seed)
    proven = [one.model for one in searched(problem, rows, metric) if one.model.certificate.relative_gap <= 1e-9]
    for model in proven[:4]:
        own = loss(model, problem) + model.tilt.price * difference(model, rows)
        for scale in (1e-3, 1e-1, 1.0):
            other = replace(model, alpha=model.alpha + scale * rng.normal(size=problem.size), certificate=_moved(model))
            assert own <= loss(other, problem) + model.tilt.price * difference(other, rows) + 1e-6 * abs(own)


def _moved(model: Model):
    return model.certificate.moved(0.01)


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_that_of_a_general_optimiser(seed):
    rows = drawn(14, seed)
    problem = posed(rows, seed)
    watched = drawn(60, seed + 10)
    model = next(one.model for one in searched(problem, watched) if one.model.certificate.relative_gap <= 1e-9)
    d, price = model.tilt.axis.direction.rows[0], model.tilt.price
    n, start = problem.size, np.concatenate([np.zeros(3), np.full(problem.size, 2.0)])
    found = minimize(
        lambda at: 0.5 * at[:2] @ at[:2] + problem.upper @ at[3:] + price * (at[:2] @ d),
        start,
        bounds=[(None, None)] * 3 + [(0.0, None)] * n,
        constraints={"type": "ineq", "fun": lambda at: at[3:] - 1.0 + problem.y * (problem.X @ at[:2] + at[2])},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    own = loss(model, problem) + price * difference(model, watched)
    assert own == pytest.approx(found.fun, rel=1e-6)
    assert model.decision_function(watched.X) == pytest.approx(watched.X @ found.x[:2] + found.x[2], abs=1e-2)


def test_another_solver_gives_the_same_models():
    rows = drawn(60, 1)
    problem, watched = posed(rows), Watched(drawn(80, 2), PARITY)
    ours = list(started(path, problem, watched))
    theirs = list(started(partial(open_workspace, "osqp"), problem, watched))
    assert len(ours) == len(theirs) > 5
    for one, other in zip(ours, theirs, strict=True):
        assert one.model.tilt.price == pytest.approx(other.model.tilt.price, rel=1e-6)
        X = watched.rows.X
        np.testing.assert_allclose(one.model.decision_function(X), other.model.decision_function(X), atol=1e-6)


def test_without_a_price_it_is_the_machine_itself():
    problem = posed(drawn(50, 3))
    best, same = path(problem).solve(), path(tilted_problem(problem, np.zeros(50))).solve()
    np.testing.assert_allclose(same.alpha, best.alpha, atol=1e-12)
    low = min(searched(problem, drawn(60, 4), rise=1e-7), key=lambda one: one.model.tilt.price).model
    first = model_of(problem, best, 1, best.certificate.objective)
    np.testing.assert_allclose(low.decision_function(problem.X), first.decision_function(problem.X), atol=0.01)


def test_a_row_that_counts_twice_is_two_rows():
    rows, rng = drawn(80, 5), np.random.default_rng(0)
    counts = rng.integers(1, 4, len(rows))
    weighted = replace(rows, weights=counts.astype(float))
    repeated = rows.take(np.repeat(np.arange(len(rows)), counts))
    problem = posed(drawn(50, 6))
    for kernel in KERNELS:
        svm = posed(drawn(50, 6), kernel=kernel)
        ones, others = list(searched(svm, weighted)), list(searched(svm, repeated))
        assert len(ones) == len(others) > 0
        for one, other in zip(ones, others, strict=True):
            assert one.model.tilt.price == pytest.approx(other.model.tilt.price, rel=1e-6)
            assert (one.gap, one.performance) == pytest.approx((other.gap, other.performance))
    twice = SvmProblem(*(np.repeat(one, problem.copies, 0) for one in (problem.X, problem.y, problem.cost)))
    for one, other in zip(searched(problem, rows), searched(twice, rows), strict=True):
        assert one.model.loss_ratio == pytest.approx(other.model.loss_ratio, abs=1e-7)


def axis(rows: EncodedRows, values: np.ndarray, metric: str):
    return tilt_axes(Watched(rows, metric), rows, values, Kernel())[0]


def test_the_direction_is_between_the_means_of_the_rows_that_the_gap_is_about():
    rows = drawn(200, 7)
    values, b = rows.X.sum(1), rows.groups.codes == 1
    parity, chance, odds = (axis(rows, values, metric) for metric in (PARITY, OPPORTUNITY, ODDS))
    np.testing.assert_allclose(parity.direction.rows[0], rows.X[b].mean(0) - rows.X[~b].mean(0))
    good, sign = rows.y > 0, 1.0 if chance.groups == ("b", "a") else -1.0
    np.testing.assert_allclose(sign * chance.direction.rows[0], rows.X[b & good].mean(0) - rows.X[~b & good].mean(0))
    assert (parity.rate, parity.groups, chance.rate) == ("selection_rate", ("b", "a"), "true_positive_rate")
    gaps = {}
    for rate, some in (("true_positive_rate", good), ("false_positive_rate", ~good)):
        gaps[rate] = abs((values[b & some] >= 0).mean() - (values[~b & some] >= 0).mean())
    assert odds.rate == max(gaps, key=gaps.get)


def test_the_rate_says_who_fares_better_not_the_mean():
    rows = drawn(100, 8)
    values = np.where(rows.groups.codes == 1, 0.1, -0.1)
    values[np.flatnonzero(rows.groups.codes == 0)[0]] = 1000.0
    assert axis(rows, values, PARITY).groups == ("b", "a")


def test_groups_that_are_not_compared_have_no_say():
    rows = drawn(90, 9)
    codes = np.where(np.arange(90) < 5, 2, rows.groups.codes)
    values = np.where(codes == 2, 5.0, np.where(codes == 1, 1.0, -1.0))
    aside = replace(rows, groups=Groups(codes, ("a", "b", "few"), aside=(2,)))
    assert axis(aside, values, PARITY).groups == ("b", "a")


@pytest.mark.parametrize("metric", [PARITY, PRECISION])
def test_there_may_be_nothing_to_tilt(metric):
    problem, rows = posed(drawn(40, 1)), drawn(60, 2)
    alike = replace(rows, groups=Groups(np.zeros(60, dtype=int), ("a", "b"))) if metric == PARITY else rows
    search = searched(problem, alike, metric)
    assert list(search) == search.usable == []
    assert (search.stopped, search.solves, search.axis) == ("no_direction", 0, None)


def test_two_groups_of_the_same_mean_have_no_direction():
    X = np.array([[-1.0], [1.0], [-3.0], [3.0], [3.0]])
    rows = EncodedRows(X, np.array([-1.0, 1.0, -1.0, 1.0, 1.0]), Groups(np.array([0, 0, 1, 1, 1]), ("a", "b")))
    rows = replace(rows, weights=np.array([1.0, 1.0, 1.0, 0.5, 0.5]), X=X)
    values = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    assert np.abs(axis(rows, values, PARITY).direction.rows).max() == 0.0
    problem = SvmProblem([[-1.0], [1.0], [0.2], [-0.2]], [-1.0, 1.0, -1.0, 1.0])
    assert searched(problem, rows).stopped is None
    search = searched(problem, rows)
    assert (list(search), search.stopped) == ([], "no_direction")


def test_nothing_is_allowed():
    search = searched(posed(drawn(40, 1)), drawn(60, 2), rise=0.0)
    assert (list(search), search.stopped, search.solves) == ([], "exhausted", 0)


def test_usable_models_keep_the_guardrails_and_decide_something():
    problem, rows = posed(drawn(120, 3)), drawn(200, 4)
    guard = Guard.of("selection_rate=+-0.02")
    free, bound = (
        searched(problem, rows, rise=0.2),
        started(path, problem, Watched(rows, PARITY, guards=(guard,)), rise=0.2),
    )
    assert len(list(free)) == len(free.usable)
    every, kept = list(bound), bound.usable
    assert 0 < len(kept) < len(every)
    best = path(problem).solve()
    first = model_of(problem, best, 1, best.certificate.objective).decision_function(rows.X) >= 0.0
    for one in every:
        change = (one.model.decision_function(rows.X) >= 0.0).mean() - first.mean()
        assert (one in kept) == (abs(change) <= 0.02 + 1e-12)
    prices = [one.model.tilt.price for one in kept]
    assert prices == sorted(prices)


def test_on_tied_rows_there_are_planes_across_the_jump():
    """Between the last plane within the loss and the first beyond it, others lose just what is allowed."""
    rows = drawn(80, 11, digits=0)
    search = searched(posed(rows), drawn(200, 12, digits=0), rise=0.05)
    largest = max(one.model.loss_ratio for one in search)
    assert 0.04 <= largest <= 0.05 + 1e-9


def test_what_cannot_be_proven_is_no_model():
    rows, calls = drawn(60, 1), []
    problem = posed(rows)

    class Refusing:
        def __init__(self, posed: SvmProblem) -> None:
            self._workspace = path(posed)

        def solve(self, *box):
            calls.append(1)
            if len(calls) % 2 == 0:
                raise AnswerRefused("no")
            return self._workspace.solve(*box)

    search = started(Refusing, problem, Watched(drawn(80, 2), PARITY))
    assert 0 < len(list(search)) < search.solves == len(calls)


def test_time_ends_it():
    search = searched(posed(drawn(60, 1)), drawn(80, 2), seconds=0.0)
    assert (list(search), search.stopped) == ([], "time")


def test_models_are_cut_at_the_operating_point():
    problem, rows = posed(drawn(60, 1)), drawn(100, 2)
    watched = Watched(rows, PARITY, point=OperatingPoint(0.3))
    search = started(path, problem, watched)
    for one in search:
        values = one.model.decision_function(rows.X)
        chosen = values >= np.sort(values)[-30]
        rates = [chosen[rows.groups.codes == code].mean() for code in (0, 1)]
        assert one.gap == pytest.approx(abs(rates[0] - rates[1]))


def grouped(codes: np.ndarray, names: tuple[str, ...], X: np.ndarray, y: np.ndarray) -> EncodedRows:
    return EncodedRows(X, y, Groups(codes, names))


def test_the_direction_is_that_of_the_training_rows_and_the_groups_those_of_the_watched():
    watched, train = drawn(200, 7), drawn(90, 21)
    axes = tilt_axes(Watched(watched, PARITY), train, watched.X.sum(1), Kernel())
    b = train.groups.codes == 1
    np.testing.assert_allclose(axes[0].direction.rows[0], train.X[b].mean(0) - train.X[~b].mean(0))
    assert axes[0].groups == ("b", "a")


def test_wide_differences_have_a_direction_each():
    """Four groups at rates 0.9, 0.6, 0.3 and 0.1: to the highest or the lowest, at least half as wide as the widest."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 200)
    rates = np.array([0.9, 0.6, 0.3, 0.1])
    values = np.where(np.arange(800) % 200 < 200 * rates[codes], 1.0, -1.0)
    rows = grouped(codes, ("a", "b", "c", "d"), rng.normal(size=(800, 2)), np.where(rng.random(800) < 0.5, 1.0, -1.0))
    axes = tilt_axes(Watched(rows, PARITY), rows, values, Kernel())
    assert [one.groups for one in axes] == [("a", "d"), ("a", "c"), ("b", "d")]
    assert len(axes) == MOST_AXES
    odds = tilt_axes(Watched(rows, ODDS), rows, values, Kernel())
    assert {one.rate for one in odds} == {"true_positive_rate", "false_positive_rate"}


def test_a_group_without_training_rows_has_no_direction():
    watched = drawn(200, 7)
    train = drawn(50, 8).take(np.flatnonzero(drawn(50, 8).groups.codes == 0))
    assert tilt_axes(Watched(watched, PARITY), train, watched.X.sum(1), Kernel()) == []
