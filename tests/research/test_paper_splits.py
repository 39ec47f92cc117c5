"""One split of a table: its rows, its C, and its best model against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import zero_one_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from fairenum.document.research_documents import CLOCKED, Refusal
from fairenum.errors import AnswerRefused
from fairenum.research import paper_splits
from fairenum.research.paper_splits import choose_cost, divided, other_half, run_printed, run_split


def test_a_split_has_seventy_percent_to_train_on():
    division = divided("sonar", 0, standardise=True)
    assert (len(division.train), len(division.holdout)) == (146, 62)
    assert np.allclose(division.train.X.mean(0), 0.0, atol=1e-9)
    assert np.allclose(division.train.X.std(0), 1.0)


def test_c_is_the_one_that_grid_search_finds():
    train = divided("sonar", 0, standardise=True).train
    grid = {"C": [10.0**power for power in range(-2, 4)]}
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    search = GridSearchCV(SVC(kernel="linear", tol=1e-6), grid, cv=folds).fit(train.X, train.y)
    assert choose_cost(train.X, train.y, 7) == search.best_params_["C"]


def test_the_models_of_a_split_lose_what_those_of_libsvm_lose():
    found = run_split("sonar", 1).variants["standardised"]
    division = divided("sonar", 1, standardise=True)
    train, test = division.train, division.holdout
    svm = SVC(kernel="linear", C=found.C, tol=1e-9).fit(train.X, train.y)
    assert found.errors[0] == pytest.approx(zero_one_loss(test.y, svm.predict(test.X)))
    assert found.losses[0] == 1.0
    assert found.shortfalls[0] == 0.0
    assert all(np.diff(found.shortfalls) >= -1e-12)
    assert len(found.seconds) == len(CLOCKED)


def test_only_standardised_columns_are_timed():
    variants = run_split("sonar", 2).variants
    assert list(variants) == ["standardised", "raw"]
    assert [variant.seconds is None for variant in variants.values()] == [False, True]


def test_what_cannot_be_proven_is_refused_with_its_reason(monkeypatch):
    def refuse(*_):
        raise AnswerRefused("too few digits")

    monkeypatch.setattr(paper_splits, "_clocked", refuse)
    refusal = run_split("sonar", 4).variants["raw"]
    assert refusal == Refusal(4, "too few digits", refusal.C)
    assert refusal.C > 0.0


def test_what_is_chosen_by_one_half_is_judged_by_the_other():
    losses = np.array([[2.0] * 10, [1.0] * 10, [3.0] * 10])
    assert other_half(losses, 0) == 0.5
    rng = np.random.default_rng(0)
    same = np.tile(rng.random(40), (5, 1))
    assert other_half(same, 1) == 1.0


def test_the_papers_algorithm_is_run_for_some_time_beside_the_proven_models():
    printed = run_printed("sonar", 3, 0.2)
    assert printed.table == "sonar"
    assert 1 <= printed.run.in_place <= len(printed.run.seconds)
    assert printed.run.fits >= len(printed.run.seconds)
