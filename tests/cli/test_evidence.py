"""Tables, a workbook and evidence on the command line, and the check of evidence."""

import sys
import zipfile

import pytest
from support.decisions import decided_frame
from support.tables import OPTIONS

from fairenum.evidence.archive import packed
from fairenum.evidence.frames import OPTIONAL_SHEETS
from fairenum.report.evidence_words import MEASURED, TABLES

ONE = [*OPTIONS, "-k", "1"]  # model 1 alone, which may always be exported
HANDED = ["--tables", "tables", "--xlsx", "tables.xlsx", "--evidence", "audit.zip"]


def test_an_audit_is_handed_on_and_verified(fairenum, loans, folder):
    ended = fairenum("audit", loans, *ONE, *HANDED)
    assert (ended.code, ended.err.count("rows train / select / confirm")) == (0, 1)
    assert all(
        f"{kind}: {place}" in " ".join(ended.out.split())
        for kind, place in [("tables", "tables"), ("workbook", "tables.xlsx"), ("evidence", "audit.zip")]
    )
    assert {path.name for path in (folder / "tables").iterdir()} == {"index.csv", *(f"{name}.csv" for name in TABLES)}
    names = zipfile.ZipFile("audit.zip").namelist()
    assert "model.skops" in names
    ended = fairenum("verify", "audit.zip")
    assert ended.code == 0
    assert ended.out.startswith(f"verified: audit.zip holds {len(names) - 1} files, all as listed")
    assert fairenum("verify", "audit.zip", "--quiet").out == ""


def test_a_saved_run_is_handed_on_without_its_model(fairenum, run, folder):
    assert fairenum("report", run, *HANDED, "--quiet").code == 0
    assert fairenum("select", run, "--rank", "1", "--evidence", "one.zip", "--quiet").code == 0
    for name in ("audit.zip", "one.zip"):
        assert "model.skops" not in zipfile.ZipFile(name).namelist()
        assert fairenum("verify", name).code == 0


def test_redacted_tables_name_no_rows(fairenum, saved_run, folder):
    assert fairenum("report", str(saved_run), "--tables", "all", "--quiet").code == 0
    assert fairenum("report", str(saved_run), "--tables", "few/", "--redact", "--quiet").code == 0
    lines = [(folder / place / "splits.csv").read_text().count("\n") for place in ("all", "few")]
    assert lines == [401, 1]


def test_a_profile_has_its_page_in_the_evidence(fairenum, run):
    ended = fairenum("report", run, "--evidence", "audit.zip", "--profile", "lda", "--date", "2026-02-03", "--quiet")
    assert ended.code == 0
    assert b"2026-02-03" in zipfile.ZipFile("audit.zip").read("report-lda.html")
    ended = fairenum("report", run, "--profile", "lda")
    assert ended.code == 2
    assert "say where it goes with --html or --evidence" in ended.err


def test_every_fault_has_its_line(fairenum, run, folder):
    assert fairenum("report", run, "--evidence", "audit.zip", "--quiet").code == 0
    with zipfile.ZipFile("audit.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    del files["summary.md"]
    files["extra.txt"] = b""
    files["model-card.md"] += b"fair"
    files["run.json"] = b"{}"
    (folder / "audit.zip").write_bytes(packed(files))
    ended = fairenum("verify", "audit.zip")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.splitlines()[:-1] == [
        "not verified: audit.zip",
        "  extra.txt is not listed",
        "  model-card.md is not the file that is listed",
        "  run.json is not the file that is listed",
        "  summary.md is missing",
        "  run.json is no valid run: 'run.json' is no document of fairenum: it does not say of which kind it is; "
        "make one with: fairenum audit DATA",
    ]


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip"])
def test_what_is_no_evidence_ends_with_code_2(fairenum, folder, content):
    (folder / "x.zip").write_bytes(content)
    ended = fairenum("verify", "x.zip")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: 'x.zip' is no evidence file: ")
    assert fairenum("verify", "nowhere.zip").code == 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--tables", "run.json"], "'run.json' is no folder"),
        (["--tables", "no/where"], "there is no folder 'no'"),
        (["--tables", "-"], "'-' is no folder"),
        (["--evidence", "."], "is a folder; name a file"),
        (["--evidence", "run.json"], "is the input"),
        (["--xlsx", "x", "--evidence", "x"], "two outputs go to 'x'"),
    ],
)
def test_places_that_cannot_be_written_are_refused_before_anything_else(fairenum, run, folder, options, reason):
    before = sorted(path.name for path in folder.iterdir())
    ended = fairenum("report", run, *options)
    assert ended.code == 2
    assert reason in ended.err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_table_that_is_read_is_not_written_over(fairenum, loans, folder):
    (folder / "tables").mkdir()
    (folder / loans).rename(folder / "tables" / "models.csv")
    ended = fairenum("audit", "tables/models.csv", *OPTIONS, "--tables", "tables", "--quiet")
    assert ended.code == 2
    assert "is the input" in ended.err
    assert [path.name for path in (folder / "tables").iterdir()] == ["models.csv"]


def test_other_runs_and_several_of_them_have_no_tables(fairenum, run, folder):
    (folder / "other.json").write_bytes((folder / run).read_bytes())
    ended = fairenum("report", run, "other.json", "--evidence", "x.zip")
    assert (ended.code, "--evidence is for one run" in ended.err) == (2, True)


def test_without_openpyxl_nothing_is_computed(fairenum, loans, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    ended = fairenum("audit", loans, *OPTIONS, "--xlsx", "x.xlsx")
    assert (ended.code, ended.out) == (2, "")
    assert "pip install 'fairenum[excel]'" in ended.err
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_a_measurement_is_handed_on_and_verified(fairenum, folder):
    decided_frame(200).to_csv("people.csv", index=False)
    ended = fairenum("measure", "people.csv", "--decision", "hired", "--score", "points", "--sensitive", "sex", *HANDED)
    assert (ended.code, ended.err) == (0, "")
    named = {*MEASURED} - OPTIONAL_SHEETS.keys()  # nothing was asked about strata, periods or probabilities
    assert {path.name for path in (folder / "tables").iterdir()} == {"index.csv", *(f"{name}.csv" for name in named)}
    assert not {"model.skops", "model-card.md"} & {*zipfile.ZipFile("audit.zip").namelist()}
    assert fairenum("verify", "audit.zip").code == 0
    ended = fairenum("report", "fairenum-people-measured.json", "--evidence", "again.zip", "--quiet")
    assert (ended.code, (folder / "again.zip").read_bytes()) == (0, (folder / "audit.zip").read_bytes())
