"""The screen in every tab of a browser, after a reload, and in every window: the same exploration."""

import re

from support.screens import current, models, press, settled, show, state, steps


def test_a_reload_and_a_second_tab_show_the_same(visit):
    found = visit(steps=("next",))
    page = found.page(found.server.address)
    other = found.page()
    page.bring_to_front()
    press(page, "f")
    other.bring_to_front()
    other.locator(f".marks .mark >> nth={models(page) - 1}").wait_for()
    settled(other)
    seen = [(models(tab), current(tab), steps(tab), tab.locator("h1").inner_text()) for tab in (page, other)]
    other.reload()
    other.locator(".facts").wait_for()
    settled(other)
    assert seen[0] == seen[1] == (models(other), current(other), steps(other), other.locator("h1").inner_text())


def test_what_another_tab_did_is_not_undone_unseen(visit):
    found = visit(steps=("next",))
    found.seen.refusals = 1
    page = found.page(found.server.address)
    late = found.page()
    before = state(page)
    late.route("**/state", lambda route: route.fulfill(json=before))  # it gets no news
    press(page, "n")
    late.bring_to_front()
    late.keyboard.press("u")
    late.get_by_role("alert").filter(has_text=re.compile("meanwhile|moved on|somebody")).wait_for()
    assert models(page) == 3


def test_nothing_is_wider_than_the_window(looked):
    page = looked.tab
    for width in (390, 768, 1100):
        page.set_viewport_size({"width": width, "height": 800})
        for tab in ("Model", "Left out", "Compare", "Person", "Models"):
            show(page, tab)
            settled(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1440, "height": 900})
    settled(page)


def test_colours_follow_the_system_until_somebody_chooses(looked):
    page = looked.tab
    colour = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) == "rgb(20, 23, 27)"
    page.get_by_role("button", name="Light colours").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark colours").click()
    assert page.evaluate(colour) == "rgb(20, 23, 27)"
    page.get_by_role("button", name="Light colours").click()
    page.emulate_media(color_scheme="light")


def test_every_module_is_preloaded(looked):
    """A module that is not preloaded would be fetched only when another module needs it."""
    page = looked.tab
    asked = page.evaluate("performance.getEntriesByType('resource').map(one => one.name.split('/').pop())")
    links = page.evaluate("[...document.querySelectorAll('[rel=modulepreload]')].map(one => one.href.split('/').pop())")
    assert sorted(name for name in asked if name.endswith(".js")) == sorted([*links, "explore.js"])


def test_keys_do_nothing_where_text_is_typed_or_when_turned_off(looked):
    page = looked.tab
    before = (state(page)["revision"], models(page))
    show(page, "Left out").get_by_label("Row numbers").focus()
    page.keyboard.type("nfu")
    page.get_by_label("Row numbers").fill("")
    page.get_by_role("button", name="Keyboard").click()
    page.get_by_label("Single keys act").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    settled(page)
    assert (state(page)["revision"], models(page)) == before
    page.get_by_role("button", name="Keyboard").click()
    page.get_by_label("Single keys act").check()
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    assert page.get_by_role("tab", name="Compare").get_attribute("aria-selected") == "true"


def test_the_dialog_keeps_the_focus_and_gives_it_back(looked):
    page = looked.tab
    page.get_by_role("button", name="Commit…").focus()
    page.keyboard.press("Enter")
    inside = "document.querySelector('dialog[open]').contains(document.activeElement)"
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate(f"{inside} || document.activeElement === document.body")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Commit…"
    assert state(page)["view"]["seal"]["opened"] == 0
