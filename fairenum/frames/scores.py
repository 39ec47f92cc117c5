"""What models measure, as rows: overall, by group, beside other methods, and how far they disagree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from msgspec.structs import asdict

from fairenum.document.audit import AuditDocument
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel, GroupDisagreement
from fairenum.document.scores import ChangedEstimate, GapEstimate
from fairenum.document.terms import Gap, Performance, Ratio
from fairenum.document.value import Estimate
from fairenum.experiment import PARTS
from fairenum.frames import measured
from fairenum.frames.sheet import LIMITS, Row, Sheet, limits, three

MEASURES = (*get_args(Performance), *get_args(Gap), *get_args(Ratio))
IN_USE = "in use"  # where it comes from, in the place of how it was found
MODEL = ("rank", "origin", "objective", "objective_ratio", "loss_ratio", "support_size", "supports")
PROVEN = ("tilt_price", "records_left_out")
GROUP = ("group", "n", "selected", "ratio", "p", "shortfall", "detectable", "is_small", "is_compared")
TOLD = (
    *("name", "source", "favourable", "unfavourable", "cutoff", "is_lower_better", "has_score", "undecided"),
    *("agreement", "is_constant"),
)
BASELINE = ("name", "is_randomised", "error")
ESTIMATES = ("rate", "difference", "true_positive_rate", "false_positive_rate", "precision", "base_rate")
RATES = tuple(title for name in ESTIMATES for title in three(name))
COUNTED = ("support_size", "supports", "records_left_out")  # which the model in use has none of
COUNTS = ("rows", "favourable", "selected", "true_positives")


def model_rows(document: AuditDocument) -> Iterator[Row]:
    """Yield what is proven about each model, and its scores on both splits; of the one in use its scores alone."""
    return (_model(model, document) for model in document.members)


def _model(model: AuditedModel | Incumbent, document: AuditDocument) -> Row:
    selection = document.selection
    row: Row = dict.fromkeys((*MODEL, *PROVEN)) | {"rank": model.rank, "origin": IN_USE}
    if isinstance(model, AuditedModel):
        row |= {name: getattr(model, name) for name in (*MODEL, "records_left_out")}
        row["tilt_price"] = None if model.tilt is None else model.tilt.price
    row |= {
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
    """Yield every measure of every model on both splits, with its limits and its change against the reference."""
    for model in document.members:
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
    for model in document.members:
        for part in PARTS:
            for column, found in model.scores.of(part).by_column.items():
                place: Row = {"rank": model.rank, "split": part, "column": column}
                for group, *decided in zip(columns[column], found.selected, found.true_positives, strict=True):
                    counts = (group.rows(part), group.positives(part), *decided)
                    yield place | {"group": group.name, **dict(zip(COUNTS, counts, strict=True))}


def _disagreement(document: AuditDocument) -> Iterator[Row]:
    for column, groups in document.multiplicity.by_column.items() if document.multiplicity else ():
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


def _incumbent(document: AuditDocument) -> Iterator[Row]:
    """Yield where the decisions of the model in use come from, if there is one."""
    if found := document.incumbent:
        row: Row = {name: getattr(found, name) for name in TOLD}
        flips = {f"{part}_flips": found.predictions_changed.of(part).rows for part in PARTS}
        yield row | {"copies": "; ".join(found.copies), "is_compared_with": document.is_against_incumbent, **flips}


def _rankings(document: AuditDocument) -> Iterator[Row]:
    """Yield how groups score, by what models rank people by."""
    for one in document.scores:
        yield from ({"rank": one.rank, **row} for row in measured.scores(one.score))


def _cutoffs(document: AuditDocument) -> Iterator[Row]:
    for one in document.scores:
        yield from ({"rank": one.rank, **row} for row in measured.cutoffs(one.score))


def _calibration(document: AuditDocument) -> Iterator[Row]:
    for one in document.scores:
        yield from ({"rank": one.rank, **row} for row in measured.calibration(one.score))


SHEETS = {
    "incumbent": Sheet((*TOLD, "copies", "is_compared_with", *(f"{part}_flips" for part in PARTS)), _incumbent),
    "scores": Sheet(
        ("rank", "split", "measure", *LIMITS, *three("change"), "verdict"),
        _scores,
    ),
    "groups": Sheet(("rank", "column", *GROUP, *RATES), _groups),
    "rankings": Sheet(("rank", "column", "group", "n", *three("scoring_rate"), *measured.RANKING), _rankings),
    "cutoffs": Sheet(("rank", *measured.MAY_BE_EMPTY["cutoffs"]), _cutoffs),
    "calibration": Sheet(("rank", *measured.MAY_BE_EMPTY["calibration"]), _calibration),
    "outcomes": Sheet(("rank", "split", "column", "group", *COUNTS), _outcomes),
    "disagreement": Sheet(("column", *GroupDisagreement.__struct_fields__), _disagreement),
    "baselines": Sheet((*BASELINE, "performance", "accuracy", "gap", "verdict"), _baselines),
}
