"""Dividing rows that have to stay together: all of one person, or of one firm, go to one part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.columns import FloatArray, IntArray
from fairenum.document.reading import spelled
from fairenum.errors import SplitImpossible

SIZE_MATTERS = 4.0  # how much more the size of a part counts than its share of a label and group


def divided_together(
    members: IntArray, strata: IntArray, counts: Sequence[int], generator: np.random.Generator
) -> IntArray:
    """Put each member into one part, so that sizes and strata are as near to what is wanted as they can be.

    The largest members are placed first, equals in an order of chance, each where it reduces the weighted squares of
    what is missing from the parts most: sum over strata of (rows - wanted)^2 / wanted, and the same for the size of the
    part as a whole. When there are as many members left as parts without any, each of these gets one.

    Parameters
    ----------
    members
        For each row whom it is about.
    strata
        For each row its combination of label and group.
    counts
        Rows wanted in each part; what they leave is a part of its own, which nothing is done with.
    generator
        Source of chance.

    Returns
    -------
    IntArray
        For each row the number of its part.
    """
    _, members = np.unique(members, return_inverse=True)
    held = _held(members, strata)
    wanted_rows = np.array([*counts, len(members) - sum(counts)], dtype=np.float64)
    _refuse_too_few(held, wanted_rows)
    wanted = np.outer(wanted_rows, held.sum(0) / len(members))
    with np.errstate(divide="ignore"):
        weights = np.where(wanted > 0.0, 1.0 / wanted, 0.0)
    weights[:, -1] *= SIZE_MATTERS
    order = np.lexsort((generator.permutation(len(held)), -held[:, -1]))
    return _placed(held, order, wanted, weights)[members]


def _held(members: IntArray, strata: IntArray) -> FloatArray:
    """Count the rows of each member by stratum, and all of them in the last column."""
    kinds, codes = np.unique(strata, return_inverse=True)
    cells = np.bincount(members * len(kinds) + codes, minlength=(members.max() + 1) * len(kinds))
    by_kind = cells.reshape(-1, len(kinds)).astype(np.float64)
    return np.column_stack([by_kind, by_kind.sum(1)])


def _refuse_too_few(held: FloatArray, wanted_rows: FloatArray) -> None:
    parts = int(np.count_nonzero(wanted_rows[:3]))
    if len(held) < parts:
        raise SplitImpossible(
            f"{spelled('group_column')} holds {len(held)} different values, whose rows stay together, for {parts} "
            "parts; give a finer column, or fewer parts (--split)"
        )


def _placed(held: FloatArray, order: IntArray, wanted: FloatArray, weights: FloatArray) -> IntArray:
    """Give each member, in this order, to the part that it serves best."""
    part_of = np.empty(len(held), dtype=np.intp)
    excess = -wanted  # rows beyond what is wanted, by part and stratum
    is_open = wanted[:, -1] > 0.0
    empty = set(np.flatnonzero(is_open[:3]).tolist())
    for done, member in enumerate(order):
        rows = held[member]
        cost = ((rows * (rows + 2.0 * excess)) * weights).sum(1)
        allowed = _only(empty, len(wanted)) if len(order) - done <= len(empty) else is_open
        part = int(np.where(allowed, cost, np.inf).argmin())
        part_of[member] = part
        excess[part] += rows
        empty.discard(part)
    return part_of


def _only(parts: set[int], length: int) -> NDArray[np.bool_]:
    allowed = np.zeros(length, dtype=np.bool_)
    allowed[list(parts)] = True
    return allowed
