"""The registry of gaps between groups: one entry for each.

A gap compares a rate of every group, or several rates, and a rate is a share of some rows of the group. Options,
guards, rules, documents, numbers, tables and pages follow from the entries: a new metric is one more of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar


class Countable(Protocol):
    """A number of rows, or an array of such numbers."""

    def __add__(self, other: Any, /) -> Any:
        """Count rows of both kinds."""

    def __sub__(self, other: Any, /) -> Any:
        """Count the other rows."""


N = TypeVar("N", bound=Countable)


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a group.

    Attributes
    ----------
    label
        The label of the rows, where 1 is favourable; None for both labels.
    is_selected
        Whether the rows get the favourable outcome; None for either outcome.
    """

    label: int | None = None
    is_selected: bool | None = None

    def __and__(self, other: Rows) -> Rows:
        """Return the rows that belong to both."""
        label = self.label if other.label is None else other.label
        return Rows(label, self.is_selected if other.is_selected is None else other.is_selected)

    def count(self, total: tuple[N, N], selected: tuple[N, N]) -> N:
        """Count these rows, given all rows and the selected ones, each with an unfavourable and a favourable label."""
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
    """A rate of a group: the share of its trials that have an outcome.

    Attributes
    ----------
    key, name, short
        Its name in documents, in sentences, and in narrow columns.
    trials
        The rows in the denominator.
    outcome
        The rows in the numerator, if they are among the trials.
    is_benefit
        Whether a higher rate is better for a group.
    field
        Its name in adverse-impact tables, if it is not the key.
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
        """The name in adverse-impact tables."""
        return self.field or self.key

    @property
    def needs_label(self) -> bool:
        """Whether the rate needs labels."""
        return (self.trials & self.outcome).label is not None

    @property
    def depends_on_model(self) -> bool:
        """Whether the trials differ between models."""
        return self.trials.is_selected is not None

    def fraction(self, total: tuple[N, N], selected: tuple[N, N]) -> tuple[N, N]:
        """Count outcomes and trials, given all rows and the selected ones by label."""
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
    """A gap: the largest difference between two groups in a rate, or in the worse of several.

    Attributes
    ----------
    key
        Its name in options and documents.
    name
        Its name for readers.
    rates
        The compared rates.
    ratio
        The name, in options and documents, of the smallest ratio between two groups; None if it is not measured.
    legend
        The meaning of the short names of its rates, for a note below a table; empty where another entry has it.
    constraint
        Its names in fairlearn: the class of the reductions, and the word for ThresholdOptimizer; None without any.
    is_later
        Whether there are saved documents without it; it counts as not measured there.
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
        """The difference, and the ratio if it is measured."""
        return (self.key,) if self.ratio is None else (self.key, self.ratio)

    @property
    def needs_label(self) -> bool:
        """Whether the gap needs labels."""
        return any(rate.needs_label for rate in self.rates)

    def trials(self, total: tuple[int, int], selected: tuple[int, int]) -> int:
        """Count the rows of a group behind its rates, given all rows and the selected ones by label; the fewest."""
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
    """Return the gaps as options call them, the default first."""
    return tuple(metric.key for metric in METRICS)


def ratio_keys() -> tuple[str, ...]:
    """Return the ratios as options call them."""
    return tuple(metric.ratio for metric in METRICS if metric.ratio is not None)


def compared_rates() -> tuple[ComparedRate, ...]:
    """Return the rates behind all gaps, each once."""
    return tuple(dict.fromkeys(rate for metric in METRICS for rate in metric.rates))


def metric_of(measure: str) -> GapMetric | None:
    """Return the metric of a gap or ratio; None for a measure of all rows together."""
    return next((metric for metric in METRICS if measure in metric.measures), None)
