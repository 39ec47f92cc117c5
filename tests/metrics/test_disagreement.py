"""Multiplicity against its definitions and against closed forms."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import rel_entr

from fairenum.errors import DataError
from fairenum.metrics.counts import Decisions
from fairenum.metrics.disagreement import (
    decision_multiplicity,
    pairwise_disagreement,
    rashomon_capacity,
    score_multiplicity,
)
from fairenum.tables.groups import Groups


def decisions(*models, codes=None, names=("a", "b")):
    codes = np.zeros(len(models[0]), dtype=int) if codes is None else np.array(codes)
    return Decisions(np.array(models), np.zeros(len(codes)), Groups(codes, names))


def test_who_flips_is_counted_by_hand():
    found = decision_multiplicity(decisions([1, 0, 1, 0, 1], [1, 1, 1, 0, 1], [1, 0, 0, 1, 1], codes=[0, 0, 0, 1, 1]))
    assert found.is_flipped.tolist() == [False, True, True, True, False]
    assert found.changed.tolist() == [0, 0.2, 0.4]
    assert found.ambiguity == pytest.approx(0.6)
    assert found.discrepancy == pytest.approx(0.4)
    assert found.disagreement == pytest.approx((0.2 + 0.4 + 0.6) / 3)
    assert found.group_ambiguity.tolist() == [pytest.approx(2 / 3), 0.5]
    assert found.group_discrepancy.tolist() == [pytest.approx(1 / 3), 0.5]
    assert found.group_disagreement.tolist() == [
        pytest.approx((1 / 3 + 1 / 3 + 2 / 3) / 3),
        pytest.approx(1 / 3),
    ]


def test_pairwise_disagreement_is_the_share_of_rows():
    found = pairwise_disagreement(decisions([1, 0, 1, 0, 1], [1, 1, 1, 0, 1], [1, 0, 0, 1, 1]))
    np.testing.assert_allclose(found, [[0, 0.2, 0.4], [0.2, 0, 0.6], [0.4, 0.6, 0]])


def test_one_model_disagrees_with_nobody():
    found = decision_multiplicity(decisions([1, 0]))
    assert (found.ambiguity, found.discrepancy, found.disagreement) == (0, 0, 0)
    assert found.group_ambiguity[0] == 0
    assert np.isnan(found.group_ambiguity[1])
    assert np.isnan(found.group_discrepancy[1])


@pytest.mark.parametrize("chance", [0, 1e-9, 0.3, 0.5, 1])
def test_models_that_agree_have_no_capacity(chance):
    assert rashomon_capacity(np.array([chance]), np.array([chance]))[0] == 0


def test_two_models_certain_of_opposites_have_one_bit():
    assert rashomon_capacity(np.array([0.0]), np.array([1.0]))[0] == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("error", [0.01, 0.2, 0.49])
def test_capacity_is_that_of_the_binary_symmetric_channel(error):
    entropy = -error * np.log2(error) - (1 - error) * np.log2(1 - error)
    assert rashomon_capacity(np.array([error]), np.array([1 - error]))[0] == pytest.approx(1 - entropy)


@pytest.mark.parametrize("error", [0.1, 0.5, 0.9])
def test_capacity_is_that_of_the_z_channel(error):
    entropy = -error * np.log2(error) - (1 - error) * np.log2(1 - error)
    expected = np.log2(1 + 2 ** (-entropy / (1 - error)))
    assert rashomon_capacity(np.array([0.0]), np.array([1 - error]))[0] == pytest.approx(expected)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-15])
def test_capacity_of_close_models_is_small_and_never_negative(gap):
    capacity = rashomon_capacity(np.array([0.3]), np.array([0.3 + gap]))[0]
    assert capacity == pytest.approx(gap**2 / (8 * 0.3 * 0.7 * np.log(2)), rel=1e-2, abs=1e-14)
    assert capacity >= 0


def mutual_information(logits, chances):
    """Bits between the model, drawn by a softmax of the logits, and the outcome."""
    weights = np.exp(logits - logits.max())
    weights /= weights.sum()
    centre = weights @ chances
    return weights @ (rel_entr(chances, centre) + rel_entr(1 - chances, 1 - centre)) / np.log(2)


def blahut_arimoto(chances, rounds=20_000):
    """The textbook iteration over all models, with no thought of extremes."""
    weights = np.full(len(chances), 1 / len(chances))
    for _ in range(rounds):
        centre = weights @ chances
        weights = weights * np.exp(rel_entr(chances, centre) + rel_entr(1 - chances, 1 - centre))
        weights /= weights.sum()
    return mutual_information(np.log(weights + 1e-300), chances)


@pytest.mark.parametrize("seed", range(6))
def test_capacity_is_what_an_optimiser_and_blahut_arimoto_find_over_all_models(seed):
    chances = np.random.default_rng(seed).uniform(0.02, 0.98, 5)
    capacity = rashomon_capacity(chances.min(keepdims=True), chances.max(keepdims=True))[0]
    found = minimize(lambda logits: -mutual_information(logits, chances), np.zeros(5), tol=1e-9)
    assert -found.fun == pytest.approx(capacity, abs=1e-4)
    assert blahut_arimoto(chances) == pytest.approx(capacity, abs=1e-6)


def test_scores_are_compared_row_by_row_and_averaged_by_group():
    groups = Groups(np.array([0, 0, 1]), ("a", "b", "empty"))
    found = score_multiplicity([[0.2, 0.0, 0.5], [0.6, 1.0, 0.5], [0.3, 0.4, 0.5]], groups)
    np.testing.assert_allclose(found.viable_range, [0.4, 1, 0])
    np.testing.assert_allclose(found.capacity[1:], [1, 0])
    assert found.mean_range == pytest.approx(1.4 / 3)
    assert found.mean_capacity == pytest.approx(found.capacity.mean())
    np.testing.assert_allclose(found.group_range, [0.7, 0, np.nan])
    np.testing.assert_allclose(found.group_capacity, [(found.capacity[0] + 1) / 2, 0, np.nan])


@pytest.mark.parametrize("values", [[0.5, 0.5], [[0.5]], np.empty((0, 2)), [[0.5, 1.5]], [[0.5, np.nan]]])
def test_probabilities_that_cannot_be_are_refused(values):
    with pytest.raises(DataError, match="probabilities"):
        score_multiplicity(values, Groups(np.array([0, 1]), ("a", "b")))
