"""The panels: examples, two models, a person, all models, the record, and error messages."""

import re
from functools import partial

import pytest
from support.audits import applicants
from support.explorations import open_people
from support.screens import act, current, models, press, settled, show, state, steps

from fairenum import Exploration


def test_rows_are_kept_and_left_out_by_number(used):
    page = used.tab
    panel = show(page, "Left out")
    row = state(page)["focus"]["clusters"][0]["first_rows"][0]
    panel.get_by_label("Row numbers").fill(f"{row}")
    panel.get_by_role("button", name="Leave out", exact=True).click()
    settled(page)
    assert state(page)["view"]["left_out"] == [row]
    assert str(row) in panel.locator(".set").first.inner_text()
    panel.get_by_label("Row numbers").fill(f"{row}")
    panel.get_by_role("button", name="Keep", exact=True).click()
    settled(page)
    assert (state(page)["view"]["left_out"], state(page)["view"]["pinned"]) == ([], [row])
    act(page, "Undo")
    act(page, "Undo")


@pytest.mark.parametrize(("text", "refusals"), [("3-1", 0), ("99999999", 1)])
def test_what_is_no_row_is_said_and_changes_nothing(used, text, refusals):
    page = used.tab
    used.seen.refusals += refusals
    panel = show(page, "Left out")
    panel.get_by_label("Row numbers").fill(text)
    panel.get_by_role("button", name="Leave out", exact=True).click()
    trouble = page.get_by_role("alert").filter(has_text=re.compile("row", re.IGNORECASE))
    trouble.wait_for()
    settled(page)
    assert state(page)["view"]["left_out"] == []
    trouble.get_by_role("button", name="Dismiss").click()
    assert not trouble.is_visible()
    panel.get_by_label("Row numbers").fill("")
    before = models(page)
    act(page, "Next best")
    assert models(page) == before + 1


def test_the_focus_stays_where_a_step_was_taken(used):
    page = used.tab
    press(page, "g")
    show(page, "Left out").get_by_role("button", name=re.compile("^Keep:")).first.focus()
    press(page, "Enter")
    assert page.evaluate("document.querySelector('[role=tabpanel]:not([hidden])').contains(document.activeElement)")
    page.locator(".timeline button.step").focus()
    press(page, "Enter")
    assert steps(page)[0] == "undo"
    assert page.evaluate("document.querySelector('.record').contains(document.activeElement)")


def test_a_decision_without_a_reason_is_refused_in_the_dialog(used):
    page = used.tab
    used.seen.refusals += 1
    act(page, "Commit…")
    dialog = page.get_by_role("dialog", name="Decide for a model")
    dialog.get_by_label("Reason").fill("   ")
    dialog.get_by_label("Author").fill("Ada")
    dialog.get_by_role("button", name="Commit and open the holdout").click()
    page.locator(".dialog-trouble:not(:empty)").wait_for()
    assert state(page)["view"]["committed"] is None
    page.keyboard.press("Escape")
    settled(page)


def test_two_models_side_by_side(looked):
    page = looked.tab
    panel = show(page, "Compare")
    panel.get_by_label("Model", exact=True).fill("1")
    panel.get_by_label("beside model").fill("3")
    with page.expect_response("**/compare?first=1&second=3") as answer:
        panel.get_by_role("button", name="Compare").click()
    settled(page)
    found, text = answer.value.json(), panel.inner_text()
    assert found["words"]["headline"] in text
    for name in ("strip", "groups", "flips", "weights"):
        assert found["words"][name]["title"] in text
    assert found["words"]["weights"]["rows"][0][1] in text


def test_a_row_that_flips_is_asked_about(looked):
    page = looked.tab
    panel = show(page, "Compare")
    panel.get_by_label("Model", exact=True).fill("1")
    panel.get_by_label("beside model").fill(str(state(page)["view"]["standpoint"]["chosen"]))
    panel.get_by_role("button", name="Compare").click()
    settled(page)
    panel.get_by_text("Rows that flip").click()
    chip = panel.locator("button.chip").first
    row = int(chip.inner_text())
    with page.expect_request("**/person") as asked:
        chip.click()
    assert asked.value.post_data_json["row"] == row
    settled(page)
    assert page.get_by_label("Row of the table").input_value() == str(row)
    assert page.locator(".sides dt").count() == 2


def test_a_person_by_values_and_by_paste(looked):
    page = looked.tab
    panel = show(page, "Person")
    panel.get_by_role("button", name="Fill in values").click()
    panel.get_by_label("skill").fill("-9")
    panel.get_by_label("proxy").fill("0.5")
    panel.get_by_label("town").select_option("north")
    panel.get_by_role("button", name="Decide").click()
    settled(page)
    assert panel.locator(".sides").inner_text().startswith("Unfavourable")
    panel.get_by_label("Paste a row").fill("skill,proxy,town,hired\n9,1.5,south,y")
    with page.expect_request("**/person") as asked:
        panel.get_by_role("button", name="Read it").click()
    assert asked.value.post_data_json["values"] == {"skill": 9, "proxy": 1.5, "town": "south"}
    settled(page)
    assert panel.locator(".sides").inner_text().startswith("Favourable")
    assert panel.get_by_label("town").input_value() == "south"
    assert "decide this alike, listed or not" in panel.locator(".settled").inner_text()
    assert panel.locator(".decisions .wash title").text_content().startswith("all near-optimal models: ")
    panel.locator("summary", has_text="The nearest model that decides differently").click()
    assert panel.get_by_role("columnheader", name="nearest").is_visible()


@pytest.mark.parametrize(
    "text", ['{"skill": 1, "proxy": 2, "town": "a, b"}', 'skill: 1\nproxy: 2\ntown: "a, b"', '1\t2\t"a, b"']
)
def test_pasted_text_is_read(looked, text):
    read = "text => import('/static/paste.js').then(it => it.readPerson(text, ['skill', 'proxy', 'town']))"
    found = looked.tab.evaluate(read, text)
    assert {name: str(value) for name, value in found.items()} == {"skill": "1", "proxy": "2", "town": "a, b"}


def test_a_row_that_is_none_is_refused_in_words(looked):
    page = looked.tab
    looked.seen.refusals += 1
    panel = show(page, "Person")
    panel.get_by_label("Row of the table").fill("100000")
    panel.get_by_role("button", name="Show").click()
    page.get_by_role("alert").filter(has_text="no row 100000").wait_for()
    act(page, "Dismiss")


def test_the_table_has_every_model_in_any_order_and_focuses_them(looked):
    page = looked.tab
    panel = show(page, "Models")
    lines = panel.locator("tbody tr")
    shown = "[...document.querySelectorAll('table.models tbody tr')].map(line => +line.dataset.model)"
    rows = {row["number"]: row for row in page.evaluate("fetch('/models').then(a => a.json())")["models"]}
    assert page.evaluate(shown) == sorted(rows, reverse=True)
    metric = state(page)["view"]["standpoint"]["tolerances"]["metric"]
    panel.get_by_label("Models looked at").select_option(label="Smallest gap first")
    assert page.evaluate(shown) == sorted(rows, key=lambda number: (rows[number]["gaps"][metric]["value"], number))
    panel.get_by_label("Models looked at").select_option(label="Best performance first")
    assert page.evaluate(shown) == sorted(rows, key=lambda number: (-rows[number]["performance"]["value"], number))
    second = page.evaluate(shown)[1]
    lines.nth(1).click()
    settled(page)
    assert current(page) == second
    assert lines.nth(1).get_attribute("aria-current") is not None
    yes = panel.locator("tbody td:last-child", has_text="yes").count()
    assert yes == len(state(page)["view"]["standpoint"]["candidates"])


def test_without_a_sensitive_column_there_is_no_plot_and_all_else(visit):
    found = visit(partial(Exploration, applicants(200).drop(columns="sex"), "hired", "y"), steps=("next",))
    page = found.page(found.server.address)
    page.get_by_text("there is no gap to draw").wait_for()
    assert not page.locator("svg.plot").is_visible()
    for tab in ("Left out", "Compare", "Models"):
        show(page, tab)
        settled(page)
    assert page.locator("table.models tbody tr").count() == 2


def test_two_sensitive_columns_and_guardrails_are_shown(visit):
    found = visit(open_people, steps=("next",))
    page = found.page(found.server.address)
    words = state(page)["focus"]["words"]
    assert page.locator(".gaps li").count() == len(words["strip"]["rows"]) > 4
    for row in words["guards"]["rows"]:
        assert row[0] in page.locator(".guards").inner_text()
