"""What no machine that is nearly as good goes beyond: the selection rates of groups, and the gap between them."""

from __future__ import annotations

from fairenum.document.value import Value


class Extent(Value, frozen=True):
    """Between what a number is proven to lie for every machine, and between what machines were found.

    Attributes
    ----------
    low, high
        No machine goes beyond.
    least, most
        Machines were found that have these.
    """

    low: float
    least: float
    most: float
    high: float


class GroupExtent(Value, frozen=True):
    """The selection rate of a group.

    Attributes
    ----------
    rows
        Of the holdout.
    """

    group: str
    rows: int
    rate: Extent


class ParityRange(Value, frozen=True):
    """What no machine within a training loss goes beyond.

    Attributes
    ----------
    eps
        How far the loss may be above the least, as a share of it.
    gap
        The demographic parity difference: the largest difference of two groups' selection rates.
    groups
        Those that are compared.
    doubtful
        Rows of the holdout, of these groups, that are not proven to be decided as model 1 decides them.
    by_rows, by_envelope
        Between what the gap is proven to lie by the other rows alone, and by the envelope of the decisions without
        holding any; null where there was no time for the latter, or no need.
    solves, branches
        Machines that were solved for to prove it, and decisions that were held.
    """

    eps: float
    gap: Extent
    groups: tuple[GroupExtent, ...]
    doubtful: int
    by_rows: tuple[float, float]
    by_envelope: tuple[float, float] | None
    solves: int
    branches: int


class PossibleRange(Value, frozen=True):
    """The demographic parity difference on the holdout over all machines that are nearly as good, listed or not.

    Attributes
    ----------
    column
        That groups rows.
    rows
        Of the compared groups.
    unexamined
        Those of them whose decision nobody has asked about, and that are in doubt therefore.
    levels
        For some losses, the smallest first.
    """

    column: str
    rows: int
    unexamined: int
    levels: tuple[ParityRange, ...]

    def at(self, eps: float) -> ParityRange | None:
        """Return the level of a loss; None if there is none."""
        return next((level for level in self.levels if level.eps == eps), None)
