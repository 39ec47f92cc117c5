"""Flip prices, ambiguity and the parity range: decisions and gaps over all near-optimal models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from fairenum.document.value import Value

FlipState = Literal["flips", "settled", "open"]


class ValueRange(Value, frozen=True):
    """Range of one person's decision values over all models within a loss.

    Attributes
    ----------
    low_bound, high_bound
        Proven bounds for every such model.
    low_attained, high_attained
        Extremes that some model attains.
    """

    low_bound: float
    low_attained: float
    high_attained: float
    high_bound: float


class WeightChange(Value, frozen=True):
    """A weight of model 1, and of the model that decides differently; `level` is the text that the weight is for."""

    feature: str
    level: str | None
    first: float
    other: float


class MovedExample(Value, frozen=True):
    """A training example that supports only one of two models: its first row, counted from 0."""

    row: int
    label: str


class FlippingModel(Value, frozen=True):
    """The model of least loss that decides the person differently.

    Attributes
    ----------
    weights
        The weights that change most, if the kernel has weights.
    dropped, added
        Number of training examples that support model 1 only, and this model only.
    examples
        Some of the dropped examples: those that this model does without.
    """

    weights: tuple[WeightChange, ...] = ()
    dropped: int = 0
    added: int = 0
    examples: tuple[MovedExample, ...] = ()

    @property
    def redacted(self) -> FlippingModel:
        """A copy without single rows."""
        return self.but(examples=())


class PersonFlipPrice(Value, frozen=True):
    """The flip price of one person's decision.

    Attributes
    ----------
    eps
        The relative loss within which models count as near-optimal.
    low, high
        Proven lower bound on the flip price, and the loss that the flipping model attains.
    model
        The model of least loss that decides differently.
    values
        Decision values of all models within eps, minus the cut; null if eps is 0, or where nothing is proven.
    """

    eps: float
    low: float
    high: float
    model: FlippingModel
    values: ValueRange | None = None

    @property
    def state(self) -> FlipState:
        """Whether the decision depends on the choice among near-optimal models."""
        if self.high <= self.eps:
            return "flips"
        return "settled" if self.low > self.eps else "open"


class BoundedShare(Value, frozen=True):
    """Bounds on a share of rows, where it is open for some rows whether they flip.

    Attributes
    ----------
    least, most
        Bounds on the share among the examined rows: equal where no row is open, null where the share is undefined.
    low, high
        Confidence limits for the population that the rows come from; null where the share is undefined.
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
    """Rows that some model within a loss decides differently from model 1.

    Attributes
    ----------
    rows
        Rows that were examined.
    flipped
        Examined rows that some model is known to decide differently.
    open
        Examined rows for which this is not known.
    ambiguity
        The share of flipped rows, by weight where rows have weights.
    listed
        The share of the same rows that a listed model within the loss decides differently; null without rows.
    """

    rows: int
    flipped: int
    open: int
    ambiguity: BoundedShare
    listed: float | None = None


class GroupFlipped(FlippedShare, frozen=True, kw_only=True):
    """Rows of one group that some model within a loss decides differently from model 1."""

    group: str
    is_compared: bool = True


class FlippedColumn(Value, frozen=True):
    """Ambiguity in each group of one sensitive column.

    Attributes
    ----------
    gap
        The ambiguity gap: the largest minus the smallest ambiguity of the compared groups.
    """

    groups: tuple[GroupFlipped, ...]
    gap: BoundedShare


class CurvePoint(Value, frozen=True):
    """Ambiguity among all models within one relative loss.

    Attributes
    ----------
    groups
        For the compared groups that have rows, in order, of the column that models are selected by.
    """

    eps: float
    overall: BoundedShare
    groups: tuple[BoundedShare, ...] = ()


class Discrepancy(Value, frozen=True):
    """The largest share of the examined rows that a single model within the loss decides differently from model 1.

    Attributes
    ----------
    attained
        The largest share among the models that were looked at.
    rank
        The listed model with that share; null if it is model 1 with another bias, or if no model changes a decision.
    bound
        An upper bound for every model within the loss: the ambiguity, at its most.
    """

    attained: float
    rank: int | None
    bound: float


class PricedRows(Value, frozen=True):
    """The rows whose flip prices were looked for, in the order of the table; a redacted document has none.

    Attributes
    ----------
    rows
        Row numbers in the input table, counted from 0.
    is_favourable
        Whether model 1 decides favourably.
    low, high
        Proven bounds on the flip prices; a null high is beyond the largest price that was looked for.
    groups
        For each sensitive column, the place of each row's group among the groups of the column.
    """

    rows: tuple[int, ...] = ()
    is_favourable: tuple[bool, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float | None, ...] = ()
    groups: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)

    def is_whole(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether every row has all its entries and a known group; `sizes` is the number of groups by column."""
        parts = (self.is_favourable, self.low, self.high, *self.groups.values())
        places = ((column, code) for column, codes in self.groups.items() for code in codes)
        is_known = all(0 <= code < sizes.get(column, 0) for column, code in places)
        return is_known and all(len(part) == len(self.rows) for part in parts)


class PriceEffort(Value, frozen=True):
    """Number of rows settled by each method of finding flip prices.

    Attributes
    ----------
    distinct
        Different rows among those that were examined.
    screened
        Rows settled by the geometry of the best model.
    listed
        Rows settled by listed models.
    walked
        Rows for which a problem was solved.
    """

    distinct: int
    screened: int
    listed: int
    walked: int


class AmbiguityFacts(Value, frozen=True):
    """Ambiguity: whose decision depends on the choice among all near-optimal models.

    Attributes
    ----------
    eps
        The relative loss within which models count as near-optimal.
    threshold
        Decision values of at least this are favourable, for every model: the cut of model 1.
    holdout
        Rows of the holdout; the examined rows are a random sample of them where they are fewer.
    overall
        Ambiguity over all examined rows.
    by_column
        Ambiguity by sensitive column.
    models
        Number of listed models within that loss on all training rows.
    curve
        Ambiguity over losses from small to large.
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
        """Yield contradictions with the rest of the document; `groups` are the group names by column."""
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
        """Return the groups of a column that the curve shows: compared groups with examined rows."""
        found = self.by_column.get(column or "")
        return tuple(one for one in found.groups if one.is_compared and one.rows) if found else ()

    @property
    def is_sample(self) -> bool:
        """Whether only a sample of the holdout was examined."""
        return self.overall.rows < self.holdout

    @property
    def redacted(self) -> AmbiguityFacts:
        """A copy without single rows."""
        return self.but(priced=PricedRows())


class Extent(Value, frozen=True):
    """Proven bounds of a number over all near-optimal models, and the extremes that were found.

    Attributes
    ----------
    low, high
        Proven bounds for every such model.
    least, most
        Extremes that some model attains.
    """

    low: float
    least: float
    most: float
    high: float


class GroupExtent(Value, frozen=True):
    """Bounds on the selection rate of one group.

    Attributes
    ----------
    rows
        Rows of the group in the holdout.
    """

    group: str
    rows: int
    rate: Extent


class RangeLevel(Value, frozen=True):
    """Bounds on selection rates and the parity gap over all models within a training loss.

    Attributes
    ----------
    eps
        Largest loss, relative to the least loss, minus 1.
    gap
        The demographic parity difference: the largest difference of two groups' selection rates.
    groups
        Bounds for the compared groups.
    doubtful
        Holdout rows of the compared groups that are not proven to be decided as model 1 decides them.
    by_rows, by_envelope
        Bounds on the gap proven by the settled rows alone, and by the envelope of the decisions without holding any;
        null where there was no time for the latter, or no need.
    solves, branches
        Number of models solved for the proof, and of decisions that were held.
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
    """The demographic parity difference on the holdout over all near-optimal models, listed or not.

    Attributes
    ----------
    column
        The sensitive column.
    rows
        Holdout rows of the compared groups.
    unexamined
        Rows that were not examined, and therefore count as doubtful.
    levels
        Bounds for some losses, the smallest first.
    """

    column: str
    rows: int
    unexamined: int
    levels: tuple[RangeLevel, ...]

    def at(self, eps: float) -> RangeLevel | None:
        """Return the bounds for a loss; None if there are none."""
        return next((level for level in self.levels if level.eps == eps), None)
