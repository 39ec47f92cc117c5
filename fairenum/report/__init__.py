"""Reports: the pages that show documents (saved results) of any kind; `fairenum.render` renders them.

Nothing here needs numpy: a saved run can be shown without the libraries that computed it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from fairenum.document.attack_document import AttackDocument
from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.comparison_document import ComparisonDocument
from fairenum.document.files import AnyDocument
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.research_documents import BenchDocument, MitigationDocument, ReproductionDocument
from fairenum.render.page import Figure, Page, Section
from fairenum.report.attack_report import attack_page
from fairenum.report.audit_report import audit_page, brief_page
from fairenum.report.comparison_page import compare, comparison_page
from fairenum.report.measure_report import brief_measure_page, measure_page
from fairenum.report.paper_page import reproduction_page
from fairenum.report.research_pages import bench_page, mitigation_page
from fairenum.report.rules import Rule

__all__ = ["compare", "page", "warnings"]


def page(
    document: AnyDocument,
    *,
    rules: Iterable[Rule] = (),
    profile: str | None = None,
    day: date | None = None,
    brief: bool = False,
    all_models: bool = False,
) -> Page:
    """Return the page that shows a document.

    `rules` are checked against an audit or a measurement, and shown with the results. `profile` arranges the page for a
    kind of reader: one of `fairenum.report.audit_report.PROFILES` for an audit, "ll144" for a measurement; `day` is the
    date on such a page, by default today. A brief page suits a terminal or a pull request; with `all_models` it shows
    every model of an audit, not only the main ones.
    """
    match document:
        case AuditDocument() if brief:
            return brief_page(document, rules=rules, all_models=all_models)
        case AuditDocument():
            return audit_page(document, rules=rules, profile=profile, day=day)
        case MeasureDocument() if brief:
            return brief_measure_page(document, rules=rules)
        case MeasureDocument():
            return measure_page(document, rules=rules, profile=profile, day=day)
        case ComparisonDocument():
            shown = comparison_page(document, brief=brief)
        case ReproductionDocument():
            return reproduction_page(document, brief=brief)
        case AttackDocument():
            shown = attack_page(document)
        case BenchDocument():
            shown = bench_page(document)
        case MitigationDocument():
            shown = mitigation_page(document)
    return replace(shown, sections=tuple(map(_printable, shown.sections))) if brief else shown


def _printable(section: Section) -> Section:
    """Return a section without the figures that cannot be drawn in plain characters."""
    blocks = (block for block in section.blocks if not isinstance(block, Figure) or block.plain)
    return replace(section, blocks=tuple(blocks))


def warnings(document: JudgedDocument) -> Iterable[tuple[str, str]]:
    """Return the warnings of a document as pairs of a code and a text, in the order of the document."""
    return zip((one.code for one in document.warnings), caution_texts(document), strict=True)
