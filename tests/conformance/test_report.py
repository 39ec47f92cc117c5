"""The report of the suite: what it counts, what it prints, and how it exits."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from fairenum.solvers import conformance
from fairenum.solvers.conformance import check_case, check_solver, conformance_cases
from fairenum.solvers.protocol import Solution
from fairenum.solvers.registry import load_solver

SOURCE = Path(__file__).parents[1] / "plugins" / "fairenum-liar" / "fairenum_liar.py"


@pytest.fixture(scope="module")
def liar():
    spec = importlib.util.spec_from_file_location("fairenum_liar", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LiarSolver()


def test_an_honest_solver_passes_with_a_table(capsys):
    assert conformance.main(["path", "--sizes", "7", "--seed", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["path", "cases", "failed", "worst", "gap", "seconds"]
    assert [line.split()[:3] for line in lines[1:]] == [
        *([kind, "2", "0"] for kind in ("random", "separable", "duplicates", "hypercube", "constant", "imbalanced")),
        ["copies", "2", "0"],
        ["all", "14", "0"],
    ]
    assert float(lines[-1].split()[3]) <= 1e-9


def test_a_liar_fails_in_every_case(liar, capsys, monkeypatch):
    monkeypatch.setattr(conformance, "load_solver", lambda name: liar)
    assert conformance.main(["liar", "--sizes", "12"]) == 1
    output = capsys.readouterr().out
    assert output.count("solver 'liar' on ") == 14
    assert "inf" in output


def test_every_case_catches_the_liar(liar):
    report = check_solver(liar, sizes=(2, 40), seed=1, thorough=True)
    assert len(report.failures) == len(report.outcomes) == 98
    for outcome in report.failures:
        assert "claimed an optimum that misses the proven one by" in outcome.failure


def test_an_unknown_solver_is_bad_usage(capsys):
    with pytest.raises(SystemExit) as caught:
        conformance.main(["pathh"])
    assert caught.value.code == 2
    assert "did you mean 'path'?" in capsys.readouterr().err


class Removing:
    """The path solver, with one thing changed about its removal paths."""

    name, requires, install = "removing", (), ""

    def __init__(self, change):
        self.change, self.path = change, load_solver("path")

    def open(self, problem, tolerance):
        workspace, change = self.path.open(problem, tolerance), self.change

        class Workspace:
            solve = workspace.solve

            def remove(self, parent, example, upper=0.0):
                return change(workspace.remove(parent, example, upper))

        return Workspace()


class Removal:
    """A removal path that ends with a given answer and a given bound."""

    def __init__(self, inner, answer, shift=0.0):
        self.inner, self.answer, self.shift = inner, answer, shift

    @property
    def bound(self):
        return self.inner.bound + self.shift

    def tighten(self, below):
        return self.answer(self.inner.tighten(below))


def wrong_box(solution):
    return Solution(solution.alpha, np.ones_like(solution.upper) * 9.0, solution.handle)


CASE = next(case for case in conformance_cases(sizes=(40,)) if case.name == "random-40-linear-1")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda inner: Removal(inner, lambda solution: solution, -1e9), "the bound is below the child's objective"),
        (lambda inner: Removal(inner, lambda solution: solution, 1e-3), "the bound at the end is not the child's"),
        (lambda inner: Removal(inner, lambda solution: None), "gave up"),
        (lambda inner: Removal(inner, wrong_box), "the path ended in another box than asked for"),
    ],
    ids=["low bound", "high bound", "no answer", "another box"],
)
def test_the_suite_examines_removal_paths(change, words):
    with pytest.raises(AssertionError, match=f"'removing' on random-40-linear-1: removal paths arrive: .*{words}"):
        check_case(Removing(change), CASE)


def test_a_solver_that_fails_is_no_witness_against_another(monkeypatch):
    monkeypatch.setattr(conformance, "_available", lambda: frozenset({"path", "no such solver"}))
    check_case(load_solver("piqp"), CASE)
