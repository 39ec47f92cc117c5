"""Who may be chosen, and who is: the rule of an audit, by what was measured of each model when it was first shown."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairenum.document.exploration import GuardStanding, Standpoint
from fairenum.document.guards import Guard
from fairenum.document.machine import Tolerances
from fairenum.document.terms import Gap
from fairenum.exploration.state import Shown
from fairenum.problem import FloatArray
from fairenum.scoring.estimates import plain
from fairenum.scoring.guarded import Measured, Subject, beyond
from fairenum.selection import ROUNDING_DIGITS, Mark, Standing

PERFORMANCE = Subject("performance")


def standpoint(
    shown: Sequence[Shown], reference: Measured, tolerances: Tolerances, column: str | None, *, is_in_use: bool
) -> Standpoint:
    """Choose among models by the rule.

    Parameters
    ----------
    shown
        The models, model 1 first.
    reference
        What they are compared with.
    tolerances
        What a fairer model may cost, and what it must not make worse.
    column
        The sensitive column whose gap is to be small; None if there is none.
    is_in_use
        Whether the reference is the model in use.
    """
    joint = _joint([one.measured for one in shown], tolerances.metric)
    first = _with_metric(reference, tolerances.metric)
    performs, gap = _performance(first), _gap(first)
    stands = Standing(
        objective_ratio=np.array([one.document.objective_ratio for one in shown]),
        performance=joint.values[PERFORMANCE],
        gap=_gaps(joint),
        is_constant=joint.is_constant,
        loss_ratio=np.array([one.document.loss_ratio for one in shown]),
        excess=joint.excess(tolerances.guardrails, first).max(axis=0, initial=0.0),
        mark=Mark(performs, gap) if is_in_use else None,
    )
    numbers = [one.number for one in shown]
    return Standpoint(
        tolerances=tolerances,
        chosen=_ruled(stands, tolerances, numbers, column),
        candidates=tuple(numbers[place] for place in np.flatnonzero(stands.candidates(tolerances))),
        pareto_front=tuple(numbers[place] for place in stands.pareto_front()),
        least_performance=plain(performs - tolerances.max_performance_drop),
        gap=plain(gap),
    )


def _ruled(stands: Standing, tolerances: Tolerances, numbers: Sequence[int], column: str | None) -> int | None:
    """Return the number of the fairest candidate; without groups model 1, or what is in use, is kept."""
    if column is None and (stands.mark is not None or not stands.is_constant[0]):
        return None if stands.mark is not None else numbers[0]
    place = int(stands.fairest(tolerances))
    return None if place < 0 else numbers[place]


def guard_standings(model: Measured, reference: Measured, tolerances: Tolerances) -> tuple[GuardStanding, ...]:
    """Say where a model stands towards each guardrail; one that guards nothing here is left out."""
    own, first = (_with_metric(one, tolerances.metric) for one in (model, reference))
    found = (_guard_standing(guard, own, first) for guard in tolerances.guardrails)
    return tuple(one for one in found if one is not None)


def _guard_standing(guard: Guard, own: Measured, first: Measured) -> GuardStanding | None:
    """Find what of all that is guarded comes closest to its limit, or goes farthest beyond."""
    values = {subject: float(own.value(guard, subject, first)[0]) for subject in first.subjects(guard)}
    if not values:
        return None
    distances = {subject: float(beyond(guard, np.array(value))) for subject, value in values.items()}
    worst = max(distances, key=lambda subject: -math.inf if math.isnan(distances[subject]) else distances[subject])
    is_kept = not round(distances[worst], ROUNDING_DIGITS) > 0.0
    return GuardStanding(str(guard), str(worst), guard.low, guard.high, plain(values[worst]), is_kept)


def _joint(some: Sequence[Measured], metric: Gap) -> Measured:
    """Put what was measured of single models side by side."""
    first = some[0]
    values = {subject: np.concatenate([one.values[subject] for one in some]) for subject in first.values}
    trials = {subject: np.concatenate([one.trials[subject] for one in some]) for subject in first.trials}
    return Measured(values, first.primary, metric, np.concatenate([one.is_constant for one in some]), trials)


def _with_metric(one: Measured, metric: Gap) -> Measured:
    return Measured(one.values, one.primary, metric, one.is_constant, one.trials)


def _performance(one: Measured) -> float:
    return float(one.values[PERFORMANCE][0])


def _gap(one: Measured) -> float:
    return float(_gaps(one)[0])


def _gaps(some: Measured) -> FloatArray:
    return some.values[Subject(some.metric, some.primary)]
