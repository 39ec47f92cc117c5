"""Interior point, active sets and paths, where the properties do not reach."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from oracles import BruteForce
from strategies import labels, table

from fairenum.errors import ProblemError
from fairenum.problem import Kernel, SvmProblem
from fairenum.qp import gram as grams
from fairenum.qp.gram import LinearGram, MatrixGram, open_gram
from fairenum.qp.interior import interior_point
from fairenum.qp.path import PathStuck, RemovalPath, shift_linear
from fairenum.qp.polish import optimal_state


def continuous(n: int, d: int, seed: int = 0, **arguments) -> SvmProblem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) / np.sqrt(d) + rng.normal(size=n) > 0, 1.0, -1.0)
    return SvmProblem(X, y, **arguments)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_both_grams_say_the_same(ridge):
    problem = continuous(30, 4, ridge=ridge)
    Q = np.outer(problem.y, problem.y) * (problem.X @ problem.X.T) + ridge * np.eye(30)
    alpha, rows = np.random.default_rng(1).random(30), np.array([3, 1, 7])
    for gram in (LinearGram(problem.y[:, None] * problem.X, ridge), MatrixGram(Q)):
        np.testing.assert_allclose(gram.product(alpha), Q @ alpha, atol=1e-11)
        np.testing.assert_allclose(gram.block(rows, rows[:2]), Q[np.ix_(rows, rows[:2])], atol=1e-12)
        np.testing.assert_allclose(
            gram.restrict(rows).product(alpha[:3]), Q[np.ix_(rows, rows)] @ alpha[:3], atol=1e-12
        )
        np.testing.assert_allclose(gram.diagonal, Q.diagonal(), atol=1e-12)


def test_a_gram_is_made_once_per_problem():
    problem = continuous(10, 2)
    assert open_gram(problem) is open_gram(problem)
    assert isinstance(open_gram(problem), LinearGram)
    assert isinstance(open_gram(continuous(5, 20)), MatrixGram), (
        "with more features than examples the matrix is smaller"
    )


def test_a_kernel_matrix_that_does_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(grams, "MATRIX_LIMIT", 20)
    with pytest.raises(ProblemError, match=r"a rbf kernel on 30 examples needs a matrix of .* GB; at most 20 examples"):
        open_gram(continuous(30, 2, kernel=Kernel("rbf")))


@pytest.mark.parametrize("cost", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.2)])
def test_interior_point_is_nearly_optimal_by_itself(cost, kernel):
    problem = continuous(120, 4, cost=cost, kernel=kernel)
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


def test_a_path_arrives_where_a_cold_start_does():
    rng = np.random.default_rng(5)
    problem = SvmProblem(table("grid", rng, 80, 4), labels(rng, 80))
    gram = open_gram(problem)
    root = optimal_state(gram, problem, problem.upper)
    objective = problem.objective(root.alpha)
    for example in np.flatnonzero(root.alpha):
        path = RemovalPath(root, objective, int(example), 0.0)
        bounds = [path.bound]
        upper = np.where(np.arange(80) == example, 0.0, problem.upper)
        cold = optimal_state(gram, problem, upper)
        value = problem.objective(cold.alpha)
        while not path.advance(bounds[-1] - 1e-6):
            bounds.append(path.bound)
        assert (np.diff(bounds) <= 0).all(), "a bound only ever falls"
        assert min(bounds) >= value - 1e-9
        np.testing.assert_allclose(path.state.alpha, cold.alpha, atol=1e-8)
        assert path.bound == pytest.approx(value, rel=1e-12)


def test_a_stuck_path_says_so():
    problem = continuous(40, 3)
    root = optimal_state(open_gram(problem), problem, problem.upper)
    path = RemovalPath(root, problem.objective(root.alpha), int(np.flatnonzero(root.alpha)[0]), 0.0)
    path._limit = 0
    with pytest.raises(PathStuck):
        path.advance(-np.inf)


def test_shifting_the_linear_term_there_and_back_changes_nothing():
    problem = continuous(60, 3)
    state = optimal_state(open_gram(problem), problem, problem.upper)
    before = state.alpha.copy()
    shift_linear(state, problem.linear * np.linspace(0.5, 1.5, 60))
    assert not np.allclose(state.alpha, before)
    shift_linear(state, problem.linear)
    np.testing.assert_allclose(state.alpha, before, atol=1e-9)


def test_nobody_is_left_when_one_class_is():
    problem = continuous(20, 2)
    state = optimal_state(open_gram(problem), problem, np.where(problem.y > 0, 1.0, 0.0))
    assert not state.alpha.any()
    assert state.violation() <= 0.0
    assert not optimal_state(open_gram(problem), problem, np.zeros(20)).alpha.any()


def test_a_general_linear_term_is_honoured():
    rng = np.random.default_rng(2)
    problem = SvmProblem(rng.normal(size=(7, 2)), labels(rng, 7), 2.0, linear=rng.uniform(0.2, 2.0, 7))
    state = optimal_state(open_gram(problem), problem, problem.upper)
    np.testing.assert_allclose(state.alpha, BruteForce(problem).canonical(127), atol=1e-7)


INTERPRETED = """
import json, sys
import numpy as np
from strategies import labels, table
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.problem import Kernel, SvmProblem
from fairenum.solvers.registry import open_workspace
found = []
for kind in ("continuous", "grid", "hypercube"):
    for kernel in (Kernel("linear"), Kernel("rbf", 0.5)):
        for ridge in (0.0, 0.01):
            rng = np.random.default_rng(7)
            problem = SvmProblem(table(kind, rng, 18, 2), labels(rng, 18), 1.0, kernel=kernel, ridge=ridge)
            models = Enumeration(open_workspace("path", problem), Limits(models=12))
            found.append([[model.support.tolist(), model.objective] for model in models])
json.dump(found, sys.stdout)
"""


def test_compiled_and_interpreted_loops_agree():
    """The inner loop is ordinary Python that numba compiles; both must find the same models."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    runs = [
        subprocess.run(
            [sys.executable, "-c", INTERPRETED],
            env=environment | {"NUMBA_DISABLE_JIT": disabled}, capture_output=True, text=True, check=True,
        )
        for disabled in ("0", "1")
    ]  # fmt: skip
    compiled, interpreted = (json.loads(run.stdout) for run in runs)
    for left, right in zip(compiled, interpreted, strict=True):
        np.testing.assert_allclose([value for _, value in left], [value for _, value in right], rtol=1e-12)
        assert tied_supports(left) == tied_supports(right)


def tied_supports(models):
    """The supports by objective, as sets: exact ties have no order. The last tie may be cut off, so it is left out."""
    ties = {}
    for support, value in models:
        ties.setdefault(round(value, 9), set()).add(tuple(support))
    return list(ties.values())[:-1]
