"""EnumSVC as scikit-learn sees it."""

from __future__ import annotations

import doctest
import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairenum import EnumSVC, estimator
from fairenum.errors import ConfigError, SolverNotFound

X, Y = make_classification(80, 4, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        EnumSVC(n_models=3),
        EnumSVC(n_models=2, kernel="rbf", merge_copies=True),
        EnumSVC(n_models=2, kernel="rbf", class_weight="balanced"),
        EnumSVC(n_models=2, gamma="auto", kernel="rbf", distinct="predictions"),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_the_best_model_is_the_svm(kernel):
    ours = EnumSVC(C=0.7, kernel=kernel, n_models=1).fit(X, Y)
    svc = SVC(C=0.7, kernel=kernel, tol=1e-8).fit(X, Y)
    np.testing.assert_array_equal(ours.support_, np.sort(svc.support_))
    np.testing.assert_allclose(ours.decision_function(X), svc.decision_function(X), atol=1e-5)
    assert ours.intercept_ == pytest.approx(svc.intercept_[0], abs=1e-5)


def test_public_names():
    estimator = EnumSVC(C=1.0, kernel="linear", solver="path", n_models=5, distinct="support").fit(X, Y)
    assert len(estimator.models_) == 5
    assert estimator.stopped_ == "models"
    np.testing.assert_array_equal(estimator.class_sizes_, 1)
    model = estimator.models_[1]
    assert model.objective < estimator.models_[0].objective
    np.testing.assert_array_equal(model.support, np.flatnonzero(model.alpha))
    assert model.certificate.relative_gap <= 1e-9
    np.testing.assert_array_equal(model.predict(X), estimator.classes_[(model.decision_function(X) >= 0).astype(int)])
    np.testing.assert_array_equal(estimator.predict(X), estimator.models_[0].predict(X))


def test_stream_yields_what_fit_keeps_and_goes_on():
    kept = EnumSVC(n_models=5).fit(X, Y).models_
    streamed = list(itertools.islice(EnumSVC(n_models=5).stream(X, Y), 8))
    assert [m.support.tolist() for m in streamed[:5]] == [m.support.tolist() for m in kept]
    assert len(streamed) == 8


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (1, 2), (-1.0, 1.0)])
def test_any_two_labels_will_do(labels):
    named = np.array(labels)[Y]
    estimator = EnumSVC(n_models=2).fit(X, named)
    assert set(estimator.predict(X).tolist()) == set(labels)
    assert np.mean(estimator.models_[1].predict(X) == named) > 0.7


@pytest.mark.parametrize("solver", ["libsvm", "osqp", "path"])
def test_every_solver_gives_the_same_models(solver):
    models = EnumSVC(n_models=4, solver=solver).fit(X, Y).models_
    expected = EnumSVC(n_models=4).fit(X, Y).models_
    assert [m.support.tolist() for m in models] == [m.support.tolist() for m in expected]


def test_copies_are_left_out_one_by_one():
    rows, labels = np.repeat(X[:12], 3, axis=0), np.repeat(Y[:12], 3)
    merged = EnumSVC(C=0.5, n_models=15, merge_copies=True).fit(rows, labels)
    signs = np.where(labels == merged.classes_[1], 1.0, -1.0)
    for model in merged.models_:
        assert model.alpha.shape == (36,)
        assert signs @ model.alpha == pytest.approx(0.0, abs=1e-9)
        assert (model.alpha >= 0).all()
        assert (model.alpha <= 0.5).all()
        assert all(model.alpha[row] == 0.0 for row in model.left_out)
        kept = np.setdiff1d(np.arange(36), list(model.left_out))
        again = EnumSVC(C=0.5, n_models=1).fit(rows[kept], labels[kept]).models_[0]
        assert again.objective == pytest.approx(model.objective, rel=1e-9)
        np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-7)


def test_row_by_row_there_are_more_models_of_one_objective():
    rows, labels = np.repeat(X[:12], 3, axis=0), np.repeat(Y[:12], 3)
    by_row = EnumSVC(C=0.5, n_models=15).fit(rows, labels)
    merged = EnumSVC(C=0.5, n_models=15, merge_copies=True).fit(rows, labels)
    assert by_row.models_[0].objective == pytest.approx(merged.models_[0].objective, rel=1e-10)
    assert by_row.models_[-1].objective > merged.models_[-1].objective


CLASS_WEIGHTS = (None, "balanced", {0: 0.4, 1: 3.0}, {1: 2.0})


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS, ids=str)
@pytest.mark.parametrize("merge_copies", [False, True])
def test_class_weights_are_scikit_learns(class_weight, merge_copies):
    few = np.r_[np.flatnonzero(Y == 1)[:15], np.flatnonzero(Y == 0)]
    ours = EnumSVC(0.7, n_models=1, class_weight=class_weight, merge_copies=merge_copies).fit(X[few], Y[few])
    svc = SVC(C=0.7, kernel="linear", class_weight=class_weight, tol=1e-10).fit(X[few], Y[few])
    np.testing.assert_allclose(ours.decision_function(X), svc.decision_function(X), atol=1e-5)
    plane = svc.coef_[0]
    expected = np.abs(svc.dual_coef_).sum() - 0.5 * plane @ plane
    assert ours.models_[0].objective == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("merge_copies", [False, True])
def test_sample_weights_are_scikit_learns(merge_copies):
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(Y))
    used = weights > 0.0
    ours = EnumSVC(0.7, n_models=4, merge_copies=merge_copies).fit(X, Y, weights)
    svc = SVC(C=0.7, kernel="linear", tol=1e-10).fit(X[used], Y[used], weights[used])
    np.testing.assert_array_equal(ours.support_, np.sort(np.flatnonzero(used)[svc.support_]))
    np.testing.assert_allclose(ours.decision_function(X), svc.decision_function(X), atol=1e-5)
    streamed = EnumSVC(0.7, merge_copies=merge_copies).stream(X, Y, sample_weight=weights)
    for model, again in zip(ours.models_, streamed, strict=False):
        assert set(np.flatnonzero(~used)) <= model.left_out.keys()
        assert model.alpha.tobytes() == again.alpha.tobytes()
        assert (model.alpha <= 0.7 * weights + 1e-12).all()
        kept = np.setdiff1d(np.arange(len(Y)), list(model.left_out))
        alone = EnumSVC(0.7, n_models=1).fit(X[kept], Y[kept], weights[kept]).models_[0]
        assert alone.objective == pytest.approx(model.objective, rel=1e-9)


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS, ids=str)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_are_repetitions_in_every_model(class_weight, kernel):
    """A row of weight 3 and three rows give one optimum; copies of one weight are left out one by one."""
    times = np.random.default_rng(1).integers(0, 4, 40)
    options = {"kernel": kernel, "class_weight": class_weight, "merge_copies": True}
    weighted = EnumSVC(n_models=1, **options).fit(X[:40], Y[:40], times).models_[0]
    repeated = EnumSVC(n_models=1, **options).fit(np.repeat(X[:40], times, axis=0), np.repeat(Y[:40], times))
    assert weighted.objective == pytest.approx(repeated.models_[0].objective, rel=1e-9)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    copies = EnumSVC(n_models=8, **options).fit(np.tile(X[:40], (2, 1)), np.tile(Y[:40], 2), np.full(80, 0.5))
    pairs = [{row % 40 for row in model.left_out} for model in copies.models_]
    assert any(len(pair) < len(model.left_out) for pair, model in zip(pairs, copies.models_, strict=True))
    assert any(1 in np.bincount([row % 40 for row in model.left_out]) for model in copies.models_[1:])
    assert copies.models_[0].objective == pytest.approx(
        EnumSVC(n_models=1, **options).fit(X[:40], Y[:40]).models_[0].objective, rel=1e-9
    )


def test_audited_rows_decide_what_is_alike():
    train, audited = X[:60], X[60:]
    estimator = EnumSVC(n_models=3, distinct="predictions").fit(train, Y[:60], audited=audited)
    decisions = {tuple(model.predict(audited).tolist()) for model in estimator.models_}
    assert len(decisions) == len(estimator.models_)
    assert estimator.class_sizes_.sum() >= len(estimator.models_)


def test_it_lives_in_pipelines_grids_and_pickles():
    pipeline = make_pipeline(StandardScaler(), EnumSVC(n_models=2))
    grid = GridSearchCV(pipeline, {"enumsvc__C": [0.1, 1.0]}, cv=3).fit(X, Y)
    assert grid.best_score_ > 0.6
    again = pickle.loads(pickle.dumps(grid.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), grid.predict(X))
    assert clone(EnumSVC(C=3.0, solver="libsvm")).get_params()["solver"] == "libsvm"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"C": 0.0}, ValueError, "C must be a positive number"),
        ({"C": "1"}, ValueError, "C must be a positive number"),
        ({"n_models": 0}, ValueError, "n_models must be a whole number >= 1"),
        ({"class_weight": "even"}, ValueError, "class_weight must be None, 'balanced' or a dictionary, not 'even'"),
        ({"class_weight": {2: 1.0}}, ValueError, "class_weight names 2; the classes are 0 and 1"),
        ({"class_weight": {1: -1.0}}, ConfigError, "'class_weight' must be none, balanced, auto or two positive"),
        ({"solver": "libsvn"}, SolverNotFound, "libsvm"),
    ],
)
def test_bad_parameters_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        EnumSVC(**arguments).fit(X, Y)


def test_one_class_with_weight_is_refused():
    with pytest.raises(ValueError, match="the rows that have a weight are of one class at most"):
        EnumSVC().fit(X, Y, (Y == 1).astype(float))


def test_limits_are_passed_on():
    assert EnumSVC(max_loss=1e-4).fit(X, Y).stopped_ == "objective"
    assert EnumSVC(max_nodes=3).fit(X, Y).stopped_ == "nodes"
    assert EnumSVC(max_seconds=1e-3).fit(X, Y).stopped_ == "time"


def test_constant_features_do_not_break_the_kernel_width():
    constant = np.ones((6, 2))
    estimator = EnumSVC(kernel="rbf", n_models=1).fit(constant, [0, 1, 0, 1, 0, 1])
    assert estimator.decision_function(constant).shape == (6,)


def test_the_example_in_the_docstring():
    assert doctest.testmod(estimator).failed == 0
