"""The report's section on ambiguity, the share of people whose decision depends on the choice of model.

It has sentences, tables by group, and a curve over the training loss that a near-optimal model may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.audit_document import AuditDocument
from fairenum.document.flip_facts import (
    AmbiguityFacts,
    BoundedShare,
    Discrepancy,
    FlippedColumn,
    GroupFlipped,
    PriceEffort,
)
from fairenum.document.words import GROUP_WIDTH, bounded_gap, most_and_least_affected, short
from fairenum.render.page import Block, Figure, Items, Section, Table
from fairenum.render.svg import Curve, Rule
from fairenum.render.svg_plot import Axis, Key, Layer, Plot
from fairenum.report.groups_section import foremost, hidden_groups
from fairenum.runtime.formatting import UNDEFINED, counted, percent, shortened
from fairenum.runtime.hints import option

TITLE = "Whose decision depends on the choice of model"
CURVE_CAPTION = (
    "The more a model may lose, the more people some model decides differently. Bands: intervals; dashed: the loss "
    "that this audit calls near-optimal."
)
IN_TABLES = "The run and its tables (--tables) list the loss at which each examined person's decision first changes."
TONES = ("tone-1", "tone-2", "tone-3", "tone-4")  # of groups; readers cannot distinguish more
TICKS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)  # losses in the table


def loss(eps: float) -> str:
    """Return a relative loss as a text in percent, with three digits."""
    return f"{100 * eps:.3g} %"


def bounded(found: BoundedShare) -> str:
    """Return text with a share, or with bounds on the share if it is not known exactly, and its confidence limits."""
    if found.least is None or found.most is None or found.low is None or found.high is None:
        return UNDEFINED
    value = percent(found.least) if found.is_exact else f"{100 * found.least:.1f} to {percent(found.most)}"
    return f"{value} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def finding(document: AuditDocument, found: AmbiguityFacts) -> str:
    """Return a sentence with the number of people whose decision depends on the choice of model."""
    one, weighted = found.overall, " by weight" if document.dataset.weights else ""
    examined = f"{one.rows} examined people" if found.is_sample else f"{one.rows} people"
    if not one.flipped and not one.open:
        return (
            f"For none of {examined} in the holdout does the decision depend on which of the near-optimal models is "
            f"used ({bounded(one.ambiguity)}{weighted}): every model whose training loss is at most {loss(found.eps)} "
            "above the least, listed or not, decides as model 1 does."
        )
    return (
        f"For {one.flipped} of {examined} in the holdout the decision depends on which of the near-optimal models is "
        f"used ({bounded(one.ambiguity)}{weighted}): some model whose training loss is at most {loss(found.eps)} above "
        "the least decides differently from model 1."
    )


def explained(document: AuditDocument, found: AmbiguityFacts) -> Iterator[str]:
    """Yield sentences on the ambiguity over all near-optimal models and over the listed ones.

    They include the discrepancy, the largest share of decisions that a single model changes.
    """
    yield finding(document, found)
    if found.is_sample:
        more = min(10 * found.overall.rows, found.holdout)
        yield (
            f"Of {found.holdout} people in the holdout {found.overall.rows} were examined, drawn at random: intervals "
            f"allow for it, and {option('price_rows', more, 'price-rows', str(more))} would narrow them."
        )
    if document.config.rate is not None:
        yield "Models of the list are cut each at its own decision value; here all are cut where model 1 is."
    if found.overall.flipped or found.overall.open:
        yield from _depending(found)


def _depending(found: AmbiguityFacts) -> Iterator[str]:
    """Yield sentences on the people whose decision depends on the choice of model, and on the others.

    They say for how many people all near-optimal models decide alike, for how many the listed models show that they do
    not, how many decisions one model can change, and how ambiguity differs between groups.
    """
    one = found.overall
    settled = one.rows - one.flipped - one.open
    agreed = f"For {settled} every such model decides as model 1 does"
    others = agreed if settled else "There is nobody for whom all models decide alike"
    open_rows = f", and of {one.open} {'person' if one.open == 1 else 'people'} neither is proven" if one.open else ""
    yield f"{others}{open_rows}. That is proven for all models of this kernel, listed or not."
    if found.models > 1:
        yield f"The {found.models} listed models within this loss show it for {percent(one.listed)} of these people."
    else:
        yield "Of the listed models model 1 alone is within this loss, so that the list shows nothing of this."
    yield _discrepancy(found.discrepancy, found.eps)
    yield from (group_gap(column, groups) for column, groups in found.by_column.items())
    yield (
        "This does not say that a decision is wrong. It says that the training rows do not settle it: whoever picks "
        "one of these models picks the outcome of these people, too."
    )


def _discrepancy(found: Discrepancy, eps: float) -> str:
    """Return a sentence with bounds on the largest share of decisions that a single near-optimal model changes."""
    who = "model 1 with another bias" if found.rank is None else f"model {found.rank}"
    attained = f"at least {percent(found.attained)} ({who}) and " if found.attained else ""
    return (
        f"The model within {loss(eps)} that changes the most decisions at once changes {attained}at most "
        f"{percent(found.bound)} of them (discrepancy)."
    )


def group_gap(column: str, found: FlippedColumn) -> str:
    """Return a sentence: how far ambiguity differs between the groups of a column, and whether significantly."""
    extremes = most_and_least_affected(found)
    if extremes is None:
        return f"By {short(column)} fewer than two groups can be compared."
    verdict = (
        "some groups are affected more often than others"
        if (found.gap.low or 0.0) > 0.0
        else "these rows do not show that groups are affected differently"
    )
    return f"By {short(column)} this is so for {extremes}, an ambiguity gap of {bounded_gap(found.gap)}: {verdict}."


def _effort(found: PriceEffort) -> str:
    return (
        f"of {counted(found.distinct, 'different row')}, {found.screened} were settled by bounds for others, "
        f"{found.listed} by models that were known already, and {found.walked} by a problem of their own"
    )


def _group_notes(document: AuditDocument, found: AmbiguityFacts, groups: Sequence[GroupFlipped]) -> Iterator[str]:
    yield f"depends: some model within a loss of {loss(found.eps)} decides differently from model 1"
    yield "by the list: what the listed models within that loss show"
    if found.overall.open:
        yield "open: neither proven; the share lies between the two numbers"
    if document.dataset.weights:
        yield "examined and depends are rows; shares are weighted"
    if not all(group.is_compared for group in groups):
        yield "set aside: too few rows, or no value; no part in the gap"
    yield from hidden_groups(groups)


def sections(document: AuditDocument) -> Iterator[Section]:
    """Yield the full section on ambiguity, if it was computed."""
    if found := document.ambiguity:
        yield Section("ambiguity", TITLE, tuple(_blocks(document, found)))


def brief_sections(document: AuditDocument) -> Iterator[Section]:
    """Yield a section with the ambiguity by group of the primary column and by training loss, if it was computed."""
    if found := document.ambiguity:
        columns = [column for column in found.by_column if column == document.column] or [*found.by_column][:1]
        tables = [_group_table(document, found, column) for column in columns]
        yield Section("ambiguity", TITLE, (*tables, _curve_table(document, found)))


def _blocks(document: AuditDocument, found: AmbiguityFacts) -> Iterator[Block]:
    yield Items(tuple(explained(document, found)))
    for column in found.by_column:
        yield _group_table(document, found, column)
    yield Figure((curve_plot(document, found),), CURVE_CAPTION)
    yield _curve_table(document, found)


def _group_table(document: AuditDocument, found: AmbiguityFacts, column: str) -> Table:
    groups = found.by_column[column].groups
    shown = foremost(groups, [group.rows for group in groups])
    has_open = bool(found.overall.open)
    return Table(
        title=f"By {shortened(column, GROUP_WIDTH)}",
        headings=("group", "examined", "depends", *("open",) * has_open, "share", "by the list"),
        rows=tuple(_group_row(group, has_open=has_open) for group in shown),
        notes=tuple(_group_notes(document, found, groups)),
    )


def _group_row(group: GroupFlipped, *, has_open: bool) -> tuple[str, ...]:
    name = shortened(group.group, GROUP_WIDTH) + ("" if group.is_compared else " (set aside)")
    counts = (group.rows, group.flipped, *(group.open,) * has_open)
    return name, *map(str, counts), bounded(group.ambiguity), percent(group.listed)


def _curve_names(document: AuditDocument, found: AmbiguityFacts) -> tuple[str, ...]:
    return tuple(shortened(one.group, GROUP_WIDTH) for one in found.shown(document.column)[: len(TONES)])


def _curve_table(document: AuditDocument, found: AmbiguityFacts) -> Table:
    """Return a table of the ambiguity at a few training losses, for everybody and by group."""
    names = _curve_names(document, found)
    return Table(
        title="The more a model may lose",
        headings=("training loss above the least", "all", *names),
        rows=tuple(
            (loss(point.eps), bounded(point.overall), *(percent(one.least) for one in point.groups[: len(names)]))
            for point in found.curve
            if point.eps in TICKS
        ),
        notes=(IN_TABLES, *((_effort(found.effort),) if found.effort else ())),
    )


def curve_plot(document: AuditDocument, found: AmbiguityFacts) -> Plot:
    """Return a plot of the ambiguity, overall and by group, against the loss that a near-optimal model may have."""
    names = _curve_names(document, found)
    names = names if len(names) > 1 else ()
    xs = tuple(100 * point.eps for point in found.curve)
    layers: list[Layer] = [_curve(xs, [point.overall for point in found.curve], "tone-6", "all", is_dashed=bool(names))]
    keys = [Key("all", "tone-6", "line")]
    for place, (name, tone) in enumerate(zip(names, TONES, strict=False)):
        layers.append(_curve(xs, [point.groups[place] for point in found.curve], tone, name))
        keys.append(Key(name, tone, "line"))
    if xs[0] <= 100 * found.eps <= xs[-1]:
        layers.append(Rule(100 * found.eps, "", is_upright=True))
    return Plot(
        name="Share of people whose decision depends on the choice of model",
        description="A line for all and one for each group, over the training loss; the table has the numbers.",
        x=Axis("training loss above the least, in %", low=xs[0], high=xs[-1], is_log=True),
        y=Axis("share of people", low=0.0, high=1.0),
        layers=tuple(layers),
        key=tuple(keys),
    )


def _curve(
    xs: tuple[float, ...], shares: Sequence[BoundedShare], tone: str, name: str, *, is_dashed: bool = False
) -> Curve:
    values, low, high = zip(*((one.least, one.low, one.high) for one in shares), strict=True)
    band = ((), ()) if is_dashed else (low, high)
    return Curve(xs, values, *band, tone=tone, name=name, is_dashed=is_dashed)
