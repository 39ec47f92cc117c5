"""``fairenum reproduce``: what it writes, prints and refuses."""

import resource
from pathlib import Path

import pytest
from support.saved_runs import REPORTS

from fairenum.document import research_documents
from fairenum.document.files import load, load_as, parse, to_json
from fairenum.document.research_documents import ReproductionDocument
from fairenum.report.paper_page import rendered

ATTACK = str(REPORTS / "injection.json")
SMALL = ["reproduce", "sonar", "--quick", "--splits", "1", "--jobs", "1"]


@pytest.fixture(autouse=True)
def no_time_for_the_paper(monkeypatch):
    """The paper's own algorithm runs by the clock, and nothing here depends on it."""
    quick = research_documents.Plan.quick
    monkeypatch.setattr(
        research_documents.Plan, "quick", classmethod(lambda _, seed=0: quick(seed).but(printed_seconds=0.1))
    )


def test_page_markdown_figures_and_run_go_into_one_folder(fairenum, folder):
    ended = fairenum(*SMALL, "--seed", "2")
    assert ended.code == 0, ended.err
    place = folder / "fairenum-paper"
    written = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert written == {"paper.html", "paper.json", "paper.md", "figures/loss.svg", "figures/time.svg"}
    plan = load_as(ReproductionDocument, place / "paper.json").plan
    assert (plan.seed, plan.splits) == (2, 1)
    assert "Of 2 claims of the paper that could be tried" in ended.out
    assert "A quick run: too few splits" in " ".join(ended.out.split())
    assert "page: fairenum-paper/paper.html" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_json_stands_alone(fairenum, folder):
    ended = fairenum(*SMALL, "--json", "-")
    assert isinstance(parse(ended.out.encode(), "run"), ReproductionDocument)
    assert list(folder.iterdir()) == []
    assert fairenum(*SMALL, "--json", "run.json", "--quiet").out == ""
    assert (folder / "run.json").exists()


def test_a_saved_run_is_shown_again(fairenum, folder):
    fairenum(*SMALL, "--quiet")
    before = {path: path.read_bytes() for path in (folder / "fairenum-paper").rglob("*.*")}
    ended = fairenum("reproduce", "--saved", "fairenum-paper/paper.json", "--output", "again")
    assert ended.code == 0, ended.err
    after = {path: (folder / "again" / path.relative_to(folder / "fairenum-paper")).read_bytes() for path in before}
    assert after == before


def test_the_saved_run_of_the_gallery_gives_the_files_of_the_gallery(fairenum, folder):
    """That the gallery itself is fresh is for its own tests to say."""
    ended = fairenum("reproduce", "--saved", str(REPORTS / "paper.json"), "--output", "out", "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    document = load_as(ReproductionDocument, REPORTS / "paper.json")
    written = {str(path.relative_to("out")): path.read_text() for path in Path("out").rglob("*") if path.is_file()}
    assert written == {**rendered(document), "paper.json": to_json(document)}
    there = [*REPORTS.glob("paper.*"), *REPORTS.glob("figures/*")]
    assert set(written) == {str(path.relative_to(REPORTS)) for path in there}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["germany"], "'germany' is not one of 'german', 'ionosphere', 'sonar', 'compas'"),
        (["sonar", "--jobs", "0"], "'--jobs': 0 is no number of processes; -1 is for all processors"),
        (["sonar", "--splits", "0"], "0 is not a whole number of at least 1"),
        (["sonar", "--output", "taken"], "'taken' is a file; name a folder"),
        (["--saved", "taken"], "'taken' is no JSON"),
        (["--saved", "old"], "'old' is no document of fairenum: it does not say of which kind it is"),
        (["--saved", "new"], "'new' has version '3.0', this fairenum reads '2.0'"),
        (["--saved", ATTACK], "is a simulated attack, no reproduction; make one with: fairenum reproduce"),
        (["sonar", "--saved", "old"], "--saved shows a run as it is"),
        (["--quick", "--saved", "old"], "--saved shows a run as it is"),
        (["--splits", "3", "--saved", "old"], "--saved shows a run as it is"),
        (["--saved", "old", "--json", "old"], "'old' is the input; give the output another name"),
        (["sonar", "--json", "nowhere/run.json"], "there is no folder 'nowhere'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(fairenum, folder, arguments, message):
    (folder / "taken").write_text("")
    (folder / "old").write_text('{"format": "fairenum reproduction 0"}')
    (folder / "new").write_text('{"kind": "reproduction", "version": "3.0"}')
    ended = fairenum("reproduce", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["new", "old", "taken"]


@pytest.mark.slow
@pytest.mark.parametrize(("options", "minutes"), [(["--quick"], 1), ([], 10)])
def test_two_cores_finish_in_time(program, folder, options, minutes):
    """Count processor time: other work on the machine is not at fault."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = program("reproduce", *options, "--jobs", "2", "--quiet")
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 2 * 60 * minutes
    assert load(folder / "fairenum-paper" / "paper.json").status == "complete"
