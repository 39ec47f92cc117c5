"""Two ways to one matrix."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import posed

from fairenum.errors import ProblemError
from fairenum.problem import Kernel
from fairenum.qp import gram as grams
from fairenum.qp.gram import LinearGram, MatrixGram, open_gram


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_both_grams_say_the_same(ridge):
    problem = posed(30, 4, ridge=ridge)
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
    problem = posed(10, 2)
    assert open_gram(problem) is open_gram(problem)
    assert isinstance(open_gram(problem), LinearGram)
    assert isinstance(open_gram(posed(5, 20)), MatrixGram), "with more features than examples the matrix is smaller"


def test_a_kernel_matrix_that_does_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(grams, "MATRIX_LIMIT", 20)
    with pytest.raises(ProblemError, match=r"a rbf kernel on 30 examples needs a matrix of .* GB; at most 20 examples"):
        open_gram(posed(30, 2, kernel=Kernel("rbf")))
