"""One injected draw of COMPAS: as an attack makes it, measured as fairlearn and scikit-learn measure."""

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import zero_one_loss

from fairenum.attack import AttackConfig, simulate
from fairenum.document.training import SvmSettings
from fairenum.research import injected_draws
from fairenum.research.injected_draws import InjectedDraw, ModelScores, compas, predictors, printed_values, run_draw


def test_a_draw_is_the_one_that_an_attack_makes():
    config = AttackConfig(svm=SvmSettings(rows=True), sizes=(100, 0, 50), trials=1, seed=5)
    record = simulate(compas(), config).records[0]
    draw = InjectedDraw.of(5, standardise=True, cost=1.0)
    (attack,) = record.attacks
    assert np.flatnonzero(~draw.untouched).tolist() == list(attack.rows)
    measured = draw.measured()
    assert measured.test.gaps[0] == pytest.approx(attack.gap)
    assert measured.test.clean_gap == pytest.approx(record.clean.gap)
    assert measured.tied == attack.tied


@pytest.mark.parametrize("seed", range(3))
def test_ten_labels_are_flipped_towards_the_prejudice(seed):
    draw = InjectedDraw.of(seed, standardise=False, cost=1.0)
    train = draw.scene.train
    flipped = np.flatnonzero(~draw.untouched)
    # in the paper's words y != z before the flip: z and y are 1 for African-Americans and for a new arrest
    arrested, black = train.y < 0, train.groups.codes == draw.scene.target
    assert train.groups.names[draw.scene.target] == "yes"
    assert len(flipped) == 10
    assert (arrested[flipped] != black[flipped]).all()
    assert (draw.y != train.y).sum() == 10
    assert (len(draw.test), len(draw.rest)) == (50, 6172 - 150)


def test_parity_and_error_are_those_of_fairlearn_and_scikit_learn():
    test = InjectedDraw.of(2, standardise=True, cost=1.0).test
    values = np.random.default_rng(1).normal(size=(5, 50))
    found = ModelScores.of(test, values)
    decided, labels = values >= 0, test.y > 0
    gaps = [demographic_parity_difference(labels, one, sensitive_features=test.groups.codes) for one in decided]
    errors = [zero_one_loss(labels, one) for one in decided]
    assert [found.clean_gap, found.untouched_gap, *found.gaps] == pytest.approx(gaps)
    assert [found.clean_error, *found.errors] == pytest.approx([errors[0], *errors[2:]])
    for reference, marks in ((gaps[0], found.fairer), (gaps[1], found.fairer_than_untouched)):
        pairs = zip(gaps[2:], errors[2:], strict=True)
        assert marks.tolist() == [gap < reference - 1e-12 and error < errors[2] - 1e-12 for gap, error in pairs]


numbers = st.lists(st.floats(0, 1), min_size=1, max_size=6)


@given(numbers, numbers, st.floats(0, 1))
def test_a_fairer_model_has_less_of_both(gaps, errors, reference):
    size = min(len(gaps), len(errors))
    gaps, errors, reference = np.round(gaps[:size], 3), np.round(errors[:size], 3), round(reference, 3)
    expected = [gap < reference and error < errors[0] for gap, error in zip(gaps, errors, strict=True)]
    assert ModelScores(gaps, errors, reference, 0.5, 0.0).fairer.tolist() == expected


def test_predictors_are_counted_by_their_decisions():
    assert predictors(np.array([[1.0, -1.0], [2.0, -3.0], [0.0, -1.0], [1.0, 1.0]])) == 2


def test_the_printed_algorithm_finds_the_best_model_first():
    draw = InjectedDraw.of(1, standardise=True, cost=1.0)
    objectives, values = printed_values(draw.scene.train, draw.y, draw.untouched, 1.0, draw.test.X)
    assert objectives.max() == pytest.approx(objectives[0], rel=1e-4)
    assert values.shape == (len(objectives) + 2, 50)


def test_the_papers_algorithm_runs_in_the_main_variant_alone():
    variants = run_draw(1, True).variants
    assert list(variants) == list(injected_draws.VARIANTS)
    assert [variant.printed is not None for variant in variants.values()] == [True, False, False, False]
    assert all(variant.printed is None for variant in run_draw(1, False).variants.values())


def test_a_draw_that_cannot_be_made_is_refused_with_its_reason(monkeypatch):
    monkeypatch.setattr(injected_draws, "FLIPPED", 101)
    refusals = run_draw(6, False).variants.values()
    assert {refusal.seed for refusal in refusals} == {6}
    assert all(refusal.reason.startswith("101 flips were asked for") for refusal in refusals)
