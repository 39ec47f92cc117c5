"""The grid: rates of every group under the models that are shown side by side, so that reversals can be seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import GapChange, GuardCheck
from fairenum.document.consequences import GroupRates, rates_of, reversals, strip_of
from fairenum.document.metric_registry import BASE_RATE, METRICS, ComparedRate
from fairenum.document.scores import GroupRow
from fairenum.document.table_facts import SensitiveColumn
from fairenum.document.terms import RATES, Verdict
from fairenum.document.value import Estimate
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    TABLE_WIDTH,
    TITLE_WIDTH,
    VERDICTS,
    guarded_measure,
    guarded_value,
    model_cell,
    model_heading,
    model_name,
    reference_name,
    reversal,
)
from fairenum.render.page import Section, Strip, Table
from fairenum.render.svg import Arrow
from fairenum.report.groups_section import foremost, hidden_groups
from fairenum.report.standing import guarded_estimate, judged
from fairenum.runtime.formatting import UNDEFINED, estimate, sentence_list, share, shortened, signed

FEW = "°"
SELECTED_BY = "*: the gap that models are selected by"
STATUS = "broken: all of the interval lies beyond the limit; holds: all of it within; beyond: measured so, not proven"


GRID = "; ".join(["base: share of favourable labels", *(metric.legend for metric in METRICS if metric.legend)])


def gap_name(cell: GapChange) -> str:
    """Name a gap, with the marks that the legend explains."""
    return f"{'*' if cell.is_claim else ''}{GAP_NAMES[cell.metric]}{FEW if cell.is_coarse else ''}"


def legend(document: AuditDocument, cells: Sequence[GapChange]) -> Iterator[str]:
    """Explain the words and limits of the strip."""
    yield f"{SELECTED_BY}; change: {_levels(cells)}, {judged(document)}"
    found = {cell.verdict for cell in cells}
    margin = f"{document.config.same_within:g}"
    words = {
        Verdict.FAIRER: "fairer: the gap is smaller",
        Verdict.LESS_FAIR: "less fair: it is larger",
        Verdict.SAME: f"same: it changes by at most {margin}",
        Verdict.OPEN: "open: these rows do not tell",
    }
    yield "; ".join(text for verdict, text in words.items() if verdict in found) or "nothing can be compared"
    if any(cell.is_coarse for cell in cells):
        yield f"{FEW}: fewer than {document.config.min_group_size} rows of a group stand behind it, so it is left open"


def _levels(cells: Sequence[GapChange]) -> str:
    """State the confidence of limits: of the claim, and of the other gaps, which share the rest."""
    (claim, *_), others = cells, {f"{100 * cell.confidence:.3g}" for cell in cells if not cell.is_claim}
    level = f"{100 * claim.confidence:.3g}"
    if others <= {level}:
        return f"with its {level} % interval"
    return f"its interval has {level} % for the claim, {' or '.join(sorted(others))} % for each other gap"


def first_legend(document: AuditDocument) -> tuple[str, ...]:
    """Explain the strip where no change is shown."""
    return (f"{SELECTED_BY}; with {100 * document.config.confidence:g} % intervals",)


def guards(document: AuditDocument) -> tuple[str, ...]:
    """Say how to read guardrails."""
    change = f"a signed limit is about the change against {reference_name(document)}"
    return f"{change}; the holdout's value has its interval", STATUS


def status(check: GuardCheck) -> str:
    """State the check of a guardrail; one that is only measured to be broken is not proven to be."""
    return "beyond" if check.status == "open" and not check.is_kept else check.status


TONES: Mapping[Verdict | None, str] = {
    Verdict.FAIRER: "tone-1",
    Verdict.LESS_FAIR: "tone-2",
    Verdict.SAME: "tone-6",
    Verdict.OPEN: "tone-0",
    None: "tone-6",
}


def strip(document: AuditDocument) -> Strip | None:
    """Show the change of every gap, or the present gaps where no other model was selected."""
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
        notes=tuple(legend(document, cells)),
    )
    return Strip(table, tuple(map(_arrow, cells)))


def _row(cell: GapChange) -> tuple[str, ...]:
    return (
        gap_name(cell),
        shortened(cell.column, TITLE_WIDTH),
        share(cell.first.value),
        share(cell.selected.value),
        estimate(cell.change, signed),
        VERDICTS[cell.verdict],
    )


def _arrow(cell: GapChange) -> Arrow:
    start, change, end = cell.first.value, cell.change, cell.selected.value
    name = f"{GAP_NAMES[cell.metric]} by {shortened(cell.column, TITLE_WIDTH)}: {share(start)} to {share(end)}"
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
    """Show the gaps of model 1 and of the model in use, the one that models are selected by first."""
    if not document.dataset.sensitive:
        return None
    metric = document.selection.tolerances.metric
    columns = sorted(document.dataset.sensitive, key=lambda column: not column.is_primary)
    gaps = sorted(GAP_NAMES, key=lambda gap: gap != metric)
    shown = [(rank, document.member(rank).scores.holdout.by_column) for rank in document.shortlist]
    rows = tuple(
        (
            f"{'*' if column.is_primary and gap == metric else ''}{GAP_NAMES[gap]}",
            shortened(column.column, TITLE_WIDTH),
            *(estimate(scores[column.column].gap(gap)) for _, scores in shown),
        )
        for column in columns
        for gap in gaps
    )
    whose = sentence_list(model_name(rank) for rank, _ in shown)
    headings = ("gap", "by", *(model_heading(rank) for rank, _ in shown))
    legend = first_legend(document)
    return Strip(Table(f"Every gap of {whose} on the holdout", headings, rows, names=2, marked=0, notes=legend))


def guardrails(document: AuditDocument) -> Iterator[Section]:
    """Show the check of every guardrail, if there are any."""
    if checks := document.selection.guards:
        table = Table(
            title="Guardrails",
            headings=("guardrail", "closest to its limit", "selection split", "holdout", "status"),
            rows=tuple(map(_guard_row, checks)),
            names=2,
            notes=guards(document),
        )
        yield Section.of_table("guards", table)


def _guard_row(check: GuardCheck) -> tuple[str, ...]:
    return (
        shortened(check.guard, TABLE_WIDTH),
        guarded_measure(check.subject),
        guarded_value(check, check.selection),
        guarded_estimate(check),
        status(check),
    )


ARROW = "→"
MOST_IN_CELL = 2  # models that a cell has room for


SHOWN = (BASE_RATE, *RATES.values())


def grid(document: AuditDocument) -> Iterator[Section]:
    """Show all rates with their intervals, for every sensitive column."""
    tables = tuple(_whole(document, column) for column in document.dataset.sensitive)
    if tables:
        yield Section("grid", "Group by group", tables)


def brief_grid(document: AuditDocument) -> Iterator[Section]:
    """Show all rates in 80 columns, without intervals."""
    for place, column in enumerate(document.dataset.sensitive):
        shown = _line_by_line if len(document.shortlist) > MOST_IN_CELL else _compact
        table = shown(document, column)
        notes = table.notes if place else (*table.notes, GRID)
        yield Section.of_table(f"grid-{place + 1}", replace(table, notes=notes))


def _compact(document: AuditDocument, column: SensitiveColumn) -> Table:
    """Show the rates of two models in one cell: 0.51 → 0.75."""
    models = [rates_of(document, rank, column) for rank in document.shortlist]
    rows = tuple(
        (
            *(_name(models[0][code]), str(models[0][code].group.holdout), _digits(models[0][code].rates["base_rate"])),
            *(_moved([model[code].rates[rate] for model in models]) for rate in RATES),
        )
        for code in _places(column)
    )
    headings = ("group", "n", *(rate.short for rate in SHOWN))
    return Table(_title(document, column), headings, rows, notes=tuple(_notes(document, column)))


def _line_by_line(document: AuditDocument, column: SensitiveColumn) -> Table:
    """Show each group in a line for each model, without intervals."""
    models = [(rank, rates_of(document, rank, column)) for rank in document.shortlist]
    rows = tuple(
        (
            *(_name(rates[code]), model_cell(rank), str(rates[code].group.holdout)),
            *(_digits(rates[code].rates[rate.key]) for rate in SHOWN),
        )
        for code in _places(column)
        for rank, rates in models
    )
    headings = ("group", "model", "n", *(rate.short for rate in SHOWN))
    return Table(_title(document, column), headings, rows, names=2, notes=tuple(_notes(document, column)))


def _whole(document: AuditDocument, column: SensitiveColumn) -> Table:
    """Show each group in a line for each model, with intervals."""
    ranks = document.shortlist
    models = [(rank, rates_of(document, rank, column), _limits(document, rank, column)) for rank in ranks]
    rows = tuple(
        (
            *(_name(counted[code]), model_cell(rank), str(counted[code].group.holdout)),
            *(_estimated(counted[code], limits[code] if limits else None, rate) for rate in SHOWN),
        )
        for code in _places(column)
        for rank, counted, limits in models
    )
    headings = ("group", "model", "n", *(rate.name for rate in SHOWN))
    return Table(_title(document, column), headings, rows, names=2, notes=tuple(_notes(document, column)))


def _limits(document: AuditDocument, rank: int, column: SensitiveColumn) -> tuple[GroupRow, ...]:
    """Return the adverse-impact rows of the groups under one model; empty if the document has no such table."""
    tables = (table for table in document.group_tables if (table.rank, table.column) == (rank, column.column))
    return next((table.groups for table in tables), ())


def _estimated(counted: GroupRates, row: GroupRow | None, rate: ComparedRate) -> str:
    """Show a rate with its limits, or its value alone where the run kept no limits."""
    found = Estimate() if row is None else row.of(rate)
    return share(counted.rates[rate.key]) if found.value is None else estimate(found)


def _places(column: SensitiveColumn) -> Sequence[int]:
    return foremost(range(len(column.groups)), [group.holdout for group in column.groups])


def _title(document: AuditDocument, column: SensitiveColumn) -> str:
    models = sentence_list(map(model_name, document.shortlist))
    return f"Rates of {models} on the holdout, by {shortened(column.column, GROUP_WIDTH)}"


def _notes(document: AuditDocument, column: SensitiveColumn) -> Iterator[str]:
    yield from (reversal(found) for found in reversals(document, column.column))
    if column.aside:
        yield "set aside: too few rows, or no value; no part in gaps, search and choice"
    if document.dataset.weights:
        yield "n: rows; rates are weighted"
    yield from hidden_groups(column.groups)


def _name(one: GroupRates) -> str:
    mark = " (small)" if one.group.is_small else ""
    return shortened(one.group.name, GROUP_WIDTH) + (mark if one.group.is_compared else " (set aside)")


def _moved(values: Sequence[float | None]) -> str:
    return f" {ARROW} ".join(map(_digits, values))


def _digits(value: float | None) -> str:
    """Show a rate with as many digits as fit a narrow column."""
    return UNDEFINED if value is None else f"{value:.2f}"
