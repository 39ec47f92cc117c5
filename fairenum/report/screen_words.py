"""Texts and tables of a live exploration, as objects that the server sends to the browser."""

from __future__ import annotations

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.exploration_view import (
    ExplorationView,
    ExploredModel,
    GroupPair,
    ModelComparison,
    Standpoint,
    TimelineEntry,
    WeightPair,
)
from fairenum.document.feature_facts import FlippedRow, GroupFlips
from fairenum.document.terms import Origin
from fairenum.document.value import Estimate, Value
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    IN_USE,
    PERFORMANCES,
    TABLE_WIDTH,
    TITLE_WIDTH,
    model_heading,
    short,
)
from fairenum.render.page import Column, Table
from fairenum.report import exploration_words
from fairenum.report.audit_report import findings as audit_findings
from fairenum.report.choice_section import clusters_table
from fairenum.report.exploration_page import fixed_columns, gaps_table, guards_table, model_columns
from fairenum.report.headline import headline
from fairenum.runtime.formatting import UNDEFINED, counted, difference, estimate, percent, shortened, signed

MOST_WEIGHTS, MOST_FLIPPED = 30, 100


class ModelRow(Value, frozen=True):
    """The data of one model, fixed during an exploration, for the list and the plot of models.

    `gaps` are the gaps of the primary sensitive column by metric, and `gap_cells` the same as texts. `left_out` is the
    number of left-out training rows. `cells` are the texts in the list by column key, without columns that depend on
    the tolerances.
    """

    number: int
    origin: Origin
    loss_ratio: float
    is_constant: bool
    left_out: int
    performance: Estimate
    gaps: dict[str, Estimate]
    cells: dict[str, str]
    gap_cells: dict[str, str]


class ColumnWords(Value, frozen=True):
    """A column of the list of models: its key, its heading, and whether it holds words."""

    key: str
    heading: str
    is_word: bool


class StepWords(Value, frozen=True):
    """A step of the decision record in words."""

    number: int
    at: str
    text: str
    models: str
    is_undone: bool


class FocusWords(Value, frozen=True):
    """Tables about one model: its gaps beside those of the reference, its guardrails, and clusters of left-out rows."""

    strip: Table | None
    guards: Table | None
    clusters: Table | None


class StandWords(Value, frozen=True):
    """Sentences about the model that given tolerances would select."""

    headline: str
    findings: tuple[str, ...]


class DecisionWords(Value, frozen=True):
    """The texts at the top of the report on the model that the user decided for, judged on the holdout."""

    headline: str
    findings: tuple[str, ...]
    warnings: tuple[str, ...]


class ScreenWords(Value, frozen=True):
    """The current state of an exploration, in words."""

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
    columns: tuple[ColumnWords, ...]
    commit: str
    steps: tuple[StepWords, ...]
    decided: DecisionWords | None


class ComparisonWords(Value, frozen=True):
    """A comparison of two models, in a sentence and tables."""

    headline: str
    weights: Table | None
    groups: Table
    strip: Table
    flips: Table
    flipped: Table | None


def model_row(view: ExplorationView, model: ExploredModel) -> ModelRow:
    """Return the data of one model for the list and the plot of models."""
    scores = model.scores
    gaps = {metric: scores.gap(metric).alone for metric in GAP_NAMES} if view.column is not None else {}
    return ModelRow(
        number=model.number,
        origin=model.origin,
        loss_ratio=model.loss_ratio,
        is_constant=model.is_constant,
        left_out=sum(entry.copies for entry in model.left_out),
        performance=scores.performance.alone,
        gaps=gaps,
        cells={column.key: column.cell(model) for column in fixed_columns(view)},
        gap_cells={metric: estimate(gap) for metric, gap in gaps.items()},
    )


def screen_words(
    view: ExplorationView, steps: tuple[TimelineEntry, ...], decision: AuditDocument | None, *, was_torn: bool
) -> ScreenWords:
    """Return the state of an exploration in words, with the steps of its record and the decision, if there is one.

    `was_torn` says whether the last line of the record was incomplete, so that its step is lost.
    """
    tolerances = view.standpoint.tolerances
    return ScreenWords(
        title=f"Exploration of {shortened(view.data, TABLE_WIDTH)}",
        subject=exploration_words.subject(view),
        headline=exploration_words.headline(view),
        findings=tuple(exploration_words.findings(view)),
        warnings=(*exploration_words.warnings(view), *([exploration_words.TORN] if was_torn else [])),
        notes=(exploration_words.SELECTION, exploration_words.LIMITS),
        performance=PERFORMANCES[tolerances.measure.name],
        gap=f"{GAP_NAMES[tolerances.metric]} gap",
        reference=IN_USE if view.is_against_incumbent else "model 1",
        region=exploration_words.REGION,
        columns=tuple(ColumnWords(one.key, one.heading, one.is_word) for one in model_columns(view)),
        commit=exploration_words.before_commit(view),
        steps=tuple(map(step_words, steps)),
        decided=None if decision is None else _decided(decision),
    )


def _decided(document: AuditDocument) -> DecisionWords:
    explored = document.exploration
    renumbered = exploration_words.renumbered(explored, document.selection.rank) if explored else ""
    findings = (*filter(None, [renumbered]), *audit_findings(document))
    return DecisionWords(headline(document), findings, caution_texts(document))


def step_words(entry: TimelineEntry) -> StepWords:
    """Return a step of the decision record in words, with the numbers of the models that it listed."""
    shown = ", ".join(map(str, entry.shown)) or UNDEFINED
    return StepWords(entry.number, entry.at, exploration_words.step(entry), shown, entry.is_undone)


def focus_words(view: ExplorationView) -> FocusWords:
    """Return the tables about the model that the user is looking at."""
    return FocusWords(
        strip=_strip(view),
        guards=guards_table(view) if view.guards else None,
        clusters=clusters_table(view.clusters, view.label, most=len(view.clusters)) if view.clusters else None,
    )


def stand_words(view: ExplorationView, standpoint: Standpoint) -> StandWords:
    """Return sentences about the model that would be selected under the tolerances of `standpoint`."""
    there = view.but(standpoint=standpoint)
    return StandWords(exploration_words.headline(there), tuple(exploration_words.findings(there)))


def comparison_words(pair: ModelComparison) -> ComparisonWords:
    """Return the comparison of two models in a sentence and tables."""
    names = (f"model {pair.first}", f"model {pair.second}")
    return ComparisonWords(
        headline=exploration_words.compared(pair),
        weights=_weights(pair, names) if pair.weights else None,
        groups=_groups(pair, names),
        strip=gaps_table(pair.strip, *names),
        flips=_flips(pair, names),
        flipped=_flipped(pair, names) if pair.flipped else None,
    )


def _strip(view: ExplorationView) -> Table | None:
    if not view.strip:
        return None
    return gaps_table(view.strip, model_heading(0 if view.is_against_incumbent else 1), f"model {view.current}")


def _weights(pair: ModelComparison, names: tuple[str, str]) -> Table:
    hidden = len(pair.weights) - MOST_WEIGHTS
    columns: tuple[Column[WeightPair], ...] = (
        Column("column", "column", lambda one: shortened(one.column, TITLE_WIDTH), is_word=True),
        Column("first", names[0], lambda one: signed(one.first)),
        Column("second", names[1], lambda one: signed(one.second)),
        Column("change", "change", lambda one: signed(one.second - one.first)),
    )
    return Table.of(
        "Weights that differ most",
        columns,
        pair.weights[:MOST_WEIGHTS],
        notes=(f"not shown: {counted(hidden, 'column')} that differ less",) if hidden > 0 else (),
    )


def _groups(pair: ModelComparison, names: tuple[str, str]) -> Table:
    columns: tuple[Column[GroupPair], ...] = (
        Column("column", "by", lambda one: shortened(one.column, TITLE_WIDTH), is_word=True),
        Column("group", "group", lambda one: shortened(one.group, GROUP_WIDTH), is_word=True),
        Column("rows", "rows", lambda one: str(one.rows)),
        Column("first", names[0], lambda one: percent(one.first)),
        Column("second", names[1], lambda one: percent(one.second)),
        Column("change", "change", lambda one: signed(difference(one.first, one.second))),
    )
    return Table.of("Share selected, by group", columns, pair.groups, notes=(exploration_words.SELECTION,))


def _flips(pair: ModelComparison, names: tuple[str, str]) -> Table:
    columns: tuple[Column[tuple[str, GroupFlips]], ...] = (
        Column("column", "by", lambda row: shortened(row[0], TITLE_WIDTH), is_word=True),
        Column("group", "group", lambda row: shortened(row[1].group, GROUP_WIDTH), is_word=True),
        Column("rows", "rows", lambda row: str(row[1].rows)),
        Column("gained", f"favourable by {names[1]} alone", lambda row: str(row[1].gained)),
        Column("lost", f"favourable by {names[0]} alone", lambda row: str(row[1].lost)),
    )
    rows = ((column, one) for column, groups in pair.flips.items() for one in groups)
    return Table.of("Who flips, by group", columns, rows)


def _flipped(pair: ModelComparison, names: tuple[str, str]) -> Table:
    hidden = len(pair.flipped) - MOST_FLIPPED
    columns: tuple[Column[FlippedRow], ...] = (
        Column("row", "row", lambda one: str(one.row), is_word=True),
        Column("label", "label", lambda one: short(one.label), is_word=True),
        *map(_group_column, pair.flipped[0].groups),
        Column("becomes", f"by {names[1]}", lambda one: one.becomes, is_word=True),
    )
    return Table.of(
        "Rows that flip",
        columns,
        pair.flipped[:MOST_FLIPPED],
        notes=(f"not shown: {counted(hidden, 'row')}",) if hidden > 0 else (),
    )


def _group_column(name: str) -> Column[FlippedRow]:
    return Column(
        *(f"group_{name}", shortened(name, TITLE_WIDTH), lambda one: shortened(one.groups[name], GROUP_WIDTH)),
        is_word=True,
    )
