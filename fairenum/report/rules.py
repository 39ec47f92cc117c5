"""Rules for a CI job: limits on the selected model, judged on the holdout with its uncertainty.

A rule holds if the whole interval keeps the limit, and is violated if none of it does. It is open if the interval
straddles the limit, if there is no interval to judge by, if the run has no holdout of its own, or, for a metric that
compares groups, if a group is too small to say much about. An open rule is neither a pass nor a fail.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from fairenum.errors import ConfigError
from fairenum.report.numbers import counted, estimate
from fairenum.report.text import shortened

Document = Mapping[str, Any]

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
METRICS = (
    "accuracy",
    "balanced_accuracy",
    "selection_rate",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "predictive_parity_difference",
)
GROUP_METRICS = ("_difference", "_ratio")
PATTERN = re.compile(r"\s*([A-Za-z_]+)\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")


class Outcome(StrEnum):
    """What the holdout says about a rule."""

    HOLDS = "holds"
    VIOLATED = "violated"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit on one metric of the selected model."""

    metric: str
    comparison: str
    limit: float

    def __str__(self) -> str:
        return f"{self.metric}{self.comparison}{self.limit:g}"

    def is_kept_by(self, value: float) -> bool:
        """Tell whether a value is on the right side of the limit."""
        return COMPARISONS[self.comparison](value, self.limit)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A rule, what became of it, and why in words."""

    rule: Rule
    outcome: Outcome
    reason: str


def parse_rule(text: str) -> Rule:
    """Read a rule such as ``demographic_parity_difference<=0.1``."""
    found = PATTERN.fullmatch(text)
    if not found:
        raise ConfigError(
            f"{text!r} is no rule; write a metric, one of <= >= < >, and a number: demographic_parity_difference<=0.1"
        )
    metric, comparison, limit = found.groups()
    if metric not in METRICS:
        hint = get_close_matches(metric, METRICS, n=1)
        raise ConfigError(
            f"no metric is called {metric!r}; "
            + (f"did you mean {hint[0]!r}?" if hint else f"there are {', '.join(METRICS)}")
        )
    if not 0.0 <= float(limit) <= 1.0:
        raise ConfigError(f"{metric} lies between 0 and 1, so a limit of {limit} says nothing; 10 % is 0.1")
    return Rule(metric, comparison, float(limit))


def judge(document: Document, rule: Rule) -> Judgement:
    """Judge one rule by the holdout scores of the selected model."""
    rank = document["selection"]["rank"]
    if rank is None:
        return Judgement(rule, Outcome.OPEN, "no model was selected")
    scores = document["models"][rank - 1]["scores"]["holdout"]
    numbers = scores[rule.metric]
    found = f"{estimate(numbers)} on the holdout"
    if document["is_exploratory"]:
        return Judgement(rule, Outcome.OPEN, f"{found}, but these rows also chose the model; give --split a holdout")
    if None in (numbers["value"], numbers["low"], numbers["high"]):
        return Judgement(rule, Outcome.OPEN, f"{found} has no limits to judge by")
    if rule.metric.endswith(GROUP_METRICS) and (lack := _lack_of_groups(document)):
        return Judgement(rule, Outcome.OPEN, f"{found}, but {lack}")
    return Judgement(rule, *_verdict(rule, numbers, found))


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Read several rules."""
    return tuple(map(parse_rule, texts))


def _verdict(rule: Rule, numbers: Mapping[str, float], found: str) -> tuple[Outcome, str]:
    kept = {rule.is_kept_by(numbers[limit]) for limit in ("low", "high")}
    if len(kept) == 2:
        return Outcome.OPEN, f"{found} straddles the limit"
    return (Outcome.HOLDS, found) if kept == {True} else (Outcome.VIOLATED, found)


def _lack_of_groups(document: Document) -> str:
    """Say which groups of the primary column are too small to judge by, or that there is only one; else nothing."""
    for column in document["dataset"]["sensitive"]:
        if not column["is_primary"]:
            continue
        name, small = shortened(column["column"], 24), [group for group in column["groups"] if group["is_small"]]
        if small:
            named = [f"{shortened(group['name'], 24)} ({counted(group['holdout'], 'row')})" for group in small[:3]]
            few = f"{counted(len(small), 'group')} of {name} too small: {', '.join(named)}"
            return f"{few}; --min-group-size sets the minimum"
        if sum(group["holdout"] > 0 for group in column["groups"]) < 2:
            return f"the holdout holds one group of {name} only"
    return ""
