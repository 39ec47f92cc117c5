"""How many groups can be compared two by two, and what to say of more."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from fairenum.dataset.groups import Groups
from fairenum.dataset.naming import option
from fairenum.errors import ColumnUnusable

# Groups whose differences, two by two and in fifty models, are still bounded within half a minute and half a gigabyte.
MOST_GROUPS = 60


def comparable(columns: Iterable[Groups], asked_for: Collection[str], fewest: int | None) -> tuple[Groups, ...]:
    """Refuse a column with more groups than can be compared; leave out an intersection that nobody asked for.

    Parameters
    ----------
    columns
        With their groups set aside.
    asked_for
        The names of columns that are not left out.
    fewest
        Rows that a compared group needs; None if none were set aside.
    """
    kept = []
    for groups in columns:
        if np.count_nonzero(groups.compared) <= MOST_GROUPS:
            kept.append(groups)
        elif groups.column in asked_for:
            raise ColumnUnusable(_too_many(groups, fewest))
    return tuple(kept)


def _too_many(groups: Groups, fewest: int | None) -> str:
    """Say that groups are too many to compare, and how to have fewer."""
    more = max(2 * (fewest or 0), MOST_GROUPS)
    raised = option("min_group_size", more, "min-group-size", str(more))
    aside = option("small_groups", "set-aside", "small-groups", "set-aside")
    return (
        f"sensitive column {groups.column!r} has {np.count_nonzero(groups.compared)} groups to compare two by two, "
        f"more than {MOST_GROUPS}; set small ones aside with {aside if fewest is None else raised}, or join some with "
        "merge (--merge)"
    )
