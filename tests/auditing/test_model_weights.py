"""What models go by: weights and single decisions against exported pipelines, effects and flips against the rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.inspection import permutation_importance
from support.audits import applicants, audit_applicants, audit_people, checked, people

from fairenum import AuditResult, audit, select
from fairenum.auditing import explanation
from fairenum.document.audit_document import AuditDocument
from fairenum.document.feature_facts import ROUNDING, spans
from fairenum.document.files import load_as
from fairenum.errors import ResultError
from fairenum.report.person_page import person_warnings


def holes(rows: int = 300) -> pd.DataFrame:
    """The table of people with missing numbers and texts, and a town that is rare."""
    frame, rng = people(rows), np.random.default_rng(0)
    frame["skill"] = frame["skill"].where(rng.random(rows) > 0.1)
    frame["town"] = frame["town"].where(rng.random(rows) > 0.1, np.nan)
    frame.loc[7, "town"] = "island"
    frame["grade"] = rng.integers(1, 4, rows)
    frame["branch"] = np.where(np.arange(rows) == 9, "new", "old")  # varies in no training row
    return frame


@pytest.fixture(scope="module", params=[True, False], ids=["standardised", "as they are"])
def run(request) -> AuditResult:
    return audit_people(holes(), k=4, search="exact", standardise=request.param)


def test_a_person_is_decided_as_the_exported_pipelines_do(run):
    document, frame = checked(run), holes()
    features = [feature.name for feature in document.dataset.features]
    values = {rank: run.estimator(rank).decision_function(frame[features]) for rank in (1, 2, len(document.models))}
    for row in (0, 1, 7, 20, 21, 22, 23, 24, 25):
        given_values = {name: cell for name, cell in frame.loc[row, features].items() if pd.notna(cell)}
        if given_values.get("town") == "island" and "island" not in document.anatomy.features[2].levels:
            continue
        person = run.explain(given_values)
        assert len(person.decisions) == len(document.models)
        for decided in person.decisions:
            parts = [part.contribution for part in decided.contributions]
            assert decided.value == pytest.approx(decided.bias + sum(parts), abs=1e-9)
            assert [abs(part) for part in parts] == sorted(map(abs, parts), reverse=True)
            assert decided.is_favourable == (decided.value >= 0)
            if decided.rank in values:
                assert decided.value == pytest.approx(values[decided.rank][row] - ROUNDING, abs=1e-9)


def test_decisions_about_the_holdout_are_those_that_were_scored(run):
    document, frame, rows = run.document, holes(), run.live.division.rows["holdout"]
    for model in (1, len(document.models)):
        decided = run.live.listing.values["holdout"][model - 1] >= 0.0
        for place in range(0, len(rows), 7):
            known = {name: cell for name, cell in frame.iloc[rows[place]].items() if pd.notna(cell)}
            names = {feature.name for feature in document.anatomy.features}
            known = {name: cell for name, cell in known.items() if name in names and cell != "island"}
            assert run.explain(known).decisions[model - 1].is_favourable == decided[place]


def test_every_feature_has_the_columns_of_the_matrix(run):
    document = run.document
    assert document.dataset.dropped == ("branch",)
    widths = [feature.width for feature in document.anatomy.features]
    assert sum(widths) == len(document.dataset.encoded)
    for name, place in spans(document.anatomy.features).items():
        assert {column.partition("=")[0] for column in document.dataset.encoded[place]} == {name}
    X = run.live.division.encoding.transform(run.live.division.dataset)
    cells = run.live.division.dataset.frame()
    for row in (0, 7, 30):
        values = [cells[one.name][row] for one in document.anatomy.features]
        values = [None if pd.isna(value) else value for value in values]
        encoded = [
            number for one, v in zip(document.anatomy.features, values, strict=True) for number in one.encoded(v)
        ]
        assert encoded == X[row].tolist()


@settings(max_examples=25)
@given(st.data())
def test_any_values_are_decided_as_the_pipeline_does(exact_run, data):
    number = st.floats(-1e3, 1e3) | st.none()
    values = {
        "skill": data.draw(number),
        "proxy": data.draw(number),
        "town": data.draw(st.sampled_from(["north", "south"])),
    }
    frame = pd.DataFrame([values]).astype({"skill": float, "proxy": float})
    person = exact_run.explain(values)
    for decided in person.decisions[:3]:
        value = exact_run.estimator(decided.rank).decision_function(frame)[0] - ROUNDING
        assert decided.value == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert set(person.imputed) == {name for name in ("skill", "proxy") if values[name] is None}


def test_a_saved_run_explains_as_the_fresh_one(exact_run, tmp_path):
    exact_run.save(tmp_path / "run.json")
    values = {"skill": "1.5", "town": " north "}
    fresh = exact_run.explain({"skill": 1.5, "town": "north"}).but(flip_price=None)  # which takes the training rows
    assert AuditResult.load(tmp_path / "run.json").explain(values) == fresh
    redacted = exact_run.redacted().explain(values)
    assert redacted.but(flip_price=None) == fresh
    assert exact_run.explain(values).flip_price.model.examples
    assert not redacted.flip_price.model.examples


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"skil": 1}, "no feature 'skil'; did you mean 'skill'"),
        ({"sex": "f"}, "no feature 'sex'; the features are 'skill', 'proxy', 'town'"),
        ({"town": "norht"}, "no training row has town = 'norht'; did you mean 'north'"),
        ({"skill": "tall"}, "'skill' takes a number, not 'tall'"),
        ({"skill": float("inf")}, r"'skill' takes a number, at most 1e\+100 from 0, not inf"),
        ({"skill": [1]}, r"takes a number or a text, not \[1\]"),
    ],
)
def test_values_that_no_model_knows_are_refused(exact_run, values, words):
    with pytest.raises(ResultError, match=words):
        exact_run.explain(values)


def test_other_kernels_and_runs_without_weights_are_refused(exact, guided_run):
    with pytest.raises(ResultError, match="holds no weights; run the audit again"):
        AuditResult(exact.but(anatomy=None)).explain({})
    svm = type(exact.config.svm)(kernel="rbf")
    with pytest.raises(ResultError, match="kernel 'rbf', whose decision is no sum over features"):
        AuditResult(exact.but(config=exact.config.but(svm=svm))).explain({})


def test_many_weights_are_kept_for_two_models_only(exact_run, monkeypatch):
    monkeypatch.setattr(explanation, "MOST_WEIGHTS", 10)
    kept = select(exact_run, rank=3).document.anatomy
    assert [one.rank for one in kept.weights] == [1, 3]
    assert kept.weights[1] == exact_run.document.anatomy.weights[2]


def test_flips_are_the_rows_that_two_models_decide_otherwise(guided_run):
    result = select(guided_run, rank=len(guided_run.document.models))
    document, live, frame = checked(result), result.live, applicants()
    rows, rank = live.division.rows["holdout"], document.selection.rank
    first, other = (result.estimator(one).predict(frame.iloc[rows]) for one in (1, rank))
    table = result.tables()["flips"].set_index("row")
    assert set(table.index) == set(rows[first != other]) != set()
    for place in np.flatnonzero(first != other):
        found = table.loc[rows[place]]
        assert (found["reference"], found["selected"]) == (first[place], other[place])
        assert (found["label"], found["group_sex"]) == tuple(frame.loc[rows[place], ["hired", "sex"]])
    for group in document.flips.by_column["sex"]:
        is_in = (frame["sex"].iloc[rows] == group.group).to_numpy()
        assert group.rows == is_in.sum()
        assert group.gained == (is_in & (first == "n") & (other == "y")).sum()
        assert group.lost == (is_in & (first == "y") & (other == "n")).sum()
    changed = document.selected.predictions_changed.holdout.rows
    assert sum(group.gained + group.lost for group in document.flips.by_column["sex"]) == changed


def test_a_redacted_run_keeps_counts_of_flips_and_no_rows(guided_run):
    result = select(guided_run, rank=len(guided_run.document.models))
    redacted = result.redacted().document
    assert redacted.flips.flipped == ()
    assert redacted.flips.by_column == result.document.flips.by_column
    assert select(result.redacted(), rank=2).document.flips.flipped == ()


def test_a_choice_that_is_made_again_without_data_does_not_know_its_flips(guided_run, tmp_path):
    other = len(guided_run.document.models)
    result = select(guided_run, rank=other)
    result.save(tmp_path / "run.json")
    saved = AuditResult(load_as(AuditDocument, tmp_path / "run.json"))
    assert select(saved, rank=other).document.flips == result.document.flips
    assert select(saved, rank=2).document.flips is None
    assert select(result, rank=1).document.flips is None


def test_without_groups_everyone_is_counted_together():
    result = select(audit_applicants(None, k=3, search="exact"), rank=2)
    (groups,) = result.document.flips.by_column.values()
    assert [group.rows for group in groups] == [400]


def test_effects_are_those_of_shuffling_a_column_of_the_table():
    result = audit(applicants(), "hired", "y", "sex", k=2, kernel="rbf", search="exact", sizes=(200, 700, 100))
    document, live = checked(result), result.live
    frame = live.division.dataset.frame(live.division.rows["selection"])
    estimator, effects = result.estimator(1), document.anatomy.effects[0]
    assert document.anatomy.weights == ()
    decided = estimator.predict(frame)
    shuffled = permutation_importance(
        estimator, frame, decided, scoring="accuracy", n_repeats=20, random_state=0
    ).importances_mean
    assert effects.rows == 700
    np.testing.assert_allclose(effects.effects, shuffled, atol=0.02)
    assert [one.rank for one in document.anatomy.effects] == document.selection.shortlist


def test_a_model_that_is_cut_elsewhere_is_explained_at_its_cut():
    result = audit_people(people(), k=3, search="exact", decide="rate=0.3")
    document, frame = checked(result), people()[["skill", "proxy", "town"]]
    assert document.first.cut != 0.0
    for rank in (1, len(document.models)):
        values = result.estimator(rank).decision_function(frame) - ROUNDING
        for row in range(0, 300, 23):
            decided = result.explain(frame.loc[row].to_dict()).decisions[rank - 1]
            assert decided.value == pytest.approx(values[row], abs=1e-9)


def test_values_that_share_a_column_are_explained_by_its_weight():
    frame = people().assign(town=[f"town {row % 17 if row % 2 else row % 3}" for row in range(300)])
    result = audit_people(frame, k=2, search="exact", max_levels=4)
    (town,) = (one for one in checked(result).anatomy.features if one.name == "town")
    assert (len(town.levels), town.is_pooled) == (4, True)
    features = frame[["skill", "proxy", "town"]]
    values = result.estimator(1).decision_function(features) - ROUNDING
    for row in range(0, 300, 11):
        person = result.explain(features.loc[row].to_dict())
        assert person.decisions[0].value == pytest.approx(values[row], abs=1e-9)
        assert person.pooled == (() if features["town"][row] in town.levels else ("town",))
    (said,) = person_warnings(result.explain({"skill": 0.0, "proxy": 0.0, "town": "nowhere"}))
    assert said == "rare in training or not there, so the value counts as all such values do: town"
