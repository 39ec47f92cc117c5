"""Whose decision depends on which of the near-optimal models is used: in words, by group, and as a curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.arbitrariness import Arbitrariness, BoundedShare, GroupFlipped
from fairenum.document.audit import AuditDocument
from fairenum.rendering.numbers import percent
from fairenum.rendering.page import Block, Figure, Items, Section, Table
from fairenum.rendering.svg import Axis, Curve, Key, Layer, Plot, Rule
from fairenum.rendering.text import shortened
from fairenum.report.groups import foremost, hidden_groups
from fairenum.report.wording import GROUP_WIDTH
from fairenum.report.wording import arbitrariness as wording

TONES = ("tone-1", "tone-2", "tone-3", "tone-4")  # of groups; more would not be told apart
TICKS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)  # losses that a table has room for
ALL = "tone-6"


def sections(document: AuditDocument) -> Iterator[Section]:
    """Show it in full, if it was found."""
    if found := document.arbitrariness:
        yield Section("arbitrariness", wording.TITLE, tuple(_blocks(document, found)))


def brief_sections(document: AuditDocument) -> Iterator[Section]:
    """Show the groups of the column that models are selected by, or everybody."""
    if found := document.arbitrariness:
        columns = [column for column in found.by_column if column == document.column] or [*found.by_column][:1]
        tables = [_group_table(document, found, column) for column in columns]
        yield Section("arbitrariness", wording.TITLE, (*tables, _curve_table(document, found)))


def _blocks(document: AuditDocument, found: Arbitrariness) -> Iterator[Block]:
    yield Items(tuple(wording.explained(document, found)))
    for column in found.by_column:
        yield _group_table(document, found, column)
    yield Figure((curve_plot(document, found),), wording.CURVE_CAPTION)
    yield _curve_table(document, found)


def _group_table(document: AuditDocument, found: Arbitrariness, column: str) -> Table:
    groups = found.by_column[column].groups
    shown = foremost(groups, [group.rows for group in groups])
    opened = ("open",) if found.overall.open else ()
    notes = wording.notes(
        found,
        is_weighted=document.dataset.weights is not None,
        has_aside=not all(group.is_compared for group in groups),
    )
    return Table(
        title=f"By {shortened(column, GROUP_WIDTH)}",
        headings=("group", "examined", "depends", *opened, "share", "by the list"),
        rows=tuple(_group_row(group, has_open=bool(opened)) for group in shown),
        notes=(*notes, *hidden_groups(groups)),
    )


def _group_row(group: GroupFlipped, *, has_open: bool) -> tuple[str, ...]:
    name = shortened(group.group, GROUP_WIDTH) + ("" if group.is_compared else " (set aside)")
    counts = (group.rows, group.flipped, *((group.open,) if has_open else ()))
    return name, *map(str, counts), wording.bounded(group.ambiguity), percent(group.listed)


def curve_names(document: AuditDocument, found: Arbitrariness) -> tuple[str, ...]:
    """Name the groups of the curve, in their order."""
    return tuple(shortened(one.group, GROUP_WIDTH) for one in found.shown(document.column))


def _curve_table(document: AuditDocument, found: Arbitrariness) -> Table:
    """Show the curve as numbers, at a few losses."""
    names = curve_names(document, found)[: len(TONES)]
    return Table(
        title="The more a model may lose",
        headings=("training loss above the least", "all", *names),
        rows=tuple(
            (wording.loss(point.eps), wording.bounded(point.overall), *map(_alone, point.groups[: len(names)]))
            for point in found.curve
            if point.eps in TICKS
        ),
        notes=(wording.IN_TABLES, *((wording.effort(found.effort),) if found.effort else ())),
    )


def _alone(found: BoundedShare) -> str:
    return percent(found.least)


def curve_plot(document: AuditDocument, found: Arbitrariness) -> Plot:
    """Draw the share of people whose decision depends on the choice, against what a model may lose."""
    names = curve_names(document, found)[: len(TONES)]
    groups = [[point.groups[place] for point in found.curve] for place in range(len(names))]
    xs = tuple(100 * point.eps for point in found.curve)
    layers: list[Layer] = [_curve(xs, [point.overall for point in found.curve], ALL, "all", is_dashed=len(names) > 1)]
    layers += [_curve(xs, *one) for one in zip(groups, TONES, names, strict=False)] if len(names) > 1 else []
    keys = (Key("all", ALL, "line"), *(Key(n, t, "line") for n, t in zip(names, TONES, strict=False) if len(names) > 1))
    if xs[0] <= 100 * found.eps <= xs[-1]:
        layers.append(Rule(100 * found.eps, "", is_upright=True))
    return Plot(
        name="Share of people whose decision depends on the choice of model",
        description="A line for all and one for each group, over the training loss; the table has the numbers.",
        x=Axis("training loss above the least, in %", low=xs[0], high=xs[-1], is_log=True),
        y=Axis("share of people", low=0.0, high=1.0),
        layers=tuple(layers),
        key=keys,
    )


def _curve(
    xs: tuple[float, ...], shares: Sequence[BoundedShare], tone: str, name: str, *, is_dashed: bool = False
) -> Curve:
    values, low, high = zip(*((one.least, one.low, one.high) for one in shares), strict=True)
    band = ((), ()) if is_dashed else (low, high)
    return Curve(xs, values, *band, tone=tone, name=name, is_dashed=is_dashed)
