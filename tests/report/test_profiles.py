"""Profiles: what a memo on alternatives and a bias audit show first, dated and without legal advice."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import audit, german

from fairenum.document.scores import GroupTable
from fairenum.document.value import Estimate
from fairenum.render.html import to_html
from fairenum.report import page
from fairenum.report.audit_report import PROFILES
from fairenum.report.profiles import impact_ratios
from fairenum.report.rules import parse_rules
from fairenum.tables.groups import intersect, read_groups

DAY = date(2026, 3, 1)


def titles(profile: str | None, **facts) -> list[str]:
    return [section.title for section in page(audit(**facts), profile=profile, day=DAY).sections]


@pytest.mark.parametrize("profile", ["lda", "ll144"])
def test_a_profile_is_dated_and_no_legal_advice(profile):
    html = to_html(page(audit(), profile=profile, day=DAY))
    notice = re.search(r'<p class="notice">(.*?)</p>', html).group(1)
    assert notice.startswith("2026-03-01. ")
    assert "no legal advice" in notice
    assert to_html(page(audit(), profile=profile, day=DAY)) == html
    assert date.today().isoformat() in to_html(page(audit(), profile=profile))


def test_a_page_for_everybody_bears_no_date():
    assert "notice" not in to_html(page(audit())).split("</style>")[1]


def test_a_memo_goes_from_the_model_in_use_to_the_proposal():
    assert titles("lda")[:7] == [
        "The model in use",
        "Its disparities",
        "The search for alternatives",
        "The alternatives",
        "The proposed alternative: model 3",
        "What model 3 costs",
        "Who the alternative selects",
    ]
    assert "No alternative is proposed" in titles("lda", selected=1)
    assert "No alternative is proposed" in titles("lda", selected=None)


def test_a_bias_audit_begins_with_impact_ratios_and_keeps_everything_else():
    assert titles("ll144")[0] == "Impact ratios"
    strip = page(audit()).strip.table
    assert titles("ll144")[1] == strip.title
    assert titles("ll144")[2:-1] == titles(None)
    shown = page(audit(), profile="ll144", day=DAY)
    assert shown.strip is None
    assert shown.sections[1].blocks[0].rows == strip.rows
    assert titles("ll144")[-1] == titles("lda")[-1] == "What this follows"


@pytest.mark.parametrize("profile", PROFILES)
def test_rules_stand_before_all_sections(profile):
    html = to_html(page(audit(), rules=parse_rules(["accuracy>=0.5"]), profile=profile, day=DAY))
    assert re.findall(r'<section id="(\w+)"', html)[0] == "rules"
    assert '<li><a href="#rules">Rules</a></li>' in html


@pytest.mark.parametrize("profile", PROFILES)
def test_anchors_are_all_different(profile):
    html = to_html(page(audit(), rules=parse_rules(["accuracy>=0.5"]), profile=profile, day=DAY))
    found = re.findall(r'\bid="([^"]*)"', html)
    assert len(found) == len(set(found))


def group(name: str, n: int, selected: int):
    rate = Estimate(selected / n if n else None)
    return german().group_tables[0].groups[0].but(group=name, n=n, selected=selected, rate=rate)


def ratios_of(groups):
    return impact_ratios(GroupTable(1, "race", groups[0].group, None, tuple(groups)), "model 1")


def test_impact_ratios_are_against_the_most_selected_category_that_counts():
    groups = [
        group("a", 1000, 500),
        group("b", 500, 200),
        group("tiny", 10, 10),
        group("(missing)", 200, 190),
        group("none", 300, 0),
    ]
    table = ratios_of(groups)
    assert [row[3:] for row in table.rows] == [
        ("0.500", "1.000"),
        ("0.400", "0.800"),
        ("1.000", "not counted"),
        ("0.950", "unknown"),
        ("0.000", "0.000"),
    ]
    assert "unknown category: 200 rows, not used for ratios" in table.notes
    assert any(note.startswith("not counted: a category of less than 2%") for note in table.notes)
    assert not any(note.startswith("not counted") for note in ratios_of(groups[:2]).notes)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=6))
def test_impact_ratios_lie_between_0_and_1_and_one_category_has_1(sizes):
    groups = [group(str(place), n, min(n, selected)) for place, (n, selected) in enumerate(sizes)]
    ratios = [row[4] for row in ratios_of(groups).rows]
    numbers = [float(ratio) for ratio in ratios if ratio[0].isdigit()]
    assert all(0.0 <= number <= 1.0 for number in numbers)
    counted = [g for g in groups if g.n >= 0.02 * sum(g.n for g in groups)]
    if any(g.selected for g in counted):
        assert max(numbers) == 1.0


def test_missing_values_are_the_unknown_category_also_in_intersections():
    import pandas as pd

    frame = pd.DataFrame({"sex": ["f", "m", None, "f"], "race": ["a", None, "b", "b"]})
    columns = [read_groups(frame[name]) for name in frame]
    for groups in (*columns, intersect(columns)):
        table = ratios_of([group(name, 10, 5) for name in groups.names])
        unknown = {row[0] for row in table.rows if row[4] == "unknown"}
        assert unknown == {name for name in groups.names if "missing" in name}
        assert unknown
