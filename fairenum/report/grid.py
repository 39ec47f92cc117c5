"""The grid: every group's rates under the models that are shown side by side, so that a reversal is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fairenum.document.audit import AuditDocument
from fairenum.document.consequences import reversals
from fairenum.document.impact import GroupRow
from fairenum.document.rates import GroupRate, GroupRates, rates_of
from fairenum.document.table import SensitiveColumn
from fairenum.document.value import Estimate
from fairenum.rendering.numbers import UNDEFINED, estimate, share
from fairenum.rendering.page import Section, Table
from fairenum.rendering.text import sentence_list, shortened
from fairenum.report.groups import foremost, hidden_groups
from fairenum.report.wording import GROUP_WIDTH, model_cell, model_name
from fairenum.report.wording import strip as wording

ARROW = "→"
MOST_IN_CELL = 2  # models that a cell has room for
DECIDED: tuple[GroupRate, ...] = ("selection_rate", "true_positive_rate", "false_positive_rate", "precision")
RATES: tuple[GroupRate, ...] = ("base_rate", *DECIDED)


def grid(document: AuditDocument) -> Iterator[Section]:
    """Show all rates with their intervals, for every column on the page of a browser."""
    tables = tuple(_whole(document, column) for column in document.dataset.sensitive)
    if tables:
        yield Section("grid", "Group by group", tables)


def brief_grid(document: AuditDocument) -> Iterator[Section]:
    """Show the same in 80 columns, without intervals."""
    for place, column in enumerate(document.dataset.sensitive):
        shown = _line_by_line if len(document.shortlist) > MOST_IN_CELL else _compact
        table = shown(document, column)
        notes = table.notes if place else (*table.notes, wording.GRID)
        yield Section.of_table(f"grid-{place + 1}", replace(table, notes=notes))


def _compact(document: AuditDocument, column: SensitiveColumn) -> Table:
    """Show both models in one cell: 0.51 → 0.75."""
    models = [rates_of(document, rank, column) for rank in document.shortlist]
    rows = tuple(
        (
            *(_name(models[0][code]), str(models[0][code].group.holdout), _digits(models[0][code].rates["base_rate"])),
            *(_moved([model[code].rates[rate] for model in models]) for rate in DECIDED),
        )
        for code in _places(column)
    )
    headings = ("group", "n", *(wording.NARROW[rate] for rate in RATES))
    return Table(_title(document, column), headings, rows, notes=tuple(_notes(document, column)))


def _line_by_line(document: AuditDocument, column: SensitiveColumn) -> Table:
    """Show each group in a line for each model, without intervals."""
    models = [(rank, rates_of(document, rank, column)) for rank in document.shortlist]
    rows = tuple(
        (
            *(_name(rates[code]), model_cell(rank), str(rates[code].group.holdout)),
            *(_digits(rates[code].rates[rate]) for rate in RATES),
        )
        for code in _places(column)
        for rank, rates in models
    )
    headings = ("group", "model", "n", *(wording.NARROW[rate] for rate in RATES))
    return Table(_title(document, column), headings, rows, names=2, notes=tuple(_notes(document, column)))


def _whole(document: AuditDocument, column: SensitiveColumn) -> Table:
    """Show each group in a line for each model, with intervals."""
    ranks = document.shortlist
    models = [(rank, rates_of(document, rank, column), _limits(document, rank, column)) for rank in ranks]
    rows = tuple(
        (
            *(_name(counted[code]), model_cell(rank), str(counted[code].group.holdout)),
            *(_estimated(counted[code], limits[code] if limits else None, rate) for rate in RATES),
        )
        for code in _places(column)
        for rank, counted, limits in models
    )
    headings = ("group", "model", "n", *(wording.RATES[rate] for rate in RATES))
    return Table(_title(document, column), headings, rows, names=2, notes=tuple(_notes(document, column)))


def _limits(document: AuditDocument, rank: int, column: SensitiveColumn) -> tuple[GroupRow, ...]:
    """Return what the document holds about the groups under one model; nothing if it has no such table."""
    tables = (table for table in document.group_tables if (table.rank, table.column) == (rank, column.column))
    return next((table.groups for table in tables), ())


def _estimated(counted: GroupRates, row: GroupRow | None, rate: GroupRate) -> str:
    """Show a rate with its limits; a run that kept none of them has its value."""
    found = _known(row, rate)
    return share(counted.rates[rate]) if found.value is None else estimate(found)


def _known(row: GroupRow | None, rate: GroupRate) -> Estimate:
    if row is None:
        return Estimate()
    found: Estimate = row.rate if rate == "selection_rate" else getattr(row, rate)
    return found


def _places(column: SensitiveColumn) -> Sequence[int]:
    return foremost(range(len(column.groups)), [group.holdout for group in column.groups])


def _title(document: AuditDocument, column: SensitiveColumn) -> str:
    models = sentence_list(map(model_name, document.shortlist))
    return f"Rates of {models} on the holdout, by {shortened(column.column, GROUP_WIDTH)}"


def _notes(document: AuditDocument, column: SensitiveColumn) -> Iterator[str]:
    yield from (wording.reversal(found) for found in reversals(document, column.column))
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
    """Show a rate with as many digits as a narrow column takes."""
    return UNDEFINED if value is None else f"{value:.2f}"
