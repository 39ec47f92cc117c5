"""What an audit or a measurement is handed on as: tables, a workbook, evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fairenum.document.files import write_atomically

if TYPE_CHECKING:
    from fairenum.cli.delivery import Delivery
    from fairenum.document.kinds import JudgedDocument


def hand_on(
    delivery: Delivery, document: JudgedDocument, export: Callable[[str], None] | None
) -> Iterator[tuple[str, str]]:
    """Write what was asked for, and name its kinds and places."""
    if delivery.tables:
        from fairenum.evidence.tables import table_names, write_tables

        for name in table_names(document):
            delivery.refuse_input(str(Path(delivery.tables) / name))
        write_tables(document, delivery.tables)
        yield "tables", delivery.tables
    if delivery.xlsx:
        from fairenum.evidence.tables import workbook

        write_atomically(delivery.xlsx, workbook(document))
        yield "workbook", delivery.xlsx
    if delivery.evidence:
        from fairenum.evidence.bundle import evidence

        day = delivery.day.date() if delivery.day else None
        content = evidence(document, rules=delivery.rules, profile=delivery.profile, day=day, export=export)
        write_atomically(delivery.evidence, content)
        yield "evidence", delivery.evidence
