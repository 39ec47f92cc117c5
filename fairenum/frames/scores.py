"""What models measure, as rows: overall, by group, beside other methods, and how far they disagree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from msgspec.structs import asdict

from fairenum.document.audit import AuditDocument
from fairenum.document.models import AuditedModel, GroupDisagreement
from fairenum.document.scores import ChangedEstimate, GapEstimate
from fairenum.document.terms import Gap, Performance, Ratio
from fairenum.document.value import Estimate
from fairenum.experiment import PARTS
from fairenum.frames.sheet import LIMITS, Row, Sheet, limits, three

MEASURES = (*get_args(Performance), *get_args(Gap), *get_args(Ratio))
MODEL = ("rank", "origin", "objective", "objective_ratio", "loss_ratio", "support_size", "supports")
GROUP = ("group", "n", "selected", "ratio", "p", "shortfall", "detectable", "is_small", "is_compared")
BASELINE = ("name", "is_randomised", "error")
ESTIMATES = ("rate", "difference", "true_positive_rate", "false_positive_rate", "precision", "base_rate")
RATES = tuple(title for name in ESTIMATES for title in three(name))
COUNTS = ("rows", "favourable", "selected", "true_positives")


def model_rows(document: AuditDocument) -> Iterator[Row]:
    """Yield what is proven about each model, and its scores on both splits."""
    return (_model(model, document) for model in document.models)


def _model(model: AuditedModel, document: AuditDocument) -> Row:
    selection = document.selection
    row: Row = {name: getattr(model, name) for name in MODEL}
    row |= {
        "tilt_price": None if model.tilt is None else model.tilt.price,
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
                yield {"rank": model.rank, "split": part, "measure": name, **limits(found), **_change(found)}


def _change(found: Estimate) -> Row:
    change = found.change if isinstance(found, ChangedEstimate) and found.change else Estimate()
    return {**limits(change, "change"), "verdict": found.verdict if isinstance(found, GapEstimate) else None}


def _groups(document: AuditDocument) -> Iterator[Row]:
    for table in document.group_tables:
        for group in table.groups:
            row: Row = {"rank": table.rank, "column": table.column}
            row |= {name: getattr(group, name) for name in GROUP}
            for name in ESTIMATES:
                row |= limits(getattr(group, name), name)
            yield row


def _outcomes(document: AuditDocument) -> Iterator[Row]:
    """Yield what every model decides about every group of every sensitive column, in rows."""
    columns = {column.column: column.groups for column in document.dataset.sensitive}
    for model in document.models:
        for part in PARTS:
            for column, found in model.scores.of(part).by_column.items():
                place: Row = {"rank": model.rank, "split": part, "column": column}
                for group, *decided in zip(columns[column], found.selected, found.true_positives, strict=True):
                    counts = (group.rows(part), group.positives(part), *decided)
                    yield place | {"group": group.name, **dict(zip(COUNTS, counts, strict=True))}


def _disagreement(document: AuditDocument) -> Iterator[Row]:
    for column, groups in document.multiplicity.by_column.items():
        for group in groups:
            yield {"column": column, **asdict(group)}


def _baselines(document: AuditDocument) -> Iterator[Row]:
    for method in document.baselines or ():
        row: Row = {name: getattr(method, name) for name in BASELINE}
        if method.scores:
            gap = method.scores.gap(document.selection.tolerances.metric)
            row |= {name: getattr(method.scores, name).value for name in ("performance", "accuracy")}
            row |= {"gap": gap.value, "verdict": gap.verdict}
        yield row


SHEETS = {
    "scores": Sheet(
        ("rank", "split", "measure", *LIMITS, *three("change"), "verdict"),
        _scores,
    ),
    "groups": Sheet(("rank", "column", *GROUP, *RATES), _groups),
    "outcomes": Sheet(("rank", "split", "column", "group", *COUNTS), _outcomes),
    "disagreement": Sheet(("column", *GroupDisagreement.__struct_fields__), _disagreement),
    "baselines": Sheet((*BASELINE, "performance", "accuracy", "gap", "verdict"), _baselines),
}
