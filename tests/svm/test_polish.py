"""From interior point to exact optimum: cases beyond the property tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.preprocessing import PolynomialFeatures
from support.oracles.brute_force import BruteForce
from support.problems import labels, posed, table
from support.tables import PLAN, tied

from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import divide, pose
from fairenum.solvers.conformance import conformance_cases
from fairenum.solvers.registry import open_workspace
from fairenum.svm import path
from fairenum.svm.gram import open_gram
from fairenum.svm.interior import interior_point
from fairenum.svm.path import ActiveSet
from fairenum.svm.polish import optimal_state
from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.tables import Dataset


@pytest.mark.parametrize("cost", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.2)])
def test_interior_point_is_nearly_optimal_by_itself(cost, kernel):
    problem = posed(120, 4, cost=cost, kernel=kernel)
    point = interior_point(open_gram(problem), problem.y, problem.upper, problem.linear)
    assert ((point.alpha > 0) & (point.alpha < problem.upper)).all()
    assert problem.certify(point.alpha).relative_gap < 1e-7


@pytest.mark.parametrize("kind", ["continuous", "hypercube", "grid"])
@pytest.mark.parametrize("cost", [1e-4, 0.01, 1.0, 100.0, 1e6])
def test_optimum_is_exact_at_realistic_size(kind, cost):
    rng = np.random.default_rng(3)
    problem = SvmProblem(table(kind, rng, 300, 6), labels(rng, 300), cost)
    state = optimal_state(open_gram(problem), problem, problem.upper)
    assert problem.certify(state.alpha).relative_gap <= 1e-9
    assert state.violation() <= 1e-8


def least_tied(problem: SvmProblem, state: ActiveSet, features: np.ndarray) -> float:
    """The least tie weight of all optimal answers, by linear programming: they share the plane and the clear bounds."""
    least, most = np.zeros(problem.size), state.upper.copy()
    clear = state.side * state.gradient > 1e-9
    least[clear & (state.side < 0)] = state.upper[clear & (state.side < 0)]
    most[clear & (state.side > 0)] = 0.0
    fixed = np.vstack([(features * problem.y[:, None]).T, problem.y])
    found = linprog(
        problem.tie_weights(), A_eq=fixed, b_eq=fixed @ state.alpha, bounds=np.column_stack([least, most]),
        method="highs-ds",
    )  # fmt: skip
    assert found.success
    return float(found.fun)


@pytest.mark.parametrize("seed", [0, 4, 7])
def test_of_many_tied_answers_the_canonical_one_is_found_whatever_rounding_adds_up_to(seed):
    """27 places for 400 examples in a space of 20 dimensions: nearly all are combinations of the margin."""
    (case,) = (case for case in conformance_cases((400,), seed, True) if case.name == "duplicates-400-poly-1")
    problem, weights = case.problem, case.problem.tie_weights()
    features = PolynomialFeatures(3).fit_transform(problem.X)  # spans what the kernel does
    state = optimal_state(open_gram(problem), problem, problem.upper)
    assert weights @ state.alpha == pytest.approx(least_tied(problem, state, features), abs=1e-7)
    for example in np.flatnonzero(state.alpha)[::40]:
        removal = path.RemovalPath(state, problem.objective(state.alpha), int(example), 0.0)
        assert removal.advance(-np.inf)
        assert weights @ removal.state.alpha == pytest.approx(least_tied(problem, removal.state, features), abs=1e-7)


def test_no_support_is_left_with_one_class():
    problem = posed(20, 2)
    state = optimal_state(open_gram(problem), problem, np.where(problem.y > 0, 1.0, 0.0))
    assert not state.alpha.any()
    assert state.violation() <= 0.0
    assert not optimal_state(open_gram(problem), problem, np.zeros(20)).alpha.any()


def test_a_general_linear_term_is_honoured():
    rng = np.random.default_rng(2)
    problem = SvmProblem(rng.normal(size=(7, 2)), labels(rng, 7), 2.0, linear=rng.uniform(0.2, 2.0, 7))
    state = optimal_state(open_gram(problem), problem, problem.upper)
    np.testing.assert_allclose(state.alpha, BruteForce(problem).canonical(127), atol=1e-7)


@pytest.mark.parametrize("kind", ["continuous", "hypercube", "grid"])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.6])
def test_the_answer_of_another_box_leads_to_the_same_optimum(kind, share):
    rng = np.random.default_rng(4)
    problem = SvmProblem(table(kind, rng, 400, 6), labels(rng, 400), 1.0)
    gram, whole = open_gram(problem), problem.upper
    smaller = np.where(rng.random(400) < share, 0.0, whole)
    answers = {upper.tobytes(): optimal_state(gram, problem, upper).alpha for upper in (whole, smaller)}
    for upper, other in ((smaller, whole), (whole, smaller)):
        state = optimal_state(gram, problem, upper, answers[other.tobytes()])
        np.testing.assert_allclose(state.alpha, answers[upper.tobytes()], atol=1e-9)


def test_a_guess_that_tells_most_bounds_wrong_costs_time_only():
    rng = np.random.default_rng(5)
    problem = SvmProblem(table("continuous", rng, 400, 6), labels(rng, 400), 1.0)
    gram = open_gram(problem)
    expected = optimal_state(gram, problem, problem.upper).alpha
    for guess in (np.zeros(400), problem.upper.copy(), 5.0 * rng.random(400), 1.0 - expected):
        np.testing.assert_allclose(optimal_state(gram, problem, problem.upper, guess).alpha, expected, atol=1e-9)


def test_examples_clearly_inside_their_box_do_not_give_way_to_those_near_a_bound():
    """Of few values and many copies, a dozen near a bound can be as good a margin as the handful inside."""
    division = divide(Dataset.from_frame(tied(50_000), **PLAN))
    problem = pose(division.train.X, division.train.y, SvmSettings()).problem
    solution = open_workspace("path", problem).solve()
    assert solution.certificate.relative_gap <= 1e-9


def test_an_interior_point_of_very_uneven_boxes_comes_to_its_end():
    # the corrector alone went round in circles here: classes whose prices differ by a factor of 200
    X = np.array([[-1.0, 2, 2], [-1, 1, -1], [1, -1, -1], [0, -2, -1], [2, -2, 2], [-2, 2, 2]])
    y = np.array([1.0, -1, 1, -1, 1, 1])
    problem = SvmProblem(X, y, np.where(y > 0, 0.001, 0.2), np.array([2, 3, 3, 3, 2, 3]))
    gram = open_gram(problem)
    found = interior_point(gram, y, problem.upper, problem.linear)
    certificate, _ = problem.judge(found.alpha, problem.upper, gram.product(found.alpha))
    assert certificate.relative_gap < 1e-9
    assert open_workspace("path", problem).solve().certificate.relative_gap < 1e-12


def test_a_charge_upon_the_linear_term_does_not_lengthen_the_way(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 6))
    y = np.where(X @ rng.normal(size=6) + rng.normal(size=3000) > 0, 1.0, -1.0)
    problem = SvmProblem(X, y, 1.0, linear=1.0 + 300.0 * y * (X @ rng.normal(size=6)), unit=1.0)
    monkeypatch.setattr(path, "breakpoint_limit", lambda _: 20)  # with the mean term as the unit there are a hundred
    state = optimal_state(open_gram(problem), problem, problem.upper)
    assert problem.certify(state.alpha).relative_gap <= 1e-9
