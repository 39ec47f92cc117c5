"""What it takes to move a pinned plane, against leaving out every set of fewer records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.enumeration.distinct import records_to_move
from fairenum.enumeration.model import Model, model_of
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import Kernel, SvmProblem

MOST = 4  # records that are left out: beyond it there are too many sets


def best_of(problem: SvmProblem) -> Model:
    best = open_workspace("path", problem).solve()
    return model_of(problem, best, 1, best.certificate.objective)


def smaller_boxes(problem: SvmProblem, records: int) -> Iterator[np.ndarray]:
    """Every box with so many records left out."""
    for left_out in combinations_with_replacement(range(problem.size), records):
        counts = problem.copies.astype(float)
        for example, number in Counter(left_out).items():
            counts[example] -= number
        if (counts >= 0.0).all() and len(np.unique(problem.y[counts > 0.0])) == 2:
            yield counts * problem.cost


@st.composite
def crowds(draw) -> SvmProblem:
    """Few values and many copies of each: what pins a plane."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 2))
    places = np.array(list(product((0.0, 1.0, 2.0), repeat=d)))
    drawn = places[rng.choice(len(places), size=draw(st.integers(2, 4)), replace=True)]
    X, y = np.repeat(drawn, 2, axis=0), np.tile([1.0, -1.0], len(drawn))
    cost = np.where(y > 0, draw(st.sampled_from((0.5, 1.0, 3.0))), 1.0)
    return SvmProblem(X, y, cost, rng.integers(1, 30, size=len(y)))


@settings(max_examples=60)
@given(crowds())
def test_fewer_records_than_it_takes_never_move_the_plane(problem):
    model, workspace = best_of(problem), open_workspace("path", problem)
    values = model.decision_function(problem.X)
    for records in range(1, min(records_to_move(model), MOST)):
        for upper in smaller_boxes(problem, records):
            solution = workspace.solve(upper)
            low, high = solution.certificate.bias_low, solution.certificate.bias_high
            assert high - low <= 1e-7
            moved = model_of(problem, solution, 1, model.objective).decision_function(problem.X)
            np.testing.assert_allclose(moved, values, atol=1e-7)


def test_a_pinned_plane_is_held_by_as_many_records_as_are_counted_by_hand():
    # x = 0 has 30 against and 10 for, x = 1 the other way round: w = 2, b = -1. The ten wrong records of each place are
    # at their bounds, and w = alpha - 10 there: the thirty right ones hold the plane by alpha = 12 of theirs, together
    problem = SvmProblem([[0.0], [0.0], [1.0], [1.0]], [-1.0, 1.0, 1.0, -1.0], 1.0, [30, 10, 30, 10])
    model, workspace = best_of(problem), open_workspace("path", problem)
    np.testing.assert_allclose(model.decision_function(problem.X), [-1.0, -1.0, 1.0, 1.0], atol=1e-9)
    assert records_to_move(model) == 12
    for upper in smaller_boxes(problem, 11):
        moved = model_of(problem, workspace.solve(upper), 1, model.objective)
        np.testing.assert_allclose(moved.decision_function(problem.X), [-1.0, -1.0, 1.0, 1.0], atol=1e-7)


@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.5)])
def test_nothing_is_claimed_of_a_plane_that_is_not_pinned(kernel):
    rng = np.random.default_rng(0)
    problem = SvmProblem(rng.normal(size=(60, 3)), np.where(rng.random(60) < 0.5, 1.0, -1.0), 1.0, kernel=kernel)
    assert records_to_move(best_of(problem)) == 1
