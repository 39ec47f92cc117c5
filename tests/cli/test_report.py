"""fairenum report: a saved run shown again, without its data."""

import json
from xml.etree import ElementTree

import pytest
from documents import audit_document


@pytest.fixture
def run(folder):
    (folder / "run.json").write_text(json.dumps(audit_document()))
    return "run.json"


def test_a_saved_run_reads_as_it_did_when_it_was_made(fairenum, loans, folder):
    from loans import OPTIONS

    made = fairenum("audit", loans, *OPTIONS).out
    (folder / loans).unlink()
    shown = fairenum("report", "fairenum-loans.json").out
    assert shown.rstrip() == made.removesuffix("run: fairenum-loans.json\n").rstrip()


def test_markdown_and_junit_are_written_and_nothing_else(fairenum, run, folder):
    ended = fairenum("report", run, "--markdown", "a.md", "--junit", "b.xml", "--fail-on", "accuracy>=0.9", "--quiet")
    assert ended.code == 1
    assert ended.err.startswith("violated: accuracy>=0.9: ")
    assert "**Model 3 is fairer than model 1; its accuracy changes by" in (folder / "a.md").read_text()
    suite = ElementTree.parse(folder / "b.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    assert sorted(path.name for path in folder.iterdir()) == ["a.md", "b.xml", "run.json"]


def test_an_interrupted_run_stays_partial(fairenum, folder):
    (folder / "run.json").write_text(json.dumps(audit_document(status="interrupted")))
    ended = fairenum("report", "run.json")
    assert ended.code == 4
    assert "\nInterrupted: Model 3 is fairer" in ended.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "is no audit"),
        ("no json", "is no JSON"),
        ('{"schema_version": "9.0"}', "'9.0'"),
        ('{"schema_version": "1.0"}', "is no valid audit"),
    ],
)
def test_what_is_no_run_is_refused(fairenum, folder, text, message):
    (folder / "run.json").write_text(text)
    ended = fairenum("report", "run.json")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err


def test_colour_is_for_terminals_and_no_color_is_honoured(fairenum, run, monkeypatch):
    assert "\x1b[" not in fairenum("report", run).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[1;32mModel 3 is fairer" in fairenum("report", run).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "32m" not in fairenum("report", run).out


def test_a_narrow_code_page_gets_escapes_instead_of_a_crash(program, folder):
    document = audit_document(groups=("männlich", "女"))
    (folder / "run.json").write_text(json.dumps(document))
    with program("report", "run.json", PYTHONIOENCODING="ascii", PYTHONUTF8="0") as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "m\\xe4nnlich" in out


def test_a_page_is_written_and_the_same_run_gives_the_same_one(fairenum, run, folder):
    assert fairenum("report", run, "--html", "a.html").out.endswith("html: a.html\n")
    assert fairenum("report", run, "--html", "b.html", "--quiet").out == ""
    assert (folder / "a.html").read_bytes() == (folder / "b.html").read_bytes()
    assert fairenum("report", run, "--html", "-").out == (folder / "a.html").read_text()


def test_a_profile_needs_a_page_and_a_page_may_bear_a_date(fairenum, run, folder):
    refused = fairenum("report", run, "--profile", "lda")
    assert (refused.code, refused.out) == (2, "")
    assert "--html" in refused.err
    assert fairenum("report", run, "--html", "a.html", "--profile", "ll144", "--date", "2026-02-03").code == 0
    assert "2026-02-03" in (folder / "a.html").read_text()


def test_redacted_files_hold_nothing_of_single_rows(fairenum, saved_run, folder):
    document = json.loads(saved_run.read_text())
    for example in document["examples"]:
        example.update(label="secret label", groups={"g": {"secret group": 1}}, values={"income": "secret value"})
    for model in document["models"]:
        for entry in model["left_out"]:
            entry.update(label="secret label", groups={"g": {"secret group": 1}})
    (folder / "whole.json").write_text(json.dumps(document))
    assert fairenum("report", "whole.json", "--html", "whole.html", "--quiet").code == 0
    assert (folder / "whole.html").read_text().count("secret") > 3
    ended = fairenum("report", "whole.json", "--redact", "--html", "a.html", "--json", "a.json")
    assert ended.code == 0
    redacted, html = json.loads((folder / "a.json").read_text()), (folder / "a.html").read_text()
    assert redacted["is_redacted"]
    assert "secret" not in json.dumps(redacted) + html + ended.out
    for before, after in zip(document["models"], redacted["models"], strict=True):
        assert len(before["left_out"]) == len(after["left_out"])
        assert all(set(entry) == {"copies", "of"} for entry in after["left_out"])
    assert fairenum("report", "a.json", "--html", "b.html").code == 0
    assert (folder / "b.html").read_text() == html
    assert fairenum("select", "a.json", "--max-accuracy-drop", "0.05", "--json", "c.json").code == 0
    assert json.loads((folder / "c.json").read_text())["is_redacted"]


def test_several_runs_are_compared(fairenum, folder):
    for name, seed in (("before", 0), ("after", 1)):
        document = audit_document()
        document["config"]["seed"] = seed
        (folder / f"{name}.json").write_text(json.dumps(document))
    ended = fairenum("report", "before.json", "after.json", "--html", "a.html")
    assert ended.code == 0
    assert ended.out.startswith("All runs end with the same demographic parity gap")
    assert ended.out.endswith("html: a.html\n")
    assert "option seed" in (folder / "a.html").read_text()
    assert fairenum("report", "before.json", "after.json", "--html", "-").out == (folder / "a.html").read_text()


@pytest.mark.parametrize("option", [("--json", "a.json"), ("--fail-on", "accuracy>=0.5"), ("--markdown", "-")])
def test_what_is_for_one_run_is_refused_for_several(fairenum, run, folder, option):
    (folder / "other.json").write_text((folder / run).read_text())
    ended = fairenum("report", run, "other.json", *option)
    assert (ended.code, ended.out) == (2, "")
    assert option[0] in ended.err


def test_a_run_given_twice_is_refused_and_equal_names_are_told_apart(fairenum, run, folder):
    assert fairenum("report", run, run).code == 2
    (folder / "b").mkdir()
    (folder / "b" / "run.json").write_text((folder / run).read_text())
    assert "b/run.json" in fairenum("report", run, "b/run.json").out


def test_a_page_never_takes_the_place_of_a_run(fairenum, run, folder):
    before = (folder / run).read_text()
    assert fairenum("report", run, "--html", run).code == 2
    assert (folder / run).read_text() == before


def test_a_saved_run_is_shown_without_what_computes_one():
    import subprocess
    import sys

    code = (
        "import sys; import fairenum.cli.report, fairenum.audit.result, fairenum.report.html; "
        "from fairenum.audit import AuditResult; print({'numpy', 'sklearn', 'numba', 'pandas'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
