"""What a bias audit under New York City's Local Law 144 publishes first: rates and ratios by category, tool by tool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fairenum.document.impact import GroupRow, GroupTable
from fairenum.rendering.numbers import UNDEFINED, counted, share
from fairenum.rendering.page import Block, Facts, Items, Paragraph, Section, Table
from fairenum.rendering.text import shortened
from fairenum.report.groups import hidden_groups, with_largest
from fairenum.report.wording import GROUP_WIDTH
from fairenum.report.wording import profiles as wording
from fairenum.report.wording.measure import median_side, scoring_rate

KICKER = "Bias audit in the form of Local Law 144"
MISSING = re.compile(r"\(+missing\)+")  # how a dataset names the group of rows without a value
SMALLEST_SHARE = 0.02  # categories below it may be left out of impact ratios (6 RCNY § 5-301)


@dataclass(frozen=True, slots=True)
class Tool:
    """What a bias audit is about: something that selects or scores people.

    Attributes
    ----------
    name
        In a sentence.
    selecting
        Whom it selects, by sensitive column.
    scoring
        Whom it scores above the median, by sensitive column; empty without a score.
    score
        What the score is called, if not as the tool.
    is_lower_better
        Lower scores are favourable.
    """

    name: str
    selecting: tuple[GroupTable, ...]
    scoring: tuple[GroupTable, ...] = ()
    score: str = ""
    is_lower_better: bool = False

    @property
    def unknown(self) -> dict[str, int]:
        """Rows of an unknown category, by sensitive column."""
        return {table.column: unknown_rows(table) for table in self.selecting}


class Ratio(NamedTuple):
    """The ratio of one category to the one that fares best."""

    group: str
    value: float


def ratios_section(lead: str, facts: Sequence[tuple[str, str]], tools: Sequence[Tool]) -> Section:
    """Show the ratios of every tool, the one that the audit is about first."""
    unknown = tools[0].unknown
    counts = (("unknown category", wording.unknown_rows(unknown)),) if unknown else ()
    blocks: list[Block] = [Paragraph(lead), Facts((*facts, *counts))]
    if not unknown:
        blocks.append(Paragraph(wording.NO_CATEGORIES))
    for tool in tools:
        blocks += [impact_ratios(table, tool.name) for table in tool.selecting]
        blocks += [scoring_ratios(table, tool) for table in tool.scoring]
    return Section("impact", "Impact ratios", tuple(blocks))


def followed() -> Section:
    """Say which text the profile follows."""
    return Section("followed", wording.FOLLOWED, (Items(wording.BIAS_FOLLOWS),))


def headline(tool: Tool) -> str:
    """Name the lowest ratio of a tool over all columns, of whom it selects or of whom it scores above the median."""
    ratios = [(table, found, False) for table in tool.selecting if (found := lowest_ratio(table))]
    ratios += [(table, found, True) for table in tool.scoring if (found := lowest_ratio(table))]
    if not tool.selecting:
        return wording.no_ratio(tool.name)
    unknown = wording.unknown(max(tool.unknown.values()))
    if not ratios:
        return f"{wording.no_ratio(tool.name)} {unknown}"
    table, found, is_scoring = min(ratios, key=lambda one: one[1].value)
    name = tool.score or tool.name if is_scoring else tool.name
    return f"{wording.lowest_ratio(name, *found, table.column, is_scoring=is_scoring)} {unknown}"


def impact_ratios(table: GroupTable, name: str) -> Table:
    """Show selection rates and impact ratios by category; unknown and very small categories have no ratio."""
    note = "impact ratio: selection rate as a share of that of the most selected category"
    return _ratios(table, f"By {shortened(table.column, GROUP_WIDTH)}: {name}", ("selected", "selection rate"), note)


def scoring_ratios(table: GroupTable, tool: Tool) -> Table:
    """Show the same for whom a tool scores above the median, or below it where that is favourable."""
    title = f"Scoring rates by {shortened(table.column, GROUP_WIDTH)}: {tool.score or tool.name}"
    side = median_side(is_lower_better=tool.is_lower_better)
    return _ratios(table, title, (side, "scoring rate"), scoring_rate(is_lower_better=tool.is_lower_better))


def _ratios(table: GroupTable, title: str, headings: tuple[str, str], note: str) -> Table:
    known, best = _counted(table)
    return Table(
        title=title,
        headings=("category", "applicants", *headings, "impact ratio"),
        rows=tuple(_category(group, best, is_counted=group in known) for group in with_largest(table).groups),
        notes=(note, *_notes(table)),
    )


def _notes(table: GroupTable) -> Iterator[str]:
    yield f"unknown category: {counted(unknown_rows(table), 'row')}, not used for ratios"
    known, _ = _counted(table)
    if any(group not in known and not _is_unknown(group) for group in table.groups):
        yield (
            f"not counted: a category of less than {SMALLEST_SHARE:.0%} of the rows, not used for ratios either, as "
            "the rates of so few say little"
        )
    yield from hidden_groups(table.groups)


def lowest_ratio(table: GroupTable) -> Ratio | None:
    """Find the category of the lowest impact ratio; None if there is none."""
    known, best = _counted(table)
    ratios = [Ratio(group.group, group.rate.value / best) for group in known if group.rate.value is not None and best]
    return min(ratios, key=lambda ratio: ratio.value, default=None)


def unknown_rows(table: GroupTable) -> int:
    """Count the rows of an unknown category."""
    return sum(group.n for group in table.groups if _is_unknown(group))


def _counted(table: GroupTable) -> tuple[list[GroupRow], float]:
    """Return the categories that are used for ratios, and the highest selection rate among them."""
    rows = sum(group.n for group in table.groups)
    known = [group for group in table.groups if not _is_unknown(group) and group.n >= SMALLEST_SHARE * rows]
    return known, max((group.rate.value or 0.0 for group in known if group.n), default=0.0)


def _is_unknown(group: GroupRow) -> bool:
    """Tell whether a group, or a part of an intersection such as "sex: (missing) & race: white", is the missing one."""
    return any(MISSING.fullmatch(part.rpartition(": ")[2]) for part in group.group.split(" & "))


def _category(group: GroupRow, best: float, *, is_counted: bool) -> tuple[str, ...]:
    rate = group.rate.value
    ratio = "unknown" if _is_unknown(group) else "not counted"
    if is_counted:
        ratio = UNDEFINED if rate is None or not best else share(rate / best)
    return shortened(group.group, GROUP_WIDTH), str(group.n), str(group.selected), share(rate), ratio
