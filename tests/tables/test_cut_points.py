"""Cut points of numbers: those of scikit-learn's trees, and 0/1 columns that span what a plain thermometer spans."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairenum import CutPoints, EnumSVC
from fairenum.tables import cut_points as module
from fairenum.tables.cut_points import cut_points


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([CutPoints(), CutPoints(min_leaf=1, standardise=False)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_its_example_holds():
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)


def numbers(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.choice([rng.normal(size=rows).round(2), rng.integers(0, 30, rows).astype(float), rng.gumbel(size=rows)])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(30, 600), st.integers(2, 14), st.integers(1, 30), st.integers(2, 3))
def test_cut_points_are_those_of_scikit_learns_tree(seed, rows, leaves, fewest, kinds):
    rng = np.random.default_rng(seed)
    x, weights = numbers(rng, rows), rng.choice([np.ones(rows), rng.uniform(0.5, 3.0, rows)])
    y = (rng.random(rows) * (1 + np.sin(2 * x)) > 0.5).astype(int) * rng.integers(0, kinds, rows)
    ours = cut_points(x, y, weights, most_leaves=leaves, fewest=fewest)
    ranks = np.unique(x, return_inverse=True)[1].astype(float)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=fewest, random_state=0)
    tree = tree.fit(ranks[:, None], y, sample_weight=weights).tree_
    theirs = np.sort(tree.threshold[tree.children_left >= 0])
    assert np.all(np.diff(ours) > 0)
    # of splits that gain equally much either may be taken, so what was gained is compared
    gained = [_purity(np.searchsorted(*each), y, weights) for each in ((ours, x), (theirs, ranks))]
    assert gained[0] == pytest.approx(gained[1], rel=1e-9) or len(ours) == len(theirs) == leaves - 1


def _purity(bins: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    table = np.zeros((bins.max() + 1, y.max() + 1))
    np.add.at(table, (bins, y), weights)
    table = table[table.sum(1) > 0]
    return float((table**2 / table.sum(1, keepdims=True)).sum())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(30, 300))
def test_the_columns_span_the_same_functions_as_a_plain_thermometer(seed, rows):
    rng = np.random.default_rng(seed)
    x, y = numbers(rng, rows), rng.integers(0, 2, rows)
    coder = CutPoints(min_leaf=3, standardise=False).fit(x[:, None], y)
    cuts = coder.cuts_[0]
    ours = coder.transform(x[:, None]).toarray()[:, 1:]
    plain = (x[:, None] > cuts).astype(float)
    # each column is that of the thermometer, or 1 minus it: the free bias takes the difference, and no weight grows
    for own, other in zip(ours.T, plain.T, strict=True):
        assert np.array_equal(own, other) or np.array_equal(own, 1.0 - other)
    middle = np.abs(x - np.median(x)).argmin()
    if x[middle] == np.median(x):
        assert not ours[middle].any()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_a_described_column_encodes_as_the_transformer_does(seed, standardise):
    rng = np.random.default_rng(seed)
    x = numbers(rng, 150)
    x[rng.random(150) < 0.1 * rng.integers(0, 2)] = np.nan
    coder = CutPoints(min_leaf=5, standardise=standardise).fit(x[:, None], rng.integers(0, 2, 150))
    (described,) = coder.described(["x"])
    tried = [*x[:20], *coder.cuts_[0], *np.nextafter(coder.cuts_[0], np.inf), -1e300, 1e300, np.nan, 0.0]
    ours = coder.transform(np.array(tried)[:, None]).toarray()
    for value, row in zip(tried, ours, strict=True):
        assert described.encoded(None if np.isnan(value) else value) == tuple(row.tolist())
    assert described.width == len(described.names) == ours.shape[1]
    assert described.names == tuple(coder.get_feature_names_out(["x"]).tolist())


def test_a_missing_number_is_the_median_with_a_column_of_its_own():
    x = np.array([*range(60), np.nan, np.nan])
    y = np.array([*(np.arange(60) > 40), 1, 0])
    coder = CutPoints(min_leaf=10, standardise=False).fit(x[:, None], y)
    assert coder.get_feature_names_out(["age"])[-1] == "age missing"
    (row,) = coder.transform([[np.nan]]).toarray()
    assert row.tolist() == [29.5, *[0.0] * len(coder.cuts_[0]), 1.0]
    without = CutPoints(min_leaf=10, standardise=False).fit(x[:60, None], y[:60])
    assert without.transform([[np.nan]]).toarray().tolist() == [[29.5, *[0.0] * len(without.cuts_[0])]]


def test_a_number_of_two_values_or_none_has_no_cut_points():
    table = np.array([[0.0, 5.0, np.nan], [1.0, 5.0, np.nan]] * 30)
    coder = CutPoints(min_leaf=1).fit(table, [0, 1] * 30)
    assert [len(cuts) for cuts in coder.cuts_] == [0, 0, 0]
    assert np.isfinite(coder.transform(table).toarray()).all()


def test_cut_points_are_short_numbers_between_values():
    assert cut_points(np.repeat([30.0, 31.0, 99.0], 20), np.repeat([0, 1, 0], 20), fewest=5).tolist() == [30.5, 60.0]
    near = np.nextafter(1.0, 2.0)
    (cut,) = cut_points(np.repeat([0.9, 1.0, near], 30), np.repeat([0, 0, 1], 30), fewest=5)
    assert 1.0 <= cut < near


def test_a_leaf_has_its_least_number_of_rows():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=20_000), rng.integers(0, 2, 20_000)
    coder = CutPoints().fit(x[:, None], y)
    assert 1 < len(coder.cuts_[0]) <= 11
    assert np.bincount(np.searchsorted(coder.cuts_[0], x)).min() >= 40
    assert np.bincount(np.searchsorted(CutPoints().fit(x[:300, None], y[:300]).cuts_[0], x[:300])).min() >= 20


def test_given_cut_points_are_used():
    coder = CutPoints(cuts=[[1.0, 2.0]], standardise=False).fit([[0.0], [1.5], [3.0]], [0, 1, 0])
    assert coder.transform([[0.0], [1.0], [2.5]]).toarray().tolist() == [[0, 1, 0], [1, 1, 0], [2.5, 0, 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_leaves": 1}, "max_leaves must be a whole number >= 2, not 1"),
        ({"min_leaf": 0.5}, "min_leaf must be a whole number >= 1, not 0.5"),
        ({"min_share": 0.6}, "min_share must be a number from 0 to 0.5, not 0.6"),
        ({"cuts": []}, "cuts has the cut points of 0 columns, and X has 1 columns; give one each"),
        ({"cuts": [[2.0, 1.0]]}, r"finite numbers in ascending order, not \[2.0, 1.0\]"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        CutPoints(**options).fit([[0.0], [1.0]], [0, 1])


def test_linear_models_learn_a_bump_from_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = (np.abs(X[:, 0]) < 0.7).astype(int)
    for model in (EnumSVC(n_models=1, max_nodes=5), LogisticRegression()):
        bent = make_pipeline(CutPoints(), clone(model)).fit(X[:600], y[:600])
        plain = make_pipeline(StandardScaler(), clone(model)).fit(X[:600], y[:600])
        assert bent.score(X[600:], y[600:]) > 0.95 > 0.8 > plain.score(X[600:], y[600:])
