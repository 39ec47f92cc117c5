"""Profiles about a model in use: a memo and a bias audit whose numbers are those of its own decisions."""

from datetime import date

import pandas as pd
import pytest
from support.decisions import audited, holdout, table
from support.documents import audit

from fairenum import AuditResult
from fairenum.document.audit_document import AuditDocument
from fairenum.render.html import to_html
from fairenum.render.page import Block, Page, Section
from fairenum.report import page
from fairenum.report.memo import NO_BASELINE, NONE_EXISTS

DAY = date(2026, 11, 17)
ASIDE = {"drop": ["points", "rival", "hired"], "guards": "none", "max_performance_drop": 0.1}


def biased() -> pd.DataFrame:
    """A tool that gives men points which they do not have."""
    frame = table(900)
    frame["tool"] = (frame["points"] + 14 * (frame["sex"] == "man") > 54).map({True: "pass", False: "fail"})
    return frame


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return biased()


@pytest.fixture(scope="module")
def result(frame) -> AuditResult:
    return audited(frame, incumbent="tool", incumbent_favourable="pass", data_dates="2025", **ASIDE)


@pytest.fixture(scope="module")
def rows(result, frame) -> pd.DataFrame:
    return holdout(result, frame)


def memo(document: AuditDocument) -> Page:
    return page(document, profile="lda", day=DAY)


def section(shown: Page, anchor: str) -> Section:
    return next(one for one in shown.sections if one.anchor == anchor)


def text(blocks: tuple[Block, ...]) -> str:
    return " ".join(str(block) for block in blocks)


def selection_rates(rows: pd.DataFrame) -> pd.Series:
    return (rows["tool"] == "pass").groupby(rows["sex"]).mean()


def test_the_baseline_is_the_model_in_use(result, rows, frame):
    words, measures = section(memo(result.document), "baseline").blocks
    is_right = (frame["tool"] == "pass") == (frame["good"] == "yes")
    assert "filled the column tool; its favourable decision is pass" in words.text
    assert f"what the label says in {100 * is_right.mean():.1f} % of all rows" in words.text
    assert words.text.endswith("measured against it, on the same rows.")
    assert measures.headings == ("measure", "the model in use (tool)")
    shown = dict(measures.rows)
    assert shown["accuracy"].startswith(f"{is_right[rows.index].mean():.3f} [")
    assert shown["selection rate"].startswith(f"{(rows['tool'] == 'pass').mean():.3f} [")


def test_without_one_model_1_stands_for_it_and_against_the_best_it_is_said(frame):
    words, _ = section(memo(audit()), "baseline").blocks
    assert words.text == NO_BASELINE
    best = audited(frame, incumbent="tool", incumbent_favourable="pass", against="best", **ASIDE).document
    words, _ = section(memo(best), "baseline").blocks
    assert "measured against model 1, as was asked for" in words.text


def test_a_score_and_rows_without_one_are_told(frame):
    some = frame.assign(points=frame["points"].where(frame.index % 10 > 0))
    options = {"incumbent_score": "points", "incumbent_cutoff": 50, "drop": ["rival", "hired", "tool"]}
    document = audited(some, **options, guards="none").document
    words = section(memo(document), "baseline").blocks[0].text
    assert words.startswith("The model in use is the score points, cut at 50; higher is favourable.")
    assert "90 rows that it never decided about took no part." in words
    shown = page(document, profile="ll144", day=DAY)
    assert ("without a decision", "90 rows, which took no part") in shown.sections[0].blocks[1].facts


def test_its_disparities_come_with_ratios(result, rows):
    rates = selection_rates(rows)
    items, *_ = section(memo(result.document), "disparity").blocks
    (line,) = items.items
    assert f"the lowest impact ratio is {rates.min() / rates.max():.3f} [" in line
    assert f"demographic parity {rates.max() - rates.min():.3f} [" in line


def test_how_hard_was_looked_is_what_the_run_holds(result):
    document = result.document
    facts = dict(section(memo(document), "search").blocks[0].facts)
    found, listed = document.enumeration, facts["listed best first"]
    assert listed.startswith(f"{found.models} of {found.supports} with distinct supports, {found.nodes} boxes solved")
    assert (facts["guided search"], facts["tilted models"]) == ("not asked for", "none")
    assert facts["seed"] == "0"
    candidates, models = len(document.selection.candidates), len(document.models)
    assert facts["candidates"] == f"{candidates} of {models} models are within all of that"
    assert facts["time"] == f"{document.timings['total']:.0f} s"
    assert "time" not in dict(section(memo(document.but(timings={})), "search").blocks[0].facts)


def test_what_the_alternative_costs_is_against_the_model_in_use(result, rows):
    document = result.document
    chosen = document.selected
    good = rows["good"] == "yes"
    decided = result.estimator(chosen.rank).predict(rows) == "yes"
    change = (decided == good).mean() - ((rows["tool"] == "pass") == good).mean()
    first, loss, selects, *_ = section(memo(document), "costs").blocks[0].items
    assert first.startswith(f"Accuracy on the holdout changes by {change:+.3f} [")
    assert "against the model in use (tool)" in first
    assert loss.startswith(f"Its loss on the training rows is {100 * chosen.loss_ratio:.1f} % above")
    old = rows["tool"] == "pass"
    assert selects == (
        f"It selects {decided.mean():.3f} of the holdout, the model in use (tool) {old.mean():.3f}. "
        f"{(decided & ~old).sum()} rows gain the favourable outcome by it, and {(~decided & old).sum()} lose it."
    )


def test_that_none_is_proposed_is_no_proof(result):
    document = result.document
    assert document.selection.answer == "proposed"
    assert NONE_EXISTS not in text(section(memo(document), "choice").blocks)
    for selection in (
        document.selection.but(answer="candidate", reasons=("performance_not_shown",)),
        document.selection.but(answer="not proposed", reasons=("performance_lost",)),
        document.selection.but(outcome="kept", rank=None, answer=None, strip=(), verdict=None, optimism=None),
    ):
        shown = memo(document.but(selection=selection, parity_range=None))
        assert section(shown, "choice").blocks[0].text == NONE_EXISTS
        assert section(shown, "choice").title.startswith("No alternative is proposed")


def test_a_bias_audit_begins_with_the_model_in_use_on_all_rows(result, rows, frame):
    rates = selection_rates(frame)
    shown = page(result.document, profile="ll144", day=DAY)
    assert shown.headline == (
        f"The lowest impact ratio of the model in use (tool) is {rates.min() / rates.max():.3f}, of {rates.idxmin()} "
        "(by sex), below four fifths. No category is unknown."
    )
    assert shown.findings[0] == page(result.document).headline
    _, facts, *tables = shown.sections[0].blocks
    names = ["the model in use (tool)", *(f"model {rank}" for rank in result.document.selection.shortlist)]
    assert [one.title for one in tables] == [f"By sex: {name}" for name in names]
    assert ("dates of the data", "2025") in facts.facts
    for shown_table, of in zip(tables, (frame, rows, rows), strict=False):  # models are on the holdout
        counts = of.groupby("sex").size()
        assert [row[:2] for row in shown_table.rows] == [(name, str(count)) for name, count in counts.items()]
    lead = shown.sections[0].blocks[0].text
    assert f"about all {len(frame)} rows of table that it decided" in lead
    assert f"about {len(rows)} rows of them: the holdout" in lead


def test_both_say_what_they_follow_and_as_of_when(result):
    for profile, names in {
        "lda": ("Griggs", "42 U.S.C. § 2000e-2(k)", "Regulation B"),
        "ll144": ("Local Law 144 of 2021", "6 RCNY § 5-300", "5 July 2023", "less than 2 %"),
    }.items():
        shown = page(result.document, profile=profile, day=DAY)
        words = text(shown.sections[-1].blocks)
        for name in (*names, "Executive Order 14281", "State and city law may differ", "as of November 2026"):
            assert name in words
        assert "November 2026" in shown.notice
        assert "no legal advice" in shown.notice
        html = to_html(shown)
        assert html.count('id="followed"') == 1
