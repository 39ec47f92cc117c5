"""What else a user would pick: against scikit-learn's weighted SVC and fairlearn's own probabilities."""

from dataclasses import replace

import numpy as np
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, EqualizedOdds, ExponentiatedGradient
from sklearn.base import clone
from sklearn.svm import SVC
from support.problems import encoded_rows

from fairenum.auditing.mitigations import (
    MITIGATIONS,
    MitigationTask,
    TrainedSvm,
    WeightedSvm,
    mixed_chances,
    reweighing,
    threshold_chances,
    try_mitigations,
)
from fairenum.document.training import SvmSettings, Tolerances
from fairenum.enumeration.division import kernel_for
from fairenum.estimator import EnumSVC
from fairenum.metrics.operating_point import OperatingPoint

MACHINE, SEEDS = SvmSettings(), range(4)
KINDS = ("continuous", "hypercube")


def make_task(seed=0, kind="continuous", metric="demographic_parity_difference", svm=MACHINE):
    rng = np.random.default_rng(seed)
    train, selection, holdout = (encoded_rows(rng, 80, kind) for _ in range(3))
    first = EnumSVC.of(svm).fit(train.X, train.y).models_[0]
    return MitigationTask(svm, first, train, selection, holdout, Tolerances(metric))


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_weighted_machine_is_scikit_learns(kernel, rows):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(120, 3)), rng.uniform(0.2, 3.0, 120)
    X[20:40] = X[:20]
    weights[:10] = 0.0
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    svm = WeightedSvm(SvmSettings(0.7, kernel, gamma=0.5, rows=rows))
    ours = clone(svm).fit(X, y, weights).decision_function(X)
    theirs = SVC(kernel=kernel, gamma=0.5, C=0.7, tol=1e-8).fit(X[10:], y[10:], weights[10:]).decision_function(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_one_label_that_has_weight_is_the_answer():
    X = np.random.default_rng(0).normal(size=(20, 2))
    labels = np.arange(20) % 2
    for label in (0, 1):
        fitted = WeightedSvm(SvmSettings()).fit(X, labels, (labels == label).astype(float))
        assert (fitted.predict(X) == label).all()
        assert (np.sign(fitted.decision_function(X)) == 2 * label - 1).all()


@pytest.mark.parametrize("class_weight", ["balanced", (5.0, 0.5)])
def test_weights_of_rows_and_classes_multiply(class_weight):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(90, 3)), rng.uniform(0.2, 3.0, 90)
    y = (X[:, 0] + rng.normal(size=90) > 0.8).astype(int)
    ours = WeightedSvm(SvmSettings(0.7, class_weight=class_weight)).fit(X, y, weights).decision_function(X)
    total = [weights[y == label].sum() for label in (1, 0)]
    pair = [sum(total) / (2 * one) for one in total] if class_weight == "balanced" else class_weight
    svc = SVC(kernel="linear", C=0.7, tol=1e-8, class_weight={1: pair[0], 0: pair[1]}).fit(X, y, weights)
    np.testing.assert_allclose(ours, svc.decision_function(X), atol=1e-4)


def test_a_reduction_has_the_class_weights_in_its_error_alone():
    """It gives rows other labels, so the machine must not weight them; a missed favourable row costs its own weight."""
    task = make_task(svm=SvmSettings(class_weight=(4.0, 0.5)))
    assert task.weighted_svm.svm.class_weight == (4.0, 0.5)
    assert task.reduced.svm.class_weight == "none"
    error = task.error
    error.load_data(task.train.X, task.train.labels, sensitive_features=task.train.groups.codes)
    signed = error.signed_weights().to_numpy()
    np.testing.assert_allclose(signed, np.where(task.train.labels == 1, 4.0, -0.5))
    outcomes = {outcome.name: outcome for outcome in try_mitigations(task)}
    assert not [outcome.error for outcome in outcomes.values() if outcome.error]


@pytest.mark.filterwarnings("ignore")
def test_reductions_of_a_weighted_machine_select_more_where_missing_costs_more():
    rates = []
    for class_weight in ((1.0, 6.0), "none", (6.0, 1.0)):
        task = make_task(svm=SvmSettings(class_weight=class_weight))
        by_name = {outcome.name: outcome.decided.chances.mean() for outcome in try_mitigations(task)}
        rates.append([by_name["grid_search"], by_name["exponentiated_gradient"], by_name["reweighing"]])
    few, plain, many = np.array(rates)
    assert (few <= plain).all()
    assert (plain <= many).all()
    assert (few < many).all()


def test_gamma_is_that_of_all_training_rows():
    task = make_task(svm=SvmSettings(kernel="rbf", gamma="scale"))
    some = np.zeros(len(task.train))
    some[:30] = 1.0
    fitted = task.weighted_svm.fit(task.train.X, task.train.labels, some)
    assert fitted.model_.problem.kernel == kernel_for(task.svm, task.train.X)
    assert fitted.model_.problem.kernel != kernel_for(task.svm, task.train.X[:30])


def test_reweighing_makes_label_and_group_independent(monkeypatch):
    task, seen = make_task(), {}
    fit = WeightedSvm.fit
    monkeypatch.setattr(WeightedSvm, "fit", lambda self, X, y, w: seen.update(y=y, w=w) or fit(self, X, y, w))
    decided = reweighing(task).chances
    assert set(decided) <= {0.0, 1.0}
    codes = task.train.groups.codes
    rates = [np.average(seen["y"][codes == code], weights=seen["w"][codes == code]) for code in (0, 1)]
    assert rates == pytest.approx([task.train.labels.mean()] * 2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("constraint", [DemographicParity, EqualizedOdds])
@pytest.mark.filterwarnings("ignore")
def test_the_chances_of_a_mixture_are_fairlearns_to_the_last_bit(seed, kind, constraint):
    task = make_task(seed, kind)
    fairer = ExponentiatedGradient(task.weighted_svm, constraint())
    fairer.fit(task.train.X, task.train.labels, sensitive_features=task.train.groups.codes)
    expected = fairer._pmf_predict(task.holdout.X)[:, 1]
    assert (mixed_chances(fairer, task.holdout) == expected).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("constraint", ["demographic_parity", "true_positive_rate_parity", "equalized_odds"])
@pytest.mark.filterwarnings("ignore")
def test_the_chances_of_thresholds_are_fairlearns_to_the_last_bit(seed, kind, constraint):
    task = make_task(seed, kind)
    by, rows = task.selection, task.holdout
    fairer = ThresholdOptimizer(
        estimator=TrainedSvm(task.first), constraints=constraint, prefit=True, predict_method="decision_function"
    )
    fairer.fit(by.X, by.labels, sensitive_features=by.groups.codes)
    expected = fairer._pmf_predict(rows.X, sensitive_features=rows.groups.codes)[:, 1]
    assert (threshold_chances(fairer, rows) == expected).all()


def test_every_mitigation_gives_chances_and_reports_its_progress():
    steps = []
    outcomes = try_mitigations(make_task(), lambda *step: steps.append(step))
    assert [outcome.name for outcome in outcomes] == list(MITIGATIONS)
    assert steps == [(done, 4) for done in range(5)]
    for outcome in outcomes:
        assert outcome.error is None
        chances, values = outcome.decided
        assert chances.shape == values.shape == (80,)
        assert ((chances >= 0.0) & (chances <= 1.0)).all()
        is_certain = np.isin(chances, (0.0, 1.0)).all()
        assert is_certain or outcome.is_randomised
    assert [outcome.name for outcome in outcomes if outcome.mitigation.needs_groups] == ["threshold_optimizer"]


def test_a_gap_without_a_constraint_and_a_group_without_rows_are_said():
    task = make_task(metric="predictive_parity_difference")
    errors = {outcome.name: outcome.error for outcome in try_mitigations(task)}
    assert errors.pop("reweighing") is None
    assert set(errors.values()) == {"fairlearn has no constraint on predictive_parity_difference"}
    selection = task.selection.take(np.flatnonzero(task.selection.groups.codes == 0))
    outcome = try_mitigations(replace(make_task(), selection=selection))[-1]
    assert outcome.error == "a group of the holdout is not in the selection split, so it has no threshold"
    assert outcome.decided is None


def test_at_a_rate_every_method_with_values_selects_it_and_leaves_nothing_to_chance():
    task = make_task()
    parts = [
        replace(rows, y=np.where(rows.X @ [2.0, 1.0, 0.5] > 1.0, 1.0, -1.0)) for rows in (task.train, task.selection)
    ]
    first = EnumSVC.of(MACHINE).fit(parts[0].X, parts[0].y).models_[0]
    # on the rows that models are cut by the rate is reached
    task = MitigationTask(MACHINE, first, *parts, parts[1], Tolerances(), OperatingPoint(0.3))
    outcomes = {outcome.name: outcome for outcome in try_mitigations(task)}
    refused = outcomes.pop("threshold_optimizer")
    assert refused.error == "it sets thresholds of its own, so it cannot be cut where models are"
    assert refused.is_randomised
    for outcome in outcomes.values():
        assert not outcome.is_randomised
        assert outcome.decided.chances.mean() == pytest.approx(0.3, abs=0.5 / len(task.selection))


def test_a_library_that_fails_is_a_row_with_its_error(monkeypatch):
    def broken(*_, **_options):
        raise RuntimeError("x" * 300)

    monkeypatch.setattr(ThresholdOptimizer, "fit", broken)
    *others, last = try_mitigations(make_task())
    assert last.error == f"RuntimeError: {'x' * 300}"[:200]
    assert all(outcome.error is None for outcome in others)
