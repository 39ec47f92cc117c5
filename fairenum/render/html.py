"""A page in a notebook: styles of its own, no script and no links; all but its top is folded."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from html import unescape

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from fairenum.render.page import Page
from fairenum.render.svg import draw, draw_arrow, unlinked
from fairenum.runtime.formatting import plain

NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'"


LARGEST_PAGE, LEAST_COPY = 245_000, 10_000


# Comments in the template where the copy goes: text cannot hold them, as its < is escaped.
COPY, COPY_NOTE = "<!--copy-->", "<!--copy note-->"


CARRIED = re.compile(r'<script type="application/json" id="data">([^<]*)</script>')
DECLARED = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
TEMPLATES = PackageLoader("fairenum.render")


def to_html(page: Page) -> str:
    """Write a page; the same one always gives the same bytes."""
    style, script = _text("page.css"), _text("page.js")
    policy = f"{NOTHING}; style-src {_hash(style)}; script-src {_hash(script)}"
    template = templates().get_template("page.html")
    html = template.render(page=page, style=Markup(style), script=Markup(script), policy=policy)
    copy = page.copy(max(LEAST_COPY, LARGEST_PAGE - len(html.encode())))
    return html.replace(COPY, copy.text).replace(COPY_NOTE, escape(plain(copy.note)))


def carried_copy(html: str) -> str | None:
    """Return the copy that a written page carries; None if it carries none, or more than one."""
    found = CARRIED.findall(html)
    return found[0] if len(found) == 1 else None


def policy_of(html: str) -> str:
    """Return the content security policy of a written page, for a header; one that allows nothing if it states none."""
    found = DECLARED.search(html)
    return unescape(found[1]) if found else NOTHING


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _text(name: str) -> str:
    """Read a file of the templates as it is."""
    return TEMPLATES.get_source(templates(), name)[0]


def _shown(value: object) -> object:
    """Show signs that steer, such as direction marks, which escaping leaves as they are."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def templates() -> Environment:
    """Open the templates; everything that is put into them is escaped."""
    environment = Environment(
        loader=TEMPLATES,
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"draw": draw, "draw_arrow": draw_arrow, "unlinked": unlinked}
    return environment


OPEN = 2  # sections that are not folded


def to_notebook(page: Page) -> str:
    """Write a page as a fragment that a notebook shows below a cell."""
    return templates().get_template("notebook.html").render(page=page, opened=OPEN)
