"""The whole story, from the first model to a decision: by mouse, and by keyboard alone."""

import re

from support.screens import act, current, models, press, settled, show, state, steps

from fairenum.api import AuditResult

WHY = "smallest gap within the tolerances"


def test_by_mouse(visit, tmp_path):
    found = visit()
    page = found.page(found.server.address)
    assert (models(page), current(page), steps(page)) == (1, 1, [])
    assert "sealed" in page.locator(".subject").inner_text()

    act(page, "Next best")
    assert (models(page), current(page)) == (2, 2)
    act(page, "Look for fairer")
    chosen = state(page)["view"]["standpoint"]["chosen"]
    assert (models(page), current(page)) == (len(state(page)["numbers"]), chosen)
    assert page.locator("h1").inner_text().startswith(f"Model {chosen} ")

    panel = show(page, "Left out")
    panel.get_by_role("button", name=re.compile("^Keep:")).first.click()
    settled(page)
    assert re.match(r"pin \d+ rows?", steps(page)[0])
    act(page, "Undo")
    assert steps(page)[:2] == ["undo", steps(page)[1]]
    assert "taken back" in steps(page)[1]

    page.locator("h1").click()
    page.get_by_label("Performance given up, at most").click(position={"x": 60, "y": 5})
    settled(page)
    assert steps(page)[0] == "other tolerances"

    act(page, "Commit…")
    dialog = page.get_by_role("dialog", name="Decide for a model")
    dialog.get_by_label("Model").fill(str(chosen))
    dialog.get_by_label("Reason").fill(WHY)
    dialog.get_by_label("Author").fill("Ada")
    dialog.get_by_role("button", name="Commit and open the holdout").click()
    settled(page)
    assert not dialog.is_visible()
    assert page.locator("h1").inner_text() == f"Model {chosen} was decided for"
    assert "opened 1 time" in page.locator(".subject").inner_text()

    with found.context.expect_page() as opened:
        page.get_by_role("link", name="Open the report").click()
    report = opened.value
    found.seen.watch(report)
    report.locator("#exploration").wait_for()
    assert WHY in report.locator("#exploration").inner_text()
    document = AuditResult.load(tmp_path / state(page)["saved"]["run"]).document
    assert (document.exploration.number, document.exploration.author) == (chosen, "Ada")


def test_by_keyboard_alone(visit):
    found = visit()
    page = found.page(found.server.address)
    for key in "nnf":
        press(page, key)
    chosen = state(page)["view"]["standpoint"]["chosen"]
    assert current(page) == chosen > 3

    page.keyboard.press("p")
    page.keyboard.press("Home")
    settled(page)
    assert current(page) == 1
    page.keyboard.press("ArrowRight")
    settled(page)
    assert current(page) == 2
    page.keyboard.press("g")
    settled(page)
    assert current(page) == chosen

    page.keyboard.press("2")
    tabbed_to(page, re.compile("^Keep:"))
    press(page, "Enter")
    assert re.match(r"pin \d+ rows?", steps(page)[0])
    press(page, "u")
    assert steps(page)[0] == "undo"

    page.keyboard.press("3")
    page.get_by_role("tabpanel").get_by_text("decides").first.wait_for()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "Person"
    tabbed_to(page, re.compile("^Row of the table$"))
    page.keyboard.type(str(state(page)["focus"]["clusters"][0]["first_rows"][0]))
    press(page, "Enter")
    assert re.search(r"models decide|models out of|All \d+ models", page.get_by_role("tabpanel").inner_text())

    page.keyboard.press("Escape")
    page.locator("h1").evaluate("document.activeElement.blur()")
    page.keyboard.press("c")
    page.keyboard.type(WHY)
    page.keyboard.press("Tab")
    page.keyboard.type("Ada")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    press(page, "Enter")
    assert page.locator("h1").inner_text() == f"Model {chosen} was decided for"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "The decision"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "/report"


def tabbed_to(page, name: re.Pattern, most: int = 30) -> None:
    """Go on with Tab until a control is reached; every stop on the way is visible."""
    for _ in range(most):
        page.keyboard.press("Tab")
        reached, style = page.evaluate(
            """() => { const node = document.activeElement;
            const label = node.getAttribute("aria-label") ?? node.labels?.[0]?.textContent ?? node.textContent;
            return [label, getComputedStyle(node).outlineStyle]; }"""
        )
        assert style != "none"
        if name.search(reached):
            return
    raise AssertionError(f"no Tab leads to {name.pattern}")
