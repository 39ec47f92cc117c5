"""fairenum explain: one person, decided by the models of a saved run; and the rows that a choice changes."""

import json
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.tables import OPTIONS

from fairenum import AuditResult, audit
from fairenum.document.files import load, save
from fairenum.document.reading import Reading


def test_a_person_is_explained_by_values_alone(fairenum, saved_run):
    ended = fairenum("explain", str(saved_run), "--values", "income=1,town=Bath")
    assert ended.code == 0, ended.err
    assert "What weighs how much" in ended.out
    assert "Model 1 decides yes" in ended.out
    assert "not given, so the median of the training rows: debt" in " ".join(ended.out.split())
    assert max(map(len, ended.out.splitlines())) <= 80


def test_it_says_what_python_says(fairenum, saved_run):
    ended = fairenum("explain", str(saved_run), "--values", "income=1,town=Bath", "--values", "debt=-2", "--json", "-")
    person = AuditResult.load(saved_run).explain({"income": 1.0, "town": "Bath", "debt": -2})
    found = json.loads(ended.out)
    assert [one["value"] for one in found["decisions"]] == [one.value for one in person.decisions]
    assert found["imputed"] == {}
    assert len(found["decisions"]) == len(load(saved_run).models)


def test_a_row_is_looked_up_in_the_data(fairenum, saved_run, folder):
    data = saved_run.with_name("loans.csv")
    ended = fairenum("explain", str(saved_run), "--row", "17", "--data", str(data), "--json", "-")
    assert ended.code == 0, ended.err
    row = pd.read_csv(data).loc[17]
    found = json.loads(ended.out)
    assert found["row"] == 17
    assert found["values"] == {"income": row["income"], "debt": row["debt"], "town": row["town"]}


def test_a_row_that_the_run_holds_needs_no_data(fairenum, saved_run):
    example = load(saved_run).examples[0]
    ended = fairenum("explain", str(saved_run), "--row", str(example.row), "--json", "-")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["values"] == example.values


def test_with_the_data_it_says_what_all_equally_good_models_decide(fairenum, saved_run, loans):
    """The model is trained again, and says what it says where the audit is run."""
    document = load(saved_run)
    person = ("--values", "income=0.1,town=Bath,debt=0.2", "--data", loans)
    found = json.loads(fairenum("explain", str(saved_run), *person, "--json", "-").out)["flip_price"]
    live = audit(
        loans, "approved", "yes", "sex", config=document.config.but(reading=Reading(), prices=False, eps="auto")
    )
    told = live.explain({"income": 0.1, "town": "Bath", "debt": 0.2}).flip_price
    assert (found["low"], found["high"]) == pytest.approx((told.low, told.high))
    assert found["values"]["low_bound"] == pytest.approx(told.values.low_bound)
    assert found["model"]["weights"][0]["feature"] == told.model.weights[0].feature
    assert [one["row"] for one in found["model"]["examples"]] == [one.row for one in told.model.examples]
    shown = " ".join(fairenum("explain", str(saved_run), *person).out.split())
    assert "The nearest model that decides differently" in shown
    assert "Over all models within 5 % the decision value lies between" in shown


def test_an_examined_row_has_the_price_of_the_run(fairenum, saved_run, loans):
    priced = load(saved_run).ambiguity.priced
    place = next(place for place, high in enumerate(priced.high) if high is not None)
    ended = fairenum("explain", str(saved_run), "--row", str(priced.rows[place]), "--data", loans, "--json", "-")
    found = json.loads(ended.out)["flip_price"]
    assert (found["low"], found["high"]) == pytest.approx((priced.low[place], priced.high[place]), abs=1e-6)


def test_a_redacted_run_names_no_row(fairenum, saved_run, loans, folder):
    save(load(saved_run).redacted(), "redacted.json")
    person = ("--values", "income=0.1,town=Bath", "--data", loans, "--json", "-")
    found = json.loads(fairenum("explain", "redacted.json", *person).out)["flip_price"]["model"]
    assert found["dropped"] > 0
    assert found["examples"] == []


def test_without_the_data_it_says_what_is_missing(fairenum, saved_run):
    ended = fairenum("explain", str(saved_run), "--values", "income=1,town=Bath")
    assert "name the data of the run, too: --data DATA" in " ".join(ended.out.split())


def test_every_medium_shows_it(fairenum, saved_run, folder):
    paths = ["--html", "person.html", "--markdown", "person.md", "--json", "person.json"]
    ended = fairenum("explain", str(saved_run), "--values", "town=Cork", *paths)
    assert ended.code == 0, ended.err
    assert "What each model decides" in (folder / "person.html").read_text()
    assert (folder / "person.md").read_text().startswith("# A person decided by the models of loans")
    assert json.loads((folder / "person.json").read_text())["values"]["town"] == "Cork"


def test_nothing_that_computes_is_loaded(saved_run, folder):
    program = f"""
import sys
from fairenum.cli import run
assert run(["explain", {str(saved_run)!r}, "--values", "income=1", "--html", "p.html"]) == 0
print(*(name for name in ("numpy", "pandas", "sklearn") if name in sys.modules), file=sys.stderr)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stderr.split() == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "say which person it is, either by --row or by --values"),
        (["--row", "1", "--values", "income=1"], "say which person it is, either by --row or by --values"),
        (["--values", "income=1", "--data", "german"], "the table has no column 'approved', named as label"),
        (["--values", "income"], "'income' is no NAME=VALUE"),
        (["--values", "income=1,income=2"], "'income' is given twice"),
        (["--values", "income=1_000"], "feature 'income' takes a number, not '1_000'"),
        (["--values", "incme=1"], "the models know no feature 'incme'; did you mean 'income'?"),
        (["--values", "town=Bth"], "no training row has town = 'Bth'; did you mean 'Bath'?"),
        (["--row", "99999"], "the run does not hold the values of row 99999"),
    ],
)
def test_what_cannot_be_explained_is_refused(fairenum, saved_run, folder, options, words):
    ended = fairenum("explain", str(saved_run), *options)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert len(ended.err.splitlines()) == 1
    assert list(folder.iterdir()) == []


def test_other_data_are_refused(fairenum, saved_run, folder, loans):
    table = pd.read_csv(loans)
    table.loc[0, "income"] += 1
    table.to_csv("other.csv", index=False)
    ended = fairenum("explain", str(saved_run), "--row", "0", "--data", "other.csv")
    assert (ended.code, ended.err) == (2, "error: 'other.csv' is not the data of this run: the content differs\n")
    ended = fairenum("explain", str(saved_run), "--row", "400", "--data", loans)
    assert ended.err == f"error: {loans!r} has no row 400; its rows are 0 to 399\n"


def test_a_run_from_before_its_card_named_a_model_in_use_is_the_same_data(folder, fairenum):
    run = audit("compas", incumbent="none", k=2, search="exact", replications=50, sizes=(300, 200, 200))
    saved = run.document
    config = replace(saved.config, reading=replace(saved.config.reading, incumbent=None))
    save(saved.but(config=config), "old.json")
    ended = fairenum("explain", "old.json", "--row", "17", "--data", "compas")
    assert ended.code == 0, ended.err
    assert fairenum("select", "old.json", "--rank", "1", "--data", "compas", "--export", "m.skops").code == 0


def test_a_model_in_use_given_in_python_is_not_asked_again(folder, fairenum, loans):
    frame = pd.read_csv(loans)
    options = {"k": 2, "search": "exact", "replications": 50, "incumbent_cutoff": "rate=0.4"}
    model = LogisticRegression().fit(frame[["income", "debt"]], frame["approved"])
    audit(frame, "approved", "yes", "sex", incumbent=model, **options).save("run.json")
    ended = fairenum("explain", "run.json", "--row", "17", "--data", loans)
    assert ended.code == 0, ended.err
    ended = fairenum("select", "run.json", "--rank", "1", "--data", loans, "--export", "m.skops")
    assert ended.code == 2
    assert "the model in use was given to this run in Python, and a saved run does not hold it" in ended.err


def test_a_run_without_weights_is_refused(fairenum, saved_run, folder):
    save(load(saved_run).but(anatomy=None), "bare.json")
    ended = fairenum("explain", "bare.json", "--values", "income=1")
    assert (ended.code, ended.out) == (2, "")
    assert "holds no weights; run the audit again" in ended.err


def test_flips_are_written_as_a_table(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS, "--flips-table", "flips.csv", "--output", "run.json")
    assert ended.code == 0, ended.err
    assert "flips: flips.csv\n" in ended.out
    flips = load(folder / "run.json").flips
    written = pd.read_csv("flips.csv")
    assert written.columns.tolist() == ["row", "label", "reference", "selected", "group_sex"]
    assert written["row"].tolist() == ([flip.row for flip in flips.flipped] if flips else [])


def test_flips_are_single_rows_that_a_redacted_run_does_not_list(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS, "--flips-table", "flips.csv", "--redact")
    assert ended.code == 2
    assert "--flips-table lists single rows, which --redact leaves out" in ended.err
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]
