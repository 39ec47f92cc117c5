"""The page of hard numbers says what the program does: each is right with a certificate, or refused with advice."""

import re
import runpy

import pytest
from support.documentation import ROOT
from support.problems import hard_numbers

PAGE = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "docs" / "numbers_table.py"))


@pytest.fixture(scope="module")
def rows(script):
    return [script["measured"](case) for case in hard_numbers()]


def bounds(text):
    return [float(bound) for bound in re.findall(r"&lt; (1e-\d+)", text)]


def test_the_page_is_fresh(script, rows):
    def without_bounds(text):
        return re.sub(r"&lt; 1e-\d+", "proven", text)

    fresh = script["page"](PAGE, rows)
    assert without_bounds(PAGE) == without_bounds(fresh), "stale: run `make numbers`"


def test_no_gap_is_larger_than_the_page_says(rows):
    gaps = [outcome.gap for row in rows for outcome in row.outcomes if not outcome.refusal]
    stated = bounds(PAGE)
    assert len(stated) == len(gaps)
    assert all(gap <= bound for gap, bound in zip(gaps, stated, strict=True))


def test_every_refusal_says_what_to_do(rows):
    refusals = {outcome.refusal for row in rows for outcome in row.outcomes if outcome.refusal}
    for refusal in refusals:
        assert re.search(r"use |standardise|bring|needs", refusal), refusal
