"""Parts of a measurement about strata: groups compared given legitimate factors, and columns that may be such."""

from __future__ import annotations

from typing import Literal

from fairenum.document.value import Estimate, Value

FactorEffect = Literal["reverses", "removes"]


class Stratum(Value, frozen=True):
    """The rows that are alike in all given columns.

    Attributes
    ----------
    n, selected
        Number of rows, and of selected rows, of each group, in the order of the adverse-impact table.
    gap
        Largest difference of two selection rates between the compared groups in this stratum; its limits hold for this
        stratum alone. Null if fewer than two groups have rows.
    """

    name: str
    n: tuple[int, ...]
    selected: tuple[int, ...]
    gap: Estimate


class GivenGroup(Value, frozen=True):
    """A group compared with the reference group within strata.

    Attributes
    ----------
    raw
        Selection rate minus that of the reference group, without regard to strata.
    difference
        The same within strata: the Mantel-Haenszel difference, with limits by Sato's variance.
    odds_ratio
        Mantel-Haenszel odds ratio of selection, with the limits of Robins, Breslow and Greenland; 1 is no difference.
    log_error
        Standard error of the logarithm of the odds ratio.
    statistic, corrected, p
        Chi-squared statistics of the Mantel-Haenszel test that there is no difference in any stratum, without and with
        a continuity correction, and the p-value of the latter.
    homogeneity, homogeneity_p
        Statistic and p-value of the test of Breslow and Day, corrected by Tarone, that the odds ratio is the same in
        all strata; null for fewer than two strata, and with clusters.
    unlike
        The stratum that adds most to this statistic; null without it.
    within, composition, unmatched
        The parts of `raw` by Kitagawa: within strata; due to how the groups are spread over strata; due to strata in
        which one of the two groups has no rows.
    compared_rows
        Number of rows of both groups in strata where both have rows.
    differences
        Rate minus that of the reference group in each stratum; limits hold one by one.
    """

    group: str
    raw: Estimate
    difference: Estimate
    odds_ratio: Estimate
    log_error: float | None
    statistic: float | None
    corrected: float | None
    p: float | None
    homogeneity: float | None
    homogeneity_p: float | None
    within: Estimate
    composition: Estimate
    unmatched: float | None
    compared_rows: int
    differences: tuple[Estimate, ...]
    unlike: str | None = None


class GivenMeasures(Value, frozen=True):
    """Selection rates of the groups of one sensitive column, compared within strata.

    Attributes
    ----------
    columns
        The columns of legitimate factors; strata are combinations of their values.
    reference
        The group that others are compared with.
    strata
        All strata, in the order of their names.
    groups
        The compared groups other than the reference group.
    """

    columns: tuple[str, ...]
    reference: str
    strata: tuple[Stratum, ...]
    groups: tuple[GivenGroup, ...]


class FactorHint(Value, frozen=True):
    """A column that reverses or removes the difference between the two groups of a sensitive column that differ most.

    Attributes
    ----------
    column
        The sensitive column.
    factor
        The column whose values are the strata.
    group, reference
        The least and the most selected group of the sensitive column, small groups excepted.
    raw, given
        Selection rate of the group minus that of the reference group: as it is, and within strata.
    effect
        Whether the difference within strata is shown to have the opposite sign, or is at most half as large, or of the
        opposite sign, and may be 0.
    """

    column: str
    factor: str
    group: str
    reference: str
    raw: Estimate
    given: Estimate
    effect: FactorEffect
