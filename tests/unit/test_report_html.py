"""The page as text: what it says, how large it is, how long it takes, and what it may load."""

import base64
import hashlib
import json
import re
import time

import pytest
from documents import audit_document, spread_document

from fairenum.report.html import to_html
from fairenum.report.rules import parse_rules
from fairenum.report.view import view

LARGEST = 250_000


def data(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="audit">(.*?)</script>', html, re.S).group(1))


def test_the_same_document_gives_the_same_bytes_whatever_its_timings():
    document = audit_document()
    assert to_html(document) == to_html(json.loads(json.dumps(document)))
    assert to_html({**document, "timings": {"enumeration": 9.9}}) == to_html(document)


def test_200_models_stay_small_and_are_rendered_in_less_than_a_second():
    document = spread_document(models=200)
    to_html(audit_document())  # templates are compiled once
    started = time.process_time()
    html = to_html(document)
    assert time.process_time() - started < 1.0
    assert len(html.encode()) < LARGEST
    assert html.count('<tr id="model-') == 200


def test_the_page_says_what_the_other_reports_say():
    document, rules = audit_document(small=True), parse_rules(["accuracy>=0.9"])
    html, shown = to_html(document, rules=rules), view(document, rules=rules)
    for text in (shown.subject, shown.headline, *shown.findings, *shown.warnings, shown.judgements[0].reason):
        assert text in html
    for row in shown.comparison.rows:
        assert all(cell in html for cell in row)


def test_the_policy_allows_this_style_and_this_script_and_nothing_else():
    html = to_html(audit_document())
    policy = re.search(r'Security-Policy" content="([^"]*)"', html).group(1).replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not re.search(r'(src|href)="(?!#)|url\(|@import|style="', html)


def test_a_small_run_is_carried_whole():
    document = audit_document(models=3)
    assert data(to_html(document)) == {**document, "timings": {}}


def test_a_large_run_is_carried_reduced_and_says_so():
    document = spread_document(models=60)
    html = to_html(document)
    found = data(html)
    assert "Reduced to what this page shows" in html
    assert found["reduced"].startswith("Reduced")
    assert found["selection"] == document["selection"]
    names = found["models"]["fields"]
    for model, row in zip(document["models"], found["models"]["rows"], strict=True):
        values = dict(zip(names, row, strict=True))
        gap = model["scores"]["holdout"]["demographic_parity_difference"]
        assert (values["rank"], values["gap_value"], values["gap_high"]) == (model["rank"], gap["value"], gap["high"])
        assert values["change_low"] == gap["change"]["low"]


@pytest.mark.parametrize(
    "facts",
    [
        {"selected": 1},
        {"selected": None, "small": True},
        {"models": 1, "selected": 1},
        {"status": "interrupted", "verdict": "not fairer"},
    ],
)
def test_every_kind_of_result_has_a_page(facts):
    document = audit_document(**facts)
    html = to_html(document)
    assert view(document).headline in html
    assert html.count("<tr id=") == len(document["models"])


def test_a_run_without_sensitive_columns_has_a_page_without_scatter():
    document = audit_document(selected=1)
    for model in document["models"]:
        for scores in model["scores"].values():
            scores["demographic_parity_difference"].update(value=None, low=None, high=None, change=None, verdict=None)
    document["dataset"]["sensitive"] = []
    document["group_tables"] = []
    document["selection"]["tolerances"]["column"] = None
    html = to_html(document)
    assert "scatter-" not in html.split("<script>")[0].split("</style>")[1]
    assert "No sensitive column was named, so no groups are compared." in html
