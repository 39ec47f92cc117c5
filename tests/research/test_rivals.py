"""Methods that fairenum is compared with: their losses against independent solvers, and the rule that chooses."""

from __future__ import annotations

import cvxpy
import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from support.tables_in_use import hiring

from fairenum.document.scoreboard_cells import Judged
from fairenum.enumeration.division import EncodedRows
from fairenum.research import rivals
from fairenum.research.contest import chosen, contest, gap_of, performance_of
from fairenum.research.penalised import boosted_values, deviations, linear_models, penalised_loss
from fairenum.research.rivals import RIVALS, Rival, independence_weights, logit, run_rival
from fairenum.research.study_tables import StudyTable
from fairenum.tables import Groups

RNG = np.random.default_rng(1)
ROWS = 400


@pytest.fixture(scope="module")
def one():
    frame = hiring("noisy", rows=1200).drop(columns="hired")
    return contest(StudyTable("hiring", "made up", "none", frame, "good", "yes", "sex"), "boosting", 0)


@pytest.fixture(scope="module")
def rows() -> EncodedRows:
    codes = RNG.integers(0, 3, ROWS)
    X = RNG.normal(size=(ROWS, 4)) + 0.8 * codes[:, None]
    signs = np.where(X @ [0.5, -0.2, 0.6, 0.0] - 0.7 + RNG.normal(size=ROWS) > 0.0, 1.0, -1.0)
    return EncodedRows(X, signs, Groups(codes, ("a", "b", "c")))


def test_gap_and_performance_are_those_of_other_libraries(rows):
    decided = RNG.integers(0, 2, ROWS).astype(float)
    gap = demographic_parity_difference(rows.labels, decided, sensitive_features=rows.groups.codes)
    assert gap_of(decided, rows) == pytest.approx(gap)
    assert performance_of(decided, rows, "accuracy") == pytest.approx(accuracy_score(rows.labels, decided))
    balanced = balanced_accuracy_score(rows.labels, decided)
    assert performance_of(decided, rows, "balanced_accuracy") == pytest.approx(balanced)


def test_chances_are_measured_as_the_mean_of_random_decisions(rows):
    chances = RNG.random(ROWS)
    drawn = RNG.random((4000, ROWS)) < chances
    right = np.where(rows.labels == 1, drawn, ~drawn).mean()
    assert performance_of(chances, rows, "accuracy") == pytest.approx(right, abs=0.005)
    rates = [drawn[:, rows.groups.codes == code].mean() for code in range(3)]
    assert gap_of(chances, rows) == pytest.approx(max(rates) - min(rates), abs=0.01)


def test_groups_set_aside_have_no_part_in_the_gap(rows):
    decided = (rows.groups.codes == 2).astype(float)
    aside = EncodedRows(rows.X, rows.y, Groups(rows.groups.codes, rows.groups.names, aside=(2,)))
    assert gap_of(decided, rows) == 1.0
    assert gap_of(decided, aside) == 0.0


@pytest.mark.parametrize("price", [0.0, 0.3, 30.0])
def test_penalised_weights_are_those_of_a_convex_solver(rows, price):
    *_, found = linear_models(rows.X, rows.y, rows.groups, [0.0, price])
    weights, constant = cvxpy.Variable(4), cvxpy.Variable()
    values = rows.X @ weights + constant
    means = [cvxpy.sum(values[rows.groups.codes == code]) / np.sum(rows.groups.codes == code) for code in range(3)]
    apart = cvxpy.hstack([mean - sum(means) / 3.0 for mean in means])
    loss = cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(rows.y, values))) / ROWS
    ridge = cvxpy.sum_squares(weights) / (2.0 * ROWS)
    cvxpy.Problem(cvxpy.Minimize(loss + price * cvxpy.sum_squares(apart) + ridge)).solve(solver="CLARABEL")
    np.testing.assert_allclose(found.weights, [*weights.value, constant.value], atol=2e-3)


def test_without_a_price_it_is_logistic_regression(rows):
    (found,) = linear_models(rows.X, rows.y, rows.groups, [0.0])
    model = LogisticRegression(max_iter=1000, tol=1e-8).fit(rows.X, rows.y)
    np.testing.assert_allclose(found.weights, [*model.coef_[0], model.intercept_[0]], atol=2e-3)


def test_the_slope_of_the_loss_is_that_of_finite_differences(rows):
    spread, values = deviations(rows.groups), RNG.normal(size=ROWS)
    _, slope = penalised_loss(values, rows.y, spread, 2.0)
    for place in (0, 7, 100):
        step = np.zeros(ROWS)
        step[place] = 1e-5
        high, low = (penalised_loss(values + sign * step, rows.y, spread, 2.0)[0] for sign in (1.0, -1.0))
        assert slope[place] == pytest.approx((high - low) / 2e-5, abs=1e-7)


def test_a_price_brings_the_means_of_boosted_values_together(rows):
    spread = deviations(rows.groups)
    free, priced = (boosted_values(rows.X, rows.y, rows.groups, price, [rows.X])[0] for price in (0.0, 10.0))
    assert np.abs(spread @ priced).max() < 0.5 * np.abs(spread @ free).max()
    assert penalised_loss(priced, rows.y, spread, 10.0)[0] < penalised_loss(free, rows.y, spread, 10.0)[0]


def test_an_offset_is_added_to_the_values(rows):
    offset = 2.0 * rows.X[:, 0]
    (found,) = linear_models(rows.X[:, 1:], rows.y, rows.groups, [0.0], offset)
    spread = deviations(rows.groups)

    def loss(weights):
        values = offset + rows.X[:, 1:] @ weights[:-1] + weights[-1]
        return penalised_loss(values, rows.y, spread, 0.0)[0] + weights[:-1] @ weights[:-1] / (2.0 * ROWS)

    least = loss(found.weights)
    assert all(loss(found.weights + move) >= least - 1e-9 for move in 0.05 * RNG.normal(size=(20, 4)))


def test_weights_make_label_and_group_independent(rows):
    weights = independence_weights(rows)
    shares = [np.average(rows.labels[own], weights=weights[own]) for own in rows.groups.codes == np.arange(3)[:, None]]
    np.testing.assert_allclose(shares, rows.labels.mean())


def test_a_probability_of_0_or_1_has_a_finite_logit():
    assert np.isfinite(logit(np.array([0.0, 0.5, 1.0]))).all()
    assert logit(np.array([0.5]))[0] == 0.0


def judged(gap: float, performance: float) -> Judged:
    return Judged(0.0, 0.0, 0.0, 0.5, gap, performance)


def test_the_rule_takes_the_least_gap_within_the_tolerance():
    used = judged(0.2, 0.8)
    assert chosen([judged(0.1, 0.78), judged(0.15, 0.79), judged(0.15, 0.81), judged(0.18, 0.9)], used) == 2
    assert chosen([judged(0.1, 0.7), judged(0.3, 0.75), judged(0.0, 0.6)], used) == 1  # none within: the best


def test_scores_are_cut_where_the_model_in_use_cuts(one):
    decided = one.cut("any", {part: one.score(part) ** 3 for part in ("selection", "holdout")})
    assert decided.chances["selection"].mean() == pytest.approx(one.share, abs=0.02)
    np.testing.assert_array_equal(decided.chances["selection"], one.in_use.chances["selection"])


@pytest.mark.parametrize("name", [name for name, rival in RIVALS.items() if rival.package is None])
def test_every_method_has_candidates_and_a_choice(name, one, monkeypatch):
    monkeypatch.setattr(rivals, "TREE_PRICES", (0.0, 1.0))
    monkeypatch.setattr(rivals, "LIMITS", (0.05,))
    found = run_rival(name, one)
    assert found.error is None
    assert found.candidates >= 1
    assert found.chosen is not None
    assert found.knob
    assert found.hindsight is None or found.hindsight.performance >= one.judged(one.in_use).performance - 0.0101


@pytest.mark.parametrize("name", [name for name, rival in RIVALS.items() if rival.package])
def test_a_method_without_its_package_says_so(name, one, monkeypatch):
    monkeypatch.setattr(rivals, "find_spec", lambda _: None)
    assert run_rival(name, one).error == f"not installed: the package {name}"


@pytest.mark.parametrize("name", [name for name, rival in RIVALS.items() if rival.package])
def test_methods_of_other_packages(name, one):
    pytest.importorskip(name)
    found = run_rival(name, one)
    assert found.error is None
    assert found.chosen is not None


def test_a_method_that_fails_is_a_result(one, monkeypatch):
    monkeypatch.setitem(rivals.RIVALS, "reweighing", Rival(lambda _: iter([1 / 0])))
    assert run_rival("reweighing", one).error == "ZeroDivisionError: division by zero"
