"""A model card: the selected model, or model 1, for those who are to live with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import GapChange
from fairenum.document.consequences import strip_of
from fairenum.document.models import AuditedModel
from fairenum.document.terms import Gap
from fairenum.rendering.numbers import UNDEFINED, estimate, signed
from fairenum.rendering.page import Block, Facts, Items, Page, Paragraph, Section, Table
from fairenum.rendering.text import file_name, shortened
from fairenum.report import groups
from fairenum.report.embedded import copy_of
from fairenum.report.strip import guardrails
from fairenum.report.wording import (
    GAPS,
    GROUP_WIDTH,
    VALUE_WIDTH,
    VERDICTS,
    audit,
    card,
    cautions,
    measures_of,
    method,
    profiles,
    reference_title,
    short,
    strip,
)
from fairenum.report.wording.headline import headline, is_good_news, proposal_of


def model_card(document: AuditDocument, *, has_file: bool = False) -> Page:
    """Put the selected model on a page, beside the one that it is compared with; model 1 where none was selected.

    Parameters
    ----------
    document
        Of the audit that found it.
    has_file
        Whether the model itself goes with the card.
    """
    model = document.selected or document.first
    return Page(
        title=card.title(document, model),
        name=audit.name(document),
        kicker="Model card",
        subject=audit.subject(document),
        headline=headline(document),
        findings=tuple(audit.findings(document)),
        warnings=cautions.warnings(document),
        sections=tuple(_sections(document, model, has_file=has_file)),
        copy=copy_of(document),
        copy_name=file_name(document.dataset.name, "json"),
        is_good_news=is_good_news(document),
    )


def _sections(document: AuditDocument, model: AuditedModel, *, has_file: bool) -> Iterator[Section]:
    file = (Paragraph(card.FILE),) if has_file else ()
    yield Section("model", "The model", (_model(document, model), *file))
    use, *questions = card.INTENDED_USE
    yield Section("use", "Intended use", (Paragraph(use), Items(tuple(questions))))
    yield Section("data", "Data", tuple(_data(document)))
    yield Section("training", "How it was trained and chosen", (Items(tuple(method.steps(document))),))
    yield Section("performance", "Performance", (Paragraph(card.SCORES), _performance(document, model)))
    yield Section("gaps", "Gaps between groups", tuple(_gaps(document, model)))
    yield from guardrails(document)
    yield Section("groups", "Who is selected", tuple(_groups(document, model)))
    yield Section("limits", "Limits", (Items(tuple(method.limits(document))),))


def _model(document: AuditDocument, model: AuditedModel) -> Facts:
    facts = {
        "kind": card.machine(document),
        **({"compared with": reference_title(document)} if document.incumbent else {}),
        "rank": f"{model.rank}, {card.place(document, model)}",
        "found by": model.origin,
        "left out in training": card.left_out(document, model),
        "support vectors": str(model.support_size),
        "favourable from": f"a decision value of {model.cut:g}",
        "status": proposal_of(document) or document.selection.outcome,
        "solver": short(document.config.machine.solver),
        "fairenum": document.environment.packages.get("fairenum", UNDEFINED),
    }
    return Facts(tuple(facts.items()))


def _data(document: AuditDocument) -> Iterator[Block]:
    table = document.dataset
    yield Facts(
        (
            ("table", shortened(table.name, VALUE_WIDTH)),
            ("fingerprint (sha256)", table.fingerprint),
            ("rows", f"{table.rows}: {card.splits(document)}"),
            ("label", f"{shortened(table.label, GROUP_WIDTH)}: {card.labels(document)}"),
            ("features", card.features(document)),
            *profiles.about_data(document.config),
        )
    )
    if table.sensitive:
        yield Paragraph(card.SENSITIVE_USED if document.config.reading.use_sensitive else card.SENSITIVE)
        yield _group_sizes(document)


def _group_sizes(document: AuditDocument) -> Table:
    rows = tuple(
        (
            shortened(column.column, GROUP_WIDTH),
            shortened(group.name, GROUP_WIDTH),
            *map(str, (group.train, group.selection, group.holdout)),
            "" if group.is_compared else "no",
        )
        for column in document.dataset.sensitive
        for group in groups.foremost(column.groups, [one.holdout for one in column.groups])
    )
    return Table("Groups", ("column", "group", "train", "selection", "holdout", "compared"), rows, names=2)


def _performance(document: AuditDocument, model: AuditedModel) -> Table:
    scores, first = model.scores.holdout, document.reference.scores.holdout
    measures = {name: title for name, title in measures_of(document).items() if name not in GAPS}
    rows = tuple(
        (title, estimate(scores.measure(name)), estimate(first.measure(name))) for name, title in measures.items()
    )
    notes = (f"models were chosen by {card.performance(document)}",)
    return Table("", ("measure", f"model {model.rank}", reference_title(document)), rows, notes=notes)


def _gaps(document: AuditDocument, model: AuditedModel) -> Iterator[Block]:
    """Show every gap of the model with its change against what it is compared with; of that itself there is none."""
    cells = strip_of(document)
    rows = tuple(map(_gap, cells) if cells else _together(document, model))
    if not rows:
        yield Paragraph(audit.NO_GROUPS)
        return
    headings = ("column", "gap", f"model {model.rank}", reference_title(document), "change", "verdict")
    is_together = not cells and document.reference.rank != model.rank
    legend = strip.legend(document, cells) if cells else (card.TOGETHER,) * is_together
    notes = (card.levels(document), *legend)
    yield Table("", headings, rows, names=2, notes=notes)


def _gap(cell: GapChange) -> tuple[str, ...]:
    return (
        *(shortened(cell.column, GROUP_WIDTH), strip.gap_name(cell), estimate(cell.selected), estimate(cell.first)),
        *(estimate(cell.change, signed), VERDICTS[cell.verdict]),
    )


def _together(document: AuditDocument, model: AuditedModel) -> Iterator[tuple[str, ...]]:
    """Show the gaps of model 1 where it was not chosen, with limits that hold for all models together."""
    is_itself = document.reference.rank == model.rank
    for column, scores in model.scores.holdout.by_column.items():
        first = document.reference.scores.holdout.by_column[column]
        for metric in get_args(Gap):
            gap = scores.gap(metric)
            change = UNDEFINED if is_itself or gap.change is None else estimate(gap.change, signed)
            verdict = UNDEFINED if is_itself else VERDICTS[gap.verdict]
            gaps = estimate(gap), estimate(first.gap(metric))
            yield shortened(column, GROUP_WIDTH), GAPS[metric], *gaps, change, verdict


def _groups(document: AuditDocument, model: AuditedModel) -> Iterator[Block]:
    shown = {model.rank, *([0] if document.incumbent else [])}
    tables = [table for table in document.group_tables if table.rank in shown]
    if not tables:
        yield Paragraph(audit.NO_GROUPS)
    yield from map(groups.impact, tables)
