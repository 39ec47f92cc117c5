"""The table of an audit, divided, with the groups that are compared and those that are set aside."""

from __future__ import annotations

from dataclasses import replace

from fairenum.dataset import Dataset
from fairenum.dataset.comparable import comparable
from fairenum.document.audit_config import AuditConfig
from fairenum.document.guards import refuse_unknown_columns, resolved_guards
from fairenum.experiment import PARTS, Division, divide


def divided(dataset: Dataset, config: AuditConfig) -> Division:
    """Divide and encode a table, and set groups aside.

    A column with more groups than can be compared is refused, as is a guardrail about a column that is not there; an
    intersection that nobody asked for is left out.
    """
    fewest = None if config.small_groups == "keep" else config.min_group_size
    division = divide(
        dataset, config.sizes, config.seed, primary=config.primary, standardise=config.standardise, fewest=fewest
    )
    asked_for = {one.column for one in dataset.sensitive}
    if division.primary:
        asked_for.add(division.primary.column)
    columns = comparable(division.columns, asked_for, fewest, [division.rows[part] for part in PARTS])
    names = [one.column for one in columns]
    refuse_unknown_columns(resolved_guards(config.guards), names)
    train, selection, holdout = (
        replace(rows, others=tuple(one for one in rows.others if one.column in names))
        for rows in (division.train, division.selection, division.holdout)
    )
    return replace(division, columns=columns, train=train, selection=selection, holdout=holdout)
