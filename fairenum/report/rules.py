"""Rules for CI: limits on measures, judgements of audits and measurements by them, JUnit files and failure messages."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, cast, get_args
from xml.etree import ElementTree

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.consequences import ended_with, is_nothing_comparable
from fairenum.document.header import Document
from fairenum.document.measure_document import ColumnMeasures, MeasuredDecisions, MeasureDocument
from fairenum.document.metric_registry import METRICS, metric_of
from fairenum.document.models import AuditedModel, Incumbent
from fairenum.document.scores import ColumnScores, GroupTable, SplitScores
from fairenum.document.table_facts import GroupSizes, SensitiveColumn
from fairenum.document.terms import GAPS, RATIOS, Measure, Performance
from fairenum.document.value import Estimate
from fairenum.document.words import IN_USE, decisions_title, model_title, short
from fairenum.errors import ConfigError
from fairenum.render.page import Check, Page, Table
from fairenum.runtime.formatting import counted, estimate, plain
from fairenum.runtime.hints import did_you_mean, quoted

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
GROUP_MEASURES: tuple[Measure, ...] = (*GAPS, *RATIOS)
Subject = Literal["incumbent", "selected", "best"]
SUBJECTS: tuple[Subject, ...] = get_args(Subject)  # the models that a rule may be about
RULED: tuple[Measure, ...] = (*get_args(Performance), *sorted(GROUP_MEASURES))
PATTERN = re.compile(
    r"\s*(?:([A-Za-z_]+)\s*:)?\s*([A-Za-z_]+)\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
FEW = 3  # small groups that a reason names
MINIMUM = "--min-group-size sets the minimum"
NOT_SEPARATE = ", but these rows also chose the model; give --split a holdout"
WITHOUT_LIMITS = " has no limits to judge by"
WITHOUT_LIMITS_TOGETHER = (
    ", but the model was chosen with the holdout in sight, and this run keeps no limits that hold for all models "
    "together; audit the table again"
)


class RuleOutcome(StrEnum):
    """The result of judging a rule; OPEN if the data show neither that it holds nor that it is violated."""

    HOLDS = "holds"
    VIOLATED = "violated"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit on one measure of a model or, in a measurement, of decisions.

    `subject` names the model; None stands for the model in use if there is one, and for the selected model otherwise.
    """

    measure: Measure
    comparison: str
    limit: float
    subject: Subject | None = None

    def __str__(self) -> str:
        return f"{f'{self.subject}:' if self.subject else ''}{self.measure}{self.comparison}{self.limit:g}"

    @property
    def is_between_groups(self) -> bool:
        """Whether the measure is a gap or ratio between groups."""
        return self.measure in GROUP_MEASURES

    def is_kept_by(self, value: float) -> bool:
        """Tell whether a value of the measure is within the limit."""
        return COMPARISONS[self.comparison](value, self.limit)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A rule, whether it holds, and the reason in words.

    `table` has the rates of the groups that the rule compares; None if the rule compares no groups, or there is no
    model to judge.
    """

    rule: Rule
    outcome: RuleOutcome
    reason: str
    table: GroupTable | None = None

    @property
    def check(self) -> Check:
        """The rule, its outcome and the reason, as texts for a page."""
        return Check(str(self.rule), self.outcome.value, self.reason)


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules written in texts such as ``demographic_parity_difference<=0.1``."""
    return tuple(map(parse_rule, texts))


def parse_rule(text: str) -> Rule:
    """Return the rule written in a text such as ``demographic_parity_difference<=0.1``; refuse an invalid one."""
    found = PATTERN.fullmatch(text)
    if not found:
        raise ConfigError(
            f"{text!r} is no rule; write a metric, one of <= >= < >, and a number: demographic_parity_difference<=0.1"
        )
    subject, name, comparison, limit = found.groups()
    if subject is not None and subject not in SUBJECTS:
        raise ConfigError(f"no rule is about {subject!r}; before a colon stands one of {', '.join(SUBJECTS)}")
    if name not in RULED:
        hint = did_you_mean(name, RULED) or f"; there are {', '.join(RULED)}"
        raise ConfigError(f"no metric is called {name!r}{hint}")
    if not 0.0 <= float(limit) <= 1.0:
        raise ConfigError(f"{name} lies between 0 and 1, so a limit of {limit} says nothing; 10 % is 0.1")
    return Rule(cast(Measure, name), comparison, float(limit), cast(Subject | None, subject))


def refuse_subjects(rules: Iterable[Rule]) -> None:
    """Refuse rules that name a model, as a measurement has none."""
    if named := next((rule for rule in rules if rule.subject), None):
        limit = replace(named, subject=None)
        raise ConfigError(f"{str(named)!r} is about a model of an audit; a measurement has none: write {str(limit)!r}")


def judge_all(document: Document, rules: Iterable[Rule]) -> tuple[Judgement, ...]:
    """Return the judgements of an audit, or of all decisions of a measurement, by rules; none for other documents."""
    match document:
        case AuditDocument():
            return tuple(judge(document, rule) for rule in rules)
        case MeasureDocument():
            refuse_subjects(rules := tuple(rules))
            return tuple(_judge_decisions(document, one, rule) for rule in rules for one in document.decisions)
        case _:
            return ()


def _judge_decisions(document: MeasureDocument, decisions: MeasuredDecisions, rule: Rule) -> Judgement:
    column = decisions.of_column(document.dataset.primary.column)
    lack, aside = _lack_of_rows(column, rule.measure, document.config.min_group_size)
    numbers = document.measure(decisions, rule.measure)
    whose = f"{decisions_title(decisions, document)}: " if len(document.decisions) > 1 else ""
    found = f"{whose}{estimate(numbers)}"
    judgement = _decided(rule, numbers, found, lack, aside)
    return replace(judgement, table=column.impact if rule.is_between_groups else None)


def _lack_of_rows(column: ColumnMeasures, measure: Measure, least: int) -> tuple[str, str]:
    """Return two clauses: why groups of a column cannot be judged, and which of them are not; both may be empty."""
    aside = [group.group for group in column.impact.groups if not group.is_compared]
    few = {name: rows for name, rows in column.trials(measure).items() if rows < least}
    lack = _too_small(column.column, few) if few else ""
    if sum(group.n > 0 for group in column.impact.groups if group.is_compared) < 2:
        lack = f", but there is one group of {short(column.column)} only"
    return lack, f" (not judged: {quoted(aside, 3)})" if aside else ""


def _too_small(column: str, few: Mapping[str, int]) -> str:
    named = [f"{short(name)} ({counted(rows, 'row')})" for name, rows in few.items()]
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    what = f"{counted(len(few), 'group')} of {short(column)} too small"
    return f", but {what} to have such a rate: {', '.join(named[:3])}{more}; --min-group-size sets the minimum"


def judge(document: AuditDocument, rule: Rule) -> Judgement:
    """Return the judgement of a rule, by the holdout scores of the model that the rule is about."""
    if document.incumbent and rule.subject is None:
        rule = replace(rule, subject="incumbent")
    if (model := _model_of(document, rule)) is None:
        return Judgement(rule, RuleOutcome.OPEN, _why_no_model(document, rule))
    return replace(_judge_model(document, model, rule), table=_table(document, model, rule))


def _judge_model(document: AuditDocument, model: AuditedModel | Incumbent, rule: Rule) -> Judgement:
    if isinstance(model, Incumbent) and (judged := _judge_incumbent(document, rule)):
        return judged
    # only the choice of the selected model can have used the holdout
    was_seen = document.selection.is_in_sight and rule.subject in (None, "selected")
    numbers = _measured(model.scores.holdout, rule.measure, was_seen=was_seen)
    found = f"{f'{model_title(document, model.rank)}: ' if rule.subject else ''}{estimate(numbers)} on the holdout"
    if document.is_exploratory and not isinstance(model, Incumbent):  # no rows of this run chose the model in use
        return Judgement(rule, RuleOutcome.OPEN, f"{found}{NOT_SEPARATE}")
    column = document.dataset.primary
    aside = f" (not judged: {_sized(column.aside)})" if column and column.aside else ""
    without = WITHOUT_LIMITS_TOGETHER if was_seen else WITHOUT_LIMITS
    return _decided(rule, numbers, found, _lack_of_groups(document, model, rule.measure), aside, without)


def _judge_incumbent(document: AuditDocument, rule: Rule) -> Judgement | None:
    """Return the judgement on the model in use by all rows that it decided; None if it was not measured so."""
    measures, primary = document.incumbent_measures, document.column
    if measures is None or (numbers := measures.measure(rule.measure, primary)) is None:
        return None
    found = f"{model_title(document, 0)}: {estimate(numbers)} on all {counted(measures.rows, 'row')} that it decided"
    column = measures.of_column(primary)
    lack, aside = _lack_of_rows(column, rule.measure, document.config.min_group_size) if column else ("", "")
    return _decided(rule, numbers, found, lack, aside)


def _model_of(document: AuditDocument, rule: Rule) -> AuditedModel | Incumbent | None:
    match rule.subject:
        case "incumbent":
            return document.incumbent
        case "best":
            return document.first
        case _:
            return document.selected


def _why_no_model(document: AuditDocument, rule: Rule) -> str:
    if rule.subject == "incumbent":
        return "there is no model in use; name its decisions with incumbent=... (--incumbent COLUMN)"
    if is_nothing_comparable(document):
        return f"no model was selected: none could be compared with {IN_USE}"
    return "no model was selected" + (f": {IN_USE} is kept" if ended_with(document) == 0 else "")


def _table(document: AuditDocument, model: AuditedModel | Incumbent, rule: Rule) -> GroupTable | None:
    """Return the adverse-impact table of a model in the primary column; None if the rule compares no groups."""
    if document.dataset.primary is None or not rule.is_between_groups:
        return None
    if model.rank == 0 and document.incumbent_measures:
        own = document.incumbent_measures.of_column(document.dataset.primary.column)
        return own.impact if own else None
    wanted = (model.rank, document.dataset.primary.column)
    return next((table for table in document.group_tables if (table.rank, table.column) == wanted), None)


def _decided(
    rule: Rule, numbers: Estimate, found: str, lack: str, aside: str, without: str = WITHOUT_LIMITS
) -> Judgement:
    """Return the judgement of a rule by an estimate with its limits.

    The texts are parts of the reason: `found` states the estimate; `lack` says what prevents a comparison of groups,
    and `aside` which groups are not judged, both possibly empty; `without` says that the estimate has no limits.
    """
    if numbers.value is None or numbers.low is None or numbers.high is None:
        return Judgement(rule, RuleOutcome.OPEN, f"{found}{without}")
    if rule.is_between_groups and lack:
        return Judgement(rule, RuleOutcome.OPEN, f"{found}{lack}")
    found += aside if rule.is_between_groups else ""
    kept = {rule.is_kept_by(numbers.low), rule.is_kept_by(numbers.high)}
    if len(kept) == 2:
        return Judgement(rule, RuleOutcome.OPEN, f"{found} straddles the limit")
    return Judgement(rule, RuleOutcome.HOLDS if kept == {True} else RuleOutcome.VIOLATED, found)


def _measured(scores: SplitScores, measure: Measure, *, was_seen: bool) -> Estimate:
    """Return the estimate of a measure.

    If the holdout `was_seen` when the model was chosen, the limits are those that hold for all models together.
    """
    alone = scores.measure(measure)
    return scores.together.get(measure, Estimate(alone.value)) if was_seen else alone


def _lack_of_groups(document: AuditDocument, model: AuditedModel | Incumbent, measure: Measure) -> str:
    """Return a clause on why groups of the primary column cannot be judged (few rows, one group); empty if they can."""
    column, least = document.dataset.primary, document.config.min_group_size
    if column is None:
        return ""
    if small := [group for group in column.compared if group.is_small]:
        groups = f"{counted(len(small), 'group')} of {short(column.column)}"
        return f", but {groups} too small: {_sized(small)}; {MINIMUM}"
    if sum(group.holdout > 0 for group in column.compared) < 2:
        return f", but the holdout holds one group of {short(column.column)} only"
    trials = _trials(column, measure, model.scores.holdout.by_column[column.column])
    few = [(name, rows) for name, rows in trials.items() if rows < least]
    groups = f"{counted(len(few), 'group')} of {short(column.column)}"
    return f", but its rates are shares of too few rows in {groups}: {_listed(few)}; {MINIMUM}" if few else ""


def _sized(groups: Sequence[GroupSizes]) -> str:
    return _listed([(group.name, group.holdout) for group in groups])


def _listed(sizes: Sequence[tuple[str, int]]) -> str:
    named = ", ".join(f"{short(name)} ({counted(rows, 'row')})" for name, rows in sizes[:FEW])
    return named + (f" and {len(sizes) - FEW} more" if len(sizes) > FEW else "")


def _trials(column: SensitiveColumn, measure: Measure, scores: ColumnScores) -> dict[str, int]:
    """Return, by compared group, the number of holdout rows in the denominator of the rates that a measure compares.

    For a measure of two rates, it is the smaller denominator.
    """
    metric, found = metric_of(measure), {}
    for code, group in enumerate(column.groups):
        if group.is_compared and metric:
            found[group.name] = metric.trials(group.by_label("holdout"), scores.selected_by_label(code))
    return found


JUNIT_ELEMENTS = {RuleOutcome.VIOLATED: "failure", RuleOutcome.OPEN: "error"}


def to_junit(page: Page, judgements: Sequence[Judgement], *, is_partial: bool, kind: str = "audit") -> str:
    """Return the JUnit file of a run and its rules as XML text.

    Violated rules are failures; open rules, and a run that was interrupted, are errors.
    """
    outcomes = [judgement.outcome for judgement in judgements]
    suite = ElementTree.Element(
        "testsuite",
        name=plain(f"fairenum {kind} {page.name}"),
        tests=str(len(outcomes) + 1),
        failures=str(outcomes.count(RuleOutcome.VIOLATED)),
        errors=str(outcomes.count(RuleOutcome.OPEN) + is_partial),
    )
    _add_run(suite, page, kind, is_partial=is_partial)
    for judgement in judgements:
        _add_rule(suite, page, judgement)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _add_run(suite: ElementTree.Element, page: Page, kind: str, *, is_partial: bool) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=plain(f"fairenum.{page.name}"), name=kind)
    if is_partial:
        ElementTree.SubElement(case, "error", type="interrupted", message=plain(page.headline))
    warnings = (f"warning: {one}" for one in page.warnings)
    text = "\n".join(map(plain, [page.subject, page.headline, *_lines(page), *page.findings, *warnings]))
    ElementTree.SubElement(case, "system-out").text = text


def _lines(page: Page) -> Iterator[str]:
    """Yield the rows of the tables of gaps and guardrails of a page as lines of text."""
    tables = [page.strip.table] if page.strip else []
    tables += [
        block for one in page.sections if one.anchor == "guards" for block in one.blocks if isinstance(block, Table)
    ]
    yield from (" | ".join(row) for table in tables for row in (table.headings, *table.rows))


def _add_rule(suite: ElementTree.Element, page: Page, judgement: Judgement) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=plain(f"fairenum.{page.name}"), name=plain(judgement.rule)
    )
    if element := JUNIT_ELEMENTS.get(judgement.outcome):
        ElementTree.SubElement(case, element, type=judgement.outcome.value, message=plain(judgement.reason))


MOST_GROUPS = 6  # of a rule, in a message
# Measures that can be judged without a label.
WITHOUT_LABEL = (
    *(measure for metric in METRICS if not metric.needs_label for measure in metric.measures),
    "selection_rate",
    "auc",
)
INTERRUPTED = "the run was interrupted, and rules are judged by whole ones; run it again"
VIOLATED = (
    "violated: the whole interval is beyond the limit, so these rows show it; change the decisions, or the limit if it "
    "was not meant"
)
OPEN = (
    "open: these rows show neither that the rule is kept nor that it is violated; give more rows, or let open rules "
    "pass with a warning (when_open='warn')"
)
NO_LABEL = "without a label, only selection rates can be judged; name the column of true outcomes with label=..."


def subject(document: JudgedDocument) -> str:
    """Return a phrase that names what was judged: the model and audit, or the decisions and table."""
    name = short(document.dataset.name)
    if isinstance(document, AuditDocument):
        # with a model in use every rule names its model
        rank = None if document.incumbent else document.selection.rank
        return f"{'' if rank is None else f'model {rank} of '}the audit of {name}, on its holdout"
    whose = ", ".join(decisions_title(one, document) for one in document.decisions)
    by = short(document.dataset.primary.column)
    return f"{whose} in {name}, {counted(document.dataset.rows, 'row')}, groups by {by}"


def unkept(document: JudgedDocument, found: int, rules: int) -> str:
    """Return the first line of a failure message, which says that `found` of `rules` rules are not kept."""
    return f"{found} of {counted(rules, 'rule')} {'is' if found == 1 else 'are'} not kept ({subject(document)}):"


def group_rates(table: GroupTable, measure: Measure) -> Iterator[str]:
    """Yield a line for each compared group with the rates that a measure compares, the group of lowest rate first."""
    if (metric := metric_of(measure)) is None:
        return
    found = {group: group.of(metric.rates[0]).value for group in table.groups if group.is_compared}
    known = {group: rate for group, rate in found.items() if rate is not None}
    compared = sorted(known, key=known.__getitem__)
    for group in compared[:MOST_GROUPS]:
        rates = ", ".join(f"{rate.name} {estimate(group.of(rate))}" for rate in metric.rates)
        yield f"{short(table.column)} = {short(group.group)}: {rates}, {counted(group.n, 'row')}"
    if len(compared) > MOST_GROUPS:
        yield f"and {counted(len(compared) - MOST_GROUPS, 'more group')}"


def advice(document: JudgedDocument, violated: bool, opened: list[Measure]) -> Iterator[str]:
    """Yield advice on what to do about violated and open rules; `opened` are the measures of open rules."""
    if violated:
        yield VIOLATED
    if opened:
        yield OPEN
    lacks_label = not isinstance(document, AuditDocument) and not document.has_label
    if lacks_label and any(measure not in WITHOUT_LABEL for measure in opened):
        yield NO_LABEL
