"""The rule that chooses the fairest near-optimal model, and a search that applies it.

The rule sees the selection split alone. A candidate is within the declared tolerances of model 1 in loss and in
performance, does not decide all rows alike, has a defined gap, and is within every guardrail; the candidate of least
gap is chosen. The loss is that on all training rows, left out or not. No guardrail rules out model 1, and it is chosen
unless another candidate has a smaller gap; ties between other candidates go to the better performance, then to the
model that is listed first.

Where a model in use may be replaced, candidates are compared with it instead of model 1: model 1 is a candidate like
any other, and none is chosen unless its gap is smaller than that of the model in use.

A gap that is smaller by luck, or a performance at the very limit, will not be confirmed by the holdout. Where the
chance of confirmation is known, the rule takes the fairest of the candidates whose chance is at least `LIKELY`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fairenum.document.choice import LIKELY, ROUNDING_DIGITS
from fairenum.document.guards import DEFAULT_GUARDS
from fairenum.document.training import Tolerances
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.guided import Bounds, GuidedSearch
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import ScoredModel, Watched
from fairenum.metrics import Decisions, score
from fairenum.metrics.counts import BoolArray, FloatArray, IntArray
from fairenum.metrics.guardrails import GroupCounter
from fairenum.metrics.operating_point import SIGN, Operating, OperatingPoint
from fairenum.metrics.pareto import pareto_front
from fairenum.metrics.performance import performance
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem


class IncumbentTarget(NamedTuple):
    """Performance and gap of the model in use, on the selection split, with which its replacements are compared."""

    performance: float
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class CandidateScores:
    """Each model's loss, performance, gap and guardrail excess.

    The last axis of each array has the models, model 1 first; axes before it may hold random subsamples of rows.

    Attributes
    ----------
    loss_ratio
        Loss on all training examples against that of model 1, minus 1.
    performance, gap
        On the selection split; NaN where undefined. An undefined performance rules out no model.
    is_constant
        Whether a model decides all rows alike.
    excess
        By how much a model violates guardrails on the selection split, 0 if it violates none; None without guardrails.
    target
        Performance and gap of the model in use; None where models are compared with model 1.
    chance
        Probability that the holdout will confirm a model, for one set of models; None where it is unknown.
    """

    loss_ratio: FloatArray
    performance: FloatArray
    gap: FloatArray
    is_constant: BoolArray
    excess: FloatArray | None = None
    target: IncumbentTarget | None = None
    chance: FloatArray | None = None

    def candidates(self, tolerances: Tolerances) -> BoolArray:
        """Return a mask of the candidates: within all tolerances and guardrails, not constant, with a defined gap."""
        usable = ~self.is_constant & ~np.isnan(self.gap) & self._is_guarded
        return np.asarray(usable & self.is_near_optimal(tolerances) & self.is_performing(tolerances))

    def is_near_optimal(self, tolerances: Tolerances) -> BoolArray:
        """Return a mask of the models whose loss is within the tolerance of model 1, which itself always is."""
        return _at_least(max(tolerances.eps, float(self.loss_ratio[0])), self.loss_ratio)

    def is_performing(self, tolerances: Tolerances) -> BoolArray:
        """Return a mask of the models that perform within the tolerance of the reference."""
        reached = self._known[..., :1] if self.target is None else np.nan_to_num(self.target.performance)
        return _at_least(self._known, reached - tolerances.max_performance_drop)

    @property
    def _is_guarded(self) -> BoolArray:
        """A mask of the models within all guardrails; without a model in use, model 1 always is."""
        if self.excess is None:
            return np.ones(self.gap.shape[-1], dtype=np.bool_)
        return np.asarray(_at_least(-self.excess, 0.0) | self._is_reference)

    @property
    def _is_reference(self) -> BoolArray:
        """A mask of model 1 if it is the reference; of no model if that is the model in use."""
        return np.asarray((np.arange(self.gap.shape[-1]) == 0) & (self.target is None))

    def fairest(self, tolerances: Tolerances) -> IntArray:
        """Return the index of the candidate of least gap; -1 if there is none.

        Of candidates with equal gaps, model 1 is preferred, then the one of best performance. Where the chances of
        confirmation are known, only candidates that are likely to be confirmed are considered or, if none is, the one
        with the best chance.
        """
        candidates = self.candidates(tolerances)
        reached = self.gap[..., :1] if self.target is None else self.target.gap
        is_smaller = np.round(self.gap - reached, ROUNDING_DIGITS) < 0.0
        if self.target is not None:  # the model in use stays unless another has a smaller gap
            candidates = candidates & is_smaller
        if self.chance is not None and (candidates & is_smaller).any():
            chance = np.where(candidates & is_smaller, self.chance, -1.0)
            candidates = chance >= min(LIKELY, chance.max())
        price = np.where(candidates, np.round(self.gap, ROUNDING_DIGITS), np.inf)
        is_least = candidates & (price == price.min(-1, keepdims=True))
        place = np.where(is_least, np.round(self._known, ROUNDING_DIGITS), -np.inf).argmax(-1)
        return np.where(candidates.any(-1), np.where(is_least[..., 0], 0, place), -1)

    def pareto_front(self) -> IntArray:
        """Return the indices of the models that no other beats in both performance and gap, without constant models.

        Of models equal in both, only the first is returned.
        """
        places = np.flatnonzero(~self.is_constant & ~np.isnan(self.gap))
        costs: FloatArray = np.column_stack([-self._known, self.gap])[places]
        return places[np.sort(pareto_front(costs))]

    @property
    def _known(self) -> FloatArray:
        return np.nan_to_num(self.performance)


def candidate_scores(
    decisions: Decisions,
    values: FloatArray,
    loss_ratio: FloatArray,
    tolerances: Tolerances,
    *,
    excess: FloatArray | None = None,
) -> CandidateScores:
    """Return the scores of models on the selection split, given their decisions and decision values."""
    scores = score(decisions)
    performances = performance(decisions, values, tolerances.measure, scores.counts)
    gaps = getattr(scores.gaps, tolerances.metric)
    return CandidateScores(loss_ratio, performances, gaps, scores.is_constant, excess)


def guard_excess(rows: EncodedRows, values: FloatArray, tolerances: Tolerances) -> FloatArray | None:
    """Return by how much each model violates the guardrail it violates most; None without guardrails.

    `values` are decision values of shape (models, rows), model 1 first; `rows` need the groups of every guarded column.
    """
    if not tolerances.guards:
        return None
    tally, decided = GroupCounter(rows.labels, (rows.groups, *rows.others), rows.weights), values >= 0.0
    performances = performance(rows.decisions(values), values, tolerances.measure)
    found = tally.measured(decided, performances, tolerances.metric, tally.count(decided))
    return np.asarray(found.excess(tolerances.guardrails).max(axis=0))


def fairest(models: Sequence[Model], rows: EncodedRows, tolerances: Tolerances, point: OperatingPoint = SIGN) -> Model:
    """Return the candidate of least gap on the given rows; the first model if none is a candidate.

    A candidate is within all tolerances and guardrails (`CandidateScores.candidates`). The first of `models` is model
    1. Each decides at the cutoff that `point` finds on these rows.
    """
    operating = Operating(replace(point, weights=rows.weights), rows.X)
    values = np.array([operating.values(model, rows.X) for model in models])
    stands = candidate_scores(
        rows.decisions(values),
        values,
        np.array([model.loss_ratio for model in models]),
        tolerances,
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
) -> tuple[ScoredModel, list[ScoredModel]]:
    """Search for the near-optimal model of a problem that is fairest on the given rows.

    Parameters
    ----------
    problem
        The SVM problem on the training rows.
    rows
        Rows to choose by, with labels and groups.
    tolerances
        Allowed losses, the gap to reduce, and guardrails; the default guardrails of an audit apply only if no
        tolerances are given.
    max_left_out
        Largest share of the training records left out.
    solves
        SVMs to solve at most; None for a number that falls with the size of the problem.
    solver
        Name of a solver plugin, or a plugin.
    point
        The rule that finds the cutoff of each model on these rows.

    Returns
    -------
    tuple
        The chosen model, and all models that none beats in loss, gap and performance together, least loss first. The
        search was guided by these rows, so gap and performance on them are too good: only other rows show how fair the
        model is.
    """
    tolerances = tolerances or Tolerances(guards=DEFAULT_GUARDS)
    bounds = Bounds(tolerances.eps, tolerances.max_performance_drop, max_left_out, solves)
    cut = replace(point, weights=rows.weights)
    watched = Watched(rows, tolerances.metric, tolerances.measure, cut, tolerances.guardrails)
    search = GuidedSearch(open_workspace(solver, problem), watched, bounds)
    found = [*search][:1] + [one for one in search.front if one.model.left_out]
    return found[max(int(_scores_of(found).fairest(tolerances)), 0)], found


def _scores_of(found: Sequence[ScoredModel]) -> CandidateScores:
    return CandidateScores(
        loss_ratio=np.array([one.model.loss_ratio for one in found]),
        performance=np.array([one.performance for one in found]),
        gap=np.array([one.gap for one in found]),
        is_constant=np.array([one.is_constant for one in found]),
        excess=np.array([one.excess for one in found]),
    )


def _at_least(value: FloatArray | float, limit: FloatArray | float) -> BoolArray:
    return np.asarray(np.round(value - limit, ROUNDING_DIGITS) >= 0.0)
