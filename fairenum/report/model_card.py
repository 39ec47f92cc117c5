"""Model cards, which describe the selected model, or model 1 if none is selected, for users of the model."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.choice import GapChange
from fairenum.document.consequences import is_nothing_comparable, strip_of
from fairenum.document.models import AuditedModel
from fairenum.document.table_facts import GroupSizes, SensitiveColumn
from fairenum.document.terms import Measure
from fairenum.document.value import Estimate
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    VALUE_WIDTH,
    VERDICTS,
    measures_of,
    performance_of,
    reference_title,
    short,
)
from fairenum.render.page import Block, Column, Facts, Items, Page, Paragraph, Section, Table
from fairenum.report import groups_section, method_section, profiles, strip_section
from fairenum.report.audit_report import findings, name, subject
from fairenum.report.embedded_copy import copy_of
from fairenum.report.headline import answer_of, headline, is_good_news
from fairenum.report.strip_section import guardrails
from fairenum.runtime.formatting import UNDEFINED, counted, estimate, file_name, percent, shortened, signed

INTENDED_USE = (
    "Left to whoever puts the model to use; an audit cannot know it. To be filled in:",
    "for which decisions the model is meant, who decides, and who can have a decision looked at again",
    "whom it must not be used for: people, places or times that are not in the table",
    "who watches it in use, how often, and what makes them withdraw it",
)
FILE = (
    "The file model.skops beside this card holds the model with its preprocessing, as a scikit-learn pipeline that "
    "takes rows of the table as they are; skops.io.load reads it, and refuses types that it was not told to trust."
)
SCORES = "On the holdout, which had no part in training or choice; limits in brackets."
TOGETHER = "change, verdict: all models judged together"
SENSITIVE = "The sensitive columns are no features: groups are known to the audit, not to the model."
SENSITIVE_USED = "The sensitive columns are features: the model knows the group of each person it decides about."


def _rank(document: AuditDocument, model: AuditedModel) -> str:
    listed = counted(len(document.models), "listed model")
    if model.rank == 1:
        return f"1, the best of {listed} by its training loss"
    return f"{model.rank}, one of {listed}; training loss {percent(model.loss_ratio, 3)} above the best"


def model_card(document: AuditDocument, *, has_file: bool = False) -> Page:
    """Return the card of the selected model, or of model 1 if none was selected, compared with the reference.

    The reference is the model in use or model 1. `has_file` says whether a file of the model comes with the card.
    """
    model = document.selected or document.first
    return Page(
        title=f"Model card: model {model.rank} of {shortened(document.dataset.name, GROUP_WIDTH)}",
        name=name(document),
        kicker="Model card",
        subject=subject(document),
        headline=headline(document),
        findings=tuple(findings(document)),
        warnings=caution_texts(document),
        sections=tuple(_sections(document, model, has_file=has_file)),
        copy=copy_of(document),
        copy_name=file_name(document.dataset.name, "json"),
        is_good_news=is_good_news(document),
    )


def _sections(document: AuditDocument, model: AuditedModel, *, has_file: bool) -> Iterator[Section]:
    file = (Paragraph(FILE),) if has_file else ()
    yield Section("model", "The model", (_model(document, model), *file))
    use, *questions = INTENDED_USE
    yield Section("use", "Intended use", (Paragraph(use), Items(tuple(questions))))
    yield Section("data", "Data", tuple(_data(document)))
    yield Section("training", "How it was trained and chosen", (Items(tuple(method_section.steps(document))),))
    yield Section("performance", "Performance", (Paragraph(SCORES), _performance(document, model)))
    yield Section("gaps", "Gaps between groups", tuple(_gaps(document, model)))
    yield from guardrails(document)
    yield Section("groups", "Who is selected", tuple(_groups(document, model)))
    yield Section("limits", "Limits", (Items(tuple(method_section.limits(document))),))


def _model(document: AuditDocument, model: AuditedModel) -> Facts:
    svm = document.config.svm
    gamma = "" if svm.kernel == "linear" else f", gamma = {svm.gamma}"
    facts = {
        "kind": f"support vector machine, {svm.kernel} kernel{gamma}, C = {svm.cost:g}",
        **({"compared with": reference_title(document)} if document.incumbent else {}),
        "rank": _rank(document, model),
        "found by": model.origin,
        "left out in training": f"{model.records_left_out} of {counted(document.dataset.splits.train, 'training row')}",
        "support vectors": str(model.support_size),
        "favourable from": f"a decision value of {model.cut:g}",
        "status": answer_of(document) or _ending(document),
        "solver": short(svm.solver),
        "fairenum": document.environment.packages.get("fairenum", UNDEFINED),
    }
    return Facts(tuple(facts.items()))


def _ending(document: AuditDocument) -> str:
    return "not comparable" if is_nothing_comparable(document) else document.selection.outcome


def _data(document: AuditDocument) -> Iterator[Block]:
    table, sizes, counts = document.dataset, document.dataset.splits, document.dataset.class_counts
    label, favourable, unfavourable = (
        shortened(text, GROUP_WIDTH) for text in (table.label, table.favourable, table.unfavourable)
    )
    numeric = sum(one.kind == "numeric" for one in table.features)
    missing = counted(sum(table.missing.values()), "missing cell")
    facts = {
        "table": shortened(table.name, VALUE_WIDTH),
        "fingerprint (sha256)": table.fingerprint,
        "rows": f"{table.rows}: {sizes.train} to train, {sizes.selection} to choose by, {sizes.holdout} held out",
        "label": f"{label}: {counts.favourable} {favourable} (favourable), {counts.unfavourable} {unfavourable}",
        "features": f"{numeric} numeric, {len(table.features) - numeric} categorical; {missing}",
    }
    yield Facts((*facts.items(), *profiles.about_data(document.config)))
    if table.sensitive:
        yield Paragraph(SENSITIVE_USED if document.config.reading.use_sensitive else SENSITIVE)
        yield _group_sizes(document)


SIZE_COLUMNS: tuple[Column[tuple[SensitiveColumn, GroupSizes]], ...] = (
    Column("column", "column", lambda row: shortened(row[0].column, GROUP_WIDTH), is_word=True),
    Column("group", "group", lambda row: shortened(row[1].name, GROUP_WIDTH), is_word=True),
    Column("train", "train", lambda row: str(row[1].train)),
    Column("selection", "selection", lambda row: str(row[1].selection)),
    Column("holdout", "holdout", lambda row: str(row[1].holdout)),
    Column("is_compared", "compared", lambda row: "" if row[1].is_compared else "no"),
)


def _group_sizes(document: AuditDocument) -> Table:
    rows = (
        (column, group)
        for column in document.dataset.sensitive
        for group in groups_section.foremost(column.groups, [one.holdout for one in column.groups])
    )
    return Table.of("Groups", SIZE_COLUMNS, rows)


def _performance(document: AuditDocument, model: AuditedModel) -> Table:
    scores, first = model.scores.holdout, document.reference.scores.holdout
    measures = ((key, title) for key, title in measures_of(document).items() if key not in GAP_NAMES)
    columns: tuple[Column[tuple[Measure, str]], ...] = (
        Column("measure", "measure", lambda row: row[1], is_word=True),
        Column("model", f"model {model.rank}", lambda row: estimate(scores.measure(row[0]))),
        Column("reference", reference_title(document), lambda row: estimate(first.measure(row[0]))),
    )
    return Table.of("", columns, measures, notes=(f"models were chosen by {performance_of(document)}",))


def _gaps(document: AuditDocument, model: AuditedModel) -> Iterator[Block]:
    """Yield the table of every gap of the model and its change against the reference; a text if there are no groups."""
    cells = strip_of(document)
    rows = cells or tuple(_together(document, model))
    if not rows:
        yield Paragraph(groups_section.NO_GROUPS)
        return
    columns: tuple[Column[GapChange], ...] = (
        Column("column", "column", lambda cell: strip_section.compared_by(cell, cells), is_word=True),
        Column("gap", "gap", strip_section.gap_name, is_word=True),
        Column("model", f"model {model.rank}", lambda cell: estimate(cell.selected)),
        Column("reference", reference_title(document), lambda cell: estimate(cell.first)),
        Column("change", "change", lambda cell: estimate(cell.change, signed)),
        Column("verdict", "verdict", lambda cell: VERDICTS[cell.verdict]),
    )
    is_together = not cells and document.reference.rank != model.rank
    legend = strip_section.legend(document, cells) if cells else (TOGETHER,) * is_together
    level = f"intervals of models have a level of {100 * document.config.confidence:g} %"
    yield Table.of("", columns, rows, notes=(level, *legend))


def _together(document: AuditDocument, model: AuditedModel) -> Iterator[GapChange]:
    """Yield each gap's change from the reference to a model, with limits that hold for all models together.

    For the reference itself the changes are empty.
    """
    is_itself = document.reference.rank == model.rank
    for column, scores in model.scores.holdout.by_column.items():
        first = document.reference.scores.holdout.by_column[column]
        for metric in GAP_NAMES:
            gap = scores.gap(metric)
            yield GapChange(
                column=column,
                metric=metric,
                is_claim=False,
                first=first.gap(metric),
                selected=gap,
                change=Estimate() if is_itself or gap.change is None else gap.change,
                confidence=document.config.confidence,
                verdict=None if is_itself else gap.verdict,
            )


def _groups(document: AuditDocument, model: AuditedModel) -> Iterator[Block]:
    shown = {model.rank, *([0] if document.incumbent else [])}
    tables = [table for table in document.group_tables if table.rank in shown]
    if not tables:
        yield Paragraph(groups_section.NO_GROUPS)
    yield from map(groups_section.impact, tables)
