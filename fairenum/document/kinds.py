"""Every kind of document, and how plain values become one."""

from __future__ import annotations

from typing import cast

import msgspec

from fairenum.document.attack import AttackDocument
from fairenum.document.audit import AuditDocument
from fairenum.document.bench import BenchDocument
from fairenum.document.coherence import refuse_contradictions
from fairenum.document.measure import MeasureDocument
from fairenum.document.mitigation import MitigationDocument
from fairenum.document.received import refuse_unwritable
from fairenum.document.reproduction import ReproductionDocument

AnyDocument = (
    AuditDocument | AttackDocument | BenchDocument | MeasureDocument | MitigationDocument | ReproductionDocument
)

JudgedDocument = AuditDocument | MeasureDocument  # what rules are about, and what is handed on


def converted(found: dict[str, object]) -> AnyDocument:
    """Turn what JSON holds into a document; refuse what is missing, unknown or of another type, by its place."""
    document = cast(AnyDocument, msgspec.convert(found, AnyDocument))
    refuse_unwritable(document)
    _refuse_unread(found, msgspec.to_builtins(document), "$")
    refuse_contradictions(document)
    return document


def _refuse_unread(found: object, read: object, place: str) -> None:
    """Refuse what was passed over: msgspec does so with unknown fields of a dataclass."""
    if isinstance(found, dict) and isinstance(read, dict):
        for name, value in found.items():
            if name not in read:
                raise ValueError(f"Object contains unknown field `{name}` - at `{place}`")
            _refuse_unread(value, read[name], f"{place}.{name}")
    elif isinstance(found, list) and isinstance(read, list | tuple):
        for number, (value, kept) in enumerate(zip(found, read, strict=True)):
            _refuse_unread(value, kept, f"{place}[{number}]")
