"""Rules for a CI job: limits on a model of an audit, or on measured decisions, judged with the uncertainty.

A rule is about the model in use if there is one, else about the selected model; "incumbent:", "selected:" or "best:"
before it says whom it is about, the best being model 1.

A rule holds if the whole interval keeps the limit, and is violated if none of it does. It is open if the interval
straddles the limit, if there is no interval to judge by, if the run has no holdout of its own, or, for a metric that
compares groups, if a compared group has too few rows, or too few of those that a rate of the metric is a share of, to
say much about. After choosing again with the holdout in sight, limits that hold for all models together are judged by,
as the rows have had a part in the choice. An open rule is neither a pass nor a fail. Groups
that are set aside are not judged, and the reason says so.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, cast, get_args

from fairenum.document.audit import AuditDocument
from fairenum.document.consequences import ended_with
from fairenum.document.header import Document
from fairenum.document.impact import GroupTable
from fairenum.document.incumbent import Incumbent
from fairenum.document.measure import MeasuredDecisions, MeasureDocument
from fairenum.document.models import AuditedModel
from fairenum.document.scores import SplitScores
from fairenum.document.table import SensitiveColumn
from fairenum.document.terms import Gap, Measure, Performance, Ratio
from fairenum.document.value import Estimate
from fairenum.errors import ConfigError
from fairenum.phrases import did_you_mean
from fairenum.rendering.numbers import estimate
from fairenum.rendering.page import Check
from fairenum.report.wording import measure as measured
from fairenum.report.wording import method as wording
from fairenum.report.wording import model_title

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
GROUP_MEASURES: tuple[Measure, ...] = (*get_args(Gap), *get_args(Ratio))
Whom = Literal["incumbent", "selected", "best"]
WHOM: tuple[Whom, ...] = get_args(Whom)
RULED: tuple[Measure, ...] = (*get_args(Performance), *sorted(GROUP_MEASURES))
PATTERN = re.compile(
    r"\s*(?:([A-Za-z_]+)\s*:)?\s*([A-Za-z_]+)\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)


class RuleOutcome(StrEnum):
    """What the holdout says about a rule."""

    HOLDS = "holds"
    VIOLATED = "violated"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit on one measure of a model.

    Attributes
    ----------
    whom
        Whom it is about; None for the model in use if there is one, else the selected model.
    """

    measure: Measure
    comparison: str
    limit: float
    whom: Whom | None = None

    def __str__(self) -> str:
        return f"{f'{self.whom}:' if self.whom else ''}{self.measure}{self.comparison}{self.limit:g}"

    @property
    def is_between_groups(self) -> bool:
        """Whether it compares groups, and is not about all rows together."""
        return self.measure in GROUP_MEASURES

    def is_kept_by(self, value: float) -> bool:
        """Tell whether a value is on the right side of the limit."""
        return COMPARISONS[self.comparison](value, self.limit)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A rule, what became of it, and why in words.

    Attributes
    ----------
    table
        The groups that it is about; None if it is about all rows together, or no model was selected.
    """

    rule: Rule
    outcome: RuleOutcome
    reason: str
    table: GroupTable | None = None

    @property
    def check(self) -> Check:
        """The judgement as a page shows it."""
        return Check(str(self.rule), self.outcome.value, self.reason)


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Read several rules."""
    return tuple(map(parse_rule, texts))


def parse_rule(text: str) -> Rule:
    """Read a rule such as ``demographic_parity_difference<=0.1``."""
    found = PATTERN.fullmatch(text)
    if not found:
        raise ConfigError(
            f"{text!r} is no rule; write a metric, one of <= >= < >, and a number: demographic_parity_difference<=0.1"
        )
    whom, name, comparison, limit = found.groups()
    if whom is not None and whom not in WHOM:
        raise ConfigError(f"no rule is about {whom!r}; before a colon stands one of {', '.join(WHOM)}")
    if name not in RULED:
        hint = did_you_mean(name, RULED) or f"; there are {', '.join(RULED)}"
        raise ConfigError(f"no metric is called {name!r}{hint}")
    if not 0.0 <= float(limit) <= 1.0:
        raise ConfigError(f"{name} lies between 0 and 1, so a limit of {limit} says nothing; 10 % is 0.1")
    return Rule(cast(Measure, name), comparison, float(limit), cast(Whom | None, whom))


def refuse_whom(rules: Iterable[Rule]) -> None:
    """Refuse rules that say whom they are about where all decisions are judged alike."""
    if named := next((rule for rule in rules if rule.whom), None):
        limit = replace(named, whom=None)
        raise ConfigError(f"{str(named)!r} is about a model of an audit; a measurement has none: write {str(limit)!r}")


def judge_all(document: Document, rules: Iterable[Rule]) -> tuple[Judgement, ...]:
    """Judge an audit, or all decisions of a measurement, by some rules; documents of other kinds have none."""
    match document:
        case AuditDocument():
            return tuple(judge(document, rule) for rule in rules)
        case MeasureDocument():
            refuse_whom(rules := tuple(rules))
            return tuple(judge_decisions(document, one, rule) for rule in rules for one in document.decisions)
        case _:
            return ()


def judge_decisions(document: MeasureDocument, decisions: MeasuredDecisions, rule: Rule) -> Judgement:
    """Judge one rule by what decisions measure."""
    column = decisions.of_column(document.dataset.primary.column)
    aside = [group.group for group in column.impact.groups if not group.is_compared]
    trials = column.trials(rule.measure)
    few = {name: rows for name, rows in trials.items() if rows < document.config.min_group_size}
    lack = measured.few_trials(column.column, few) if few else ""
    if sum(group.n > 0 for group in column.impact.groups if group.is_compared) < 2:
        lack = measured.single_group(column.column)
    numbers = document.measure(decisions, rule.measure)
    whose = f"{measured.title(decisions, document)}: " if len(document.decisions) > 1 else ""
    found = f"{whose}{estimate(numbers)}"
    judgement = decided(rule, numbers, found, lack, measured.aside(aside) if aside else "")
    return replace(judgement, table=column.impact if rule.is_between_groups else None)


def judge(document: AuditDocument, rule: Rule) -> Judgement:
    """Judge one rule by the holdout scores of the model that it is about."""
    rule = _about(document, rule)
    if (model := _judged(document, rule)) is None:
        return Judgement(rule, RuleOutcome.OPEN, _nobody(document, rule))
    return replace(_judge_model(document, model, rule), table=_table(document, model, rule))


def _judge_model(document: AuditDocument, model: AuditedModel | Incumbent, rule: Rule) -> Judgement:
    # the holdout had a part in choosing the selected model alone
    is_in_sight = document.selection.is_in_sight and rule.whom in (None, "selected")
    numbers = _measured(model.scores.holdout, rule.measure, is_in_sight=is_in_sight)
    found = f"{f'{model_title(document, model.rank)}: ' if rule.whom else ''}{wording.judged_by(numbers)}"
    if document.is_exploratory and not isinstance(model, Incumbent):  # which was there before all rows
        return Judgement(rule, RuleOutcome.OPEN, f"{found}{wording.NOT_SEPARATE}")
    column = document.dataset.primary
    aside = wording.not_judged(column) if column and column.aside else ""
    without = wording.WITHOUT_LIMITS_TOGETHER if is_in_sight else wording.WITHOUT_LIMITS
    return decided(rule, numbers, found, _lack_of_groups(document, model, rule.measure), aside, without)


def _about(document: AuditDocument, rule: Rule) -> Rule:
    """Say whom a rule is about where there is a model in use; elsewhere the selected model goes without saying."""
    return replace(rule, whom="incumbent") if document.incumbent and rule.whom is None else rule


def _judged(document: AuditDocument, rule: Rule) -> AuditedModel | Incumbent | None:
    match rule.whom:
        case "incumbent":
            return document.incumbent
        case "best":
            return document.first
        case _:
            return document.selected


def _nobody(document: AuditDocument, rule: Rule) -> str:
    """Say why there is no model that a rule is about."""
    if rule.whom == "incumbent":
        return wording.NONE_IN_USE
    return wording.NOT_SELECTED if ended_with(document) == 0 else wording.NO_MODEL


def _table(document: AuditDocument, model: AuditedModel | Incumbent, rule: Rule) -> GroupTable | None:
    """Find what the holdout says of a model, group by group of the primary column."""
    if document.dataset.primary is None or not rule.is_between_groups:
        return None
    wanted = (model.rank, document.dataset.primary.column)
    return next((table for table in document.group_tables if (table.rank, table.column) == wanted), None)


def decided(
    rule: Rule, numbers: Estimate, found: str, lack: str, aside: str, without: str = wording.WITHOUT_LIMITS
) -> Judgement:
    """Judge a rule by an estimate.

    Parameters
    ----------
    rule, numbers
        The limit, and what has to keep it.
    found
        The estimate in words.
    lack
        What keeps groups from being compared, in words; empty if nothing does.
    aside
        Which groups are not judged, in words; empty if all are.
    without
        What to say where there are no limits to judge by.
    """
    if numbers.value is None or numbers.low is None or numbers.high is None:
        return Judgement(rule, RuleOutcome.OPEN, f"{found}{without}")
    if rule.is_between_groups and lack:
        return Judgement(rule, RuleOutcome.OPEN, f"{found}{lack}")
    found += aside if rule.is_between_groups else ""
    kept = {rule.is_kept_by(numbers.low), rule.is_kept_by(numbers.high)}
    if len(kept) == 2:
        return Judgement(rule, RuleOutcome.OPEN, f"{found}{wording.STRADDLES}")
    return Judgement(rule, RuleOutcome.HOLDS if kept == {True} else RuleOutcome.VIOLATED, found)


def _measured(scores: SplitScores, measure: Measure, *, is_in_sight: bool) -> Estimate:
    """Return a measure of the holdout; once that has been in sight, with limits that hold for all models together."""
    alone = scores.measure(measure)
    return scores.together.get(measure, Estimate(alone.value)) if is_in_sight else alone


def _lack_of_groups(document: AuditDocument, model: AuditedModel | Incumbent, measure: Measure) -> str:
    """Say which compared groups of the primary column have too few trials to judge by, or that there is only one."""
    column, least = document.dataset.primary, document.config.min_group_size
    if column is None:
        return ""
    if small := [group for group in column.compared if group.is_small]:
        return wording.small_groups(column, small)
    if sum(group.holdout > 0 for group in column.compared) < 2:
        return wording.single_group(column)
    trials = _trials(column, measure, model.scores.holdout.by_column[column.column].selected)
    few = {group.name: trials[group.name] for group in column.compared if trials[group.name] < least}
    return wording.few_trials(column, few) if few else ""


def _trials(column: SensitiveColumn, measure: Measure, selected: tuple[int, ...]) -> dict[str, int]:
    """Count the rows of the holdout that the rates of a metric are shares of, by group; of two rates, the fewer."""
    if measure.startswith("predictive_parity"):
        return {group.name: rows for group, rows in zip(column.groups, selected, strict=True)}
    if measure.startswith("demographic_parity"):
        return {group.name: group.holdout for group in column.groups}
    is_single = measure.startswith("equal_opportunity")
    positives = {group.name: (group.holdout_positives, group.holdout) for group in column.groups}
    return {name: found if is_single else min(found, rows - found) for name, (found, rows) in positives.items()}
