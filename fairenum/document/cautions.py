"""What to beware of when reading an audit: codes that follow from its document alone, the gravest first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import get_args

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Caution
from fairenum.document.consequences import (
    NOTABLE_MOVE,
    ROUNDING,
    balance_lost,
    broken_guards,
    few_trials,
    is_levelled_down,
    other_model,
    reversals,
    selection_moved,
    wider,
)
from fairenum.document.incumbent import Incumbent
from fairenum.document.table import SensitiveColumn
from fairenum.document.terms import CautionCode

# Differences that a sample of the holdout's size should show; a larger limit deserves a warning.
NOTABLE_DIFFERENCE = 0.1
NOTABLE_MISS = 0.01  # of the share that models are to select
REFERENCE_AGREES = 1e-9
TELLING_SHARE = 0.5  # of the holdout's rows that weights should leave it worth
RANKS = {code: rank for rank, code in enumerate(get_args(CautionCode))}


def cautions(document: AuditDocument) -> tuple[Caution, ...]:
    """List what to beware of, by what it means for the reader: the order of the codes."""
    rooms = (_of_run, _of_incumbent, _of_table, _of_features, _of_groups, _of_models, _of_choice)
    found = chain.from_iterable(find(document) for find in rooms)
    return tuple(sorted(found, key=lambda caution: RANKS[caution.code]))


def unused_rows(document: AuditDocument) -> int:
    """Count the rows that the sizes of the splits leave out."""
    sizes, rows = document.config.sizes, document.dataset.rows
    if document.dataset.origin.how != "random":
        return 0
    whole = rows if all(isinstance(size, int) for size in sizes) else 1
    return rows - round(sum(sizes) / whole * rows)


def _of_run(document: AuditDocument) -> Iterator[Caution]:
    spending = document.spending
    if document.enumeration.stopped == "interrupted" or (spending and spending.is_cut_by("interrupt")):
        yield Caution("interrupted")
    if spending and spending.is_over:
        yield Caution("over_time")
    if spending and spending.is_cut_by("time"):
        yield Caution("time_spent")
    if document.is_exploratory:
        yield Caution("exploratory")
    if unused_rows(document):
        yield Caution("unused_rows")
    obstacle = document.guided.obstacle if document.guided else None
    if obstacle not in (None, "no_time") and document.column is not None:  # which time_spent tells of
        yield Caution("guided_skipped")
    if document.requested.class_weight == "auto" and document.config.machine.class_weight != "none":
        yield Caution("class_weighted")
    if document.enumeration.ties:
        yield Caution("few_predictors")
    if document.enumeration.stopped == "solver":
        yield Caution("solver_failed")
    if document.lapse:
        yield Caution("solver_replaced")
    if document.enumeration.stopped == "nodes" or (document.enumeration.stopped == "time" and spending is None):
        yield Caution("budget_spent")


def _of_incumbent(document: AuditDocument) -> Iterator[Caution]:
    if (incumbent := document.incumbent) is None:
        return
    if incumbent.agreement == 1.0:
        yield Caution("incumbent_label")
    if incumbent.is_constant:
        yield Caution("incumbent_constant")
    if _selects_otherwise(document, incumbent) and not selection_moved(document):  # which says the same
        yield Caution("incumbent_rate")
    if incumbent.copies:
        yield Caution("incumbent_copies")
    if incumbent.undecided:
        yield Caution("incumbent_undecided")


def _selects_otherwise(document: AuditDocument, incumbent: Incumbent) -> bool:
    """Tell whether model 1, cut at the sign, selects quite another share of the holdout than the model in use.

    Nothing can be cut like one that selects everybody, or nobody.
    """
    rates = [one.scores.holdout.selection_rate.value for one in (incumbent, document.first)]
    own, first = (math.nan if rate is None else rate for rate in rates)
    is_otherwise = abs(first - own) >= NOTABLE_MOVE - ROUNDING
    return is_otherwise and document.config.decide == "sign" and not incumbent.is_constant


def _of_table(document: AuditDocument) -> Iterator[Caution]:
    yield from (Caution(kind) for kind in dict.fromkeys(remark.kind for remark in document.dataset.remarks))
    kinds = {feature.kind for feature in document.dataset.features if feature.missing}
    if "numeric" in kinds:
        yield Caution("imputed")
    if "categorical" in kinds:
        yield Caution("missing")
    if document.dataset.dropped:
        yield Caution("dropped")
    if document.dataset.unseen:
        yield Caution("unseen")
    if document.dataset.pooled:
        yield Caution("pooled")
    if not document.config.standardise:
        yield Caution("unscaled")
    if document.config.reading.use_sensitive:
        yield Caution("sensitive_features")
    origin = document.dataset.origin
    if origin.straddling:
        yield Caution("straddling", origin.group_column)
    if 0 < origin.members < document.dataset.rows:
        yield Caution("related_rows", origin.group_column)
    weights = document.dataset.weights
    if weights and weights.holdout < TELLING_SHARE * document.dataset.splits.holdout:
        yield Caution("uneven_weights", weights.column)


def _of_features(document: AuditDocument) -> Iterator[Caution]:
    if (found := document.screening) is None:
        return
    if found.lookalikes:
        yield Caution("one_column")
    if found.other_leaks:
        yield Caution("leak")
    yield from (Caution("proxy", column.column) for column in found.columns if column.copies)


def _of_groups(document: AuditDocument) -> Iterator[Caution]:
    columns = document.dataset.sensitive
    if not columns:
        yield Caution("no_sensitive")
    for column in columns:
        yield from _of_column(column)
        if few_trials(document, column):
            yield Caution("few_trials", column.column)
    if len(columns) > 1 and not any(column.is_intersection for column in columns):
        yield Caution("no_intersection")
    if (limit := unseen_difference(document)) and limit > NOTABLE_DIFFERENCE:
        yield Caution("low_power", document.column)


def _of_column(column: SensitiveColumn) -> Iterator[Caution]:
    if column.regrouped.merged or column.regrouped.left_out:
        yield Caution("regrouped", column.column)
    if column.regrouped.alike:
        yield Caution("alike_groups", column.column)
    if column.aside:
        yield Caution("set_aside", column.column)
    if any(group.is_small for group in column.compared):
        yield Caution("small_group", column.column)
    for part in ("selection", "holdout"):
        if sum(group.rows(part) > 0 for group in column.compared) < 2:
            yield Caution("single_group", column.column, part)


def unseen_difference(document: AuditDocument) -> float | None:
    """Return the difference in selection rate that the groups of the primary column can hide from model 1's table."""
    tables = [table for table in document.group_tables if table.rank == 1 and table.column == document.column]
    compared = [group for table in tables for group in table.groups if group.is_compared]
    return max((group.detectable for group in compared if group.detectable is not None), default=None)


def _of_models(document: AuditDocument) -> Iterator[Caution]:
    if any(model.is_constant for model in document.models):
        yield Caution("constant")
    yield from _of_cuts(document)
    for rank in document.selection.shortlist:
        if document.models[rank - 1].undetermined.holdout:
            yield Caution("undetermined", rank=rank)
    if _is_met_unequally(document):
        yield Caution("arbitrary_gap", document.column)
    if not all(model.is_order_certified for model in document.models):
        yield Caution("order")


def _is_met_unequally(document: AuditDocument) -> bool:
    """Tell whether the choice among near-optimal models is shown to matter more to some groups than to others."""
    found = document.arbitrariness and document.arbitrariness.by_column.get(document.column or "")
    return bool(found and found.gap.low)


def _of_cuts(document: AuditDocument) -> Iterator[Caution]:
    """Tell of models that do not select the share of the selection split that was asked for, to the row."""
    wanted, rows = document.config.rate, document.dataset.splits.selection
    for rank in document.selection.shortlist if wanted is not None else ():
        model = document.models[rank - 1]
        missed = abs((model.scores.selection.selection_rate.value or 0.0) - (wanted or 0.0)) * rows
        if missed > max(NOTABLE_MISS * rows, 0.5) or (model.tied > 1 and missed > 0.5):
            yield Caution("missed_rate", rank=rank)


def _of_choice(document: AuditDocument) -> Iterator[Caution]:
    selection = document.selection
    if selection.outcome == "selected" and selection.reason == "smallest_gap" and not selection.is_fairer:
        yield Caution("not_confirmed")
    if other_model(document):
        yield from _of_consequences(document)
    if document.reference_check.largest_difference > REFERENCE_AGREES:
        yield Caution("reference")


def _of_consequences(document: AuditDocument) -> Iterator[Caution]:
    """Tell what the selected model makes worse."""
    if broken_guards(document):
        yield Caution("broken_guard")
    for column in document.dataset.sensitive:
        if wider(document, column.column):
            yield Caution("wider_gap", column.column)
        if any(reversals(document, column.column)):
            yield Caution("reversed", column.column)
    if is_levelled_down(document):
        yield Caution("levelled_down", document.column)
    if selection_moved(document):
        yield Caution("moved_selection")
    if balance_lost(document):
        yield Caution("lost_balance")
