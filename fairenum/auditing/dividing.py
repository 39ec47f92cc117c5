"""The table of an audit, divided, with the groups that are compared and those that are set aside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairenum.dataset import Dataset, Groups
from fairenum.dataset.naming import option
from fairenum.document.audit_config import AuditConfig
from fairenum.document.guards import refuse_unknown_columns, resolved_guards
from fairenum.errors import ColumnUnusable
from fairenum.experiment import Division, divide

# Groups whose differences, two by two and in fifty models, are still bounded within half a minute and half a gigabyte.
MOST_GROUPS = 60


def divided(dataset: Dataset, config: AuditConfig) -> Division:
    """Divide and encode a table, and set groups aside.

    A column with more groups than can be compared is refused, as is a guardrail about a column that is not there; an
    intersection that nobody asked for is left out.
    """
    fewest = None if config.small_groups == "keep" else config.min_group_size
    division = divide(
        dataset, config.sizes, config.seed, primary=config.primary, standardise=config.standardise, fewest=fewest
    )
    for groups in division.columns:
        is_asked_for = groups is division.primary or groups.column in {one.column for one in dataset.sensitive}
        if is_asked_for and _compared(groups) > MOST_GROUPS:
            raise ColumnUnusable(_too_many(groups, fewest))
    columns = tuple(one for one in division.columns if _compared(one) <= MOST_GROUPS)
    names = [one.column for one in columns]
    refuse_unknown_columns(resolved_guards(config.guards), names)
    train, selection, holdout = (
        replace(rows, others=tuple(one for one in rows.others if one.column in names))
        for rows in (division.train, division.selection, division.holdout)
    )
    return replace(division, columns=columns, train=train, selection=selection, holdout=holdout)


def _compared(groups: Groups) -> int:
    return int(np.count_nonzero(groups.compared))


def _too_many(groups: Groups, fewest: int | None) -> str:
    """Say that groups are too many to compare, and how to have fewer."""
    more = max(2 * (fewest or 0), MOST_GROUPS)
    raised = option("min_group_size", more, "min-group-size", str(more))
    aside = option("small_groups", "set-aside", "small-groups", "set-aside")
    return (
        f"sensitive column {groups.column!r} has {_compared(groups)} groups to compare two by two, more than "
        f"{MOST_GROUPS}; set small ones aside with {aside if fewest is None else raised}, or join some with merge "
        "(--merge)"
    )
