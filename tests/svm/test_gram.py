"""Grams from signed features and as a matrix: the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from support.oracles.brute_force import BruteForce
from support.problems import labels, posed, problems

from fairenum.errors import ProblemError
from fairenum.solvers.registry import open_workspace
from fairenum.svm import gram, sparse_or_dense
from fairenum.svm.gram import LinearGram, MatrixGram, open_gram
from fairenum.svm.polish import optimal_state
from fairenum.svm.problem import Kernel, SvmProblem


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_both_grams_say_the_same(ridge):
    problem = posed(30, 4, ridge=ridge)
    Q = np.outer(problem.y, problem.y) * (problem.X @ problem.X.T) + ridge * np.eye(30)
    alpha, rows = np.random.default_rng(1).random(30), np.array([3, 1, 7])
    for one in (LinearGram(problem.y[:, None] * problem.X, ridge), MatrixGram(Q)):
        np.testing.assert_allclose(one.product(alpha), Q @ alpha, atol=1e-11)
        np.testing.assert_allclose(one.block(rows, rows[:2]), Q[np.ix_(rows, rows[:2])], atol=1e-12)
        np.testing.assert_allclose(one.restrict(rows).product(alpha[:3]), Q[np.ix_(rows, rows)] @ alpha[:3], atol=1e-12)
        np.testing.assert_allclose(one.diagonal, Q.diagonal(), atol=1e-12)


def test_a_gram_is_made_once_per_problem():
    problem = posed(10, 2)
    assert open_gram(problem) is open_gram(problem)
    assert isinstance(open_gram(problem), LinearGram)
    assert isinstance(open_gram(posed(5, 20)), MatrixGram), "with more features than examples the matrix is smaller"


def test_a_kernel_matrix_that_is_too_large_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(gram, "MATRIX_LIMIT", 20)
    with pytest.raises(ProblemError, match=r"a rbf kernel on 30 examples has a matrix of .* GB .* at most 20 examples"):
        open_gram(posed(30, 2, kernel=Kernel("rbf")))


def categories(n: int = 80, seed: int = 0, **arguments) -> SvmProblem:
    """One number far from 0, and three categories of six values as columns of 0 and 1."""
    rng = np.random.default_rng(seed)
    columns = [np.eye(6)[rng.integers(0, 6, n)] for _ in range(3)]
    return SvmProblem(np.column_stack([rng.normal(1e3, 1.0, n), *columns]), labels(rng, n), **arguments)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_a_sparse_table_says_the_same_and_stays_sparse(ridge, monkeypatch):
    problem = categories(ridge=ridge)
    gram = open_gram(problem)
    alpha = np.random.default_rng(1).random(80)
    alpha[problem.y > 0] *= alpha[problem.y < 0].sum() / alpha[problem.y > 0].sum()
    assert len(gram.nonzeros.values) == 4 * 80, "only the number is centred"
    monkeypatch.setattr(sparse_or_dense, "SPARSE", 0.0)
    dense = open_gram(categories(ridge=ridge))
    assert len(dense.nonzeros.values) == 0
    reached = gram.product(alpha) - problem.y * gram.bias_offset(alpha)
    np.testing.assert_allclose(reached, dense.product(alpha) - problem.y * dense.bias_offset(alpha), atol=1e-9)
    np.testing.assert_allclose(reached, problem.product(alpha), atol=1e-9)


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_the_optimum_of_a_sparse_table_is_that_of_a_dense_one(cost, monkeypatch):
    problem = categories(300, cost=cost)
    solution = open_workspace("path", problem).solve()
    monkeypatch.setattr(sparse_or_dense, "SPARSE", 0.0)
    expected = open_workspace("path", categories(300, cost=cost)).solve()
    np.testing.assert_array_equal(solution.support, expected.support)
    np.testing.assert_allclose(solution.alpha, expected.alpha, atol=1e-9 * cost)
    # with a number far from 0 the bias alone moves with the last digits of alpha; what is decided does not
    signed = [one.alpha * problem.y for one in (solution, expected)]
    planes = [problem.decide(problem.X, np.arange(problem.size), weights) for weights in signed]
    ours, theirs = planes[0] + solution.certificate.bias, planes[1] + expected.certificate.bias
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


@given(problems(kernels=(Kernel("linear"),), copies=True))
def test_small_tables_taken_as_sparse_have_the_canonical_answer(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_or_dense, "SPARSE", 1.0)
        state = optimal_state(open_gram(problem), problem, problem.upper)
    expected = BruteForce(problem).canonical(2**problem.size - 1)
    np.testing.assert_allclose(state.alpha, expected, atol=1e-7 * float(problem.upper.max()))
