"""Conversion of a page to an HTML file, or to an HTML fragment for a notebook."""

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
LARGEST_PAGE, LEAST_COPY = 245_000, 10_000  # bytes
# HTML comments in the template that the embedded data and their note replace. No other text can contain them, as every
# inserted < is escaped.
COPY, COPY_NOTE = "<!--copy-->", "<!--copy note-->"
CARRIED = re.compile(r'<script type="application/json" id="data">([^<]*)</script>')
DECLARED = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
TEMPLATES = PackageLoader("fairenum.render")
OPEN_SECTIONS = 2  # of a page in a notebook; the others are folded


def to_html(page: Page) -> str:
    """Return the text of an HTML file that shows a page; equal pages give equal text."""
    style, script = (TEMPLATES.get_source(templates(), name)[0] for name in ("page.css", "page.js"))
    policy = f"{NOTHING}; style-src {_hash(style)}; script-src {_hash(script)}"
    template = templates().get_template("page.html")
    html = template.render(page=page, style=Markup(style), script=Markup(script), policy=policy)
    copy = page.copy(max(LEAST_COPY, LARGEST_PAGE - len(html.encode())))
    return html.replace(COPY, copy.text).replace(COPY_NOTE, escape(plain(copy.note)))


def carried_copy(html: str) -> str | None:
    """Return the JSON data embedded in an HTML page; None unless the page embeds exactly one such text."""
    found = CARRIED.findall(html)
    return found[0] if len(found) == 1 else None


def policy_of(html: str) -> str:
    """Return the content security policy that an HTML page declares; if none, a policy that allows nothing."""
    found = DECLARED.search(html)
    return unescape(found[1]) if found else NOTHING


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _visible(value: object) -> object:
    """Return a text with control characters, such as direction marks, as visible escapes; other values unchanged."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def templates() -> Environment:
    """Return the Jinja environment of the HTML templates, which escapes every inserted text."""
    environment = Environment(
        loader=TEMPLATES,
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"draw": draw, "draw_arrow": draw_arrow, "unlinked": unlinked}
    return environment


def to_notebook(page: Page) -> str:
    """Return an HTML fragment that shows a page in a notebook: with its own style, without script and links."""
    return templates().get_template("notebook.html").render(page=page, opened=OPEN_SECTIONS)
