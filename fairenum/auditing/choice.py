"""The choice of a model, from the document alone: made when a run ends, and again whenever tolerances change."""

from __future__ import annotations

import math

import numpy as np

from fairenum.auditing.field import Field, field_of
from fairenum.auditing.guarding import guarded, measured
from fairenum.auditing.impact import in_detail
from fairenum.auditing.judging import judge_again
from fairenum.document.audit import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import Selection, reason_for
from fairenum.document.incumbent import Incumbent
from fairenum.document.machine import Tolerances
from fairenum.document.terms import Outcome
from fairenum.errors import ResultError
from fairenum.selection import Mark, Standing


def choose(field: Field, column: str | None, tolerances: Tolerances, rank: int | None = None) -> Selection:
    """Choose by the rule, or take the model that is asked for by its rank.

    Parameters
    ----------
    field
        The models, and what they are compared with.
    column
        The sensitive column, or intersection, whose gap is to be small.
    tolerances
        What a fairer model may cost, and what it must not make worse.
    rank
        The model to take.
    """
    standing = _standing(field, column, tolerances)
    candidates = _ranks(np.flatnonzero(standing.candidates(tolerances)))
    chosen = _ruled(standing, column, tolerances) if rank is None else rank
    outcome = _outcome(field, standing, chosen)
    is_asked, models = rank is not None, len(field.models) + (field.incumbent is not None)
    return Selection(
        rank=chosen,
        outcome=outcome,
        reason="asked_for" if is_asked else reason_for(outcome, column, models, {*candidates} - {field.reference.rank}),
        column=column,
        tolerances=tolerances,
        candidates=candidates,
        pareto_front=_ranks(standing.pareto_front()),
    )


def _outcome(field: Field, standing: Standing, chosen: int | None) -> Outcome:
    if field.incumbent is not None:
        is_nothing = bool(standing.is_constant.all()) and field.incumbent.is_constant
        return "selected" if chosen is not None else "none" if is_nothing else "kept"
    return "none" if chosen is None else "kept" if chosen == 1 else "selected"


def _ruled(standing: Standing, column: str | None, tolerances: Tolerances) -> int | None:
    """Return the rank of the fairest candidate; None if there is none, or what is in use is no less fair.

    Without groups there is no gap to reduce, and model 1, or what is in use, is kept.
    """
    if column is None and (standing.mark is not None or not standing.is_constant[0]):
        return None if standing.mark is not None else 1
    place = int(standing.fairest(tolerances))
    return None if place < 0 else place + 1


def choose_again(document: AuditDocument, tolerances: Tolerances, rank: int | None = None) -> AuditDocument:
    """Return the document with another choice, and what depends on it; an explanation stays if it is still the one."""
    if rank is not None and not 1 <= rank <= len(document.models):
        raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(document.models)}")
    field, config = field_of(document), document.config
    judged = judge_again(choose(field, document.column, tolerances, rank), field, config)
    last, selection = document.selection, guarded(judged, field, config.confidence)
    is_same = (last.rank, last.tolerances.metric) == (selection.rank, tolerances.metric)
    fresh = in_detail(
        document.but(
            selection=selection,
            explanation=document.explanation if is_same else None,
            flips=document.flips if last.rank == selection.rank else None,
        )
    )
    return fresh.but(warnings=cautions(fresh))


def _standing(field: Field, column: str | None, tolerances: Tolerances) -> Standing:
    models, incumbent = field.models, field.incumbent
    scores = [model.scores.selection for model in models]
    found, first = (
        measured(some, field.sensitive, "selection", column, tolerances.metric) for some in (models, [field.reference])
    )
    return Standing(
        objective_ratio=np.array([model.objective_ratio for model in models], dtype=np.float64),
        performance=np.array([one.performance.value for one in scores], dtype=np.float64),
        gap=np.array([one.gap(tolerances.metric).value for one in scores], dtype=np.float64),
        is_constant=np.array([model.is_constant for model in models]),
        loss_ratio=np.array([model.loss_ratio for model in models]),
        excess=found.excess(tolerances.guardrails, first).max(axis=0, initial=0.0),
        mark=None if incumbent is None else _mark(incumbent, tolerances),
    )


def _mark(incumbent: Incumbent, tolerances: Tolerances) -> Mark:
    scores = incumbent.scores.selection
    known = (scores.performance.value, scores.gap(tolerances.metric).value)
    return Mark(*(math.nan if number is None else number for number in known))


def _ranks(places: np.ndarray) -> tuple[int, ...]:
    return tuple(int(place) + 1 for place in places)
