"""A measurement as pages: the verdict in words, every medium, the bias audit, and rules."""

import re
from datetime import date
from io import StringIO
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console
from support.decisions import decided_frame

from fairenum import measure
from fairenum.errors import ConfigError
from fairenum.render.html import to_html, to_notebook
from fairenum.render.markdown import to_markdown
from fairenum.render.terminal import print_page
from fairenum.report import page
from fairenum.report.rules import judge_all, parse_rules, to_junit

LABEL = {"label": "good", "favourable": "yes"}


@pytest.fixture(scope="module")
def whole():
    """All there is: two tools, a score that is cut, a label, and two columns of groups."""
    options = {"score": "points", "cutoff": 50, "replications": 50, **LABEL}
    return measure(decided_frame(1500), ("hired", "rival"), ["sex", "race"], **options).document


@pytest.fixture(scope="module")
def plain():
    return measure(decided_frame(1500), "hired", "sex").document


def selecting(**rates):
    """So many of each group are selected, of a thousand."""
    rows = [(group, int(place < selected)) for group, selected in rates.items() for place in range(1000)]
    return measure(pd.DataFrame(rows, columns=["race", "hired"]), "hired", "race").document


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ({"a": 500, "b": 300}, "at different rates.*below four fifths"),
        ({"a": 500, "b": 480}, "No difference between groups by race is shown.*at least four fifths"),
        ({"a": 500, "b": 400}, "at different rates.*leaves open whether it is below four fifths"),
        ({"a": 1000, "b": 1000}, "Everybody gets the favourable outcome"),
        ({"a": 0, "b": 0}, "Nobody gets the favourable outcome"),
    ],
)
def test_the_headline_says_how_unequal_and_how_sure(rates, words):
    assert re.search(words, page(selecting(**rates)).headline)


def test_groups_that_are_too_small_are_called_so():
    frame = pd.DataFrame({"sex": ["m", "w"] * 10, "hired": [1, 0] * 10})
    assert "too small to say" in page(measure(frame, "hired", "sex").document).headline


def test_every_decision_is_compared_in_words(whole):
    findings = page(whole).findings
    assert any(one.startswith("rival is fairer than hired: its demographic parity gap is") for one in findings)
    assert any(one.startswith("points >= 50 ") for one in findings)
    assert sum("gaps against the label" in one for one in findings) == 3
    assert any("lowest ratio of scoring rates" in one for one in findings)


def test_without_a_label_it_says_what_cannot_be_measured(plain):
    shown = page(plain)
    assert any("not whether decisions are right" in one for one in shown.findings)
    assert "no label" in shown.subject
    assert "equal opportunity" not in to_markdown(page(plain, brief=True))


def test_the_terminal_keeps_to_80_columns_and_cuts_no_number(whole):
    console = Console(file=StringIO(), width=80)
    print_page(page(whole, brief=True), console)
    text = console.file.getvalue()
    assert max(map(cell_len, text.splitlines())) <= 80
    gap = whole.decisions[0].of_column("sex").scores.demographic_parity_difference
    assert f"{gap.value:.3f} [{gap.low:.3f}, {gap.high:.3f}]" in text


def test_every_medium_shows_decisions_groups_and_scores(whole):
    full, brief = page(whole), page(whole, brief=True)
    for text in (to_html(full), to_notebook(full), to_markdown(brief)):
        for words in ("scoring rate", "lowest ratio", "true positive", "By cutoff", "points"):
            assert words in text
    drawn = {plot.name for figure in full.figures for plot in figure.plots}
    assert {"Selection rates by cutoff", "ROC curves by group", "Calibration by group"} <= drawn
    assert not list(brief.figures)


def test_a_page_is_well_formed_whatever_the_names_are():
    frame = pd.DataFrame({"<b>&": ["\x07", "]]>"] * 40, "<i>": [1, 0] * 40, "|_": range(80)})
    document = measure(frame, "<i>", "<b>&", score="|_").document
    html = to_html(page(document))
    assert "<i>" not in html.split("<script")[0]
    assert "&lt;i&gt;" in html
    assert "\x07" not in html


def test_a_bias_audit_names_the_lowest_ratio_and_counts_the_unknown():
    frame = decided_frame(1500)
    frame.loc[:9, "race"] = None
    document = measure(frame, "hired", ["sex", "race"], score="points").document
    shown = page(document, profile="ll144", day=date(2026, 1, 2))
    tables = [column.impact for column in document.decisions[0].columns]
    rates = {
        (table.column, group.group): group.rate.value
        / max(one.rate.value for one in table.groups if "missing" not in one.group)
        for table in tables
        for group in table.groups
        if "(missing)" not in group.group
    }
    (column, lowest), ratio = min(rates.items(), key=lambda one: one[1])
    assert shown.headline.startswith(f"The lowest impact ratio of hired is {ratio:.3f}, of {lowest} (by {column})")
    assert "10 rows of an unknown category" in shown.headline
    assert shown.notice.startswith("2026-01-02")
    _, facts, *tables = shown.sections[0].blocks
    assert [table.title for table in tables] == [
        *(f"By {name}: hired" for name in ("sex", "race", "sex & race")),
        *(f"Scoring rates by {name}: points" for name in ("sex", "race", "sex & race")),
    ]
    assert facts.facts == (
        ("source of the data", "not stated"),
        ("dates of the data", "not stated"),
        ("unknown category", "by sex: 0; by race: 10; by sex & race: 10"),
    )
    assert shown.sections[-1].title == "What this follows"


def test_a_bias_audit_names_the_lowest_ratio_of_scores_and_says_where_data_come_from():
    frame = decided_frame(1500).assign(hired=lambda frame: frame.index % 2, level=lambda frame: frame["points"])
    frame.loc[3, "hired"] = None
    document = measure(frame, "hired", "sex", score="level", data_source="<HR>", data_dates="2024 to 2025").document
    shown = page(document, profile="ll144")
    known = frame.drop(index=3)
    above = (known["level"] > known["level"].median()).groupby(known["sex"]).mean()
    ratio = above.min() / above.max()
    assert shown.headline.startswith(f"The lowest ratio of scoring rates of level is {ratio:.3f}, of {above.idxmin()}")
    assert shown.sections[0].blocks[1].facts[:3] == (
        ("source of the data", "<HR>"),
        ("dates of the data", "2024 to 2025"),
        ("without a decision", "1 row, which took no part"),
    )
    assert "<HR>" not in to_html(shown)


def test_a_profile_of_alternatives_is_refused(plain):
    with pytest.raises(ConfigError, match="is for audits; a measurement has ll144"):
        page(plain, profile="lda")


# --- rules ---


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ("demographic_parity_ratio>=0.8", "violated"),
        ("demographic_parity_difference<=0.05", "violated"),
        ("demographic_parity_difference<=0.9", "holds"),
        ("demographic_parity_difference<={value}", "open"),
        ("accuracy>=0.5", "open"),
        ("selection_rate>=0.1", "holds"),
    ],
)
def test_rules_are_judged_by_the_whole_interval(plain, rule, outcome):
    value = plain.decisions[0].of_column("sex").scores.demographic_parity_difference.value
    (judged,) = judge_all(plain, parse_rules([rule.format(value=value)]))
    assert judged.outcome == outcome


def test_every_decision_is_judged_by_every_rule(whole):
    judged = judge_all(whole, parse_rules(["accuracy>=0.1", "auc>=0.1"]))
    assert [one.outcome.value for one in judged] == ["holds"] * 6
    assert [one.reason.split(":")[0] for one in judged[:3]] == ["hired", "rival", "points >= 50"]


def test_rules_on_small_groups_are_open_and_those_set_aside_are_named():
    frame = decided_frame(300)
    frame.loc[:4, "race"] = "d"
    rules = parse_rules(["demographic_parity_difference<=0.9"])
    (aside,) = judge_all(measure(frame, "hired", "race").document, rules)
    assert aside.outcome == "holds"
    assert "(not judged: 'd')" in aside.reason
    (kept,) = judge_all(measure(frame, "hired", "race", small_groups="keep").document, rules)
    assert kept.outcome == "open"
    assert "too small to have such a rate: d (5 rows)" in kept.reason


def test_rules_count_the_rows_that_a_rate_is_a_share_of():
    frame = decided_frame(300)
    frame["good"] = np.where(frame.index < 60, "yes", "no")
    document = measure(frame, "hired", "sex", **LABEL).document
    parity, opportunity = judge_all(
        document, parse_rules(["demographic_parity_difference<=0.9", "equal_opportunity_difference<=0.99"])
    )
    assert parity.outcome == "holds"
    few = frame[frame["good"] == "yes"].groupby("sex").size()
    assert opportunity.outcome == "open"
    assert f"{few.idxmin()} ({few.min()} rows)" in opportunity.reason


def test_junit_calls_it_what_it_is(plain):
    rules = parse_rules(["demographic_parity_ratio>=0.8"])
    text = to_junit(page(plain, brief=True), judge_all(plain, rules), is_partial=False, kind=plain.title)
    suite = ElementTree.fromstring(text)
    assert suite.attrib == {"name": "fairenum measurement table", "tests": "2", "failures": "1", "errors": "0"}
    assert suite[0].get("name") == "measurement"


@pytest.mark.parametrize("is_lower_better", [False, True])
@pytest.mark.parametrize("profile", [None, "ll144"])
def test_scoring_rates_are_on_the_favourable_side_of_the_median(is_lower_better, profile):
    frame = decided_frame(500)
    options = {"score": "points", "cutoff": 50, "lower_is_better": is_lower_better, "replications": 50}
    shown = to_html(page(measure(frame, (), "sex", **options).document, profile=profile, day=date(2026, 3, 1)))
    side, other = ("below", "above") if is_lower_better else ("above", "below")
    assert f"share of the group whose score is {side} the median" in shown
    assert f"(scores {side} the median)" in shown
    assert (f"<th>{side} the median" in re.sub("<th[^>]*>", "<th>", shown)) == (profile is not None)
    assert f"score is {other} the median" not in shown
    assert ("above 0 where scores are lower" in shown) == is_lower_better
