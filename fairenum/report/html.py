"""The report as one page that needs nothing else: no network, no script to be read, no style but its own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fairenum.report import sections
from fairenum.report.embedded import embedded
from fairenum.report.page import Page
from fairenum.report.rules import Rule
from fairenum.report.svg import draw
from fairenum.report.text import file_name
from fairenum.report.view import view

NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'"
TEMPLATES = PackageLoader("fairenum.report")


def to_html(document: Mapping[str, Any], *, rules: Iterable[Rule] = ()) -> str:
    """Write the report of one run as a page."""
    return render(page(document, rules=rules))


def page(document: Mapping[str, Any], *, rules: Iterable[Rule] = ()) -> Page:
    """Put a document on a page."""
    shown = view(document, rules=rules)
    data, note = embedded(document)
    parts = [
        *([sections.rules(shown.judgements)] if shown.judgements else []),
        sections.models(document),
        sections.choice(document, shown),
        sections.groups(document),
        sections.by_rank(document),
        sections.disagreement(document),
        sections.explained(document),
        sections.setting(document),
    ]
    return Page(
        title=f"Fairness audit of {shown.name}",
        kicker="Fairness audit",
        subject=shown.subject,
        headline=shown.headline,
        is_good_news=shown.is_good_news,
        findings=shown.findings,
        warnings=shown.warnings,
        sections=tuple(parts),
        tiles=tuple(sections.tiles(document)),
        data=data,
        data_name=file_name(document["dataset"]["name"], "json"),
        data_note=note,
    )


def render(shown: Page) -> str:
    """Write a page; the same one always gives the same bytes."""
    style, script = _text("page.css"), _text("page.js")
    policy = f"{NOTHING}; style-src {_hash(style)}; script-src {_hash(script)}"
    template = _environment().get_template("page.html")
    return template.render(page=shown, style=Markup(style), script=Markup(script), policy=policy)


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _text(name: str) -> str:
    """Read a file of the templates as it is."""
    environment = _environment()
    return TEMPLATES.get_source(environment, name)[0]


@cache
def _environment() -> Environment:
    found = Environment(
        loader=TEMPLATES, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters["draw"] = draw
    return found
