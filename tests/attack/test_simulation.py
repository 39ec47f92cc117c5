"""The simulation: its summary, its records, its document, and what fails in it."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_difference

from fairenum import EnumSVC, load_dataset
from fairenum.attack import AttackConfig, simulate
from fairenum.attack.defences import DEFENCES
from fairenum.attack.simulation import check_names, draws, resolved
from fairenum.attack.trial import run_trial
from fairenum.document.files import parse, to_json
from fairenum.errors import AttackError, ConfigError, SplitImpossible, StrategyNotFound
from fairenum.tables import Dataset

PAPER = {"sizes": (100, 0, 50), "standardise": False, "rows": True}


@pytest.fixture(scope="module")
def compas():
    return load_dataset("compas", use_sensitive=True, incumbent="none")


def test_the_summary_is_about_all_trials(compas):
    attack = simulate(compas, strategies=("paper", "random"), flips=(0, 5, 0.1), trials=3, k=5, **PAPER).attack
    assert attack.status == "complete"
    assert [curve.strategy for curve in attack.curves] == ["paper", "random"]
    assert [point.flips for point in attack.curves[0].points] == [0, 5, 10]
    assert [point.share for point in attack.curves[0].points] == [0.0, 0.05, 0.1]
    assert all(point.trials == 3 for curve in attack.curves for point in curve.points)
    nothing = attack.curves[0].points[0]
    assert nothing.gap_change.value == nothing.error_change.value == 0.0
    assert nothing.gap == attack.clean.gap
    assert attack.config.group == "yes"  # African American defendants have the fewest favourable labels


def test_the_numbers_of_a_point_are_those_of_its_records(compas):
    simulation = simulate(compas, strategies="random", trials=8, k=8, defences="loss_removal", **PAPER)
    (point,) = simulation.attack.curves[0].points
    pairs = [(record.clean, record.attacks[0]) for record in simulation.records]
    changes = np.array([attack.gap - clean.gap for clean, attack in pairs])
    assert point.gap_change.value == pytest.approx(changes.mean())
    assert point.gap_change_quantiles.q50 == pytest.approx(np.median(changes))
    assert point.raised.value == pytest.approx((changes > 0).mean())
    recovered = np.array([attack.recovery.rank is not None for _, attack in pairs])
    assert point.recovery.share.value == pytest.approx(recovered.mean())
    assert 0 < (changes > 0).sum() < len(changes)  # or the next line would say nothing new
    assert point.recovery.of_raised.value == pytest.approx(recovered[changes > 0].mean())
    assert point.predictors.value == pytest.approx(np.mean([attack.predictors for _, attack in pairs]))
    defended = [attack.defences["loss_removal"].gap - attack.gap for _, attack in pairs]
    assert point.defences[0].gap_change.value == pytest.approx(np.mean(defended))


def test_a_saved_document_is_what_it_was(compas):
    simulation = simulate(compas, flips=(5, 0.1), trials=2, k=3, defences=("loss_removal", "fairest_listed"), **PAPER)
    document = simulation.document(compas, 1.5)
    assert parse(to_json(document).encode(), "attack.json") == document
    assert document.timings == {"attack": 1.5}
    assert (document.dataset.rows, document.dataset.label) == (len(compas), compas.label.column)
    assert document.dataset.fingerprint == compas.fingerprint
    assert document.environment.solver.name == "path"
    assert document.trials == simulation.records
    assert not document.is_partial


def test_every_number_of_a_trial_is_what_it_says(compas):
    """One record against scikit-learn, fairlearn and plain counting, from the rows that it names."""
    config = AttackConfig().but(trials=1, k=8, seed=5, **PAPER)
    trial = next(iter(draws(compas, resolved(config, compas))))
    record = run_trial(trial)
    (attack,) = record.attacks
    X, y = trial.table.frame().to_numpy(dtype=float), trial.table.signs
    train, holdout = slice(0, 100), slice(100, 150)
    groups = trial.table.sensitive[0].codes
    poisoned = y[train].copy()
    poisoned[list(attack.rows)] *= -1
    for labels, measured in ((y[train], record.clean), (poisoned, attack)):
        decided = EnumSVC(n_models=1).fit(X[train], labels).predict(X[holdout])
        assert measured.error == pytest.approx(np.mean(decided != y[holdout]))
        expected = demographic_parity_difference(y[holdout] > 0, decided > 0, sensitive_features=groups[holdout])
        assert measured.gap == pytest.approx(expected)
    svm = EnumSVC(n_models=8).fit(X[train], poisoned)
    decided = np.array([model.predict(X[holdout]) for model in svm.models_])
    assert attack.predictors == len({row.tobytes() for row in decided})
    assert attack.models == 8
    assert set(attack.rows) <= set(np.flatnonzero((groups[train] == 1) == (y[train] > 0)).tolist())


def test_a_trial_can_be_repeated_by_its_seed_alone(compas):
    both = [simulate(compas, trials=trials, seed=seed, k=3, **PAPER).records for trials, seed in ((3, 7), (1, 9))]
    assert both[0][2].but(trial=0) == both[1][0]


def test_draws_are_disjoint_parts_of_the_table(compas):
    config = resolved(AttackConfig(trials=3, sizes=(50, 20, 30)), compas)
    for trial in draws(compas, config):
        assert len(trial.table) == 100
        train, selection, holdout = trial.encoded()
        assert (len(train), len(selection), len(holdout)) == (50, 20, 30)
        assert np.concatenate([train.y, selection.y, holdout.y]).tolist() == trial.table.signs.tolist()
        np.testing.assert_allclose(train.X.mean(axis=0), 0.0, atol=1e-9)  # the training rows alone set the scale
    with pytest.raises(SplitImpossible, match="ask for less"):
        simulate(compas, sizes=(6000, 0, 500))
    small = resolved(AttackConfig(), load_dataset("german"))
    assert small.sizes == (300, 0, 700)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"flips": ()}, "'flips' must be at least one"),
        ({"flips": (5, 5)}, "'flips' must be a list without repetitions"),
        ({"flips": True}, "'flips' must be numbers of rows, or shares between 0 and 1"),
        ({"flips": -1}, "'flips' must be"),
        ({"sizes": (1, 2)}, "'sizes' must be three numbers"),
        ({"sees": "everything"}, "'sees' must be one of train, audit"),
        ({"direction": "up"}, "'direction' must be one of unfavourable, favourable"),
        ({"C": 0}, "'C' must be a positive number"),
        ({"C": "auto"}, "'C' must be a positive number"),
        ({"gamma": "big"}, "'gamma' must be a positive number, 1e-30 to 1e.30, scale or auto"),
        ({"budget": 3}, "an attack has no option 'budget'"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        AttackConfig().but(**options)


def test_names_that_nobody_has_are_refused_before_anything_is_computed(compas):
    strategy, defence = AttackConfig(strategies="papr"), AttackConfig(defences="hope")
    for refuse in (check_names, lambda config: simulate(compas, config, progress=pytest.fail)):
        with pytest.raises(StrategyNotFound, match="no attack strategy is called 'papr'; did you mean 'paper'"):
            refuse(strategy)
        with pytest.raises(ConfigError, match="no defence is called 'hope'; there are knn_relabelling, loss_removal"):
            refuse(defence)


def test_what_no_trial_could_do_is_refused(compas):
    with pytest.raises(ConfigError, match="101 flips were asked for, but a draw has 100 training rows"):
        simulate(compas, flips=101, **PAPER)
    with pytest.raises(ConfigError, match="no group of 'African_American' is called 'maybe'"):
        simulate(compas, group="maybe", **PAPER)
    with pytest.raises(ConfigError, match="'jobs' must be a number of processes"):
        simulate(compas, jobs=0, **PAPER)


def test_a_draw_with_one_label_is_a_failure_with_its_seed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "z": ["a", "b"] * 100, "y": ["yes"] * 192 + ["no"] * 8})
    table = Dataset.from_frame(frame, "y", "no", "z")
    simulation = simulate(table, strategies="random", flips=2, trials=12, sizes=(20, 0, 100), k=2)
    assert 0 < len(simulation.attack.failures) < 12
    for failure in simulation.attack.failures:
        assert "two classes" in failure.message
        assert simulation.records[failure.trial].clean is None
        with pytest.raises(AttackError, match=f"the only trial failed; seed {failure.seed}: "):
            simulate(table, strategies="random", flips=2, trials=1, sizes=(20, 0, 100), k=2, seed=failure.seed)
    document = simulation.document(table, 0.0)
    assert parse(to_json(document).encode(), "attack.json") == document


@pytest.mark.parametrize("metric", ["equal_opportunity_difference", "equalized_odds_difference"])
def test_every_defence_answers_for_gaps_that_fairlearn_knows(compas, metric):
    attack = simulate(compas, trials=2, k=5, sizes=(120, 60, 200), metric=metric, defences=tuple(DEFENCES)).attack
    defences = attack.curves[0].points[0].defences
    assert [defence.name for defence in defences] == list(DEFENCES)
    for defence in defences:
        assert (defence.trials, defence.failure) == (2, None)


def test_a_defence_that_cannot_work_is_a_row_of_its_own(compas):
    options = {"metric": "predictive_parity_difference", "defences": ("exponentiated_gradient", "loss_removal")}
    attack = simulate(compas, trials=2, k=2, sizes=(120, 0, 200), **options).attack
    failed, done = attack.curves[0].points[0].defences
    assert (failed.failed, failed.trials, failed.gap.value) == (2, 0, None)
    assert failed.failure == "fairlearn has no constraint on predictive_parity_difference"
    assert done.trials == 2
