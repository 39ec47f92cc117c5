"""Whose decision depends on the choice of model, as rows: by group, over losses, and person by person."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.arbitrariness import BoundedShare, FlippedShare
from fairenum.document.audit import AuditDocument
from fairenum.frames.sheet import Row, Sheet

BOUNDED = ("least", "most", "low", "high")
COUNTS = ("rows", "flipped", "open")
GAP = tuple(f"gap_{name}" for name in BOUNDED)


def _bounded(found: BoundedShare, prefix: str = "") -> Row:
    return {f"{prefix}{name}": getattr(found, name) for name in BOUNDED}


def _counted(found: FlippedShare) -> Row:
    return {name: getattr(found, name) for name in COUNTS} | _bounded(found.ambiguity) | {"listed": found.listed}


def _ambiguity(document: AuditDocument) -> Iterator[Row]:
    """Yield everybody, then every group; the gap of a column stands beside each of its groups."""
    if found := document.arbitrariness:
        yield {"eps": found.eps, **_counted(found.overall)}
        for column, groups in found.by_column.items():
            for group in groups.groups:
                place: Row = {"eps": found.eps, "column": column, "group": group.group}
                yield place | {"is_compared": group.is_compared} | _counted(group) | _bounded(groups.gap, "gap_")


def _curve(document: AuditDocument) -> Iterator[Row]:
    if found := document.arbitrariness:
        names = [one.group for one in found.shown(document.column)]
        for point in found.curve:
            yield {"eps": point.eps, **_bounded(point.overall)}
            for name, one in zip(names, point.groups, strict=True):
                yield {"eps": point.eps, "column": document.column, "group": name, **_bounded(one)}


def _prices(document: AuditDocument) -> Iterator[Row]:
    """Yield the examined rows of the holdout; a redacted run has none."""
    if (found := document.arbitrariness) is None:
        return
    table, priced = document.dataset, found.priced
    names = {column.column: [group.name for group in column.groups] for column in table.sensitive}
    for place, row in enumerate(priced.rows):
        decision = table.favourable if priced.is_favourable[place] else table.unfavourable
        groups = {_group_column(column): names[column][codes[place]] for column, codes in priced.groups.items()}
        yield {"row": row, "decision": decision, "low": priced.low[place], "high": priced.high[place], **groups}


def _group_columns(document: AuditDocument) -> Iterator[str]:
    return map(_group_column, document.dataset.sensitive_columns)


def _group_column(column: str) -> str:
    return f"group_{column}"


SHEETS = {
    "ambiguity": Sheet(("eps", "column", "group", "is_compared", *COUNTS, *BOUNDED, "listed", *GAP), _ambiguity),
    "ambiguity_curve": Sheet(("eps", "column", "group", *BOUNDED), _curve),
    "flip_prices": Sheet(("row", "decision", "low", "high"), _prices, _group_columns),
}
