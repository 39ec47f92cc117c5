"""A document of a measurement as pandas frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pandas as pd

from fairenum.document.measure import MeasureDocument
from fairenum.document.measured_score import GroupRanking
from fairenum.document.terms import Gap
from fairenum.document.value import Estimate

Row = dict[str, object]
ROW = ("group", "n", "selected", "p", "shortfall", "detectable", "is_small", "is_compared")
RATES = ("rate", "difference", "true_positive_rate", "false_positive_rate", "precision", "base_rate")


def tables(document: MeasureDocument) -> dict[str, pd.DataFrame]:
    """Return everything that is a table, by name."""
    found = {"decisions": _decisions(document), "groups": _groups(document)}
    if document.score:
        found |= {"scores": _scores(document), "cutoffs": _cutoffs(document), "calibration": _calibration(document)}
    return {name: pd.DataFrame(list(rows)) for name, rows in found.items()}


def _limits(name: str, found: Estimate) -> Row:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _decisions(document: MeasureDocument) -> Iterator[Row]:
    """Yield every set of decisions in every sensitive column."""
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            row: Row = {"number": number, "decision": decisions.name, "how": decisions.how, "column": column.column}
            row |= {"cutoff": decisions.cutoff, "selected": decisions.selected}
            row |= _limits("selection_rate", decisions.selection_rate) | _limits("accuracy", decisions.accuracy)
            for gap in get_args(Gap):
                own = column.scores.gap(gap)
                row |= _limits(gap, own) | _limits(f"{gap}_change", own.change or Estimate())
                row[f"{gap}_verdict"] = own.verdict
            yield (
                row
                | _limits("demographic_parity_ratio", column.scores.demographic_parity_ratio)
                | {"four_fifths": column.four_fifths}
            )


def _groups(document: MeasureDocument) -> Iterator[Row]:
    for number, decisions in enumerate(document.decisions, 1):
        for column in decisions.columns:
            for group, own in zip(column.impact.groups, column.groups, strict=True):
                row: Row = {"number": number, "decision": decisions.name, "column": column.column}
                row |= {name: getattr(group, name) for name in ROW} | {"positives": own.positives}
                for name in RATES:
                    row |= _limits(name, getattr(group, name))
                yield row | _limits("ratio", own.ratio) | _limits("accuracy", own.accuracy)


def _scores(document: MeasureDocument) -> Iterator[Row]:
    for column in document.score.columns if document.score else ():
        for group, own in zip(column.scoring.groups, column.groups, strict=True):
            yield {"column": column.column, "n": group.n} | _limits("scoring_rate", group.rate) | _ranking(own)


def _ranking(own: GroupRanking) -> Row:
    row: Row = {"group": own.group, "mean": own.mean, "deviation": own.deviation}
    for name in ("scoring_ratio", "difference", "auc"):
        row |= _limits(name, getattr(own, name))
    return row


def _cutoffs(document: MeasureDocument) -> Iterator[Row]:
    for column in document.score.columns if document.score else ():
        for point in column.sweep:
            for group, rate in zip(column.groups, point.rates, strict=True):
                row: Row = {"column": column.column, "cutoff": point.cutoff, "group": group.group}
                row |= _limits("rate", rate) | _limits("selection_rate", point.selection_rate)
                yield (
                    row
                    | _limits("gap", point.gap)
                    | _limits("ratio", point.ratio)
                    | _limits("accuracy", point.accuracy)
                )


def _calibration(document: MeasureDocument) -> Iterator[Row]:
    for column in document.score.columns if document.score else ():
        for one in column.calibration:
            for group, rows, rate in zip(column.groups, one.rows, one.rates, strict=True):
                row: Row = {"column": column.column, "low": one.low, "high": one.high, "group": group.group}
                yield row | {"n": rows} | _limits("rate", rate)
