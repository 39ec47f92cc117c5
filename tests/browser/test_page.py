"""The page in a real browser: selection, sorting, brush, sliders, dark mode, print, and without JavaScript."""

import json
import re

import numpy as np
import pytest
from support.documents import METRIC, in_use, saved, scored

from fairenum.document.audit_document import AuditDocument
from fairenum.document.training import Tolerances
from fairenum.enumeration.fairest import CandidateScores, IncumbentTarget
from fairenum.render.html import to_html
from fairenum.render.page import Column
from fairenum.report import compare, models_section
from fairenum.report import page as report_page


def current(page) -> str:
    return page.evaluate("document.querySelector('#models-table [aria-current]')?.id || ''")


def shown(page) -> list[int]:
    return page.evaluate(
        "[...document.querySelectorAll('#models-table tbody tr')].filter(r => !r.hidden).map(r => +r.id.slice(6))"
    )


def now(page) -> set[str]:
    ranks = "m => (m.dataset.models || m.getAttribute('href').slice(7)).split(' ')"
    return set(page.evaluate(f"[...document.querySelectorAll('.marks a.now')].flatMap({ranks})"))


def test_a_click_on_a_mark_selects_its_row_and_the_other_way_round(show, html):
    page = show(html)
    mark = page.locator("#scatter-holdout .marks a[href='#model-9']")
    mark.click()
    assert current(page) == "model-9"
    assert now(page) == {"9"}
    assert page.url.endswith("#model-9")
    assert page.locator("#readout").inner_text().startswith("Model 9: objective 0.9")
    page.locator("#model-4 td").first.click()
    assert current(page) == "model-4"
    assert "4" in now(page)


def test_a_column_more_moves_no_other(show, document, monkeypatch):
    odd = Column("odd", "odd", lambda model: str(model.rank % 2))
    before = show(to_html(report_page(document)), anchor="#model-9").locator("#readout").inner_text()
    monkeypatch.setattr(models_section, "TRAINED", (odd, *models_section.TRAINED))
    page = show(to_html(report_page(document)), anchor="#model-9")
    assert page.locator("#readout").inner_text() == before
    page.locator(".heads [data-key=odd] button").click()
    assert shown(page)[:3] == [2, 4, 6]


def test_the_keyboard_moves_through_marks_and_rows(show, html):
    page = show(html)
    page.locator("#scatter-selection .marks a[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert current(page) == "model-2"
    page.keyboard.press("ArrowLeft")
    assert current(page) == "model-1"
    page.locator("#model-1 a").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert current(page) == "model-4"
    page.keyboard.press("End")
    assert current(page) == "model-40"
    assert page.evaluate("document.activeElement.closest('tr').id") == "model-40"


def test_tab_stops_at_each_plot_and_the_table_once(show, html):
    page = show(html)
    stops = page.evaluate(
        "[...document.querySelectorAll('.marks a, #models-table a')].filter(a => a.tabIndex === 0).length"
    )
    assert stops == 3


def test_a_link_to_a_model_opens_it(show, html):
    page = show(html, anchor="#model-17")
    assert current(page) == "model-17"
    assert page.locator("#model-17").is_visible()


@pytest.mark.parametrize(("column", "key"), [(1, "objective"), (6, "gap"), (9, "change of gap"), (0, "rank")])
def test_headings_sort_by_numbers_both_ways(show, html, column, key):
    page = show(html)
    heading = page.locator(".heads th").nth(column)
    assert heading.inner_text() == key
    numbers = "[...document.querySelectorAll('#models-table tbody tr')].map(r => parseFloat(r.cells[%d].textContent))"
    for order in ("ascending", "descending"):
        heading.locator("button").click()
        assert heading.get_attribute("aria-sort") == order
        found = [number for number in page.evaluate(numbers % column) if number is not None]
        assert found == sorted(found, reverse=order == "descending")


def test_a_brush_keeps_the_models_under_it(show, html, document):
    page = show(html)
    page.locator("#scatter-selection").scroll_into_view_if_needed()
    area = page.locator("#scatter-selection").bounding_box()
    page.mouse.move(area["x"] + area["width"] * 0.5, area["y"] + 80)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"], area["y"] + area["height"] - 10, steps=5)
    page.mouse.up()
    kept = shown(page)
    assert 0 < len(kept) < 40
    accuracy = [model.scores.selection.accuracy.value for model in document.models]
    others = [rank for rank in range(1, 41) if rank not in kept]
    assert min(accuracy[rank - 1] for rank in kept) > sum(accuracy) / 40 - 0.05
    assert all(page.locator(f".marks a.off[href='#model-{rank}']").count() for rank in others)
    page.keyboard.press("Escape")
    assert len(shown(page)) == 40


@pytest.mark.parametrize(("loss", "drop"), [(100, 100), (60, 100), (100, 40), (35, 20), (0, 0)])
def test_sliders_keep_what_the_tolerances_keep_and_name_whom_selection_would_choose(show, html, document, loss, drop):
    page = show(html)
    candidates, fairest = chosen(document, moved(page, "loss", loss), moved(page, "drop", drop))
    assert shown(page) == candidates
    assert page.locator("#filtered").inner_text() == (
        f"{len(candidates)} of 40 models shown; of these, model {fairest} has the smallest gap on the selection split."
    )


def chosen(document: AuditDocument, eps: float, drop: float) -> tuple[list[int], int]:
    """Choose as a run does: ties go to model 1, else to the more accurate model, else to the lesser loss."""
    first = document.first.scores.selection.accuracy.value
    within = [
        model
        for model in document.models
        if model.loss_ratio <= eps + 1e-12 and model.scores.selection.accuracy.value >= first - drop - 1e-12
    ]

    def price(model) -> tuple[float, bool, float, int]:
        scores = model.scores.selection
        return round(scores.gap(METRIC).value, 12), model.rank != 1, -scores.accuracy.value, model.rank

    return [model.rank for model in within], min(within, key=price).rank


@pytest.mark.parametrize("rank", [3, 20])
def test_sliders_choose_against_the_model_in_use_as_a_run_does(show, document, rank):
    used = in_use(document, scores=document.models[rank - 1].scores)
    page, standing = show(to_html(report_page(used))), stands(used)
    for values in ((100, 100), (60, 100), (100, 40), (35, 20), (0, 0)):
        tolerances = Tolerances(METRIC, *(moved(page, *one) for one in zip(("loss", "drop"), values, strict=True)))
        candidates = [int(place) + 1 for place in np.flatnonzero(standing.candidates(tolerances))]
        assert shown(page) == [0, *candidates]
        fairest = int(standing.fairest(tolerances)) + 1
        found = f"; of these, model {fairest} has the smallest gap on the selection split."
        none = "; none of these has a smaller gap on the selection split than the model in use." if candidates else "."
        text = f"{len(candidates)} of 40 models shown{found if fairest else none}"
        assert page.locator("#filtered").inner_text() == text
    assert (fairest == 0) == (rank == 3)  # none is fairer than model 3


def moved(page, name: str, value: int) -> float:
    """Move a slider; return its limit."""
    slider = page.locator(f"#{name}")
    slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", value)
    return value / 100 * float(slider.get_attribute("data-most"))


def stands(document: AuditDocument) -> CandidateScores:
    """The models compared with the model in use."""
    scores = [model.scores.selection for model in document.models]
    own = document.incumbent.scores.selection
    return CandidateScores(
        loss_ratio=np.array([model.loss_ratio for model in document.models]),
        performance=np.array([one.performance.value for one in scores]),
        gap=np.array([one.gap(METRIC).value for one in scores]),
        is_constant=np.zeros(len(scores), dtype=bool),
        target=IncumbentTarget(own.performance.value, own.gap(METRIC).value),
    )


def test_the_model_in_use_is_read_out_and_stays_in_sight(show, document):
    page = show(to_html(report_page(in_use(document))))
    page.locator("#scatter-holdout .marks a[href='#model-0']").click()
    assert current(page) == "model-0"
    assert page.locator("#readout").inner_text().startswith("The model in use: gap 0.")
    moved(page, "drop", 0)
    assert 0 in shown(page)
    page.locator(".heads th button").first.click()
    assert page.evaluate("document.querySelector('#models-table tbody tr').id") == "model-0"


def test_of_equally_fair_models_the_more_accurate_one_is_named(show, document):
    least = document.models[2].scores.selection.gap(METRIC)
    tied = scored(document, 9, "selection", **{METRIC: least})
    accuracy = {rank: tied.models[rank - 1].scores.selection.accuracy.value for rank in (3, 9)}
    better = max(accuracy, key=accuracy.get)
    text = show(to_html(report_page(tied))).locator("#filtered").inner_text()
    assert f"model {better} has the smallest gap" in text
    assert accuracy[3] != accuracy[9]


@pytest.mark.parametrize("system", ["light", "dark"])
def test_dark_mode_follows_the_system_and_the_button(show, html, system):
    page = show(html, color_scheme=system)
    paper = "getComputedStyle(document.body).backgroundColor"
    colours = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}
    other = "dark" if system == "light" else "light"
    assert page.evaluate(paper) == colours[system]
    page.locator("#theme").click()
    assert page.evaluate(paper) == colours[other]
    assert page.locator("#theme").inner_text() == f"{system.capitalize()} colours"


def test_print_shows_every_row_on_white_without_controls(show, html):
    page = show(html, color_scheme="dark")
    page.locator("#theme").click()
    page.locator("#theme").click()
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#controls").is_visible()
    assert not page.locator("nav").is_visible()
    box = page.locator("#models-table").evaluate("t => [t.parentElement.clientHeight, t.offsetHeight]")
    assert box[0] >= box[1]
    pdf = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 2


@pytest.mark.parametrize("script", [True, False])
def test_every_table_and_plot_is_there_without_javascript(show, html, document, script):
    page = show(html, java_script_enabled=script)
    drawn = page.locator("svg.plot:visible").count(), page.locator("#strip svg.arrow:visible").count()
    assert sum(drawn) == html.count("<svg")
    assert drawn[0] > 5
    assert drawn[1] == 4
    folded = page.locator("details table").count()
    assert page.locator("table:visible").count() == html.count("<table") - folded
    assert page.locator("#models-table tbody tr:visible").count() == 40
    assert page.locator("#controls").is_visible() == script
    assert (
        page.locator("h1").inner_text()
        == "Model 3 narrows the demographic parity gap by age (0.175 to 0.150); it is near-optimal and nearly as "
        "accurate (at most 0.01 less); it is proposed."
    )


@pytest.mark.parametrize("width", [420, 1180])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_strip_is_read_on_the_first_screen(show, html, width, scheme):
    page = show(html, width=width, color_scheme=scheme)
    rows = page.locator("#strip tbody tr")
    first = rows.first
    assert first.inner_text().split("\n")[0].startswith("*demographic parity")
    assert first.locator(".verdict").inner_text() == "fairer"
    assert first.bounding_box()["y"] < 800
    for place in range(rows.count()):
        row, arrow = rows.nth(place).bounding_box(), rows.nth(place).locator("svg").bounding_box()
        assert arrow["width"] > 100
        assert row["x"] <= arrow["x"] <= arrow["x"] + arrow["width"] <= width
    shaft, paper = first.locator(".curve").evaluate(
        "line => [getComputedStyle(line).stroke, getComputedStyle(document.body).backgroundColor]"
    )
    assert shaft not in (paper, "none")


def test_the_data_can_be_downloaded_and_is_what_the_page_holds(show, html, tmp_path):
    page = show(html)
    with page.expect_download() as download:
        page.locator("#download").click()
    download.value.save_as(tmp_path / "data.json")
    data = json.loads((tmp_path / "data.json").read_text())
    assert data["dataset"]["name"] == "german"
    assert download.value.suggested_filename == "fairenum-german.json"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_window(show, html, width):
    page = show(html, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


OTHERS = ("defences", "injection", "bench", "mitigation", "paper")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", OTHERS)
def test_pages_of_other_runs_show_everything_within_the_window(show, name, width):
    html = to_html(report_page(saved(name)))
    page = show(html, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("svg.plot:visible").count() == html.count("<svg") > 0
    assert page.locator("section[id]").count() == len(report_page(saved(name)).sections)
    assert page.locator("#download").is_visible()
    tiles = page.locator(".tiles div").evaluate_all("tiles => tiles.filter(t => t.scrollWidth > t.clientWidth).length")
    assert tiles == 0


def test_a_comparison_is_within_the_window(show):
    page = show(to_html(compare({name: saved(name) for name in ("german", "compas")})), width=768)
    assert page.evaluate("document.documentElement.scrollWidth") <= 768
    assert page.locator("svg.plot:visible").count() >= 4
