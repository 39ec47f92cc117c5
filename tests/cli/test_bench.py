"""fairenum bench: the table, the plots, the page, JSON, and mistakes."""

import re

import pytest
from click.testing import CliRunner
from support.saved_runs import REPORTS

from fairenum import cli
from fairenum.document.files import load_as, parse, save
from fairenum.document.research_documents import BenchDocument, RaceResult
from fairenum.research import growth, race
from fairenum.research.growth import Plan
from fairenum.research.growth_point import take

QUICK = ["bench", "sonar", "--rows", "40", "-k", "3", "--solver", "path", "--no-growth"]


def run(*arguments):
    return CliRunner().invoke(cli.group, [*QUICK, *arguments])


@pytest.fixture(autouse=True)
def one_rough_lap(monkeypatch):
    """Nothing here depends on how long anything takes."""
    monkeypatch.setattr(race, "LAPS", 1)
    monkeypatch.setattr(race, "YARDSTICK_SECONDS", 1e-9)


@pytest.fixture
def small_sizes(monkeypatch):
    monkeypatch.setattr(growth, "EXAMPLES", (20, 30, 40))
    monkeypatch.setattr(growth, "FEATURES", (2, 3, 4))
    monkeypatch.setattr(growth, "MODELS", (2, 3, 4))
    monkeypatch.setattr(growth, "FIXED", {"n": 20, "d": 2, "k": 2})


def test_the_table_reads_well_in_a_pipe():
    result = run()
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("sonar: 40 rows, 60 features, C = 1, the 3 best models; one SVC fit takes ")
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in result.output
    assert "…" not in result.output
    (path,) = (line.split() for line in lines if re.match(r"path +\d", line))
    assert path[-3:] == ["3", "of", "3"]
    assert any(line.startswith("Algorithm 1 ") for line in lines)
    assert result.stderr == ""


@pytest.mark.usefixtures("small_sizes")
def test_growth_is_plotted_over_all_three_axes():
    result = run("--growth")
    assert [line.split(",")[0] for line in result.stdout.splitlines() if "CPU time against" in line] == [
        "CPU time against examples n",
        "CPU time against features d",
        "CPU time against models k",
    ]
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_growth_study_reaches_the_document(monkeypatch):
    plan = Plan("fit", ("fairenum", "SVC"), "n", (20, 40, 80), fixed={"d": 3})
    monkeypatch.setattr(growth, "STUDY", (plan,))
    monkeypatch.setattr(growth, "taken_by", take)
    document = parse(run("--scale", "--json", "-").stdout.encode(), "run")
    assert [(one.name, one.sizes, one.fixed) for one in document.scale] == [
        ("fairenum", (20, 40, 80), {"d": 3}),
        ("SVC", (20, 40, 80), {"d": 3}),
    ]
    assert all(min(one.memory) > 1e7 and min(one.seconds) > 0.0 for one in document.scale)


def test_json_is_alone_on_stdout():
    document = parse(run("--json", "-", "--cost", "2", "--seed", "5", "--raw").stdout.encode(), "run")
    assert isinstance(document, BenchDocument)
    assert (document.data.cost, document.data.seed, document.k) == (2.0, 5, 3)
    assert document.seconds == 30.0


def test_json_is_saved_beside_the_table(tmp_path):
    path = tmp_path / "bench.json"
    path.write_text("old")
    result = run("--json", str(path), "--full")
    assert result.stdout.rstrip().splitlines()[-1] == f"run: {path}"
    assert load_as(BenchDocument, path).seconds is None
    assert [file.name for file in tmp_path.iterdir()] == ["bench.json"]


def test_quiet_prints_nothing(tmp_path):
    assert run("--quiet", "--json", str(tmp_path / "bench.json")).output == ""
    assert (tmp_path / "bench.json").exists()


def test_a_file_is_raced_like_a_bundled_table(tmp_path):
    rows = "\n".join(f"{i % 7},{i % 5},{'yes' if i % 7 + i % 3 > 4 else 'no'}" for i in range(60))
    path = tmp_path / "loans.csv"
    path.write_text("income,years,approved\n" + rows)
    arguments = ["bench", str(path), "--label", "approved", "--favourable", "yes", *QUICK[2:]]
    result = CliRunner().invoke(cli.group, arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("loans: 40 rows, 2 features, C = 1, the 3 best models")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sonar", "--solver", "paht"], "no solver is called 'paht'; did you mean 'path'?"),
        (["sonra"], "sonar"),
        (["sonar", "--rows", "5000"], "5000"),
        (["sonar", "--json", "nowhere/bench.json"], "there is no folder 'nowhere'"),
        (["sonar", "--json", "."], "'.' is a folder"),
        (["sonar", "-k", "0"], "0"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert cli.run(["bench", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_a_page_and_markdown_are_written_beside_the_table(tmp_path):
    run("--html", str(tmp_path / "bench.html"), "--markdown", str(tmp_path / "bench.md"), "--quiet")
    page = (tmp_path / "bench.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Benchmark on sonar" in page
    assert "<svg" in page
    assert (tmp_path / "bench.md").read_text().count("| path |") == 1


def shown(*standings):
    """Show a benchmark that came out so: the cells of each contestant, and all that is printed."""
    save(load_as(BenchDocument, REPORTS / "bench.json").but(standings=standings, seconds=30.0), "bench.json")
    result = CliRunner().invoke(cli.group, ["report", "bench.json"])
    assert result.exit_code == 0, result.output
    table = result.stdout.split("───\n", 1)[1]
    cells = {one.name: re.search(f"^{one.name} (.*)", table, re.MULTILINE)[1] for one in standings}
    return {name: re.findall(r"\d+ of \d+|\S+", text) for name, text in cells.items()}, " ".join(result.stdout.split())


@pytest.mark.usefixtures("folder")
def test_what_was_not_run_whole_is_marked_and_explained():
    cells, text = shown(
        RaceResult("path", 50, 50, 55, 0.05, 2.5, "measured", 5),
        RaceResult("slow", 1, 1, 9, 30.0, 1500.0, "at least", 1),
        RaceResult("failed", error="it rains"),
        RaceResult("Algorithm 1", 4, 2, 600, 120.0, 6000.0, "extrapolated", 1),
    )
    assert cells["path"] == ["2.5", "0.05", "~2400", "0.05", "55", "50 of 50"]
    assert cells["Algorithm 1"] == ["~6000", "~120", "1", "~120", "600", "2 of 4"]
    assert cells["slow"] == [">1500", ">30", "<4", ">30", "9", "1 of 1"]
    assert cells["failed"] == ["failed"]
    assert "~ extrapolated from the models found in 30 s" in text
    assert "> stopped after 30 s" in text
    assert "failed: it rains" in text


@pytest.mark.usefixtures("folder")
def test_without_the_paper_nothing_is_compared_with_it():
    path = RaceResult("path", 50, 50, 55, 0.05, 2.5, "measured", 5)
    cells, _ = shown(path, RaceResult("Algorithm 1", error="it rains"))
    assert cells["path"] == ["2.5", "0.05", "0.05", "55", "50 of 50"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("above", "below", "ratio"),
    [
        ("measured", "measured", "4"),
        ("extrapolated", "measured", "~4"),
        ("measured", "extrapolated", "~4"),
        ("at least", "measured", ">4"),
        ("extrapolated", "at least", "<4"),
        ("at least", "at least", "?"),
    ],
)
def test_a_ratio_says_what_is_known_of_it(above, below, ratio):
    paper = RaceResult("Algorithm 1", 4, 2, 600, 120.0, 6000.0, above, 1)
    cells, _ = shown(RaceResult("slow", 1, 1, 9, 30.0, 1500.0, below, 1), paper)
    assert cells["slow"][2].startswith(ratio)


def test_progress_shows_on_a_terminal_only(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "lap" in run().stderr
    assert run("--quiet").output == ""


def test_what_was_noticed_about_the_table_is_said(tmp_path):
    rows = [f"{n % 7},{n % 3},7,{n % 2}" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,one,ok", *rows]))
    arguments = ["bench", str(tmp_path / "t.csv"), "--label", "ok", "--favourable", "1", *QUICK[2:]]
    ended = CliRunner().invoke(cli.group, arguments)
    assert ended.exit_code == 0, ended.output
    assert "columns that hold one value were left out (1 in all): 'one'" in " ".join(ended.output.split())
