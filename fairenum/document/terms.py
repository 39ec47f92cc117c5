"""The fixed words of documents: names of metrics, reasons why searches ended, verdicts, measures of performance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeAlias

from msgspec import Meta

from fairenum.document.metric_registry import METRICS, ComparedRate, compared_rates, metric_keys, ratio_keys
from fairenum.document.options import is_number, shown
from fairenum.errors import ConfigError
from fairenum.runtime.hints import plain_number

# Names from the registry of metrics, plain texts to type checkers: gaps, their ratios, rates of a group, and the rates
# that a model can be tilted by, as their denominators are the same for every model.
if TYPE_CHECKING:
    Gap: TypeAlias = str
    Ratio: TypeAlias = str
    GapRate: TypeAlias = str
    Rate: TypeAlias = str
    TiltRate: TypeAlias = str
else:
    Gap = Literal[metric_keys()]
    Ratio = Literal[ratio_keys()]
    GapRate = Literal[tuple(rate.key for rate in compared_rates())]
    Rate = Literal[GapRate, "accuracy"]
    TiltRate = Literal[tuple(rate.key for rate in compared_rates() if not rate.depends_on_model)]


GAPS: tuple[Gap, ...] = metric_keys()
RATIOS: tuple[Ratio, ...] = ratio_keys()
RATES: Mapping[GapRate, ComparedRate] = {rate.key: rate for rate in compared_rates()}
# The rates behind each gap: the largest difference between two groups in any of them.
GAP_RATES: Mapping[Gap, tuple[GapRate, ...]] = {
    metric.key: tuple(rate.key for rate in metric.rates) for metric in METRICS
}
Performance = Literal["accuracy", "balanced_accuracy", "auc", "performance", "selection_rate"]
Measure = Performance | Gap | Ratio
Part = Literal["selection", "holdout"]
Status = Literal["complete", "interrupted"]
KernelName = Literal["linear", "rbf", "poly"]
Distinctness = Literal["support", "predictions", "diverse"]
Categorical = Literal["onehot", "ordinal"]
Features = Literal["linear", "additive"]
RequestedFeatures = Features | Literal["auto"]
SmallGroups = Literal["set-aside", "keep"]
DecimalSign = Literal["point", "comma"]
Search = Literal["exact", "guided", "both"]
Origin = Literal["exact", "guided", "tilted", "steered"]
Against = Literal["incumbent", "best"]
# Whether models correct the score of the model in use, which is then one of their features.
Around = Literal["none", "incumbent"]
# Why the search among tilted models ended; interrupted is added by audits.
TiltedEnd = Literal["exhausted", "solves", "time", "no_direction", "interrupted"]
Direction = Literal["unfavourable", "favourable"]
Sight = Literal["train", "audit"]
Basis = Literal["measured", "extrapolated", "at least"]
GrowthAxis = Literal["n", "d", "k"]
ClaimVerdict = Literal["holds", "holds sometimes", "does not hold", "not tried"]
# Why an enumeration ended; interrupted and solver are added by audits.
EnumerationEnd = Literal["models", "objective", "nodes", "time", "exhausted", "caller", "alike"]
ListingEnd = EnumerationEnd | Literal["interrupted", "solver"]
# Why the guided search did not start.
Obstacle = Literal["no_sensitive_column", "no_holdout", "cut_short", "no_time"]
Outcome = Literal["selected", "kept", "none"]
Reason = Literal[
    "smallest_gap",
    "asked_for",
    "all_constant",
    "no_sensitive_column",
    "only_model",
    "no_other_candidate",
    "no_smaller_gap",
    "no_disparity",
]
# Kinds of remarks about a column, or a file, made while a table is read.
RemarkKind = Literal[
    "guessed_delimiter",
    "guessed_encoding",
    "row_numbers",
    "constant_column",
    "empty_column",
    "date_column",
    "identifier_text",
    "free_text",
    "object_column",
    "identifier_number",
    "written_numbers",
    "code_numbers",
    "missing_marks",
    "member_column",
    "repeated_members",
]
# Status of a guardrail on the holdout.
GuardStatus = Literal["holds", "broken", "open"]
# The answer of an audit, and what it rests on: what is not shown of a candidate, what is shown against a model that is
# not proposed, and why there is no disparity or nothing to compare.
Answer = Literal["proposed", "candidate", "not proposed", "no disparity", "not comparable"]
AnswerReason = Literal[
    "fairness_not_shown",
    "performance_not_shown",
    "guardrail_not_shown",
    "no_holdout",
    "less_fair",
    "same_gap",
    "hardly_fairer",
    "performance_lost",
    "guardrail_broken",
    "nothing_fairer",
    "nothing_decided",
    "gap_not_shown",
    "gap_within_margin",
    "other_rates",
    "performance_not_reached",
]
# The measures, on the selection split, in which models may differ too much from the reference to be compared with it.
ComparedMeasure = Literal["selection_rate", "performance"]


class Verdict(StrEnum):
    """The verdict on a model's gap compared with that of the reference; "same" means: within the declared margin."""

    FAIRER = "fairer"
    LESS_FAIR = "less fair"
    SAME = "same"
    OPEN = "open"


PerformanceName = Literal["accuracy", "balanced_accuracy", "auc", "cost"]
AUTO: Final = "auto"
COSTS = (1e-9, 1e9)  # of a false negative or a false positive
NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
PATTERN = rf"(?:accuracy|balanced_accuracy|auc|cost=({NUMBER}):({NUMBER}))"
# How a measure is written in options and documents.
PerformanceText = Annotated[str, Meta(pattern=f"^{PATTERN}$")]
RequestedPerformance = Annotated[str, Meta(pattern=f"^(?:{AUTO}|{PATTERN})$")]


@dataclass(frozen=True, slots=True)
class PerformanceMeasure:
    """The measure of performance, of which a fairer model may lose only a limited amount.

    Accuracy is the share of correct decisions, balanced accuracy the mean of this share over the two labels, and cost
    weights mistakes: ``1 - (FN * false negatives + FP * false positives) / (FN * positives + FP * negatives)``, where
    FN and FP are the costs. The AUC does not depend on decisions: it is the share of pairs of a row with a favourable
    and a row with an unfavourable label in which the former has the higher decision value; ties count half.

    Attributes
    ----------
    false_negative, false_positive
        Costs of a false negative and of a false positive.
    """

    name: PerformanceName = "accuracy"
    false_negative: float = 1.0
    false_positive: float = 1.0

    @classmethod
    def of(cls, text: object) -> Self:
        """Return the measure that a text states: a name, or ``cost=FN:FP``; refuse anything else."""
        found = re.fullmatch(PATTERN, text) if isinstance(text, str) else None
        costs = [float(cost) for cost in found.groups() if cost] if found else []
        if not found or not all(is_number(cost, *COSTS) for cost in costs):
            raise ConfigError(
                "option 'performance' must be accuracy, balanced_accuracy, auc, or cost=FN:FP with what a false "
                f"negative and a false positive cost, such as cost=5:1, each {COSTS[0]:g} to {COSTS[1]:g}; "
                f"not {shown(text)} (--performance)"
            )
        return cls("cost", *costs) if costs else cls(text)  # type: ignore[arg-type]  # the pattern has its words

    def __str__(self) -> str:
        if self.name != "cost":
            return self.name
        return f"cost={plain_number(self.false_negative)}:{plain_number(self.false_positive)}"

    @property
    def is_pooled(self) -> bool:
        """Whether a mistake counts the same for both labels."""
        return self.name == "accuracy" or (self.name == "cost" and self.false_negative == self.false_positive)


ACCURACY = PerformanceMeasure()


def requested_performance(text: object) -> str:
    """Return the text of a measure as documents write it, or "auto"; refuse anything else."""
    return AUTO if text == AUTO else str(PerformanceMeasure.of(text))
