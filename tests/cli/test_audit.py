"""fairenum audit: what it prints and where, and what it writes."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from support.tables import OPTIONS, write_loans

from fairenum import AuditResult
from fairenum.document.audit_document import AuditDocument
from fairenum.document.files import load_as, parse


def test_the_report_is_on_stdout_and_the_run_is_saved_beside(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS)
    assert (ended.code, ended.err.count("\n")) == (0, 1)
    assert ended.err.startswith("200 / 80 / 120 rows train / select / confirm; a gap in sex that narrows by ")
    assert ended.out.startswith("loans: 400 rows, 3 features; favourable: approved = yes; groups by sex\n")
    assert ended.out.endswith("run: fairenum-loans.json\n")
    assert "Models by objective" in ended.out
    assert "Who is selected by model" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "\x1b" not in ended.out
    assert load_as(AuditDocument, folder / "fairenum-loans.json").dataset.rows == 400
    assert sorted(path.name for path in folder.iterdir()) == ["fairenum-loans.json", "loans.csv"]


def test_a_bundled_dataset_needs_no_option(fairenum, folder):
    ended = fairenum("audit", "german", "-k", "2", "--search", "exact", "--replications", "20")
    assert ended.code == 0
    assert "german: 1000 rows" in ended.out
    assert (folder / "fairenum-german.json").is_file()


def test_json_on_stdout_stands_alone_and_nothing_is_saved(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS, "--json", "-")
    assert (ended.code, ended.err.count("\n")) == (0, 1)
    assert parse(ended.out.encode(), "run").dataset.name == "loans"
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_markdown_on_stdout_stands_alone(fairenum, loans):
    ended = fairenum("audit", loans, *OPTIONS, "--markdown", "-")
    assert ended.out.startswith("# Fairness audit of loans\n")
    assert "rank objective" not in ended.out


def test_every_file_is_written_where_asked_and_named_in_the_report(fairenum, loans, folder):
    (folder / "out").mkdir()
    targets = ["--output", "out", "--json", "a.json", "--markdown", "b.md", "--junit", "c.xml", "--export", "d.skops"]
    ended = fairenum("audit", loans, *OPTIONS, *targets, "--fail-on", "accuracy>0.1", "-k", "1")  # model 1 is kept
    assert ended.code == 0
    for name in ("out/fairenum-loans.json", "a.json", "b.md", "c.xml", "d.skops"):
        assert (folder / name).stat().st_size > 0
        assert f": {name}\n" in ended.out
    assert (folder / "a.json").read_bytes() == (folder / "out" / "fairenum-loans.json").read_bytes()
    assert ElementTree.parse(folder / "c.xml").getroot().attrib["tests"] == "2"


def test_the_exported_model_predicts_as_the_audit_says(fairenum, loans, folder):
    import pandas as pd
    from skops.io import get_untrusted_types, load

    fairenum("audit", loans, *OPTIONS, "--export", "model.skops", "-k", "1")
    trusted = get_untrusted_types(file=folder / "model.skops")
    model = load(folder / "model.skops", trusted=trusted)
    assert set(model.predict(pd.read_csv(folder / loans))) == {"yes", "no"}


def test_a_candidate_is_not_exported_and_all_else_is_delivered(fairenum, loans, folder, monkeypatch):
    monkeypatch.setattr("fairenum.api.AuditResult.standing", lambda _result, _rank: "candidate")
    ended = fairenum("audit", loans, *OPTIONS, "--export", "a model.skops", "--html", "a.html")
    rank = parse((folder / "fairenum-loans.json").read_bytes(), "run").selection.rank
    assert ended.code == 3
    assert ended.out.endswith("run: fairenum-loans.json\nhtml: a.html\n")
    assert ended.err.endswith(
        f"; fairenum select fairenum-loans.json --rank {rank} --unconfirmed --data {loans} --export 'a model.skops' "
        "writes it\n"
    )
    assert not (folder / "a model.skops").exists()


def test_quiet_prints_nothing(fairenum, loans):
    ended = fairenum("audit", loans, *OPTIONS, "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_all_shows_every_model(fairenum, loans):
    shown = fairenum("audit", loans, *OPTIONS, "-k", "30", "--distinct", "support", "--all", "--eps", "1").out
    assert "not shown" not in shown
    short = fairenum("audit", loans, *OPTIONS, "-k", "30", "--distinct", "support", "--eps", "1").out
    assert "not shown: 18 models" in short


def test_an_old_run_survives_when_the_new_one_fails(fairenum, loans, folder):
    (folder / "fairenum-loans.json").write_text("old")
    assert fairenum("audit", loans, *OPTIONS, "--control", "child").code == 2
    assert (folder / "fairenum-loans.json").read_text() == "old"


def test_a_table_without_a_gap_is_not_searched_unless_that_is_asked_for(fairenum, folder):
    write_loans(folder / "alike.csv", gap=0.0)
    given = ["audit", "alike.csv", *OPTIONS[:6], "-k", "6", "--replications", "50", "--quiet", "--json"]
    assert fairenum(*given, "kept.json").code == 0
    assert fairenum(*given, "searched.json", "--always-search").code == 0
    kept, searched = (load_as(AuditDocument, folder / name) for name in ("kept.json", "searched.json"))
    assert (kept.selection.answer, kept.selection.reason) == ("no disparity", "no_disparity")
    assert (kept.guided, kept.tilted) == (None, None)
    assert {model.origin for model in kept.models} == {"exact"}
    assert searched.guided is not None
    assert searched.selection.disparity == kept.selection.disparity
    assert kept.selection.disparity.gap.low == 0.0
    shown = " ".join(fairenum("report", "kept.json").out.split())
    assert f"in {kept.selection.disparity.rows} rows" in shown
    assert "none was found" not in shown


def test_the_run_can_be_loaded(saved_run):
    assert AuditResult.load(saved_run).document.config.k == 6


def test_outputs_of_odd_names_stay_in_the_folder(fairenum, folder, loans):
    (folder / loans).rename(folder / "my loans? [red].csv")
    assert fairenum("audit", "my loans? [red].csv", *OPTIONS).code == 0
    assert (folder / "fairenum-my-loans---red-.json").is_file()


def test_hostile_names_and_cells_are_shown_as_text(fairenum, folder, loans):
    text = (folder / loans).read_text().replace("woman", "[red]\u202e\x1b[31m" + "w" * 10_000).replace("sex", "[b]sex")
    (folder / loans).write_text(text)
    ended = fairenum("audit", loans, *(option.replace("sex", "[b]sex") for option in OPTIONS), "--markdown", "m.md")
    assert ended.code == 0, ended.err
    assert "[red]\\u202e" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert len(ended.out) < 12_000
    for shown in (ended.out, (folder / "m.md").read_text()):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_a_run_without_a_holdout_leaves_rules_open(fairenum, loans):
    ended = fairenum("audit", loans, *OPTIONS, "--split", "0.6,0.4,0", "--fail-on", "accuracy>0.01", "--quiet")
    assert ended.code == 3
    assert "these rows also chose the model; give --split a holdout" in ended.err


@pytest.mark.slow
def test_columns_that_should_not_be_there_are_named_with_the_option_that_removes_them(fairenum, loans, folder):
    frame = pd.read_csv(loans)
    rows = np.arange(len(frame))
    pay = [f"${1000 + 50 * row:,}" for row in rows]
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rows % 50, unit="D")
    zips = [f"z{row % 150}" for row in rows]
    frame.assign(case=10_000 + rows, pay=pay, day=days, zip=zips, fax=None).to_csv("careless.csv")
    ended = fairenum("audit", "careless.csv", *OPTIONS, "--max-levels", "20")
    assert ended.code == 0, ended.err
    for fragment in (
        "numbers the rows",
        "leave it out with drop=['case'] (--drop case)",
        "'pay' (written as $1,234)",
        "columns of dates were left out: 'day'",
        "empty columns were left out (1 in all): 'fax'",
        "of 'zip': more than 20 values",
    ):
        assert fragment in " ".join(ended.out.split())
    dataset = load_as(AuditDocument, folder / "fairenum-careless.json").dataset
    assert [feature.name for feature in dataset.features] == ["income", "debt", "town", "case", "pay", "zip"]
    assert sum(name.startswith("zip=") for name in dataset.encoded) == 21
    asked = fairenum("audit", "careless.csv", *OPTIONS, "--drop", "case", "--categorical-column", "day", "--json", "-")
    again = parse(asked.out.encode(), "run").dataset
    assert {feature.name: feature.kind for feature in again.features}["day"] == "categorical"
    assert "case" not in {remark.column for remark in again.remarks}


def test_a_run_in_the_place_of_another_is_said_to_be_there(fairenum, loans):
    first, second = (fairenum("audit", loans, *OPTIONS, "-k", "2", "--search", "exact") for _ in range(2))
    assert "run: fairenum-loans.json\n" in first.out
    assert "run: fairenum-loans.json (in the place of an earlier one)\n" in second.out
