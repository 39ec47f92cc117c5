"""The tables of a run as CSV files or sheets of a workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pandas as pd
from msgspec.structs import asdict

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.choice import Caution, MeasureCaution
from fairenum.document.consequences import strip_of
from fairenum.document.feature_facts import GroupFlips, Screening
from fairenum.document.files import write_atomically
from fairenum.document.flip_facts import BoundedShare, Extent, FlippedShare
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.metric_registry import BASE_RATE, SELECTION_RATE, compared_rates
from fairenum.document.models import AuditedModel, GroupDisagreement, Incumbent
from fairenum.document.scores import ChangedEstimate, GapEstimate, GroupRanking, MeasuredScore
from fairenum.document.table_facts import SPLITS, GroupSizes
from fairenum.document.terms import GAPS, RATIOS, Performance
from fairenum.document.value import Estimate
from fairenum.enumeration.division import PARTS
from fairenum.errors import ResultError
from fairenum.evidence.spreadsheet import to_csv, to_xlsx
from fairenum.report.evidence_words import about_tables

Row = dict[str, object]
LIMITS = ("value", "low", "high")
WHOLE = ("rank", "row")  # numbers that stay whole where some of them are missing


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of a document.

    `columns` are there in every document, even without rows; `more` names the columns that depend on the document. A
    column that a row does not name is empty.
    """

    columns: tuple[str, ...]
    rows: Callable[[AuditDocument], Iterable[Row]]
    more: Callable[[AuditDocument], Iterable[str]] = lambda _document: ()

    def frame(self, document: AuditDocument) -> pd.DataFrame:
        """Make the frame of one document."""
        frame = pd.DataFrame(list(self.rows(document)), columns=[*self.columns, *self.more(document)])
        return frame.astype({name: "Int64" for name in WHOLE if name in frame and frame[name].isna().any()})


def limits(found: Estimate, name: str = "") -> Row:
    """Give an estimate and its limits a column each: name, name_low and name_high, or value, low and high."""
    return dict(zip(three(name) if name else LIMITS, (found.value, found.low, found.high), strict=True))


def three(name: str) -> tuple[str, str, str]:
    """Name the columns of an estimate and its limits."""
    return name, f"{name}_low", f"{name}_high"


BOUNDED = ("least", "most", "low", "high")


AMBIGUOUS_COUNTS = ("rows", "flipped", "open")


GAP = tuple(f"gap_{name}" for name in BOUNDED)


def _bounded(found: BoundedShare, prefix: str = "") -> Row:
    return {f"{prefix}{name}": getattr(found, name) for name in BOUNDED}


def _counted(found: FlippedShare) -> Row:
    return (
        {name: getattr(found, name) for name in AMBIGUOUS_COUNTS} | _bounded(found.ambiguity) | {"listed": found.listed}
    )


def _ambiguity(document: AuditDocument) -> Iterator[Row]:
    """Yield the ambiguity overall, then of every group; the gap of a column stands beside each of its groups."""
    if found := document.ambiguity:
        yield {"eps": found.eps, **_counted(found.overall)}
        for column, groups in found.by_column.items():
            for group in groups.groups:
                place: Row = {"eps": found.eps, "column": column, "group": group.group}
                yield place | {"is_compared": group.is_compared} | _counted(group) | _bounded(groups.gap, "gap_")


def _curve(document: AuditDocument) -> Iterator[Row]:
    if found := document.ambiguity:
        names = [one.group for one in found.shown(document.column)]
        for point in found.curve:
            yield {"eps": point.eps, **_bounded(point.overall)}
            for name, one in zip(names, point.groups, strict=True):
                yield {"eps": point.eps, "column": document.column, "group": name, **_bounded(one)}


def _prices(document: AuditDocument) -> Iterator[Row]:
    """Yield the examined rows of the holdout; a redacted run has none."""
    if (found := document.ambiguity) is None:
        return
    table, priced = document.dataset, found.priced
    names = {column.column: [group.name for group in column.groups] for column in table.sensitive}
    for place, row in enumerate(priced.rows):
        decision = table.favourable if priced.is_favourable[place] else table.unfavourable
        groups = {
            _ambiguous_group_column(column): names[column][codes[place]] for column, codes in priced.groups.items()
        }
        yield {"row": row, "decision": decision, "low": priced.low[place], "high": priced.high[place], **groups}


def _ambiguous_group_columns(document: AuditDocument) -> Iterator[str]:
    return map(_ambiguous_group_column, document.dataset.sensitive_columns)


def _ambiguous_group_column(column: str) -> str:
    return f"group_{column}"


AMBIGUITY_SHEETS = {
    "ambiguity": Sheet(
        ("eps", "column", "group", "is_compared", *AMBIGUOUS_COUNTS, *BOUNDED, "listed", *GAP), _ambiguity
    ),
    "ambiguity_curve": Sheet(("eps", "column", "group", *BOUNDED), _curve),
    "flip_prices": Sheet(("row", "decision", "low", "high"), _prices, _ambiguous_group_columns),
}


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
    """Yield the rows of the holdout that the selected model and the reference decide differently."""
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
    """Yield the parity range for each loss: the gap, then the selection rate of every group."""
    if found := document.parity_range:
        for level in found.levels:
            place: Row = {"column": found.column, "eps": level.eps}
            yield place | {"of": "demographic_parity_difference", **asdict(level.gap)}
            for group in level.groups:
                yield place | {"of": "selection_rate", "group": group.group, **asdict(group.rate)}


def _warnings(document: AuditDocument) -> Iterator[Row]:
    return map(asdict, document.warnings)


CHOICE_SHEETS = {
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
    """Yield how well each feature alone predicts; a row without a feature is about all of them together."""
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
    """Yield how much models without weights depend on each feature."""
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


FEATURE_SHEETS = {
    "features": Sheet(("feature", "kind", "missing", "unseen", "pooled", "is_dropped"), _features),
    "group_sizes": Sheet(("column", "group", *SIZES), _group_sizes),
    "screening": Sheet(TELLS, _screening),
    "weights": Sheet(("rank", "feature", "level", "weight"), _weights),
    "effects": Sheet(("rank", "feature", "rows", "effect"), _effects),
    "tuning": Sheet(("C", "accuracy"), _tuning),
    "splits": Sheet(("row", "split"), _splits),
}


ROW = ("group", "n", "selected", "p", "shortfall", "detectable", "is_small", "is_compared")


ESTIMATES = (
    *(SELECTION_RATE.column, "difference"),
    *(rate.column for rate in compared_rates() if rate.needs_label),
    BASE_RATE.column,
)


SCORED = ("scoring_ratio", "difference", "auc")
RANKING = ("mean", "deviation", *(title for name in SCORED for title in three(name)))
SWEEP = ("rate", "selection_rate", "gap", "ratio", "accuracy")


# The columns of tables that may have no rows.
MAY_BE_EMPTY = {
    "cutoffs": ["column", "cutoff", "group", *(title for name in SWEEP for title in three(name))],
    "calibration": ["column", "low", "high", "group", "n", *three("rate")],
    "warnings": [*MeasureCaution.__struct_fields__],
}


def measured_tables(document: MeasureDocument) -> dict[str, pd.DataFrame]:
    """Return everything that is a table, by name."""
    found = {"decisions": _decisions(document), "groups": _measured_groups(document)}
    if score := document.score:
        found |= {"scores": scores(score), "cutoffs": cutoffs(score), "calibration": calibration(score)}
    found["warnings"] = map(asdict, document.warnings)
    return {name: pd.DataFrame(list(rows), columns=MAY_BE_EMPTY.get(name)) for name, rows in found.items()}


def _decisions(document: MeasureDocument) -> Iterator[Row]:
    """Yield every set of decisions in every sensitive column."""
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            row: Row = {"number": number, "decision": decisions.name, "how": decisions.how, "column": column.column}
            row |= {"cutoff": decisions.cutoff, "selected": decisions.selected}
            row |= limits(decisions.selection_rate, "selection_rate") | limits(decisions.accuracy, "accuracy")
            for gap in GAPS:
                own = column.scores.gap(gap)
                row |= limits(own, gap) | limits(own.change or Estimate(), f"{gap}_change")
                row[f"{gap}_verdict"] = own.verdict
            yield (
                row
                | limits(column.scores.ratio("demographic_parity_ratio"), "demographic_parity_ratio")
                | {"four_fifths": column.four_fifths}
            )


def _measured_groups(document: MeasureDocument) -> Iterator[Row]:
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            for group, own in zip(column.impact.groups, column.groups, strict=True):
                row: Row = {"number": number, "decision": decisions.name, "column": column.column}
                row |= {name: getattr(group, name) for name in ROW} | {"positives": own.positives}
                for name in ESTIMATES:
                    row |= limits(getattr(group, name), name)
                yield row | limits(own.ratio, "ratio") | limits(own.accuracy, "accuracy")


def scores(score: MeasuredScore) -> Iterator[Row]:
    """Yield how each group scores: who is on the favourable side of the median, means, and ranking."""
    for column in score.columns:
        for group, own in zip(column.scoring.groups, column.groups, strict=True):
            yield {"column": column.column, "n": group.n} | limits(group.rate, "scoring_rate") | _ranking(own)


def _ranking(own: GroupRanking) -> Row:
    row: Row = {"group": own.group, "mean": own.mean, "deviation": own.deviation}
    for name in SCORED:
        row |= limits(getattr(own, name), name)
    return row


def cutoffs(score: MeasuredScore) -> Iterator[Row]:
    """Yield whom a score selects of each group at every cutoff of the sweep."""
    for column in score.columns:
        for point in column.sweep:
            for group, rate in zip(column.groups, point.rates, strict=True):
                row: Row = {"column": column.column, "cutoff": point.cutoff, "group": group.group}
                row |= limits(rate, "rate") | limits(point.selection_rate, "selection_rate")
                yield (
                    row | limits(point.gap, "gap") | limits(point.ratio, "ratio") | limits(point.accuracy, "accuracy")
                )


def calibration(score: MeasuredScore) -> Iterator[Row]:
    """Yield how often rows of about the same score have the favourable label, by group."""
    for column in score.columns:
        for one in column.calibration:
            for group, rows, rate in zip(column.groups, one.rows, one.rates, strict=True):
                row: Row = {"column": column.column, "low": one.low, "high": one.high, "group": group.group}
                yield row | {"n": rows} | limits(rate, "rate")


MEASURES = (*get_args(Performance), *GAPS, *RATIOS)
IN_USE = "in use"  # where it comes from, in the place of how it was found
MODEL = ("rank", "origin", "objective", "objective_ratio", "loss_ratio", "support_size", "supports")
PROVEN = ("tilt_price", "records_left_out")
GROUP = ("group", "n", "selected", "ratio", "p", "shortfall", "detectable", "is_small", "is_compared")
TOLD = (
    *("name", "source", "favourable", "unfavourable", "cutoff", "is_lower_better", "has_score", "undecided"),
    *("agreement", "is_constant"),
)
BASELINE = ("name", "is_randomised", "error")


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
    """Yield the decisions of every model in every group of every sensitive column, as counts of rows."""
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
    """Yield the source of the decisions of the model in use, if there is one."""
    if found := document.incumbent:
        row: Row = {name: getattr(found, name) for name in TOLD}
        flips = {f"{part}_flips": found.predictions_changed.of(part).rows for part in PARTS}
        yield row | {"copies": "; ".join(found.copies), "is_compared_with": document.is_against_incumbent, **flips}


def _rankings(document: AuditDocument) -> Iterator[Row]:
    """Yield the scores of groups, for the scores that models rank people by."""
    for one in document.scores:
        yield from ({"rank": one.rank, **row} for row in scores(one.score))


def _cutoffs(document: AuditDocument) -> Iterator[Row]:
    for one in document.scores:
        yield from ({"rank": one.rank, **row} for row in cutoffs(one.score))


def _calibration(document: AuditDocument) -> Iterator[Row]:
    for one in document.scores:
        yield from ({"rank": one.rank, **row} for row in calibration(one.score))


SCORE_SHEETS = {
    "incumbent": Sheet((*TOLD, "copies", "is_compared_with", *(f"{part}_flips" for part in PARTS)), _incumbent),
    "scores": Sheet(
        ("rank", "split", "measure", *LIMITS, *three("change"), "verdict"),
        _scores,
    ),
    "groups": Sheet(("rank", "column", *GROUP, *RATES), _groups),
    "rankings": Sheet(("rank", "column", "group", "n", *three("scoring_rate"), *RANKING), _rankings),
    "cutoffs": Sheet(("rank", *MAY_BE_EMPTY["cutoffs"]), _cutoffs),
    "calibration": Sheet(("rank", *MAY_BE_EMPTY["calibration"]), _calibration),
    "outcomes": Sheet(("rank", "split", "column", "group", *COUNTS), _outcomes),
    "disagreement": Sheet(("column", *GroupDisagreement.__struct_fields__), _disagreement),
    "baselines": Sheet((*BASELINE, "performance", "accuracy", "gap", "verdict"), _baselines),
}


SHEETS = {**SCORE_SHEETS, **AMBIGUITY_SHEETS, **CHOICE_SHEETS, **FEATURE_SHEETS}


def models(document: AuditDocument) -> pd.DataFrame:
    """Return one row for each model: what is proven about it, and its scores on both splits.

    The model in use comes first, with rank 0; nothing is proven about it.
    """
    frame = pd.DataFrame(list(model_rows(document))).set_index("rank")
    return frame.astype(dict.fromkeys(COUNTED, "Int64")) if document.incumbent else frame


def tables(document: JudgedDocument) -> dict[str, pd.DataFrame]:
    """Return everything that is a table, by name."""
    if isinstance(document, MeasureDocument):
        return measured_tables(document)
    return {"models": models(document), **{name: sheet.frame(document) for name, sheet in SHEETS.items()}}


INDEX = "index"


def table_files(document: JudgedDocument) -> dict[str, bytes]:
    """Every table as CSV by file name, with an index that describes them."""
    return {f"{name}.csv": to_csv(frame).encode(errors="backslashreplace") for name, frame in _frames(document).items()}


def table_names(document: JudgedDocument) -> list[str]:
    """Names of the files that `table_files` may write."""
    return [f"{name}.csv" for name in (INDEX, *about_tables(document))]


def workbook(document: JudgedDocument) -> bytes:
    """A workbook with an index and every table as a sheet."""
    return to_xlsx(_frames(document))


def write_tables(document: JudgedDocument, folder: str | Path) -> None:
    """Write every table to a folder, created if missing; other files in it stay."""
    files, place = table_files(document), Path(folder)
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise ResultError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from error
    for name, content in files.items():
        write_atomically(place / name, content)


def _frames(document: JudgedDocument) -> dict[str, pd.DataFrame]:
    found = tables(document)
    if "models" in found:
        found["models"] = found["models"].reset_index()
    words = about_tables(document)
    about = [(f"{name}.csv", name, len(frame), words[name]) for name, frame in found.items()]
    return {INDEX: pd.DataFrame(about, columns=["file", "table", "rows", "about"]), **found}
