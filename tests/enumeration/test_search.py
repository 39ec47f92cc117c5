"""The search: when it stops, what it says, what a model carries."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problems import posed

from fairenum.document.models import MarginTies
from fairenum.enumeration import search as search_module
from fairenum.enumeration.distinct import DistinctModels, _affine_rank, margin_ties
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.errors import ProblemError
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem


def search(problem: SvmProblem, solver: str = "path", memory: int = 2**29, **limits) -> Enumeration:
    return Enumeration(open_workspace(solver, problem), Limits(**{"models": None} | limits), memory)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"models": 7}, "models"), ({"loss": 1e-3}, "objective"), ({"nodes": 5}, "nodes"), ({"seconds": 0.2}, "time")],
)
def test_it_stops_and_says_why(limits, reason):
    enumeration = search(posed(), **limits)
    models = list(enumeration)
    assert enumeration.stopped == reason
    if reason == "models":
        assert len(models) == 7
    if reason == "objective":
        best = models[0].objective
        assert all(model.objective >= (1 - 1e-3) * best for model in models)
        beyond = list(search(posed(), models=len(models) + 1))[-1]
        assert beyond.objective < (1 - 1e-3) * best, "the next one is really outside"


def test_a_small_problem_is_exhausted():
    enumeration = search(posed(5))
    assert len(list(enumeration)) > 1
    assert enumeration.stopped == "exhausted"


def test_the_caller_can_stop_and_nothing_was_done_ahead():
    enumeration = search(posed(300, 5))
    started = time.perf_counter()
    first = list(itertools.islice(enumeration, 3))
    enumeration.close()
    assert len(first) == 3
    assert enumeration.stopped == "caller"
    assert list(enumeration) == []
    assert time.perf_counter() - started < 30.0


def test_forgetting_states_changes_nothing(monkeypatch):
    """With room for next to no state, all are recomputed, and the models stay the same."""
    roomy = list(search(posed(40), models=150))
    monkeypatch.setattr(search_module, "FEWEST", 8)
    cramped = search(posed(40), models=150, memory=1)
    models = list(cramped)
    assert cramped._room == 8
    assert [m.support.tolist() for m in models] == [m.support.tolist() for m in roomy]
    np.testing.assert_allclose([m.objective for m in models], [m.objective for m in roomy], rtol=1e-12)


def test_a_model_carries_its_proof():
    problem = posed(kind="grid")
    models = list(search(problem, models=30))
    best = models[0]
    assert best.left_out == {}
    assert best.loss_ratio == pytest.approx(0.0, abs=1e-9)
    for rank, model in enumerate(models, start=1):
        assert model.rank == rank
        assert model.certificate.relative_gap <= 1e-9
        assert model.objective <= best.objective * (1 + 1e-12)
        assert model.loss_ratio >= -1e-9
        np.testing.assert_array_equal(model.support, np.flatnonzero(model.alpha))
        assert not set(model.left_out) & set(model.support.tolist())
        low, high = model.bias_interval
        assert low <= model.intercept <= high
        assert set(np.unique(model.predict(problem.X))) <= {-1, 1}


def test_loss_ratio_is_the_primal_loss_on_all_examples():
    problem = posed(80)
    models = list(search(problem, models=10))
    for model in models:
        decision = model.decision_function(problem.X)
        w = (model.alpha * problem.y) @ problem.X
        loss = 0.5 * w @ w + np.maximum(0.0, 1.0 - problem.y * decision).sum()
        assert model.loss_ratio == pytest.approx(loss / models[0].objective - 1.0, abs=1e-9)


def test_order_is_certified_without_ties_and_flagged_with_them():
    assert all(model.is_order_certified for model in search(posed(50), models=20))
    tied = SvmProblem([[1.0]] * 4 + [[-1.0]] * 4, [1.0] * 4 + [-1.0] * 4, 10.0)
    assert not any(model.is_order_certified for model in itertools.islice(search(tied), 1, 6))


def test_libsvm_and_path_agree_on_the_first_models():
    problem = posed(80, 4)
    fast = list(search(problem, models=15))
    slow = list(search(problem, "libsvm", models=15))
    assert [m.support.tolist() for m in fast] == [m.support.tolist() for m in slow]
    for left, right in zip(fast, slow, strict=True):
        np.testing.assert_allclose(left.alpha, right.alpha, atol=1e-8)


def tied_problem() -> SvmProblem:
    """Six copies of two points: any of them can be dropped, and the plane stays."""
    return SvmProblem([[1.0]] * 6 + [[-1.0]] * 6, [1.0] * 6 + [-1.0] * 6, 10.0)


def test_many_supports_of_one_predictor_are_collapsed_and_explained():
    problem = tied_problem()
    distinct = DistinctModels(search(problem), "predictions", problem.X, models=5)
    models = list(distinct)
    assert len(models) == 1
    assert distinct.sizes == [36], "one example of six on each side"
    assert distinct.stopped == "exhausted"
    assert sum(distinct.sizes) == 36
    assert distinct.ties is not None
    assert distinct.ties.examples == 12 > distinct.ties.independent
    assert margin_ties(models[0]) == distinct.ties == MarginTies(12, 2, 6), "and all six of a side must go to move it"


def test_patience_ends_a_search_among_equals():
    distinct = DistinctModels(search(tied_problem()), "predictions", tied_problem().X, models=5, patience=10)
    assert len(list(distinct)) == 1
    assert distinct.stopped == "alike"
    assert distinct.sizes == [11]


def test_predictions_are_distinct_and_counted():
    problem = posed(60)
    distinct = DistinctModels(search(problem), "predictions", problem.X, models=10)
    models = list(distinct)
    decisions = {tuple(model.predict(problem.X).tolist()) for model in models}
    assert len(decisions) == len(models) == 10
    assert distinct.stopped == "models"
    everything = list(itertools.islice(search(problem), sum(distinct.sizes)))
    assert {tuple(model.predict(problem.X).tolist()) for model in everything} == decisions


def test_diverse_models_differ_by_the_share():
    problem = posed(60)
    models = list(DistinctModels(search(problem, models=400), "diverse", problem.X, models=4, share=0.05))
    for left, right in itertools.combinations(models, 2):
        assert np.mean(left.predict(problem.X) != right.predict(problem.X)) >= 0.05


def test_supports_pass_through():
    distinct = DistinctModels(search(posed(), models=12))
    assert len(list(distinct)) == 12
    assert distinct.stopped == "models"
    assert distinct.ties is None


def test_similar_planes_are_explained_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    problem = SvmProblem(X, np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0, 1.0, -1.0))
    far = np.array([[50.0, 0.0, 0.0], [-50.0, 0.0, 0.0]])
    distinct = DistinctModels(search(problem, models=20), "predictions", far, models=5)
    list(distinct)
    assert distinct.ties is not None
    assert distinct.ties.examples <= distinct.ties.independent


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"notion": "other"}, "must be support, predictions or diverse"),
        ({"notion": "predictions"}, "give the audited rows"),
        ({"notion": "diverse", "rows": np.zeros((2, 3)), "share": 0.0}, r"in \(0, 1\]"),
    ],
)
def test_bad_notions_are_refused(arguments, message):
    with pytest.raises(ProblemError, match=message):
        DistinctModels(search(posed()), **arguments)


def test_open_decisions_are_flagged():
    problem = SvmProblem([[0.0], [2.0], [10.0], [-10.0]], [-1.0, 1.0, 1.0, -1.0], 0.1)
    model = next(search(problem))
    assert model.bias_interval[1] > model.bias_interval[0]
    assert model.undetermined(np.array([[1.0]])).all()
    assert not model.undetermined(np.array([[10.0], [-10.0]])).any()


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from(["hypercube", "grid", "continuous"]), st.integers(2, 30))
def test_the_rank_of_a_margin_is_that_of_its_differences(seed, kind, n):
    problem = posed(n, 4, kind, seed)
    every = np.arange(n)
    assert _affine_rank(problem, every) == 1 + np.linalg.matrix_rank(problem.X[1:] - problem.X[0], tol=1e-7)
