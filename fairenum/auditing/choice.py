"""The choice of a model, from the document alone: made when a run ends, and again whenever tolerances change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairenum.auditing.impact import group_tables, reference_check
from fairenum.auditing.judging import judge_again
from fairenum.document.audit import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import Selection, reason_for
from fairenum.document.machine import Tolerances
from fairenum.document.models import AuditedModel
from fairenum.document.terms import Gap, Outcome
from fairenum.errors import ResultError
from fairenum.selection import Standing


def choose(
    models: Sequence[AuditedModel], column: str | None, tolerances: Tolerances, rank: int | None = None
) -> Selection:
    """Choose by the rule, or take the model that is asked for by its rank."""
    standing = _standing(models, tolerances.metric)
    candidates = _ranks(np.flatnonzero(standing.candidates(tolerances)))
    chosen = _ruled(standing, column, tolerances) if rank is None else rank
    outcome: Outcome = "none" if chosen is None else "kept" if chosen == 1 else "selected"
    return Selection(
        rank=chosen,
        outcome=outcome,
        reason="asked_for" if rank is not None else reason_for(outcome, column, len(models), candidates),
        column=column,
        tolerances=tolerances,
        candidates=candidates,
        pareto_front=_ranks(standing.pareto_front()),
    )


def _ruled(standing: Standing, column: str | None, tolerances: Tolerances) -> int | None:
    """Return the rank of the fairest candidate; without groups there is no gap to reduce, and model 1 is kept."""
    if column is None and not standing.is_constant[0]:
        return 1
    place = int(standing.fairest(tolerances))
    return None if place < 0 else place + 1


def choose_again(document: AuditDocument, tolerances: Tolerances, rank: int | None = None) -> AuditDocument:
    """Return the document with another choice, and what depends on it; an explanation stays if it is still the one."""
    if rank is not None and not 1 <= rank <= len(document.models):
        raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(document.models)}")
    chosen = choose(document.models, document.column, tolerances, rank)
    last, selection = document.selection, judge_again(chosen, document.models, document.config)
    is_same = (last.rank, last.tolerances.metric) == (selection.rank, tolerances.metric)
    shortlist = selection.shortlist
    fresh = document.but(
        selection=selection,
        explanation=document.explanation if is_same else None,
        flips=document.flips if last.rank == selection.rank else None,
        group_tables=group_tables(document.dataset, document.models, shortlist, document.config),
        reference_check=reference_check(document.dataset, document.models, shortlist),
    )
    return fresh.but(warnings=cautions(fresh))


def _standing(models: Sequence[AuditedModel], metric: Gap) -> Standing:
    scores = [model.scores.selection for model in models]
    return Standing(
        objective_ratio=np.array([model.objective_ratio for model in models]),
        performance=np.array([one.performance.value for one in scores], dtype=np.float64),
        gap=np.array([one.gap(metric).value for one in scores], dtype=np.float64),
        is_constant=np.array([model.is_constant for model in models]),
    )


def _ranks(places: np.ndarray) -> tuple[int, ...]:
    return tuple(int(place) + 1 for place in places)
