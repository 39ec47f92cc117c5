"""fairenum report: saved runs of every kind shown again, without their data."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from support.saved_runs import NAMES, REPORTS, RUNS, SMALL
from support.tables import OPTIONS

from fairenum.document.audit_document import JudgedDocument
from fairenum.document.files import load, save, to_json
from fairenum.document.models import LeftOut

# what nobody judges
OTHERS = tuple(path for path in RUNS if not isinstance(load(path), JudgedDocument))
KINDS = {
    "attack": "simulated attack",
    "bench": "benchmark",
    "mitigation": "comparison of mitigations",
    "reproduction": "reproduction",
}


@pytest.mark.parametrize("path", RUNS, ids=NAMES)
def test_every_kind_of_run_is_shown_in_every_medium(fairenum, folder, path):
    shown = fairenum("report", str(path))
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert len(lines) > 10
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in shown.out
    markdown = fairenum("report", str(path), "--markdown", "-")
    assert (markdown.code, markdown.out[:2], markdown.out.count("# ") > 1) == (0, "# ", True)
    page = fairenum("report", str(path), "--html", "-")
    assert (page.code, page.out.startswith("<!doctype html>")) == (0, True)
    assert page.out.rstrip().endswith("</html>")
    assert fairenum("report", str(path), "--json", "-").out == to_json(load(path))
    ended = fairenum("report", str(path), "--html", "a.html", "--markdown", "a.md", "--json", "a.json")
    assert ended.out == shown.out.rstrip("\n") + "\n\nrun: a.json\nhtml: a.html\nmarkdown: a.md\n"
    assert (folder / "a.html").read_text() == page.out
    assert (folder / "a.md").read_text() == markdown.out
    assert fairenum("report", "a.json", "--html", "-").out == page.out


def test_there_is_a_run_of_every_kind_to_show():
    assert {json.loads(to_json(load(path)))["kind"] for path in RUNS} == {"audit", "measure", *KINDS}


@pytest.mark.parametrize("path", RUNS, ids=NAMES)
def test_a_run_is_shown_without_what_computes_one(folder, path):
    code = f"""
import sys
from fairenum import cli
for medium in ([], ["--markdown", "a.md"], ["--html", "a.html"]):
    assert cli.run(["report", {str(path)!r}, *medium]) == 0
assert not {{"numpy", "pandas", "sklearn", "scipy", "numba"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_saved_run_reads_as_it_did_when_it_was_made(fairenum, loans, folder):
    made = fairenum("audit", loans, *OPTIONS).out
    (folder / loans).unlink()
    shown = fairenum("report", "fairenum-loans.json").out
    assert shown.rstrip() == made.removesuffix("run: fairenum-loans.json\n").rstrip()


def test_markdown_and_junit_are_written_and_nothing_else(fairenum, run, folder):
    ended = fairenum("report", run, "--markdown", "a.md", "--junit", "b.xml", "--fail-on", "accuracy>=0.99", "--quiet")
    assert ended.code == 1
    assert ended.err.startswith("violated: accuracy>=0.99: ")
    assert "**Model 2 narrows the demographic parity gap by sex (0.200 to 0.150)" in (folder / "a.md").read_text()
    suite = ElementTree.parse(folder / "b.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    assert sorted(path.name for path in folder.iterdir()) == ["a.md", "b.xml", "run.json"]
    assert fairenum("report", run, "--junit", "-", "--fail-on", "accuracy>=0.99").out == (folder / "b.xml").read_text()


def test_an_interrupted_run_stays_partial(fairenum, run, folder):
    save(load(run).but(status="interrupted"), run)
    ended = fairenum("report", run)
    assert ended.code == 4
    assert "\nInterrupted: Model 2 narrows" in ended.out


def cut(text):
    return text[: len(text) // 2]


BROKEN = {
    "nothing": ("", "is no JSON"),
    "no JSON": ("no json", "is no JSON"),
    "bytes": (b"\x89PNG\r\n\x1a\n\x00\xff", "is no JSON"),
    "cut off": (cut(SMALL.read_text()), "is no JSON"),
    "deep": ("[" * 100_000, "is no JSON"),
    "not a number": ('{"kind": NaN}', "is no JSON"),
    "a list": ("[]", "is no document of fairenum: it is no JSON object; make one with: fairenum audit DATA"),
    "empty": ("{}", "it does not say of which kind it is; make one with: fairenum audit DATA"),
    "another kind": ('{"kind": "zebra", "version": "2.0"}', "is no valid document: Invalid value 'zebra'"),
    "the future": ('{"kind": "audit", "version": "9.0"}', "has version '9.0', this fairenum reads '2.0'"),
    "a header alone": ('{"kind": "audit", "version": "2.0"}', "is no valid document: Object missing required field"),
    "before the first version": ('{"schema_version": "1.0"}', "it does not say of which kind it is"),
    "more than it has": (to_json(load(SMALL)).replace("{", '{"zebra": 1,', 1), "contains unknown field `zebra`"),
    "controls": ('{"kind": "\\u001b[31m\\n\\u202e", "version": "2.0"}', r"\x1b[31m\n\u202e"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("medium", [[], ["--html", "-"], ["--markdown", "a.md"], ["--json", "-"]])
def test_what_is_no_run_is_refused(fairenum, folder, content, message, medium):
    (folder / "run.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    ended = fairenum("report", "run.json", *medium)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith("error: 'run.json' ")
    assert message in ended.err
    assert [path.name for path in folder.iterdir()] == ["run.json"]


OF_AUDITS = [
    ["--fail-on", "accuracy>=0.5"],
    ["--junit", "a.xml"],
    ["--profile", "lda", "--html", "a.html"],
    ["--date", "2026-02-03", "--html", "a.html"],
    ["--redact"],
    ["--all"],
]


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
@pytest.mark.parametrize("option", OF_AUDITS, ids=lambda option: option[0])
def test_what_is_for_audits_is_refused_for_other_kinds(fairenum, folder, path, option):
    ended = fairenum("report", str(path), *option)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    kind = KINDS[json.loads(to_json(load(path)))["kind"]]
    assert f"error: {option[0]} is for audits, and this is a {kind}" in ended.err
    assert list(folder.iterdir()) == []


def test_colour_is_for_terminals_and_no_color_is_honoured(fairenum, run, monkeypatch):
    assert "\x1b[" not in fairenum("report", run).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[1;32mModel 2 narrows" in fairenum("report", run).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "32m" not in fairenum("report", run).out


def test_a_narrow_code_page_gets_escapes_instead_of_a_crash(program, run, folder):
    text = (folder / run).read_text().replace('"man"', '"männlich"').replace('"woman"', '"女"')
    (folder / run).write_text(text)
    with program("report", run, PYTHONIOENCODING="ascii", PYTHONUTF8="0") as process:
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


def secret(document):
    """Put what must not be told where the rows of an audit stand."""
    told = {"label": "secret label", "groups": {"sex": {"secret group": 1}}}
    examples = tuple(one.but(**told, values={"income": "secret value"}) for one in document.examples)
    models = (model.but(left_out=tuple(entry.but(**told) for entry in model.left_out)) for model in document.models)
    return document.but(examples=examples, models=tuple(models))


@pytest.fixture
def chosen_run(fairenum, saved_run):
    """An audit in which a model that leaves rows out takes the place of model 1."""
    assert fairenum("select", str(saved_run), "--rank", "2", "--output", "chosen.json", "--quiet").code == 0
    return "chosen.json"


def test_redacted_files_hold_nothing_of_single_rows(fairenum, chosen_run, folder):
    document = secret(load(chosen_run))
    assert any(model.left_out for model in document.models)
    save(document, "whole.json")
    assert fairenum("report", "whole.json", "--html", "whole.html", "--quiet").code == 0
    assert (folder / "whole.html").read_text().count("secret") > 3
    ended = fairenum("report", "whole.json", "--redact", "--html", "a.html", "--json", "a.json")
    assert ended.code == 0
    redacted, html = load("a.json"), (folder / "a.html").read_text()
    assert redacted.is_redacted
    assert "secret" not in to_json(redacted) + html + ended.out
    for before, after in zip(document.models, redacted.models, strict=True):
        assert after.left_out == tuple(LeftOut(entry.copies, entry.of) for entry in before.left_out)
    assert fairenum("report", "a.json", "--html", "b.html").code == 0
    assert (folder / "b.html").read_text() == html
    assert fairenum("select", "a.json", "--max-accuracy-drop", "0.05", "--json", "c.json").code == 0
    assert load("c.json").is_redacted


@pytest.fixture
def two_runs(run):
    """Two audits that differ in their seed."""
    document = load(run)
    for name, seed in (("before", 0), ("after", 1)):
        save(document.but(config=document.config.but(seed=seed)), f"{name}.json")
    return "before.json", "after.json"


def test_several_runs_are_compared(fairenum, two_runs, folder):
    ended = fairenum("report", *two_runs, "--html", "a.html", "--markdown", "a.md")
    assert ended.code == 0
    assert "\nAll runs end with the same demographic parity gap" in ended.out
    assert "Run by run" not in ended.out  # a terminal gets a summary
    assert ended.out.endswith("html: a.html\nmarkdown: a.md\n")
    page, text = (folder / "a.html").read_text(), (folder / "a.md").read_text()
    assert "option seed" in page
    assert "Measure by measure" in page
    assert fairenum("report", *two_runs, "--html", "-").out == page
    assert text.startswith("# Fairness audits of before and after\n")
    assert "| option seed | 0 | 1 |" in text
    assert fairenum("report", *two_runs, "--markdown", "-").out == text


def test_runs_of_the_gallery_are_compared(fairenum):
    names = [str(REPORTS / f"{name}.json") for name in ("adult", "compas", "german")]
    ended = fairenum("report", *names)
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    assert fairenum("report", *names, "--html", "-").out.count("<svg") > 3
    assert fairenum("report", *names, "--markdown", "-").out.startswith("# Fairness audits of adult, compas and german")


def test_compared_runs_are_redacted_together(fairenum, chosen_run, folder):
    save(secret(load(chosen_run)), "a.json")
    save(secret(load(chosen_run)), "b.json")
    assert "secret" in fairenum("report", "a.json", "b.json", "--html", "-").out
    redacted = fairenum("report", "a.json", "b.json", "--html", "-", "--redact")
    assert redacted.code == 0
    assert "secret" not in redacted.out


@pytest.mark.parametrize("option", [["--json", "a.json"], *OF_AUDITS[:4], ["--all"]], ids=lambda option: option[0])
def test_what_is_for_one_run_is_refused_for_several(fairenum, two_runs, folder, option):
    before = sorted(folder.iterdir())
    ended = fairenum("report", *two_runs, *option)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert f"{option[0]} is for one run; give one, or --html or --markdown" in ended.err
    assert sorted(folder.iterdir()) == before


def test_only_audits_are_compared(fairenum, run):
    ended = fairenum("report", run, str(REPORTS / "bench.json"))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "is a benchmark, no audit; make one with: fairenum audit DATA" in ended.err


def test_a_run_given_twice_is_refused_and_equal_names_are_told_apart(fairenum, run, folder):
    for again in (run, f"./{run}", str(folder / run)):
        ended = fairenum("report", run, again)
        assert (ended.code, ended.out) == (2, "")
        assert "a run is given twice" in ended.err
    (folder / "b").mkdir()
    (folder / "b" / "run.json").write_text((folder / run).read_text())
    assert "b/run.json" in fairenum("report", run, "b/run.json").out


@pytest.mark.parametrize("form", ["--html", "--markdown", "--json", "--junit"])
def test_nothing_takes_the_place_of_a_run(fairenum, run, folder, form):
    before = (folder / run).read_text()
    for place in (run, f"./{run}"):
        ended = fairenum("report", run, form, place)
        assert (ended.code, ended.out) == (2, "")
        assert "is the input; give the output another name" in ended.err
    assert (folder / run).read_text() == before
