"""What an exploration shows, made from where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from fairenum.document.decision_record import Entry, Judged, Undo
from fairenum.document.exploration import ExplorationView, ExploredModel, Seal, ShownGap, TimelineEntry
from fairenum.document.scores import SplitScores
from fairenum.document.terms import Gap
from fairenum.exploration.bench import Bench
from fairenum.exploration.standing import guard_standings
from fairenum.exploration.state import Listed, State


def view_of(bench: Bench, state: State, entries: Sequence[Entry | Judged], focus: int | None = None) -> ExplorationView:
    """Show all that there is to see, with the model of the last step in focus or another one."""
    current = state.model(state.current if focus is None else focus)
    in_use, division = bench.in_use, bench.division
    is_against = bench.is_against_in_use
    reference = in_use.document.scores if in_use and is_against else state.listed[0].shown.document.scores
    return ExplorationView(
        data=bench.table.name,
        label=bench.table.label,
        column=division.column,
        seal=Seal(len(division.selection), len(division.rows["holdout"]), len(state.looked), state.opened),
        models=tuple(map(explored, state.listed)),
        in_use=in_use.document if in_use else None,
        is_against_in_use=is_against,
        current=current.number,
        standpoint=bench.standpoint(state),
        strip=strip(reference, current.document.scores, division.column, state.tolerances.metric),
        guards=guard_standings(current.measured, bench.reference(state), state.tolerances),
        clusters=bench.clusters(current),
        left_out=tuple(sorted(state.left_out)),
        pinned=tuple(sorted(state.pinned)),
        committed=state.committed,
        end=state.end,
        timeline=timeline(entries),
    )


def explored(one: Listed) -> ExploredModel:
    """Show a model with the supports that decide alike."""
    document = one.shown.document
    return document if len(one.supports) == document.supports else document.but(supports=len(one.supports))


def strip(first: SplitScores, second: SplitScores, primary: str | None, claim: Gap) -> tuple[ShownGap, ...]:
    """List every gap in every sensitive column of two models; the one that is to be small, and its column, first."""
    columns = sorted(second.by_column, key=lambda column: column != primary)
    cells = [(column, metric) for column in columns for metric in get_args(Gap)]
    return tuple(
        _gap(first, second, *cell, primary, claim) for cell in sorted(cells, key=lambda c: c != (primary, claim))
    )


def _gap(
    first: SplitScores, second: SplitScores, column: str, metric: Gap, primary: str | None, claim: Gap
) -> ShownGap:
    before, after = (scores.by_column[column].gap(metric).alone for scores in (first, second))
    change = None if before.value is None or after.value is None else after.value - before.value
    return ShownGap(column, metric, (column, metric) == (primary, claim), before, after, change)


def timeline(entries: Sequence[Entry | Judged]) -> tuple[TimelineEntry, ...]:
    """Show the steps of a record, and which of them were taken back."""
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
