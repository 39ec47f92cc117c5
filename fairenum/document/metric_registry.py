"""All gaps between groups that models are judged by: one entry for each, which everything else reads.

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
        Those with this label, where 1 is favourable; None for both.
    is_selected
        Whether they get the favourable outcome; None if that does not matter.
    """

    label: int | None = None
    is_selected: bool | None = None

    def __and__(self, other: Rows) -> Rows:
        """Return the rows that are among both."""
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
    """A rate of a group: the share of some rows, its trials, that are also among others.

    Attributes
    ----------
    key, name, short
        As documents, sentences and narrow columns call it.
    trials
        The rows that it is a share of.
    outcome
        The rows whose share it is.
    is_benefit
        Whether a group is better off with more of it.
    field
        Its name in adverse-impact tables, if that is not the key.
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
        """Whether it is unknown where labels are."""
        return (self.trials & self.outcome).label is not None

    @property
    def depends_on_model(self) -> bool:
        """Whether every model has trials of its own."""
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


BASE_RATE = ComparedRate("base_rate", "base rate", "base", trials=ALL, outcome=FAVOURABLE)  # of no gap


@dataclass(frozen=True, slots=True)
class GapMetric:
    """A gap: the largest difference between two groups in a rate, or in the worse of several.

    Attributes
    ----------
    key
        As options and documents call it.
    name
        As readers know it.
    rates
        The compared rates.
    ratio
        As options and documents call the smallest ratio of two groups; None if it is not measured.
    legend
        What short names of its rates stand for, in a note below a table; empty where another entry says it.
    constraint
        As fairlearn calls it: the class of its reductions, and the word of its thresholds; None where it has no such.
    is_later
        Whether documents were saved before it was an entry; there it counts as not measured.
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
        """Whether it is unknown where labels are."""
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
