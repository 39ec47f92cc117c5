"""The choice of a model as rows: its gaps, its guardrails, what it leaves out, and whom it decides otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import asdict

from fairenum.document.anatomy import GroupFlips
from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Caution
from fairenum.document.consequences import strip_of
from fairenum.document.possible import Extent
from fairenum.frames.sheet import Row, Sheet, limits, three

STRIP = ("column", "metric", "is_claim")
JUDGED = ("confidence", "verdict", "is_coarse")
GUARD = ("guard", "subject", "low", "high", "selection")
LEFT_OUT = ("row", "copies", "of", "label")
CLUSTER = ("label", "group", "records", "share", "share_of_training")


def _strip(document: AuditDocument) -> Iterator[Row]:
    for cell in strip_of(document):
        row: Row = {name: getattr(cell, name) for name in STRIP}
        row |= {"reference_rank": document.reference.rank}
        row |= limits(cell.first, "reference") | limits(cell.selected, "selected") | limits(cell.change, "change")
        yield row | {name: getattr(cell, name) for name in JUDGED}


def _guards(document: AuditDocument) -> Iterator[Row]:
    for check in document.selection.guards:
        row: Row = {name: getattr(check, name) for name in GUARD}
        yield row | limits(check.holdout, "holdout") | {"status": check.status}


def _left_out(document: AuditDocument) -> Iterator[Row]:
    for model in document.models:
        for entry in model.left_out:
            yield {"rank": model.rank, **{name: getattr(entry, name) for name in LEFT_OUT}}


def _examples(document: AuditDocument) -> Iterator[Row]:
    """Yield the training examples that some model leaves out, value by value: features may be called anything."""
    for example in document.examples:
        for feature, value in example.values.items():
            yield {"row": example.row, "label": example.label, "feature": feature, "value": value}


def _clusters(document: AuditDocument) -> Iterator[Row]:
    for cluster in document.explanation.clusters if document.explanation else ():
        row: Row = {name: getattr(cluster, name) for name in CLUSTER}
        yield row | {"shared": "; ".join(f"{name} = {value}" for name, value in cluster.cell.items())}


def _flips(document: AuditDocument) -> Iterator[Row]:
    """Yield the rows of the holdout that the selected model decides otherwise than the reference does."""
    table = document.dataset
    for flip in document.flips.flipped if document.flips else ():
        decided = (table.unfavourable, table.favourable)
        first, selected = decided if flip.becomes == "favourable" else decided[::-1]
        groups = {_group_column(column): group for column, group in flip.groups.items()}
        yield {"row": flip.row, "label": flip.label, "reference": first, "selected": selected, **groups}


def _group_columns(document: AuditDocument) -> Iterator[str]:
    return map(_group_column, document.dataset.sensitive_columns)


def _group_column(column: str) -> str:
    return f"group_{column}"


def _flipped_groups(document: AuditDocument) -> Iterator[Row]:
    for column, groups in (document.flips.by_column if document.flips else {}).items():
        for group in groups:
            yield {"column": column, **asdict(group)}


def _range(document: AuditDocument) -> Iterator[Row]:
    """Yield the gap, and then the selection rate of every group, for each loss."""
    if found := document.range:
        for level in found.levels:
            place: Row = {"column": found.column, "eps": level.eps}
            yield place | {"of": "demographic_parity_difference", **asdict(level.gap)}
            for group in level.groups:
                yield place | {"of": "selection_rate", "group": group.group, **asdict(group.rate)}


def _warnings(document: AuditDocument) -> Iterator[Row]:
    return map(asdict, document.warnings)


SHEETS = {
    "strip": Sheet(
        (*STRIP, "reference_rank", *three("reference"), *three("selected"), *three("change"), *JUDGED), _strip
    ),
    "guards": Sheet((*GUARD, *three("holdout"), "status"), _guards),
    "left_out": Sheet(("rank", *LEFT_OUT), _left_out),
    "examples": Sheet(("row", "label", "feature", "value"), _examples),
    "clusters": Sheet((*CLUSTER, "shared"), _clusters),
    "flips": Sheet(("row", "label", "reference", "selected"), _flips, _group_columns),
    "flipped_groups": Sheet(("column", *GroupFlips.__struct_fields__), _flipped_groups),
    "range": Sheet(("column", "eps", "of", "group", *Extent.__struct_fields__), _range),
    "warnings": Sheet(Caution.__struct_fields__, _warnings),
}
