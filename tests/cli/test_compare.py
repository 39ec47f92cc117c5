"""fairenum compare: exit codes, files, and mistakes."""

import pandas as pd
import pytest


@pytest.fixture
def runs(fairenum):
    for name, selected in (("january", 800), ("july", 600), ("august", 790), ("may", 400)):
        pd.DataFrame({"sex": ["m", "w"], "n": 2000, "selected": [900, selected]}).to_csv(f"{name}.csv", index=False)
        assert fairenum("measure", f"{name}.csv", "--counts", "--json", f"{name}.json", "--quiet").code == 0


def test_a_verdict_is_printed_and_saved(fairenum, runs, folder):
    ended = fairenum("compare", "january.json", "july.json", "--json", "c.json", "--html", "c.html")
    assert ended.code == 0
    assert "The demographic parity gap by sex widened: from 0.050" in " ".join(ended.out.split())
    assert fairenum("report", "c.json").out.splitlines()[:5] == ended.out.splitlines()[:5]
    assert "<html" in (folder / "c.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("new", "code"), [("july", 1), ("august", 3)])
def test_widened_gaps_can_fail(fairenum, runs, new, code):
    assert fairenum("compare", "january.json", f"{new}.json", "--fail-on", "widened", "--quiet").code == code
    assert fairenum("compare", "january.json", f"{new}.json", "--quiet").code == 0


def test_narrowed_gaps_do_not_fail(fairenum, runs):
    assert fairenum("compare", "may.json", "january.json", "--fail-on", "widened", "--quiet").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("january.json",), "Missing argument 'NEW'"),
        (("january.json", "january.json"), "about the same rows"),
        (("january.json", "june.json"), "cannot read 'june.json'"),
        (("january.json", "july.csv"), "is no JSON"),
        (("january.json", "july.json", "--json", "july.json"), "is the input"),
        (("january.json", "july.json", "--confidence", "2"), "option 'confidence' must be"),
    ],
)
def test_mistakes_are_explained(fairenum, runs, arguments, words):
    ended = fairenum("compare", *arguments)
    assert ended.code == 2
    assert words in ended.err
