"""A table divided and encoded without a leak, and the machine posed on its training rows."""

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from support.audits import PLAN, people

from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import (
    EncodedRows,
    best_cost,
    class_weights,
    divide,
    encode,
    kernel_for,
    pose,
    row_class_weights,
)
from fairenum.errors import ColumnMissing, ConfigError, ProblemError
from fairenum.solvers.registry import open_workspace
from fairenum.tables import Dataset, Encoding, Groups, merge_identical, split


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Dataset.from_frame(people(), **PLAN)


def tied_rows(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Rows most of which stand there several times."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    return X, np.where(X[:, 0] + rng.normal(size=n) > 1.0, 1.0, -1.0)


def test_a_table_is_divided_as_it_is_split(dataset):
    division = divide(dataset, (0.5, 0.25, 0.25), seed=3)
    parts = split(dataset, (0.5, 0.25, 0.25), 3)
    for rows, encoded in (
        (parts.train, division.train),
        (parts.selection, division.part("selection")),
        (parts.holdout, division.part("holdout")),
    ):
        np.testing.assert_array_equal(encoded.X, division.encoding.transform(dataset, rows))
        np.testing.assert_array_equal(encoded.y, dataset.signs[rows])
        np.testing.assert_array_equal(encoded.groups.values, people()["sex"].to_numpy()[rows])
    np.testing.assert_array_equal(division.rows["holdout"], parts.holdout)
    assert not division.is_exploratory


def test_the_primary_column_is_the_first_or_the_one_asked_for(dataset):
    assert divide(dataset).column == "sex"
    crossed = divide(dataset, primary="sex & race")
    assert (crossed.column, len(crossed.holdout.groups.names)) == ("sex & race", 6)
    assert [groups.column for groups in crossed.columns] == ["sex", "race", "sex & race"]
    with pytest.raises(ColumnMissing, match="did you mean 'race'"):
        divide(dataset, primary="rase")
    alone = Dataset.from_frame(people().drop(columns=["sex", "race"]), "hired", "yes")
    division = divide(alone)
    assert division.column is division.primary is None
    assert division.train.groups.names == ("everyone",)


@pytest.mark.parametrize(
    ("sizes", "chosen", "reported"),
    [
        ((0.7, 0.3, 0.0), "selection", "selection"),
        ((0.7, 0.0, 0.3), "holdout", "holdout"),
        ((1.0, 0.0, 0.0), "train", "train"),
    ],
)
def test_a_missing_part_is_made_up_for_and_said(dataset, sizes, chosen, reported):
    division = divide(dataset, sizes)
    assert division.is_exploratory
    np.testing.assert_array_equal(division.rows["selection"], getattr(division.split, chosen))
    np.testing.assert_array_equal(division.rows["holdout"], getattr(division.split, reported))


def test_nothing_outside_the_training_rows_has_a_say_in_the_encoding(dataset):
    """Whatever stands in the other rows, the training rows are encoded alike."""
    division = divide(dataset)
    frame = people()
    others = np.setdiff1d(np.arange(len(frame)), division.split.train)
    frame.loc[others, "skill"] = 1e6
    frame.loc[others, "town"] = "elsewhere"
    changed = Dataset.from_frame(frame, **PLAN)
    encoding, (train, holdout) = encode(changed, (division.split.train, others), None)
    np.testing.assert_array_equal(train.X, division.train.X)
    assert encoding.names == division.encoding.names
    np.testing.assert_allclose(train.X[:, :2].mean(axis=0), 0.0, atol=1e-12)
    assert holdout.X[:, 0].min() > 1e5


def test_the_first_part_is_trained_on(dataset):
    rows = [np.arange(0, 50), np.arange(50, 120)]
    encoding, parts = encode(dataset, rows, dataset.columns[1], standardise=False)
    expected = Encoding.fit(dataset, rows[0], standardise=False)
    for part, numbers in zip(parts, rows, strict=True):
        np.testing.assert_array_equal(part.X, expected.transform(dataset, numbers))
        assert part.groups.column == "race"
    assert encoding.names == expected.names
    np.testing.assert_array_equal(parts[0].X[:, 0], people()["skill"].to_numpy()[:50])


def test_identical_rows_are_merged():
    X, y = tied_rows()
    posed, merged = pose(X, y, SvmSettings(0.5)), merge_identical(X, y)
    np.testing.assert_array_equal(posed.problem.X, merged.X)
    np.testing.assert_array_equal(posed.problem.y, merged.y)
    np.testing.assert_array_equal(posed.problem.copies, merged.copies)
    assert len(posed.rows_of) == len(merged) < len(y)
    for example, rows in enumerate(posed.rows_of):
        np.testing.assert_array_equal(rows, np.flatnonzero(merged.inverse == example))
        assert (X[rows] == posed.problem.X[example]).all()


def test_rows_are_examples_of_their_own_if_asked_for():
    X, y = tied_rows()
    posed = pose(X, y, SvmSettings(0.5, rows=True))
    np.testing.assert_array_equal(posed.problem.X, X)
    assert [rows.tolist() for rows in posed.rows_of] == [[row] for row in range(len(y))]
    np.testing.assert_array_equal(posed.problem.cost, 0.5)


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("class_weight", ["none", "balanced", (2.0, 0.5)])
def test_rows_cost_as_much_as_they_and_their_labels_weigh(rows, class_weight):
    X, y = tied_rows()
    weights = np.random.default_rng(1).choice([0.5, 1.0, 2.5], len(y))
    svm = SvmSettings(0.5, rows=rows, class_weight=class_weight)
    posed = pose(X, y, svm, weights=weights)
    prices = 0.5 * row_class_weights(svm, y, weights) * weights
    for example, found in enumerate(posed.rows_of):
        np.testing.assert_allclose(prices[found], posed.problem.cost[example])
        assert len(found) == posed.problem.copies[example]
    assert sorted(np.concatenate(posed.rows_of).tolist()) == list(range(len(y)))
    kinds = len(np.unique(np.column_stack([X, y, weights]), axis=0))
    assert posed.problem.size == (len(y) if rows else kinds)
    assert kinds < len(y)


@pytest.mark.parametrize("n", [60, 97])
def test_balanced_weights_are_scikit_learns(n):
    X, y = tied_rows(n)
    expected = compute_class_weight("balanced", classes=np.array([1.0, -1.0]), y=y)
    assert class_weights(SvmSettings(class_weight="balanced"), y) == pytest.approx(tuple(expected))
    assert class_weights(SvmSettings(), y) == (1.0, 1.0)
    assert class_weights(SvmSettings(class_weight=[3, 1]), y) == (3.0, 1.0)
    with pytest.raises(ConfigError, match=r"'class_weight' must be none, balanced or two positive numbers.*not 'auto'"):
        pose(X, y, SvmSettings(class_weight="auto"))
    with pytest.raises(ProblemError, match="both labels are needed"):
        pose(X, np.ones(n), SvmSettings(class_weight="balanced"))


def dual(svc: SVC) -> float:
    """The objective of a fitted SVC, by its own kernel."""
    vectors, weights = svc.support_vectors_, svc.dual_coef_[0]
    squares = np.square(vectors[:, None] - vectors).sum(axis=2)
    K = vectors @ vectors.T if svc.kernel == "linear" else np.exp(-svc._gamma * squares)
    return float(np.abs(weights).sum() - 0.5 * weights @ K @ weights)


@pytest.mark.parametrize("class_weight", ["none", "balanced", (4.0, 0.25)])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_row_of_weight_k_is_k_rows(kernel, class_weight):
    """Gamma and balanced weights included; the oracle is scikit-learn on a table with the rows repeated."""
    X, y = tied_rows()
    X += 0.01 * np.random.default_rng(3).normal(size=X.shape)
    times = np.random.default_rng(2).integers(1, 5, len(y))
    by_label = {"none": None, "balanced": "balanced", (4.0, 0.25): {1: 4.0, -1: 0.25}}[class_weight]
    again, labels = np.repeat(X, times, axis=0), np.repeat(y, times)
    svc = SVC(C=0.5, kernel=kernel, class_weight=by_label, tol=1e-9).fit(again, labels)
    problem = pose(X, y, SvmSettings(0.5, kernel, class_weight=class_weight), weights=times.astype(float)).problem
    best = open_workspace("path", problem).solve()
    assert best.certificate.objective == pytest.approx(dual(svc), rel=1e-8)
    assert problem.kernel.gamma == pytest.approx(svc._gamma)


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 60)])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_merged_or_not_the_machine_is_scikit_learns(kernel, weights):
    X, y = tied_rows()
    gamma = kernel_for(SvmSettings(kernel=kernel), X, weights).gamma
    expected = dual(SVC(C=0.5, kernel=kernel, gamma=gamma, tol=1e-9).fit(X, y, weights))
    for rows in (False, True):
        problem = pose(X, y, SvmSettings(0.5, kernel, rows=rows), weights=weights).problem
        assert open_workspace("path", problem).solve().certificate.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("share", [0.6, 0.9, 0.98])
@pytest.mark.parametrize(("kernel", "gamma"), [("linear", 1.0), ("rbf", 0.3)])
@pytest.mark.parametrize("rows", [False, True])
def test_the_balanced_machine_has_scikit_learns_objective(share, kernel, gamma, rows):
    """To nine digits; and the loss of SVC's own plane, an upper bound, is no smaller than what is proven here."""
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(400, 3)), 1)
    score = X[:, 0] + rng.normal(size=400)
    y = np.where(score > np.quantile(score, share), -1.0, 1.0)
    problem = pose(X, y, SvmSettings(0.7, kernel, gamma, rows=rows, class_weight="balanced")).problem
    ours = open_workspace("path", problem).solve().certificate
    svc = SVC(C=0.7, kernel=kernel, gamma=gamma, class_weight="balanced", tol=1e-10).fit(X, y)
    price = 0.7 * compute_sample_weight("balanced", y)
    norm = np.abs(svc.dual_coef_).sum() - dual(svc)
    loss = norm + price @ np.maximum(0.0, 1.0 - y * svc.decision_function(X))
    assert ours.relative_gap <= 1e-9
    assert dual(svc) == pytest.approx(ours.objective, rel=1e-9)
    assert ours.objective <= loss * (1.0 + 1e-9)
    for solver in ("osqp", "piqp"):
        other = open_workspace(solver, problem).solve().certificate
        assert other.objective == pytest.approx(ours.objective, rel=1e-9)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.25])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_gamma_is_scikit_learns(gamma, kernel):
    X, y = tied_rows()
    found = kernel_for(SvmSettings(kernel=kernel, gamma=gamma, degree=2, coef0=0.5), X)
    svc = SVC(kernel=kernel, gamma=gamma, degree=2, coef0=0.5).fit(X, y)
    assert found.gamma == pytest.approx(svc._gamma)
    assert (found.name, found.degree, found.coef0) == (kernel, 2, 0.5)
    assert pose(X, y, SvmSettings(kernel=kernel, gamma=gamma, degree=2, coef0=0.5)).problem.kernel == found


def test_rows_without_variance_have_a_gamma_all_the_same():
    X = np.ones((4, 2))
    assert kernel_for(SvmSettings(kernel="rbf"), X).gamma == 1.0
    assert SVC(kernel="rbf").fit(X, [0, 1, 0, 1])._gamma == 1.0


def test_a_cost_that_is_not_chosen_yet_cannot_be_posed():
    with pytest.raises(ConfigError, match="'C' must be a positive number, not 'auto'"):
        pose(*tied_rows(), SvmSettings("auto"))


def test_the_best_cost_is_the_smallest_of_the_most_accurate():
    assert best_cost({0.1: 0.7, 1.0: 0.8, 10.0: 0.8}) == 1.0
    assert best_cost({10.0: 0.8 + 1e-15, 1.0: 0.8}) == 1.0


def test_encoded_rows():
    X, y = tied_rows()
    codes = np.arange(60) % 3
    rows = EncodedRows(X, y, Groups(codes, ("a", "b", "c"), "g"))
    assert len(rows) == 60
    np.testing.assert_array_equal(rows.labels, y == 1.0)
    some = rows.take(np.array([5, 2]))
    np.testing.assert_array_equal(some.X, X[[5, 2]])
    np.testing.assert_array_equal(some.y, y[[5, 2]])
    assert (some.groups.values.tolist(), some.groups.column) == (["c", "c"], "g")
    assert len(rows.take(slice(10, 20))) == 10


def test_encoded_rows_judge_decision_values():
    X, y = tied_rows()
    groups = Groups(np.arange(60) % 2, ("a", "b"))
    rows = EncodedRows(X, y, groups)
    values = np.random.default_rng(2).normal(size=(4, 60))
    values[0, :7] = 0.0  # on the plane is favourable
    decisions = rows.decisions(values)
    np.testing.assert_array_equal(decisions.predictions, values >= 0.0)
    np.testing.assert_array_equal(decisions.labels, rows.labels)
    found = rows.gaps(values, "demographic_parity_difference")
    expected = [
        demographic_parity_difference(rows.labels, row >= 0.0, sensitive_features=groups.values.astype(str))
        for row in values
    ]
    np.testing.assert_allclose(found, expected)


def test_a_division_does_not_depend_on_the_order_of_columns(dataset):
    shuffled = Dataset.from_frame(people()[["race", "hired", "town", "proxy", "sex", "skill"]], **PLAN)
    ours, theirs = divide(dataset), divide(shuffled)
    np.testing.assert_array_equal(ours.split.train, theirs.split.train)
    order = [theirs.encoding.names.index(name) for name in ours.encoding.names]
    np.testing.assert_array_equal(ours.holdout.X, theirs.holdout.X[:, order])
