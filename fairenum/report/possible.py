"""What no machine that is nearly as good goes beyond: bars, words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.document.audit import AuditDocument
from fairenum.document.incumbent import Incumbent
from fairenum.document.possible import ParityRange, PossibleRange
from fairenum.rendering.bars import RangeBar, draw_ranges
from fairenum.rendering.page import Block, Figure, Items, Section, Table
from fairenum.rendering.svg import Axis, Key, Layer, Mark, Marks, Plot, Span
from fairenum.rendering.text import shortened
from fairenum.report.groups import foremost, hidden_groups
from fairenum.report.model_plots import Kind
from fairenum.report.wording import GROUP_WIDTH, model_title
from fairenum.report.wording import possible as wording

KINDS = {"1": Kind.FIRST, "U": Kind.IN_USE, "S": Kind.SELECTED}  # a later one lies on top


def sections(document: AuditDocument) -> Iterator[Section]:
    """Show it in full, if it was found."""
    if found := document.range:
        yield Section("range", wording.TITLE, tuple(_blocks(document, found)))


def brief_sections(document: AuditDocument) -> Iterator[Section]:
    """Show the bars, and what they say."""
    if found := document.range:
        yield Section(
            "range", wording.TITLE, (_figure(document, found), Items(tuple(wording.explained(document, found))))
        )


def _blocks(document: AuditDocument, found: PossibleRange) -> Iterator[Block]:
    yield Items(tuple(wording.explained(document, found)))
    yield _figure(document, found)
    yield _gaps(found)
    yield from (_rates(level) for level in found.levels[-1:])


def _gaps(found: PossibleRange) -> Table:
    """Show the gap for every loss."""
    return Table(
        title="The gap by training loss",
        headings=("training loss above the least", "in doubt", "proven by the rows", "proven", "found"),
        rows=tuple(
            (
                wording.loss(level.eps),
                str(level.doubtful),
                wording.between(*level.by_rows),
                wording.between(level.gap.low, level.gap.high),
                wording.between(level.gap.least, level.gap.most),
            )
            for level in found.levels
        ),
        notes=wording.table_notes(),
    )


def _rates(level: ParityRange) -> Table:
    """Show how many of each group any machine selects."""
    shown = foremost(level.groups, [group.rows for group in level.groups])
    return Table(
        title=f"Selection rates within {wording.loss(level.eps)}",
        headings=("group", "rows", "proven", "found"),
        rows=tuple(
            (
                shortened(group.group, GROUP_WIDTH),
                str(group.rows),
                wording.between(group.rate.low, group.rate.high),
                wording.between(group.rate.least, group.rate.most),
            )
            for group in shown
        ),
        notes=tuple(hidden_groups(level.groups)),
    )


def _marks(document: AuditDocument, level: ParityRange) -> Mapping[str, float]:
    """Return the gaps to mark beside a level: of the model in use always, of others if they are within its loss."""
    selected = document.selected if document.selection.rank != 1 else None
    members = {"1": document.first, "U": document.incumbent, "S": selected}
    gaps = {
        sign: member.scores.holdout.gap(wording.GAP).value
        for sign, member in members.items()
        if member and (isinstance(member, Incumbent) or member.loss_ratio <= level.eps)
    }
    return {sign: gap for sign, gap in gaps.items() if gap is not None}


def _figure(document: AuditDocument, found: PossibleRange) -> Figure:
    marks = {sign for level in found.levels for sign in _marks(document, level)}
    signs = ", ".join(f"{sign} {name}" for sign, name in wording.MARKS.items() if sign in marks)
    bars = [
        RangeBar(
            wording.loss(level.eps),
            (level.gap.low, level.gap.high),
            (level.gap.least, level.gap.most),
            _marks(document, level),
        )
        for level in found.levels
    ]
    return Figure(
        (range_bars(document, found),), wording.caption(found), draw_ranges(bars, wording.PLAIN_KEY.format(marks=signs))
    )


def range_bars(document: AuditDocument, found: PossibleRange) -> Plot:
    """Draw a bar for every loss: proven outside, found inside, and the models that matter."""
    layers: list[Layer] = []
    shown: dict[str, int] = {}
    for place, level in enumerate(found.levels):
        gap, marks = level.gap, _marks(document, level)
        layers.append(Span(gap.low, gap.high, place, "tone-6", f"proven: {wording.between(gap.low, gap.high)}"))
        layers.append(Span(gap.least, gap.most, place, "tone-1", f"found: {wording.between(gap.least, gap.most)}"))
        layers.append(Marks(tuple(_mark(document, sign, value, place) for sign, value in marks.items())))
        shown |= dict.fromkeys(marks, 0)
    kinds = (Key(wording.MARKS[sign], kind.tone, kind.shape) for sign, kind in KINDS.items() if sign in shown)
    return Plot(
        name="Range of the demographic parity gap",
        description="A bar for each training loss: what is proven, what was found in it, and the models.",
        x=Axis("demographic parity gap on the holdout", low=0.0, least=0.1),
        y=Axis("training loss above the least", names=tuple(wording.loss(level.eps) for level in found.levels)),
        layers=tuple(layers),
        key=(Key("not ruled out", "tone-6", "band"), Key("machines were found", "tone-1", "band"), *kinds),
        width=580.0,
        height=90.0 + 50.0 * len(found.levels),
        left=70.0,
    )


def _mark(document: AuditDocument, sign: str, value: float, place: int) -> Mark:
    kind, rank = KINDS[sign], {"1": 1, "U": 0, "S": document.selection.rank or 1}[sign]
    return Mark(value, float(place), f"{model_title(document, rank)}: {value:.3f}", tone=kind.tone, shape=kind.shape)
