"""Bias audits under New York City's Local Law 144: selection rates and impact ratios of each tool by category."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.measure_document import FOUR_FIFTHS, MeasureConfig
from fairenum.document.scores import GroupRow, GroupTable
from fairenum.document.words import GROUP_WIDTH, IN_USE, VALUE_WIDTH
from fairenum.render.page import Block, Column, Facts, Items, Paragraph, Section, Table
from fairenum.report.groups_section import MAY_BE_TRAINED, hidden_groups, with_largest
from fairenum.report.scores_section import median_side, scoring_rate
from fairenum.runtime.formatting import UNDEFINED, counted, share, shortened

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
KICKER = "Bias audit in the form of Local Law 144"
MISSING = re.compile(r"\(+missing\)+")  # the name of the group of rows without a value
SMALLEST_SHARE = 0.02  # smaller categories may be left out of impact ratios (6 RCNY § 5-301)
NO_CATEGORIES = "No sensitive column was named, so there are no categories."


def about_data(config: AuditConfig | MeasureConfig, undecided: int = 0) -> tuple[tuple[str, str], ...]:
    """Return facts about the data as (name, text): source and dates as configured, and the number of undecided rows."""
    given = {"source of the data": config.data_source, "dates of the data": config.data_dates}
    facts = [(name, NOT_STATED if text is None else shortened(text, VALUE_WIDTH)) for name, text in given.items()]
    if undecided:
        facts.append(("without a decision", f"{counted(undecided, 'row')}, which took no part"))
    return tuple(facts)


def _lowest_ratio_sentence(tool: str, group: str, ratio: float, column: str, *, is_scoring: bool) -> str:
    kind = "ratio of scoring rates" if is_scoring else "impact ratio"
    # four fifths is no rule of this law, but readers look for it
    return (
        f"The lowest {kind} of {tool} is {share(ratio)}, of {shortened(group, GROUP_WIDTH)} (by "
        f"{shortened(column, GROUP_WIDTH)}), {'below' if ratio < FOUR_FIFTHS else 'at least'} four fifths."
    )


def decided_about(document: AuditDocument) -> str:
    """Return sentences that say which rows and decisions the impact ratios of an audit are about."""
    data = document.dataset
    table, label, favourable = (shortened(text, GROUP_WIDTH) for text in (data.name, data.label, data.favourable))
    holdout = f"{counted(data.splits.holdout, 'row')} of {table}: the holdout, which took no part in training or choice"
    whose = f"of {IN_USE}, and of models," if document.incumbent else "of the models"
    decided = f"Decisions {whose} about {holdout} of models."
    trained = ""
    if document.incumbent and (own := document.incumbent_measures):
        decided = (
            f"Decisions of {IN_USE} about all {counted(own.rows, 'row')} of {table} that it decided; of models, about "
            f"{counted(data.splits.holdout, 'row')} of them: the holdout, which took no part in training or choice."
        )
        trained = MAY_BE_TRAINED if document.incumbent.source == "model" else ""
    return (
        f"{decided} Selected means: gets the favourable outcome, {label} = {favourable}. Whether these rows are the "
        f"tool's own history or test data is for the auditor to say.{trained}"
    )


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that selects or scores people, the subject of a bias audit.

    `selecting` and `scoring` hold one adverse-impact table for each sensitive column: of selection, and of scores on
    the favourable side of the median. `score` is the name of the score if it differs from `name`.
    """

    name: str
    selecting: tuple[GroupTable, ...]
    scoring: tuple[GroupTable, ...] = ()
    score: str = ""
    is_lower_better: bool = False

    @property
    def unknown(self) -> dict[str, int]:
        """The number of rows of unknown category, by sensitive column."""
        return {table.column: unknown_rows(table) for table in self.selecting}


class Ratio(NamedTuple):
    """The name of a category and its impact ratio."""

    group: str
    value: float


def ratios_section(lead: str, facts: Sequence[tuple[str, str]], tools: Sequence[Tool]) -> Section:
    """Return the section of impact ratios: an introduction, facts about the data, and tables for each tool."""
    unknown = tools[0].unknown
    by_column = "; ".join(f"by {shortened(column, GROUP_WIDTH)}: {rows}" for column, rows in unknown.items())
    counts = (("unknown category", by_column),) if unknown else ()
    blocks: list[Block] = [Paragraph(lead), Facts((*facts, *counts))]
    if not unknown:
        blocks.append(Paragraph(NO_CATEGORIES))
    for tool in tools:
        blocks += [impact_ratios(table, tool.name) for table in tool.selecting]
        blocks += [scoring_ratios(table, tool) for table in tool.scoring]
    return Section("impact", "Impact ratios", tuple(blocks))


def followed() -> Section:
    """Return the section that names the legal texts that a bias audit follows."""
    return Section("followed", FOLLOWED, (Items(BIAS_FOLLOWS),))


def headline(tool: Tool) -> str:
    """Return sentences: the lowest impact ratio of a tool, in selection or scores by any column, and unknown rows."""
    ratios = [(table, found, False) for table in tool.selecting if (found := _lowest_ratio(table))]
    ratios += [(table, found, True) for table in tool.scoring if (found := _lowest_ratio(table))]
    undefined = f"No impact ratio of {tool.name} is defined."
    if not tool.selecting:
        return undefined
    rows = max(tool.unknown.values())
    unknown = f"{counted(rows, 'row')} of an unknown category." if rows else "No category is unknown."
    if not ratios:
        return f"{undefined} {unknown}"
    table, found, is_scoring = min(ratios, key=lambda one: one[1].value)
    name = tool.score or tool.name if is_scoring else tool.name
    return f"{_lowest_ratio_sentence(name, *found, table.column, is_scoring=is_scoring)} {unknown}"


def impact_ratios(table: GroupTable, name: str) -> Table:
    """Return the table of selection rates and impact ratios by category; unknown and small categories get no ratio."""
    note = "impact ratio: selection rate as a share of that of the most selected category"
    return _ratios(table, f"By {shortened(table.column, GROUP_WIDTH)}: {name}", ("selected", "selection rate"), note)


def scoring_ratios(table: GroupTable, tool: Tool) -> Table:
    """Return the table of scoring rates and impact ratios by category.

    A scoring rate is the share of a category with scores on the favourable side of the median.
    """
    title = f"Scoring rates by {shortened(table.column, GROUP_WIDTH)}: {tool.score or tool.name}"
    side, note = (said(is_lower_better=tool.is_lower_better) for said in (median_side, scoring_rate))
    return _ratios(table, title, (side, "scoring rate"), note)


def _ratios(table: GroupTable, title: str, headings: tuple[str, str], note: str) -> Table:
    known, best = _counted(table)

    def ratio(group: GroupRow) -> str:
        if group not in known:
            return "unknown" if _is_unknown(group) else "not counted"
        return UNDEFINED if group.rate.value is None or not best else share(group.rate.value / best)

    columns: tuple[Column[GroupRow], ...] = (
        Column("group", "category", lambda group: shortened(group.group, GROUP_WIDTH), is_word=True),
        Column("n", "applicants", lambda group: str(group.n)),
        Column("selected", headings[0], lambda group: str(group.selected)),
        Column("rate", headings[1], lambda group: share(group.rate.value)),
        Column("impact_ratio", "impact ratio", ratio, note=note),
    )
    return Table.of(title, columns, with_largest(table).groups, notes=_notes(table))


def _notes(table: GroupTable) -> Iterator[str]:
    yield f"unknown category: {counted(unknown_rows(table), 'row')}, not used for ratios"
    known, _ = _counted(table)
    if any(group not in known and not _is_unknown(group) for group in table.groups):
        yield (
            f"not counted: a category of less than {SMALLEST_SHARE:.0%} of the rows, not used for ratios either, as "
            "the rates of so few say little"
        )
    yield from hidden_groups(table.groups)


def _lowest_ratio(table: GroupTable) -> Ratio | None:
    """Return the lowest impact ratio with its category; None if no ratio is defined."""
    known, best = _counted(table)
    ratios = [Ratio(group.group, group.rate.value / best) for group in known if group.rate.value is not None and best]
    return min(ratios, key=lambda ratio: ratio.value, default=None)


def unknown_rows(table: GroupTable) -> int:
    """Return the number of people in a table whose category is missing, wholly or in part."""
    return sum(group.n for group in table.groups if _is_unknown(group))


def _counted(table: GroupTable) -> tuple[list[GroupRow], float]:
    """Return the groups of known category and sufficient size, and the highest selection rate among them."""
    rows = sum(group.n for group in table.groups)
    known = [group for group in table.groups if not _is_unknown(group) and group.n >= SMALLEST_SHARE * rows]
    return known, max((group.rate.value or 0.0 for group in known if group.n), default=0.0)


def _is_unknown(group: GroupRow) -> bool:
    """Tell whether the category of a group is missing, wholly or in part, as in "sex: (missing) & race: white"."""
    return any(MISSING.fullmatch(part.rpartition(": ")[2]) for part in group.group.split(" & "))
