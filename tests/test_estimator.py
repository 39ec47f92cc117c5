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

import fairenum.estimator
from fairenum import EnumSVC
from fairenum.errors import SolverNotFound

X, Y = make_classification(80, 4, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        EnumSVC(n_models=3),
        EnumSVC(n_models=2, kernel="rbf", merge_copies=True),
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


def test_audited_rows_decide_what_is_alike():
    train, audited = X[:60], X[60:]
    estimator = EnumSVC(n_models=3, distinct="predictions").fit(train, Y[:60], audited)
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
        ({"solver": "libsvn"}, SolverNotFound, "libsvm"),
    ],
)
def test_bad_parameters_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        EnumSVC(**arguments).fit(X, Y)


def test_limits_are_passed_on():
    assert EnumSVC(max_loss=1e-4).fit(X, Y).stopped_ == "objective"
    assert EnumSVC(max_nodes=3).fit(X, Y).stopped_ == "nodes"
    assert EnumSVC(max_seconds=1e-3).fit(X, Y).stopped_ == "time"


def test_constant_features_do_not_break_the_kernel_width():
    constant = np.ones((6, 2))
    estimator = EnumSVC(kernel="rbf", n_models=1).fit(constant, [0, 1, 0, 1, 0, 1])
    assert estimator.decision_function(constant).shape == (6,)


def test_the_example_in_the_docstring():
    assert doctest.testmod(fairenum.estimator).failed == 0
