"""Parts of a measurement about groups that are known by probability only."""

from __future__ import annotations

from fairenum.document.value import Estimate, Value

MOST_LIKELY = "most likely group"  # the name of the column of every row's most likely group


class ProbableGroup(Value, frozen=True):
    """The selection rate of a group that is known by probability only.

    Attributes
    ----------
    rows
        Expected number of rows of the group: the sum of its probabilities.
    rate
        The weighted estimate; unbiased if rows of the same probabilities are selected alike whatever their group.
    bounds
        Lowest and highest rate without that assumption, with sampling error; the value is that of `rate`.
    difference
        The weighted estimate of the rate minus that of the reference group; null for that group itself.
    """

    group: str
    rows: float
    rate: Estimate
    bounds: Estimate
    difference: Estimate


class ProbableMeasures(Value, frozen=True):
    """Selection rates of groups that are known by probability only.

    Attributes
    ----------
    reference
        The group that others are compared with: the one with the most expected rows.
    """

    reference: str
    groups: tuple[ProbableGroup, ...]
