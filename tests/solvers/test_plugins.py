"""Options, errors and limits of each bundled plugin."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from fairenum.errors import ProblemError, SolverBroken, SolverUnavailable
from fairenum.solvers.protocol import Tolerance
from fairenum.solvers.registry import load_solver, open_workspace
from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.svm.sparse_form import sparse_form

SOLVERS = ("libsvm", "osqp", "path", "piqp")
GENERAL = ("osqp", "path", "piqp")  # take any linear term
RNG = np.random.default_rng(11)
X = RNG.normal(size=(80, 4))
Y = np.where(X[:, 0] - X[:, 1] + RNG.normal(size=80) > 0, 1.0, -1.0)
KERNELS = [Kernel(), Kernel("rbf", gamma=0.7), Kernel("poly", gamma=0.4, degree=2, coef0=0.5)]
KERNEL_NAMES = [kernel.name for kernel in KERNELS]


def agree(problem, solvers, upper=None):
    answers = [open_workspace(name, problem).solve(upper) for name in solvers]
    for answer in answers:
        assert answer.certificate.relative_gap <= Tolerance().gap
        assert answer.support.tolist() == answers[0].support.tolist()
        np.testing.assert_allclose(answer.alpha, answers[0].alpha, atol=1e-8 * answers[0].alpha.max())
    return answers[0]


@pytest.mark.parametrize("kernel", KERNELS, ids=KERNEL_NAMES)
def test_boxes_of_different_size_are_kept(kernel):
    copies = RNG.integers(1, 9, size=80)
    problem = SvmProblem(X, Y, np.linspace(0.1, 2.0, 80), copies, kernel)
    upper = problem.upper * (np.arange(80) % 4 > 0)
    answer = agree(problem, SOLVERS, upper)
    assert not answer.alpha[upper == 0].any()
    assert (answer.alpha == upper)[upper > 0].any()


@pytest.mark.parametrize("kernel", KERNELS, ids=KERNEL_NAMES)
def test_a_ridge_makes_another_problem(kernel):
    plain, ridged = (agree(SvmProblem(X, Y, kernel=kernel, ridge=ridge), SOLVERS) for ridge in (0.0, 0.5))
    assert ridged.certificate.objective < 0.99 * plain.certificate.objective


@pytest.mark.parametrize("kernel", KERNELS, ids=KERNEL_NAMES)
def test_a_common_linear_term_is_a_matter_of_scale(kernel):
    once = agree(SvmProblem(X, Y, 1.0, kernel=kernel), SOLVERS)
    thrice = agree(SvmProblem(X, Y, 3.0, kernel=kernel, linear=np.full(80, 3.0)), SOLVERS)
    np.testing.assert_allclose(thrice.alpha, 3.0 * once.alpha, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=KERNEL_NAMES)
def test_any_linear_term_is_taken_by_the_general_solvers(kernel):
    agree(SvmProblem(X, Y, kernel=kernel, linear=1.0 + 0.3 * np.sin(np.arange(80))), GENERAL)


@pytest.mark.parametrize("linear", [1.0 + 0.1 * np.arange(80), np.full(80, -1.0)], ids=["uneven", "negative"])
def test_libsvm_says_who_takes_the_linear_term_that_it_cannot(linear):
    with pytest.raises(ProblemError, match=r"solver 'libsvm' takes a linear term of one positive value only;.*'path'"):
        open_workspace("libsvm", SvmProblem(X, Y, linear=linear))


def test_more_features_than_examples_are_no_obstacle():
    wide = RNG.normal(size=(20, 50))
    agree(SvmProblem(wide, Y[:20]), SOLVERS)


def test_libsvm_does_not_claim_what_it_did_not_finish():
    problem = SvmProblem(X, Y, 1e4)
    capped = type(load_solver("libsvm"))(max_iter=50)
    assert not capped.open(problem, Tolerance()).solve(problem.upper).finished
    assert open_workspace(capped, problem).solve().certificate.relative_gap <= Tolerance().gap
    assert load_solver("libsvm").open(SvmProblem(X, Y), Tolerance()).solve(problem.upper * 1e-4).finished


def test_osqp_does_not_claim_what_it_did_not_finish():
    problem = SvmProblem(X, Y, 1e4)
    capped = type(load_solver("osqp"))(accuracies=(1e-4,), max_iter=25)
    assert not capped.open(problem, Tolerance()).solve(problem.upper).finished
    assert open_workspace(capped, problem).solve().certificate.relative_gap <= Tolerance().gap


def test_osqp_asks_for_more_accuracy_when_the_first_answer_is_poor():
    problem = SvmProblem(X, Y, 1e4)
    loose, strict = (
        type(load_solver("osqp"))(accuracies=accuracies).open(problem, Tolerance()).solve(problem.upper)
        for accuracies in ((0.1,), (0.1, 1e-4, 1e-7))
    )
    assert not loose.finished
    assert strict.finished
    assert problem.objective(strict.alpha) > problem.objective(loose.alpha)


def test_osqp_starts_from_the_optimum_at_the_optimum(monkeypatch):
    import osqp

    problem = SvmProblem(X, Y)
    workspace = open_workspace("osqp", problem)
    best, iterations, run = workspace.solve(), [], osqp.OSQP.solve

    def counted(solver, raise_error=False):
        result = run(solver, raise_error=raise_error)
        iterations.append(result.info.iter)
        return result

    monkeypatch.setattr(osqp.OSQP, "solve", counted)
    workspace.solve(None, best)
    workspace.solve()
    assert iterations[0] == 25  # the first time that OSQP looks
    assert iterations[1] > 25


def test_piqp_does_not_claim_what_it_did_not_finish():
    problem = SvmProblem(X, Y)
    capped = type(load_solver("piqp"))(max_iter=2)
    assert not capped.open(problem, Tolerance()).solve(problem.upper).finished
    assert open_workspace(capped, problem).solve().certificate.relative_gap <= Tolerance().gap


def test_a_failure_inside_libsvm_is_reported_by_name(monkeypatch):
    from sklearn.svm import SVC

    def fail(*_, **__):
        raise ValueError("out of luck")

    monkeypatch.setattr(SVC, "fit", fail)
    with pytest.raises(SolverBroken, match="solver 'libsvm' failed: out of luck"):
        open_workspace("libsvm", SvmProblem(X, Y)).solve()


def test_a_failure_inside_osqp_is_reported_by_name(monkeypatch):
    import osqp

    workspace = open_workspace("osqp", SvmProblem(X, Y))
    answer = SimpleNamespace(info=SimpleNamespace(status_val=osqp.SolverStatus.OSQP_PRIMAL_INFEASIBLE), x=np.zeros(84))
    monkeypatch.setattr(osqp.OSQP, "solve", lambda *_, **__: answer)
    with pytest.raises(SolverBroken, match="solver 'osqp' stopped with OSQP_PRIMAL_INFEASIBLE"):
        workspace.solve()

    def fail(*_, **__):
        raise osqp.OSQPException(osqp.SolverError.OSQP_NONCVX_ERROR)

    monkeypatch.setattr(osqp.OSQP, "setup", fail)
    with pytest.raises(SolverBroken, match="solver 'osqp' could not set up the problem"):
        open_workspace("osqp", SvmProblem(X, Y))


def test_a_failure_inside_piqp_is_reported_by_name(monkeypatch):
    import piqp

    class Failing:
        def __init__(self):
            self.settings = SimpleNamespace()

        def setup(self, *_, **__):
            return None

        update = setup

        def solve(self):
            return piqp.PIQP_PRIMAL_INFEASIBLE

    monkeypatch.setattr(piqp, "SparseSolver", Failing)
    with pytest.raises(SolverBroken, match="solver 'piqp' stopped with PIQP_PRIMAL_INFEASIBLE"):
        open_workspace("piqp", SvmProblem(X, Y)).solve()


def test_a_missing_backend_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "piqp", None)  # as if it were not there
    with pytest.raises(SolverUnavailable) as caught:
        load_solver("piqp")
    assert str(caught.value) == "solver 'piqp' needs piqp; install it with: pip install 'fairenum[piqp]'"


@pytest.mark.parametrize("kernel", KERNELS, ids=KERNEL_NAMES)
def test_the_sparse_form_states_the_same_problem(kernel):
    problem = SvmProblem(
        X, Y, np.linspace(0.5, 2.0, 80), kernel=kernel, linear=1.0 + 0.1 * np.cos(np.arange(80)), ridge=0.1
    )
    form = sparse_form(problem)
    best = open_workspace("path", problem).solve()
    point, prices = form.warm_start(best.alpha, problem.upper)
    P = form.quadratic + form.quadratic.T
    P.setdiag(form.quadratic.diagonal())
    value = 0.5 * point @ (P @ point) + form.linear @ point
    assert -form.scale * value == pytest.approx(best.certificate.objective, rel=1e-9)
    np.testing.assert_allclose(form.equations @ point, 0.0, atol=1e-9)
    stationary = P @ point + form.linear + form.equations.T @ prices[80:]
    stationary[:80] += prices[:80]
    np.testing.assert_allclose(stationary, 0.0, atol=1e-9)
    np.testing.assert_allclose(form.alpha(point, problem.upper), best.alpha, atol=1e-12)


def test_the_sparse_form_makes_every_point_feasible():
    problem = SvmProblem(X, Y)
    alpha = sparse_form(problem).alpha(RNG.normal(size=84), problem.upper)
    assert (alpha >= 0).all()
    assert (alpha <= problem.upper).all()
    assert problem.y @ alpha == pytest.approx(0.0, abs=1e-12)
    assert not sparse_form(problem).alpha(-np.ones(84), problem.upper).any()
