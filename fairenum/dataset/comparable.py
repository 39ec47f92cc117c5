"""How many groups can be compared two by two and shown, and what to say of more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from fairenum.dataset.columns import IntArray
from fairenum.dataset.groups import Groups
from fairenum.dataset.naming import option
from fairenum.errors import ColumnUnusable

# Groups that are compared, each with every other one: with so many an audit of 100,000 rows still ends within a minute
# of one processor (tests/slow/test_load.py), and every further one adds pairs with all the others.
MOST_GROUPS = 60
# Groups that are counted in every model and held by the run, set aside or not: runs of more are too large. Pages show
# the largest of them alone.
MOST_SHOWN = 5000


def comparable(
    columns: Iterable[Groups],
    asked_for: Collection[str],
    fewest: int | None,
    parts: Sequence[IntArray | slice] = (slice(None),),
) -> tuple[Groups, ...]:
    """Refuse a column with more groups than can be compared or shown; leave out an intersection nobody asked for.

    Parameters
    ----------
    columns
        With their groups set aside.
    asked_for
        The names of columns that are not left out.
    fewest
        Rows that a compared group needs; None if none were set aside.
    parts
        Row numbers of each part that it needs them in.
    """
    kept = []
    for groups in columns:
        is_shown = len(groups.names) <= MOST_SHOWN
        if is_shown and np.count_nonzero(groups.compared) <= MOST_GROUPS:
            kept.append(groups)
        elif groups.column in asked_for:
            raise ColumnUnusable(_too_many(groups, fewest, parts) if is_shown else _too_long(groups))
    return tuple(kept)


def _too_long(groups: Groups) -> str:
    """Say that groups are too many to show, and how to have fewer."""
    return (
        f"sensitive column {groups.column!r} has {len(groups.names)} groups, more than {MOST_SHOWN}; join some with "
        "merge (--merge), keep the rows of some with only (--only), or name a coarser column"
    )


def _too_many(groups: Groups, fewest: int | None, parts: Sequence[IntArray | slice]) -> str:
    """Say that groups are too many to compare, and how to have fewer."""
    aside = option("small_groups", "set-aside", "small-groups", "set-aside")
    enough = _large_enough(groups, fewest or 0, parts)
    if fewest is not None:
        aside = option("min_group_size", enough, "min-group-size", str(enough))
    remedy = f"set small ones aside with {aside}, or join some with" if enough else "none is large; join some with"
    return (
        f"sensitive column {groups.column!r} has {np.count_nonzero(groups.compared)} groups to compare two by two, "
        f"more than {MOST_GROUPS}; {remedy} merge (--merge)"
    )


def _large_enough(groups: Groups, fewest: int, parts: Sequence[IntArray | slice]) -> int:
    """Return how many rows a group must have so that two or more are compared, but not too many; 0 if nothing does."""
    sizes = np.min([groups.take(part).sizes for part in parts], axis=0)
    known = np.sort(np.delete(sizes, groups.unknown))[::-1]
    least = int(known[MOST_GROUPS]) + 1 if len(known) > MOST_GROUPS else 1
    for size in (max(2 * fewest, MOST_GROUPS, least), least):
        if np.count_nonzero(known >= size) >= 2:
            return size
    return 0
