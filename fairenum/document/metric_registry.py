"""The registry of gaps between groups: one entry for each gap.

A gap compares one rate or several rates between groups, and a rate is a share of some rows of a group. Options, guards,
rules, documents, tables and pages are made from the entries, so that a new gap needs only a new entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar


class Countable(Protocol):
    """A number of rows, or an array of such numbers."""

    def __add__(self, other: Any, /) -> Any:
        """Return the sum of two numbers of rows."""

    def __sub__(self, other: Any, /) -> Any:
        """Return the difference of two numbers of rows."""


N = TypeVar("N", bound=Countable)


@dataclass(frozen=True, slots=True)
class Rows:
    """A condition that some rows of a group meet.

    Attributes
    ----------
    label
        The label that a row must have, 1 if favourable, else 0; None for any label.
    is_selected
        Whether a row must be selected (True) or rejected (False); None for any decision.
    """

    label: int | None = None
    is_selected: bool | None = None

    def __and__(self, other: Rows) -> Rows:
        """Return both conditions as one; where both require a label, or both a decision, that of `other` is taken."""
        label = self.label if other.label is None else other.label
        return Rows(label, self.is_selected if other.is_selected is None else other.is_selected)

    def count(self, total: tuple[N, N], selected: tuple[N, N]) -> N:
        """Return the number of rows of a group that meet the condition.

        `total` and `selected` are the numbers of all rows and of the selected rows of the group, each as a pair: rows
        with an unfavourable label, and rows with a favourable one.
        """
        rows = selected if self.is_selected else total
        if self.is_selected is False:
            rows = total[0] - selected[0], total[1] - selected[1]
        found: N = rows[0] + rows[1] if self.label is None else rows[self.label]
        return found


ALL = Rows()
FAVOURABLE, UNFAVOURABLE = Rows(label=1), Rows(label=0)
SELECTED = Rows(is_selected=True)


@dataclass(frozen=True, slots=True)
class ComparedRate:
    """A rate of a group: of the rows that meet one condition (trials), the share that meets another (outcome).

    Attributes
    ----------
    key, name, short
        Name of the rate in documents, in sentences, and in narrow columns.
    trials
        Condition on the rows in the denominator.
    outcome
        Further condition on the rows in the numerator.
    is_benefit
        Whether a higher rate is better for a group.
    field
        Name of the rate in adverse-impact tables; empty if it is the key.
    """

    key: str
    name: str
    short: str
    trials: Rows
    outcome: Rows
    is_benefit: bool = False
    field: str = ""

    @property
    def column(self) -> str:
        """The name of the rate in adverse-impact tables."""
        return self.field or self.key

    @property
    def needs_label(self) -> bool:
        """Whether the rate can only be counted where labels are known."""
        return (self.trials & self.outcome).label is not None

    @property
    def depends_on_model(self) -> bool:
        """Whether the rows in the denominator differ between models."""
        return self.trials.is_selected is not None

    def fraction(self, total: tuple[N, N], selected: tuple[N, N]) -> tuple[N, N]:
        """Return the rows in numerator and denominator, from a group's rows and selected rows by label (0, 1)."""
        return (self.trials & self.outcome).count(total, selected), self.trials.count(total, selected)


SELECTION_RATE = ComparedRate(
    "selection_rate", "selection rate", "selected", trials=ALL, outcome=SELECTED, is_benefit=True, field="rate"
)
TRUE_POSITIVE_RATE = ComparedRate(
    "true_positive_rate", "true positive rate", "TPR", trials=FAVOURABLE, outcome=SELECTED, is_benefit=True
)
FALSE_POSITIVE_RATE = ComparedRate(
    "false_positive_rate", "false positive rate", "FPR", trials=UNFAVOURABLE, outcome=SELECTED
)
PRECISION = ComparedRate("precision", "precision", "PPV", trials=SELECTED, outcome=FAVOURABLE)
BASE_RATE = ComparedRate("base_rate", "base rate", "base", trials=ALL, outcome=FAVOURABLE)  # no gap compares it


@dataclass(frozen=True, slots=True)
class GapMetric:
    """A gap: the largest difference between two groups in a rate; of several rates, the one that differs most.

    Attributes
    ----------
    key
        Name of the gap in options and documents.
    name
        Name of the gap in reports.
    rates
        The rates that are compared between groups.
    ratio
        Name, in options and documents, of the smallest ratio of these rates between two groups; None if the ratio is
        not measured.
    legend
        Explanation of the short names of the rates, for a note below a table; empty if another metric explains them.
    constraint
        Names in fairlearn of the equivalent constraint: its class for reductions, and its word for ThresholdOptimizer;
        None if fairlearn has no such constraint.
    is_later
        Whether older documents lack the gap, which is then read as not measured.
    """

    key: str
    name: str
    rates: tuple[ComparedRate, ...]
    ratio: str | None = None
    legend: str = ""
    constraint: tuple[str, str] | None = None
    is_later: bool = False

    @property
    def measures(self) -> tuple[str, ...]:
        """The name of the gap and, if a ratio is measured, the name of the ratio."""
        return (self.key,) if self.ratio is None else (self.key, self.ratio)

    @property
    def needs_label(self) -> bool:
        """Whether the gap can only be measured where labels are known."""
        return any(rate.needs_label for rate in self.rates)

    def trials(self, total: tuple[int, int], selected: tuple[int, int]) -> int:
        """Return the smallest denominator of a group's rates, from its rows and selected rows by label (0, 1)."""
        return min(rate.trials.count(total, selected) for rate in self.rates)


METRICS: tuple[GapMetric, ...] = (
    GapMetric(
        "demographic_parity_difference",
        "demographic parity",
        (SELECTION_RATE,),
        ratio="demographic_parity_ratio",
        constraint=("DemographicParity", "demographic_parity"),
    ),
    GapMetric(
        "equal_opportunity_difference",
        "equal opportunity",
        (TRUE_POSITIVE_RATE,),
        ratio="equal_opportunity_ratio",
        constraint=("TruePositiveRateParity", "true_positive_rate_parity"),
    ),
    GapMetric(
        "equalized_odds_difference",
        "equalized odds",
        (TRUE_POSITIVE_RATE, FALSE_POSITIVE_RATE),
        ratio="equalized_odds_ratio",
        legend="TPR, FPR: selected of those with a favourable and an unfavourable label",
        constraint=("EqualizedOdds", "equalized_odds"),
    ),
    GapMetric(
        "predictive_parity_difference",
        "predictive parity",
        (PRECISION,),
        legend="PPV: favourable labels among the selected",
    ),
)


def metric_keys() -> tuple[str, ...]:
    """Return the names of all gaps in options, the default first."""
    return tuple(metric.key for metric in METRICS)


def ratio_keys() -> tuple[str, ...]:
    """Return the names of all ratios in options."""
    return tuple(metric.ratio for metric in METRICS if metric.ratio is not None)


def compared_rates() -> tuple[ComparedRate, ...]:
    """Return the rates that any gap compares, each once."""
    return tuple(dict.fromkeys(rate for metric in METRICS for rate in metric.rates))


def metric_of(measure: str) -> GapMetric | None:
    """Return the entry with a gap or ratio of this name; None for measures that compare no groups, such as accuracy."""
    return next((metric for metric in METRICS if measure in metric.measures), None)
