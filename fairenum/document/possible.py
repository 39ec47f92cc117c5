"""What no machine that is nearly as good goes beyond, and where the models stand within it."""

from __future__ import annotations

from fairenum.document.value import Value


class RangeEnd(Value, frozen=True):
    """One end of the range: no machine within the loss goes beyond `bound`, and one goes as far as `attained`."""

    bound: float
    attained: float
    solves: int


class RangeModel(Value, frozen=True):
    """Where a listed model stands in the range.

    Attributes
    ----------
    is_within
        Whether its loss is within that of the range.
    """

    rank: int
    value: float
    loss_ratio: float
    is_within: bool


class PossibleRange(Value, frozen=True):
    """The difference of mean decision values of two groups on the holdout, over all machines that are nearly as good.

    Attributes
    ----------
    groups
        The two that lie farthest apart for model 1.
    eps
        The relative loss within which it holds.
    """

    column: str
    groups: tuple[str, str]
    eps: float
    low: RangeEnd
    high: RangeEnd
    models: tuple[RangeModel, ...]
