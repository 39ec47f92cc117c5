"""The model in use in tables and figures: row 0 of all that shows several models."""

import pytest
from support.documents import METRIC, audit, chosen, first_in_place, gap, in_use, near, scored

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import Optimism
from fairenum.document.value import Parts
from fairenum.render.html import to_html
from fairenum.render.page import Explorer, Page, Table
from fairenum.report import choice_section, compare, models_section, page
from fairenum.report.evidence_words import TABLES, about_tables
from fairenum.report.models_section import shown_ranks

SELECTED, KEPT, BEST = in_use(audit()), in_use(audit(), kept=True), in_use(audit(), "best")


def block(document: AuditDocument, anchor: str, **options: object) -> Table:
    return block_of(page(document, **options), anchor)


def block_of(shown: Page, anchor: str) -> Table:
    return next(section.blocks[0] for section in shown.sections if section.anchor == anchor)


def test_it_is_the_first_row_of_the_table_of_models():
    document = SELECTED
    assert shown_ranks(document, 6) == [0, 1, 2, 3, 4, 20]
    table = block(document, "models", brief=True)
    first, second, *_ = table.rows
    assert first[:3] == ("in use", "–", "–")
    assert first[-3:] == ("–", "–", "44")
    assert second[0] == "1"
    assert second[-3] != "–"  # its change is against the model in use
    assert second[-1] == "–"
    assert table.rows[table.marked][0] == "*3"
    assert any("against the model in use" in note for note in table.notes)
    assert "not shown: 9 models; `fairenum report RUN --all` shows all" in table.notes
    assert len(block(document, "models", brief=True, all_models=True).rows) == 21


def test_one_that_is_kept_is_marked():
    table = block(KEPT, "models", brief=True)
    assert table.rows[table.marked][0] == "*in use"
    assert "*: the model in use, which is kept" in table.notes
    assert '<b class="tag">in use</b><b class="tag">kept</b>' in to_html(page(KEPT))


def test_against_model_1_it_has_a_verdict_itself():
    table = block(BEST, "models", brief=True)
    assert table.rows[0][-3] != "–"
    assert table.rows[1][-3:] == ("–", "–", "–")
    assert any("against model 1" in note for note in table.notes)


def test_the_explorer_holds_it_apart():
    explorer = block(SELECTED, "models")
    assert isinstance(explorer, Explorer)
    own, first, *_ = explorer.candidates
    assert (own.name, own.drop, own.gap, own.marks) == ("model-0", 0.0, "", ("incumbent",))
    scores = [SELECTED.member(rank).scores.selection for rank in (0, 1)]
    assert first.drop == pytest.approx(scores[0].performance.value - scores[1].performance.value)
    assert float(explorer.least) == pytest.approx(scores[0].gap(METRIC).value)
    assert explorer.table.rows[0][:5] == ("0", "–", "–", "–", "–")
    assert block(BEST, "models").least == ""
    assert block(audit(), "models").least == ""


def test_the_plots_mark_it():
    apart = scored(scored(audit(), 20, **{METRIC: gap(0.3)}), 20, "selection", **{METRIC: gap(0.4)})
    audits = ((in_use(apart), ""), (in_use(apart, kept=True), ", kept"), (first_in_place(in_use(apart)), ""))
    for document, kept in audits:
        plots = models_section.scatters(document)
        keys = {key.text: key.shape for plot in plots for key in plot.key}
        assert keys[f"the model in use (tool){kept}"] == "cross"
        marks = [mark for plot in plots for layer in plot.layers for mark in getattr(layer, "marks", ())]
        assert sum(mark.shape == "cross" for mark in marks) == 2
        assert all("in use" in mark.name for mark in marks if mark.shape == "cross")
    assert {key.text for plot in plots for key in plot.key} >= {"model 1, selected"}


def test_the_strip_goes_from_it_to_the_selected_model():
    strip = page(SELECTED).strip
    assert strip.table.title == "Every gap on the holdout, from the model in use to model 3"
    assert strip.table.headings == ("gap", "by", "in use", "model 3", "change", "verdict")
    kept = page(KEPT).strip.table
    assert kept.title == "Every gap of the model in use and model 1 on the holdout"
    assert kept.headings == ("gap", "by", "in use", "model 1")
    assert page(BEST).strip.table.headings[2] == "model 1"


@pytest.mark.parametrize(("brief", "change"), [(True, ()), (False, ("change",))])
def test_three_models_stand_side_by_side(brief, change):
    document = in_use(scored(audit(), 20, **{"accuracy": near(0.66), "demographic_parity_ratio": near(0.5)}))
    table = block(document, "choice", brief=brief)
    assert table.headings == ("measure", "in use", "model 1", "model 3", *change)
    rows = {name: cells for name, *cells in table.rows}
    assert rows["objective"][:2] == ["–", "1"]
    assert rows["accuracy"][0] == "0.660 [0.620, 0.700]"
    assert rows["impact ratio"][0] == "0.500 [0.460, 0.540]"
    if not brief:
        assert rows["accuracy"][3] == "+0.130"
    assert "in use: these numbers are too good if it was trained on these rows" in table.notes


def test_without_a_choice_two_stand_side_by_side():
    assert block(KEPT, "choice").headings == ("measure", "in use", "model 1")
    assert block(first_in_place(SELECTED), "choice").headings == ("measure", "in use", "model 1", "change")


def test_the_tiles_have_gap_ratio_and_performance_of_all_three():
    names = [tile.label for tile in page(SELECTED).tiles]
    for measure in ("demographic parity gap", "impact ratio", "accuracy"):
        assert [f"{measure}, {whose}" in names for whose in ("in use", "model 1", "model 3")] == [True] * 3
    assert not any("impact" in tile.label for tile in page(audit()).tiles)


def test_groups_are_shown_for_all_three():
    document = SELECTED
    whole, brief = block(document, "grid"), block(document, "grid-1", brief=True)
    assert [row[1] for row in whole.rows] == ["in use", "1", "3"] * 2
    assert [row[1] for row in brief.rows] == ["in use", "1", "3"] * 2
    figure, *tables = next(one.blocks for one in page(document).sections if one.anchor == "groups")
    assert [table.title for table in tables] == ["The model in use", "Model 1", "Model 3"]
    assert [key.text for key in figure.plots[0].key] == ["the model in use", "model 1", "model 3"]
    titles = [one.title for one in page(document, brief=True).sections if one.anchor.startswith("groups-")]
    assert titles == ["Who is selected by the model in use, by age", "Who is selected by model 3, by age"]
    kept = [one.title for one in page(KEPT, brief=True).sections if one.anchor.startswith("groups-")]
    assert kept == ["Who is selected by the model in use, by age"]


def test_a_comparison_shows_it_beside_the_others():
    table = block_of(compare({"with": SELECTED, "without": audit()}), "runs")
    assert table.title == "The model in use, model 1 and the selected model of each run, on its holdout"
    assert [row[:2] for row in table.rows] == [
        *(("with", model) for model in ("in use", "1", "3")),
        *(("without", model) for model in ("1", "3")),
    ]
    assert compare({"kept": KEPT, "same": KEPT}).headline.startswith("All runs end with the same")


def test_the_index_of_tables_says_against_whom():
    assert "its change against the model in use" in about_tables(SELECTED)["scores"]
    assert "its change against model 1" in about_tables(BEST)["scores"]
    assert about_tables(audit())["groups"].endswith("on the holdout, model 1 and the selected model")
    assert list(about_tables(audit())) == list(TABLES)
    assert not any("{" in text for text in about_tables(audit()).values())


def test_the_gain_is_told_against_it():
    changes = Parts(near(-0.05), near(-0.02))
    document = chosen(SELECTED, optimism=Optimism(changes, near(0.03), None), gap_change=changes)
    table = next(one for one in choice_section.chosen(document).blocks if "The gain" in getattr(one, "title", ""))
    assert [row[0] for row in table.rows][1] == "change against the model in use"
