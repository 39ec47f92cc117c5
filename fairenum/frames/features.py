"""The table and its features as rows: what they are, what they give away, and what models make of them."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit import AuditDocument
from fairenum.document.screening import Screening
from fairenum.document.table import SPLITS, GroupSizes
from fairenum.frames.sheet import Row, Sheet

SIZES = tuple(name for name in GroupSizes.__struct_fields__ if name not in ("name", "holdout_weights"))
TELLS = ("tells", "column", "feature", "measure", "value")


def _features(document: AuditDocument) -> Iterator[Row]:
    table = document.dataset
    for one in table.features:
        yield {
            "feature": one.name,
            "kind": one.kind,
            "missing": one.missing,
            "unseen": table.unseen.get(one.name, 0),
            "pooled": table.pooled.get(one.name, 0),
            "is_dropped": one.name in table.dropped,
        }


def _group_sizes(document: AuditDocument) -> Iterator[Row]:
    for column in document.dataset.sensitive:
        for group in column.groups:
            sizes = {name: getattr(group, name) for name in SIZES}
            yield {"column": column.column, "group": group.name, **sizes}


def _screening(document: AuditDocument) -> Iterator[Row]:
    """Yield what each feature alone gives away; a row without a feature is about all of them together."""
    if document.screening:
        yield from (dict(zip(TELLS, told, strict=True)) for told in _told(document.screening))


def _told(found: Screening) -> Iterator[tuple[object, ...]]:
    yield "label", None, None, "auc", found.model_auc
    for one in found.features:
        yield "label", None, one.feature, "auc", one.auc
    for alike in found.lookalikes:
        yield "model 1", None, alike.feature, "agreement", alike.agreement
    for column in found.columns:
        yield "group", column.column, None, "auc", column.together
        for one in column.features:
            yield "group", column.column, one.feature, "auc", one.auc


def _weights(document: AuditDocument) -> Iterator[Row]:
    """Yield every weight of every model that the document holds; the bias is among the models' own numbers."""
    anatomy = document.anatomy
    if anatomy is None:
        return
    columns = [(one.name, level) for one in anatomy.features for level in one.columns or (None,)]
    for model in anatomy.weights:
        for (feature, level), weight in zip(columns, model.weights, strict=True):
            yield {"rank": model.rank, "feature": feature, "level": level, "weight": weight}


def _effects(document: AuditDocument) -> Iterator[Row]:
    """Yield how much models go by each feature, where their kernel gives no weights."""
    for model in document.anatomy.effects if document.anatomy else ():
        for feature, effect in zip(document.anatomy.features, model.effects, strict=True):  # type: ignore[union-attr]
            yield {"rank": model.rank, "feature": feature.name, "rows": model.rows, "effect": effect}


def _tuning(document: AuditDocument) -> Iterator[Row]:
    for tried in document.tuning.grid if document.tuning else ():
        yield {"C": tried.C, "accuracy": tried.accuracy}


def _splits(document: AuditDocument) -> Iterator[Row]:
    """Yield the rows that are in a split, in the order of the table; none where the document does not name them."""
    if found := document.dataset.split_rows:
        rows = [(row, split) for split in SPLITS for row in found.of_split(split)]
        for row, name in sorted(rows):
            yield {"row": row, "split": name}


SHEETS = {
    "features": Sheet(("feature", "kind", "missing", "unseen", "pooled", "is_dropped"), _features),
    "group_sizes": Sheet(("column", "group", *SIZES), _group_sizes),
    "screening": Sheet(TELLS, _screening),
    "weights": Sheet(("rank", "feature", "level", "weight"), _weights),
    "effects": Sheet(("rank", "feature", "rows", "effect"), _effects),
    "tuning": Sheet(("C", "accuracy"), _tuning),
    "splits": Sheet(("row", "split"), _splits),
}
