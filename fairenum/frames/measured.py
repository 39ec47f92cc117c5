"""A document of a measurement as pandas frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pandas as pd
from msgspec.structs import asdict

from fairenum.document.measure import MeasureCaution, MeasureDocument
from fairenum.document.measured_score import GroupRanking, MeasuredScore
from fairenum.document.terms import Gap
from fairenum.document.value import Estimate
from fairenum.frames.sheet import Row, limits, three

ROW = ("group", "n", "selected", "p", "shortfall", "detectable", "is_small", "is_compared")
RATES = ("rate", "difference", "true_positive_rate", "false_positive_rate", "precision", "base_rate")
SCORED = ("scoring_ratio", "difference", "auc")
RANKING = ("mean", "deviation", *(title for name in SCORED for title in three(name)))
SWEEP = ("rate", "selection_rate", "gap", "ratio", "accuracy")
# The columns of tables that may have no rows.
MAY_BE_EMPTY = {
    "cutoffs": ["column", "cutoff", "group", *(title for name in SWEEP for title in three(name))],
    "calibration": ["column", "low", "high", "group", "n", *three("rate")],
    "warnings": [*MeasureCaution.__struct_fields__],
}


def tables(document: MeasureDocument) -> dict[str, pd.DataFrame]:
    """Return everything that is a table, by name."""
    found = {"decisions": _decisions(document), "groups": _groups(document)}
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
            for gap in get_args(Gap):
                own = column.scores.gap(gap)
                row |= limits(own, gap) | limits(own.change or Estimate(), f"{gap}_change")
                row[f"{gap}_verdict"] = own.verdict
            yield (
                row
                | limits(column.scores.demographic_parity_ratio, "demographic_parity_ratio")
                | {"four_fifths": column.four_fifths}
            )


def _groups(document: MeasureDocument) -> Iterator[Row]:
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            for group, own in zip(column.impact.groups, column.groups, strict=True):
                row: Row = {"number": number, "decision": decisions.name, "column": column.column}
                row |= {name: getattr(group, name) for name in ROW} | {"positives": own.positives}
                for name in RATES:
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
