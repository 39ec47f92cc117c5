"""Selection group by group: adverse-impact tables, bars of rates, and disagreement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from fairenum.document.audit_document import AuditDocument
from fairenum.document.models import GroupDisagreement, Multiplicity
from fairenum.document.scores import GroupRow, GroupTable
from fairenum.document.words import GROUP_WIDTH, IN_USE, model_name
from fairenum.render.page import Block, Figure, Paragraph, Section, Table
from fairenum.render.svg import Bar, Bars, Rule
from fairenum.render.svg_plot import LETTER, Axis, Key, Layer, Plot
from fairenum.runtime.formatting import UNDEFINED, capitalised, estimate, p_value, percent, share, shortened, signed

NO_GROUPS = "No sensitive column was named, so no groups are compared."


def impact_caption(column: str, rank: int, run: str = "") -> str:
    """Say what the bars of selection rates are."""
    whose = f"{run}, {model_name(rank)}, by" if run else "By"
    highest = f"model {rank}'s highest" if rank else f"the highest of {IN_USE}"
    return (
        f"{whose} {shortened(column, GROUP_WIDTH)}. Bars: share that gets the favourable outcome, with its interval; "
        f"dashed: four fifths of {highest}."
    )


def disagreement_words(found: Multiplicity) -> str:
    """Explain how far the models disagree."""
    return (
        f"Ambiguity is the share of rows that some model decides otherwise than model 1: {percent(found.ambiguity)} "
        f"of the holdout. Discrepancy is the largest share that a single one changes: {percent(found.discrepancy)}. "
        f"Disagreement is the chance that two models differ on a row: {percent(found.disagreement)}. The viable "
        f"range is how far the calibrated probability of a row moves between models; capacity is the same in bits."
    )


Group = TypeVar("Group")


FOUR_FIFTHS = 0.8
OFFSETS = {1: (0.0,), 2: (0.16, -0.16), 3: (0.25, 0.0, -0.25)}  # the bars of several models stand apart
CLOSE = {**OFFSETS, 3: (0.19, 0.0, -0.19)}  # where names stand above
SHORT_NAME = 14  # a longer one stands above its bar
MOST_SHOWN = 100  # groups of a column; the run holds all


def selected_groups(document: AuditDocument, ranks: Sequence[int] = ()) -> Section:
    """Show selection by every sensitive column and their intersection, for some models or for all."""
    return Section("groups", "Who is selected", tuple(_group_blocks(document, ranks)))


def _group_blocks(document: AuditDocument, ranks: Sequence[int]) -> Iterator[Block]:
    if not document.group_tables:
        yield Paragraph(NO_GROUPS)
    for column in document.dataset.sensitive:
        tables = [table for table in document.group_tables if table.column == column.column]
        tables = [table for table in tables if not ranks or table.rank in ranks]
        if tables:
            yield Figure((group_rates(tables),), impact_caption(column.column, tables[-1].rank))
            yield from map(whole_impact, tables)


def impact(table: GroupTable) -> Table:
    """Show the selection of one model from the groups of one column, in brief."""
    shown = with_largest(table)
    return Table(
        title=f"Who is selected by {model_name(table.rank)}, by {shortened(table.column, GROUP_WIDTH)}",
        headings=("group", "selected", "rate", "ratio", "difference", "p", "shortfall"),
        rows=tuple(
            (group_name(group), f"{group.selected}/{group.n}", share(group.rate.value), *_compared(group, table))
            for group in shown.groups
        ),
        notes=tuple(impact_notes(table)),
    )


def whole_impact(table: GroupTable, run: str = "") -> Table:
    """Show a complete adverse-impact table; `run` names the run where there are several."""
    shown = with_largest(table)
    return Table(
        title=f"{run}, {model_name(table.rank)}" if run else capitalised(model_name(table.rank)),
        headings=("group", "n", "selected", "rate", "ratio", "difference", "p", "shortfall", "could go unseen"),
        rows=tuple(
            (
                *(group_name(group), str(group.n), str(group.selected), estimate(group.rate)),
                *(*_compared(group, table), share(group.detectable)),
            )
            for group in shown.groups
        ),
        notes=tuple(impact_notes(table)),
    )


def with_largest(table: GroupTable) -> GroupTable:
    """Return the table with as many groups as a page has room for."""
    return table.but(groups=foremost(table.groups, [group.n for group in table.groups]))


def foremost(groups: Sequence[Group], sizes: Sequence[int]) -> tuple[Group, ...]:
    """Return as many groups as a page has room for: the largest ones, in their order."""
    largest = sorted(range(len(groups)), key=lambda place: -sizes[place])[:MOST_SHOWN]
    return tuple(groups[place] for place in sorted(largest))


def hidden_groups(groups: Sequence[Group]) -> Iterator[str]:
    """Say how many groups a page has no room for."""
    if len(groups) > MOST_SHOWN:
        yield f"not shown: {len(groups) - MOST_SHOWN} smaller groups, which the run holds"


def group_name(group: GroupRow) -> str:
    """Name a group, and mark it if it is small or set aside."""
    mark = " (small)" if group.is_small else ""
    return shortened(group.group, GROUP_WIDTH) + (mark if group.is_compared else " (set aside)")


def _compared(group: GroupRow, table: GroupTable) -> tuple[str, ...]:
    """Return the comparisons of a group with others: ratio, difference, p, shortfall."""
    return (
        share(group.ratio),
        "reference" if group.group == table.reference else estimate(group.difference, signed),
        p_value(group.p),
        UNDEFINED if group.shortfall is None else f"{group.shortfall:.0f}",
    )


def impact_notes(table: GroupTable) -> Iterator[str]:
    """Explain how to read an adverse-impact table."""
    compared = [group for group in table.groups if group.is_compared]
    yield f"difference and p: against {shortened(table.reference, GROUP_WIDTH)}"
    if table.most_selected is not None:
        among = " of those that are not small" if {group.is_small for group in compared} == {True, False} else ""
        yield f"ratio and shortfall: against {shortened(table.most_selected, GROUP_WIDTH)}, the most selected{among}"
    if table.is_weighted:
        yield "n and selected are rows; rates are weighted, and a shortfall is in rows of average weight"
    if any(group.is_small for group in compared):
        yield "small: too few rows to say much"
    if len(compared) < len(table.groups):
        yield "set aside: too few rows, or no value; no part in gaps, search and choice"
    yield from hidden_groups(table.groups)


def group_rates(
    tables: Sequence[GroupTable],
    called: Callable[[int], str] = model_name,
    axis: str = "selection rate on the holdout",
) -> Plot:
    """Draw the selection rates of the groups of one column, for one model or several.

    `called` names a model by its rank, `axis` labels the bars.
    """
    tables = [*map(with_largest, tables)]
    names = tuple(shortened(group.group, GROUP_WIDTH) for group in tables[0].groups)
    longest = max(map(len, names))
    is_above, several = longest > SHORT_NAME, len(tables)
    is_pair = several > 1
    thickness = (0.34, 0.22, 0.16)[several - 1] if is_above else (0.56, 0.34, 0.24)[several - 1]
    layers: tuple[Layer, ...] = (Bars(tuple(_rate_bars(tables, called, is_above=is_above)), thickness),)
    return Plot(
        name=f"Selection rates by {shortened(tables[0].column, GROUP_WIDTH)}",
        description="One bar for each group; the table beside it has the numbers.",
        x=Axis(axis, low=0.0, high=1.0),
        y=Axis("", names=names[::-1], is_above=is_above),
        layers=(*layers, *_four_fifths(tables[-1])),
        key=tuple(Key(called(table.rank), tone(table.rank), "square") for table in tables if is_pair),
        height=76.0 + (16.0 + 10.0 * several + 18.0 * is_above) * len(names),
        left=14.0 if is_above else 22.0 + LETTER * longest,
    )


def _rate_bars(tables: Sequence[GroupTable], called: Callable[[int], str], *, is_above: bool) -> Iterator[Bar]:
    drop = 0.12 if is_above else 0.0  # below a name that stands above
    for table, offset in zip(tables, (CLOSE if is_above else OFFSETS)[len(tables)], strict=True):
        for place, group in enumerate(table.groups):
            yield Bar(
                len(table.groups) - 1 - place - drop + offset,
                group.rate.value,
                (group.rate.low, group.rate.high),
                tone(table.rank),
                f"{called(table.rank)}, {shortened(group.group, GROUP_WIDTH)}: {estimate(group.rate)}",
            )


def tone(rank: int) -> str:
    """Return the colour of a model by its rank: the model in use and model 1 have their own."""
    return ("tone-5", "tone-6", "tone-2")[min(rank, 2)]


def _four_fifths(table: GroupTable) -> Iterator[Rule]:
    """Mark four fifths of the highest rate, the rule of thumb of adverse-impact practice."""
    for group in table.groups:
        if group.group == table.most_selected and group.rate.value is not None:
            yield Rule(FOUR_FIFTHS * group.rate.value, "", is_upright=True)


def disagreement(found: Multiplicity) -> Section:
    """Show disagreement of the near-optimal listed models, group by group."""
    tables = (_disagreement_table(column, groups) for column, groups in found.by_column.items())
    return Section("disagreement", "Who is decided differently", (Paragraph(disagreement_words(found)), *tables))


def _disagreement_table(column: str, groups: Sequence[GroupDisagreement]) -> Table:
    return Table(
        title=f"By {shortened(column, GROUP_WIDTH)}",
        headings=("group", "rows", "flipped", "ambiguity", "discrepancy", "disagreement", "viable range", "capacity"),
        rows=tuple(
            (
                *(shortened(group.group, GROUP_WIDTH), str(group.rows), str(group.flipped)),
                *map(percent, (group.ambiguity, group.discrepancy, group.disagreement)),
                *map(_four_decimals, (group.viable_range, group.capacity)),
            )
            for group in foremost(groups, [group.rows for group in groups])
        ),
        notes=tuple(hidden_groups(groups)),
    )


def _four_decimals(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4f}"
