"""What an exploration shows, by the selection split: the whole view, one person's decisions, or two models compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairenum.auditing.ambiguity_stage import encoded
from fairenum.auditing.choosing import strip_cells
from fairenum.auditing.explanation import flipped_rows
from fairenum.document.choice import GapChange
from fairenum.document.decision_record import Entry, Judged, Undo
from fairenum.document.exploration_view import (
    ExplorationView,
    ExploredModel,
    GroupPair,
    ModelComparison,
    Seal,
    TimelineEntry,
    WeightPair,
)
from fairenum.document.feature_facts import ModelWeights
from fairenum.document.person import Panel, Person, PersonDecision, decide
from fairenum.document.scores import SplitScores
from fairenum.document.terms import Gap
from fairenum.document.value import Estimate
from fairenum.errors import ExplorationError
from fairenum.explore.engine import Engine
from fairenum.explore.state import Listed, Shown, State, guard_values
from fairenum.metrics.counts import BoolArray
from fairenum.svm.problem import FloatArray
from fairenum.tables import Groups


def view_of(
    engine: Engine, state: State, entries: Sequence[Entry | Judged], focus: int | None = None
) -> ExplorationView:
    """Return the view of a state, with details of the model numbered `focus` or, if None, of the last step's model."""
    current = state.model(state.current if focus is None else focus)
    incumbent, division = engine.incumbent, engine.division
    is_against = engine.is_against_incumbent
    reference = incumbent.document.scores if incumbent and is_against else state.listed[0].shown.document.scores
    return ExplorationView(
        data=engine.table.name,
        label=engine.table.label,
        column=division.column,
        seal=Seal(len(division.selection), len(division.rows["holdout"]), len(state.looked), state.opened),
        models=tuple(map(explored, state.listed)),
        incumbent=incumbent.document if incumbent else None,
        is_against_incumbent=is_against,
        current=current.number,
        standpoint=engine.standpoint(state),
        strip=strip(engine, state, reference, current.document.scores),
        guards=guard_values(current.measured, engine.reference(state), state.tolerances),
        clusters=engine.clusters(current),
        left_out=tuple(sorted(state.left_out)),
        pinned=tuple(sorted(state.pinned)),
        committed=state.committed,
        end=state.end,
        timeline=timeline(entries),
    )


def explored(one: Listed) -> ExploredModel:
    """Return a listed model's scores to show, with the number of sets of support vectors that count as this model."""
    document = one.shown.document
    return document if len(one.supports) == document.supports else document.but(supports=len(one.supports))


def strip(engine: Engine, state: State, first: SplitScores, second: SplitScores) -> tuple[GapChange, ...]:
    """Return every gap of two models in every sensitive column, first the gap that models are selected by."""
    claim, confidence = (engine.division.column, state.tolerances.metric), engine.prepared.config.confidence
    return tuple(
        _gap(first, second, cell, confidence, is_claim=cell == claim) for cell in strip_cells(second.by_column, *claim)
    )


def _gap(
    first: SplitScores, second: SplitScores, cell: tuple[str, Gap], confidence: float, *, is_claim: bool
) -> GapChange:
    column, metric = cell
    before, after = (scores.by_column[column].gap(metric).alone for scores in (first, second))
    change = None if before.value is None or after.value is None else after.value - before.value
    return GapChange(column, metric, is_claim, before, after, Estimate(change), confidence, verdict=None)


def timeline(entries: Sequence[Entry | Judged]) -> tuple[TimelineEntry, ...]:
    """Return the steps of a record in their order, with undone steps marked."""
    taken: list[int] = []
    undone: set[int] = set()
    steps = [entry for entry in entries if isinstance(entry, Entry)]
    for entry in steps:
        if isinstance(entry.taken, Undo):
            undone.add(taken.pop())
        else:
            taken.append(entry.number)
    return tuple(
        TimelineEntry(
            number=entry.number,
            at=entry.at,
            taken=entry.taken,
            shown=tuple(mark.number for mark in entry.outcome.shown),
            end=entry.outcome.end,
            is_undone=entry.number in undone,
        )
        for entry in steps
    )


def asked(engine: Engine, state: State, who: int | Mapping[str, object]) -> Person:
    """Return the decision of every listed model about a person, given by row number or by values."""
    row = None if isinstance(who, Mapping) else int(who)
    values = who if isinstance(who, Mapping) else _cells(engine, state, int(who))
    is_linear = engine.training.problem.kernel.name == "linear"
    models = (
        tuple(ModelWeights(one.number, tuple(one.model.plane.tolist())) for one in state.shown) if is_linear else ()
    )
    offsets = {one.number: one.model.intercept - one.cut.value for one in state.shown}
    panel = Panel(engine.table, engine.features, models, offsets, engine.standpoint(state).chosen)
    person = decide(panel, values, row)
    person = person if is_linear else _by_kernel(engine, state, person)
    prepared, eps = engine.prepared, state.tolerances.eps
    if eps == prepared.config.tolerances.eps:
        eps = prepared.near_optimal
    threshold = state.listed[0].shown.cut.value
    return person.but(flip_price=engine.flip_price(encoded(engine.features, person), eps, threshold))


def _cells(engine: Engine, state: State, row: int) -> dict[str, object]:
    """Return the feature values of a row of the table; refuse rows of the holdout before the first commit."""
    dataset = engine.division.dataset
    place = dataset.placed(row)
    if place is None:
        raise ExplorationError(f"the table has no row {row}, or it was left out; {len(dataset)} rows take part")
    if not state.opened and place in engine.division.split.holdout:
        raise ExplorationError(f"row {row} is in the holdout, which is sealed until you commit; name another row")
    return {column.name: column.values[place] for column in dataset.features}


def _by_kernel(engine: Engine, state: State, person: Person) -> Person:
    """Return a person with decisions of models with a kernel, where single features have no contributions."""
    row = encoded(engine.features, person)
    return person.but(decisions=tuple(_decided(one, row) for one in state.shown))


def _decided(one: Shown, row: FloatArray) -> PersonDecision:
    value = float(one.cut.centred(one.model.decision_function(row))[0])
    return PersonDecision(one.number, value >= 0.0, value, one.model.intercept - one.cut.value, ())


def compared(engine: Engine, state: State, first: Shown, second: Shown) -> ModelComparison:
    """Return the comparison of two listed models on the selection split."""
    division, rows = engine.division, engine.division.rows["selection"]
    columns = [groups.take(rows) for groups in division.columns] or [Groups.everyone(len(rows))]
    before, after = (one.values >= 0.0 for one in (first, second))
    flips, flipped = flipped_rows(division, "selection", before, after)
    return ModelComparison(
        first=first.number,
        second=second.number,
        weights=_weights(engine, first, second),
        groups=tuple(pair for groups in columns for pair in _pairs(groups, before, after)),
        strip=strip(engine, state, first.document.scores, second.document.scores),
        flips=flips,
        flipped=flipped,
    )


def _weights(engine: Engine, first: Shown, second: Shown) -> tuple[WeightPair, ...]:
    if first.model.problem.kernel.name != "linear":
        return ()
    weights = [one.model.plane.tolist() for one in (first, second)]
    pairs = [WeightPair(name, *pair) for name, *pair in zip(engine.table.encoded, *weights, strict=True)]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.second - pair.first)))


def _pairs(groups: Groups, before: BoolArray, after: BoolArray) -> list[GroupPair]:
    sizes = groups.sizes
    rates = [np.bincount(groups.codes, one, len(sizes)) / np.maximum(sizes, 1) for one in (before, after)]
    return [
        GroupPair(groups.column, name, int(size), *(float(rate[code]) if size else None for rate in rates))
        for code, (name, size) in enumerate(zip(groups.names, sizes, strict=True))
    ]
