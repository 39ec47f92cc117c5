"""``fairenum reproduce``: what it writes, prints and refuses."""

import json
import resource

import pytest

SMALL = ["reproduce", "sonar", "--quick", "--splits", "1", "--jobs", "1"]


@pytest.fixture(autouse=True)
def no_time_for_the_paper(monkeypatch):
    """The paper's own algorithm runs by the clock, and nothing here depends on it."""
    from fairenum.reproduction import plan

    quick = plan.Plan.quick
    monkeypatch.setattr(plan.Plan, "quick", classmethod(lambda _, seed=0: quick(seed).but(printed_seconds=0.1)))


def test_page_markdown_figures_and_run_go_into_one_folder(fairenum, folder):
    ended = fairenum(*SMALL, "--seed", "2")
    assert ended.code == 0, ended.err
    place = folder / "fairenum-paper"
    written = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    figures = {f"figures/{name}.svg" for name in ("loss", "objective", "spread", "time")}
    assert written == {"paper.html", "paper.json", "paper.md"} | figures
    saved = json.loads((place / "paper.json").read_text())
    assert (saved["plan"]["seed"], saved["plan"]["splits"]) == (2, 1)
    assert "Of 2 claims of the paper that could be tried" in ended.out
    assert "A quick run: too few splits" in " ".join(ended.out.split())
    assert "page: fairenum-paper/paper.html" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_json_stands_alone(fairenum, folder):
    ended = fairenum(*SMALL, "--json", "-")
    assert json.loads(ended.out)["format"] == "fairenum reproduction 1"
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["germany"], "'germany' is not one of 'german', 'ionosphere', 'sonar', 'compas'"),
        (["sonar", "--jobs", "0"], "--jobs is the number of processes"),
        (["sonar", "--splits", "0"], "0 is not in the range"),
        (["sonar", "--output", "taken"], "'taken' is a file; name a folder"),
        (["--saved", "taken"], "'taken' is no saved reproduction; make one with: fairenum reproduce --json PATH"),
        (["--saved", "old"], "'old' has the format 'fairenum reproduction 0'"),
        (["sonar", "--saved", "old"], "--saved shows a run as it is"),
        (["sonar", "--json", "nowhere/run.json"], "there is no folder 'nowhere'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(fairenum, folder, arguments, message):
    (folder / "taken").write_text("")
    (folder / "old").write_text('{"format": "fairenum reproduction 0"}')
    ended = fairenum("reproduce", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1


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
    assert json.loads((folder / "fairenum-paper" / "paper.json").read_text())["status"] == "complete"
