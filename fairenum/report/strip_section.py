"""The selected model beside the reference, which it is compared with: changes of gaps, guardrails, rates by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import GapChange, GuardCheck
from fairenum.document.consequences import GroupRates, rates_of, reversals, strip_of, whole_of
from fairenum.document.metric_registry import BASE_RATE, METRICS, ComparedRate
from fairenum.document.scores import GroupRow
from fairenum.document.table_facts import SensitiveColumn
from fairenum.document.terms import GAP_RATES, RATES, Gap, Verdict
from fairenum.document.value import Estimate
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    TABLE_WIDTH,
    TITLE_WIDTH,
    VERDICTS,
    every_group,
    groups_between,
    guarded_measure,
    guarded_value,
    model_cell,
    model_heading,
    model_name,
    reference_name,
    reversal,
    short,
)
from fairenum.render.page import Column, Section, Strip, Table
from fairenum.render.svg import Arrow
from fairenum.report.choice_words import TOGETHER, guarded_estimate, how_judged
from fairenum.report.groups_section import foremost, hidden_groups
from fairenum.runtime.formatting import UNDEFINED, estimate, sentence_list, share, shortened, signed

FEW = "°"
MOST_IN_CELL = 2  # models whose rates fit into one cell
SELECTED_BY = "*: the gap that models are selected by"
CLAIMED = "*: the claim, about the two groups farthest apart on the selection split"
CONTROLLED = "*: the claim, about {control} and the group farthest from it on the selection split"
OTHERS = "other pairs: {control} and each other group"
STATUS = "broken: all of the interval lies beyond the limit; holds: all of it within; beyond: measured so, not proven"
GRID = "; ".join(["base: share of favourable labels", *(metric.legend for metric in METRICS if metric.legend)])


def gap_name(cell: GapChange) -> str:
    """Return a gap's name, with "*" in front if models are selected by it, and "°" after it if a group is too small."""
    return f"{'*' if cell.is_claim else ''}{GAP_NAMES[cell.metric]}{FEW if cell.is_coarse else ''}"


def compared_by(cell: GapChange, cells: Sequence[GapChange]) -> str:
    """Return the sensitive column of a gap and, where the strip has it between two groups, too, which groups it has.

    Two groups have the rate with them if the gap compares several.
    """
    name, pair, rates = shortened(cell.column, TITLE_WIDTH), cell.pair, GAP_RATES[cell.metric]
    if pair is None:
        return f"{name}: {every_group(cell.metric)}" if whole_of(cell, cells) is cell else name
    rate = f" ({RATES[pair.rate].short})" if len(rates) > 1 else ""
    return f"{name}: {short(pair.higher)}, {short(pair.lower)}{rate}"


def legend(document: AuditDocument, cells: Sequence[GapChange]) -> Iterator[str]:
    """Yield notes that explain the verdicts and limits in the table of changed gaps."""
    yield "; ".join([*_marks(document, cells), f"change: {_levels(document, cells)}"])
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


def _marks(document: AuditDocument, cells: Sequence[GapChange]) -> Iterator[str]:
    """Yield what the first row of the strip is about and, if that is a pair of groups, what the rows after it are."""
    (claim, *others), control = cells, document.config.control
    if claim.pair is None:
        yield SELECTED_BY
        return
    is_named = control in (claim.pair.higher, claim.pair.lower)
    yield CONTROLLED.format(control=short(str(control))) if is_named else CLAIMED
    yield f"{every_group(claim.metric)}: the largest difference of any two, by which models are selected"
    if any(cell.pair for cell in others):
        yield OTHERS.format(control=short(str(control) if is_named else claim.pair.higher))


def _levels(document: AuditDocument, cells: Sequence[GapChange]) -> str:
    """Return a phrase on the confidence of the limits in the strip, and on whether they hold for all models together.

    The gap that models are selected by is named first, then the other gaps.
    """
    (claim, *_), limited = cells, [cell for cell in cells if not cell.is_claim and cell.change.low is not None]
    others, level = {_level(cell) for cell in limited}, _level(claim)
    judged, is_joint = how_judged(document), any(cell.is_joint for cell in limited)
    if others <= {level} and not is_joint:
        return f"with its {level} % interval, {judged}"
    own, rest = f"its interval has {level} % for the claim", f"{' or '.join(sorted(others))} % for each other gap"
    if not is_joint:
        return f"{own}, {rest}, {judged}"
    unjudged = "" if len(limited) + 1 == len(cells) else "; without an interval: not judged"
    return f"{own}, {judged}, and {rest}, {TOGETHER}{unjudged}"


def _level(cell: GapChange) -> str:
    return f"{100 * cell.confidence:.3g}"


def status(check: GuardCheck) -> str:
    """Return the status of a guardrail; "beyond" if the value exceeds the limit, but part of its interval does not."""
    return "beyond" if check.status == "open" and not check.is_kept else check.status


TONES: Mapping[Verdict | None, str] = {
    Verdict.FAIRER: "tone-1",
    Verdict.LESS_FAIR: "tone-2",
    Verdict.SAME: "tone-6",
    Verdict.OPEN: "tone-0",
    None: "tone-6",
}


def strip(document: AuditDocument) -> Strip | None:
    """Return the table, with arrows, of the change of every gap from the reference to the selected model.

    If no other model was selected, it has the gaps of model 1 and the model in use. Return None without sensitive
    columns.
    """
    cells = strip_of(document)
    if not cells:
        return _unchanged(document)
    table = Table.of(
        f"Every gap on the holdout, from {reference_name(document)} to model {document.selection.rank}",
        _change_columns(document),
        cells,
        marked=0 if cells[0].is_claim else None,
        notes=legend(document, cells),
    )
    return Strip(table, tuple(_arrow(cell, cells) for cell in cells))


def _change_columns(document: AuditDocument) -> tuple[Column[GapChange], ...]:
    return (
        Column("gap", "gap", gap_name, is_word=True),
        Column("column", "by", lambda cell: compared_by(cell, strip_of(document)), is_word=True),
        Column("first", model_heading(document.reference.rank), lambda cell: share(cell.first.value)),
        Column("second", f"model {document.selection.rank}", lambda cell: share(cell.selected.value)),
        Column("change", "change", lambda cell: estimate(cell.change, signed)),
        Column("verdict", "verdict", lambda cell: VERDICTS[cell.verdict]),
    )


def _arrow(cell: GapChange, cells: Sequence[GapChange]) -> Arrow:
    start, change, end = cell.first.value, cell.change, cell.selected.value
    by = f"{shortened(cell.column, TITLE_WIDTH)}{groups_between(cell, cells)}"
    name = f"{GAP_NAMES[cell.metric]} by {by}: {share(start)} to {share(end)}"
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
    """Return the table of all gaps of model 1 and the model in use; the gap that models are selected by comes first."""
    if not document.dataset.sensitive:
        return None
    metric = document.selection.tolerances.metric
    sensitive = sorted(document.dataset.sensitive, key=lambda column: not column.is_primary)
    rows = [(gap, column) for column in sensitive for gap in sorted(GAP_NAMES, key=lambda gap: gap != metric)]
    columns: tuple[Column[tuple[Gap, SensitiveColumn]], ...] = (
        Column(
            *("gap", "gap", lambda row: f"{'*' * (row[1].is_primary and row[0] == metric)}{GAP_NAMES[row[0]]}"),
            is_word=True,
        ),
        Column("column", "by", lambda row: shortened(row[1].column, TITLE_WIDTH), is_word=True),
        *(_gap_column(document, rank) for rank in document.shortlist),
    )
    whose = sentence_list(map(model_name, document.shortlist))
    legend = f"{SELECTED_BY}; with {100 * document.config.confidence:g} % intervals"
    return Strip(Table.of(f"Every gap of {whose} on the holdout", columns, rows, marked=0, notes=(legend,)))


def _gap_column(document: AuditDocument, rank: int) -> Column[tuple[Gap, SensitiveColumn]]:
    scores = document.member(rank).scores.holdout.by_column
    return Column(f"model_{rank}", model_heading(rank), lambda row: estimate(scores[row[1].column].gap(row[0])))


GUARD_COLUMNS: tuple[Column[GuardCheck], ...] = (
    Column("guard", "guardrail", lambda check: shortened(check.guard, TABLE_WIDTH), is_word=True),
    Column("subject", "closest to its limit", lambda check: guarded_measure(check.subject), is_word=True),
    Column("selection", "selection split", lambda check: guarded_value(check, check.selection)),
    Column("holdout", "holdout", guarded_estimate),
    Column("status", "status", status),
)


def guardrails(document: AuditDocument) -> Iterator[Section]:
    """Yield the section with the status of every guardrail, if there are guardrails."""
    if checks := document.selection.guards:
        signed_limit = f"a signed limit is about the change against {reference_name(document)}"
        notes = (f"{signed_limit}; the holdout's value has its interval", STATUS)
        yield Section.of_table("guards", Table.of("Guardrails", GUARD_COLUMNS, checks, notes=notes))


def grid(document: AuditDocument) -> Iterator[Section]:
    """Yield the section of all rates by group, with intervals, one table for each sensitive column."""
    tables = tuple(_by_model(document, column) for column in document.dataset.sensitive)
    if tables:
        yield Section("grid", "Group by group", tables)


def brief_grid(document: AuditDocument) -> Iterator[Section]:
    """Yield one section of rates by group for each sensitive column, without intervals, for 80 columns."""
    for place, column in enumerate(document.dataset.sensitive):
        is_long = len(document.shortlist) > MOST_IN_CELL
        table = _by_model(document, column, is_brief=True) if is_long else _compact(document, column)
        notes = table.notes if place else (*table.notes, GRID)
        yield Section.of_table(f"grid-{place + 1}", replace(table, notes=notes))


def _compact(document: AuditDocument, column: SensitiveColumn) -> Table:
    """Return the table of rates by group, with the rates of the two models in one cell: 0.51 → 0.75."""

    def moved(rate: ComparedRate) -> Column[Sequence[GroupRates]]:
        return Column(rate.key, rate.short, lambda row: " → ".join(_digits(one.rates[rate.key]) for one in row))

    rows = zip(*(_shown_rates(document, rank, column) for rank in document.shortlist), strict=True)
    columns: tuple[Column[Sequence[GroupRates]], ...] = (
        Column("group", "group", lambda row: _name(row[0]), is_word=True),
        Column("n", "n", lambda row: str(row[0].group.holdout)),
        Column(BASE_RATE.key, BASE_RATE.short, lambda row: _digits(row[0].rates[BASE_RATE.key])),
        *map(moved, RATES.values()),
    )
    return Table.of(_title(document, column), columns, rows, notes=_notes(document, column))


class GridRow(NamedTuple):
    """The rates of one group under one model; `limits` is the group's row of an adverse-impact table, if known."""

    rank: int
    counted: GroupRates
    limits: GroupRow | None


def _by_model(document: AuditDocument, column: SensitiveColumn, *, is_brief: bool = False) -> Table:
    """Return the table of rates, one line for each group and model; if `is_brief`, without intervals."""

    def rate_column(rate: ComparedRate) -> Column[GridRow]:
        if is_brief:
            return Column(rate.key, rate.short, lambda row: _digits(row.counted.rates[rate.key]))
        return Column(rate.key, rate.name, lambda row: _estimated(row, rate))

    columns: tuple[Column[GridRow], ...] = (
        Column("group", "group", lambda row: _name(row.counted), is_word=True),
        Column("model", "model", lambda row: model_cell(row.rank), is_word=True),
        Column("n", "n", lambda row: str(row.counted.group.holdout)),
        *map(rate_column, (BASE_RATE, *RATES.values())),
    )
    by_rank = [_grid_rows(document, rank, column) for rank in document.shortlist]
    rows = (row for rows in zip(*by_rank, strict=True) for row in rows)
    return Table.of(_title(document, column), columns, rows, notes=_notes(document, column))


def _grid_rows(document: AuditDocument, rank: int, column: SensitiveColumn) -> list[GridRow]:
    limits = _limits(document, rank, column)
    shown = zip(_places(column), _shown_rates(document, rank, column), strict=True)
    return [GridRow(rank, counted, limits[place] if limits else None) for place, counted in shown]


def _shown_rates(document: AuditDocument, rank: int, column: SensitiveColumn) -> list[GroupRates]:
    rates = rates_of(document, rank, column)
    return [rates[place] for place in _places(column)]


def _limits(document: AuditDocument, rank: int, column: SensitiveColumn) -> tuple[GroupRow, ...]:
    """Return the rows of the adverse-impact table of one model and column; empty if the document has no such table."""
    tables = (table for table in document.group_tables if (table.rank, table.column) == (rank, column.column))
    return next((table.groups for table in tables), ())


def _estimated(row: GridRow, rate: ComparedRate) -> str:
    found = Estimate() if row.limits is None else row.limits.of(rate)
    return share(row.counted.rates[rate.key]) if found.value is None else estimate(found)


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


def _digits(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"
