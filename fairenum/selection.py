"""The fairest near-optimal model: who may be chosen, and who is.

The rule sees the selection split alone. A candidate is within the declared tolerances of model 1 in objective and in
performance, decides not all rows alike, has a gap to speak of, and is within every guardrail; the candidate of least
gap is chosen. Model 1 is kept unless another one looks fairer, and no guardrail rules it out; ties between others go to
the one that performs better, then to the better objective.

Where models are to take the place of a model in use, performance, guardrails and the gap to beat are its own: model 1
is a candidate like the others, and none is chosen unless it looks fairer than what is in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fairenum.document.guards import DEFAULT_GUARDS
from fairenum.document.machine import Tolerances
from fairenum.enumeration.bounds import Bounds
from fairenum.enumeration.found import Found
from fairenum.enumeration.guided import GuidedSearch
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.experiment import EncodedRows
from fairenum.problem import SvmProblem
from fairenum.scoring import Decisions, score
from fairenum.scoring.counts import BoolArray, FloatArray, IntArray
from fairenum.scoring.guarded import Tally
from fairenum.scoring.operating import SIGN, Operating, OperatingPoint
from fairenum.scoring.pareto import pareto_front
from fairenum.scoring.performance import performance
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import open_workspace

# Rates are ratios of whole numbers: what differs by less than this is equal.
ROUNDING_DIGITS = 12


class Mark(NamedTuple):
    """What a model has to reach, and to undercut, on the selection split to take the place of the one in use."""

    performance: float
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How the models stand, best objective first on the last axis; there may be replications before it.

    Attributes
    ----------
    objective_ratio
        Objective as a share of that of model 1; NaN for a model that has none, of which the loss is judged.
    performance, gap
        On the selection split; NaN where undefined. A performance that is undefined rules out no model.
    is_constant
        Models that decide all rows alike.
    loss_ratio
        Loss on all training examples against that of model 1, minus 1; None where it is not known.
    excess
        How far a model is beyond the guardrails on the selection split, 0 within all of them; None without any.
    mark
        Of the model in use; None where models are compared with model 1.
    """

    objective_ratio: FloatArray
    performance: FloatArray
    gap: FloatArray
    is_constant: BoolArray
    loss_ratio: FloatArray | None = None
    excess: FloatArray | None = None
    mark: Mark | None = None

    def candidates(self, tolerances: Tolerances) -> BoolArray:
        """Mark the models within the tolerances."""
        near_optimal = _at_least(self.objective_ratio, 1.0 - tolerances.eps)
        if self.loss_ratio is not None:
            close = _at_least(-self.loss_ratio, -tolerances.allowed_loss)
            near_optimal = np.where(np.isnan(self.objective_ratio), close, near_optimal)
        reached = self._known[..., :1] if self.mark is None else np.nan_to_num(self.mark.performance)
        performing = _at_least(self._known, reached - tolerances.max_performance_drop)
        within = self._is_within(tolerances.max_loss)
        return np.asarray(near_optimal & performing & within & ~self.is_constant & ~np.isnan(self.gap))

    def _is_within(self, max_loss: float | None) -> BoolArray:
        """Mark the models that neither lose too much on the training examples nor go beyond a guardrail.

        Both are about models that are to take the place of model 1, if that is what others are measured against.
        """
        is_within = np.ones(self.gap.shape[-1], dtype=np.bool_)
        if max_loss is not None and self.loss_ratio is not None:
            is_within = is_within & _at_least(-self.loss_ratio, -max_loss)
        if self.excess is not None:
            is_within = is_within & _at_least(-self.excess, 0.0)
        is_measure = (np.arange(self.gap.shape[-1]) == 0) & (self.mark is None)
        return np.asarray(is_within | is_measure)

    def fairest(self, tolerances: Tolerances) -> IntArray:
        """Find the candidate of least gap, of equals model 1 or the best performing; -1 where there is none."""
        candidates = self.candidates(tolerances)
        if self.mark is not None:  # what is in use stays unless another looks fairer
            candidates = candidates & (np.round(self.gap - self.mark.gap, ROUNDING_DIGITS) < 0.0)
        price = np.where(candidates, np.round(self.gap, ROUNDING_DIGITS), np.inf)
        is_least = candidates & (price == price.min(-1, keepdims=True))
        place = np.where(is_least, np.round(self._known, ROUNDING_DIGITS), -np.inf).argmax(-1)
        return np.where(candidates.any(-1), np.where(is_least[..., 0], 0, place), -1)

    def pareto_front(self) -> IntArray:
        """Find the models that none beats in performance or gap without losing in the other, constant ones aside.

        Of models that are equal in both, the first stands for all.
        """
        places = np.flatnonzero(~self.is_constant & ~np.isnan(self.gap))
        costs: FloatArray = np.column_stack([-self._known, self.gap])[places]
        return places[np.sort(pareto_front(costs))]

    @property
    def _known(self) -> FloatArray:
        return np.nan_to_num(self.performance)


def standing(
    decisions: Decisions,
    values: FloatArray,
    objective_ratio: FloatArray,
    tolerances: Tolerances,
    *,
    loss_ratio: FloatArray | None = None,
    excess: FloatArray | None = None,
) -> Standing:
    """Take the standing of all models on the rows of the selection split, given what they decide and its values."""
    scores = score(decisions)
    performances = performance(decisions, values, tolerances.measure, scores.counts)
    gaps = getattr(scores.gaps, tolerances.metric)
    return Standing(objective_ratio, performances, gaps, scores.is_constant, loss_ratio, excess)


def guard_excess(rows: EncodedRows, values: FloatArray, tolerances: Tolerances) -> FloatArray | None:
    """Measure how far models are beyond the guardrails on some rows; None without any.

    Parameters
    ----------
    rows
        With the groups of every column that is guarded.
    values
        Decision values, shape (models, rows), model 1 first.
    tolerances
        With the guardrails.
    """
    if not tolerances.guards:
        return None
    tally, decided = Tally(rows.labels, (rows.groups, *rows.others), rows.weights), values >= 0.0
    performances = performance(rows.decisions(values), values, tolerances.measure)
    found = tally.measured(decided, performances, tolerances.metric, tally.count(decided))
    return np.asarray(found.excess(tolerances.guardrails).max(axis=0))


def fairest(models: Sequence[Model], rows: EncodedRows, tolerances: Tolerances, point: OperatingPoint = SIGN) -> Model:
    """Choose among models, the best one first, by the rule; the first one if none is within the tolerances.

    Every model decides at the operating point, which it is to reach on these rows.
    """
    operating = Operating(replace(point, weights=rows.weights), rows.X)
    values = np.array([operating.values(model, rows.X) for model in models])
    objectives = np.array([model.objective for model in models])
    stands = standing(
        rows.decisions(values),
        values,
        objectives / objectives[0],
        tolerances,
        loss_ratio=np.array([model.loss_ratio for model in models]),
        excess=guard_excess(rows, values, tolerances),
    )
    return models[max(int(stands.fairest(tolerances)), 0)]


def search_fairest(
    problem: SvmProblem,
    rows: EncodedRows,
    tolerances: Tolerances | None = None,
    *,
    max_left_out: float = 0.2,
    solves: int | None = None,
    solver: str | SolverPlugin = "path",
    point: OperatingPoint = SIGN,
) -> tuple[Found, list[Found]]:
    """Search for the fairest near-optimal model of a problem, guided by rows to choose by.

    Parameters
    ----------
    problem
        The training rows and the machine.
    rows
        Rows to choose by, with labels and groups.
    tolerances
        What a fairer model may cost, the gap to make small, and what is guarded: what an audit guards by default if
        no tolerances are given, exactly their guardrails if they are.
    max_left_out
        Largest share of the training records left out.
    solves
        Boxes to solve at most; None for fewer the larger the problem is.
    solver
        Name of a solver plugin, or a plugin.
    point
        Where every model is cut, by these rows.

    Returns
    -------
    tuple
        The model chosen by the rule, and all models that none beats in objective, gap and performance together, the
        best one first. Gap and performance are those of the rows to choose by, which the search has looked at: only
        other rows can say how fair the model is.
    """
    tolerances = tolerances or Tolerances(guards=DEFAULT_GUARDS)
    bounds = Bounds(
        tolerances.eps, tolerances.max_performance_drop, max_left_out, solves, training_loss=tolerances.max_loss
    )
    cut = replace(point, weights=rows.weights)
    watched = Watched(rows, tolerances.metric, tolerances.measure, cut, tolerances.guardrails)
    search = GuidedSearch(open_workspace(solver, problem), watched, bounds)
    found = [*search][:1] + [one for one in search.front if one.model.left_out]
    return found[max(int(_standing_of(found).fairest(tolerances)), 0)], found


def _standing_of(found: Sequence[Found]) -> Standing:
    objectives = np.array([one.model.objective for one in found])
    return Standing(
        objective_ratio=objectives / objectives[0],
        performance=np.array([one.performance for one in found]),
        gap=np.array([one.gap for one in found]),
        is_constant=np.array([one.is_constant for one in found]),
        loss_ratio=np.array([one.model.loss_ratio for one in found]),
        excess=np.array([one.excess for one in found]),
    )


def _at_least(value: FloatArray, limit: FloatArray | float) -> BoolArray:
    return np.asarray(np.round(value - limit, ROUNDING_DIGITS) >= 0.0)
