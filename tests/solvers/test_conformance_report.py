"""The conformance report: counts, printed table and exit code."""

import importlib.util
from pathlib import Path

import pytest

from fairenum.solvers import conformance
from fairenum.solvers.conformance import check_case, check_solver, conformance_cases
from fairenum.solvers.registry import load_solver
from fairenum.svm.problem import Claim

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
        *([kind, "2", "0"] for kind in ("copies", "classes", "weights", "categories")),
        ["all", "20", "0"],
    ]
    assert float(lines[-1].split()[3]) <= 1e-9


def test_a_liar_fails_in_every_case(liar, capsys, monkeypatch):
    monkeypatch.setattr(conformance, "load_solver", lambda name: liar)
    assert conformance.main(["liar", "--sizes", "12"]) == 1
    output = capsys.readouterr().out
    assert output.count("solver 'liar' on ") == 20
    assert "inf" in output


def test_every_case_catches_the_liar(liar):
    report = check_solver(liar, sizes=(2, 40), seed=1, thorough=True)
    assert len(report.failures) == len(report.results) == 140
    for result in report.failures:
        assert "claimed an optimum that misses the proven one by" in result.failure


def test_an_unknown_solver_is_bad_usage(capsys):
    with pytest.raises(SystemExit) as caught:
        conformance.main(["pathh"])
    assert caught.value.code == 2
    assert "did you mean 'path'?" in capsys.readouterr().err


class Changed:
    """The path solver with changed paths."""

    name, requires, install = "changed", (), ""

    def __init__(self, removal=lambda inner: inner, admitted=lambda claim: claim):
        self.removal, self.admitted, self.path = removal, admitted, load_solver("path")

    def open(self, problem, tolerance):
        workspace, plugin = self.path.open(problem, tolerance), self

        class Workspace:
            solve = workspace.solve

            def remove(self, parent, example, upper=0.0):
                return plugin.removal(workspace.remove(parent, example, upper))

            def admit(self, parent, example, upper):
                return plugin.admitted(workspace.admit(parent, example, upper))

        return Workspace()


class Removal:
    """A removal path that ends with a given answer and a given bound."""

    def __init__(self, inner, answer=lambda claim: claim, shift=0.0):
        self.inner, self.answer, self.shift = inner, answer, shift

    @property
    def bound(self):
        return self.inner.bound + self.shift

    def tighten(self, below):
        return self.answer(self.inner.tighten(below))


def doubled(claim):
    return Claim(2.0 * claim.alpha, claim.handle)


CASE = next(case for case in conformance_cases(sizes=(40,)) if case.name == "random-40-linear-1")


@pytest.mark.parametrize(
    ("removal", "words"),
    [
        (lambda inner: Removal(inner, shift=-1e9), "the bound is below the child's objective"),
        (lambda inner: Removal(inner, shift=1e-3), "the bound at the end is not the child's"),
        (lambda inner: Removal(inner, lambda claim: None), "gave up"),
        (lambda inner: Removal(inner, doubled), "not a proven optimum"),
    ],
    ids=["low bound", "high bound", "no answer", "another answer"],
)
def test_the_suite_examines_removal_paths(removal, words):
    with pytest.raises(AssertionError, match=f"'changed' on random-40-linear-1: removal paths arrive: .*{words}"):
        check_case(Changed(removal), CASE)


def test_the_suite_examines_how_examples_are_admitted():
    words = "admitted examples come back: .*not a proven optimum"
    with pytest.raises(AssertionError, match=f"'changed' on random-40-linear-1: {words}"):
        check_case(Changed(admitted=doubled), CASE)
    check_case(Changed(), CASE)


def test_a_solver_that_fails_is_no_witness_against_another(monkeypatch):
    monkeypatch.setattr(conformance, "_available", lambda: frozenset({"path", "no such solver"}))
    check_case(load_solver("piqp"), CASE)
