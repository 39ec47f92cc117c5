"""The report's section on groups: adverse-impact tables, bars of selection rates, and disagreement of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from fairenum.document.audit_document import AuditDocument
from fairenum.document.incumbent_measures import IncumbentMeasures
from fairenum.document.measure_document import FOUR_FIFTHS, ColumnMeasures
from fairenum.document.models import GroupDisagreement, Incumbent, Multiplicity
from fairenum.document.scores import GroupRow, GroupTable
from fairenum.document.terms import GAPS, Gap
from fairenum.document.value import Estimate
from fairenum.document.words import GAP_NAMES, GROUP_WIDTH, IN_USE, model_name
from fairenum.render.page import Block, Column, Figure, Paragraph, Section, Table
from fairenum.render.svg import Bar, Bars, Rule
from fairenum.render.svg_plot import LETTER, Axis, Key, Layer, Plot
from fairenum.runtime.formatting import (
    UNDEFINED,
    capitalised,
    counted,
    estimate,
    p_value,
    percent,
    share,
    shortened,
    signed,
)

Group = TypeVar("Group")

MAY_BE_TRAINED = (
    " If it was trained on some of these rows, it may look better on them than on new people; its numbers on rows that "
    "it has not seen are then to be preferred."
)
IN_USE_TITLE = "The model in use, on all rows that it decided"
ON_HOLDOUT = "Models side by side, all of them on the holdout."
NO_GROUPS = "No sensitive column was named, so no groups are compared."


def impact_caption(column: str, rank: int, run: str = "") -> str:
    """Return the caption of a bar plot of the selection rates of a model.

    `run` is the name of the run, where a page shows several.
    """
    whose = f"{run}, {model_name(rank)}, by" if run else "By"
    highest = f"model {rank}'s highest" if rank else f"the highest of {IN_USE}"
    return (
        f"{whose} {shortened(column, GROUP_WIDTH)}. Bars: share that gets the favourable outcome, with its interval; "
        f"dashed: four fifths of {highest}."
    )


OFFSETS = {1: (0.0,), 2: (0.16, -0.16), 3: (0.25, 0.0, -0.25)}  # of bars from the middle, by the number of models
CLOSE = {**OFFSETS, 3: (0.19, 0.0, -0.19)}  # the same where names are written above the bars
SHORT_NAME = 14  # characters; a longer name is written above its bar
MOST_SHOWN = 100  # groups of a column; the run holds all


def selected_groups(document: AuditDocument, ranks: Sequence[int] = ()) -> Section:
    """Return the section on selection rates by every sensitive column and by their intersection.

    It shows the models whose ranks are in `ranks`, or all if that is empty.
    """
    return Section("groups", "Who is selected", tuple(_group_blocks(document, ranks)))


def in_use(document: AuditDocument, *, is_brief: bool = False) -> Iterator[Section]:
    """Yield the section on the model in use by itself, on all rows that it decided, if the run measured it so."""
    if (found := document.incumbent_measures) is None or document.incumbent is None:
        return
    lead = Paragraph(in_use_words(document.incumbent, found))
    if not found.columns:
        yield Section("in-use", IN_USE_TITLE, (lead,))
        return
    blocks: list[Block] = [lead, _in_use_gaps(found)]
    for column in found.columns:
        if is_brief:
            blocks.append(replace(impact(column.impact), title=f"By {shortened(column.column, GROUP_WIDTH)}"))
            continue
        plot = group_rates([column.impact], axis="selection rate on all rows")
        ratios = {group.group: group.ratio for group in column.groups}
        blocks.append(Figure((plot,), impact_caption(column.column, 0)))
        blocks.append(whole_impact(column.impact, ratios=ratios))
    yield Section("in-use", IN_USE_TITLE, tuple(blocks))


def in_use_words(incumbent: Incumbent, found: IncumbentMeasures) -> str:
    """Return sentences on the model in use: the rows that it is measured on, its selection rate and accuracy."""
    trained = MAY_BE_TRAINED if incumbent.source == "model" and incumbent.trained_on is None else ""
    return (
        f"All {counted(found.rows, 'row')} that {IN_USE} decided: it selects {estimate(found.selection_rate)}, and "
        f"{estimate(found.accuracy)} of its decisions agree with the label. No part of the audit chose it, so that all "
        f"rows count; where it is compared with another model, both are on the holdout.{trained}"
    )


def _in_use_gaps(found: IncumbentMeasures) -> Table:
    columns: tuple[Column[ColumnMeasures], ...] = (
        Column("column", "by", lambda one: shortened(one.column, GROUP_WIDTH), is_word=True),
        *map(_gap_column, GAPS),
        Column("ratio", "lowest ratio", lambda one: estimate(one.scores.ratio("demographic_parity_ratio"))),
    )
    note = "gaps and lowest ratios: limits hold for all groups of a column together"
    return Table.of("Its gaps between groups, on all rows", columns, found.columns, notes=(note,))


def _gap_column(gap: Gap) -> Column[ColumnMeasures]:
    return Column(gap, GAP_NAMES[gap], lambda one: estimate(one.scores.gap(gap)))


def _group_blocks(document: AuditDocument, ranks: Sequence[int]) -> Iterator[Block]:
    if not document.group_tables:
        yield Paragraph(NO_GROUPS)
    elif document.incumbent_measures:
        yield Paragraph(ON_HOLDOUT)
    for column in document.dataset.sensitive:
        tables = [table for table in document.group_tables if table.column == column.column]
        tables = [table for table in tables if not ranks or table.rank in ranks]
        if tables:
            yield Figure((group_rates(tables),), impact_caption(column.column, tables[-1].rank))
            yield from map(whole_impact, tables)


def impact(table: GroupTable) -> Table:
    """Return a brief adverse-impact table: the selection rates of one model in the groups of one column."""
    return Table(
        title=f"Who is selected by {model_name(table.rank)}, by {shortened(table.column, GROUP_WIDTH)}",
        headings=("group", "selected", "rate", "ratio", "difference", "p", "shortfall"),
        rows=tuple(
            (group_name(group), f"{group.selected}/{group.n}", share(group.rate.value), *_compared(group, table))
            for group in with_largest(table).groups
        ),
        notes=tuple(_impact_notes(table)),
    )


def whole_impact(table: GroupTable, run: str = "", ratios: Mapping[str, Estimate] | None = None) -> Table:
    """Return a complete adverse-impact table of one model and one column.

    `run` is the name of the run, where a page shows several; `ratios` are impact ratios by group with their confidence
    limits, if known.
    """
    return Table(
        title=f"{run}, {model_name(table.rank)}" if run else capitalised(model_name(table.rank)),
        headings=("group", "n", "selected", "rate", "ratio", "difference", "p", "shortfall", "could go unseen"),
        rows=tuple(
            (
                *(group_name(group), str(group.n), str(group.selected), estimate(group.rate)),
                *(*_compared(group, table, ratios), share(group.detectable)),
            )
            for group in with_largest(table).groups
        ),
        notes=tuple(_impact_notes(table)),
    )


def with_largest(table: GroupTable) -> GroupTable:
    """Return an adverse-impact table without the smallest groups, if it has more groups than a page shows."""
    return table.but(groups=foremost(table.groups, [group.n for group in table.groups]))


def foremost(groups: Sequence[Group], sizes: Sequence[int]) -> tuple[Group, ...]:
    """Return the groups without the smallest ones, if there are more than a page shows; their order is kept."""
    largest = sorted(range(len(groups)), key=lambda place: -sizes[place])[:MOST_SHOWN]
    return tuple(groups[place] for place in sorted(largest))


def hidden_groups(groups: Sequence[Group]) -> Iterator[str]:
    """Yield a note with the number of groups that a page does not show, if there are any."""
    if len(groups) > MOST_SHOWN:
        yield f"not shown: {len(groups) - MOST_SHOWN} smaller groups, which the run holds"


def group_name(group: GroupRow) -> str:
    """Return the name of a group, marked if the group is small or is not compared with others."""
    small = " (small)" if group.is_small else ""
    return shortened(group.group, GROUP_WIDTH) + (small if group.is_compared else " (set aside)")


def _compared(group: GroupRow, table: GroupTable, ratios: Mapping[str, Estimate] | None = None) -> tuple[str, ...]:
    return (
        estimate(ratios[group.group]) if ratios else share(group.ratio),
        "reference" if group.group == table.reference else estimate(group.difference, signed),
        p_value(group.p),
        UNDEFINED if group.shortfall is None else f"{group.shortfall:.0f}",
    )


def _impact_notes(table: GroupTable) -> Iterator[str]:
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
    """Return a bar plot of the selection rates of the groups of one column, for one model or several.

    `called` returns the name of a model, given its rank; `axis` is the label of the horizontal axis.
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
    drop = 0.12 if is_above else 0.0  # leaves room for the name above the bar
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
    """Return the CSS class of a model's colour: one for the model in use, one for model 1, and one for all others."""
    return ("tone-5", "tone-6", "tone-2")[min(rank, 2)]


def _four_fifths(table: GroupTable) -> Iterator[Rule]:
    """Yield an upright line at 4/5 of the highest selection rate; by custom, lower rates suggest adverse impact."""
    for group in table.groups:
        if group.group == table.most_selected and group.rate.value is not None:
            yield Rule(FOUR_FIFTHS * group.rate.value, "", is_upright=True)


def disagreement(found: Multiplicity) -> Section:
    """Return a section on how far the listed models disagree about the holdout, group by group."""
    explained = Paragraph(
        f"Ambiguity is the share of rows that some model decides differently from model 1: {percent(found.ambiguity)} "
        f"of the holdout. Discrepancy is the largest share that a single one changes: {percent(found.discrepancy)}. "
        f"Disagreement is the chance that two models differ on a row: {percent(found.disagreement)}. The viable "
        f"range is how far the calibrated probability of a row moves between models; capacity is the same in bits."
    )
    tables = (_disagreement_table(column, groups) for column, groups in found.by_column.items())
    return Section("disagreement", "Who is decided differently", (explained, *tables))


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
