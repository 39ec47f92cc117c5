"""A page in a notebook: styles of its own, no script and no links; all but its top is folded."""

from __future__ import annotations

from fairenum.rendering.html import templates
from fairenum.rendering.page import Page

OPEN = 2  # sections that are not folded


def to_notebook(page: Page) -> str:
    """Write a page as a fragment that a notebook shows below a cell."""
    return templates().get_template("notebook.html").render(page=page, opened=OPEN)
