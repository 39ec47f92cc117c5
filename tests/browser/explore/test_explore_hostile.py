"""Hostile names and cells are shown as text on the live screen, and nothing in them runs."""

import numpy as np
import pandas as pd
from support.screens import act, settled, show, state

from fairenum import Exploration

SCRIPT = "<script>window.hacked=1;alert(1)</script>"
IMAGE = "\"'><img src=x onerror=window.hacked=1>"
DRAWING = "--><svg onload=window.hacked=1>"
REORDERED = "\u202egnp.exe\u202c"
TEMPLATE = "{{ 7*7 }}${7*7}javascript:window.hacked=1"


def hostile_table(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    group = rng.choice([IMAGE, DRAWING], n)
    skill = rng.normal(size=n) + 0.7 * (group == IMAGE)
    cell = rng.choice([SCRIPT, REORDERED, TEMPLATE, "x" * 300], n)
    label = np.where(skill + 0.5 * rng.normal(size=n) > 0, SCRIPT, REORDERED)
    return pd.DataFrame({IMAGE: skill, SCRIPT: cell, REORDERED: rng.normal(size=n), DRAWING: group, TEMPLATE: label})


def open_hostile(**options) -> Exploration:
    return Exploration(hostile_table(), TEMPLATE, SCRIPT, DRAWING, replications=50, guards="none", **options)


def test_hostile_names_and_cells_are_text(visit):
    found = visit(open_hostile, steps=("next", "fairer"))
    page = found.page(found.server.address)
    for tab in ("Model", "Left out", "Compare", "Person", "Models"):
        show(page, tab)
        settled(page)
    show(page, "Person").get_by_role("button", name="Fill in values").click()
    page.locator(".values button").click()
    settled(page)
    act(page, "Undo")
    act(page, "Commit…")
    page.get_by_label("Reason").fill(IMAGE)
    page.get_by_label("Author").fill(SCRIPT)
    page.get_by_role("button", name="Commit and open the holdout").click()
    settled(page)
    assert state(page)["view"]["committed"] is not None
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, object, [onerror], [onload]").count() == 0
    words = page.evaluate("document.body.textContent")
    assert "<img src=x" in words
    assert "\u202e" not in words
