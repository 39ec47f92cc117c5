"""A server that disappears, ends or cannot start, and steps that take long or fail: the page says so and continues."""

from support.screens import models, press, settled, state

from fairenum.errors import AnswerRefused, EmptyTable
from fairenum.explore.engine import Engine


def test_a_server_that_is_gone_is_missed_until_it_is_back(visit):
    found = visit(steps=("next",))
    page = found.page(found.server.address)
    found.context.set_offline(True)
    press(page, "n")
    alert = page.get_by_role("alert").filter(has_text="does not answer")
    alert.first.wait_for()
    found.context.set_offline(False)
    press(page, "n")
    assert models(page) == 3
    assert not alert.first.is_visible()
    found.seen.complaints.clear()  # Chromium's own, about a network that is gone


def test_a_server_that_ends_says_so(visit):
    found = visit(steps=("next",))
    page = found.page(found.server.address)
    found.server.server.should_exit = True
    page.locator(".lamp[data-state=ended]").wait_for()
    assert page.get_by_role("alert").first.inner_text()
    found.seen.complaints.clear()  # Chromium's own, about a closed port


def test_a_table_that_cannot_be_explored_is_said(visit):
    def refused(**_options):
        raise EmptyTable("the table has no rows")

    found = visit(refused)
    page = found.context.new_page()
    page.goto(found.server.address)
    page.get_by_role("alert").filter(has_text="the table has no rows").first.wait_for()
    assert page.locator("h1").inner_text() == "The table cannot be explored"


def test_a_step_that_takes_long_is_shown_and_stopped(visit):
    """Progress appears soon, Stop ends the step, and found models stay."""
    found = visit()
    page = found.page(found.server.address)
    other = found.page()
    page.bring_to_front()
    page.keyboard.press("k")
    page.locator(".working progress").wait_for()
    page.locator(".marks .mark >> nth=4").wait_for()
    assert page.get_by_role("button", name="Next best", exact=True).get_attribute("aria-disabled") == "true"
    other.bring_to_front()
    other.get_by_role("button", name="Stop").click()
    settled(page)
    seen = models(page)
    assert 5 <= seen < 1000
    assert not page.locator(".working").is_visible()
    settled(other)
    assert models(other) == seen == len(state(page)["numbers"])
    press(page, "n")
    assert models(page) == seen + 1


def test_a_solver_that_fails_leaves_the_screen_usable(visit, monkeypatch):
    found = visit(steps=("next",))
    found.seen.refusals = 1
    page = found.page(found.server.address)
    with monkeypatch.context() as patched:

        def fails(*_arguments):
            raise AnswerRefused("no answer could be proven")

        patched.setattr(Engine, "_fairer", fails)
        press(page, "f")
    page.get_by_role("alert").filter(has_text="no answer could be proven").wait_for()
    press(page, "n")
    assert models(page) == 3
    assert not page.get_by_role("alert").filter(has_text="no answer").is_visible()
