"""The page of an exploration, and the section on the exploration in the report of the resulting audit.

In an exploration a person searches for models step by step, and decides for one of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import GapChange, GuardValue
from fairenum.document.exploration_view import ExplorationView, ExploredModel
from fairenum.document.words import GAP_NAMES, PERFORMANCES, TABLE_WIDTH, TITLE_WIDTH, guarded_measure, model_heading
from fairenum.render.page import Column, Facts, Figure, Page, Section, Strip, Table
from fairenum.render.svg import Arrow, Mark, Marks, Rule
from fairenum.render.svg_plot import Axis, Key, Layer, Plot
from fairenum.report import exploration_words, models_section
from fairenum.report.choice_section import clusters_table
from fairenum.report.embedded_copy import copy_of_value
from fairenum.report.models_section import Kind
from fairenum.runtime.formatting import UNDEFINED, estimate, share, shortened, signed


def exploration_page(view: ExplorationView) -> Page:
    """Return the page that shows the present state of an exploration."""
    return Page(
        title=f"Exploration of {shortened(view.data, TABLE_WIDTH)}",
        name="exploration",
        kicker="Exploration",
        subject=exploration_words.subject(view),
        headline=exploration_words.headline(view),
        findings=tuple(exploration_words.findings(view)),
        warnings=tuple(exploration_words.warnings(view)),
        sections=tuple(_sections(view)),
        copy=copy_of_value(view.but(models=(), clusters=()), exploration_words.COPY),
        copy_name="fairenum-exploration.json",
        strip=_strip(view),
    )


def committed(document: AuditDocument) -> Iterator[Section]:
    """Yield a section on how a person chose the selected model, if the run comes from an exploration."""
    if found := document.exploration:
        yield Section("exploration", "How this was decided", (Facts(tuple(exploration_words.committed(found))),))


def _sections(view: ExplorationView) -> Iterator[Section]:
    figures = (Figure(plots, exploration_words.REGION),) if (plots := tuple(_scatter(view))) else ()
    yield Section("models", "Models looked at", (*figures, _models(view)))
    if view.guards:
        yield Section.of_table("guards", guards_table(view))
    if view.clusters:
        yield Section.of_table("clusters", clusters_table(view.clusters, view.label))
    if view.timeline:
        yield Section.of_table("record", _timeline(view))


def _models(view: ExplorationView) -> Table:
    numbers = [model.number for model in view.models]
    chosen = view.committed or view.standpoint.chosen
    return Table.of(
        "",
        model_columns(view),
        view.models,
        marked=numbers.index(chosen) if chosen in numbers else None,
        notes=(exploration_words.SELECTION, exploration_words.LIMITS),
    )


def model_columns(view: ExplorationView) -> tuple[Column[ExploredModel], ...]:
    """Return all columns of the table of models."""
    metric, candidates = view.standpoint.tolerances.metric, view.standpoint.candidates
    return (
        *fixed_columns(view),
        Column("gap", "gap", lambda model: estimate(model.scores.gap(metric))),
        Column("candidate", "candidate", lambda model: "yes" if model.number in candidates else "no"),
    )


def fixed_columns(view: ExplorationView) -> tuple[Column[ExploredModel], ...]:
    """Return the columns of the table of models whose cells stay the same when the user changes the tolerances."""
    performance = PERFORMANCES[view.standpoint.tolerances.measure.name]
    return (
        Column("number", "model", lambda model: str(model.number), is_word=True),
        Column("origin", "found", lambda model: model.origin, is_word=True),
        *(*models_section.TRAINED, models_section.LEFT_OUT),
        Column("performance", performance, lambda model: estimate(model.scores.performance)),
    )


def _strip(view: ExplorationView) -> Strip | None:
    """Return a table, with arrows, of each gap of the reference model and the current one; None if no gap is known."""
    if not view.strip:
        return None
    before = model_heading(0 if view.is_against_incumbent else 1)
    return Strip(gaps_table(view.strip, before, f"model {view.current}"), tuple(map(_arrow, view.strip)))


def gaps_table(strip: tuple[GapChange, ...], before: str, after: str) -> Table:
    """Return a table of every gap of two models, in columns headed `before` and `after`, and the changes."""
    columns: tuple[Column[GapChange], ...] = (
        Column("gap", "gap", lambda cell: f"{'*' * cell.is_claim}{GAP_NAMES[cell.metric]}", is_word=True),
        Column("column", "by", lambda cell: shortened(cell.column, TITLE_WIDTH), is_word=True),
        Column("first", before, lambda cell: estimate(cell.first)),
        Column("second", after, lambda cell: estimate(cell.selected)),
        Column("change", "change", lambda cell: signed(cell.change.value)),
    )
    return Table.of(
        f"Every gap on the selection split, from {before} to {after}",
        columns,
        strip,
        marked=0 if strip and strip[0].is_claim else None,
        notes=(exploration_words.SELECTION,),
    )


def _arrow(cell: GapChange) -> Arrow:
    ends = f"{share(cell.first.value)} to {share(cell.selected.value)}"
    name = f"{GAP_NAMES[cell.metric]} by {shortened(cell.column, TITLE_WIDTH)}: {ends}"
    return Arrow(cell.first.value, cell.selected.value, name=name, is_doubtful=True)


def guards_table(view: ExplorationView) -> Table:
    """Return a table with the value and the status of each guardrail (a limit on a measure) for the current model."""
    columns: tuple[Column[GuardValue], ...] = (
        Column("guard", "guardrail", lambda guard: shortened(guard.guard, TABLE_WIDTH), is_word=True),
        Column("subject", "closest to its limit", lambda guard: guarded_measure(guard.subject), is_word=True),
        Column("value", "selection split", lambda guard: share(guard.selection)),
        Column("status", "status", lambda guard: "within" if guard.is_kept_in_selection else "beyond"),
    )
    return Table.of(f"Guardrails of model {view.current}", columns, view.guards)


def _timeline(view: ExplorationView) -> Table:
    rows = tuple(
        (str(entry.number), entry.at, exploration_words.step(entry), ", ".join(map(str, entry.shown)) or UNDEFINED)
        for entry in view.timeline
    )
    return Table("The record", ("step", "when", "what", "models"), rows, names=4, is_folded=True)


def _scatter(view: ExplorationView) -> Iterator[Plot]:
    """Yield a plot of performance against gap, with intervals and the tolerances; nothing if no model has a gap."""
    stand = view.standpoint
    metric, performance = stand.tolerances.metric, PERFORMANCES[stand.tolerances.measure.name]
    marks = tuple(mark for model in view.models for mark in _mark(view, model))
    if not marks:
        return
    shapes = {mark.shape for mark in marks}
    region: list[Layer] = []
    if stand.least_performance is not None:
        region.append(Rule(stand.least_performance, "least performance", is_upright=True))
    if stand.gap is not None:
        region.append(Rule(stand.gap, "gap of the reference"))
    yield Plot(
        name=f"{performance} against {GAP_NAMES[metric]} gap on the selection split",
        description="Each mark is a model; a table with the same numbers follows.",
        x=Axis(f"{performance} on the selection split ({view.seal.rows} rows)", least=0.02),
        y=Axis(f"{GAP_NAMES[metric]} gap, lower is fairer", least=0.02, low=0.0),
        layers=(*region, Marks(marks)),
        key=tuple(Key(text, kind.tone, kind.shape) for text, kind in _KEYS if kind.shape in shapes),
    )


_KEYS = (
    ("model", Kind.PLAIN),
    ("found by guided search", Kind.GUIDED),
    ("model 1", Kind.FIRST),
    ("chosen by the rule", Kind.SELECTED),
)


def _mark(view: ExplorationView, model: ExploredModel) -> Iterator[Mark]:
    performance, gap = model.scores.performance, model.scores.gap(view.standpoint.tolerances.metric)
    if performance.value is None or gap.value is None:
        return
    is_chosen = model.number == view.standpoint.chosen and model.number != 1
    plain = Kind.GUIDED if model.origin == "guided" else Kind.PLAIN
    kind = Kind.SELECTED if is_chosen else Kind.FIRST if model.number == 1 else plain
    yield Mark(
        x=performance.value,
        y=gap.value,
        name=f"model {model.number}: {share(performance.value)}, gap {share(gap.value)}",
        across=(performance.low, performance.high),
        upward=(gap.low, gap.high),
        tone=kind.tone,
        shape=kind.shape,
        label=f"model {model.number}" if kind in (Kind.SELECTED, Kind.FIRST) else "",
    )
