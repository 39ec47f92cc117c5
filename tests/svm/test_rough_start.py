"""Kernel problems of many examples start from a rough answer: the exact answer does not depend on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from support.problems import labels, problems, table

from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.guided import MOST_PATHS, Bounds, GuidedSearch
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import SolverOverwhelmed
from fairenum.solvers.registry import open_workspace
from fairenum.svm import polish, working_set
from fairenum.svm.gram import MatrixGram, open_gram
from fairenum.svm.polish import optimal_state, rough_answer
from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.tables import Groups

KERNELS = (Kernel("rbf", 0.3), Kernel("poly", 0.5, 2, 1.0))


def posed(n: int, kernel: Kernel, kind: str = "continuous", **arguments) -> SvmProblem:
    rng = np.random.default_rng(n)
    return SvmProblem(table(kind, rng, n, 3), labels(rng, n), kernel=kernel, **arguments)


@pytest.mark.parametrize("kind", ["continuous", "grid"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("cost", [0.1, 10.0])
def test_the_optimum_is_that_of_an_interior_point(monkeypatch, kind, kernel, cost):
    problem = posed(300, kernel, kind, cost=cost)
    expected = optimal_state(open_gram(problem), problem, problem.upper)
    monkeypatch.setattr(polish, "MANY", 20)
    monkeypatch.setattr(working_set, "FEW", 16)
    assert rough_answer(problem, problem.upper) is not None
    state = optimal_state(open_gram(problem), problem, problem.upper)
    np.testing.assert_array_equal(np.flatnonzero(state.answer()), np.flatnonzero(expected.answer()))
    np.testing.assert_allclose(state.alpha, expected.alpha, atol=1e-8 * cost)


@given(problems(kernels=KERNELS, copies=True))
def test_small_problems_have_the_same_canonical_answer_from_a_rough_one(problem):
    expected = optimal_state(open_gram(problem), problem, problem.upper).answer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polish, "MANY", 1)
        patch.setattr(working_set, "FEW", 2)
        found = optimal_state(open_gram(problem), problem, problem.upper).answer()
    np.testing.assert_array_equal(found > 0.0, expected > 0.0)
    np.testing.assert_allclose(found, expected, atol=1e-7 * problem.upper.max())


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_a_rough_answer_is_nearly_optimal_within_its_box_and_scale(monkeypatch, scale):
    monkeypatch.setattr(polish, "MANY", 20)
    problem = posed(200, KERNELS[0], cost=np.linspace(0.5, 2.0, 200), linear=np.full(200, scale))
    upper = np.where(np.arange(200) % 5, problem.upper, 0.0)
    alpha = rough_answer(problem, upper)
    assert ((alpha >= 0.0) & (alpha <= upper)).all()
    assert problem.certify(alpha, upper).relative_gap < 1e-2


def test_libsvm_is_not_asked_what_it_does_not_know_or_what_is_small(monkeypatch):
    assert rough_answer(posed(200, KERNELS[0]), np.ones(200)) is None, "few examples"
    monkeypatch.setattr(polish, "MANY", 20)
    assert rough_answer(posed(200, KERNELS[0], linear=np.linspace(1.0, 2.0, 200)), np.ones(200)) is None


def test_a_problem_with_all_examples_near_the_margin_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr(polish, "MANY", 20)
    monkeypatch.setattr(working_set, "FEW", 16)
    monkeypatch.setattr(working_set, "MATRIX_AT_ONCE", 50)
    with pytest.raises(SolverOverwhelmed, match=r"of 300 examples too many are near the margin.*--split"):
        open_workspace("path", posed(300, Kernel("rbf", 1e3), cost=10.0)).solve()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_matrix_that_is_made_in_blocks_is_the_matrix(monkeypatch, kernel):
    problem = posed(70, kernel, ridge=0.25)
    monkeypatch.setattr("fairenum.svm.gram.BLOCK_ROWS", 16)
    gram = open_gram(problem)
    assert isinstance(gram, MatrixGram)
    alpha = np.random.default_rng(0).random(70)
    alpha[problem.y > 0] *= alpha[problem.y < 0].sum() / alpha[problem.y > 0].sum()
    reached = gram.product(alpha) + problem.y * gram.bias_offset(alpha) * -1.0
    np.testing.assert_allclose(reached, problem.product(alpha), atol=1e-9)


TWENTY_THOUSAND = """
import json, resource, time
import numpy as np
from sklearn.svm import SVC
from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.solvers.registry import open_workspace

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 10))
y = np.sign(np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + rng.normal(0.0, 0.3, 20_000))
problem = SvmProblem(X, y, kernel=Kernel("rbf", 0.1))
started = time.process_time()
solution = open_workspace("path", problem).solve()
seconds = time.process_time() - started
svm = SVC(C=1.0, gamma=0.1, tol=1e-6, cache_size=1000).fit(X, y)
alpha = np.zeros(20_000)
alpha[svm.support_] = np.abs(svm.dual_coef_[0])
print(json.dumps({
    "seconds": seconds, "gap": solution.certificate.relative_gap, "objective": solution.certificate.objective,
    "libsvm": problem.objective(alpha), "bias": solution.certificate.bias, "libsvm bias": float(svm.intercept_[0]),
    "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
}))
"""


@pytest.mark.slow
def test_twenty_thousand_examples_have_an_exact_answer_in_a_minute_and_stated_memory():
    run = subprocess.run(
        [sys.executable, "-c", TWENTY_THOUSAND],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    found = json.loads(run.stdout)
    assert found["gap"] <= 1e-9
    assert found["objective"] == pytest.approx(found["libsvm"], rel=1e-6)
    assert found["objective"] >= found["libsvm"] * (1.0 - 1e-12)
    assert found["bias"] == pytest.approx(found["libsvm bias"], abs=1e-4)
    assert found["seconds"] <= 60.0
    assert found["gigabytes"] <= 5.5


def test_a_neighbours_answer_gives_way_to_a_rough_one_and_the_answer_is_the_same(monkeypatch):
    """Many examples are left out at once: libsvm's answer for the new box is nearer than the old plane."""
    problem = posed(400, Kernel("rbf", 0.3))
    workspace = open_workspace("path", problem)
    upper = np.where(np.arange(400) % 4, problem.upper, 0.0)
    start = workspace.solve()
    alone = workspace.solve(upper, start)
    asked, rough_answer = [], polish.rough_answer
    monkeypatch.setattr(polish, "MANY", 20)
    monkeypatch.setattr("fairenum.svm.polish.rough_answer", lambda *of: asked.append(of) or rough_answer(*of))
    helped = workspace.solve(upper, start)
    assert len(asked) == 1
    np.testing.assert_array_equal(helped.support, alone.support)
    np.testing.assert_allclose(helped.alpha, alone.alpha, atol=1e-9)


def test_a_guided_search_goes_on_without_a_box_that_is_too_large_to_be_solved(monkeypatch):
    """Only the root is solved; every other box is refused, and none of them ends the search with an error."""
    problem = posed(300, Kernel("rbf", 0.3))
    workspace = open_workspace("path", problem)
    root = workspace.solve()

    def refused(_self, *_ignored):
        raise SolverOverwhelmed("too many")

    monkeypatch.setattr(working_set.WorkingSetSolver, "solve", refused)
    rng = np.random.default_rng(0)
    rows = EncodedRows(problem.X, problem.y, Groups(rng.integers(0, 2, 300), ("a", "b")))
    search = GuidedSearch(workspace, Watched(rows), Bounds(solves=10), root=root)
    assert next(iter(search)).model.left_out == {}
    assert all(len(found.model.left_out) <= MOST_PATHS for found in search)


def test_numbers_beyond_single_precision_have_no_rough_answer(monkeypatch):
    monkeypatch.setattr(polish, "MANY", 10)
    problem = posed(20, Kernel("poly", 1e12, 5, 1.0))
    assert rough_answer(problem, problem.upper) is None
