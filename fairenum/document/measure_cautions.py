"""What to beware of when reading a measurement: codes that follow from its document alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fairenum.document.cautions import NOTABLE_DIFFERENCE, NOTABLE_MISS
from fairenum.document.cutoff import Cutoff
from fairenum.document.measure import MeasureCaution, MeasuredColumn, MeasuredDecisions, MeasureDocument


def measure_cautions(document: MeasureDocument) -> tuple[MeasureCaution, ...]:
    """List what to beware of."""
    return tuple(chain(_of_table(document), _of_decisions(document), _of_groups(document)))


def _of_table(document: MeasureDocument) -> Iterator[MeasureCaution]:
    yield from (MeasureCaution(kind) for kind in dict.fromkeys(one.kind for one in document.dataset.remarks))
    if document.dataset.undecided:
        yield MeasureCaution("undecided")


def _of_decisions(document: MeasureDocument) -> Iterator[MeasureCaution]:
    for number, decisions in enumerate(document.decisions, 1):
        if decisions.how == "median" and document.config.cutoff is None:
            yield MeasureCaution("no_cutoff", decision=number)
        if missed_rate(document, decisions):
            yield MeasureCaution("missed_rate", decision=number)
        if decisions.is_constant:
            yield MeasureCaution("constant", decision=number)
        if decisions.follows_label:
            yield MeasureCaution("follows_label", decision=number)


def missed_rate(document: MeasureDocument, decisions: MeasuredDecisions) -> float | None:
    """Return the share that a cut was to select where it selects another, as scores are tied; None if it does not."""
    cutoff = Cutoff.of(document.config.cutoff) if decisions.how == "cutoff" else None
    if cutoff is None or cutoff.rule != "rate" or cutoff.number is None:
        return None
    missed = abs((decisions.selection_rate.value or 0.0) - cutoff.number)
    return cutoff.number if missed > NOTABLE_MISS else None


def _of_groups(document: MeasureDocument) -> Iterator[MeasureCaution]:
    columns = document.dataset.sensitive
    for column in columns:
        yield from _of_column(document, column)
    if len(columns) > 1 and not any(column.is_intersection for column in columns):
        yield MeasureCaution("no_intersection")
    primary = document.dataset.primary.column
    if (limit := unseen_difference(document, primary)) and limit > NOTABLE_DIFFERENCE:
        yield MeasureCaution("low_power", primary)


def _of_column(document: MeasureDocument, column: MeasuredColumn) -> Iterator[MeasureCaution]:
    groups = document.decisions[0].of_column(column.column).impact.groups
    compared = [group for group in groups if group.is_compared]
    if column.regrouped.merged or column.regrouped.left_out:
        yield MeasureCaution("regrouped", column.column)
    if column.regrouped.alike:
        yield MeasureCaution("alike_groups", column.column)
    if len(compared) < len(groups):
        yield MeasureCaution("set_aside", column.column)
    if any(group.is_small for group in compared):
        yield MeasureCaution("small_group", column.column)
    if sum(group.n > 0 for group in compared) < 2:
        yield MeasureCaution("single_group", column.column)


def unseen_difference(document: MeasureDocument, column: str) -> float | None:
    """Return the difference in selection rate that the groups of a column can hide from the first decisions."""
    groups = document.decisions[0].of_column(column).impact.groups
    found = [group.detectable for group in groups if group.is_compared and group.detectable is not None]
    return max(found, default=None)
