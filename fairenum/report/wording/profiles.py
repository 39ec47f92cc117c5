"""The words of profiles: which text one follows and as of when, where data come from, and whose ratio is the lowest."""

from __future__ import annotations

from collections.abc import Mapping

from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig
from fairenum.document.measure import FOUR_FIFTHS
from fairenum.document.measure_config import MeasureConfig
from fairenum.rendering.numbers import counted, share
from fairenum.rendering.text import shortened
from fairenum.report.wording import GROUP_WIDTH, IN_USE, VALUE_WIDTH

AS_OF = "November 2026"
NO_ADVICE = "It reports measurements and is no legal advice."
MEMO = (
    "Arranged as a memo on the search for a less discriminatory alternative, a step of disparate-impact analysis in "
    f"United States law; the texts that it follows are named as of {AS_OF}. {NO_ADVICE}"
)
BIAS_AUDIT = (
    "Arranged as a bias audit under New York City Local Law 144 of 2021 (6 RCNY § 5-300 ff.), as of "
    f"{AS_OF}. {NO_ADVICE}"
)
FOLLOWED = "What this follows"
CHANGED = (
    "US federal rules on disparate impact were changed in 2025 and 2026: Executive Order 14281 of 23 April 2025 "
    "directs agencies away from disparate-impact liability, and since 21 July 2026 Regulation B has no effects test. "
    "Check what is in force. State and city law may differ."
)
LAST = f"All of this as of {AS_OF}, without what courts have made of it. {NO_ADVICE}"
MEMO_FOLLOWS = (
    "In the United States, disparate-impact analysis asks last whether an alternative with less impact would serve as "
    "well: Griggs v. Duke Power Co. (1971) and, for employment, 42 U.S.C. § 2000e-2(k), from the Civil Rights Act of "
    "1991. In lending the question was asked under the Equal Credit Opportunity Act and its Regulation B.",
    CHANGED,
    "Whether an alternative serves the purpose, and could have been known and used, is not measured here.",
    LAST,
)
BIAS_FOLLOWS = (
    "New York City Local Law 144 of 2021 and the rules of the Department of Consumer and Worker Protection, 6 RCNY "
    "§ 5-300 ff., enforced since 5 July 2023: selection rates and impact ratios of tools that select; of tools that "
    "score, the share of each category above the median, and its ratio; by sex, by race or ethnicity, and by both.",
    "A category of less than 2 % of the data may be left out of the ratios, with the reason stated. Here all such "
    "categories are, as the rates of so few say little; their numbers and rates are shown. Rows of an unknown category "
    "are counted.",
    "Which columns are sex and race, whether the auditor is independent, and whether the data are the tool's own "
    "history or test data, which takes a reason, is for the auditor to say.",
    CHANGED,
    LAST,
)
NOT_STATED = "not stated"
NO_CATEGORIES = "No sensitive column was named, so there are no categories."


def about_data(config: AuditConfig | MeasureConfig) -> tuple[tuple[str, str], ...]:
    """Say where data come from and from when they are, as their owner says it."""
    told = {"source of the data": config.data_source, "dates of the data": config.data_dates}
    return tuple((name, NOT_STATED if text is None else shortened(text, VALUE_WIDTH)) for name, text in told.items())


def unknown_rows(by_column: Mapping[str, int]) -> str:
    """Count the rows of an unknown category, by sensitive column."""
    return "; ".join(f"by {shortened(column, GROUP_WIDTH)}: {rows}" for column, rows in by_column.items())


def without_decision(rows: int) -> str:
    """Count the rows that a tool says nothing about."""
    return f"{counted(rows, 'row')}, which took no part"


def lowest_ratio(tool: str, group: str, ratio: float, column: str, *, is_scoring: bool) -> str:
    """Name the lowest ratio of a tool, as a bias audit does first."""
    kind = "ratio of scoring rates" if is_scoring else "impact ratio"
    # four fifths is no rule of this law, but what a reader looks for
    return (
        f"The lowest {kind} of {tool} is {share(ratio)}, of {shortened(group, GROUP_WIDTH)} (by "
        f"{shortened(column, GROUP_WIDTH)}), {'below' if ratio < FOUR_FIFTHS else 'at least'} four fifths."
    )


def no_ratio(tool: str) -> str:
    """Say that nothing can be compared."""
    return f"No impact ratio of {tool} is defined."


def unknown(rows: int) -> str:
    """Say how many rows are of an unknown category."""
    return f"{counted(rows, 'row')} of an unknown category." if rows else "No category is unknown."


def decided_about(document: AuditDocument) -> str:
    """Say which rows the ratios of an audit are about."""
    data = document.dataset
    table, label, favourable = (shortened(text, GROUP_WIDTH) for text in (data.name, data.label, data.favourable))
    whose = f"of {IN_USE}, and of models," if document.incumbent else "of the models"
    return (
        f"Decisions {whose} about {counted(data.splits.holdout, 'row')} of {table}: the holdout, which took no part in "
        f"training or choice of machines. Selected means: gets the favourable outcome, {label} = {favourable}. Whether "
        f"these rows are the tool's own history or test data is for the auditor to say.{_measured(document)}"
    )


def _measured(document: AuditDocument) -> str:
    is_column = document.incumbent is not None and document.incumbent.source != "model"
    return " `fairenum measure` gives the same for all rows that the tool has decided." if is_column else ""
