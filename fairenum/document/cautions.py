"""What to beware of when reading an audit: codes that follow from its document alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Caution

# Differences that a sample of the holdout's size should show; a larger limit deserves a warning.
NOTABLE_DIFFERENCE = 0.1
NOTABLE_GROWTH = 0.05  # of a gap that the model was not selected by
REFERENCE_AGREES = 1e-9


def cautions(document: AuditDocument) -> tuple[Caution, ...]:
    """List what to beware of."""
    rooms = (_of_run, _of_table, _of_groups, _of_models, _of_choice)
    return tuple(chain.from_iterable(find(document) for find in rooms))


def _of_run(document: AuditDocument) -> Iterator[Caution]:
    if document.enumeration.stopped == "interrupted":
        yield Caution("interrupted")
    if document.is_exploratory:
        yield Caution("exploratory")
    if document.guided and document.guided.obstacle and document.column is not None:
        yield Caution("guided_skipped")
    if document.enumeration.ties:
        yield Caution("few_predictors")
    if document.enumeration.stopped == "solver":
        yield Caution("solver_failed")
    if document.enumeration.stopped in ("nodes", "time"):
        yield Caution("budget_spent")


def _of_table(document: AuditDocument) -> Iterator[Caution]:
    kinds = {feature.kind for feature in document.dataset.features if feature.missing}
    if "numeric" in kinds:
        yield Caution("imputed")
    if "categorical" in kinds:
        yield Caution("missing")
    if document.dataset.dropped:
        yield Caution("dropped")
    if document.dataset.unseen:
        yield Caution("unseen")
    if not document.config.standardise:
        yield Caution("unscaled")
    if document.config.reading.use_sensitive:
        yield Caution("sensitive_features")


def _of_groups(document: AuditDocument) -> Iterator[Caution]:
    columns = document.dataset.sensitive
    if not columns:
        yield Caution("no_sensitive")
    for column in columns:
        if any(group.is_small for group in column.groups):
            yield Caution("small_group", column.column)
        for part in ("selection", "holdout"):
            if sum(group.rows(part) > 0 for group in column.groups) < 2:
                yield Caution("single_group", column.column, part)
    if (limit := unseen_difference(document)) and limit > NOTABLE_DIFFERENCE:
        yield Caution("low_power", document.column)


def unseen_difference(document: AuditDocument) -> float | None:
    """Return the difference in selection rate that the groups of the primary column can hide from model 1's table."""
    tables = [table for table in document.group_tables if table.rank == 1 and table.column == document.column]
    limits = [group.detectable for table in tables for group in table.groups if group.detectable is not None]
    return max(limits, default=None)


def _of_models(document: AuditDocument) -> Iterator[Caution]:
    if any(model.is_constant for model in document.models):
        yield Caution("constant")
    for rank in document.selection.shortlist:
        if document.models[rank - 1].undetermined.holdout:
            yield Caution("undetermined", rank=rank)
    if not all(model.is_order_certified for model in document.models):
        yield Caution("order")


def _of_choice(document: AuditDocument) -> Iterator[Caution]:
    selection, chosen = document.selection, document.selected
    if selection.outcome == "selected" and chosen:
        if selection.reason == "smallest_gap" and not selection.is_fairer:
            yield Caution("not_confirmed")
        for column in document.dataset.sensitive:
            change = chosen.scores.holdout.by_column[column.column].gap(selection.tolerances.metric).change
            if not column.is_primary and change and (change.value or 0.0) >= NOTABLE_GROWTH:
                yield Caution("other_column", column.column)
    if document.reference_check.largest_difference > REFERENCE_AGREES:
        yield Caution("reference")
