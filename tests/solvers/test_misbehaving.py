"""Misbehaving solvers: each is named in an error, or the fallback takes over where one is set."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fairenum.document.training import SvmSettings
from fairenum.errors import AnswerRefused, ConfigError, SolverBroken
from fairenum.solvers.certified import ReplaceableWorkspace
from fairenum.solvers.isolation import SolverRun, solver_run
from fairenum.solvers.protocol import Tolerance
from fairenum.solvers.registry import load_solver, open_workspace
from fairenum.svm.problem import SvmProblem

sys.path.append(str(Path(__file__).parents[1] / "plugins" / "fairenum-rascals"))
import fairenum_rascals as rascals

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 2))
Y = np.where(X[:, 0] + RNG.normal(size=40) > 0, 1.0, -1.0)


def posed():
    return SvmProblem(X, Y)


def answers(workspace):
    """Solve the whole problem and two smaller ones."""
    upper = workspace.problem.upper
    return [workspace.solve(upper * (np.arange(40) % 7 != left_out)) for left_out in (-1, 0, 1)]


EXPECTED = [solution.alpha for solution in answers(open_workspace("path", posed()))]
LAPSES = {
    rascals.Raises: "solver 'raises' failed: KeyboardInterrupt: as if",
    rascals.NotANumber: "solver 'nan' returned a number that is not finite",
    rascals.Misshapen: r"solver 'misshapen' did not return one number per example \(40\)",
    rascals.Wavers: "solver 'wavers' claimed an optimum that misses the proven one by",
    rascals.Hangs: "solver 'hangs' gave no answer within 1 s",
}
APART = {
    **LAPSES,
    rascals.Clings: "solver 'clings' gave no answer within 1 s",
    rascals.Crashes: "solver 'crashes' failed: its process ended with code 3",
    rascals.Changes: "solver 'changes' (changed the problem|failed: ValueError: cannot set WRITEABLE)",
}


def patience(rascal):
    """Return a time limit that suffices on a busy computer, short for solvers that never answer."""
    return 1.0 if rascal in (rascals.Hangs, rascals.Clings) else 60.0


@pytest.mark.parametrize("rascal", LAPSES)
def test_it_is_named(rascal):
    workspace = open_workspace(rascal(), posed(), Tolerance(seconds=patience(rascal)))
    with pytest.raises((SolverBroken, AnswerRefused), match=LAPSES[rascal]):
        answers(workspace)


def test_one_that_changes_the_problem_here_is_named():
    with pytest.raises(SolverBroken, match="solver 'changes' changed the problem that it was given"):
        open_workspace(rascals.Changes(), posed()).solve()


@pytest.mark.parametrize("rascal", LAPSES)
def test_another_goes_on_and_gives_the_same_answers(rascal):
    run = SolverRun(fallback="path")
    other = load_solver("path")
    workspace = ReplaceableWorkspace(rascal(), posed(), Tolerance(seconds=patience(rascal)), other, run)
    found = answers(workspace)
    for solution, alpha in zip(found, EXPECTED, strict=True):
        np.testing.assert_allclose(solution.alpha, alpha, atol=1e-10)
    assert run.lapse is not None
    assert (run.lapse.solver, run.lapse.fallback) == (rascal.name, "path")
    again = ReplaceableWorkspace(rascal(), posed(), Tolerance(), other, run)
    assert again.plugin is other  # whoever failed is not asked again


def test_paths_go_on_where_the_solver_that_has_them_fails(monkeypatch):
    """The native solver begins, its paths fail, and libsvm completes them."""
    from fairenum.svm.workspace import PathRemoval

    with solver_run(SvmSettings(fallback="libsvm")) as run:
        workspace = open_workspace("path", posed())
        best = workspace.solve()
        removals = [workspace.remove(best, int(example)) for example in best.support[:3]]
        expected = [open_workspace("path", posed()).solve(best.box_with(int(one), 0.0)) for one in best.support[:3]]

        def broken(self, below):
            raise ZeroDivisionError("on the way")

        monkeypatch.setattr(PathRemoval, "tighten", broken)
        found = [removal.tighten(-np.inf) for removal in removals]
    for solution, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(solution.alpha, other.alpha, atol=1e-10)
    assert run.lapses == {"path": "solver 'path' failed: ZeroDivisionError: on the way"}


@pytest.mark.parametrize("rascal", [rascals.Clings, rascals.Crashes, rascals.Changes])
def test_in_a_process_of_its_own_it_can_be_ended(rascal):
    with solver_run(SvmSettings(solver_timeout=patience(rascal), fallback="path")) as run:
        workspace = open_workspace(rascal(), posed())
        began = time.monotonic()
        found = answers(workspace)
        assert time.monotonic() - began < 30.0
    for solution, alpha in zip(found, EXPECTED, strict=True):
        np.testing.assert_allclose(solution.alpha, alpha, atol=1e-10)
    with pytest.raises(SolverBroken, match=APART[rascal]):
        raise SolverBroken(run.lapse.message)


@pytest.mark.slow
def test_an_honest_one_works_apart_as_it_does_here(capfd):
    with solver_run(SvmSettings(solver_timeout=60.0)) as run:
        first, second = (open_workspace(rascals.Prints(), posed()) for _ in range(2))
        found = [*answers(first), *answers(second)]
        assert first.plugin is second.plugin  # one process for both
    for solution, alpha in zip(found, [*EXPECTED, *EXPECTED], strict=True):
        np.testing.assert_allclose(solution.alpha, alpha, atol=1e-10)
    assert run.lapse is None
    printed = capfd.readouterr()
    assert "printed by" not in printed.out
    assert printed.err.count("printed by compiled code") == 6


def test_a_fallback_that_fails_is_an_error_of_its_own_name():
    workspace = ReplaceableWorkspace(
        rascals.NotANumber(), posed(), Tolerance(), rascals.Misshapen(), SolverRun(fallback="misshapen")
    )
    with pytest.raises(AnswerRefused, match="solver 'misshapen' did not return"):
        workspace.solve()


@pytest.mark.parametrize("options", [{"solver_timeout": 0.0}, {"solver_timeout": float("nan")}, {"fallback": 7}])
def test_what_is_no_limit_or_name_is_refused(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        SvmSettings(**options)
