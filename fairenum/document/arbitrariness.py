"""Whose decision depends on which of the near-optimal machines is used, over all of them, listed or not.

The flip price of a row is the least relative loss, above that of model 1, at which some machine of the same kernel
decides the row otherwise. Its loss is that on all training rows. Ambiguity and discrepancy are those of Marx, Calmon
and Ustun (2020), over the machines whose loss, and not whose accuracy, is within eps of the least.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from fairenum.document.value import Value


class BoundedShare(Value, frozen=True):
    """A share of rows of which some may be open: neither shown to flip, nor that they do not.

    Attributes
    ----------
    least, most
        Between what it is on the examined rows: one and the same where no row is open, null where it is undefined.
    low, high
        Its limits where the rows come from, as of any rate; null where it is undefined.
    """

    least: float | None = None
    most: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_exact(self) -> bool:
        """Whether no row is open."""
        return self.least == self.most


class FlippedShare(Value, frozen=True):
    """How many rows some machine within a loss decides otherwise than model 1.

    Attributes
    ----------
    rows
        Those that were examined.
    flipped
        Those of them that a machine is known to decide otherwise.
    open
        Those of which it is not known.
    ambiguity
        The share of rows that are flipped, by weight where rows have weights.
    listed
        The same share for the listed models within that loss, on the same rows; null without rows.
    """

    rows: int
    flipped: int
    open: int
    ambiguity: BoundedShare
    listed: float | None = None


class GroupFlipped(FlippedShare, frozen=True, kw_only=True):
    """The same for the rows of one group."""

    group: str
    is_compared: bool = True


class FlippedColumn(Value, frozen=True):
    """The groups of one sensitive column.

    Attributes
    ----------
    gap
        The arbitrariness gap: the largest minus the smallest ambiguity of its compared groups.
    """

    groups: tuple[GroupFlipped, ...]
    gap: BoundedShare


class CurvePoint(Value, frozen=True):
    """Ambiguity within one loss.

    Attributes
    ----------
    groups
        By group of the column that models are selected by, in the order of its compared groups that have rows.
    """

    eps: float
    overall: BoundedShare
    groups: tuple[BoundedShare, ...] = ()


class Discrepancy(Value, frozen=True):
    """The largest share of the examined rows that a single machine within the loss decides otherwise than model 1.

    Attributes
    ----------
    attained
        What one that was looked at does.
    rank
        The listed model that does; null for model 1 with another bias, or if none does anything.
    bound
        What none goes beyond: the ambiguity, at its most.
    """

    attained: float
    rank: int | None
    bound: float


class PricedRows(Value, frozen=True):
    """The rows that were examined, in the order of the table; a redacted document has none.

    Attributes
    ----------
    rows
        Their numbers in the input table, counted from 0.
    is_favourable
        What model 1 decides.
    low, high
        What is proven about their prices; a null high is more than was looked for.
    groups
        By sensitive column the place of their group among those of the column.
    """

    rows: tuple[int, ...] = ()
    is_favourable: tuple[bool, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float | None, ...] = ()
    groups: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)

    def is_whole(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether all rows are told alike, of groups that there are; `sizes` is how many a column has."""
        parts = (self.is_favourable, self.low, self.high, *self.groups.values())
        places = ((column, code) for column, codes in self.groups.items() for code in codes)
        is_known = all(0 <= code < sizes.get(column, 0) for column, code in places)
        return is_known and all(len(part) == len(self.rows) for part in parts)


class PriceEffort(Value, frozen=True):
    """What it took to find the prices.

    Attributes
    ----------
    distinct
        Different rows among those that were examined.
    screened
        Those that the geometry of the best machine settled.
    listed
        Those that listed models settled.
    walked
        Those for which a problem was solved.
    """

    distinct: int
    screened: int
    listed: int
    walked: int


class Arbitrariness(Value, frozen=True):
    """Whose decision depends on which of the near-optimal machines is used.

    Attributes
    ----------
    eps
        The relative loss within which machines count as near-optimal.
    threshold
        Decision values of at least this are favourable, for every machine: where model 1 is cut.
    holdout
        Rows of the holdout, of which those examined are a random sample where they are fewer.
    overall
        Of all rows that were examined.
    by_column
        By sensitive column.
    models
        Listed models within that loss, on all training rows.
    curve
        Over losses from small to large.
    discrepancy
        Null without rows.
    """

    eps: float
    threshold: float
    holdout: int
    overall: FlippedShare
    by_column: dict[str, FlippedColumn]
    models: int
    curve: tuple[CurvePoint, ...]
    discrepancy: Discrepancy
    priced: PricedRows = PricedRows()
    effort: PriceEffort | None = None

    def faults(self, groups: Mapping[str, list[str]], column: str | None, models: int) -> Iterator[tuple[str, str]]:
        """Say where it contradicts its document: the place, and what is wrong there; `groups` are those of columns."""
        for name, one in self.by_column.items():
            if [group.group for group in one.groups] != groups.get(name):
                yield "arbitrariness.by_column", f"{name!r} is no column with such groups"
        if not self.priced.is_whole({name: len(names) for name, names in groups.items()}):
            yield "arbitrariness.priced", "examined rows have a decision, a price and known groups each"
        shown = len(self.shown(column))
        if not self.curve or any(len(point.groups) != shown or point.eps <= 0.0 for point in self.curve):
            yield "arbitrariness.curve", "it has points of losses above 0, each with all groups of its column"
        if not 1 <= (self.discrepancy.rank or 1) <= models:
            yield "arbitrariness.discrepancy.rank", f"no model has rank {self.discrepancy.rank}; there are {models}"

    def shown(self, column: str | None) -> tuple[GroupFlipped, ...]:
        """Return the groups of a column that a curve shows: the compared ones of which rows were examined."""
        found = self.by_column.get(column or "")
        return tuple(one for one in found.groups if one.is_compared and one.rows) if found else ()

    @property
    def is_sample(self) -> bool:
        """Whether not all rows of the holdout were examined."""
        return self.overall.rows < self.holdout

    @property
    def redacted(self) -> Arbitrariness:
        """Leave single rows out."""
        return self.but(priced=PricedRows())
