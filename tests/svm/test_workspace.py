"""The native solver as a workspace: paths that leave examples out or readmit them, and paths that fail."""

from __future__ import annotations

import numpy as np
import pytest
from support.problems import posed

from fairenum.errors import SolverBroken
from fairenum.solvers.registry import open_workspace
from fairenum.svm import path
from fairenum.svm import workspace as module
from fairenum.svm.path import PathStuck
from fairenum.svm.problem import Kernel

PROBLEM = posed(50, kind="grid")


def stuck(*_):
    raise PathStuck


@pytest.mark.parametrize("kind", ["continuous", "grid", "hypercube"])
def test_an_example_that_is_let_in_leads_to_the_optimum_with_it(kind):
    problem = posed(50, kind=kind)
    workspace = open_workspace("path", problem)
    best = workspace.solve()
    for example in range(problem.size):
        without = workspace.solve(best.box_with(example, 0.0))
        back = workspace.admit(without, example, float(problem.upper[example]))
        np.testing.assert_array_equal(back.upper, problem.upper)
        assert back.certificate.objective == pytest.approx(best.certificate.objective, rel=1e-11)
        half = workspace.admit(without, example, 0.5 * float(problem.upper[example]))
        expected = workspace.solve(half.upper)
        assert half.certificate.objective == pytest.approx(expected.certificate.objective, rel=1e-11)


def test_the_first_example_of_a_class_is_let_in_where_nothing_was_trained():
    """From alpha = 0 a path has no scale for rounding; it once stopped short of a bound that it met exactly."""
    for seed in range(60):
        problem = posed(3, seed=seed, kernel=Kernel("rbf", 0.5))
        workspace = open_workspace("path", problem)
        lone = int(np.flatnonzero(problem.y != np.sign(problem.y.sum()))[0])
        nothing = workspace.solve(np.where(np.arange(3) == lone, 0.0, problem.upper))
        assert not nothing.alpha.any()
        assert workspace.admit(nothing, lone, 1.0).support.tolist() == workspace.solve().support.tolist()


def test_an_answer_of_another_solver_is_a_parent_too():
    workspace, foreign = open_workspace("path", PROBLEM), open_workspace("piqp", PROBLEM).solve()
    example = int(foreign.support[0])
    child = workspace.remove(foreign, example).tighten(-np.inf)
    np.testing.assert_allclose(child.alpha, workspace.solve(child.upper).alpha, atol=1e-10)
    without = open_workspace("piqp", PROBLEM).solve(child.upper)
    back = workspace.admit(without, example, float(PROBLEM.upper[example]))
    assert back.certificate.objective == pytest.approx(foreign.certificate.objective, rel=1e-11)


@pytest.mark.parametrize("kind", ["continuous", "grid", "hypercube"])
@pytest.mark.parametrize("kernel", [Kernel(), Kernel("rbf", 0.5)])
def test_a_parked_answer_is_resumed_and_goes_on(kind, kernel):
    problem = posed(50, kind=kind, kernel=kernel, copies=np.random.default_rng(0).integers(1, 4, 50))
    workspace = open_workspace("path", problem)
    best = workspace.solve()
    for example in best.support:
        child = workspace.remove(best, int(example), 0.5 * float(best.alpha[example])).tighten(-np.inf)
        again = workspace.resume(workspace.park(child), child.upper)
        np.testing.assert_allclose(again.alpha, child.alpha, atol=1e-10)
        np.testing.assert_array_equal(again.support, child.support)
        assert again.certificate.objective == pytest.approx(child.certificate.objective, rel=1e-12)
        on, other = (workspace.remove(one, int(child.support[0])).tighten(-np.inf) for one in (again, child))
        np.testing.assert_allclose(on.alpha, other.alpha, atol=1e-10)


def test_what_was_parked_wrongly_or_not_at_all_is_solved_anew():
    workspace, foreign = open_workspace("path", PROBLEM), open_workspace("piqp", PROBLEM)
    best = workspace.solve()
    parked = workspace.park(best)
    elsewhere = parked._replace(at_upper=~parked.at_upper)
    np.testing.assert_allclose(workspace.resume(elsewhere, PROBLEM.upper).alpha, best.alpha, atol=1e-10)
    assert foreign.park(best) is None
    np.testing.assert_allclose(foreign.resume(None, PROBLEM.upper).alpha, best.alpha, atol=1e-10)


def test_a_lost_path_is_solved_anew(monkeypatch):
    workspace = open_workspace("path", PROBLEM)
    best = workspace.solve()
    example = int(best.support[0])
    child = workspace.solve(best.box_with(example, 0.0))
    monkeypatch.setattr(path.RemovalPath, "advance", stuck)
    removal = workspace.remove(best, example)
    assert removal.tighten(-np.inf).alpha.tobytes() == child.alpha.tobytes()
    assert removal.bound == pytest.approx(child.certificate.objective, rel=1e-12)
    monkeypatch.setattr(module, "admitted", stuck)
    again = workspace.admit(child, example, float(PROBLEM.upper[example]))
    assert again.alpha.tobytes() == best.alpha.tobytes()


def test_a_solve_that_is_lost_says_what_to_do(monkeypatch):
    workspace = open_workspace("path", PROBLEM)
    monkeypatch.setattr(module, "optimal_state", stuck)
    with pytest.raises(SolverBroken, match="solver 'path' lost its way in rounding errors; standardise the features"):
        workspace.solve()
