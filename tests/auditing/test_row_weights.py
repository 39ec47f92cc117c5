"""An audit whose rows count differently: trained, scored, chosen and shown by their weights."""

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, demographic_parity_difference, selection_rate
from sklearn.metrics import accuracy_score, roc_auc_score
from support.audits import PLAN, audit_people, checked, people

from fairenum import AuditResult, audit, select
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import pose
from fairenum.errors import ConfigError
from fairenum.report.method_section import steps
from fairenum.solvers.registry import open_workspace


def weighted(n=300, seed=1):
    frame = people(n, seed)
    frame["w"] = np.random.default_rng(seed).lognormal(0, 0.5, n).round(3)
    frame.loc[:11, "w"] = 0.0
    return frame


@pytest.fixture(scope="module")
def run():
    return audit_people(weighted(), k=6, weight="w")


def test_scores_are_those_of_weighted_rows(run):
    document, frame = checked(run), weighted()
    for part in ("selection", "holdout"):
        rows = frame.iloc[run.live.division.rows[part]]
        assert (rows["w"] > 0).all()
        for model in document.models[:3]:
            decided, truth = run.estimator(model.rank).predict(rows), rows["hired"] == "yes"
            found = model.scores.of(part)
            weights = {"sample_weight": rows["w"]}
            assert found.accuracy.value == pytest.approx(accuracy_score(rows["hired"], decided, **weights), abs=1e-12)
            gap = demographic_parity_difference(truth, decided == "yes", sensitive_features=rows["sex"], **weights)
            assert found.demographic_parity_difference.value == pytest.approx(gap, abs=1e-12)
            values = run.estimator(model.rank).decision_function(rows)
            assert found.auc.value == pytest.approx(roc_auc_score(truth, values, **weights), abs=1e-12)
    assert document.reference_check.largest_difference < 1e-12


def test_group_tables_are_rebuilt_from_the_document_alone(run):
    document, frame = checked(run), weighted()
    rows = frame.iloc[run.live.division.rows["holdout"]]
    for table in document.group_tables:
        if " & " in table.column:
            continue
        decided = run.estimator(table.rank).predict(rows) == "yes"
        theirs = MetricFrame(
            metrics=selection_rate,
            y_true=decided,
            y_pred=decided,
            sensitive_features=rows[table.column],
            sample_params={"sample_weight": rows["w"]},
        ).by_group
        assert table.is_weighted
        top = max(theirs[group.group] for group in table.groups if group.group == table.most_selected)
        for group in table.groups:
            inside = rows[table.column] == group.group
            assert (group.n, group.selected) == (inside.sum(), decided[inside].sum())
            assert group.rate.value == pytest.approx(theirs[group.group], abs=1e-12)
            assert group.rate.low < group.rate.value < group.rate.high
            assert group.shortfall == pytest.approx(max(0.0, group.n * (top - theirs[group.group])), abs=1e-9)
    again = select(AuditResult(document), rank=document.selection.rank or 1).document
    assert again.group_tables == document.group_tables


def test_the_document_says_what_rows_count(run):
    document, frame = checked(run), weighted()
    found, holdout = document.dataset.weights, frame["w"].iloc[run.live.division.rows["holdout"]]
    assert (found.column, found.left_out) == ("w", 12)
    assert found.holdout == pytest.approx(holdout.sum() ** 2 / (holdout**2).sum())
    assert found.holdout < document.dataset.splits.holdout
    assert sum([*map(len, map(document.dataset.split_rows.of_split, ("train", "selection", "holdout")))]) == 288
    said = list(steps(document))[1]
    assert "Rows count what w says" in said
    assert "12 rows of weight 0 took no part" in said
    assert "rates are weighted" in run.to_html()


def test_rows_that_all_count_alike_give_the_audit_without_weights():
    frame = people()
    plain, alike = (
        checked(one) for one in (audit_people(frame, k=4), audit_people(frame.assign(w=2.5), k=4, weight="w"))
    )
    assert alike.dataset.weights.holdout == alike.dataset.splits.holdout
    bare = plain.dataset.but(weights=alike.dataset.weights, fingerprint=alike.dataset.fingerprint)
    assert alike.but(config=plain.config, dataset=bare, timings={}) == plain.but(dataset=bare, timings={})


@pytest.mark.parametrize("rows", [False, True])
def test_whole_weights_train_as_repeated_rows_do(rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(1)
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    weights = rng.integers(1, 4, 60)
    svm = SvmSettings(C=0.7, rows=rows)
    # weights of mean 1 keep the meaning of C: the sum of all boxes is that of as many plain rows
    relative = weights / weights.mean()
    ours = open_workspace("path", pose(X, y, svm, weights=relative).problem).solve()
    copied = pose(
        np.repeat(X, weights, axis=0), np.repeat(y, weights), SvmSettings(C=0.7 / weights.mean(), rows=rows)
    ).problem
    theirs = open_workspace("path", copied).solve()
    assert ours.certificate.objective == pytest.approx(theirs.certificate.objective, rel=1e-9)


def test_heavier_rows_have_more_say_in_training():
    frame = people(400, 3)
    frame["w"] = np.where(frame["sex"] == "f", 20.0, 1.0) * np.random.default_rng(0).uniform(0.9, 1.1, 400)
    plain, heavy = (
        audit(frame.drop(columns=drop), **PLAN, k=1, search="exact", replications=20, **weight)
        for drop, weight in ((["w"], {}), ([], {"weight": "w"}))
    )
    women = frame.iloc[heavy.live.division.split.train].query("sex == 'f'")
    loss = [
        np.maximum(0, 1 - np.where(women["hired"] == "yes", 1, -1) * one.estimator(1).decision_function(women)).mean()
        for one in (heavy, plain)
    ]
    assert loss[0] < loss[1]


def test_weights_go_with_every_measure_and_operating_point():
    for options in ({"performance": "auc"}, {"performance": "balanced_accuracy", "decide": "rate=0.4"}, {"C": "auto"}):
        document = checked(audit_people(weighted(), k=3, weight="w", **options))
        assert document.reference_check.largest_difference < 1e-12
        if "decide" in options:
            assert document.first.scores.selection.selection_rate.value == pytest.approx(0.4, abs=0.03)


def test_what_takes_rows_that_count_alike_is_refused_with_weights(run):
    with pytest.raises(ConfigError, match=r"baselines=True \(--baselines\) takes rows that count alike"):
        audit_people(weighted(), k=2, weight="w", baselines=True)
    with pytest.raises(ConfigError, match="label flips are simulated on rows that count alike"):
        run.attacked(trials=2)


def test_a_few_heavy_rows_call_for_caution():
    frame = people()
    frame["w"] = np.where(np.arange(300) % 15 == 0, 100.0, 1.0)
    document = checked(audit_people(frame, k=2, search="exact", weight="w"))
    assert "uneven_weights" in {caution.code for caution in document.warnings}
    (words,) = AuditResult(document).warnings["uneven_weights"]
    assert f"the {document.dataset.splits.holdout} rows of the holdout are worth only" in words
