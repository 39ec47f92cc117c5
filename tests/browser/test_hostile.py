"""Hostile names, labels and cells are shown as text, and nothing in them runs."""

import pytest
from documents import audit_document

from fairenum.report.html import to_html
from fairenum.report.text import plain

HOSTILE = (
    "<script>window.hacked=1;alert(1)</script>",
    "</script><script>window.hacked=1</script>",
    "\"'><img src=x onerror=window.hacked=1>",
    "--><svg onload=window.hacked=1>",
    "<!--<script>",
    "\u202egnp.exe\u202c",
    '=HYPERLINK("http://example.org","x")',
    "{{ 7*7 }}{% raw %}",
    "javascript:window.hacked=1",
    "x" * 10_000,
    "👩🏽‍🚀 \U0001f1fa\U0001f1f8",
    "]]><b>",
)


def hostile_document(text: str) -> dict:
    document = audit_document(column=text, groups=(text, f"{text}2"), small=True)
    document["dataset"].update(name=text, label=text, favourable=text, dropped=[text])
    document["dataset"]["features"][0]["name"] = text
    document["selection"]["reason"] = text
    document["warnings"] = [{"code": text, "message": text}]
    document["enumeration"]["note"] = text
    document["config"].update(label=text, drop=[text], bands={text: [1.0]})
    document["environment"]["solver"].update(name=text, provider=text)
    document["examples"] = [
        {"row": 7, "rows": [7], "label": text, "groups": {text: {text: 1}}, "values": {text: text, "plain": 1.0}}
    ]
    document["models"][2]["left_out"] = [{"row": 7, "copies": 1, "of": 1, "label": text, "groups": {text: {text: 1}}}]
    document["multiplicity"]["by_column"] = {
        text: [{"group": text, "rows": 3, "flipped": 1, **dict.fromkeys(MEASURES, 0.1)}]
    }
    return document


MEASURES = ("ambiguity", "discrepancy", "disagreement", "viable_range", "capacity")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(show, text):
    html = to_html(hostile_document(text))
    page = show(html)
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, svg:not(.plot), [onerror], [onload]").count() == 0
    assert page.locator("#setting").count() == 1
    words = page.evaluate("document.body.textContent")
    assert "\u202e" not in words.replace(page.locator("#audit").text_content(), "")
    assert page.locator("h1 + .subject").inner_text().startswith(plain(text)[:8].strip())
    assert page.evaluate("JSON.parse(document.getElementById('audit').textContent).dataset.name")[:90] == text[:90]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert len(html) < 250_000
