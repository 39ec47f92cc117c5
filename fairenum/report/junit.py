"""The rules as JUnit test cases, which CI systems show beside the other tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from fairenum.rendering.page import Page, Table
from fairenum.rendering.text import plain
from fairenum.report.rules import Judgement, RuleOutcome

ELEMENTS = {RuleOutcome.VIOLATED: "failure", RuleOutcome.OPEN: "error"}


def to_junit(page: Page, judgements: Sequence[Judgement], *, is_partial: bool, kind: str = "audit") -> str:
    """Write a run and its rules as a test suite: a violated rule fails, an open one is an error.

    Parameters
    ----------
    page
        Of the run, in whose words it is told.
    judgements
        What became of the rules.
    is_partial
        Whether the run was interrupted, which is an error, too.
    kind
        What the run is.
    """
    outcomes = [judgement.outcome for judgement in judgements]
    suite = ElementTree.Element(
        "testsuite",
        name=plain(f"fairenum {kind} {page.name}"),
        tests=str(len(outcomes) + 1),
        failures=str(outcomes.count(RuleOutcome.VIOLATED)),
        errors=str(outcomes.count(RuleOutcome.OPEN) + is_partial),
    )
    _add_run(suite, page, kind, is_partial=is_partial)
    for judgement in judgements:
        _add_rule(suite, page, judgement)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _add_run(suite: ElementTree.Element, page: Page, kind: str, *, is_partial: bool) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=plain(f"fairenum.{page.name}"), name=kind)
    if is_partial:
        ElementTree.SubElement(case, "error", type="interrupted", message=plain(page.headline))
    warnings = (f"warning: {one}" for one in page.warnings)
    text = "\n".join(map(plain, [page.subject, page.headline, *_lines(page), *page.findings, *warnings]))
    ElementTree.SubElement(case, "system-out").text = text


def _lines(page: Page) -> Iterator[str]:
    """Write what stands behind the verdict, line by line: every gap, and every guardrail."""
    tables = [page.strip.table] if page.strip else []
    tables += [
        block for one in page.sections if one.anchor == "guards" for block in one.blocks if isinstance(block, Table)
    ]
    yield from (" | ".join(row) for table in tables for row in (table.headings, *table.rows))


def _add_rule(suite: ElementTree.Element, page: Page, judgement: Judgement) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=plain(f"fairenum.{page.name}"), name=plain(judgement.rule)
    )
    if element := ELEMENTS.get(judgement.outcome):
        ElementTree.SubElement(case, element, type=judgement.outcome.value, message=plain(judgement.reason))
