"""fairenum score: decisions about new rows on stdout or in a file, and what is said of them."""

import io
import json

import pandas as pd
import pytest
from support.written_loans import write_csv, written_loans

from fairenum import AuditResult, audit, score


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """An exported model, made once, with the table that it was made of."""
    place = tmp_path_factory.mktemp("written")
    data = write_csv(written_loans(300), place / "loans.csv")
    result: AuditResult = audit(
        data, "approved", "yes", ["sex"], k=2, C=1.0, search="exact", replications=50, prices=False, drop=["weight"]
    )
    result.export(place / "model.skops", 1, unconfirmed=True)
    return place


@pytest.fixture
def model(written):
    return str(written / "model.skops")


@pytest.fixture
def new(folder):
    frame = written_loans(80, seed=5)
    frame.loc[0, "town"] = "Dover"
    return write_csv(frame, folder / "new.csv")


def test_decisions_go_to_stdout_and_the_report_to_stderr(fairenum, model, new):
    ended = fairenum("score", model, new)
    assert ended.code == 0
    found = pd.read_csv(io.StringIO(ended.out))
    own = score(model, new)
    pd.testing.assert_frame_equal(found, own.decisions)
    assert set(found["decision"]) <= {"yes", "no"}
    selected = (found["decision"] == "yes").sum()
    assert f"{selected} of 80 rows" in ended.err
    assert "Who is selected, by sex" in ended.err
    assert "Dover" in ended.err
    assert "columns that the model does not read: weight" in ended.err
    quiet = fairenum("score", model, new, "--quiet")
    assert (quiet.out, quiet.err) == (ended.out, "")


def test_files_are_written_where_they_are_wanted(fairenum, model, new, folder):
    names = ["--out", "d.parquet", "--json", "s.json", "--html", "s.html", "--markdown", "s.md"]
    ended = fairenum("score", model, new, "--keep", "sex", *names)
    assert ended.code == 0
    assert ended.err == ""
    assert "decisions: d.parquet" in ended.out
    found = pd.read_parquet(folder / "d.parquet")
    assert list(found) == ["row", "sex", "decision", "score"]
    summary = json.loads((folder / "s.json").read_text())
    assert (summary["rows"], summary["selected"]) == (80, int((found["decision"] == "yes").sum()))
    assert "What is new to the model" in (folder / "s.html").read_text()
    assert "What is new to the model" in (folder / "s.md").read_text()


def test_its_decisions_can_be_measured(fairenum, model, new):
    assert fairenum("score", model, new, "--out", "d.csv", "--keep", "sex", "--keep", "approved", "-q").code == 0
    ended = fairenum("measure", "d.csv", "--decision", "decision", "--label", "approved", "--favourable", "yes",
                     "--sensitive", "sex")  # fmt: skip
    assert ended.code == 0
    assert "accuracy" in ended.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("{new}", "{model}"), "is no .skops file"),
        (("{model}", "nosuch.csv"), "there is no file and no bundled dataset 'nosuch.csv'"),
        (("{model}", "{new}", "--out", "d.xlsx"), "is neither CSV nor Parquet by its name"),
        (("{model}", "{new}", "--out", "{new}"), "is the input"),
        (("{model}", "{new}", "--json", "-"), "two outputs go to '-'"),
        (("{model}", "{new}", "--keep", "nosuch"), "no column 'nosuch'"),
        (("{model}", "bad.csv", "--out", "d.csv"), "holds 'lots' in row 1 (line 2 of the file) (80 such rows in all)"),
        (("{model}", "few.csv", "--out", "d.csv"), "lacks the column 'pay', which the model reads"),
    ],
)
def test_mistakes_are_said_and_nothing_is_written(fairenum, model, new, folder, arguments, words):
    frame = written_loans(80)
    write_csv(frame.assign(pay="lots"), folder / "bad.csv")
    write_csv(frame.drop(columns="pay"), folder / "few.csv")
    ended = fairenum("score", *(one.format(model=model, new=new) for one in arguments))
    assert ended.code == 2
    assert words in ended.err
    assert ended.out == ""
    assert not (folder / "d.csv").exists()


def test_rows_of_one_group_are_not_compared(fairenum, model, folder):
    frame = written_loans(80, seed=5)
    ended = fairenum("score", model, write_csv(frame.iloc[:1], folder / "one.csv"))
    only = frame["sex"].iloc[0]
    assert f"By sex nothing is compared: all compared rows are of {only}." in " ".join(ended.err.split())
    assert "largest difference" not in ended.err
