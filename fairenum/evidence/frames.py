"""The tables of a run as pandas frames, CSV files or sheets of a workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pandas as pd
from msgspec.structs import asdict

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.choice import Caution, MeasureCaution
from fairenum.document.consequences import strip_of
from fairenum.document.feature_facts import GroupFlips
from fairenum.document.files import write_atomically
from fairenum.document.flip_facts import Extent, FlippedShare
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.metric_registry import BASE_RATE, SELECTION_RATE, compared_rates
from fairenum.document.models import AuditedModel, GroupDisagreement, Incumbent
from fairenum.document.scores import ChangedEstimate, GapEstimate, MeasuredScore
from fairenum.document.table_facts import SPLITS, GroupSizes
from fairenum.document.terms import GAPS, RATIOS, Performance
from fairenum.document.value import Estimate, Value
from fairenum.enumeration.division import PARTS
from fairenum.errors import ResultError
from fairenum.evidence.spreadsheet import to_csv, to_xlsx
from fairenum.report.evidence_words import about_tables

Row = dict[str, object]
Rows = Iterator[Row]
LIMITS = ("value", "low", "high")
WHOLE = ("rank", "row")  # columns that stay whole numbers even if some are missing


@dataclass(frozen=True, slots=True)
class Sheet:
    """The definition of a table: its columns, and the function that yields its rows from a document.

    If `columns` is empty, the columns are the keys of the rows. `more` returns further columns, which depend on the
    document. A cell is empty if its row has no key for the column.
    """

    columns: tuple[str, ...]
    rows: Callable[[Any], Iterable[Row]]
    more: Callable[[Any], Iterable[str]] = lambda _document: ()

    def frame(self, document: Any) -> pd.DataFrame:
        """Return the table of one document as a data frame."""
        frame = pd.DataFrame(list(self.rows(document)), columns=[*self.columns, *self.more(document)] or None)
        return frame.astype({name: "Int64" for name in WHOLE if name in frame and frame[name].isna().any()})


def _limits(found: Estimate, name: str = "") -> Row:
    """Return an estimate and its limits as cells by column: NAME, NAME_low and NAME_high, or value, low and high."""
    return dict(zip(_three(name) if name else LIMITS, (found.value, found.low, found.high), strict=True))


def _three(*names: str) -> tuple[str, ...]:
    return tuple(title for name in names for title in (name, f"{name}_low", f"{name}_high"))


def _cells(found: Value, names: Iterable[str], prefix: str = "") -> Row:
    return {f"{prefix}{name}": getattr(found, name) for name in names}


def _estimates(found: Value, names: Iterable[str]) -> Row:
    """Return the named estimates of an object as cells by column, three for each: the value and its two limits."""
    return {title: cell for name in names for title, cell in _limits(getattr(found, name), name).items()}


BOUNDED = ("least", "most", "low", "high")
AMBIGUOUS_COUNTS = ("rows", "flipped", "open")


def _flipped(found: FlippedShare) -> Row:
    return {**_cells(found, AMBIGUOUS_COUNTS), **_cells(found.ambiguity, BOUNDED), "listed": found.listed}


def _ambiguity(document: AuditDocument) -> Rows:
    """Yield the share of rows that some near-optimal model decides differently from model 1: overall, then by group."""
    if found := document.ambiguity:
        yield {"eps": found.eps, **_flipped(found.overall)}
        for column, groups in found.by_column.items():
            for group in groups.groups:
                place: Row = {"eps": found.eps, "column": column, **_cells(group, ("group", "is_compared"))}
                yield place | _flipped(group) | _cells(groups.gap, BOUNDED, "gap_")


def _curve(document: AuditDocument) -> Rows:
    if found := document.ambiguity:
        names = [one.group for one in found.shown(document.column)]
        for point in found.curve:
            yield {"eps": point.eps, **_cells(point.overall, BOUNDED)}
            for name, one in zip(names, point.groups, strict=True):
                yield {"eps": point.eps, "column": document.column, "group": name, **_cells(one, BOUNDED)}


def _prices(document: AuditDocument) -> Rows:
    """Yield the bounds on the flip price of each examined holdout row; none if the run is redacted.

    The flip price is the least relative rise of training loss at which some model decides the row differently.
    """
    if (found := document.ambiguity) is None:
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


STRIP = ("column", "metric", "is_claim")
PAIR = ("higher", "lower", "rate")
JUDGED = ("confidence", "verdict", "is_coarse")
GUARD = ("guard", "subject", "low", "high", "selection")
LEFT_OUT = ("row", "copies", "of", "label")
CLUSTER = ("label", "group", "records", "share", "share_of_training")


def _strip(document: AuditDocument) -> Rows:
    for cell in strip_of(document):
        pair = dict.fromkeys(PAIR) if cell.pair is None else _cells(cell.pair, PAIR)
        row = _cells(cell, STRIP) | pair | {"reference_rank": document.reference.rank}
        row |= _limits(cell.first, "reference") | _limits(cell.selected, "selected") | _limits(cell.change, "change")
        yield row | _cells(cell, JUDGED)


def _guards(document: AuditDocument) -> Rows:
    for check in document.selection.guards:
        yield _cells(check, GUARD) | _limits(check.holdout, "holdout") | {"status": check.status}


def _left_out(document: AuditDocument) -> Rows:
    for model in document.models:
        for entry in model.left_out:
            yield {"rank": model.rank, **_cells(entry, LEFT_OUT)}


def _examples(document: AuditDocument) -> Rows:
    """Yield the training examples that models leave out, one row for each feature of each example."""
    for example in document.examples:
        for feature, value in example.values.items():
            yield {"row": example.row, "label": example.label, "feature": feature, "value": value}


def _clusters(document: AuditDocument) -> Rows:
    for cluster in document.explanation.clusters if document.explanation else ():
        shared = "; ".join(f"{name} = {value}" for name, value in cluster.cell.items())
        yield _cells(cluster, CLUSTER) | {"shared": shared}


def _flips(document: AuditDocument) -> Rows:
    """Yield the rows of the holdout that the selected model and the reference decide differently."""
    table = document.dataset
    for flip in document.flips.flipped if document.flips else ():
        decided = (table.unfavourable, table.favourable)
        first, selected = decided if flip.becomes == "favourable" else decided[::-1]
        groups = {_group_column(column): group for column, group in flip.groups.items()}
        yield {"row": flip.row, "label": flip.label, "reference": first, "selected": selected, **groups}


def _flipped_groups(document: AuditDocument) -> Rows:
    for column, groups in (document.flips.by_column if document.flips else {}).items():
        yield from ({"column": column, **asdict(group)} for group in groups)


def _range(document: AuditDocument) -> Rows:
    """Yield bounds on the parity gap and on each group's selection rate, over all models up to each relative loss."""
    if found := document.parity_range:
        for level in found.levels:
            place: Row = {"column": found.column, "eps": level.eps}
            yield place | {"of": "demographic_parity_difference", **asdict(level.gap)}
            for group in level.groups:
                yield place | {"of": "selection_rate", "group": group.group, **asdict(group.rate)}


def _warnings(document: JudgedDocument) -> Rows:
    return map(asdict, document.warnings)


SIZES = tuple(name for name in GroupSizes.__struct_fields__ if name not in ("name", "holdout_weights"))
SCREENED = ("tells", "column", "feature", "measure", "value", "low")


def _features(document: AuditDocument) -> Rows:
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


def _group_sizes(document: AuditDocument) -> Rows:
    for column in document.dataset.sensitive:
        for group in column.groups:
            yield {"column": column.column, "group": group.name, **_cells(group, SIZES)}


def _screening(document: AuditDocument) -> Rows:
    """Yield how well each feature alone predicts the label, the decisions of model 1, or the group.

    A row without a feature is about all features together.
    """
    return (dict(zip(SCREENED, cells, strict=True)) for cells in _screened(document))


def _screened(document: AuditDocument) -> Iterator[tuple[object, ...]]:
    if (found := document.screening) is None:
        return
    yield "label", None, None, "auc", found.model_auc, None
    for one in found.features:
        yield "label", None, one.feature, "auc", one.auc, one.low
        if one.accuracy is not None:
            yield "label", None, one.feature, "accuracy", one.accuracy, None
    for alike in found.lookalikes:
        yield "model 1", None, alike.feature, "agreement", alike.agreement, None
    for column in found.columns:
        yield "group", column.column, None, "auc", column.together, None
        for one in column.features:
            yield "group", column.column, one.feature, "auc", one.auc, one.low


def _weights(document: AuditDocument) -> Rows:
    """Yield the weight of every feature in each model of the document that has weights."""
    if (anatomy := document.anatomy) is None:
        return
    columns = [(one.name, level) for one in anatomy.features for level in one.columns]
    for model in anatomy.weights:
        for (feature, level), weight in zip(columns, model.weights, strict=True):
            yield {"rank": model.rank, "feature": feature, "level": level, "weight": weight}


def _effects(document: AuditDocument) -> Rows:
    """Yield, for models with non-linear kernels, the share of decisions that change when a feature is shuffled."""
    if (anatomy := document.anatomy) is None:
        return
    for model in anatomy.effects:
        for feature, effect in zip(anatomy.features, model.effects, strict=True):
            yield {"rank": model.rank, "feature": feature.name, "rows": model.rows, "effect": effect}


def _tuning(document: AuditDocument) -> Rows:
    for tried in document.tuning.grid if document.tuning else ():
        yield {"C": tried.C, "accuracy": tried.accuracy}


def _splits(document: AuditDocument) -> Rows:
    """Yield each row number with its split, in the order of the table; nothing if the run is redacted."""
    if found := document.dataset.split_rows:
        rows = [(row, split) for split in SPLITS for row in found.of_split(split)]
        for row, split in sorted(rows):
            yield {"row": row, "split": split}


MEASURES = (*get_args(Performance), *GAPS, *RATIOS)
IN_USE = "in use"  # the origin of the model in use
MODEL = ("rank", "origin", "objective", "objective_ratio", "loss_ratio", "support_size", "supports")
COUNTED = ("support_size", "supports", "records_left_out")  # empty for the model in use
COUNTS = ("rows", "favourable", "selected", "true_positives")
BASELINE = ("name", "is_randomised", "error")
INCUMBENT = (
    *("name", "source", "favourable", "unfavourable", "cutoff", "is_lower_better", "has_score", "undecided"),
    *("agreement", "is_constant"),
)
AGREEMENT = ("balanced_agreement", "auc")
OUTCOME = ("p", "shortfall", "detectable", "is_small", "is_compared")
GROUP = ("group", "n", "selected", "ratio", *OUTCOME)
RATES = (
    *(SELECTION_RATE.column, "difference"),
    *(rate.column for rate in compared_rates() if rate.needs_label),
    BASE_RATE.column,
)


def _model(model: AuditedModel | Incumbent, document: AuditDocument) -> Row:
    selection = document.selection
    row: Row = dict.fromkeys((*MODEL, "tilt_price", "records_left_out")) | {"rank": model.rank, "origin": IN_USE}
    if isinstance(model, AuditedModel):
        row |= _cells(model, (*MODEL, "records_left_out"))
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


def _scores(document: AuditDocument) -> Rows:
    """Yield every measure of every model on both splits, with its limits and its change against the reference."""
    for model in document.members:
        for part in PARTS:
            for name in MEASURES:
                found = model.scores.of(part).measure(name)
                change = found.change if isinstance(found, ChangedEstimate) and found.change else Estimate()
                verdict = found.verdict if isinstance(found, GapEstimate) else None
                row: Row = {"rank": model.rank, "split": part, "measure": name, "verdict": verdict}
                yield row | _limits(found) | _limits(change, "change")


def _groups(document: AuditDocument) -> Rows:
    for table in document.group_tables:
        for group in table.groups:
            yield _cells(table, ("rank", "column")) | _cells(group, GROUP) | _estimates(group, RATES)


def _outcomes(document: AuditDocument) -> Rows:
    """Yield counts of rows, selected rows and true positives by model, split, sensitive column and group."""
    columns = {column.column: column.groups for column in document.dataset.sensitive}
    for model in document.members:
        for part in PARTS:
            for column, found in model.scores.of(part).by_column.items():
                place: Row = {"rank": model.rank, "split": part, "column": column}
                for group, *decided in zip(columns[column], found.selected, found.true_positives, strict=True):
                    counts = (group.rows(part), group.positives(part), *decided)
                    yield place | {"group": group.name, **dict(zip(COUNTS, counts, strict=True))}


def _disagreement(document: AuditDocument) -> Rows:
    for column, groups in document.multiplicity.by_column.items() if document.multiplicity else ():
        yield from ({"column": column, **asdict(group)} for group in groups)


def _baselines(document: AuditDocument) -> Rows:
    for method in document.baselines or ():
        row = _cells(method, BASELINE)
        if scores := method.scores:
            gap = scores.gap(document.selection.tolerances.metric)
            row |= {"performance": scores.performance.value, "accuracy": scores.accuracy.value}
            row |= {"gap": gap.value, "verdict": gap.verdict}
        yield row


def _incumbent(document: AuditDocument) -> Rows:
    """Yield one row about the model in use, if any: source, agreement with labels, decisions unlike model 1's."""
    if found := document.incumbent:
        flips = {f"{part}_flips": found.predictions_changed.of(part).rows for part in PARTS}
        compared = {"copies": "; ".join(found.copies), "is_compared_with": document.is_against_incumbent}
        yield _cells(found, INCUMBENT) | _estimates(found, AGREEMENT) | compared | flips


def _incumbent_gaps(document: AuditDocument) -> Rows:
    for column in document.incumbent_measures.columns if document.incumbent_measures else ():
        for name in (*GAPS, *RATIOS):
            yield {"column": column.column, "measure": name, **_limits(getattr(column.scores, name))}


def _incumbent_groups(document: AuditDocument) -> Rows:
    for table in document.incumbent_measures.tables if document.incumbent_measures else ():
        for group in table.groups:
            yield {"column": table.column} | _cells(group, GROUP) | _estimates(group, RATES)


RANKED = ("scoring_ratio", "difference", "auc")
RANKING = ("column", "group", "n", *_three("scoring_rate"), "mean", "deviation", *_three(*RANKED))
SWEPT = ("selection_rate", "gap", "ratio", "accuracy")
CUTOFFS = ("column", "cutoff", "group", *_three("rate", *SWEPT))
CALIBRATION = ("column", "low", "high", "group", "n", *_three("rate"))


def _rankings(score: MeasuredScore) -> Rows:
    """Yield of each group's scores the share on the favourable side of the median, the mean, deviation and AUC."""
    for column in score.columns:
        for group, own in zip(column.scoring.groups, column.groups, strict=True):
            row: Row = {"column": column.column, "n": group.n, **_limits(group.rate, "scoring_rate")}
            yield row | _cells(own, ("group", "mean", "deviation")) | _estimates(own, RANKED)


def _cutoffs(score: MeasuredScore) -> Rows:
    """Yield the selection rate of each group at every measured cutoff of a score."""
    for column in score.columns:
        for point in column.sweep:
            for group, rate in zip(column.groups, point.rates, strict=True):
                row: Row = {"column": column.column, "cutoff": point.cutoff, "group": group.group}
                yield row | _limits(rate, "rate") | _estimates(point, SWEPT)


def _calibration(score: MeasuredScore) -> Rows:
    """Yield, for each interval of scores and each group, the share of rows with the favourable label."""
    for column in score.columns:
        for one in column.calibration:
            for group, rows, rate in zip(column.groups, one.rows, one.rates, strict=True):
                row: Row = {"column": column.column, "low": one.low, "high": one.high, "group": group.group}
                yield row | {"n": rows} | _limits(rate, "rate")


def _by_rank(rows: Callable[[MeasuredScore], Rows]) -> Callable[[AuditDocument], Rows]:
    """Return a function that applies `rows` to each model's scores in an audit, and adds the rank to each row."""
    return lambda document: ({"rank": one.rank, **row} for one in document.scores for row in rows(one.score))


SHEETS = {
    "incumbent": Sheet(
        (*INCUMBENT, *_three(*AGREEMENT), "copies", "is_compared_with", *(f"{part}_flips" for part in PARTS)),
        _incumbent,
    ),
    "incumbent_gaps": Sheet(("column", "measure", *LIMITS), _incumbent_gaps),
    "incumbent_groups": Sheet(("column", *GROUP, *_three(*RATES)), _incumbent_groups),
    "scores": Sheet(("rank", "split", "measure", *LIMITS, *_three("change"), "verdict"), _scores),
    "groups": Sheet(("rank", "column", *GROUP, *_three(*RATES)), _groups),
    "rankings": Sheet(("rank", *RANKING), _by_rank(_rankings)),
    "cutoffs": Sheet(("rank", *CUTOFFS), _by_rank(_cutoffs)),
    "calibration": Sheet(("rank", *CALIBRATION), _by_rank(_calibration)),
    "outcomes": Sheet(("rank", "split", "column", "group", *COUNTS), _outcomes),
    "disagreement": Sheet(("column", *GroupDisagreement.__struct_fields__), _disagreement),
    "baselines": Sheet((*BASELINE, "performance", "accuracy", "gap", "verdict"), _baselines),
    "ambiguity": Sheet(
        (
            *("eps", "column", "group", "is_compared", *AMBIGUOUS_COUNTS, *BOUNDED, "listed"),
            *(f"gap_{name}" for name in BOUNDED),
        ),
        _ambiguity,
    ),
    "ambiguity_curve": Sheet(("eps", "column", "group", *BOUNDED), _curve),
    "flip_prices": Sheet(("row", "decision", "low", "high"), _prices, _group_columns),
    "strip": Sheet((*STRIP, *PAIR, "reference_rank", *_three("reference", "selected", "change"), *JUDGED), _strip),
    "guards": Sheet((*GUARD, *_three("holdout"), "status"), _guards),
    "left_out": Sheet(("rank", *LEFT_OUT), _left_out),
    "examples": Sheet(("row", "label", "feature", "value"), _examples),
    "clusters": Sheet((*CLUSTER, "shared"), _clusters),
    "flips": Sheet(("row", "label", "reference", "selected"), _flips, _group_columns),
    "flipped_groups": Sheet(("column", *GroupFlips.__struct_fields__), _flipped_groups),
    "range": Sheet(("column", "eps", "of", "group", *Extent.__struct_fields__), _range),
    "warnings": Sheet(Caution.__struct_fields__, _warnings),
    "features": Sheet(("feature", "kind", "missing", "unseen", "pooled", "is_dropped"), _features),
    "group_sizes": Sheet(("column", "group", *SIZES), _group_sizes),
    "screening": Sheet(SCREENED, _screening),
    "weights": Sheet(("rank", "feature", "level", "weight"), _weights),
    "effects": Sheet(("rank", "feature", "rows", "effect"), _effects),
    "tuning": Sheet(("C", "accuracy"), _tuning),
    "splits": Sheet(("row", "split"), _splits),
}


def _decisions(document: MeasureDocument) -> Rows:
    """Yield one row for each set of decisions and each sensitive column: selection rate, gaps, changes and verdicts."""
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            row: Row = {"number": number, "decision": decisions.name, "how": decisions.how, "column": column.column}
            row |= _cells(decisions, ("cutoff", "selected")) | _estimates(decisions, ("selection_rate", "accuracy"))
            for gap in GAPS:
                own = column.scores.gap(gap)
                row |= _limits(own, gap) | _limits(own.change or Estimate(), f"{gap}_change")
                row[f"{gap}_verdict"] = own.verdict
            yield row | _estimates(column.scores, ("demographic_parity_ratio",)) | {"four_fifths": column.four_fifths}


def _measured_groups(document: MeasureDocument) -> Rows:
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            for group, own in zip(column.impact.groups, column.groups, strict=True):
                row: Row = {"number": number, "decision": decisions.name, "column": column.column}
                row |= _cells(group, ("group", "n", "selected", *OUTCOME)) | {"positives": own.positives}
                yield row | _estimates(group, RATES) | _estimates(own, ("ratio", "accuracy"))


def _of_score(rows: Callable[[MeasuredScore], Rows]) -> Callable[[MeasureDocument], Iterable[Row]]:
    return lambda document: rows(document.score) if document.score else ()


GIVEN_ROW = ("log_error", "statistic", "corrected", "p", "homogeneity", "homogeneity_p", "unmatched", "compared_rows")
GIVEN_ESTIMATES = ("raw", "difference", "odds_ratio", "within", "composition")


def _given(document: MeasureDocument) -> Rows:
    """Yield one row for each group that is compared with a reference group within strata."""
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            for one in column.given.groups if column.given else ():
                row: Row = {"number": number, "decision": decisions.name, "column": column.column, "group": one.group}
                row["reference"] = column.given.reference if column.given else None
                yield row | _estimates(one, GIVEN_ESTIMATES) | _cells(one, GIVEN_ROW)


def _strata(document: MeasureDocument) -> Rows:
    """Yield one row for each stratum and group: its rows, selected rows, and the gap of the stratum."""
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            names = [row.group for row in column.impact.groups]
            for stratum in column.given.strata if column.given else ():
                for group, n, selected in zip(names, stratum.n, stratum.selected, strict=True):
                    row: Row = {"number": number, "decision": decisions.name, "column": column.column}
                    row |= {"stratum": stratum.name, "group": group, "n": n, "selected": selected}
                    yield row | _limits(stratum.gap, "gap")


def _periods(document: MeasureDocument) -> Rows:
    """Yield one row for each period and group: its rows, selected rows and rate, and the gap of the period."""
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            names = [row.group for row in column.impact.groups]
            for period in column.periods.periods if column.periods else ():
                for place, group in enumerate(names):
                    row: Row = {"number": number, "decision": decisions.name, "column": column.column}
                    row |= _cells(period, ("period", "is_baseline")) | {"group": group}
                    row |= {"n": period.n[place], "selected": period.selected[place]}
                    yield row | _limits(period.rates[place], "rate") | _limits(period.gap, "gap")


def _alarms(document: MeasureDocument) -> Rows:
    """Yield one row for each watched rate: its limit, its evidence after the last period, and its alarm."""
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            for one in column.periods.watched if column.periods else ():
                row: Row = {"number": number, "decision": decisions.name, "column": column.column}
                row |= _cells(one, ("group", "rate", "limit", "threshold", "alarm", "since"))
                yield row | {"evidence": one.evidence[-1] if one.evidence else None}


def _probable(document: MeasureDocument) -> Rows:
    """Yield one row for each group that is known by probability: its weighted rate, bounds and difference."""
    for number, decisions in enumerate(document.decisions, 1):
        for one in decisions.probable.groups if decisions.probable else ():
            row: Row = {"number": number, "decision": decisions.name, "group": one.group, "rows": one.rows}
            bounds: Row = {"bound_low": one.bounds.low, "bound_high": one.bounds.high}
            yield row | _limits(one.rate, "rate") | bounds | _limits(one.difference, "difference")


# Tables that most measurements do not have.
OPTIONAL_SHEETS = {
    "given": Sheet((), _given),
    "strata": Sheet((), _strata),
    "periods": Sheet((), _periods),
    "alarms": Sheet((), _alarms),
    "probable": Sheet((), _probable),
}
SCORE_SHEETS = {
    "scores": Sheet((), _of_score(_rankings)),
    "cutoffs": Sheet(CUTOFFS, _of_score(_cutoffs)),
    "calibration": Sheet(CALIBRATION, _of_score(_calibration)),
}
MEASURED_SHEETS = {
    "decisions": Sheet((), _decisions),
    "groups": Sheet((), _measured_groups),
    **OPTIONAL_SHEETS,
    **SCORE_SHEETS,
    "warnings": Sheet(MeasureCaution.__struct_fields__, _warnings),
}


def models(document: AuditDocument) -> pd.DataFrame:
    """Return a data frame of models by rank: training results, and scores on the selection split and the holdout.

    The model in use, if there is one, comes first, with rank 0 and without training results.
    """
    frame = pd.DataFrame([_model(model, document) for model in document.members]).set_index("rank")
    return frame.astype(dict.fromkeys(COUNTED, "Int64")) if document.incumbent else frame


def tables(document: JudgedDocument) -> dict[str, pd.DataFrame]:
    """Return all tables of a document as data frames, by name."""
    if isinstance(document, AuditDocument):
        return {"models": models(document), **{name: sheet.frame(document) for name, sheet in SHEETS.items()}}
    empty = {*(() if document.score else SCORE_SHEETS)}
    empty |= {name for name, sheet in OPTIONAL_SHEETS.items() if not any(sheet.rows(document))}
    return {name: sheet.frame(document) for name, sheet in MEASURED_SHEETS.items() if name not in empty}


INDEX = "index"


def table_files(document: JudgedDocument) -> dict[str, bytes]:
    """Return CSV files by file name: every table of a document, and an index that describes the tables."""
    return {f"{name}.csv": to_csv(frame).encode(errors="backslashreplace") for name, frame in _frames(document).items()}


def table_names(document: JudgedDocument) -> list[str]:
    """Return the names of all CSV files that `table_files` may return for a document."""
    return [f"{name}.csv" for name in (INDEX, *about_tables(document))]


def workbook(document: JudgedDocument) -> bytes:
    """Return the bytes of an Excel workbook: an index, and every table of a document as a sheet."""
    return to_xlsx(_frames(document))


def write_tables(document: JudgedDocument, folder: str | Path) -> None:
    """Write every table as a CSV file to a folder, which is created if missing; other files in the folder stay."""
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
