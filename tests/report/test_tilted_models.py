"""A run with tilted models, one of them selected, in every medium."""

import io
import json
import re

import pytest
from rich.console import Console
from support.documents import tilted

from fairenum import AuditResult
from fairenum.document.files import parse, to_json
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.render.terminal import print_page
from fairenum.report import page
from fairenum.report.audit_report import PROFILES

DOCUMENT = tilted()


def test_the_document_is_read_as_it_was_written():
    assert parse(to_json(DOCUMENT).encode(), "run.json") == DOCUMENT


def printed(brief: bool) -> str:
    file = io.StringIO()
    print_page(page(DOCUMENT, brief=brief), Console(file=file, width=80))
    return file.getvalue()


@pytest.mark.parametrize("brief", [True, False])
def test_it_is_printed_without_an_objective(brief):
    for text in (printed(brief), to_markdown(page(DOCUMENT, brief=brief))):
        assert "None" not in text.split()
        assert "nan" not in text.lower().split()
    row = next(line for line in printed(True).splitlines() if line.strip().startswith("*11"))
    assert row.split()[1:3] == ["+2.0", "%"]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_page_marks_them_and_knows_their_loss(profile):
    html = to_html(page(DOCUMENT, profile=profile))
    rows = re.findall(r'<tr id="model-(\d+)" class="([^"]*)" data-loss="([^"]*)"', html)
    found = {int(rank): float(loss) for rank, marks, loss in rows if "tilted" in marks.split()}
    assert found == pytest.approx({10: 0.01, 11: 0.02, 12: 0.03})
    assert html.count('<span class="tag">tilted</span>') == 3
    assert "tilted towards parity" in html
    assert "3 tilted models" in html


def test_the_copy_in_the_page_is_json_with_null_for_what_there_is_not():
    html = to_html(page(DOCUMENT))
    carried = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S).group(1))
    fields = carried["models"]["fields"]
    last = dict(zip(fields, carried["models"]["rows"][-1], strict=True))
    assert (last["objective_ratio"], last["loss_ratio"], last["origin"]) == (None, 0.03, "tilted")


def test_frames_have_their_price():
    frame = AuditResult(DOCUMENT).to_frame()
    assert frame["tilt_price"].dropna().to_dict() == {10: 15.0, 11: 16.5, 12: 18.0}
    assert frame["objective"].isna().tolist() == [False] * 9 + [True] * 3
