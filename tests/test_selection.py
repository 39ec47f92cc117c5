"""The rule that picks the fairest near-optimal model."""

from __future__ import annotations

import numpy as np
import pytest

from fairenum import EnumSVC
from fairenum.document.machine import Tolerances
from fairenum.experiment import EncodedRows
from fairenum.scoring import Decisions, Groups
from fairenum.scoring.counts import confusion
from fairenum.selection import Standing, _gap, expected_optimism, fairest, standing

NAN = float("nan")


def models(gap, accuracy=None, ratio=None, constant=()):
    k = len(gap)
    return Standing(
        objective_ratio=np.array(ratio or [1.0] * k),
        accuracy=np.array(accuracy or [0.8] * k),
        gap=np.array(gap, dtype=float),
        is_constant=np.isin(np.arange(k), constant),
    )


def test_the_smallest_gap_wins():
    assert models([0.3, 0.2, 0.1, 0.15]).fairest(Tolerances()) == 2


def test_ties_go_to_model_1_then_to_accuracy_then_to_the_better_objective():
    assert models([0.3, 0.1, 0.1]).fairest(Tolerances()) == 1
    assert models([0.3, 0.1, 0.1], accuracy=[0.8, 0.8, 0.81]).fairest(Tolerances()) == 2
    assert models([0.1, 0.1, 0.1 - 1e-16], accuracy=[0.8, 0.9, 0.9]).fairest(Tolerances()) == 0


def test_model_1_is_kept_when_nothing_is_fairer():
    assert models([0.1, 0.2, 0.3]).fairest(Tolerances()) == 0


def test_a_constant_model_is_never_chosen():
    assert models([0.3, 0.0, 0.2], constant=[1]).fairest(Tolerances()) == 2
    assert models([0.0, 0.0], constant=[0, 1]).fairest(Tolerances()) == -1
    assert models([0.0, 0.2], constant=[0]).fairest(Tolerances()) == 1


def test_the_tolerances_bound_objective_and_accuracy_inclusively():
    field = models([0.3, 0.2, 0.1], accuracy=[0.80, 0.79, 0.78], ratio=[1.0, 0.95, 0.95])
    assert field.fairest(Tolerances(max_accuracy_drop=0.01)) == 1
    assert field.fairest(Tolerances(max_accuracy_drop=0.02)) == 2
    assert field.fairest(Tolerances(max_accuracy_drop=0.02, eps=0.04)) == 0
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
    ratios = np.linspace(1.0, 0.99, 40)
    chosen = int(standing(noisy_twins, ratios, "demographic_parity_difference").fairest(Tolerances()))
    optimism = expected_optimism(noisy_twins, ratios, Tolerances(max_accuracy_drop=0.1), np.random.default_rng(1), 400)
    assert chosen > 0
    assert 0.005 < optimism < 0.1


def test_a_choice_of_one_does_not_flatter(noisy_twins):
    only = Decisions(noisy_twins.predictions[:1], noisy_twins.labels, noisy_twins.groups)
    assert expected_optimism(only, np.ones(1), Tolerances(), np.random.default_rng(0), 50) == 0.0


@pytest.mark.parametrize("metric", ["equalized_odds_difference", "predictive_parity_difference"])
def test_the_replicated_gap_is_the_gap(noisy_twins, metric):
    expected = standing(noisy_twins, np.ones(40), metric).gap
    once = np.ones((2, len(noisy_twins.labels)))
    np.testing.assert_allclose(_gap(confusion(noisy_twins, once), metric), [expected, expected], atol=1e-12)


def test_the_fairest_of_some_models():
    rng = np.random.default_rng(5)
    X, codes = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    X[:, 0] += codes
    y = np.where(X[:, 0] + rng.normal(size=120) > 0.5, 1.0, -1.0)
    rows = EncodedRows(X[60:], y[60:], Groups(codes[60:], ("a", "b")))
    found = EnumSVC(n_models=20, distinct="predictions").fit(X[:60], y[:60], audited=rows.X).models_
    tolerances = Tolerances(max_accuracy_drop=0.05)
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
