"""Numbers of extreme scale: answers do not depend on the unit, and too large numbers are refused with an error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles.brute_force import BruteForce
from support.oracles.digits import proven_interval
from support.problems import overlapping, problems, separable

from fairenum.errors import ProblemError
from fairenum.solvers.registry import open_workspace
from fairenum.svm import gram
from fairenum.svm.gram import open_gram
from fairenum.svm.problem import Kernel, SvmProblem

SOLVERS = ("libsvm", "osqp", "path", "piqp")


def assert_right(problem, solver="path"):
    """Check an answer with a hundred digits."""
    answer = open_workspace(solver, problem).solve()
    low, high = (float(end) for end in proven_interval(problem, answer.alpha))
    assert high - low <= 1e-9 * low
    assert answer.certificate.objective == pytest.approx(low, rel=1e-9, abs=0.0)
    return answer


@given(problems(max_size=6))
@settings(max_examples=30)
def test_a_hundred_digits_and_brute_force_agree(problem):
    brute = BruteForce(problem)
    alpha = brute.canonical((1 << problem.size) - 1)
    low, high = proven_interval(problem, alpha)
    assert float(high - low) <= 1e-6 * float(low)
    assert brute.objective(alpha) == pytest.approx(float(low), rel=1e-6)


def test_a_hundred_digits_doubt_what_is_not_optimal():
    X, y = overlapping(20)
    problem = SvmProblem(X, y)
    alpha = open_workspace("path", problem).solve().alpha.copy()
    alpha[np.flatnonzero(alpha)[:3]] = 0.0
    low, high = proven_interval(problem, alpha)
    assert float(high - low) > 0.01 * float(low)


@pytest.mark.parametrize("solver", SOLVERS)
@given(power=st.integers(-20, 30))
@settings(max_examples=10)
def test_a_hard_margin_has_no_unit(solver, power):
    X, y = separable(20, 40)
    answer = assert_right(SvmProblem(2.0**power * X, y, 1e6), solver)
    same = open_workspace("path", SvmProblem(X, y, 1e6 * 4.0**power)).solve()  # but for the unit of alpha
    assert answer.support.tolist() == same.support.tolist()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("gamma", [100.0, 1e6])
def test_a_steep_poly_kernel_is_no_matter(solver, gamma):
    assert_right(SvmProblem(*overlapping(40), 1.0, kernel=Kernel("poly", gamma, 5, 1.0)), solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_far_from_0_are_no_matter(solver):
    X, y = overlapping(40)
    assert_right(SvmProblem(X + 1e8, y), solver)
    assert_right(SvmProblem(X + 1e8, y, kernel=Kernel("rbf", 0.5)), solver)


@given(gamma=st.floats(-12, 30).map(lambda power: 10.0**power), far=st.sampled_from([0.0, 1e4, 1e8]))
@settings(max_examples=20)
def test_an_rbf_kernel_has_the_digits_of_its_distances(gamma, far):
    X = overlapping(12)[0] + far
    values = Kernel("rbf", gamma)(X, X)
    expected = np.exp(-gamma * np.square((X[:, None] - X).astype(np.longdouble)).sum(axis=2))
    np.testing.assert_allclose(values, expected.astype(float), atol=1e-13)
    assert (values.diagonal() >= 1.0 - 1e-13).all()


@pytest.mark.parametrize("gamma", [0.5, 1e8])
def test_rows_of_a_kernel_are_those_of_its_matrix(gamma, monkeypatch):
    X, y = overlapping(30)
    kernel, every = Kernel("rbf", gamma), np.arange(30)
    whole = open_gram(SvmProblem(X, y, kernel=kernel)).block(every, every)
    monkeypatch.setattr(gram, "MATRIX_BYTES", 0)
    rows = open_gram(SvmProblem(X, y, kernel=kernel))
    assert isinstance(rows, gram.RowGram)
    np.testing.assert_allclose(rows.block(every, every), whole, atol=1e-13)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("scale", "arguments", "message"),
    [
        (1.0, {"cost": 1e-300}, r"costs range from 1e-300 to 1e-300.*1e-100 to 1e\+100 is taken"),
        (1.0, {"cost": 1e300}, r"costs range from 1e\+300"),
        (1e160, {}, r"X holds numbers up to .*e\+160; at most 1e\+100 is taken: standardise the features"),
        (1e40, {"cost": 1e9}, r"values of the linear kernel times the cost reach .*: standardise the features$"),
        (1.0, {"kernel": Kernel("poly", 1e30, 20)}, "values of the poly kernel .*, or use a smaller gamma or degree$"),
    ],
    ids=("tiny cost", "huge cost", "huge features", "huge products", "steep kernel"),
)
def test_what_is_too_much_is_refused_in_words(solver, scale, arguments, message):
    X, y = overlapping(20)
    with pytest.raises(ProblemError, match=message):
        open_workspace(solver, SvmProblem(scale * X, y, **arguments))
