"""A column of a table is one value, which every medium shows and every script finds by its key."""

import re

import pytest
from support.documents import audit, in_use
from support.explorations import open_applicants
from support.pages import printed

from fairenum.explore.screen_parts import rows, screen
from fairenum.explore.worker import Worker
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.render.page import Column, Over, Table, column_notes
from fairenum.report import models_section, page
from fairenum.report.audit_report import brief_page
from fairenum.report.exploration_page import exploration_page

NOTE = "nature: what it is"
NATURE = Column("nature", "nature", lambda model: f"is-{type(model).__name__}", note=NOTE)


@pytest.fixture
def added(monkeypatch):
    """One entry more, before all others that training gives."""
    monkeypatch.setattr(models_section, "TRAINED", (NATURE, *models_section.TRAINED))


def heads(html: str) -> list[str]:
    """The keys of a page's headings."""
    return re.findall(r'<th scope="col" data-key="(\w+)"', html)


@pytest.mark.usefixtures("added")
def test_one_entry_adds_a_column_to_the_ranked_table_in_every_medium():
    shown = brief_page(in_use(audit(models=5)), all_models=True)
    [table] = next(section.blocks for section in shown.sections if section.anchor == "models")
    assert table.keys[:3] == ("rank", "nature", "objective_ratio")
    assert [row[1] for row in table.rows] == ["is-Incumbent", *["is-AuditedModel"] * 5]
    assert NOTE in table.notes
    for medium in (printed, to_markdown, to_html):
        text = medium(shown)
        assert text.count("is-AuditedModel") >= 5, medium
        assert NOTE in text, medium
    assert "nature" in heads(to_html(shown))


@pytest.mark.usefixtures("added")
def test_the_same_entry_is_in_the_table_of_all_models():
    table = models_section.all_models(audit(models=5))
    assert table.keys[:3] == ("rank", "nature", "objective_ratio")
    assert [over.columns for over in table.over] == [6, 2, 5]
    html = to_html(page(audit(models=5)))
    assert heads(html).count("nature") == 1
    assert html.count("<td>is-AuditedModel") >= 5


@pytest.mark.usefixtures("added")
def test_the_same_entry_is_on_the_page_of_an_exploration_and_on_the_live_page():
    with open_applicants() as exploration:
        exploration.next(2)
        worker, view = Worker.of(exploration), exploration.view
        columns = screen(worker).words.columns
        cells = [row.cells for row in rows(worker, 1, None).models]
    assert [column.key for column in columns][:3] == ["number", "origin", "nature"]
    assert [row["nature"] for row in cells] == ["is-ExploredModel"] * len(view.models)
    for medium in (printed, to_markdown, to_html):
        assert medium(exploration_page(view)).count("is-ExploredModel") == len(view.models), medium


def test_a_cell_of_the_live_page_is_that_of_the_saved_one_or_depends_on_tolerances():
    with open_applicants() as exploration:
        worker, view = Worker.of(exploration), exploration.view
        keys = [column.key for column in screen(worker).words.columns]
        table = exploration_page(view).sections[0].blocks[-1]
        [row] = rows(worker, 1, 1).models
    assert tuple(keys) == table.keys
    assert set(keys) - row.cells.keys() == {"gap", "candidate"}
    assert row.cells.items() <= dict(zip(keys, table.rows[0], strict=True)).items()


def test_columns_make_the_headings_the_cells_and_what_stands_over_them():
    columns = (
        Column("name", "who", str, is_word=True),
        Column("size", "length", lambda name: str(len(name)), note="length: in signs", over=Over("signs", "counted")),
        Column("vowels", "vowels", lambda name: str(len(set(name) & set("aeiou"))), over=Over("signs", "counted")),
    )
    table = Table.of("Names", columns, ["ada", "eve"], marked=1)
    assert (table.headings, table.keys, table.names) == (("who", "length", "vowels"), ("name", "size", "vowels"), 1)
    assert table.rows == (("ada", "3", "1"), ("eve", "3", "1"))
    assert table.over == (Over("", "", 1), Over("signs", "counted", 2))
    assert table.whole_headings == ("who", "length, signs", "vowels, signs")
    assert column_notes(columns) == ("length: in signs",)


def test_keys_are_unique_in_every_table_of_models():
    for table in (models_section.all_models(audit()), models_section.ranked_models(audit(), [1, 2])):
        assert len({*table.keys}) == len(table.keys) == len(table.headings)
