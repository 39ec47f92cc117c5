"""Terminal, Markdown and JUnit show one view, and show hostile names as text."""

import io
from xml.etree import ElementTree

import pytest
from documents import audit_document
from fairenum.report.markdown import escaped, to_markdown
from fairenum.report.terminal import print_report
from fairenum.report.view import View, view
from rich.cells import cell_len
from rich.console import Console

from fairenum.report.junit import to_junit
from fairenum.report.rules import parse_rules

RULES = parse_rules(["accuracy>=0.5", "demographic_parity_difference<=0.1", "demographic_parity_ratio>=0.8"])
HOSTILE = ("[red]bold[/red] \x1b[31m\u202e\r\n| <script>", "x" * 10_000 + "\u0301" * 500)


def printed(shown: View, width: int = 80, **options) -> str:
    file = io.StringIO()
    print_report(shown, Console(file=file, width=width, **options))
    return file.getvalue()


def hostile() -> View:
    document = audit_document(column="[bold]" + "y" * 200, groups=HOSTILE, small=True)
    document["dataset"].update(name="<b>\x07[blink]", label="[link=x]" + "z" * 300, favourable="\u2067")
    document["selection"]["reason"] = "[red]reason\x1b[2J" + "w" * 3000
    document["warnings"] = [{"code": "x", "message": "[/] @all https://example.org \u202e"}]
    return view(document, rules=RULES, files=[("run", "a\x1b[31m[red].json")])


@pytest.mark.parametrize("width", [80, 81, 120])
@pytest.mark.parametrize(
    "facts", [{}, {"selected": 1, "small": True}, {"selected": None}, {"models": 1, "selected": 1}]
)
def test_the_terminal_keeps_its_width_without_blanks_at_the_end(facts, width):
    lines = printed(view(audit_document(**facts), rules=RULES), width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_all_numbers_are_whole_at_80_columns():
    shown = view(audit_document(groups=("a very long name of a group " * 3, "b")), rules=RULES)
    text = printed(shown)
    for table in (shown.models, shown.comparison, *shown.groups):
        for row in table.rows:
            assert all(cell in text for cell in row[table.names :])


def test_the_terminal_shows_every_part_once():
    shown = view(audit_document(small=True), rules=RULES, files=[("run", "a/run.json")])
    text = " ".join(printed(shown).split())
    for part in (shown.subject, shown.headline, *shown.findings, *shown.warnings, "run: a/run.json"):
        assert text.count(" ".join(part.split())) == 1
    for judgement in shown.judgements:
        assert f"{judgement.outcome.value} {judgement.rule}: {judgement.reason}" in text


def test_colour_is_only_added():
    shown = view(audit_document(), rules=RULES)
    coloured = printed(shown, force_terminal=True, color_system="truecolor")
    assert "\x1b[" in coloured
    assert "\x1b[" not in printed(shown)
    assert Console(file=io.StringIO()).render_str(printed(shown), markup=False).plain == printed(shown)


def test_hostile_names_are_text_in_a_terminal():
    text = printed(hostile())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x07" not in text
    assert "[red]bold[/red]" in text.replace("\n", "")
    assert len(text) < 12_000
    assert max(map(cell_len, text.splitlines())) <= 80


def test_a_path_is_never_broken_into_lines():
    path = "folder/" * 30 + "run.json"
    assert f"run: {path}\n" in printed(view(audit_document(), files=[("run", path)]))


def test_hostile_names_are_text_in_markdown():
    text = to_markdown(hostile())
    assert "<script>" not in text
    assert "<b>" not in text
    assert "https://" not in text
    assert "@all" not in text
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in rows} <= {4, 6, 8, 9}
    assert escaped("a|b_c`<d>&") == "a\\|b\\_c\\`&lt;d&gt;&amp;"


def test_markdown_says_what_the_terminal_says():
    shown = view(audit_document(), rules=RULES, files=[("run", "run.json")])
    text = to_markdown(shown)
    assert text.startswith("## Fairness audit of loans\n")
    assert f"**{escaped(shown.headline)}**" in text
    for table in (shown.models, shown.comparison, *shown.groups):
        for row in table.rows:
            for cell in row:
                assert escaped(cell) in text
    assert "| accuracy&gt;=0.5 | holds |" in text
    assert "- run: run.json" in text


def test_junit_tells_a_violated_rule_from_an_open_one():
    suite = ElementTree.fromstring(to_junit(view(audit_document(), rules=RULES)))
    assert suite.attrib == {"name": "fairenum audit loans", "tests": "4", "failures": "1", "errors": "1"}
    audit, holds, violated, opened = suite
    assert "Model 3 is fairer" in audit.findtext("system-out", "")
    assert list(holds) == []
    assert [child.tag for child in violated] == ["failure"]
    assert [(child.tag, child.get("type")) for child in opened] == [("error", "open")]
    assert violated.get("name") == "demographic_parity_difference<=0.1"


def test_junit_is_well_formed_whatever_the_names_are():
    suite = ElementTree.fromstring(to_junit(hostile()))
    assert suite.get("name") == "fairenum audit <b>\\x07[blink]"


def test_junit_of_an_interrupted_run_has_an_error():
    suite = ElementTree.fromstring(to_junit(view(audit_document(status="interrupted"))))
    assert suite.get("errors") == "1"
    assert suite[0][0].get("type") == "interrupted"
