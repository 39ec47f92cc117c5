"""Every saved run in every medium, without what computed it, and with hostile names in it."""

import io
import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console
from support.documents import RUNS, audit, full, saved
from support.saved_runs import REPORTS

from fairenum.document.files import parse, to_json
from fairenum.render.html import to_html, to_notebook
from fairenum.render.markdown import to_markdown
from fairenum.render.svg import standalone
from fairenum.render.terminal import print_page
from fairenum.report import page
from fairenum.report.rules import judge, parse_rules, to_junit

HEAVY = ("numpy", "pandas", "scipy", "sklearn", "fairlearn")
RULES = parse_rules(["accuracy>=0.5", "demographic_parity_difference<=0.1"])
HOSTILE = (
    "<script>alert(1)</script>",
    "</script></style><b>",
    "[red]bold[/red] \x1b[31m\u202e\r\n| @all https://example.org",
    "x" * 10_000 + "\u0301" * 500,
    "\u2067\ud83d",
    "{{ 7*7 }}{% raw %}",
)


def printed(shown, width: int = 80) -> str:
    file = io.StringIO()
    print_page(shown, Console(file=file, width=width))
    return file.getvalue()


def pictures(shown) -> int:
    arrows = len(shown.strip.arrows) if shown.strip else 0
    return arrows + sum(len(figure.plots) for figure in shown.figures)


@pytest.mark.parametrize("brief", [True, False])
@pytest.mark.parametrize("name", RUNS)
def test_every_run_is_a_page_in_every_medium(name, brief):
    shown = page(saved(name), brief=brief)
    html, notebook, text, markdown = to_html(shown), to_notebook(shown), printed(shown), to_markdown(shown)
    assert len(html.encode()) < 250_000
    assert max(map(cell_len, text.splitlines())) <= 80
    for section in shown.sections:
        assert f'id="{section.anchor}"' in html
        assert section.title in " ".join(text.split())
    assert html.count("<svg") == notebook.count("<svg") == pictures(shown)
    assert markdown.startswith(f"# {shown.title}\n")
    assert "None" not in text.split()
    assert "None" not in markdown.split()


def test_pages_need_nothing_that_computes():
    program = f"""
import io, pathlib, sys
from rich.console import Console
from fairenum.document.files import load
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.render.html import to_notebook
from fairenum.render.terminal import print_page
from fairenum.report import compare, page
from fairenum.report.paper_page import rendered
runs = {{path.stem: load(path) for path in pathlib.Path({str(REPORTS)!r}).glob("*.json")}}
for run in runs.values():
    for brief in (True, False):
        shown = page(run, brief=brief)
        to_html(shown), to_markdown(shown), to_notebook(shown), print_page(shown, Console(file=io.StringIO()))
to_html(compare({{name: runs[name] for name in ("german", "compas")}}))
rendered(runs["paper"])
print(len(runs), *(name for name in {HEAVY!r} if name in sys.modules))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [str(len(RUNS))]


def poisoned(document, text: str):
    """Put a text wherever a document holds a name from outside."""
    names = {
        "german",
        "age",
        "> 25",
        "<= 25",
        "credit",
        "good",
        "bad",
        "compas",
        "African_American",
        "Two_yr_Recidivism",
    }
    names |= {
        "path",
        "fairenum",
        "paper",
        "greedy_parity",
        "reweighing",
        "existing_credits",
        "A101",
        "libsvm",
    }

    def replaced(value: object) -> object:
        match value:
            case str():
                return f"{value}{text}" if value in names else value
            case dict():
                return {str(replaced(name)): replaced(part) for name, part in value.items()}
            case list():
                return [replaced(part) for part in value]
        return value

    content = msgspec.json.decode(to_json(document))
    safe = json.dumps(replaced(content)).encode()
    return parse(safe, "poisoned")


def poisoned_run(name: str, text: str):
    if name == "audit":
        return poisoned(full(), text)
    return poisoned(saved(name), text)


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\ud83d" not in text])
@pytest.mark.parametrize("name", ["audit", "defences", "bench", "mitigation"])
def test_hostile_names_are_text_everywhere(name, text):
    document = poisoned_run(name, text)
    rules = RULES if name == "audit" else ()
    for brief in (True, False):
        shown = page(document, rules=rules, brief=brief)
        for html in (to_html(shown), to_notebook(shown)):
            outside = html.split('id="data">')[0] if 'id="data">' in html else html
            assert "<script>alert" not in html
            assert html.count("</style>") == 1
            assert html.count("</script>") in (0, 2)
            assert not set("\x1b\u202e\u2067") & set(outside)
            assert len(html.encode()) < 250_000
        plain, markdown = printed(shown), to_markdown(shown)
        for written in (plain, markdown):
            assert not set("\x1b\u202e\u2067\r") & set(written)
        assert max(map(cell_len, plain.splitlines())) <= 80
        unfenced = re.sub(r"^```text\n.*?^```$", "", markdown, flags=re.S | re.M)
        for markup in ("<script", "</", "https://", "@all", "[red]"):
            assert markup not in unfenced
        for figure in shown.figures:
            for plot in figure.plots:
                ElementTree.fromstring(standalone(plot))


def test_a_lone_surrogate_is_no_failure():
    document = audit()
    document = document.but(dataset=document.dataset.but(name="a\ud800", label="b\udfff"))
    shown = page(document, rules=RULES)
    judgements = [judge(document, rule) for rule in RULES]
    for text in (printed(shown), to_markdown(shown), to_html(shown), to_junit(shown, judgements, is_partial=False)):
        assert "\\ud800" in text
        text.encode()
