"""The parity range on a page: bars, words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.document.audit_document import AuditDocument
from fairenum.document.flip_facts import Extent, ParityRange, RangeLevel
from fairenum.document.models import Incumbent
from fairenum.document.terms import Gap
from fairenum.document.words import GROUP_WIDTH, IN_USE, model_title
from fairenum.render.page import Block, Figure, Items, Section, Table
from fairenum.render.plain_plots import RangeBar, draw_ranges
from fairenum.render.svg import Mark, Marks, Span
from fairenum.render.svg_plot import Axis, Key, Layer, Plot
from fairenum.report.groups_section import foremost, hidden_groups
from fairenum.report.models_section import Kind
from fairenum.runtime.formatting import counted, share, shortened

TITLE = "What any model as good could do"
GAP: Gap = "demographic_parity_difference"
MUCH = 0.5  # the share of rows that nobody examined from which on they are the reason that a bound is weak
PLAIN_KEY = "(. not ruled out, = models were found; {marks})"
MARKS = {"1": "model 1", "S": "the selected model", "U": IN_USE}


def loss(eps: float) -> str:
    """Write a loss."""
    return f"{100 * eps:g} %"


def between(low: float, high: float) -> str:
    """Write a range of gaps or rates."""
    return share(low) if share(low) == share(high) else f"{share(low)} to {share(high)}"


def explained(document: AuditDocument, found: ParityRange) -> Iterator[str]:
    """Say what is proven and attained, where the bound is weak, and where the main models stand."""
    widest = found.levels[-1]
    yield (
        "This is about every support vector machine of the same kernel, listed or not, whose training loss is within "
        f"{loss(widest.eps)} of the least: which demographic parity gap by {shortened(found.column, GROUP_WIDTH)} can "
        "it have on the holdout?"
    )
    for level in found.levels:
        yield _level(level)
    if refuted := refutation(found):
        yield refuted
    yield from _standing(document, found)
    if found.unexamined:
        yield unexamined(found)


def _level(level: RangeLevel) -> str:
    gap, name = level.gap, f"Within {loss(level.eps)} of the least loss"
    if level.doubtful == 0:
        return f"{name} every model has a gap of {share(gap.low)}: none decides otherwise than model 1."
    if between(gap.low, gap.high) == between(gap.least, gap.most):
        return f"{name} the gap is {between(gap.low, gap.high)}: nothing beyond is possible, and both ends were found."
    if is_weak(gap):
        return (
            f"{name} the bound is too weak to tell: the gap could be anything from {share(gap.low)} to "
            f"{share(gap.high)}; the search found {between(gap.least, gap.most)}."
        )
    return (
        f"{name} the gap is proven to lie between {share(gap.low)} and {share(gap.high)}; the search found "
        f"{between(gap.least, gap.most)}."
    )


def is_weak(gap: Extent) -> bool:
    """Tell whether most of the range within the bounds is not known to be attained."""
    return gap.high - gap.low > 2.0 * (gap.most - gap.least) + 0.01


def refutation(found: ParityRange) -> str:
    """State the smallest possible gap, for the largest loss with a bound above 0; empty if there is none."""
    level = refuting(found)
    if level is None:
        return ""
    return (
        f"No support vector machine of this kernel on these features whose training loss is within {loss(level.eps)} "
        f"of the least has a gap below {share(level.gap.low)} on the holdout. That is proven for all of them: none was "
        "overlooked."
    )


def refuting(found: ParityRange) -> RangeLevel | None:
    """Return the largest loss at which the gap is proven to be above 0, to the digits shown."""
    return next((level for level in reversed(found.levels) if share(level.gap.low) > share(0.0)), None)


def _standing(document: AuditDocument, found: ParityRange) -> Iterator[str]:
    widest = found.levels[-1]
    if (selected := document.selected) and selected.rank > 1 and selected.loss_ratio > widest.eps:
        yield (
            f"Model {selected.rank} has a training loss of {100 * selected.loss_ratio:.1f} % above the least, and is "
            "no part of this."
        )
    used = document.incumbent.scores.holdout.gap(GAP).value if document.incumbent else None
    if used is None:
        return
    if used > widest.gap.high:
        yield f"Every model within {loss(widest.eps)} has a smaller gap than {IN_USE} ({share(used)})."
    elif used < widest.gap.low:
        yield f"No model within {loss(widest.eps)} has as small a gap as {IN_USE} ({share(used)})."


def unexamined(found: ParityRange) -> str:
    """Say that the bound is weak because there was no time for the rows."""
    weak = " The bound is too weak to tell for that reason." if found.unexamined > MUCH * found.rows else ""
    return (
        f"Of {counted(found.rows, 'row')} of the holdout, {found.unexamined} were not examined, and count as open: "
        f"they make the bound wider than it need be.{weak}"
    )


def caption(found: ParityRange) -> str:
    """Say what the bars show."""
    return (
        f"Demographic parity gap by {shortened(found.column, GROUP_WIDTH)} on the holdout, for every model within a "
        "training loss. Light: not ruled out. Dark: models were found. Beyond the bar no such model exists."
    )


def table_notes() -> tuple[str, ...]:
    """Say how to read the table of bounds."""
    return (
        "proven: no model within the loss is beyond; found: models that were found",
        "in doubt: rows that are not proven to be decided as model 1 decides them",
    )


KINDS = {"1": Kind.FIRST, "U": Kind.IN_USE, "S": Kind.SELECTED}  # a later one lies on top


def sections(document: AuditDocument) -> Iterator[Section]:
    """Show the parity range in full, if it was computed."""
    if found := document.parity_range:
        yield Section("range", TITLE, tuple(_blocks(document, found)))


def brief_sections(document: AuditDocument) -> Iterator[Section]:
    """Show the bars of the parity range, and their explanation."""
    if found := document.parity_range:
        yield Section("range", TITLE, (_figure(document, found), Items(tuple(explained(document, found)))))


def _blocks(document: AuditDocument, found: ParityRange) -> Iterator[Block]:
    yield Items(tuple(explained(document, found)))
    yield _figure(document, found)
    yield _gaps(found)
    yield from (_rates(level) for level in found.levels[-1:])


def _gaps(found: ParityRange) -> Table:
    """Show the bounds on the gap for every loss."""
    return Table(
        title="The gap by training loss",
        headings=("training loss above the least", "in doubt", "proven by the rows", "proven", "found"),
        rows=tuple(
            (
                loss(level.eps),
                str(level.doubtful),
                between(*level.by_rows),
                between(level.gap.low, level.gap.high),
                between(level.gap.least, level.gap.most),
            )
            for level in found.levels
        ),
        notes=table_notes(),
    )


def _rates(level: RangeLevel) -> Table:
    """Show the bounds on the selection rate of each group."""
    shown = foremost(level.groups, [group.rows for group in level.groups])
    return Table(
        title=f"Selection rates within {loss(level.eps)}",
        headings=("group", "rows", "proven", "found"),
        rows=tuple(
            (
                shortened(group.group, GROUP_WIDTH),
                str(group.rows),
                between(group.rate.low, group.rate.high),
                between(group.rate.least, group.rate.most),
            )
            for group in shown
        ),
        notes=tuple(hidden_groups(level.groups)),
    )


def _marks(document: AuditDocument, level: RangeLevel) -> Mapping[str, float]:
    """Return the gaps to mark beside a level: the model in use always, other models if they are within its loss."""
    selected = document.selected if document.selection.rank != 1 else None
    members = {"1": document.first, "U": document.incumbent, "S": selected}
    gaps = {
        sign: member.scores.holdout.gap(GAP).value
        for sign, member in members.items()
        if member and (isinstance(member, Incumbent) or member.loss_ratio <= level.eps)
    }
    return {sign: gap for sign, gap in gaps.items() if gap is not None}


def _figure(document: AuditDocument, found: ParityRange) -> Figure:
    marks = {sign for level in found.levels for sign in _marks(document, level)}
    signs = ", ".join(f"{sign} {name}" for sign, name in MARKS.items() if sign in marks)
    bars = [
        RangeBar(
            loss(level.eps),
            (level.gap.low, level.gap.high),
            (level.gap.least, level.gap.most),
            _marks(document, level),
        )
        for level in found.levels
    ]
    return Figure((range_bars(document, found),), caption(found), draw_ranges(bars, PLAIN_KEY.format(marks=signs)))


def range_bars(document: AuditDocument, found: ParityRange) -> Plot:
    """Draw a bar for every loss: proven bounds outside, attained range inside, and marks for the main models."""
    layers: list[Layer] = []
    shown: dict[str, int] = {}
    for place, level in enumerate(found.levels):
        gap, marks = level.gap, _marks(document, level)
        layers.append(Span(gap.low, gap.high, place, "tone-6", f"proven: {between(gap.low, gap.high)}"))
        layers.append(Span(gap.least, gap.most, place, "tone-1", f"found: {between(gap.least, gap.most)}"))
        layers.append(Marks(tuple(_mark(document, sign, value, place) for sign, value in marks.items())))
        shown |= dict.fromkeys(marks, 0)
    kinds = (Key(MARKS[sign], kind.tone, kind.shape) for sign, kind in KINDS.items() if sign in shown)
    return Plot(
        name="Range of the demographic parity gap",
        description="A bar for each training loss: what is proven, what was found in it, and the models.",
        x=Axis("demographic parity gap on the holdout", low=0.0, least=0.1),
        y=Axis("training loss above the least", names=tuple(loss(level.eps) for level in found.levels)),
        layers=tuple(layers),
        key=(Key("not ruled out", "tone-6", "band"), Key("models were found", "tone-1", "band"), *kinds),
        width=580.0,
        height=90.0 + 50.0 * len(found.levels),
        left=70.0,
    )


def _mark(document: AuditDocument, sign: str, value: float, place: int) -> Mark:
    kind, rank = KINDS[sign], {"1": 1, "U": 0, "S": document.selection.rank or 1}[sign]
    return Mark(value, float(place), f"{model_title(document, rank)}: {value:.3f}", tone=kind.tone, shape=kind.shape)
