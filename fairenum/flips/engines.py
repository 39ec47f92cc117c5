"""Engines that find the best model under a row constraint: walks, plane searches, interior points, solvers.

A row constraint puts one row on a given side of a threshold. `FlipSearch` picks the fastest engines for a problem,
certifies their answers by weak duality, and asks the exact solver again where proven and attained losses are too far
apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError

from fairenum.document.feature_facts import ROUNDING as VALUE_ROUNDING
from fairenum.errors import ProblemError, SolverError
from fairenum.runtime.budget import checkpoint
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import load_solver, open_workspace
from fairenum.svm import fast_walk_loop, path_loop
from fairenum.svm.certificate import bias_interval, middle
from fairenum.svm.crossing import Crossing
from fairenum.svm.gram import LinearGram, open_gram
from fairenum.svm.outside_rows import LinearOutsideRows, OutsideRows, Planes, outside_rows
from fairenum.svm.path import ActiveSet, PathStuck
from fairenum.svm.polish import optimal_state
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, as_csr, as_matrix, stacked
from fairenum.svm.walks import TIE_SHIFTS, ExactWalk, FastWalk
from fairenum.svm.working_set import Start, WorkingSetSolver

ROUNDING = 16.0 * float(np.finfo(float).eps)  # rounding error of a sum, as a share of its terms
TIGHT = 1e-8  # of the loss: proven and attained losses this near count as equal
SEARCH_TIGHT = 1e-6  # the same for the plane search: closer than any use needs, and far above what the search leaves
NO_LIMIT = 2.0  # times the cost of all examples of the other label
LARGEST = 6000  # examples; breakpoints of a walk grow with them, so with more a search is faster
WIDEST = 8  # times the examples: with more squared columns the steps of a plane search become long
EXACT = "path"  # the solver to ask where others, or walks, fail


@dataclass(frozen=True, slots=True, eq=False)
class RowConstraints:
    """Constraints ``side * (f(row) - threshold) >= 0``, one per row; ``places`` are the positions of the rows."""

    places: IntArray
    sides: FloatArray
    thresholds: FloatArray

    def take(self, some: IntArray) -> RowConstraints:
        """Return some of the constraints."""
        return RowConstraints(self.places[some], self.sides[some], self.thresholds[some])


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedModels:
    """The models found under row constraints, one each, with a proven and an attained loss.

    A plane is ``w = sum_i alpha_i y_i x_i + side * weight * x``, with its bias as the Gram sees it and its decision
    value at the row. ``proven`` are lower bounds on the loss of every model that meets the constraint, ``attained`` the
    losses of the planes.
    """

    alphas: FloatArray
    weights: FloatArray
    biases: FloatArray
    values: FloatArray
    proven: FloatArray
    attained: FloatArray

    @property
    def gaps(self) -> FloatArray:
        """Attained minus proven losses."""
        return self.attained - self.proven

    def improve(self, places: IntArray, others: ConstrainedModels) -> None:
        """Replace the models at some places by others where those have smaller gaps, in place."""
        better = others.gaps < self.gaps[places]
        for field in fields(self):
            getattr(self, field.name)[places[better]] = getattr(others, field.name)[better]


@dataclass(frozen=True, slots=True)
class LeastLoss:
    """Lower and upper bound on the least loss of all models."""

    low: float
    high: float

    def price_low(self, losses: FloatArray) -> FloatArray:
        """Return lower bounds on losses as shares of the least loss, minus 1."""
        return np.maximum(losses / self.high * (1.0 - ROUNDING) - 1.0, 0.0)

    def price_high(self, losses: FloatArray) -> FloatArray:
        """Return upper bounds on losses as shares of the least loss, minus 1."""
        return np.maximum(losses / self.low * (1.0 + ROUNDING) - 1.0, 0.0)


class Certifier:
    """Proves losses of dual answers under row constraints, by weak duality."""

    def __init__(self, problem: SvmProblem, rows: OutsideRows) -> None:
        self._problem, self._rows, self._gram = problem, rows, open_gram(problem)
        self._lengths = np.sqrt(self._gram.diagonal)

    def least_loss(self, best: Solution) -> LeastLoss:
        """Return bounds on the least loss, given the best answer."""
        alpha, certificate = best.alpha, best.certificate
        length = np.sqrt((alpha * alpha) @ self._gram.diagonal)
        slip = ROUNDING * (float(alpha @ np.abs(self._problem.linear)) + float(length) ** 2)
        return LeastLoss(certificate.objective - slip, certificate.bound + slip)

    def certified(
        self, constraints: RowConstraints, alphas: FloatArray, biases: FloatArray | None = None
    ) -> ConstrainedModels:
        """Return the models of dual answers; the weight of a row restores the balance that alpha lacks.

        Biases are the best for the planes, unless given.
        """
        problem, sides, cuts = self._problem, constraints.sides, constraints.thresholds
        alphas = self._balanced(np.clip(alphas, 0.0, problem.upper), sides)
        weights = np.maximum(-sides * (alphas @ problem.y), 0.0)
        planes = self._rows.spanned(constraints.places, alphas, sides * weights)
        slips = planes.roundings * planes.unsure + np.abs(cuts) * weights
        slips += alphas @ np.abs(problem.linear) + planes.squares
        proven = alphas @ problem.linear + sides * cuts * weights - 0.5 * planes.squares - ROUNDING * slips
        biases = self._biases(planes) if biases is None else biases
        lengths = np.sqrt(self._rows.squares[constraints.places])
        slips = ROUNDING * (planes.unsure * lengths + np.abs(biases) + np.abs(cuts))
        biases = sides * np.maximum(sides * biases, sides * (cuts - planes.values) + slips)
        return ConstrainedModels(alphas, weights, biases, planes.values + biases, proven, self._losses(planes, biases))

    def _balanced(self, alphas: FloatArray, sides: FloatArray) -> FloatArray:
        """Shrink the label of the row's side where it outweighs the other, which no weight of the row could balance."""
        excess, own = sides * (alphas @ self._problem.y), sides[:, None] * self._problem.y > 0.0
        if not (excess > 0.0).any():
            return alphas
        shares = np.maximum(excess, 0.0) / np.maximum(np.where(own, alphas, 0.0).sum(axis=1), 1e-300)
        return np.where(own, alphas * np.maximum(1.0 - shares, 0.0)[:, None], alphas)

    def _biases(self, planes: Planes) -> FloatArray:
        """Return the best bias of each plane."""
        y, upper = self._problem.y, self._problem.upper
        target = 0.5 * float(upper @ (1.0 + y))
        kinks = [y * (self._problem.linear - row) for row in planes.reached]
        return np.array([middle(*bias_interval(some, upper, target, 0.0)) for some in kinks])

    def _losses(self, planes: Planes, biases: FloatArray) -> FloatArray:
        """Return the losses of planes with their biases, rounded up."""
        problem = self._problem
        slack = problem.linear - planes.reached - biases[:, None] * problem.y
        slips = np.abs(problem.linear) + np.outer(planes.unsure, self._lengths) + np.abs(biases)[:, None]
        slack += ROUNDING * slips
        np.maximum(slack, 0.0, out=slack)
        return 0.5 * planes.squares + ROUNDING * planes.unsure**2 + slack @ problem.upper * (1.0 + ROUNDING)


class Engine(Protocol):
    """A method of finding dual answers under row constraints.

    ``tight`` is the relative gap between proven and attained losses above which the next engine is asked.
    """

    tight: float

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, FloatArray | None]:
        """Return alpha of the examples for each constraint, and the bias of its plane, if known.

        The engine may stop once a loss of `enough` is proven. Where it fails, its answer proves nothing: that of model
        1, or zeros.
        """


class SolverEngine:
    """Solves each row's problem from scratch with any solver."""

    tight = TIGHT

    def __init__(self, problem: SvmProblem, rows: Matrix, solver: str | SolverPlugin) -> None:
        self._problem = problem
        self._solver: SolverPlugin = load_solver(solver) if isinstance(solver, str) else solver
        self._table, self._rows = problem.X, rows
        if problem.ridge and problem.kernel.name == "linear":  # the row has none: it becomes columns of the examples
            n, own = problem.size, sparse.diags_array(np.full(problem.size, np.sqrt(problem.ridge)))
            self._table = as_csr(sparse.hstack([sparse.csr_array(problem.X), own]))
            self._rows = as_csr(sparse.hstack([sparse.csr_array(rows), sparse.csr_array((rows.shape[0], n))]))

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, None]:  # noqa: ARG002
        """Solve for each constraint."""
        answers = np.zeros((len(constraints.places), self._problem.size))
        for k in range(len(answers)):
            checkpoint()
            # the solver may be missing, or refuse the linear term
            with suppress(SolverError, ProblemError):
                answers[k] = open_workspace(self._solver, self.constrained(constraints, k)).solve().alpha[:-1]
        return answers, None

    def constrained(self, constraints: RowConstraints, k: int) -> SvmProblem:
        """Return the problem under one of the constraints: its row is the last example."""
        problem, side = self._problem, float(constraints.sides[k])
        cost = NO_LIMIT * float(problem.upper[problem.y == -side].sum())
        return SvmProblem(
            stacked([self._table, self._rows[constraints.places[[k]]]]),
            np.append(problem.y, side),
            np.append(problem.cost, cost),
            np.append(problem.copies, 1),
            problem.kernel,
            np.append(problem.linear, side * float(constraints.thresholds[k])),
            0.0 if problem.kernel.name == "linear" else problem.ridge,
            problem.unit,
        )


class InteriorEngine:
    """Finds interior points near the plane of model 1, which prove as much as exact answers, and sooner.

    That plane shows the bound of most examples of a large table, and no answer has to be rounded to a vertex.
    """

    tight = TIGHT

    def __init__(self, problem: SvmProblem, best: Solution, rows: Matrix) -> None:
        self._problem, self._solver = problem, SolverEngine(problem, rows, EXACT)
        self._values = decision_values(problem, best, rows)
        self._gradient = problem.product(best.alpha) + problem.y * best.certificate.bias - problem.linear

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, None]:  # noqa: ARG002
        """Find an interior point for each constraint."""
        answers = np.zeros((len(constraints.places), self._problem.size))
        slack = constraints.sides * (self._values[constraints.places] - constraints.thresholds)
        for k in range(len(answers)):
            checkpoint()
            posed = self._solver.constrained(constraints, k)
            start = Start(np.append(self._gradient, slack[k]), np.arange(posed.size) == posed.size - 1)
            solver = WorkingSetSolver(open_gram(posed), posed.y, posed.upper, posed.linear, posed.unit)
            with suppress(SolverError):
                answers[k] = np.clip(solver.solve(start).alpha, 0.0, posed.upper)[:-1]
        return answers, None


class PlaneSearchEngine:
    """Searches a nearly optimal plane per row, for linear models of many examples."""

    tight = SEARCH_TIGHT

    def __init__(self, problem: SvmProblem, gram: LinearGram, best: Solution, rows: LinearOutsideRows) -> None:
        self._problem, self._gram, self._best, self._rows = problem, gram, best, rows
        self._bias = best.certificate.bias - gram.bias_offset(best.alpha)
        self._crossing: Crossing | None = None

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, FloatArray]:
        """Search a plane for each constraint that model 1 does not meet."""
        alpha, bias = self._best.alpha, self._bias
        self._crossing = crossing = self._crossing or Crossing(
            self._problem, self._gram, alpha, bias, self._best.certificate.bound
        )
        rows, sides, cuts = self._rows.features[constraints.places], constraints.sides, constraints.thresholds
        missing = sides * (cuts - rows @ self._gram.planes(alpha[None])[0] - bias)
        answers, biases = np.tile(alpha, (len(rows), 1)), np.full(len(rows), bias)
        for k in np.flatnonzero(missing > 0.0):
            with suppress(LinAlgError):
                answers[k], biases[k] = crossing.held(rows[k], float(sides[k]), float(cuts[k]), enough)
        return answers, biases


class WalkEngine:
    """Walks from model 1 to the plane of every row."""

    tight = TIGHT

    def __init__(
        self, state: ActiveSet, rows: OutsideRows, opened: Callable[[], FastWalk | ExactWalk], failed: int
    ) -> None:
        self._state, self._rows, self._opened, self._failed = state, rows, opened, failed
        self._walk: FastWalk | ExactWalk | None = None

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, FloatArray]:
        """Walk for each constraint that model 1 does not meet."""
        self._walk = walk = self._walk or self._opened()
        values = self._rows.crossed(constraints.places) @ self._state.alpha + self._state.bias
        missing = constraints.sides * (constraints.thresholds - values)
        answers, biases = np.tile(self._state.alpha, (len(missing), 1)), np.full(len(missing), self._state.bias)
        rows = self._rows.entering(constraints.places)
        for k in np.flatnonzero(missing > 0.0):
            checkpoint()
            status, alpha, bias = walk.across(rows[k], float(constraints.sides[k]), float(missing[k]), enough)
            if status != self._failed:
                answers[k], biases[k] = alpha, bias
        return answers, biases


def plane_search_engines(problem: SvmProblem, best: Solution, rows: OutsideRows) -> list[PlaneSearchEngine]:
    """Return the plane search if it suits the problem; none where walks are faster or there are too many columns."""
    gram = open_gram(problem)
    if not isinstance(gram, LinearGram) or not isinstance(rows, LinearOutsideRows) or gram.ridge:
        return []
    if problem.size <= LARGEST or gram.table.shape[1] ** 2 > WIDEST * problem.size:
        return []
    return [PlaneSearchEngine(problem, gram, best, rows)]


def walk_engines(problem: SvmProblem, best: Solution, rows: OutsideRows) -> list[WalkEngine]:
    """Return the walks that suit the problem: fast ones for a linear kernel without ridge, else the exact one.

    None where a search is faster, or where the kernel matrix is not held.
    """
    gram, state = open_gram(problem), best.handle
    if gram.anchors is not None or problem.size > LARGEST:
        return []
    if not isinstance(state, ActiveSet) or state.gram is not gram:
        try:
            state = optimal_state(gram, problem, problem.upper, best.alpha)
        except PathStuck:
            return []
    value = best.certificate.objective
    if isinstance(gram, LinearGram) and not gram.ridge:
        opened = (partial(FastWalk, problem, gram, state, value, shift) for shift in TIE_SHIFTS)
        return [WalkEngine(state, rows, one, fast_walk_loop.LOST) for one in opened]
    return [WalkEngine(state, rows, partial(ExactWalk, state, value), path_loop.STUCK)]


def decision_values(problem: SvmProblem, best: Solution, rows: Matrix) -> FloatArray:
    """Return the decision values of rows under an answer."""
    support = best.support
    return problem.decide(rows, support, problem.y[support] * best.alpha[support]) + best.certificate.bias


class FlipSearch:
    """The search for the best models under constraints on some rows, and model 1's decision values there."""

    def __init__(self, problem: SvmProblem, best: Solution, rows: Matrix, solver: str | SolverPlugin | None) -> None:
        self.problem, self.rows = problem, as_matrix(rows)
        self.outside = outside_rows(problem, self.rows)
        self.certifier = Certifier(problem, self.outside)
        self.least = self.certifier.least_loss(best)
        first: list[Engine] = [SolverEngine(problem, self.rows, solver)] if solver else []
        if not solver:
            first = [*walk_engines(problem, best, self.outside), *plane_search_engines(problem, best, self.outside)]
        if not first and problem.kernel.name == "linear" and not problem.ridge:
            first = [InteriorEngine(problem, best, self.rows)]
        self._engines = [*first, SolverEngine(problem, self.rows, EXACT)]
        values = decision_values(problem, best, self.rows)
        self.values = np.where(np.abs(values) <= VALUE_ROUNDING, 0.0, values)

    def flips(self, threshold: float) -> RowConstraints:
        """Return constraints that put each row on the other side of the threshold than model 1 does."""
        sides = np.where(self.values - threshold >= 0.0, -1.0, 1.0)
        return RowConstraints(np.arange(len(sides)), sides, np.full(len(sides), threshold))

    def best_models(self, constraints: RowConstraints, enough: float = math.inf) -> ConstrainedModels:
        """Return the best model found under each constraint; where its gap is too wide, the next engine is asked."""
        first, *others = self._engines
        found = self.certifier.certified(constraints, *first.answers(constraints, enough))
        for engine in others:
            is_wide = found.gaps > first.tight * np.maximum(found.attained, self.least.low)
            again = np.flatnonzero(is_wide & (found.proven < enough))
            if len(again):
                some = constraints.take(again)
                found.improve(again, self.certifier.certified(some, *engine.answers(some, enough)))
        return found
