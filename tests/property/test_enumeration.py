"""The enumeration against brute force over all subsets: the same models, in order, none missing, none twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from support.oracles.brute_force import BruteForce, models_by_copies
from support.problems import problems

from fairenum.enumeration.search import Enumeration, Limits
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem

EVERYTHING = Limits(models=None)


def enumerated(problem: SvmProblem, solver: str = "path") -> list:
    enumeration = Enumeration(open_workspace(solver, problem), EVERYTHING)
    models = list(enumeration)
    assert enumeration.stopped == "exhausted"
    return models


def assert_in_order(models: list) -> None:
    objectives = np.array([model.objective for model in models])
    assert (np.diff(objectives) <= 1e-11 * np.abs(objectives).max(initial=0.0)).all()


def assert_equals(models: list, expected: dict[tuple[int, ...], float], keys: list[tuple[int, ...]]) -> None:
    assert len(set(keys)) == len(keys)
    assert set(keys) == set(expected)
    for model, key in zip(models, keys, strict=True):
        assert model.objective == pytest.approx(expected[key], rel=1e-7, abs=1e-12)
    assert_in_order(models)


@settings(max_examples=150)
@given(problems(max_size=7))
def test_equals_brute_force_over_all_subsets(problem):
    models = enumerated(problem)
    assert_equals(models, BruteForce(problem).models(), [tuple(model.support.tolist()) for model in models])


@settings(max_examples=8)
@given(problems(max_size=10, kinds=("continuous", "grid")))
def test_equals_brute_force_at_ten_examples(problem):
    models = enumerated(problem)
    assert_equals(models, BruteForce(problem).models(), [tuple(model.support.tolist()) for model in models])


@settings(max_examples=25)
@given(problems(max_size=4, copies=True))
def test_merged_copies_equal_brute_force_over_numbers_of_copies(problem):
    models = enumerated(problem)
    used = [tuple(np.ceil(m.alpha / problem.cost - 1e-9).astype(int).tolist()) for m in models]
    assert_equals(models, models_by_copies(problem), used)


@settings(max_examples=60)
@given(problems(max_size=6, boxes=True))
def test_a_box_per_class_or_example_equals_brute_force(problem):
    models = enumerated(problem)
    assert_equals(models, BruteForce(problem).models(), [tuple(model.support.tolist()) for model in models])


@settings(max_examples=25)
@given(problems(max_size=4, copies=True, boxes=True))
def test_copies_in_a_box_per_class_or_example_equal_brute_force_over_numbers_of_copies(problem):
    models = enumerated(problem)
    used = [tuple(np.ceil(m.alpha / problem.cost - 1e-9).astype(int).tolist()) for m in models]
    assert_equals(models, models_by_copies(problem), used)


@settings(max_examples=40)
@given(problems(max_size=6, copies=True, boxes=True))
def test_what_models_lose_is_their_loss_on_all_rows_at_their_own_prices(problem):
    """Against the primal objective, written out with the slack of every example and minimised over the bias."""
    enumeration = Enumeration(open_workspace("path", problem), Limits(models=4))
    models = list(enumeration)
    for model in models:
        centred = model.decision_function(problem.X) - model.intercept
        weights = problem.y * model.alpha
        norm = float(weights @ problem.kernel(problem.X, problem.X) @ weights)
        biases = problem.y - centred  # the loss is piecewise linear in the bias, and bends where a margin is met
        hinges = np.maximum(0.0, 1.0 - problem.y * (centred + biases[:, None]))
        inside = np.array([problem.copies[i] - model.left_out.get(i, 0) for i in range(problem.size)]) * problem.cost
        bias = biases[(hinges @ inside).argmin()]
        slack = np.maximum(0.0, 1.0 - problem.y * (centred + bias))
        least = 0.5 * norm + float(inside @ slack)
        assert model.objective == pytest.approx(least, rel=1e-8, abs=1e-10)
        whole = 0.5 * norm + float(problem.upper @ slack)
        low, high = model.bias_interval
        if high - low < 1e-12:  # else another bias may be as good for the model and not for the rows it left out
            assert (1.0 + model.loss_ratio) * models[0].objective == pytest.approx(whole, rel=1e-6)


@settings(max_examples=15)
@given(problems(max_size=5, kinds=("continuous", "grid")))
def test_a_solver_without_paths_finds_the_same_models(problem):
    by_path = {tuple(model.support.tolist()): model.objective for model in enumerated(problem)}
    models = enumerated(problem, "libsvm")
    assert_equals(models, by_path, [tuple(model.support.tolist()) for model in models])


@settings(max_examples=60)
@given(problems(max_size=7))
def test_each_model_is_the_optimum_of_what_it_left_in(problem):
    """The left-out examples explain the model: training without them gives it."""
    oracle = BruteForce(problem)
    for model in enumerated(problem):
        allowed = sum(1 << i for i in range(problem.size) if i not in model.left_out)
        np.testing.assert_allclose(model.alpha, oracle.canonical(allowed), atol=1e-6 * problem.upper.max())


@pytest.mark.slow
@settings(max_examples=3000)
@given(problems(max_size=8))
def test_equals_brute_force_at_length(problem):
    models = enumerated(problem)
    assert_equals(models, BruteForce(problem).models(), [tuple(model.support.tolist()) for model in models])
