"""What counts as performance: how well a model decides, or ranks, as one number between 0 and 1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from msgspec import Meta

from fairenum.checking import is_number, shown
from fairenum.document.ranges import NUMBERS, described
from fairenum.errors import ConfigError
from fairenum.phrases import plain_number

PerformanceName = Literal["accuracy", "balanced_accuracy", "auc", "cost"]
AUTO = "auto"
NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
PATTERN = rf"(?:accuracy|balanced_accuracy|auc|cost=({NUMBER}):({NUMBER}))"
# How a measure is written in options and documents.
PerformanceText = Annotated[str, Meta(pattern=f"^{PATTERN}$")]
RequestedPerformance = Annotated[str, Meta(pattern=f"^(?:{AUTO}|{PATTERN})$")]


@dataclass(frozen=True, slots=True)
class PerformanceMeasure:
    """What a fairer model may lose of.

    The measures of decisions are one thing: the share of rows that are decided rightly, by label, averaged with
    weights. Accuracy weights the labels by how often they are, balanced accuracy alike, and cost by what a mistake
    costs: ``1 - (FN * false negatives + FP * false positives) / (FN * positives + FP * negatives)``. The AUC does not
    look at decisions: it is the share of pairs of a favourable and an unfavourable row whose decision values are in
    this order, ties counting half.

    Attributes
    ----------
    false_negative, false_positive
        What the two mistakes cost.
    """

    name: PerformanceName = "accuracy"
    false_negative: float = 1.0
    false_positive: float = 1.0

    @classmethod
    def of(cls, text: object) -> Self:
        """Read what was asked for: a name, or ``cost=FN:FP``."""
        found = re.fullmatch(PATTERN, text) if isinstance(text, str) else None
        costs = [float(cost) for cost in found.groups() if cost] if found else []
        if not found or not all(is_number(cost, *NUMBERS["cost"]) for cost in costs):
            raise ConfigError(
                "option 'performance' must be accuracy, balanced_accuracy, auc, or cost=FN:FP with what a false "
                f"negative and a false positive cost, such as cost=5:1, each {described('cost')}; not {shown(text)} "
                "(--performance)"
            )
        return cls("cost", *costs) if costs else cls(text)  # type: ignore[arg-type]  # the pattern has its words

    def __str__(self) -> str:
        if self.name != "cost":
            return self.name
        return f"cost={plain_number(self.false_negative)}:{plain_number(self.false_positive)}"

    @property
    def is_pooled(self) -> bool:
        """Whether every row counts the same, whatever its label."""
        return self.name == "accuracy" or (self.name == "cost" and self.false_negative == self.false_positive)


ACCURACY = PerformanceMeasure()


def requested_performance(text: object) -> str:
    """Return how a measure is written, or the word for the one that suits the machine; refuse what is neither."""
    return AUTO if text == AUTO else str(PerformanceMeasure.of(text))
