"""Defences: what cleaning, choosing and mitigating decide after labels were flipped."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from fairenum.attack.defences import DEFENCES, Aftermath, fairest_listed, knn_relabelling, loss_removal, nearest_rows
from fairenum.document.training import SvmSettings, Tolerances
from fairenum.enumeration.division import EncodedRows
from fairenum.errors import AttackError
from fairenum.estimator import EnumSVC
from fairenum.tables import Groups

TRUTH = np.where(np.arange(80) % 2, 1.0, -1.0)


@pytest.fixture(scope="module", params=[False, True], ids=["copies", "rows"])
def after(request):
    """Two clouds with a few flipped labels."""
    X = np.random.default_rng(1).normal(size=(80, 2)) * 0.3 + TRUTH[:, None]
    groups = Groups(np.arange(80) // 2 % 2, ("a", "b"))
    y = TRUTH.copy()
    y[:12:2] *= -1.0
    svm = SvmSettings(C=100.0, rows=request.param)
    models = tuple(EnumSVC.of(svm, 3).fit(X, y).models_)
    train, holdout = EncodedRows(X, y, groups), EncodedRows(X, TRUTH, groups)
    return Aftermath(train, None, holdout, models, 6, svm, Tolerances(), 0)


def test_cleaning_by_neighbours_or_by_loss_brings_the_clean_decisions_back(after):
    assert (knn_relabelling(after) == (TRUTH > 0)).all()
    assert (loss_removal(after) == (TRUTH > 0)).all()


def test_neighbours_are_the_nearest_and_rounding_breaks_no_tie():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 3)).astype(float)  # many rows are equally far apart
    noisy = X * (1.0 + rng.uniform(-1e-14, 1e-14, X.shape))
    for row in range(len(X)):
        found = nearest_rows(X, row)
        distances = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(X[[row]], 11)[0][0]
        assert row not in found
        assert np.sort(np.linalg.norm(X[found] - X[row], axis=1)) == pytest.approx(distances[1:])
        assert nearest_rows(noisy, row).tolist() == found.tolist()


@pytest.mark.parametrize("name", DEFENCES)
def test_a_defence_decides_the_holdout_and_the_same_again(after, name):
    decided = DEFENCES[name](after)
    assert (decided.shape, decided.dtype) == ((80,), np.bool_)
    assert (DEFENCES[name](after) == decided).all()


def test_one_label_is_too_few_to_train(after):
    with pytest.raises(AttackError, match="one label is left"):
        after.refit(np.arange(80), np.ones(80))


def test_the_fairest_listed_model_is_chosen_by_the_rows_to_choose_by():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    rows = EncodedRows(X, np.array([-1.0, 1.0, 1.0, 1.0]), Groups(np.array([0, 1, 0, 1]), ("a", "b")))
    values = [np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4)]
    models = tuple(SimpleNamespace(loss_ratio=0.0, objective=1.0, decision_function=lambda X, v=v: v) for v in values)
    after = Aftermath(rows, rows, rows, models, 1, SvmSettings(), Tolerances(), 0)
    assert fairest_listed(after).tolist() == [False, False, True, True]  # of equal accuracy; the third is constant
