"""fairenum measure: what it prints and writes, how it ends, and what it refuses in one line."""

import json
from pathlib import Path

import pytest
from support.decisions import decided_frame

from fairenum.cli.measure import measure
from fairenum.cli.streams import Exit
from fairenum.document.files import load
from fairenum.document.measure_document import READ, MeasureConfig

MEASURE = ("measure", "people.csv", "--decision", "hired", "--sensitive", "sex")
NAME = "fairenum-people-measured.json"


@pytest.fixture
def people(folder):
    """A table of decisions in the working folder."""
    frame = decided_frame(1500)
    frame.to_csv("people.csv", index=False)
    return frame


def test_it_prints_a_verdict_and_saves_the_run(fairenum, people):
    ended = fairenum(*MEASURE)
    assert ended.code == Exit.DONE
    assert "Groups by sex are selected at different rates" in ended.out
    assert f"run: {NAME}" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert load(NAME).decisions[0].selected == people["hired"].sum()


def test_it_writes_every_form(fairenum, people, folder):
    forms = ("--html", "a.html", "--markdown", "a.md", "--json", "a.json", "--junit", "a.xml", "--quiet")
    more = ("--profile", "ll144", "--date", "2026-01-02", "--score", "points", "--sensitive", "race")
    ended = fairenum(*MEASURE, *forms, *more)
    assert (ended.code, ended.out) == (Exit.DONE, "")
    assert "The lowest impact ratio of hired is" in (folder / "a.html").read_text()
    assert "2026-01-02" in (folder / "a.html").read_text()
    assert (folder / "a.md").read_text().startswith("# Decisions measured: people")
    assert json.loads((folder / "a.json").read_text())["kind"] == "measure"


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("demographic_parity_difference<=0.9", Exit.DONE),
        ("demographic_parity_ratio>=0.8", Exit.VIOLATED),
        ("accuracy>=0.5", Exit.INCONCLUSIVE),
        ("parity<=0.1", Exit.BAD_INPUT),
    ],
)
@pytest.mark.usefixtures("people")
def test_rules_decide_the_code_of_a_fresh_and_of_a_saved_run(fairenum, rule, code):
    assert fairenum(*MEASURE, "--fail-on", rule).code == code
    if code != Exit.BAD_INPUT:
        assert fairenum("report", NAME, "--fail-on", rule, "--junit", "a.xml").code == code


@pytest.mark.usefixtures("people")
def test_a_rule_about_a_model_is_refused(fairenum):
    assert fairenum(*MEASURE).code == Exit.DONE
    for command in (MEASURE, ("report", NAME)):
        refused = fairenum(*command, "--fail-on", "best:accuracy>=0.5", "--junit", "a.xml")
        assert refused.code == Exit.BAD_INPUT
        assert "'best:accuracy>=0.5' is about a model of an audit" in refused.err
        assert not Path("a.xml").exists()


@pytest.mark.usefixtures("people")
def test_a_saved_run_is_shown_again_and_no_audit(fairenum):
    first = fairenum(*MEASURE)
    again = fairenum("report", NAME)
    assert again.out.rstrip() == first.out.split("run: ")[0].rstrip()
    assert fairenum("report", NAME, "--html", "b.html", "--profile", "ll144").code == Exit.DONE
    for option in (("--redact",), ("--all",), ("--profile", "lda", "--html", "b.html")):
        refused = fairenum("report", NAME, *option)
        assert refused.code == Exit.BAD_INPUT
        assert "is for audits" in refused.err
    assert "is a measurement, no audit" in fairenum("select", NAME).err


def test_counts_give_the_same_verdict_as_rows(fairenum, people):
    counts = people.groupby("sex")["hired"].agg(n="size", selected="sum").reset_index()
    counts.to_csv("counts.csv", index=False)
    rows, counted = fairenum(*MEASURE), fairenum("measure", "counts.csv", "--counts")
    headline = rows.out.split("\n\n")[1]
    assert headline.split("\n- ")[0] == counted.out.split("\n\n")[1].split("\n- ")[0]
    assert load(NAME).dataset.rows == load("fairenum-counts-measured.json").dataset.rows


def test_the_command_line_has_every_option_with_the_same_default():
    with measure.make_context("measure", ["people.csv"]) as context:
        given = context.params
    offered = (*READ, *MeasureConfig.__slots__)
    for name, default in MeasureConfig().options.items():
        if name in offered and name != "bands":
            assert given[name] == default, name


def test_groups_are_made_as_in_an_audit(fairenum, people):
    ended = fairenum(*MEASURE, "--sensitive", "race", "--merge", "other=b,c", "--primary", "race", "--quiet")
    assert ended.code == Exit.DONE
    groups = load(NAME).decisions[0].of_column("race").impact.groups
    assert [(group.group, group.n) for group in groups] == [
        ("a", (people["race"] == "a").sum()),
        ("other", (people["race"] != "a").sum()),
    ]


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"hired": "maybe"}, (), "holds 3 values"),
        ({"hired": "2"}, (), "holds 3 values"),
        ({"points": "inf"}, ("--score", "points"), "infinite number in row 1 (line 2 of the file)"),
        ({}, ("--cutoff", "0.5"), "name its column with score=... (--score)"),
        ({}, ("--score", "points", "--cutoff", "base-rate"), "there is no label"),
        ({}, ("--decision", "sex"), "named twice"),
        ({}, ("--counts", "--score", "points"), "hold one decision"),
        ({}, ("--profile", "ll144"), "say where it goes with --html"),
        (
            {},
            ("--by", "race", "--group-column", "points", "--fail-on-alarm"),
            "no alarm is computed with --group-column",
        ),
    ],
)
def test_what_cannot_be_measured_is_one_line_and_nothing_is_written(fairenum, people, folder, change, options, words):
    people.astype(object).assign(**{name: [value, *people[name][1:]] for name, value in change.items()}).to_csv(
        "people.csv", index=False
    )
    ended = fairenum(*MEASURE, *options)
    assert ended.code == Exit.BAD_INPUT
    assert words in ended.err
    assert len(ended.err.splitlines()) == 1
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(("column", "option"), [("hired", ()), ("points", ("--score", "points"))])
def test_cells_that_are_missing_are_a_caution_with_counts(fairenum, people, column, option):
    people[column] = people[column].where(people.index % 2 == 0)
    people.to_csv("people.csv", index=False)
    ended = fairenum(*MEASURE, *option)
    assert ended.code == Exit.DONE
    assert "750 rows of 1500 (50.0 %)" in " ".join(ended.out.split())
