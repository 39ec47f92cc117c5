"""What axe-core finds on the live screen: nothing serious, light or dark, wide or narrow, in any panel or dialog."""

import pytest
from support.screens import act, press, settled, show

GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing_serious(look, axe, scheme, width):
    page = look(color_scheme=scheme, width=width)
    for tab in ("Model", "Left out", "Compare", "Person", "Models"):
        show(page, tab)
        if tab == "Person":
            page.get_by_label("Row of the table").fill("3")
            page.keyboard.press("Enter")
        settled(page)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.evaluate("document.querySelectorAll('[role=tabpanel]').forEach(one => { one.hidden = false; })")
    assert grave(axe.run(page)) == []
    for opener in ("Keyboard", "Commit…"):
        act(page, opener)
        assert grave(axe.run(page)) == [], opener
        page.keyboard.press("Escape")


def test_axe_finds_nothing_serious_when_something_is_wrong_and_once_decided(screen, axe):
    page = screen("next", color_scheme="dark")
    show(page, "Left out").get_by_label("Row numbers").fill("x")
    act(page, "Leave out")
    page.get_by_role("alert").filter(has_text="Rows").wait_for()
    assert grave(axe.run(page)) == []
    page.keyboard.press("Escape")
    act(page, "Commit…")
    page.get_by_label("Reason").fill("why")
    page.get_by_label("Author").fill("who")
    press(page, "Enter")
    page.get_by_role("link", name="Open the report").wait_for()
    assert grave(axe.run(page)) == []


def grave(results) -> list[tuple[str, list[str]]]:
    return [
        (violation["id"], [node["html"] for node in violation["nodes"]])
        for violation in results.response["violations"]
        if violation["impact"] in GRAVE
    ]
