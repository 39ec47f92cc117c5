"""From interior point to exact optimum, where the properties do not reach."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import BruteForce
from strangers import PLAN, tied
from strategies import labels, posed, table

from fairenum.dataset import Dataset
from fairenum.document.machine import Machine
from fairenum.experiment import divide, pose
from fairenum.problem import Kernel, SvmProblem
from fairenum.qp.gram import open_gram
from fairenum.qp.interior import interior_point
from fairenum.qp.polish import optimal_state
from fairenum.solvers.registry import open_workspace


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


def test_nobody_is_left_when_one_class_is():
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
    problem = pose(division.train.X, division.train.y, Machine()).problem
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
