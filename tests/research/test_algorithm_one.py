"""Algorithm 1 of the paper: every model once, best first."""

import itertools

import numpy as np
import pytest
from sklearn.svm import SVC

from fairenum.enumeration.search import Limits
from fairenum.errors import ProblemError
from fairenum.research.growth import random_problem
from fairenum.research.race import AlgorithmOne
from fairenum.svm.problem import Kernel, SvmProblem


def all_models(problem):
    """Objective and support for every subset of the examples with both labels, without repeats, best first."""
    found = {}
    for size in range(2, problem.size + 1):
        for rows in map(list, itertools.combinations(range(problem.size), size)):
            if len(set(problem.y[rows])) == 2:
                svm = SVC(kernel="linear", C=problem.upper[0], tol=1e-9).fit(problem.X[rows], problem.y[rows])
                plane = svm.coef_[0]
                objective = np.abs(svm.dual_coef_).sum() - 0.5 * plane @ plane
                found[tuple(sorted(np.array(rows)[svm.support_].tolist()))] = objective
    return sorted(found, key=found.get, reverse=True)


def test_algorithm_one_lists_every_model_once_best_first():
    problem = random_problem(7, 2, seed=3)
    search = AlgorithmOne(problem, Limits(models=None), tol=1e-9)
    assert [tuple(model.support.tolist()) for model in search] == all_models(problem)
    assert search.stopped == "exhausted"


def test_algorithm_one_solves_every_child_of_a_model_before_the_next():
    problem = random_problem(30, 2)
    search = AlgorithmOne(problem, Limits(models=2))
    first = next(search)
    assert search.nodes == 1
    second = next(search)
    assert search.nodes == 1 + len(first.support)
    assert first.left_out == frozenset()
    assert len(second.left_out) == 1
    with pytest.raises(StopIteration):
        next(search)
    assert search.stopped == "models"
    assert search.nodes == 1 + len(first.support)


def test_algorithm_one_stops_in_time():
    search = AlgorithmOne(random_problem(30, 2), Limits(models=None, seconds=0.0))
    assert len(list(search)) == 1
    assert search.stopped == "time"


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"kernel": Kernel("rbf")}, "linear"), ({"ridge": 1.0}, "ridge"), ({"copies": [2, 1, 1]}, "one cost")],
)
def test_algorithm_one_refuses_what_the_paper_does_not_know(change, reason):
    problem = SvmProblem([[0.0], [1.0], [2.0]], [1, -1, 1], **change)
    with pytest.raises(ProblemError, match=reason):
        AlgorithmOne(problem)
