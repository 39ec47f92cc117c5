"""The words of a live exploration, part by part, for whoever shows them."""

from __future__ import annotations

from typing import get_args

from fairenum.document.audit import AuditDocument
from fairenum.document.exploration import (
    ExplorationView,
    ExploredModel,
    ModelComparison,
    Standpoint,
    TimelineEntry,
)
from fairenum.document.terms import Gap, Origin
from fairenum.document.value import Estimate, Value
from fairenum.rendering.numbers import UNDEFINED, counted, difference, estimate, percent, signed
from fairenum.rendering.page import Table
from fairenum.rendering.text import shortened
from fairenum.report.choice import clusters_table
from fairenum.report.exploration import gaps_table, guards_table, model_cells, model_headings
from fairenum.report.wording import (
    GAPS,
    GROUP_WIDTH,
    IN_USE,
    PERFORMANCES,
    TABLE_WIDTH,
    TITLE_WIDTH,
    cautions,
    model_heading,
    short,
)
from fairenum.report.wording import audit as audit_wording
from fairenum.report.wording import exploration as wording
from fairenum.report.wording.headline import headline

MOST_WEIGHTS, MOST_FLIPPED = 30, 100


class ModelRow(Value, frozen=True):
    """What a list and a picture need of a model; it stays the same for as long as the model has its number.

    Attributes
    ----------
    gaps
        Those of the primary column, by metric.
    left_out
        How many copies of training rows it leaves out.
    cells, gap_cells
        The same as texts: but for the gap, and whether it may be chosen, both of which depend on the tolerances.
    """

    number: int
    origin: Origin
    objective_ratio: float
    loss_ratio: float
    is_constant: bool
    left_out: int
    performance: Estimate
    gaps: dict[str, Estimate]
    cells: tuple[str, ...]
    gap_cells: dict[str, str]


class StepWords(Value, frozen=True):
    """A line of the record in words."""

    number: int
    at: str
    text: str
    models: str
    is_undone: bool


class FocusWords(Value, frozen=True):
    """One model in words: its gaps beside those of the reference, its guardrails, and what it leaves out."""

    strip: Table | None
    guards: Table | None
    clusters: Table | None


class StandWords(Value, frozen=True):
    """Who would be chosen, in words."""

    headline: str
    findings: tuple[str, ...]


class DecisionWords(Value, frozen=True):
    """What the holdout says of a decision: the first words of its report."""

    headline: str
    findings: tuple[str, ...]
    warnings: tuple[str, ...]


class ScreenWords(Value, frozen=True):
    """Where an exploration stands, in words."""

    title: str
    subject: str
    headline: str
    findings: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    performance: str
    gap: str
    reference: str
    region: str
    headings: tuple[str, ...]
    commit: str
    steps: tuple[StepWords, ...]
    decided: DecisionWords | None


class ComparisonWords(Value, frozen=True):
    """Two models side by side, in words."""

    headline: str
    weights: Table | None
    groups: Table
    strip: Table
    flips: Table
    flipped: Table | None


def model_row(view: ExplorationView, model: ExploredModel) -> ModelRow:
    """Take what a list and a picture need of a model."""
    scores = model.scores
    gaps = {metric: scores.gap(metric).alone for metric in get_args(Gap)} if view.column is not None else {}
    return ModelRow(
        number=model.number,
        origin=model.origin,
        objective_ratio=model.objective_ratio,
        loss_ratio=model.loss_ratio,
        is_constant=model.is_constant,
        left_out=sum(entry.copies for entry in model.left_out),
        performance=scores.performance.alone,
        gaps=gaps,
        cells=model_cells(model),
        gap_cells={metric: estimate(gap) for metric, gap in gaps.items()},
    )


def screen_words(
    view: ExplorationView, steps: tuple[TimelineEntry, ...], decision: AuditDocument | None, *, was_torn: bool
) -> ScreenWords:
    """Say where an exploration stands, what some of its steps were, whether one was lost, and what was decided."""
    tolerances = view.standpoint.tolerances
    return ScreenWords(
        title=f"Exploration of {shortened(view.data, TABLE_WIDTH)}",
        subject=wording.subject(view),
        headline=wording.headline(view),
        findings=tuple(wording.findings(view)),
        warnings=(*wording.warnings(view), *([wording.TORN] if was_torn else [])),
        notes=(wording.SELECTION, wording.LIMITS),
        performance=PERFORMANCES[tolerances.measure.name],
        gap=f"{GAPS[tolerances.metric]} gap",
        reference=IN_USE if view.is_against_in_use else "model 1",
        region=wording.REGION,
        headings=model_headings(view),
        commit=wording.before_commit(view),
        steps=tuple(map(step_words, steps)),
        decided=None if decision is None else _decided(decision),
    )


def _decided(document: AuditDocument) -> DecisionWords:
    explored = document.exploration
    told = wording.renumbered(explored, document.selection.rank) if explored else ""
    findings = (*([told] if told else []), *audit_wording.findings(document))
    return DecisionWords(headline(document), findings, tuple(cautions.warnings(document)))


def step_words(entry: TimelineEntry) -> StepWords:
    """Say what a step was, and which models it showed."""
    shown = ", ".join(map(str, entry.shown)) or UNDEFINED
    return StepWords(entry.number, entry.at, wording.step(entry), shown, entry.is_undone)


def focus_words(view: ExplorationView) -> FocusWords:
    """Describe the model in focus."""
    return FocusWords(
        strip=_strip(view),
        guards=guards_table(view) if view.guards else None,
        clusters=clusters_table(view.clusters, view.label, most=len(view.clusters)) if view.clusters else None,
    )


def stand_words(view: ExplorationView, standpoint: Standpoint) -> StandWords:
    """Say who would be chosen from another standpoint."""
    there = view.but(standpoint=standpoint)
    return StandWords(wording.headline(there), tuple(wording.findings(there)))


def comparison_words(pair: ModelComparison) -> ComparisonWords:
    """Put two models side by side."""
    names = (f"model {pair.first}", f"model {pair.second}")
    return ComparisonWords(
        headline=wording.compared(pair),
        weights=_weights(pair, names) if pair.weights else None,
        groups=_groups(pair, names),
        strip=gaps_table(pair.strip, *names),
        flips=_flips(pair, names),
        flipped=_flipped(pair, names) if pair.flipped else None,
    )


def _strip(view: ExplorationView) -> Table | None:
    if not view.strip:
        return None
    return gaps_table(view.strip, model_heading(0 if view.is_against_in_use else 1), f"model {view.current}")


def _weights(pair: ModelComparison, names: tuple[str, str]) -> Table:
    hidden = len(pair.weights) - MOST_WEIGHTS
    return Table(
        title="Weights that differ most",
        headings=("column", *names, "change"),
        rows=tuple(
            (shortened(one.column, TITLE_WIDTH), signed(one.first), signed(one.second), signed(one.second - one.first))
            for one in pair.weights[:MOST_WEIGHTS]
        ),
        notes=(f"not shown: {counted(hidden, 'column')} that differ less",) if hidden > 0 else (),
    )


def _groups(pair: ModelComparison, names: tuple[str, str]) -> Table:
    return Table(
        title="Share selected, by group",
        headings=("by", "group", "rows", *names, "change"),
        rows=tuple(
            (
                shortened(one.column, TITLE_WIDTH),
                shortened(one.group, GROUP_WIDTH),
                str(one.rows),
                percent(one.first),
                percent(one.second),
                signed(difference(one.first, one.second)),
            )
            for one in pair.groups
        ),
        names=2,
        notes=(wording.SELECTION,),
    )


def _flips(pair: ModelComparison, names: tuple[str, str]) -> Table:
    rows = [
        (
            shortened(column, TITLE_WIDTH),
            shortened(one.group, GROUP_WIDTH),
            str(one.rows),
            str(one.gained),
            str(one.lost),
        )
        for column, groups in pair.flips.items()
        for one in groups
    ]
    return Table(
        title="Who flips, by group",
        headings=("by", "group", "rows", f"favourable by {names[1]} alone", f"favourable by {names[0]} alone"),
        rows=tuple(rows),
        names=2,
    )


def _flipped(pair: ModelComparison, names: tuple[str, str]) -> Table:
    columns = list(pair.flipped[0].groups)
    hidden = len(pair.flipped) - MOST_FLIPPED
    return Table(
        title="Rows that flip",
        headings=("row", "label", *(shortened(column, TITLE_WIDTH) for column in columns), f"by {names[1]}"),
        rows=tuple(
            (str(one.row), short(one.label), *(shortened(one.groups[c], GROUP_WIDTH) for c in columns), one.becomes)
            for one in pair.flipped[:MOST_FLIPPED]
        ),
        names=3 + len(columns),
        notes=(f"not shown: {counted(hidden, 'row')}",) if hidden > 0 else (),
    )
