"""An exploration as a page, and what the report of a run says of the exploration that it came out of."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit import AuditDocument
from fairenum.document.exploration import ExplorationView, ExploredModel, GuardStanding, ShownGap
from fairenum.rendering.numbers import UNDEFINED, estimate, share, signed
from fairenum.rendering.page import Facts, Figure, Page, Section, Strip, Table
from fairenum.rendering.svg import Arrow, Axis, Key, Layer, Mark, Marks, Plot, Rule
from fairenum.rendering.text import shortened
from fairenum.report.choice import clusters_table
from fairenum.report.embedded import copy_of_value
from fairenum.report.model_plots import Kind
from fairenum.report.wording import GAPS, PERFORMANCES, TABLE_WIDTH, TITLE_WIDTH, model_heading
from fairenum.report.wording import exploration as wording
from fairenum.report.wording.standing import thing


def exploration_page(view: ExplorationView) -> Page:
    """Put where an exploration stands on a page."""
    return Page(
        title=f"Exploration of {shortened(view.data, TABLE_WIDTH)}",
        name="exploration",
        kicker="Exploration",
        subject=wording.subject(view),
        headline=wording.headline(view),
        findings=tuple(wording.findings(view)),
        warnings=tuple(wording.warnings(view)),
        sections=tuple(_sections(view)),
        copy=copy_of_value(view.but(models=(), clusters=()), wording.COPY),
        copy_name="fairenum-exploration.json",
        strip=_strip(view),
    )


def committed(document: AuditDocument) -> Iterator[Section]:
    """Say how somebody came to decide for the selected model, if the run was explored."""
    if found := document.exploration:
        yield Section("exploration", "How this was decided", (Facts(tuple(wording.committed(found))),))


def _sections(view: ExplorationView) -> Iterator[Section]:
    figures = (Figure(plots, wording.REGION),) if (plots := tuple(_scatter(view))) else ()
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
    return Table(
        title="",
        headings=model_headings(view),
        rows=tuple(_row(view, model) for model in view.models),
        names=2,
        marked=numbers.index(chosen) if chosen in numbers else None,
        notes=(wording.SELECTION, wording.LIMITS),
    )


def _row(view: ExplorationView, model: ExploredModel) -> tuple[str, ...]:
    stand = view.standpoint
    gap = estimate(model.scores.gap(stand.tolerances.metric))
    return *model_cells(model), gap, "yes" if model.number in stand.candidates else "no"


def model_headings(view: ExplorationView) -> tuple[str, ...]:
    """Head the columns of the list of models."""
    performance = PERFORMANCES[view.standpoint.tolerances.measure.name]
    return "model", "found", "objective", "training loss", "left out", performance, "gap", "candidate"


def model_cells(model: ExploredModel) -> tuple[str, ...]:
    """Describe a model in the list, but for what depends on the tolerances."""
    return (
        str(model.number),
        model.origin,
        f"{model.objective_ratio:.6f}",
        f"{100 * model.loss_ratio:+.1f} %" if round(model.loss_ratio, 3) else "0.0 %",
        str(sum(entry.copies for entry in model.left_out)),
        estimate(model.scores.performance),
    )


def _strip(view: ExplorationView) -> Strip | None:
    """Show every gap from the reference to the model in focus."""
    if not view.strip:
        return None
    before = model_heading(0 if view.is_against_in_use else 1)
    return Strip(gaps_table(view.strip, before, f"model {view.current}"), tuple(map(_arrow, view.strip)))


def gaps_table(strip: tuple[ShownGap, ...], before: str, after: str) -> Table:
    """List every gap of two models."""
    return Table(
        title=f"Every gap on the selection split, from {before} to {after}",
        headings=("gap", "by", before, after, "change"),
        rows=tuple(_gap_row(cell) for cell in strip),
        names=2,
        marked=0 if strip and strip[0].is_claim else None,
        notes=(wording.SELECTION,),
    )


def _gap_row(cell: ShownGap) -> tuple[str, ...]:
    name, column = f"{'*' if cell.is_claim else ''}{GAPS[cell.metric]}", shortened(cell.column, TITLE_WIDTH)
    return name, column, estimate(cell.first), estimate(cell.second), signed(cell.change)


def _arrow(cell: ShownGap) -> Arrow:
    ends = f"{share(cell.first.value)} to {share(cell.second.value)}"
    name = f"{GAPS[cell.metric]} by {shortened(cell.column, TITLE_WIDTH)}: {ends}"
    return Arrow(cell.first.value, cell.second.value, name=name, is_doubtful=True)


def guards_table(view: ExplorationView) -> Table:
    """Say where the model in focus stands towards each guardrail."""
    return Table(
        title=f"Guardrails of model {view.current}",
        headings=("guardrail", "closest to its limit", "selection split", "status"),
        rows=tuple(map(_guard_row, view.guards)),
        names=2,
    )


def _guard_row(guard: GuardStanding) -> tuple[str, ...]:
    value = UNDEFINED if guard.value is None else f"{guard.value:.3f}"
    return shortened(guard.guard, TABLE_WIDTH), thing(guard.subject), value, "within" if guard.is_kept else "beyond"


def _timeline(view: ExplorationView) -> Table:
    rows = tuple(
        (str(entry.number), entry.at, wording.step(entry), ", ".join(map(str, entry.shown)) or UNDEFINED)
        for entry in view.timeline
    )
    return Table("The record", ("step", "when", "what", "models"), rows, names=4, is_folded=True)


def _scatter(view: ExplorationView) -> Iterator[Plot]:
    """Draw performance against gap with limits, and what the tolerances allow, if there is a gap to show."""
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
        name=f"{performance} against {GAPS[metric]} gap on the selection split",
        description="Each mark is a model; a table with the same numbers follows.",
        x=Axis(f"{performance} on the selection split ({view.seal.rows} rows)", least=0.02),
        y=Axis(f"{GAPS[metric]} gap, lower is fairer", least=0.02, low=0.0),
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
