"""Paths from one optimum to another."""

from __future__ import annotations

import numpy as np
import pytest
from support.problems import labels, posed, table

from fairenum.svm.gram import open_gram
from fairenum.svm.path import PathStuck, RemovalPath, shift_linear
from fairenum.svm.polish import optimal_state
from fairenum.svm.problem import SvmProblem


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
    problem = posed(40, 3)
    root = optimal_state(open_gram(problem), problem, problem.upper)
    path = RemovalPath(root, problem.objective(root.alpha), int(np.flatnonzero(root.alpha)[0]), 0.0)
    path._limit = 0
    with pytest.raises(PathStuck):
        path.advance(-np.inf)


def test_shifting_the_linear_term_there_and_back_changes_nothing():
    problem = posed(60, 3)
    state = optimal_state(open_gram(problem), problem, problem.upper)
    before = state.alpha.copy()
    shift_linear(state, problem.linear * np.linspace(0.5, 1.5, 60))
    assert not np.allclose(state.alpha, before)
    shift_linear(state, problem.linear)
    np.testing.assert_allclose(state.alpha, before, atol=1e-9)
