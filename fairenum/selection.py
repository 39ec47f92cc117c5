"""The fairest near-optimal model: who may be chosen, who is, and how much the choice flatters.

The rule sees the selection split alone. A candidate is within the declared tolerances of model 1 in objective and in
performance, decides not all rows alike, and has a gap to speak of; the candidate of least gap is chosen. Model 1 is
kept unless another one looks fairer; ties between others go to the one that performs better, then to the better
objective.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairenum.document.machine import Tolerances
from fairenum.document.performance import PerformanceMeasure
from fairenum.enumeration.guided import Bounds, Found, GuidedSearch
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.experiment import EncodedRows
from fairenum.problem import SvmProblem
from fairenum.scoring import Decisions, Gap, score
from fairenum.scoring.auc import ranked
from fairenum.scoring.counts import BoolArray, Confusion, FloatArray, IntArray, blocks, confusion
from fairenum.scoring.operating import SIGN, Operating, OperatingPoint
from fairenum.scoring.pareto import pareto_front
from fairenum.scoring.performance import performance
from fairenum.scoring.rates import FRACTIONS, GAP_RATES, decided_performance, share
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import open_workspace

# Performance of all models on rows drawn again, given their counts and how often each row was drawn.
Performs = Callable[[Confusion, FloatArray], FloatArray]
# Rates are ratios of whole numbers: what differs by less than this is equal.
ROUNDING_DIGITS = 12
# The share of rows that choose, where the others say how much that flatters.
CHOOSING = 2.0 / 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How the models stand, best objective first on the last axis; there may be replications before it.

    Attributes
    ----------
    objective_ratio
        Objective as a share of that of model 1.
    performance, gap
        On the selection split; NaN where undefined. A performance that is undefined rules out no model.
    is_constant
        Models that decide all rows alike.
    """

    objective_ratio: FloatArray
    performance: FloatArray
    gap: FloatArray
    is_constant: BoolArray

    def candidates(self, tolerances: Tolerances) -> BoolArray:
        """Mark the models within the tolerances."""
        near_optimal = _at_least(self.objective_ratio, 1.0 - tolerances.eps)
        performing = _at_least(self._known, self._known[..., :1] - tolerances.max_performance_drop)
        return np.asarray(near_optimal & performing & ~self.is_constant & ~np.isnan(self.gap))

    def fairest(self, tolerances: Tolerances) -> IntArray:
        """Find the candidate of least gap, of equals model 1 or the best performing; -1 where there is none."""
        candidates = self.candidates(tolerances)
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


def standing(decisions: Decisions, values: FloatArray, objective_ratio: FloatArray, tolerances: Tolerances) -> Standing:
    """Take the standing of all models on the rows of the selection split, given what they decide and its values."""
    scores = score(decisions)
    performances = performance(decisions, values, tolerances.measure, scores.counts)
    return Standing(objective_ratio, performances, getattr(scores.gaps, tolerances.metric), scores.is_constant)


def fairest(models: Sequence[Model], rows: EncodedRows, tolerances: Tolerances, point: OperatingPoint = SIGN) -> Model:
    """Choose among models, the best one first, by the rule; the first one if none is within the tolerances.

    Every model decides at the operating point, which it is to reach on these rows.
    """
    operating = Operating(replace(point, weights=rows.weights), rows.X)
    values = np.array([operating.values(model, rows.X) for model in models])
    objectives = np.array([model.objective for model in models])
    stands = standing(rows.decisions(values), values, objectives / objectives[0], tolerances)
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
        What a fairer model may cost, and the gap to make small.
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
    tolerances = tolerances or Tolerances()
    bounds = Bounds(tolerances.eps, tolerances.max_performance_drop, max_left_out, solves)
    watched = Watched(rows, tolerances.metric, tolerances.measure, replace(point, weights=rows.weights))
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
    )


def expected_optimism(
    decisions: Decisions,
    values: FloatArray,
    objective_ratio: FloatArray,
    tolerances: Tolerances,
    rng: np.random.Generator,
    replications: int = 1000,
) -> float:
    """Estimate how much of the fairness gained on the selection split the choice itself has put there.

    Each replication chooses by the rule on two thirds of the rows, drawn at random, and compares the change of gap
    against model 1 that the chosen model shows there with the one it shows on the others, which did not choose it.
    Fewer rows flatter by more, as their root, so the mean is scaled by sqrt(2/3). The change, not the gap: a gap is
    largest minus smallest, so that of few rows is large, whoever chose. Where models are equal in truth, that is right
    within a tenth (rows drawn with replacement would tell a quarter to a third too little, as the rows at hand make
    models differ in every replication alike); where one is fairer in truth, it is on the high side, as two thirds of
    the rows miss it more often. A model that was searched for on these very rows is flattered by the search, too, and
    no part of them can tell by how much: there the holdout's own answer is the only one without a bias.

    Parameters
    ----------
    decisions, values
        Of all models on the selection split.
    objective_ratio, tolerances
        As for the choice itself.
    rng
        Source of the parts.
    replications
        How often they are drawn.

    Returns
    -------
    float
        What to expect the change of the gap to be worse by elsewhere.
    """
    is_ranked = tolerances.measure.name == "auc"
    whole = decisions.folded()
    kinds, copies, counting = _drawable(whole, by_row=is_ranked)
    performs = _ranking(values, decisions) if is_ranked else _deciding(tolerances.measure)
    flattery = []
    for block in blocks(replications, len(copies)):
        size = len(range(replications)[block]), len(copies)
        part = rng.binomial(copies.astype(np.int64), CHOOSING, size).astype(np.float64)
        counts, others = (confusion(kinds, np.asarray(rows * counting)) for rows in (part, copies - part))
        gaps, elsewhere = (_gap(some.of_groups(whole.groups.compared), tolerances.metric) for some in (counts, others))
        draws = Standing(objective_ratio, performs(counts, part / CHOOSING), gaps, decisions.is_constant)
        chosen = draws.fairest(tolerances)
        seen, met = (
            np.take_along_axis(_changes(gap), np.maximum(chosen, 0)[:, None], axis=1)[:, 0] for gap in (gaps, elsewhere)
        )
        flattery.append(np.where(chosen > 0, met - seen, 0.0))
    told = np.concatenate(flattery)
    return float(np.nanmean(told) * np.sqrt(CHOOSING)) if not np.isnan(told).all() else 0.0


def _changes(gap: FloatArray) -> FloatArray:
    return np.asarray(gap - gap[..., :1])


def _deciding(measure: PerformanceMeasure) -> Performs:
    return lambda counts, _drawn: decided_performance(counts.overall(), measure)


def _drawable(decisions: Decisions, *, by_row: bool) -> tuple[Decisions, FloatArray, FloatArray | float]:
    """Return what is drawn again: kinds of rows, how many there are of each, and what each counts.

    Where their order matters, or each counts on its own, rows are of as many kinds.
    """
    if by_row or decisions.weights is not None:
        counting = 1.0 if decisions.weights is None else decisions.weights
        return decisions, np.ones(len(decisions.labels)), counting
    kinds, copies, _ = decisions.distinct()
    return kinds, copies, 1.0


def _ranking(values: FloatArray, decisions: Decisions) -> Performs:
    """Take the AUC of rows drawn again to first order."""
    found = ranked(values, decisions.labels, decisions.weights)
    return lambda _counts, drawn: found.auc + drawn @ found.parts.T


def _gap(counts: Confusion, metric: Gap) -> FloatArray:
    """Take a gap from counts that may have replications on their first axis."""
    rates = [share(*FRACTIONS[rate](counts)) for rate in GAP_RATES[metric]]
    return np.asarray(np.max([np.fmax.reduce(rate, axis=-1) - np.fmin.reduce(rate, axis=-1) for rate in rates], axis=0))


def _at_least(value: FloatArray, limit: FloatArray | float) -> BoolArray:
    return np.asarray(np.round(value - limit, ROUNDING_DIGITS) >= 0.0)
