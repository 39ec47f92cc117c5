"""What tests of the live screen do to it, and read off it."""

import re


def settled(page) -> None:
    """Wait until no step is under way, and what came of the last one is shown."""
    page.bring_to_front()  # nothing is drawn behind other tabs
    page.locator(".fairenum-explore:not([data-working])").wait_for()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def press(page, key: str) -> None:
    """Press a key that takes a step, and wait for what comes of it."""
    page.keyboard.press(key)
    settled(page)


def act(page, name: str) -> None:
    """Press a button by mouse, and wait for what comes of it."""
    page.get_by_role("button", name=name, exact=True).first.click()
    settled(page)


def show(page, tab: str):
    """Show a panel."""
    page.get_by_role("tab", name=tab, exact=True).click()
    return page.get_by_role("tabpanel")


def current(page) -> int:
    """The number of the model in focus."""
    return int(page.locator(".marks [aria-selected=true]").get_attribute("aria-label").split(":")[0].split()[1])


def models(page) -> int:
    """How many models the plot has."""
    return page.locator(".marks .mark").count()


def steps(page) -> list[str]:
    """The lines of the record, the newest first."""
    return page.locator(".timeline .what > span:first-child").all_inner_texts()


def state(page) -> dict:
    """What the server says, asked for from within the page."""
    return page.evaluate("fetch('/state').then(answer => answer.json())")


def chosen(page) -> int | None:
    found = re.search(r"[Mm]odel (\d+)", page.locator("h1").inner_text())
    return found and int(found[1])
