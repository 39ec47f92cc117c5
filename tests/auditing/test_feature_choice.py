"""The choice of linear or additive features: by the training rows alone, on record, and the same when run again."""

import json
from functools import cache

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from fairenum import AuditConfig, AuditResult, Exploration, audit, score
from fairenum.auditing import feature_choice, preparing
from fairenum.auditing.feature_choice import chosen_features, compared
from fairenum.auditing.preparing import config_of, divided, retrained, train_svm
from fairenum.document.feature_facts import ROUNDING, EncodingComparison, FeatureEncoding
from fairenum.document.files import parse, to_json
from fairenum.errors import ConfigError, ResultError, TableTooLarge
from fairenum.report import method_section
from fairenum.runtime.budget import silent
from fairenum.svm.sparse_or_dense import dense
from fairenum.tables import Dataset, Encoding, encoding

PLAN = {"label": "ok", "favourable": "yes", "sensitive": "sex"}
BRIEF = {"k": 4, "search": "exact", "replications": 50, "prices": False, "explanation": False}


def people(shape: str, rows: int = 900, seed: int = 0) -> pd.DataFrame:
    """People whose chance depends on age by a line, by a bump or by steps, and a little on a town."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 70, rows).astype(float), rng.choice(["f", "m"], rows)
    town = rng.choice(["u", "v"], rows)
    score = {
        "line": (age - 44) / 10,
        "bump": 2 - np.abs(age - 44) / 5,
        "steps": np.where((age > 57) | (np.abs(age - 35) < 6), 2.0, -1.5),
    }[shape]
    score = score + 0.5 * (town == "u") + 0.3 * (sex == "m")
    chance = 1 / (1 + np.exp(-score))
    frame = pd.DataFrame({"age": age, "noise": rng.normal(size=rows), "town": town, "sex": sex})
    frame["ok"] = np.where(rng.random(rows) < chance, "yes", "no")
    return frame.assign(age=frame["age"].where(rng.random(rows) > 0.05))


@cache
def bump() -> AuditResult:
    return audit(people("bump"), "ok", "yes", "sex", **BRIEF)


@pytest.mark.parametrize(("shape", "expected"), [("line", "linear"), ("bump", "additive"), ("steps", "additive")])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cut_points_are_used_where_they_help(shape, expected, seed):
    table = Dataset.from_frame(people(shape, seed=seed), **PLAN)
    for config in (AuditConfig(), AuditConfig(standardise=False)):
        found = chosen_features(table, np.arange(600), config)
        assert (found.features, found.comparison.rows, found.comparison.folds) == (expected, 600, 5)


def test_the_areas_are_those_of_linear_svms_in_folds_with_their_own_cut_points():
    table, rows = Dataset.from_frame(people("line"), **PLAN), np.arange(600)
    found, aucs = compared(table, rows, AuditConfig().but(class_weight="none")), []
    for learnt, tried in StratifiedKFold(5, shuffle=True, random_state=0).split(rows, table.y[rows]):
        for features in ("linear", "additive"):
            coder = Encoding.fit(table, rows[learnt], features=features)
            X, others = (coder.transform(table, rows[part]) for part in (learnt, tried))
            w, b, y = cp.Variable(X.shape[1]), cp.Variable(), table.signs[rows[learnt]]
            loss = 0.5 * cp.sum_squares(w) + cp.sum(cp.pos(1 - cp.multiply(y, dense(X) @ w + b)))
            cp.Problem(cp.Minimize(loss)).solve(solver="CLARABEL")
            values = np.round(dense(others) @ w.value, 3)  # many rows are on the margin, and tie
            aucs.append(roc_auc_score(table.y[rows[tried]], values))
    linear, additive = np.reshape(aucs, (-1, 2)).T
    gains = additive - linear
    theirs = (linear.mean(), additive.mean(), gains.mean(), gains.std(ddof=1) / np.sqrt(5))
    assert (found.linear, found.additive, found.gain, found.error) == pytest.approx(theirs, abs=1e-3)


def test_a_rare_label_counts_more():
    frame = people("bump")
    frame["ok"] = frame["ok"].where(np.arange(900) % 4 == 0, "no")
    table, rows = Dataset.from_frame(frame, **PLAN), np.arange(600)
    assert table.y[rows].mean() < 0.25
    auto, plain, balanced = (
        compared(table, rows, AuditConfig().but(**given))
        for given in ({}, {"class_weight": "none"}, {"class_weight": "balanced"})
    )
    assert auto == balanced != plain


def test_other_rows_have_no_part_in_the_choice():
    frame = people("bump")
    table, rows = Dataset.from_frame(frame, **PLAN), np.arange(600)
    frame.loc[600:, ["age", "noise"]] = 7.0
    frame.loc[600:, "ok"] = "no"
    assert compared(table, rows, AuditConfig()) == compared(Dataset.from_frame(frame, **PLAN), rows, AuditConfig())


def test_many_rows_are_compared_on_a_seeded_sample(monkeypatch):
    monkeypatch.setattr(feature_choice, "MOST_ROWS", 300)
    table, rows = Dataset.from_frame(people("bump"), **PLAN), np.arange(600)
    first, again, other = (compared(table, rows, AuditConfig(seed=seed)) for seed in (0, 0, 1))
    assert first == again != other
    assert first.rows == 300


def test_rows_of_one_person_are_in_one_fold(monkeypatch):
    frame = people("bump", 300)
    frame = pd.concat([frame.assign(person=range(300))] * 3, ignore_index=True)
    table = Dataset.from_frame(frame, group_column="person", **PLAN)
    seen = []
    made = Encoding.fit
    monkeypatch.setattr(Encoding, "fit", lambda *given, **more: (seen.append(given[1]), made(*given, **more))[1])
    found = compared(table, np.arange(900), AuditConfig())
    assert found.folds == len(seen) == 5
    for rows in seen:
        owners = frame["person"].to_numpy()[rows]
        assert np.unique(owners, return_counts=True)[1].tolist() == [3] * len(np.unique(owners))


def test_nothing_is_compared_without_a_choice():
    frame = people("bump")
    table = Dataset.from_frame(frame, **PLAN)
    texts = Dataset.from_frame(frame.drop(columns=["age", "noise"]), **PLAN)
    rows = np.arange(600)
    linear = FeatureEncoding("linear")
    assert chosen_features(table, rows, AuditConfig(features="additive")) == FeatureEncoding("additive")
    assert chosen_features(table, rows, AuditConfig(features="linear")) == linear
    assert chosen_features(table, rows, AuditConfig().but(kernel="rbf")) == linear
    assert chosen_features(texts, rows, AuditConfig()) == linear
    few = np.flatnonzero(table.y == 1)[:50], np.flatnonzero(table.y == 0)[:1]
    assert chosen_features(table, np.concatenate(few), AuditConfig()) == linear


def test_cut_points_for_another_kernel_are_refused():
    with pytest.raises(ConfigError, match=r"for linear models, not for kernel='rbf' \(--kernel rbf\)"):
        AuditConfig(features="additive").but(kernel="rbf")
    with pytest.raises(ConfigError, match="one of auto, linear, additive, not 'cubic'"):
        AuditConfig(features="cubic")


def test_an_additive_encoding_too_large_gives_way_unless_asked_for(monkeypatch):
    table, document = Dataset.from_frame(people("bump"), **PLAN), bump().document
    linear = Encoding.fit(table, np.arange(600)).transform(table)
    monkeypatch.setattr(encoding, "LARGEST_MATRIX", 3 * linear.nbytes)
    monkeypatch.setattr(feature_choice, "compared", lambda *_: EncodingComparison(5, 500, 0.6, 0.8, 0.2, 0.01))
    division = divided(table, AuditConfig())
    facts = division.features
    assert (facts.features, facts.is_too_large, facts.comparison.gain, facts.added) == ("linear", True, 0.2, 0)
    with pytest.raises(TableTooLarge):
        divided(table, AuditConfig(features="additive"))
    words = " ".join(method_section.steps(document.but(features=facts)))
    assert "(+0.200, standard error 0.0100); cut points would make the table too large for this audit." in words


def test_an_additive_encoding_too_wide_is_not_chosen(monkeypatch):
    table = Dataset.from_frame(people("bump"), **PLAN)
    monkeypatch.setattr(feature_choice, "MOST_ADDED", 5)
    found = chosen_features(table, np.arange(600), AuditConfig())
    assert found == FeatureEncoding("linear", is_too_large=True)
    assert divided(table, AuditConfig()).features == found
    assert divided(table, AuditConfig(features="additive")).features.added > 5
    words = " ".join(method_section.steps(bump().document.but(features=found)))
    assert "Models see numbers as they are, without cut points: cut points would make the table too large" in words


def test_the_document_says_what_was_chosen_and_why():
    document = bump().document
    facts = document.features
    assert (document.config.features, document.requested.features, facts.features) == ("additive", "auto", "additive")
    assert facts.added == sum(" " in name for name in document.dataset.encoded) > 3
    assert facts.comparison.gain == pytest.approx(facts.comparison.additive - facts.comparison.linear)
    assert parse(to_json(document).encode(), "run") == document
    words = " ".join(method_section.steps(document))
    assert f"{facts.added} columns of 0 and 1 in all" in words
    assert f"from {facts.comparison.linear:.3f} to {facts.comparison.additive:.3f}" in words
    asked = " ".join(method_section.steps(document.but(features=FeatureEncoding("additive", 5))))
    assert "learned from the training rows, as asked for." in asked


def test_a_linear_truth_is_said_too():
    document = audit(people("line"), "ok", "yes", "sex", **BRIEF).document
    assert (document.config.features, document.features.features, document.features.added) == ("linear", "linear", 0)
    assert "Models see numbers as they are, without cut points: in cross-validation on" in " ".join(
        method_section.steps(document)
    )
    asked = audit(people("line"), "ok", "yes", "sex", features="linear", **BRIEF).document
    assert asked.features is None
    assert asked.models == document.models


def test_a_saved_run_is_repeated_from_its_document():
    document = bump().document
    again = audit(people("bump"), "ok", "yes", "sex", config=config_of(document)).document
    assert again.models == document.models
    assert again.anatomy == document.anatomy
    division, training = retrained(document, Dataset.from_frame(people("bump"), **PLAN))
    assert division.encoding.described() == document.anatomy.features
    assert training.best.certificate.objective == document.first.objective


def test_a_run_from_before_there_was_a_choice_is_repeated_with_linear_features():
    saved = json.loads(to_json(audit(people("bump"), "ok", "yes", "sex", features="linear", **BRIEF).document))
    del saved["config"]["features"], saved["requested"]["features"], saved["features"]
    older = parse(json.dumps(saved).encode(), "run")
    assert (older.config.features, config_of(older).features) == ("auto", "linear")
    division, _ = retrained(older, Dataset.from_frame(people("bump"), **PLAN))
    assert division.features == FeatureEncoding("linear")


def test_costs_are_tuned_with_cut_points_of_each_fold(monkeypatch):
    table = Dataset.from_frame(people("bump", 300), **PLAN)
    config = AuditConfig(features="additive").but(C="auto")
    division, seen = divided(table, config), []
    made = Encoding.fit
    monkeypatch.setattr(
        preparing.Encoding, "fit", lambda *given, **more: (seen.append((given[1], more)), made(*given, **more))[1]
    )
    training, tuning = train_svm(division, config, silent)
    assert tuning.folds == 5
    assert len(seen) in (5, 10)  # a second time if classes are weighted
    for rows, options in seen:
        assert options["features"] == "additive"
        assert set(rows) < set(division.split.train)
    assert training.svm.C in [one.C for one in tuning.grid]


@pytest.mark.parametrize("standardise", [True, False])
def test_a_person_is_decided_as_the_pipelines_do(standardise):
    frame = people("bump")
    result = audit(frame, "ok", "yes", "sex", features="additive", standardise=standardise, **BRIEF)
    features = [one.name for one in result.document.dataset.features]
    values = result.estimator(1).decision_function(frame[features])
    for row in (0, 1, 2, *np.flatnonzero(frame["age"].isna())[:3]):
        cells = {name: cell for name, cell in frame.loc[row, features].items() if pd.notna(cell)}
        decided = result.explain(cells).decisions[0]
        assert decided.value == pytest.approx(values[row] - ROUNDING, abs=1e-12)
        assert {one.feature for one in decided.contributions} == {*features}


def test_a_person_has_a_flip_price_with_conditions_by_name():
    result = bump()
    person = result.live.with_flip_price(result.document, result.explain({"age": 30.0, "noise": 0.0, "town": "u"}))
    (first, *_) = person.flip_price.model.weights
    conditions = {one.level for one in person.flip_price.model.weights if one.is_condition}
    assert conditions <= {one for feature in result.document.anatomy.features for one in feature.conditions}
    assert first.feature == "age"


def test_an_exported_model_decides_new_rows_alike(tmp_path):
    result, frame = bump(), people("bump", 200, seed=5)
    result.export(tmp_path / "m.skops", 1, unconfirmed=True)
    scored = score(tmp_path / "m.skops", frame)
    features = [one.name for one in result.document.dataset.features]
    values = result.estimator(1).decision_function(frame[features])
    np.testing.assert_allclose(scored.decisions["score"], values, atol=1e-9)
    asked = {one.name: one for one in scored.summary.features}
    assert asked["age"].filled == result.document.anatomy.features[0].median


def test_an_exploration_of_the_run_has_its_models():
    document = bump().document
    exploration = Exploration(people("bump"), run=bump())
    assert exploration.features == document.anatomy.features
    with pytest.raises(ConfigError):
        Exploration(people("bump"), run=bump(), features="linear")
    alone = Exploration(people("bump"), "ok", "yes", "sex", k=4)
    assert alone.features == document.anatomy.features
    assert alone.view.models[0].objective == document.first.objective


def test_the_same_input_and_seed_give_the_same_document():
    again = audit(people("bump"), "ok", "yes", "sex", **BRIEF).document
    assert to_json(again.but(timings={})) == to_json(bump().document.but(timings={}))


def test_weighted_rows_are_compared_and_encoded_with_their_weights():
    rng = np.random.default_rng(99)
    frame = people("bump", 3000).assign(w=rng.choice([0.5, 1.0, 4.0], 3000))
    weighted = divided(Dataset.from_frame(frame, weight="w", **PLAN), AuditConfig())
    plain = divided(Dataset.from_frame(frame.drop(columns="w"), **PLAN), AuditConfig())
    assert weighted.features.features == plain.features.features == "additive"
    assert np.array_equal(weighted.split.train, plain.split.train)
    ours, theirs = weighted.features.comparison, plain.features.comparison
    assert ours.additive == pytest.approx(theirs.additive, abs=0.05)
    assert ours != theirs
    assert weighted.encoding.names != plain.encoding.names


@pytest.mark.parametrize("changed", ["cuts", "origin"])
def test_cut_points_that_contradict_each_other_are_refused(changed):
    forged = json.loads(to_json(bump().document))
    feature = forged["anatomy"]["features"][0]
    feature[changed] = {"cuts": feature["cuts"][::-1], "origin": len(feature["cuts"]) + 1}[changed]
    with pytest.raises(ResultError, match=r"anatomy\.features\[0\]\.cuts"):
        parse(json.dumps(forged).encode(), "run")
