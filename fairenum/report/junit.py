"""The rules as JUnit test cases, which CI systems show beside the other tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from fairenum.rendering.page import Page, Table
from fairenum.report.rules import Judgement, RuleOutcome

ELEMENTS = {RuleOutcome.VIOLATED: "failure", RuleOutcome.OPEN: "error"}


def to_junit(page: Page, judgements: Sequence[Judgement], *, is_partial: bool) -> str:
    """Write an audit and its rules as a test suite: a violated rule fails, an open one is an error.

    Parameters
    ----------
    page
        Of the audit, in whose words it is told.
    judgements
        What became of the rules.
    is_partial
        Whether the run was interrupted, which is an error, too.
    """
    outcomes = [judgement.outcome for judgement in judgements]
    suite = ElementTree.Element(
        "testsuite",
        name=f"fairenum audit {page.name}",
        tests=str(len(outcomes) + 1),
        failures=str(outcomes.count(RuleOutcome.VIOLATED)),
        errors=str(outcomes.count(RuleOutcome.OPEN) + is_partial),
    )
    _add_audit(suite, page, is_partial=is_partial)
    for judgement in judgements:
        _add_rule(suite, page, judgement)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _add_audit(suite: ElementTree.Element, page: Page, *, is_partial: bool) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=f"fairenum.{page.name}", name="audit")
    if is_partial:
        ElementTree.SubElement(case, "error", type="interrupted", message=page.headline)
    warnings = (f"warning: {one}" for one in page.warnings)
    text = "\n".join([page.subject, page.headline, *_lines(page), *page.findings, *warnings])
    ElementTree.SubElement(case, "system-out").text = text


def _lines(page: Page) -> Iterator[str]:
    """Write what stands behind the verdict, line by line: every gap, and every guardrail."""
    tables = [page.strip.table] if page.strip else []
    tables += [
        block for one in page.sections if one.anchor == "guards" for block in one.blocks if isinstance(block, Table)
    ]
    yield from (" | ".join(row) for table in tables for row in (table.headings, *table.rows))


def _add_rule(suite: ElementTree.Element, page: Page, judgement: Judgement) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=f"fairenum.{page.name}", name=str(judgement.rule))
    if element := ELEMENTS.get(judgement.outcome):
        ElementTree.SubElement(case, element, type=judgement.outcome.value, message=judgement.reason)
