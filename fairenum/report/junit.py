"""The rules as JUnit test cases, which CI systems show beside the other tests."""

from __future__ import annotations

from xml.etree import ElementTree

from fairenum.report.rules import Judgement, Outcome
from fairenum.report.view import View

ELEMENTS = {Outcome.VIOLATED: "failure", Outcome.OPEN: "error"}


def to_junit(view: View) -> str:
    """Write the audit and its rules as a test suite: a violated rule fails, an open one is an error."""
    outcomes = [judgement.outcome for judgement in view.judgements]
    suite = ElementTree.Element(
        "testsuite",
        name=f"fairenum audit {view.name}",
        tests=str(len(outcomes) + 1),
        failures=str(outcomes.count(Outcome.VIOLATED)),
        errors=str(outcomes.count(Outcome.OPEN) + view.is_partial),
    )
    _add_audit(suite, view)
    for judgement in view.judgements:
        _add_rule(suite, view, judgement)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _add_audit(suite: ElementTree.Element, view: View) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=f"fairenum.{view.name}", name="audit")
    if view.is_partial:
        ElementTree.SubElement(case, "error", type="interrupted", message=view.headline)
    text = "\n".join([view.subject, view.headline, *view.findings, *(f"warning: {one}" for one in view.warnings)])
    ElementTree.SubElement(case, "system-out").text = text


def _add_rule(suite: ElementTree.Element, view: View, judgement: Judgement) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=f"fairenum.{view.name}", name=str(judgement.rule))
    if element := ELEMENTS.get(judgement.outcome):
        ElementTree.SubElement(case, element, type=judgement.outcome.value, message=judgement.reason)
