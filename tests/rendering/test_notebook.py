"""What a notebook shows: styles of its own, no script, the same words."""

import re

from documents import audit_document, spread_document
from fairenum.audit import AuditResult
from fairenum.report.view import view


def test_a_notebook_shows_the_verdict_without_script_or_styles_for_others():
    document = spread_document()
    html = AuditResult(document)._repr_html_()
    shown = view(document)
    for text in (shown.headline, shown.subject, *shown.findings):
        assert text in html
    assert "<script" not in html
    assert html.count("<svg") == 2
    assert 'href="#' not in html
    assert " id=" not in html
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.S)
    selectors = [part for rule in style.split("}") if "{" in rule for part in rule.split("{")[0].split(",")]
    assert all(selector.strip().startswith(".fairenum-audit") for selector in selectors)


def test_hostile_names_are_text_in_a_notebook():
    document = audit_document(column="</style><script>", groups=("<b>", "\u202e"))
    html = AuditResult(document)._repr_html_()
    assert "<script" not in html
    assert html.count("</style>") == 1
    assert "\u202e" not in html
