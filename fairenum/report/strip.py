"""The strip: every gap in every sensitive column, from one model to the selected one; and the guardrails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import GapChange, GuardCheck
from fairenum.document.consequences import strip_of
from fairenum.document.terms import Gap, Verdict
from fairenum.rendering.numbers import estimate, share, signed
from fairenum.rendering.page import Section, Strip, Table
from fairenum.rendering.svg import Arrow
from fairenum.rendering.text import sentence_list, shortened
from fairenum.report.wording import (
    GAPS,
    TABLE_WIDTH,
    TITLE_WIDTH,
    VERDICTS,
    model_heading,
    model_name,
    reference_name,
)
from fairenum.report.wording import strip as wording
from fairenum.report.wording.standing import guarded, guarded_estimate, guarded_thing

TONES: Mapping[Verdict | None, str] = {
    Verdict.FAIRER: "tone-1",
    Verdict.LESS_FAIR: "tone-2",
    Verdict.SAME: "tone-6",
    Verdict.OPEN: "tone-0",
    None: "tone-6",
}


def strip(document: AuditDocument) -> Strip | None:
    """Show what the selected model does to every gap, or the gaps that there are where none was selected."""
    cells = strip_of(document)
    if not cells:
        return _unchanged(document)
    table = Table(
        title=f"Every gap on the holdout, from {reference_name(document)} to model {document.selection.rank}",
        headings=(
            *("gap", "by", model_heading(document.reference.rank), f"model {document.selection.rank}"),
            *("change", "verdict"),
        ),
        rows=tuple(map(_row, cells)),
        names=2,
        marked=0 if cells[0].is_claim else None,
        notes=tuple(wording.legend(document, cells)),
    )
    return Strip(table, tuple(map(_arrow, cells)))


def _row(cell: GapChange) -> tuple[str, ...]:
    return (
        wording.gap_name(cell),
        shortened(cell.column, TITLE_WIDTH),
        share(cell.first.value),
        share(cell.selected.value),
        estimate(cell.change, signed),
        VERDICTS[cell.verdict],
    )


def _arrow(cell: GapChange) -> Arrow:
    start, change, end = cell.first.value, cell.change, cell.selected.value
    name = f"{GAPS[cell.metric]} by {shortened(cell.column, TITLE_WIDTH)}: {share(start)} to {share(end)}"
    low, high = (None if start is None or limit is None else start + limit for limit in (change.low, change.high))
    return Arrow(
        start,
        end,
        low,
        high,
        TONES[cell.verdict],
        f"{name}, change {estimate(change, signed)}, {VERDICTS[cell.verdict]}",
        is_doubtful=cell.verdict is Verdict.OPEN,
    )


def _unchanged(document: AuditDocument) -> Strip | None:
    """Show the gaps of model 1, and of the model in use; the one that models are selected by first."""
    if not document.dataset.sensitive:
        return None
    metric = document.selection.tolerances.metric
    columns = sorted(document.dataset.sensitive, key=lambda column: not column.is_primary)
    gaps = sorted(get_args(Gap), key=lambda gap: gap != metric)
    shown = [(rank, document.member(rank).scores.holdout.by_column) for rank in document.shortlist]
    rows = tuple(
        (
            f"{'*' if column.is_primary and gap == metric else ''}{GAPS[gap]}",
            shortened(column.column, TITLE_WIDTH),
            *(estimate(scores[column.column].gap(gap)) for _, scores in shown),
        )
        for column in columns
        for gap in gaps
    )
    whose = sentence_list(model_name(rank) for rank, _ in shown)
    headings = ("gap", "by", *(model_heading(rank) for rank, _ in shown))
    legend = wording.first_legend(document)
    return Strip(Table(f"Every gap of {whose} on the holdout", headings, rows, names=2, marked=0, notes=legend))


def guardrails(document: AuditDocument) -> Iterator[Section]:
    """Show what became of every guardrail, if there were any."""
    if checks := document.selection.guards:
        table = Table(
            title="Guardrails",
            headings=("guardrail", "closest to its limit", "selection split", "holdout", "status"),
            rows=tuple(map(_guard_row, checks)),
            names=2,
            notes=wording.guards(document),
        )
        yield Section.of_table("guards", table)


def _guard_row(check: GuardCheck) -> tuple[str, ...]:
    return (
        shortened(check.guard, TABLE_WIDTH),
        guarded_thing(check),
        guarded(check, check.selection),
        guarded_estimate(check),
        wording.status(check),
    )
