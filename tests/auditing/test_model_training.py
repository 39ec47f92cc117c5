"""What is trained: the table that was asked for, C by cross-validation, and the machine on the training rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from support.audits import PLAN, audit_people, checked, people

from fairenum import AuditConfig, Dataset, audit, load_dataset
from fairenum.auditing import model_training
from fairenum.auditing.model_training import ENOUGH_NODES, FEWEST_NODES, NODES_OF_MODEL, WORK, load, trained, tune
from fairenum.document.training import ClassWeights, SvmSettings
from fairenum.enumeration.division import GRID, divide
from fairenum.errors import ConfigError
from fairenum.runtime.budget import silent


@pytest.fixture(scope="module")
def division():
    return divide(Dataset.from_frame(people(), **PLAN))


def test_c_is_chosen_by_cross_validation():
    document = checked(audit_people(people(), k=2, C="auto", kernel="rbf", gamma="auto"))
    tried = {entry.C: entry.accuracy for entry in document.tuning.grid}
    assert list(tried) == [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    best = max(tried.values())
    cheapest = min(cost for cost, accuracy in tried.items() if accuracy == best)
    assert document.config.svm.cost == cheapest
    assert (document.requested.C, document.requested.gamma, document.requested.max_nodes) == ("auto", "auto", "auto")
    assert document.config.svm.gamma == 0.25
    assert document.tuning.folds == 5
    rare = people(60)
    rare["hired"] = np.where(np.arange(60) < 3, "yes", "no")
    with pytest.raises(ConfigError, match="two training rows of each label"):
        audit_people(rare, C="auto", sizes=(20, 20, 20))


@pytest.mark.parametrize(
    ("class_weight", "given", "scoring"),
    [
        ("none", None, "accuracy"),
        ("balanced", "balanced", "balanced_accuracy"),
        ((9.0, 1.0), {1: 9.0, -1: 1.0}, "balanced_accuracy"),
    ],
)
def test_costs_fare_as_scikit_learn_says(division, class_weight, given, scoring):
    config = AuditConfig(seed=3).but(C="auto", class_weight=class_weight)
    svm, tuning = tune(division.train, config, silent)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    X, y = division.train.X, division.train.y
    for tried in tuning.grid[:3]:
        svc = SVC(C=tried.C, kernel="linear", class_weight=given)
        expected = cross_val_score(svc, X, y, cv=folds, scoring=scoring).mean()
        assert tried.accuracy == pytest.approx(expected)
    assert svm.C in GRID


def test_rows_that_stay_together_are_tried_together():
    # everybody is in the table three times, with a label that nothing tells: only a copy would give it away
    rng = np.random.default_rng(5)
    persons = rng.permutation(np.repeat(np.arange(60), 3))
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd")).loc[persons].reset_index(drop=True)
    frame["person"], frame["hired"] = persons, np.where(persons % 2, "yes", "no")
    options = {"k": 1, "C": "auto", "kernel": "rbf", "gamma": 5.0, "search": "exact", "replications": 50}
    run = audit(frame, "hired", "yes", group_column="person", **options)
    rows, tried = run.live.division.split.train, run.document.tuning.grid
    groups = pd.factorize(frame["person"])[0][rows]
    svc, folds = SVC(C=1000.0, gamma=5.0), StratifiedGroupKFold(5, shuffle=True, random_state=0)
    train = run.live.division.train
    assert tried[-1].accuracy == pytest.approx(cross_val_score(svc, train.X, train.y, groups=groups, cv=folds).mean())
    assert max(one.accuracy for one in tried) < 0.75
    torn = audit(frame, "hired", "yes", drop=["person"], **options).document
    assert max(one.accuracy for one in torn.tuning.grid) > 0.75


def test_a_label_of_one_person_cannot_be_tried():
    frame = people(60).assign(person=0)
    frame.loc[frame["hired"] == "no", "person"] = 1 + np.arange((frame["hired"] == "no").sum())
    with pytest.raises(ConfigError, match=r"of different group_column \(--group-column\), of each label"):
        audit(frame, **PLAN, C="auto", group_column="person")


def test_a_given_cost_is_not_tried(division):
    svm, tuning = tune(division.train, AuditConfig(SvmSettings()).but(C=3.0, gamma="auto"), silent)
    assert (svm, tuning) == (SvmSettings(3.0, gamma=0.25), None)


def test_the_machine_is_posed_on_rows_of_the_table(division):
    training = trained(division, SvmSettings(2.0), AuditConfig(max_nodes=7))
    assert training.max_nodes == 7
    np.testing.assert_array_equal(np.sort(np.concatenate(training.records)), division.split.train)
    for example, records in enumerate(training.records):
        assert (division.dataset.signs[records] == training.problem.y[example]).all()
    np.testing.assert_array_equal(training.problem.cost, 2.0)
    assert training.best.certificate.relative_gap <= 1e-9
    weighted = trained(division, SvmSettings(2.0, class_weight=(3.0, 0.5)), AuditConfig())
    np.testing.assert_array_equal(weighted.problem.cost, np.where(weighted.problem.y > 0, 6.0, 1.0))
    assert weighted.class_weights == ClassWeights(3.0, 0.5)


def test_the_work_of_an_enumeration_is_bounded_unless_asked_otherwise(division, monkeypatch):
    automatic = trained(division, SvmSettings(), AuditConfig())
    assert automatic.max_nodes == automatic.problem.affordable(WORK, FEWEST_NODES) >= FEWEST_NODES
    monkeypatch.setattr(model_training, "WORK", 0.0)  # as on a table of any size
    asked = {k: trained(division, SvmSettings(), AuditConfig(k=k)).max_nodes for k in (1, 20, 100_000)}
    assert asked == {1: FEWEST_NODES, 20: 20 * NODES_OF_MODEL, 100_000: ENOUGH_NODES}
    assert trained(division, SvmSettings(), AuditConfig(max_nodes=None)).max_nodes is None


def test_a_dataset_is_taken_as_it_is():
    dataset = Dataset.from_frame(people(), **PLAN)
    assert load(dataset, None, None, None, AuditConfig()) is dataset
    with pytest.raises(ConfigError, match="a Dataset is read already; give 'drop', 'label' when it is built"):
        audit(dataset, "hired", drop=["town"])
    with pytest.raises(ConfigError, match="'use_sensitive', 'favourable', 'sensitive'"):
        audit(dataset, favourable="yes", sensitive="sex", use_sensitive=True)


def test_options_of_reading_reach_the_reader(tmp_path):
    people().to_csv(tmp_path / "people.csv", sep=";", index=False)
    config = AuditConfig().but(drop="town", use_sensitive=True, delimiter=";", bands={"skill": (0.0,)})
    for data in (people(), tmp_path / "people.csv"):
        dataset = load(data, "hired", "yes", ["sex", "skill"], config)
        assert [column.name for column in dataset.features] == ["skill", "proxy", "sex", "race"]
        assert [len(groups.names) for groups in dataset.sensitive] == [2, 2]
    bundled = load("german", None, None, None, AuditConfig().but(categorical="ordinal"))
    assert bundled.fingerprint == load_dataset("german", categorical="ordinal").fingerprint
