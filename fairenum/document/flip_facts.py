"""Statements about all near-optimal models, listed or not: which decisions they change, and their range of parity gaps.

Losses are relative: the loss on the training rows divided by the least possible loss, minus 1. The flip price of a
decision is the least loss of a model that decides differently from model 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from fairenum.document.value import Value

FlipState = Literal["flips", "settled", "open"]


class ValueRange(Value, frozen=True):
    """Range of one person's decision values over all models up to some relative loss.

    Attributes
    ----------
    low_bound, high_bound
        Proven bounds on the decision value under every such model.
    low_attained, high_attained
        Smallest and largest decision value for which a model was found.
    """

    low_bound: float
    low_attained: float
    high_attained: float
    high_bound: float


class WeightChange(Value, frozen=True):
    """One weight in model 1, and in a model that decides differently about a person.

    Attributes
    ----------
    level
        The value of a categorical feature or the condition on a number, such as "> 50", that the weight belongs to;
        null for the number itself.
    first, other
        The weight in model 1, and in the other model.
    is_condition
        Whether `level` is a condition on a number.
    """

    feature: str
    level: str | None
    first: float
    other: float
    is_condition: bool = False


class MovedExample(Value, frozen=True):
    """A training example that is a support vector of only one of two models.

    Attributes
    ----------
    row
        First row of the example in the input table, counted from 0; identical rows are one example.
    """

    row: int
    label: str


class FlippingModel(Value, frozen=True):
    """The model of least loss among those that decide differently from model 1 about a person.

    Attributes
    ----------
    weights
        The weights that differ most from those of model 1; empty for a kernel without weights.
    dropped, added
        Number of training examples that are support vectors of model 1 only, and of this model only.
    examples
        Some of the examples that are support vectors of model 1 only.
    """

    weights: tuple[WeightChange, ...] = ()
    dropped: int = 0
    added: int = 0
    examples: tuple[MovedExample, ...] = ()

    @property
    def redacted(self) -> FlippingModel:
        """A copy without the training examples, which are single rows."""
        return self.but(examples=())


class PersonFlipPrice(Value, frozen=True):
    """The flip price of one decision: the least relative loss of a model that decides differently about the person.

    Attributes
    ----------
    eps
        Largest relative loss of a near-optimal model.
    low, high
        Proven lower and upper bound on the flip price; the upper bound is the relative loss of `model`.
    model
        The model of least loss that decides differently.
    values
        Range of the decision values of all near-optimal models, minus the cut, so that 0 and above is favourable; null
        if eps is 0, or where nothing is proven.
    """

    eps: float
    low: float
    high: float
    model: FlippingModel
    values: ValueRange | None = None

    @property
    def state(self) -> FlipState:
        """``flips`` if some near-optimal model decides differently, ``settled`` if none does, ``open`` if unknown."""
        if self.high <= self.eps:
            return "flips"
        return "settled" if self.low > self.eps else "open"


class BoundedShare(Value, frozen=True):
    """Bounds on the share of rows that some near-optimal model decides differently from model 1.

    A row is open if it is not known whether there is such a model.

    Attributes
    ----------
    least, most
        Bounds on the share among the examined rows: equal if no row is open, null where the share is undefined.
    low, high
        Confidence limits for the population that the rows come from; null where the share is undefined.
    """

    least: float | None = None
    most: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_exact(self) -> bool:
        """Whether both bounds are equal, as no row is open."""
        return self.least == self.most


class FlippedShare(Value, frozen=True):
    """Number and share of rows that some near-optimal model decides differently from model 1.

    Attributes
    ----------
    rows
        Number of rows that were examined.
    flipped
        Number of examined rows that some near-optimal model is known to decide differently.
    open
        Number of examined rows that may or may not be decided differently by some near-optimal model.
    ambiguity
        The share of flipped rows among the examined rows, weighted where rows have weights.
    listed
        The share of the examined rows that a listed near-optimal model decides differently; null without rows.
    """

    rows: int
    flipped: int
    open: int
    ambiguity: BoundedShare
    listed: float | None = None


class GroupFlipped(FlippedShare, frozen=True, kw_only=True):
    """Number and share of rows of one group that some near-optimal model decides differently from model 1."""

    group: str
    is_compared: bool = True


class FlippedColumn(Value, frozen=True):
    """Ambiguity by group of a sensitive column: the share of rows that some near-optimal model decides unlike model 1.

    Attributes
    ----------
    gap
        The ambiguity gap: the largest minus the smallest ambiguity of the compared groups.
    """

    groups: tuple[GroupFlipped, ...]
    gap: BoundedShare


class CurvePoint(Value, frozen=True):
    """Ambiguity at one eps: the share of rows that some model of relative loss up to eps decides unlike model 1.

    Attributes
    ----------
    overall
        Ambiguity over all examined rows.
    groups
        Ambiguity of each compared group with examined rows, in the order of the groups of the primary column.
    """

    eps: float
    overall: BoundedShare
    groups: tuple[BoundedShare, ...] = ()


class Discrepancy(Value, frozen=True):
    """The largest share of the examined rows that a single near-optimal model decides differently from model 1.

    Attributes
    ----------
    attained
        The largest share among listed models, and models that differ from model 1 in their bias only.
    rank
        Rank of the listed model with that share; null if it is model 1 with another bias, or if the share is 0.
    bound
        An upper bound on the share for every near-optimal model: the upper bound of the ambiguity.
    """

    attained: float
    rank: int | None
    bound: float


class PricedRows(Value, frozen=True):
    """The examined rows with bounds on their flip prices; a redacted document has none.

    All lists are parallel, with one entry for each row.

    Attributes
    ----------
    rows
        Row numbers in the input table, counted from 0.
    is_favourable
        Whether model 1 decides the row favourably.
    low, high
        Proven bounds on the flip price; a null upper bound means that the price exceeds the largest one looked for.
    groups
        For each sensitive column, the index of the row's group among the groups of the column, counted from 0.
    """

    rows: tuple[int, ...] = ()
    is_favourable: tuple[bool, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float | None, ...] = ()
    groups: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)

    def is_whole(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether all lists have equal lengths and all groups exist; `sizes` are numbers of groups by column."""
        parts = (self.is_favourable, self.low, self.high, *self.groups.values())
        places = ((column, code) for column, codes in self.groups.items() for code in codes)
        is_known = all(0 <= code < sizes.get(column, 0) for column, code in places)
        return is_known and all(len(part) == len(self.rows) for part in parts)


class PriceEffort(Value, frozen=True):
    """Number of distinct rows whose flip price each method found.

    Attributes
    ----------
    distinct
        Number of distinct rows; identical rows have the same price, which is computed once.
    screened
        Rows whose price exceeds the largest one looked for, as a proof made for another row shows.
    listed
        Rows that a listed model of the least possible loss decides differently.
    walked
        Rows for which an optimisation problem was solved.
    """

    distinct: int
    screened: int
    listed: int
    walked: int


class AmbiguityFacts(Value, frozen=True):
    """Ambiguity: the share of rows whose decision depends on the choice among all near-optimal models.

    Attributes
    ----------
    eps
        Largest relative loss, on all training rows, of a near-optimal model.
    threshold
        The cut of model 1, here used for every model: decision values of at least this are favourable.
    holdout
        Number of rows of the holdout; if fewer rows were examined, they are a random sample of it.
    overall
        Ambiguity over all examined rows.
    by_column
        Ambiguity by sensitive column.
    models
        Number of listed models that are near-optimal.
    curve
        Ambiguity for several values of eps, from small to large.
    discrepancy
        The largest share of the examined rows that a single near-optimal model decides differently.
    priced
        The examined rows with their flip prices.
    effort
        Number of rows whose flip price each method found; null in runs that did not keep it.
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
        """Yield the JSON path and the reason of each contradiction with the rest of the document.

        `groups` are the group names by sensitive column, `column` is the primary column, and `models` is the number of
        listed models.
        """
        for name, one in self.by_column.items():
            if [group.group for group in one.groups] != groups.get(name):
                yield "ambiguity.by_column", f"{name!r} is no column with such groups"
        if not self.priced.is_whole({name: len(names) for name, names in groups.items()}):
            yield "ambiguity.priced", "examined rows have a decision, a price and known groups each"
        shown = len(self.shown(column))
        if not self.curve or any(len(point.groups) != shown or point.eps <= 0.0 for point in self.curve):
            yield "ambiguity.curve", "it has points of losses above 0, each with all groups of its column"
        if not 1 <= (self.discrepancy.rank or 1) <= models:
            yield "ambiguity.discrepancy.rank", f"no model has rank {self.discrepancy.rank}; there are {models}"

    def shown(self, column: str | None) -> tuple[GroupFlipped, ...]:
        """Return the groups of a column that `curve` has: the compared groups with examined rows."""
        found = self.by_column.get(column or "")
        return tuple(one for one in found.groups if one.is_compared and one.rows) if found else ()

    @property
    def is_sample(self) -> bool:
        """Whether only a sample of the holdout was examined."""
        return self.overall.rows < self.holdout

    @property
    def redacted(self) -> AmbiguityFacts:
        """A copy without the examined rows."""
        return self.but(priced=PricedRows())


class Extent(Value, frozen=True):
    """Range of a number over all near-optimal models.

    Attributes
    ----------
    low, high
        Proven bounds on the number for every near-optimal model.
    least, most
        Smallest and largest number for which a near-optimal model was found.
    """

    low: float
    least: float
    most: float
    high: float


class GroupExtent(Value, frozen=True):
    """Range of the selection rate of one group over all near-optimal models.

    Attributes
    ----------
    rows
        Number of rows of the group in the holdout.
    """

    group: str
    rows: int
    rate: Extent


class RangeLevel(Value, frozen=True):
    """Ranges of the selection rates and of the parity gap over all models up to one relative loss.

    Attributes
    ----------
    eps
        Largest relative loss: the loss on the training rows divided by the least possible loss, minus 1.
    gap
        Range of the demographic parity difference: the largest difference between two groups' selection rates.
    groups
        Ranges of the selection rates of the compared groups.
    doubtful
        Number of holdout rows of the compared groups that are not proven to be decided as model 1 decides them.
    by_rows
        Bounds on the gap if doubtful rows may be decided in any way: the first step of the proof.
    by_envelope
        Bounds on the gap from a convex relaxation of the decisions about doubtful rows, the second step of the proof;
        null if there was no time or no need for it.
    solves
        Number of training problems solved for the proof.
    branches
        Number of branches in the last step of the proof, each of which fixes the decision about one more row.
    """

    eps: float
    gap: Extent
    groups: tuple[GroupExtent, ...]
    doubtful: int
    by_rows: tuple[float, float]
    by_envelope: tuple[float, float] | None
    solves: int
    branches: int


class ParityRange(Value, frozen=True):
    """Range of the demographic parity difference on the holdout over all near-optimal models, listed or not.

    Attributes
    ----------
    column
        The sensitive column, or intersection of columns, whose groups are compared.
    rows
        Number of holdout rows of the compared groups.
    unexamined
        Number of these rows whose flip price was not computed, and which therefore count as doubtful.
    levels
        Ranges for some relative losses, the smallest loss first.
    """

    column: str
    rows: int
    unexamined: int
    levels: tuple[RangeLevel, ...]

    def at(self, eps: float) -> RangeLevel | None:
        """Return the ranges for a relative loss of `eps`; None if they were not computed."""
        return next((level for level in self.levels if level.eps == eps), None)
