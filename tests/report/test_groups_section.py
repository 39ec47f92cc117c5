"""Group tables on a page: which groups are set aside, and what is shown of a column with many groups."""

import json
from functools import partial

from support.documents import audit

from fairenum.document.feature_facts import Flips, GroupFlips
from fairenum.document.models import GroupDisagreement
from fairenum.document.scores import GroupTable
from fairenum.report import features_section
from fairenum.report.comparison_page import compare
from fairenum.report.embedded_copy import copy_of
from fairenum.report.groups_section import MOST_SHOWN, disagreement, impact, selected_groups, whole_impact
from fairenum.report.profiles import Tool, impact_ratios, scoring_ratios


def many(groups: int) -> GroupTable:
    """A table of so many groups, the first the smallest; all but the last two are set aside."""
    table = audit().group_tables[0]
    row = table.groups[0]
    rows = (
        row.but(group=f"g{n}", n=n + 1, selected=n // 2, is_small=n < groups - 2, is_compared=n >= groups - 2)
        for n in range(groups)
    )
    return table.but(groups=tuple(rows), reference=f"g{groups - 1}", most_selected=f"g{groups - 1}")


def test_groups_that_are_set_aside_are_marked_and_the_mark_explained():
    for show in (impact, whole_impact):
        shown = show(many(4))
        assert [row[0] for row in shown.rows] == ["g0 (set aside)", "g1 (set aside)", "g2", "g3"]
        assert shown.notes[-1] == "set aside: too few rows, or no value; no part in gaps, search and choice"
        assert not any(note.startswith("small") for note in shown.notes)
        assert shown.notes[1].endswith("g3, the most selected")


def test_of_many_groups_the_largest_are_shown_and_the_others_counted():
    ratios = (partial(impact_ratios, name="model 1"), partial(scoring_ratios, tool=Tool("model 1", ())))
    for show in (impact, whole_impact, *ratios):
        shown = show(many(MOST_SHOWN + 30))
        assert len(shown.rows) == MOST_SHOWN
        assert shown.rows[0][0].startswith("g30")
        assert shown.notes[-1] == "not shown: 30 smaller groups, which the run holds"
        assert "not shown" not in " ".join(show(many(MOST_SHOWN)).notes)


def test_a_figure_has_no_more_bars_than_the_table_rows():
    document = audit()
    table = many(MOST_SHOWN + 30).but(rank=document.selection.rank)
    document = document.but(group_tables=(table,))
    column = document.dataset.sensitive[0].but(column=table.column)
    document = document.but(dataset=document.dataset.but(sensitive=(column,)))
    compared = compare({"one": document, "other": document})
    sections = [selected_groups(document), next(one for one in compared.sections if one.anchor == "groups")]
    for figure in (section.blocks[0] for section in sections):
        assert len(figure.plots[0].y.names) == MOST_SHOWN


def test_whom_a_choice_changes_is_shown_of_the_largest_groups():
    groups = tuple(GroupFlips(f"g{n}", n, 0, 0) for n in range(MOST_SHOWN + 5))
    shown = [*features_section.sections(audit().but(flips=Flips(2, {"age": groups}, ())))][-1].blocks[1]
    assert [row[0] for row in shown.rows] == [f"g{n}" for n in range(5, MOST_SHOWN + 5)]
    assert shown.notes[-1] == "not shown: 5 smaller groups, which the run holds"


def test_disagreement_is_shown_of_the_largest_groups():
    document = audit()
    groups = tuple(GroupDisagreement(f"g{n}", n, 0, 0.0, 0.0, 0.0, 0.0, 0.0) for n in range(MOST_SHOWN + 5))
    found = document.multiplicity.but(by_column={"age": groups})
    shown = disagreement(found).blocks[1]
    assert [row[0] for row in shown.rows] == [f"g{n}" for n in range(5, MOST_SHOWN + 5)]
    assert shown.notes == ("not shown: 5 smaller groups, which the run holds",)


def test_a_page_carries_the_groups_that_it_shows():
    flips = Flips(2, {"age": tuple(GroupFlips(f"g{n}", n, 0, 0) for n in range(5000))}, ())
    document = audit().but(flips=flips, group_tables=(many(5000),))
    copy = json.loads(copy_of(document)(200_000).text)
    assert len(copy["flips"]["by_column"]["age"]) == len(copy["group_tables"][0]["groups"]) == MOST_SHOWN
    assert "of many groups the largest are kept" in copy["reduced"]
