"""The parity range on a page: bounds on the parity gap of all near-optimal models, as bars, sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.document.audit_document import AuditDocument
from fairenum.document.flip_facts import Extent, GroupExtent, ParityRange, RangeLevel
from fairenum.document.models import Incumbent
from fairenum.document.terms import Gap
from fairenum.document.words import GROUP_WIDTH, IN_USE, model_title
from fairenum.render.page import Block, Column, Figure, Items, Section, Table
from fairenum.render.plain_plots import RangeBar, draw_ranges
from fairenum.render.svg import Mark, Marks, Span
from fairenum.render.svg_plot import Axis, Key, Layer, Plot
from fairenum.report.groups_section import foremost, hidden_groups
from fairenum.report.models_section import Kind
from fairenum.runtime.formatting import counted, share, shortened

TITLE = "What any model as good could do"
GAP: Gap = "demographic_parity_difference"
MUCH = 0.5  # from this share of unexamined rows on, they are named as the reason for a weak bound
PLAIN_KEY = "(. not ruled out, = models were found; {marks})"
MARKS = {"1": "model 1", "S": "the selected model", "U": IN_USE}
KINDS = {"1": Kind.FIRST, "U": Kind.IN_USE, "S": Kind.SELECTED}  # later ones are drawn on top
TABLE_NOTES = (
    "proven: no model within the loss is beyond; found: models that were found",
    "in doubt: rows that are not proven to be decided as model 1 decides them",
)


def loss(eps: float) -> str:
    """Return a relative training loss as text in percent."""
    return f"{100 * eps:g} %"


def between(low: float, high: float) -> str:
    """Return a range of gaps or rates as text; one number if both ends have the same digits."""
    return share(low) if share(low) == share(high) else f"{share(low)} to {share(high)}"


def explained(document: AuditDocument, found: ParityRange) -> Iterator[str]:
    """Yield sentences about the gap of all near-optimal models: its proven bounds, and the gaps of models found."""
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
    yield from _main_models(document, found)
    if found.unexamined:
        yield unexamined(found)


def _level(level: RangeLevel) -> str:
    gap, name = level.gap, f"Within {loss(level.eps)} of the least loss"
    if level.doubtful == 0:
        return f"{name} every model has a gap of {share(gap.low)}: none decides differently from model 1."
    if between(gap.low, gap.high) == between(gap.least, gap.most):
        return f"{name} the gap is {between(gap.low, gap.high)}: nothing beyond is possible, and both ends were found."
    if _is_weak(gap):
        return (
            f"{name} the bound is too weak to tell: the gap could be anything from {share(gap.low)} to "
            f"{share(gap.high)}; the search found {between(gap.least, gap.most)}."
        )
    return (
        f"{name} the gap is proven to lie between {share(gap.low)} and {share(gap.high)}; the search found "
        f"{between(gap.least, gap.most)}."
    )


def _is_weak(gap: Extent) -> bool:
    """Tell whether the gaps of known models span less than about half of the range between the proven bounds."""
    return gap.high - gap.low > 2.0 * (gap.most - gap.least) + 0.01


def refutation(found: ParityRange) -> str:
    """Return a sentence that no near-optimal model has a gap below a proven bound; empty if no bound is above 0.

    If several training losses have a bound above 0, the sentence is about the largest of these losses.
    """
    level = refuting(found)
    if level is None:
        return ""
    return (
        f"No support vector machine of this kernel on these features whose training loss is within {loss(level.eps)} "
        f"of the least has a gap below {share(level.gap.low)} on the holdout. That is proven for all of them: none was "
        "overlooked."
    )


def refuting(found: ParityRange) -> RangeLevel | None:
    """Return the bounds at the largest training loss whose lower bound on the gap rounds to more than 0, or None."""
    return next((level for level in reversed(found.levels) if share(level.gap.low) > share(0.0)), None)


def _main_models(document: AuditDocument, found: ParityRange) -> Iterator[str]:
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
    """Return sentences that say how many holdout rows were not examined, and that this widens the bounds."""
    weak = " The bound is too weak to tell for that reason." if found.unexamined > MUCH * found.rows else ""
    return (
        f"Of {counted(found.rows, 'row')} of the holdout, {found.unexamined} were not examined, and count as open: "
        f"they make the bound wider than it need be.{weak}"
    )


def caption(found: ParityRange) -> str:
    """Return the caption of the figure with a bar for each training loss."""
    return (
        f"Demographic parity gap by {shortened(found.column, GROUP_WIDTH)} on the holdout, for every model within a "
        "training loss. Light: not ruled out. Dark: models were found. Beyond the bar no such model exists."
    )


def sections(document: AuditDocument) -> Iterator[Section]:
    """Yield a section on the bounds on the gap of all near-optimal models, if they were computed."""
    if found := document.parity_range:
        yield Section("range", TITLE, tuple(_blocks(document, found)))


def brief_sections(document: AuditDocument) -> Iterator[Section]:
    """Yield the section on the bounds, with a figure and sentences but no tables, if the bounds were computed."""
    if found := document.parity_range:
        yield Section("range", TITLE, (_figure(document, found), Items(tuple(explained(document, found)))))


def _blocks(document: AuditDocument, found: ParityRange) -> Iterator[Block]:
    yield Items(tuple(explained(document, found)))
    yield _figure(document, found)
    yield Table.of("The gap by training loss", LEVEL_COLUMNS, found.levels, notes=TABLE_NOTES)
    yield from map(_rates, found.levels[-1:])


LEVEL_COLUMNS: tuple[Column[RangeLevel], ...] = (
    Column("eps", "training loss above the least", lambda level: loss(level.eps), is_word=True),
    Column("doubtful", "in doubt", lambda level: str(level.doubtful)),
    Column("by_rows", "proven by the rows", lambda level: between(*level.by_rows)),
    Column("proven", "proven", lambda level: between(level.gap.low, level.gap.high)),
    Column("found", "found", lambda level: between(level.gap.least, level.gap.most)),
)
GROUP_COLUMNS: tuple[Column[GroupExtent], ...] = (
    Column("group", "group", lambda group: shortened(group.group, GROUP_WIDTH), is_word=True),
    Column("rows", "rows", lambda group: str(group.rows)),
    Column("proven", "proven", lambda group: between(group.rate.low, group.rate.high)),
    Column("found", "found", lambda group: between(group.rate.least, group.rate.most)),
)


def _rates(level: RangeLevel) -> Table:
    """Return the table of bounds on the selection rate of each group, for one training loss."""
    shown = foremost(level.groups, [group.rows for group in level.groups])
    title = f"Selection rates within {loss(level.eps)}"
    return Table.of(title, GROUP_COLUMNS, shown, notes=hidden_groups(level.groups))


def _marks(document: AuditDocument, level: RangeLevel) -> Mapping[str, float]:
    """Return gaps by the character that marks them on a bar: "1" model 1, "S" the selected model, "U" the model in use.

    Models with a larger training loss than that of the bar are left out, except for the model in use.
    """
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
    """Return a plot with a bar for every training loss: proven bounds, gaps of models found, and the main models."""
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
