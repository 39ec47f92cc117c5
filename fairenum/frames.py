"""A document of an audit as pandas frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

import pandas as pd
from msgspec.structs import asdict

from fairenum.document.audit import AuditDocument
from fairenum.document.consequences import strip_of
from fairenum.document.models import AuditedModel, GroupDisagreement
from fairenum.document.scores import ChangedEstimate, GapEstimate
from fairenum.document.table import SPLITS
from fairenum.document.terms import Gap, Performance, Ratio
from fairenum.document.value import Estimate
from fairenum.experiment import PARTS

Row = dict[str, object]
MEASURES = (*get_args(Performance), *get_args(Gap), *get_args(Ratio))
LIMITS = ("value", "low", "high")
MODEL = ("rank", "origin", "objective", "objective_ratio", "loss_ratio", "support_size", "supports")
GROUP = ("group", "n", "selected", "ratio", "p", "shortfall", "detectable", "is_small", "is_compared")
LEFT_OUT = ("row", "copies", "of", "label")
BASELINE = ("name", "is_randomised", "error")
ESTIMATES = ("rate", "difference", "true_positive_rate", "false_positive_rate", "precision", "base_rate")
RATES = tuple(f"{name}{end}" for name in ESTIMATES for end in ("", "_low", "_high"))
# The columns of each table but the models', which are there even if it has no rows.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "scores": ("rank", "split", "measure", *LIMITS, "change", "change_low", "change_high", "verdict"),
    "groups": ("rank", "column", *GROUP, *RATES),
    "strip": ("column", "metric", "is_claim", "model_1", "selected", "change", "change_low", "change_high", "verdict"),
    "guards": ("guard", "subject", "low", "high", "selection", "holdout", "holdout_low", "holdout_high", "status"),
    "disagreement": ("column", *GroupDisagreement.__struct_fields__),
    "left_out": ("rank", *LEFT_OUT),
    "baselines": (*BASELINE, "performance", "accuracy", "gap", "verdict"),
    "weights": ("rank", "feature", "level", "weight"),
    "flips": ("row", "label", "model_1", "selected"),
    "splits": ("row", "split"),
}
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a cell begins with that a spreadsheet would compute


def models(document: AuditDocument) -> pd.DataFrame:
    """Return one row for each model: what is proven about it, and its scores on both splits."""
    return pd.DataFrame([_model(model, document) for model in document.models]).set_index("rank")


def tables(document: AuditDocument) -> dict[str, pd.DataFrame]:
    """Return everything that is a table, by name."""
    rows: dict[str, Iterable[Row]] = {
        "scores": _scores(document),
        "groups": _groups(document),
        "strip": _strip(document),
        "guards": _guards(document),
        "disagreement": _disagreement(document),
        "left_out": _left_out(document),
        "baselines": _baselines(document),
        "weights": _weights(document),
        "flips": _flips(document),
        "splits": _splits(document),
    }
    columns = {**COLUMNS, "flips": (*COLUMNS["flips"], *map(_group_column, document.dataset.sensitive_columns))}
    others = {name: pd.DataFrame(list(found), columns=list(columns[name])) for name, found in rows.items()}
    return {"models": models(document), **others}


def to_csv(frame: pd.DataFrame) -> str:
    """Write a frame as CSV in which no text is a formula to a spreadsheet."""
    return str(frame.rename(columns=_inert).map(_inert).to_csv(index=False, lineterminator="\n"))


def _inert(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _model(model: AuditedModel, document: AuditDocument) -> Row:
    selection = document.selection
    row: Row = {name: getattr(model, name) for name in MODEL}
    row |= {
        "records_left_out": model.records_left_out,
        "is_constant": model.is_constant,
        "is_selected": model.rank == selection.rank,
        "is_candidate": model.rank in selection.candidates,
    }
    for part in PARTS:
        scores = model.scores.of(part)
        row |= {f"{part}_{name}": scores.measure(name).value for name in MEASURES}
        row[f"{part}_flips"] = model.predictions_changed.of(part).rows
    return row | {"verdict": model.scores.holdout.gap(selection.tolerances.metric).verdict}


def _scores(document: AuditDocument) -> Iterator[Row]:
    """Yield every measure of every model on both splits, with its limits and its change against model 1."""
    for model in document.models:
        for part in PARTS:
            for name in MEASURES:
                found = model.scores.of(part).measure(name)
                yield {"rank": model.rank, "split": part, "measure": name, **_limits(found), **_change(found)}


def _limits(found: Estimate) -> Row:
    return {name: getattr(found, name) for name in LIMITS}


def _change(found: Estimate) -> Row:
    change = found.change if isinstance(found, ChangedEstimate) and found.change else Estimate()
    verdict = found.verdict if isinstance(found, GapEstimate) else None
    return {"change": change.value, "change_low": change.low, "change_high": change.high, "verdict": verdict}


def _groups(document: AuditDocument) -> Iterator[Row]:
    for table in document.group_tables:
        for group in table.groups:
            row: Row = {"rank": table.rank, "column": table.column}
            row |= {name: getattr(group, name) for name in GROUP}
            for name in ESTIMATES:
                found: Estimate = getattr(group, name)
                row |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
            yield row


def _strip(document: AuditDocument) -> Iterator[Row]:
    """Yield every gap in every column of model 1 and of the selected model, where that is another."""
    for cell in strip_of(document):
        row: Row = {name: getattr(cell, name) for name in ("column", "metric", "is_claim", "verdict")}
        row |= {"model_1": cell.first.value, "selected": cell.selected.value}
        yield row | {"change": cell.change.value, "change_low": cell.change.low, "change_high": cell.change.high}


def _guards(document: AuditDocument) -> Iterator[Row]:
    for check in document.selection.guards:
        row: Row = {name: getattr(check, name) for name in ("guard", "subject", "low", "high", "selection", "status")}
        held = check.holdout
        yield row | {"holdout": held.value, "holdout_low": held.low, "holdout_high": held.high}


def _disagreement(document: AuditDocument) -> Iterator[Row]:
    for column, groups in document.multiplicity.by_column.items():
        for group in groups:
            yield {"column": column, **asdict(group)}


def _left_out(document: AuditDocument) -> Iterator[Row]:
    for model in document.models:
        for entry in model.left_out:
            yield {"rank": model.rank, **{name: getattr(entry, name) for name in LEFT_OUT}}


def _baselines(document: AuditDocument) -> Iterator[Row]:
    for method in document.baselines or ():
        row: Row = {name: getattr(method, name) for name in BASELINE}
        if method.scores:
            gap = method.scores.gap(document.selection.tolerances.metric)
            row |= {name: getattr(method.scores, name).value for name in ("performance", "accuracy")}
            row |= {"gap": gap.value, "verdict": gap.verdict}
        yield row


def _weights(document: AuditDocument) -> Iterator[Row]:
    """Yield every weight of every model that the document holds; the bias is among the models' own numbers."""
    anatomy = document.anatomy
    if anatomy is None:
        return
    columns = [(one.name, level) for one in anatomy.features for level in one.columns or (None,)]
    for model in anatomy.weights:
        for (feature, level), weight in zip(columns, model.weights, strict=True):
            yield {"rank": model.rank, "feature": feature, "level": level, "weight": weight}


def _flips(document: AuditDocument) -> Iterator[Row]:
    """Yield the rows of the holdout that the selected model decides otherwise than model 1."""
    table = document.dataset
    for flip in document.flips.flipped if document.flips else ():
        decided = (table.unfavourable, table.favourable)
        first, selected = decided if flip.becomes == "favourable" else decided[::-1]
        groups = {_group_column(column): group for column, group in flip.groups.items()}
        yield {"row": flip.row, "label": flip.label, "model_1": first, "selected": selected, **groups}


def _group_column(column: str) -> str:
    return f"group_{column}"


def _splits(document: AuditDocument) -> Iterator[Row]:
    """Yield the rows that are in a split, in the order of the table; none where the document does not name them."""
    if found := document.dataset.split_rows:
        rows = [(row, split) for split in SPLITS for row in found.of_split(split)]
        for row, name in sorted(rows):
            yield {"row": row, "split": name}
