"""The report as one page that needs nothing else: no network, no script to be read, no style but its own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from fairenum.report import sections
from fairenum.report.embedded import embedded
from fairenum.report.page import Page
from fairenum.report.profiles import PROFILES
from fairenum.report.rules import Rule
from fairenum.report.svg import draw
from fairenum.report.text import file_name
from fairenum.report.view import view

NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'"
LARGEST_PAGE, LEAST_COPY = 245_000, 10_000
# Comments in the template where the copy goes: text cannot hold them, as its < is escaped.
COPY, COPY_NOTE = "<!--copy-->", "<!--copy note-->"
TEMPLATES = PackageLoader("fairenum.report")


def to_html(
    document: Mapping[str, Any],
    *,
    rules: Iterable[Rule] = (),
    profile: str | None = None,
    day: date | None = None,
) -> str:
    """Write the report of one run as a page.

    Parameters
    ----------
    document
        Of an audit, fresh or saved.
    rules
        To judge it by.
    profile
        Whom it is arranged for: one of `PROFILES`.
    day
        The date that a profile bears; today's if not given.
    """
    return render(page(document, rules=rules, profile=profile, day=day))


def page(
    document: Mapping[str, Any], *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None
) -> Page:
    """Put a document on a page."""
    shown, arranged = view(document, rules=rules), PROFILES[profile]
    return Page(
        title=f"Fairness audit of {shown.name}",
        kicker=arranged.kicker,
        notice=arranged.dated(day),
        subject=shown.subject,
        headline=shown.headline,
        findings=shown.findings,
        warnings=shown.warnings,
        sections=tuple(arranged.sections(document, shown)),
        tiles=tuple(sections.tiles(document)),
        copy=partial(embedded, document),
        copy_name=file_name(document["dataset"]["name"], "json"),
    )


def render(shown: Page) -> str:
    """Write a page; the same one always gives the same bytes."""
    style, script = _text("page.css"), _text("page.js")
    policy = f"{NOTHING}; style-src {_hash(style)}; script-src {_hash(script)}"
    template = environment().get_template("page.html")
    html = template.render(page=shown, style=Markup(style), script=Markup(script), policy=policy)
    copy, note = shown.copy(max(LEAST_COPY, LARGEST_PAGE - len(html.encode())))
    return html.replace(COPY, copy).replace(COPY_NOTE, escape(note))


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _text(name: str) -> str:
    """Read a file of the templates as it is."""
    return TEMPLATES.get_source(environment(), name)[0]


@cache
def environment() -> Environment:
    """Open the templates; everything that is put into them is escaped."""
    found = Environment(
        loader=TEMPLATES, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters["draw"] = draw
    return found
