"""Whom a model selects, group by group: adverse-impact tables."""

from __future__ import annotations

from fairenum.document.value import Estimate, Value


class GroupRow(Value, frozen=True):
    """One group of an adverse-impact table.

    Attributes
    ----------
    ratio
        Rate as a share of that of the most selected group.
    difference
        Rate minus that of the reference group; limits hold one by one.
    p
        Of a test that the rate is that of the reference group.
    shortfall
        How many more of the group would be selected at the rate of the most selected one.
    detectable
        The smallest true difference to the reference group that a sample of this size usually shows.
    is_compared
        Whether the group has a part in gaps, search and choice.
    true_positive_rate, false_positive_rate
        Shares of the rows with a favourable and with an unfavourable label that are selected; limits hold one by one,
        as for all rates. Null in runs that did not keep them.
    precision
        Share of the selected rows whose label is favourable.
    base_rate
        Share of all rows whose label is favourable.
    """

    group: str
    n: int
    selected: int
    rate: Estimate
    ratio: float | None
    difference: Estimate
    p: float | None
    shortfall: float | None
    detectable: float | None
    is_small: bool
    is_compared: bool = True
    true_positive_rate: Estimate = Estimate()
    false_positive_rate: Estimate = Estimate()
    precision: Estimate = Estimate()
    base_rate: Estimate = Estimate()


class GroupTable(Value, frozen=True):
    """An adverse-impact table on the holdout.

    Attributes
    ----------
    most_selected
        The group that ratio and shortfall refer to: of the highest rate among those compared, small ones aside
        if others remain.
    is_weighted
        Whether rows count differently: n and selected are rows, rates and all that follows from them are weighted, and
        a shortfall is in rows of average weight.
    """

    rank: int
    column: str
    reference: str
    most_selected: str | None
    groups: tuple[GroupRow, ...]
    is_weighted: bool = False
