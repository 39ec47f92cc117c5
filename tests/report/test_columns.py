"""A column of a table is one value: a new one is one entry, which every medium shows and scripts find by its key."""

import re
from collections.abc import Iterator

import pytest
from support.documents import audit, in_use, saved
from support.explorations import open_applicants
from support.pages import printed

from fairenum.explore.screen_parts import rows, screen
from fairenum.explore.worker import Worker
from fairenum.render.html import to_html, to_notebook
from fairenum.render.markdown import to_markdown
from fairenum.render.page import Column, Explorer, Page, SpanningHeading, Table
from fairenum.report import models_section, page, paper_page, parity_range_section, research_pages, strip_section
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
    assert table.keys[:3] == ("rank", "nature", "loss_ratio")
    assert [row[1] for row in table.rows] == ["is-Incumbent", *["is-AuditedModel"] * 5]
    assert NOTE in table.notes
    for medium in (printed, to_markdown, to_html, to_notebook):
        text = medium(shown)
        assert text.count("is-AuditedModel") >= 5, medium
        assert NOTE in text, medium
    assert "nature" in heads(to_html(shown))


@pytest.mark.usefixtures("added")
def test_the_same_entry_is_in_the_table_of_all_models():
    table = models_section.all_models(audit(models=5))
    assert table.keys[:3] == ("rank", "nature", "loss_ratio")
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
    for medium in (printed, to_markdown, to_html, to_notebook):
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
    over = SpanningHeading("signs", "counted")
    columns = (
        Column("name", "who", str, is_word=True),
        Column("size", "length", lambda name: str(len(name)), note="length: in signs", over=over),
        Column("vowels", "vowels", lambda name: str(len(set(name) & set("aeiou"))), over=over),
    )
    table = Table.of("Names", columns, ["ada", "eve"], marked=1)
    assert (table.headings, table.keys, table.names) == (("who", "length", "vowels"), ("name", "size", "vowels"), 1)
    assert table.rows == (("ada", "3", "1"), ("eve", "3", "1"))
    assert table.over == (SpanningHeading("", "", 1), SpanningHeading("signs", "counted", 2))
    assert table.whole_headings == ("who", "length, signs", "vowels, signs")
    assert table.notes == ("length: in signs",)


ENTRIES = {  # the columns of a table, and the saved run whose page has it
    (strip_section, "GUARD_COLUMNS"): "compas",
    (parity_range_section, "LEVEL_COLUMNS"): "german",
    (parity_range_section, "GROUP_COLUMNS"): "german",
    (research_pages, "SCALE_COLUMNS"): "bench",
    (research_pages, "METHOD_COLUMNS"): "mitigation",
    (paper_page, "COUNT_COLUMNS"): "paper",
}


@pytest.mark.parametrize(("module", "name"), ENTRIES)
def test_one_entry_adds_a_column_to_any_other_table_in_every_medium(module, name, monkeypatch):
    kind = Column("kind", "kind of row", lambda row: f"is-{type(row).__name__}", note="kind: what the row is made of")
    monkeypatch.setattr(module, name, (*getattr(module, name), kind))
    shown = page(saved(ENTRIES[module, name]))
    for medium in (printed, to_markdown, to_html, to_notebook):
        text = medium(shown)
        assert "kind of row" in text, medium
        assert "is-" in text, medium
        assert "kind: what the row is made of" in text, medium
    assert "kind" in heads(to_html(shown))


def tables(shown: Page) -> Iterator[Table]:
    """All tables of a page."""
    if shown.strip:
        yield shown.strip.table
    yield shown.rules
    for block in (block for section in shown.sections for block in section.blocks):
        if isinstance(block, Table | Explorer):
            yield block.table if isinstance(block, Explorer) else block


@pytest.mark.parametrize("brief", [True, False])
@pytest.mark.parametrize("name", ["compas", "german", "adult", "measured", "bench", "mitigation", "paper"])
def test_keys_are_unique_in_every_table(name, brief):
    for table in tables(page(saved(name), brief=brief)):
        assert len({*table.keys}) == len(table.keys), table.title
        assert len(table.keys) in (0, len(table.headings)), table.title


@pytest.mark.parametrize("name", ["bench", "mitigation", "paper"])
def test_every_table_of_an_experiment_has_keys(name):
    assert all(table.keys for table in tables(page(saved(name))))
