"""Model cards: the selected model, or model 1, described for its users."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.choice import GapChange
from fairenum.document.consequences import strip_of
from fairenum.document.models import AuditedModel
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    PERFORMANCES,
    VALUE_WIDTH,
    VERDICTS,
    measures_of,
    reference_title,
    short,
)
from fairenum.render.page import Block, Facts, Items, Page, Paragraph, Section, Table
from fairenum.report import groups_section, method_section, profiles, strip_section
from fairenum.report.audit_report import findings, name, subject
from fairenum.report.embedded_copy import copy_of
from fairenum.report.headline import headline, is_good_news, proposal_of
from fairenum.report.strip_section import guardrails
from fairenum.runtime.formatting import UNDEFINED, counted, estimate, file_name, percent, shortened, signed

INTENDED_USE = (
    "Left to whoever puts the model to use; an audit cannot know it. To be filled in:",
    "for which decisions the model is meant, who decides, and who can have a decision looked at again",
    "whom it must not be used for: people, places or times that the table does not speak of",
    "who watches it in use, how often, and what makes them withdraw it",
)
FILE = (
    "The file model.skops beside this card holds the model with its preprocessing, as a scikit-learn pipeline that "
    "takes rows of the table as they are; skops.io.load reads it, and refuses types that it was not told to trust."
)
SCORES = "On the holdout, which had no part in training or choice; limits in brackets."
TOGETHER = "change, verdict: all models judged together"
SENSITIVE = "The sensitive columns are no features: groups are known to the audit, not to the model."
SENSITIVE_USED = "The sensitive columns are features: the model is told the group of whom it decides about."


def title(document: AuditDocument, model: AuditedModel) -> str:
    """Head the card."""
    return f"Model card: model {model.rank} of {shortened(document.dataset.name, GROUP_WIDTH)}"


def kind(document: AuditDocument) -> str:
    """Name the kind of model."""
    trained = document.config.svm
    gamma = "" if trained.kernel == "linear" else f", gamma = {trained.gamma}"
    return f"support vector machine, {trained.kernel} kernel{gamma}, C = {trained.cost:g}"


def place(document: AuditDocument, model: AuditedModel) -> str:
    """State the model's place among the others."""
    if model.rank == 1:
        return f"the best of {counted(len(document.models), 'listed model')} by its training objective"
    lacking, is_tilted = percent(model.shortfall, 3), model.objective_ratio is None
    price = f"training loss {lacking} above the best" if is_tilted else f"{lacking} of the best objective is lost"
    return f"one of {counted(len(document.models), 'listed model')}; {price}"


def left_out(document: AuditDocument, model: AuditedModel) -> str:
    """Count the training rows that the model leaves out."""
    return f"{model.records_left_out} of {counted(document.dataset.splits.train, 'training row')}"


def performance(document: AuditDocument) -> str:
    """Say what the audit counted as performance."""
    return PERFORMANCES[document.selection.tolerances.measure.name]


def levels(document: AuditDocument) -> str:
    """State the confidence of the limits of each model's gaps."""
    return f"intervals of models have a level of {100 * document.config.confidence:g} %"


def labels(document: AuditDocument) -> str:
    """Count the labels."""
    counts, table = document.dataset.class_counts, document.dataset
    favourable, unfavourable = (shortened(text, GROUP_WIDTH) for text in (table.favourable, table.unfavourable))
    return f"{counts.favourable} {favourable} (favourable), {counts.unfavourable} {unfavourable}"


def splits(document: AuditDocument) -> str:
    """Count the rows of each split."""
    sizes = document.dataset.splits
    return f"{sizes.train} to train, {sizes.selection} to choose by, {sizes.holdout} held out"


def features(document: AuditDocument) -> str:
    """Count the features that models learn from."""
    table = document.dataset
    numbers = sum(one.kind == "numeric" for one in table.features)
    missing = counted(sum(table.missing.values()), "missing cell")
    return f"{numbers} numeric, {len(table.features) - numbers} categorical; {missing}"


def model_card(document: AuditDocument, *, has_file: bool = False) -> Page:
    """Put the selected model beside the reference on a page; model 1 where none was selected.

    `has_file` says whether the model itself comes with the card.
    """
    model = document.selected or document.first
    return Page(
        title=title(document, model),
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
    facts = {
        "kind": kind(document),
        **({"compared with": reference_title(document)} if document.incumbent else {}),
        "rank": f"{model.rank}, {place(document, model)}",
        "found by": model.origin,
        "left out in training": left_out(document, model),
        "support vectors": str(model.support_size),
        "favourable from": f"a decision value of {model.cut:g}",
        "status": proposal_of(document) or document.selection.outcome,
        "solver": short(document.config.svm.solver),
        "fairenum": document.environment.packages.get("fairenum", UNDEFINED),
    }
    return Facts(tuple(facts.items()))


def _data(document: AuditDocument) -> Iterator[Block]:
    table = document.dataset
    yield Facts(
        (
            ("table", shortened(table.name, VALUE_WIDTH)),
            ("fingerprint (sha256)", table.fingerprint),
            ("rows", f"{table.rows}: {splits(document)}"),
            ("label", f"{shortened(table.label, GROUP_WIDTH)}: {labels(document)}"),
            ("features", features(document)),
            *profiles.about_data(document.config),
        )
    )
    if table.sensitive:
        yield Paragraph(SENSITIVE_USED if document.config.reading.use_sensitive else SENSITIVE)
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
        for group in groups_section.foremost(column.groups, [one.holdout for one in column.groups])
    )
    return Table("Groups", ("column", "group", "train", "selection", "holdout", "compared"), rows, names=2)


def _performance(document: AuditDocument, model: AuditedModel) -> Table:
    scores, first = model.scores.holdout, document.reference.scores.holdout
    measures = {key: title for key, title in measures_of(document).items() if key not in GAP_NAMES}
    rows = tuple(
        (title, estimate(scores.measure(key)), estimate(first.measure(key))) for key, title in measures.items()
    )
    notes = (f"models were chosen by {performance(document)}",)
    return Table("", ("measure", f"model {model.rank}", reference_title(document)), rows, notes=notes)


def _gaps(document: AuditDocument, model: AuditedModel) -> Iterator[Block]:
    """Show every gap of the model with its change against the reference; the reference itself has none."""
    cells = strip_of(document)
    rows = tuple(map(_gap, cells) if cells else _together(document, model))
    if not rows:
        yield Paragraph(groups_section.NO_GROUPS)
        return
    headings = ("column", "gap", f"model {model.rank}", reference_title(document), "change", "verdict")
    is_together = not cells and document.reference.rank != model.rank
    legend = strip_section.legend(document, cells) if cells else (TOGETHER,) * is_together
    notes = (levels(document), *legend)
    yield Table("", headings, rows, names=2, notes=notes)


def _gap(cell: GapChange) -> tuple[str, ...]:
    return (
        *(
            shortened(cell.column, GROUP_WIDTH),
            strip_section.gap_name(cell),
            estimate(cell.selected),
            estimate(cell.first),
        ),
        *(estimate(cell.change, signed), VERDICTS[cell.verdict]),
    )


def _together(document: AuditDocument, model: AuditedModel) -> Iterator[tuple[str, ...]]:
    """Show the gaps of a model 1 that was not chosen, with limits that hold for all models together."""
    is_itself = document.reference.rank == model.rank
    for column, scores in model.scores.holdout.by_column.items():
        first = document.reference.scores.holdout.by_column[column]
        for metric in GAP_NAMES:
            gap = scores.gap(metric)
            change = UNDEFINED if is_itself or gap.change is None else estimate(gap.change, signed)
            verdict = UNDEFINED if is_itself else VERDICTS[gap.verdict]
            gaps = estimate(gap), estimate(first.gap(metric))
            yield shortened(column, GROUP_WIDTH), GAP_NAMES[metric], *gaps, change, verdict


def _groups(document: AuditDocument, model: AuditedModel) -> Iterator[Block]:
    shown = {model.rank, *([0] if document.incumbent else [])}
    tables = [table for table in document.group_tables if table.rank in shown]
    if not tables:
        yield Paragraph(groups_section.NO_GROUPS)
    yield from map(groups_section.impact, tables)
