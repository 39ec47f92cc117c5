"""The plot and the tolerances: marks are at the right place, and sliders act at once."""

import re

import pytest
from support.screens import act, current, models, press, settled, state, steps


def test_a_click_focuses_a_model_and_hovering_names_it(looked):
    page = looked.tab
    rows = rows_of(page)
    number = next(n for n in rows if n not in (1, current(page)))
    box, (x, y) = page.locator("svg.plot").bounding_box(), placed(page, number)
    page.mouse.move(box["x"] + x, box["y"] + y)
    named = page.locator(".tip").inner_text().splitlines()[0]
    assert re.match(rf"Models? .*\b{number}\b", named)
    page.mouse.click(box["x"] + x, box["y"] + y)
    settled(page)
    assert str(current(page)) in re.findall(r"\d+", named)
    page.keyboard.press("1")
    settled(page)
    assert rows[current(page)]["cells"]["loss_ratio"] in page.locator(".facts").inner_text()


def test_marks_stand_where_the_axes_say(looked):
    """The pixels of all marks are one linear function of their values, on which the ticks lie, too."""
    page = looked.tab
    metric = state(page)["view"]["standpoint"]["tolerances"]["metric"]
    ticks = page.evaluate(
        """() => [...document.querySelectorAll(".axes .tick")].map(t => [+t.textContent, +t.getAttribute("x"),
        +t.getAttribute("y"), t.classList[1]])"""
    )
    across = [(value, x) for value, x, _, kind in ticks if kind == "across"]
    upward = [(value, y - 4) for value, _, y, kind in ticks if kind == "upward"]
    for number, row in rows_of(page).items():
        x, y = placed(page, number)
        assert x == pytest.approx(along(across, row["performance"]["value"]), abs=0.2)
        assert y == pytest.approx(along(upward, row["gaps"][metric]["value"]), abs=0.2)


def test_the_region_is_that_of_the_tolerances(looked):
    page = looked.tab
    stand, first = state(page)["view"]["standpoint"], rows_of(page)[1]
    left, top = (float(page.locator(".region").get_attribute(side)) for side in ("x", "y"))
    assert top == pytest.approx(placed(page, 1)[1], abs=0.2)
    assert stand["gap"] == pytest.approx(first["gaps"][stand["tolerances"]["metric"]]["value"])
    assert left < placed(page, 1)[0]
    outside = page.evaluate(
        "[...document.querySelectorAll('.mark.outside')].map(one => one.getAttribute('aria-label'))"
    )
    numbers = {int(re.match(r"model (\d+):", text)[1]) for text in outside}
    assert numbers == set(state(page)["numbers"]) - set(stand["candidates"])


def test_whole_intervals_widen_the_axes(looked):
    page = looked.tab
    ticks = page.locator(".axes .tick")
    before = ticks.all_text_contents()
    act(page, "Whole intervals")
    assert ticks.all_text_contents() != before
    act(page, "Whole intervals")
    assert ticks.all_text_contents() == before


def test_a_slider_tries_out_while_it_is_dragged_and_records_once(used):
    page = used.tab
    slider = page.get_by_label("Performance given up, at most")
    box = slider.bounding_box()
    recorded = state(page)["steps"]
    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] / 2)
    page.mouse.down()
    with page.expect_response("**/preview"):
        page.mouse.move(box["x"] + 1, box["y"] + box["height"] / 2, steps=4)
    page.locator(".readout.trying").wait_for()
    assert state(page)["steps"] == recorded
    within = int(page.locator(".readout").inner_text().split()[0])
    page.mouse.up()
    settled(page)
    stand = state(page)["view"]["standpoint"]
    assert (state(page)["steps"], stand["tolerances"]["max_performance_drop"]) == (recorded + 1, 0.0)
    assert within == len(stand["candidates"])
    assert page.locator(".readout.trying").count() == 0
    press(page, "u")


def test_keys_on_a_slider_are_one_step(used):
    page = used.tab
    recorded = state(page)["steps"]
    page.get_by_label("Training loss above the best, at most").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.locator(".timeline li:first-child", has_text="other tolerances").wait_for()
    settled(page)
    assert state(page)["view"]["standpoint"]["tolerances"]["eps"] == pytest.approx(0.115)
    assert state(page)["steps"] == recorded + 1
    page.keyboard.press("p")
    press(page, "u")


def test_the_limit_of_the_loss_can_be_set(used):
    page = used.tab
    slider = page.get_by_label("Training loss above the best, at most")
    box = slider.bounding_box()
    slider.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    settled(page)
    assert 0.2 < state(page)["view"]["standpoint"]["tolerances"]["eps"] < 0.3
    press(page, "u")


def test_another_gap_is_drawn_and_recorded(used):
    page = used.tab
    page.get_by_label("Gap that is to be small").select_option(label="equal opportunity")
    settled(page)
    assert state(page)["view"]["standpoint"]["tolerances"]["metric"] == "equal_opportunity_difference"
    assert page.locator(".axes .title").last.text_content().startswith("equal opportunity gap")
    assert "equal opportunity" in page.locator(".gaps .claim").inner_text()
    assert steps(page)[0].startswith("other tolerances")


def test_guardrails_can_be_added_and_removed(used):
    page = used.tab
    page.get_by_text("Guardrails", exact=False).first.click()
    page.get_by_label("Add or change").fill("selection_rate=+-0.2")
    act(page, "Add")
    assert state(page)["view"]["standpoint"]["tolerances"]["guards"] == ["selection_rate=+-0.2"]
    page.get_by_role("button", name="Remove selection_rate").click()
    settled(page)
    assert state(page)["view"]["standpoint"]["tolerances"]["guards"] == []


def test_undo_takes_models_from_the_plot(used):
    page = used.tab
    before = models(page)
    act(page, "Next best")
    assert models(page) == before + 1
    act(page, "Undo")
    assert models(page) == before


def rows_of(page) -> dict[int, dict]:
    return {row["number"]: row for row in page.evaluate("fetch('/models').then(a => a.json())")["models"]}


def placed(page, number: int) -> list[float]:
    """The position of a model's mark in the plot."""
    mark = page.locator(f".marks [aria-label^='model {number}:']")
    return [float(part) for part in re.findall(r"[\d.]+", mark.get_attribute("transform"))]


def along(ticks: list[tuple[float, float]], value: float) -> float:
    (low, start), (high, end) = ticks[0], ticks[-1]
    return start + (value - low) / (high - low) * (end - start)
