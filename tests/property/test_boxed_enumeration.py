"""The enumeration between two boxes, what is left out and what is kept, against brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.oracles.brute_force import models_by_copies
from support.problems import problems

from fairenum.enumeration.search import Enumeration, Limits
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem


@st.composite
def boxed(draw, **arguments) -> tuple[SvmProblem, np.ndarray, np.ndarray]:
    """Draw a problem, how many copies are allowed, and how many of these are kept."""
    problem = draw(problems(**arguments))
    allowed = np.array([draw(st.integers(0, int(copies))) for copies in problem.copies])
    floor = np.array([draw(st.integers(0, int(copies))) for copies in allowed])
    assume(len(set(problem.y[allowed > 0])) == 2)
    return problem, allowed, floor


def enumerated(problem: SvmProblem, allowed: np.ndarray, floor: np.ndarray) -> list:
    workspace = open_workspace("path", problem)
    whole = workspace.solve()
    root = workspace.solve(allowed * problem.cost, whole)
    best = whole.certificate.objective
    return list(Enumeration(workspace, Limits(models=None), root=root, floor=floor, best=best))


def check(problem: SvmProblem, allowed: np.ndarray, floor: np.ndarray) -> None:
    models = enumerated(problem, allowed, floor)
    expected = models_by_copies(problem, allowed, floor)
    found = [tuple(np.ceil(model.alpha / problem.cost - 1e-9).astype(int).tolist()) for model in models]
    assert len(set(found)) == len(found)
    assert set(found) == set(expected)
    objectives = np.array([model.objective for model in models])
    np.testing.assert_allclose(objectives, [expected[key] for key in found], rtol=1e-7, atol=1e-12)
    assert (np.diff(objectives) <= 1e-11 * np.abs(objectives).max(initial=0.0)).all()
    for model in models:
        kept = problem.copies - np.array([model.left_out.get(i, 0) for i in range(problem.size)])
        assert (kept >= floor).all(), "what is to be kept is never left out"
        assert (kept <= allowed).all(), "what is to be left out never comes back"


@settings(max_examples=40)
@given(boxed(max_size=6))
def test_examples_left_out_and_kept_equal_brute_force(drawn):
    check(*drawn)


@settings(max_examples=25)
@given(boxed(max_size=4, copies=True, boxes=True))
def test_copies_left_out_and_kept_equal_brute_force(drawn):
    check(*drawn)


@settings(max_examples=30)
@given(boxed(max_size=6))
def test_losses_are_measured_against_the_whole_problem(drawn):
    problem, allowed, floor = drawn
    whole = open_workspace("path", problem).solve().certificate.objective
    for model in enumerated(problem, allowed, floor)[:4]:
        b, slack = model.intercept, problem.linear - problem.product(model.alpha)
        loss = 0.5 * model.alpha @ problem.product(model.alpha)
        loss += problem.upper @ np.maximum(0.0, slack - problem.y * b)
        assert 1.0 + model.loss_ratio <= loss / whole + 1e-6
        assert model.loss_ratio >= -1e-7, "none is better than the best"
