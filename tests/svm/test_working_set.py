"""Working sets and the plane they are chosen by: the answer does not depend on them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC
from support.problems import labels, table

from fairenum.svm import working_set
from fairenum.svm.gram import open_gram
from fairenum.svm.polish import optimal_state
from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.svm.smoothing import SmoothedSvm
from fairenum.svm.working_set import Start, WorkingSetSolver


def learnable(kind: str, n: int, d: int, seed: int = 0, **arguments) -> SvmProblem:
    """A problem whose labels depend on the features, with noise."""
    rng = np.random.default_rng(seed)
    X = table(kind, rng, n, d)
    merit = X @ rng.normal(size=d) + rng.normal(size=n)
    return SvmProblem(X, np.where(merit > np.median(merit), 1.0, -1.0), **arguments)


@pytest.fixture
def few(monkeypatch):
    """Let even small problems be solved by working sets."""
    monkeypatch.setattr(working_set, "FEW", 16)
    monkeypatch.setattr(working_set, "SAMPLE", 64)


@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.1)])
@pytest.mark.parametrize("kind", ["continuous", "hypercube", "grid"])
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_working_sets_lead_to_the_optimum_of_all_examples(monkeypatch, kind, kernel, cost):
    problem = learnable(kind, 400, 5, cost=cost, kernel=kernel)
    gram, smaller = open_gram(problem), np.where(np.arange(400) % 7, problem.upper, 0.0)
    expected = {upper.tobytes(): optimal_state(gram, problem, upper) for upper in (problem.upper, smaller)}
    monkeypatch.setattr(working_set, "FEW", 16)
    monkeypatch.setattr(working_set, "SAMPLE", 64)
    for upper, other in ((problem.upper, smaller), (smaller, problem.upper)):
        for guess in (None, expected[other.tobytes()], expected[other.tobytes()].alpha):
            state = optimal_state(gram, problem, upper, guess)
            np.testing.assert_allclose(state.alpha, expected[upper.tobytes()].alpha, atol=1e-8 * cost)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", ["continuous", "grid"])
def test_the_answer_for_another_linear_term_is_a_start(kind):
    problem, rng = learnable(kind, 600, 4), np.random.default_rng(1)
    charge = problem.y * (problem.X @ rng.normal(size=4))
    charged = SvmProblem(problem.X, problem.y, linear=problem.linear + 3.0 * charge, unit=1.0)
    near = optimal_state(open_gram(problem), problem, problem.upper)
    found = optimal_state(open_gram(charged), charged, charged.upper, near)
    cold = optimal_state(open_gram(charged), charged, charged.upper)
    np.testing.assert_allclose(found.alpha, cold.alpha, atol=1e-9)
    assert charged.certify(found.alpha).relative_gap <= 1e-9


@pytest.mark.usefixtures("few")
def test_a_start_that_is_nonsense_costs_time_only():
    rng = np.random.default_rng(3)
    problem = SvmProblem(table("continuous", rng, 500, 4), labels(rng, 500), 1.0)
    solver = WorkingSetSolver(open_gram(problem), problem.y, problem.upper, problem.linear, problem.unit)
    nobody = np.zeros(500, dtype=bool)
    for gradient in (np.ones(500), -np.ones(500), rng.normal(size=500), np.zeros(500)):
        for alpha in (None, rng.random(500)):
            found = solver.solve(Start(gradient, nobody, alpha))
            assert problem.certify(found.alpha).relative_gap <= 1e-7


def test_of_many_examples_few_are_solved_for():
    problem = learnable("continuous", 20_000, 6)
    solver = WorkingSetSolver(open_gram(problem), problem.y, problem.upper, problem.linear, problem.unit)
    found = solver.solve()
    assert len(found.working) <= 2_000
    assert problem.certify(found.alpha).relative_gap <= 1e-9


def test_the_plane_of_the_smoothed_svm_is_near_that_of_the_svm():
    problem = learnable("continuous", 3_000, 4)
    plane = SmoothedSvm(open_gram(problem), problem.y, problem.upper, problem.linear, problem.unit).plane()
    svc = SVC(kernel="linear", tol=1e-6).fit(problem.X, problem.y)
    assert plane is not None
    assert np.abs(plane.margins - problem.y * svc.decision_function(problem.X)).max() < 0.1
