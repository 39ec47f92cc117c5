"""Reports: a document of any kind becomes a page, which `fairenum.rendering` shows in every medium.

Nothing here needs numpy: a saved run is shown without what computed it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from fairenum.document.attack import AttackDocument
from fairenum.document.audit import AuditDocument
from fairenum.document.bench import BenchDocument
from fairenum.document.kinds import AnyDocument, JudgedDocument
from fairenum.document.measure import MeasureDocument
from fairenum.document.mitigation import MitigationDocument
from fairenum.document.reproduction import ReproductionDocument
from fairenum.rendering.page import Figure, Page, Section
from fairenum.report.attack import attack_page
from fairenum.report.audit import audit_page, brief_page
from fairenum.report.bench import bench_page
from fairenum.report.comparison import compare
from fairenum.report.measure import brief_measure_page, measure_page
from fairenum.report.mitigation import mitigation_page
from fairenum.report.reproduction import reproduction_page
from fairenum.report.rules import Rule
from fairenum.report.wording import cautions, measure_cautions

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
    """Put a document on a page.

    Parameters
    ----------
    document
        Fresh or saved, of any kind.
    rules
        To judge an audit or a measurement by.
    profile
        Whom the page of an audit is arranged for: one of `fairenum.report.audit.PROFILES`; of a measurement, "ll144".
    day
        The date that a profile bears; today's if not given.
    brief
        For a terminal or a pull request: what matters most, without what only a picture can show.
    all_models
        Show every model of an audit on a brief page, not only the best ones and those that matter.
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
        case ReproductionDocument():
            return reproduction_page(document, brief=brief)
        case AttackDocument():
            shown = attack_page(document)
        case BenchDocument():
            shown = bench_page(document)
        case MitigationDocument():
            shown = mitigation_page(document)
    return _without_pictures(shown) if brief else shown


def _without_pictures(page: Page) -> Page:
    """Leave out figures that have no rendition in plain characters."""
    return replace(page, sections=tuple(map(_in_characters, page.sections)))


def _in_characters(section: Section) -> Section:
    return replace(
        section, blocks=tuple(block for block in section.blocks if not isinstance(block, Figure) or block.plain)
    )


def warnings(document: JudgedDocument) -> Iterable[tuple[str, str]]:
    """Say what to beware of, as codes and in words, in the order of the document."""
    if isinstance(document, AuditDocument):
        return zip((one.code for one in document.warnings), cautions.warnings(document), strict=True)
    return zip((one.code for one in document.warnings), measure_cautions.warnings(document), strict=True)
