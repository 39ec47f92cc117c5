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
    assert "**Model 3 is fairer than model 1 and nearly as good.**" in (folder / "a.md").read_text()
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
