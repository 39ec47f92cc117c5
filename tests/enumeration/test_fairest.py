"""The rule that picks the fairest near-optimal model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fairenum import EnumSVC
from fairenum.auditing.selection_bias import _gap, _ranking, expected_optimism
from fairenum.document.training import Tolerances
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.fairest import CandidateScores, IncumbentTarget, candidate_scores, fairest
from fairenum.metrics import Decisions, Groups
from fairenum.metrics.counts import confusion

NAN = float("nan")


def models(gap, performance=None, loss=None, constant=()):
    k = len(gap)
    return CandidateScores(
        loss_ratio=np.array(loss or [0.0] * k),
        performance=np.array(performance or [0.8] * k),
        gap=np.array(gap, dtype=float),
        is_constant=np.isin(np.arange(k), constant),
    )


def test_who_is_beyond_a_guardrail_or_loses_too_much_in_training_is_no_candidate():
    field = replace(models([0.3, 0.2, 0.1]), excess=np.array([0.5, 0.0, 1e-6]), loss_ratio=np.array([0.0, 0.06, 0.01]))
    np.testing.assert_array_equal(field.candidates(Tolerances(eps=0.06)), [True, True, False])
    np.testing.assert_array_equal(field.candidates(Tolerances()), [True, False, False])
    assert field.fairest(Tolerances(eps=0.1)) == 1
    within = replace(field, excess=np.array([0.0, 0.0, 1e-14]))
    assert within.fairest(Tolerances(eps=0.01)) == 2


def test_model_1_is_near_optimal_whatever_rounding_says():
    field = models([0.3, 0.2, 0.1], loss=[1e-10, 1e-10, 1e-6])
    np.testing.assert_array_equal(field.candidates(Tolerances(eps=0.0)), [True, True, False])


def test_the_smallest_gap_wins():
    assert models([0.3, 0.2, 0.1, 0.15]).fairest(Tolerances()) == 2


def test_ties_go_to_model_1_then_to_performance_then_to_the_first_listed():
    assert models([0.3, 0.1, 0.1]).fairest(Tolerances()) == 1
    assert models([0.3, 0.1, 0.1], performance=[0.8, 0.8, 0.81]).fairest(Tolerances()) == 2
    assert models([0.1, 0.1, 0.1 - 1e-16], performance=[0.8, 0.9, 0.9]).fairest(Tolerances()) == 0


def test_model_1_is_kept_when_nothing_is_fairer():
    assert models([0.1, 0.2, 0.3]).fairest(Tolerances()) == 0


def test_a_constant_model_is_never_chosen():
    assert models([0.3, 0.0, 0.2], constant=[1]).fairest(Tolerances()) == 2
    assert models([0.0, 0.0], constant=[0, 1]).fairest(Tolerances()) == -1
    assert models([0.0, 0.2], constant=[0]).fairest(Tolerances()) == 1


def test_the_tolerances_bound_loss_and_performance_inclusively():
    field = models([0.3, 0.2, 0.1], performance=[0.80, 0.79, 0.78], loss=[0.0, 0.05, 0.05])
    assert field.fairest(Tolerances(max_performance_drop=0.01)) == 1
    assert field.fairest(Tolerances(max_performance_drop=0.02)) == 2
    assert field.fairest(Tolerances(max_performance_drop=0.02, eps=0.04)) == 0
    np.testing.assert_array_equal(field.candidates(Tolerances()), [True, True, False])


def test_an_undefined_gap_is_no_candidate():
    assert models([0.3, NAN, 0.2]).fairest(Tolerances()) == 2
    assert models([NAN, NAN]).fairest(Tolerances()) == -1


def test_the_front_holds_what_nobody_beats():
    field = models([0.3, 0.2, 0.25, 0.1, 0.1, NAN, 0.0], [0.9, 0.85, 0.8, 0.7, 0.7, 0.99, 0.95], constant=[6])
    np.testing.assert_array_equal(field.pareto_front(), [0, 1, 3])


@pytest.fixture
def noisy_twins():
    """Forty models that differ from the first by noise alone."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 400)
    predictions = np.where(rng.random((40, 400)) < 0.05, 1 - first, first)
    predictions[0] = first
    return Decisions(predictions, rng.integers(0, 2, 400), Groups(rng.integers(0, 2, 400), ("a", "b")))


def test_choosing_among_noise_flatters(noisy_twins):
    losses = np.linspace(0.0, 0.01, 40)
    values = noisy_twins.predictions - 0.5 + 0.1 * np.random.default_rng(2).random(noisy_twins.predictions.shape)
    chosen = int(candidate_scores(noisy_twins, values, losses, Tolerances()).fairest(Tolerances()))
    assert chosen > 0
    for measure in ("accuracy", "balanced_accuracy", "cost=3:1", "auc"):
        tolerances = Tolerances(max_performance_drop=0.1, performance=measure)
        optimism = expected_optimism(noisy_twins, values, losses, tolerances, np.random.default_rng(1), 400)
        assert 0.005 < optimism < 0.1


def test_the_auc_of_rows_drawn_again_is_near_to_first_order(noisy_twins):
    rng = np.random.default_rng(4)
    values, labels = rng.normal(size=(3, 400)) + noisy_twins.labels, noisy_twins.labels
    drawn = rng.multinomial(400, np.full(400, 1 / 400), size=30).astype(float)
    found = _ranking(values, noisy_twins)(confusion(noisy_twins), drawn)
    exact = np.array([[roc_auc_score(labels, row, sample_weight=weights) for row in values] for weights in drawn])
    assert (found - exact).std() < 0.15 * exact.std(0).mean()


def test_an_undefined_performance_rules_out_no_model():
    field = models([0.3, 0.2], performance=[NAN, NAN])
    assert field.fairest(Tolerances()) == 1
    np.testing.assert_array_equal(field.pareto_front(), [1])


def test_a_choice_of_one_does_not_flatter(noisy_twins):
    only = Decisions(noisy_twins.predictions[:1], noisy_twins.labels, noisy_twins.groups)
    values = only.predictions - 0.5
    assert expected_optimism(only, values, np.zeros(1), Tolerances(), np.random.default_rng(0), 50) == 0.0


@pytest.mark.parametrize("metric", ["equalized_odds_difference", "predictive_parity_difference"])
def test_the_replicated_gap_is_the_gap(noisy_twins, metric):
    expected = candidate_scores(noisy_twins, noisy_twins.predictions, np.zeros(40), Tolerances(metric)).gap
    once = np.ones((2, len(noisy_twins.labels)))
    np.testing.assert_allclose(_gap(confusion(noisy_twins, once), metric), [expected, expected], atol=1e-12)


def test_the_fairest_of_some_models():
    rng = np.random.default_rng(5)
    X, codes = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    X[:, 0] += codes
    y = np.where(X[:, 0] + rng.normal(size=120) > 0.5, 1.0, -1.0)
    rows = EncodedRows(X[60:], y[60:], Groups(codes[60:], ("a", "b")))
    found = EnumSVC(n_models=20, distinct="predictions").fit(X[:60], y[:60], audited=rows.X).models_
    tolerances = Tolerances(max_performance_drop=0.05)
    values = np.array([model.decision_function(rows.X) for model in found])
    gaps = rows.gaps(values, tolerances.metric)
    accuracy = ((values >= 0.0) == rows.labels).mean(axis=1)
    allowed = [place for place in range(20) if accuracy[place] >= accuracy[0] - 0.05 - 1e-9]
    chosen = fairest(found, rows, tolerances)
    assert chosen is found[min(allowed, key=lambda place: (round(gaps[place], 9), -accuracy[place], place))]
    assert chosen is not found[0]
    assert fairest(found, rows, Tolerances(eps=0.0)) is found[0]
    nobody = EncodedRows(rows.X, rows.y, Groups(np.zeros(60, dtype=int), ("a", "b")))
    assert fairest(found, nobody, tolerances) is found[0]


def test_a_model_has_to_undercut_what_is_in_use_and_to_reach_its_performance():
    field = models([0.3, 0.2, 0.1], performance=[0.8, 0.79, 0.7])
    rivals = replace(field, target=IncumbentTarget(performance=0.8, gap=0.25))
    np.testing.assert_array_equal(rivals.candidates(Tolerances()), [True, True, False])
    assert rivals.fairest(Tolerances()) == 1
    assert replace(field, target=IncumbentTarget(0.8, 0.2)).fairest(Tolerances()) == -1
    assert replace(field, target=IncumbentTarget(0.7, 0.2)).fairest(Tolerances()) == 2
    assert replace(field, target=IncumbentTarget(0.9, 0.5)).fairest(Tolerances()) == -1
    assert (
        replace(field, target=IncumbentTarget(0.8, NAN)).fairest(Tolerances()) == -1
    )  # nothing is fairer than what is undefined
    alone = replace(models([0.3]), target=IncumbentTarget(0.8, 0.31), excess=np.array([0.1]))
    assert alone.fairest(Tolerances()) == -1
    assert replace(alone, excess=None).fairest(Tolerances()) == 0
