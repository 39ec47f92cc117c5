"""Engines that find the model of least loss under a row constraint, and the search that combines them.

A row constraint requires one row's decision value to lie on a given side of a threshold. `FlipSearch` picks the engines
that are fastest for a problem. From the dual variables that an engine returns, it computes a lower and an upper bound
on the least loss (weak duality); where these bounds are too far apart, it falls back on the exact solver.
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
EXACT = "path"  # the solver to fall back on where other engines fail


@dataclass(frozen=True, slots=True, eq=False)
class RowConstraints:
    """Constraints ``side * (f(row) - threshold) >= 0`` on a model's decision value f, one per row; sides are -1 or +1.

    ``places`` are the indices of the constrained rows in the table of all rows.
    """

    places: IntArray
    sides: FloatArray
    thresholds: FloatArray

    def take(self, some: IntArray) -> RowConstraints:
        """Return the constraints at the given indices."""
        return RowConstraints(self.places[some], self.sides[some], self.thresholds[some])


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedModels:
    """The best model found under each row constraint, with a lower and an upper bound on the least loss.

    For a constrained row x a model has the weight vector ``w = sum_i alpha_i y_i x_i + side * weight * x``, a bias (for
    centred features, as in the Gram matrix) and a decision value at x. ``proven`` is a lower bound on the loss of every
    model that meets the constraint, ``attained`` is the loss of the model found.
    """

    alphas: FloatArray
    weights: FloatArray
    biases: FloatArray
    values: FloatArray
    proven: FloatArray
    attained: FloatArray

    @property
    def gaps(self) -> FloatArray:
        """The loss of each model found, minus the proven lower bound on the least loss."""
        return self.attained - self.proven

    def improve(self, places: IntArray, others: ConstrainedModels) -> None:
        """Replace the models at the indices `places` by those of `others`, where these have a smaller gap."""
        better = others.gaps < self.gaps[places]
        for field in fields(self):
            getattr(self, field.name)[places[better]] = getattr(others, field.name)[better]


@dataclass(frozen=True, slots=True)
class LeastLoss:
    """Lower and upper bound on the minimum of the training loss over all models."""

    low: float
    high: float

    def price_low(self, losses: FloatArray) -> FloatArray:
        """Return lower bounds on ``loss / least loss - 1``, none below 0, for the given losses."""
        return np.maximum(losses / self.high * (1.0 - ROUNDING) - 1.0, 0.0)

    def price_high(self, losses: FloatArray) -> FloatArray:
        """Return upper bounds on ``loss / least loss - 1``, none below 0, for the given losses."""
        return np.maximum(losses / self.low * (1.0 + ROUNDING) - 1.0, 0.0)


class Certifier:
    """Turns dual variables under row constraints into models, and bounds the least loss from below by weak duality."""

    def __init__(self, problem: SvmProblem, rows: OutsideRows) -> None:
        self._problem, self._rows, self._gram = problem, rows, open_gram(problem)
        self._lengths = np.sqrt(self._gram.diagonal)

    def least_loss(self, best: Solution) -> LeastLoss:
        """Return bounds on the loss of the optimal solution `best`: those of its certificate, widened for rounding."""
        alpha, certificate = best.alpha, best.certificate
        length = np.sqrt((alpha * alpha) @ self._gram.diagonal)
        slip = ROUNDING * (float(alpha @ np.abs(self._problem.linear)) + float(length) ** 2)
        return LeastLoss(certificate.objective - slip, certificate.bound + slip)

    def certified(
        self, constraints: RowConstraints, alphas: FloatArray, biases: FloatArray | None = None
    ) -> ConstrainedModels:
        """Return a model for each line of dual variables, with bounds on the least loss under that line's constraint.

        `alphas` has one line per constraint and one column per example; the dual variable ``weight`` of the constrained
        row follows from ``sum_i alpha_i y_i + side * weight = 0``. Without `biases`, each model gets the bias of least
        loss. A bias with which a model would violate its constraint is moved just far enough to meet it.
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
        """Scale down alpha of the examples with label `side` where its sum exceeds that of the other label.

        The constrained row has the label `side`, too, so its weight cannot make up for the excess.
        """
        excess, own = sides * (alphas @ self._problem.y), sides[:, None] * self._problem.y > 0.0
        if not (excess > 0.0).any():
            return alphas
        shares = np.maximum(excess, 0.0) / np.maximum(np.where(own, alphas, 0.0).sum(axis=1), 1e-300)
        return np.where(own, alphas * np.maximum(1.0 - shares, 0.0)[:, None], alphas)

    def _biases(self, planes: Planes) -> FloatArray:
        """Return the bias of least loss for each plane."""
        y, upper = self._problem.y, self._problem.upper
        target = 0.5 * float(upper @ (1.0 + y))
        kinks = [y * (self._problem.linear - row) for row in planes.reached]
        return np.array([middle(*bias_interval(some, upper, target, 0.0)) for some in kinks])

    def _losses(self, planes: Planes, biases: FloatArray) -> FloatArray:
        """Return the loss of each plane with its bias, rounded up."""
        problem = self._problem
        slack = problem.linear - planes.reached - biases[:, None] * problem.y
        slips = np.abs(problem.linear) + np.outer(planes.unsure, self._lengths) + np.abs(biases)[:, None]
        slack += ROUNDING * slips
        np.maximum(slack, 0.0, out=slack)
        return 0.5 * planes.squares + ROUNDING * planes.unsure**2 + slack @ problem.upper * (1.0 + ROUNDING)


class Engine(Protocol):
    """A method that finds dual variables of the SVM under row constraints.

    If the relative gap between attained and proven loss exceeds ``tight``, the next engine is tried.
    """

    tight: float

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, FloatArray | None]:
        """Return alphas of shape (constraints, examples), and the bias of each resulting plane (None: no biases given).

        The engine may stop once it has proven a loss of at least `enough`. Where it fails, it returns alphas that are
        feasible but prove nothing: those of model 1, or zeros.
        """


class SolverEngine:
    """Solves the SVM of each row constraint from scratch with a given solver."""

    tight = TIGHT

    def __init__(self, problem: SvmProblem, rows: Matrix, solver: str | SolverPlugin) -> None:
        self._problem = problem
        self._solver: SolverPlugin = load_solver(solver) if isinstance(solver, str) else solver
        self._table, self._rows = problem.X, rows
        if problem.ridge and problem.kernel.name == "linear":  # the row has no ridge: it becomes columns
            n, own = problem.size, sparse.diags_array(np.full(problem.size, np.sqrt(problem.ridge)))
            self._table = as_csr(sparse.hstack([sparse.csr_array(problem.X), own]))
            self._rows = as_csr(sparse.hstack([sparse.csr_array(rows), sparse.csr_array((rows.shape[0], n))]))

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, None]:  # noqa: ARG002
        """Return the dual variables of each constraint's SVM, zeros where the solver fails; None for the biases."""
        answers = np.zeros((len(constraints.places), self._problem.size))
        for k in range(len(answers)):
            checkpoint()
            # the solver may be missing, or refuse the linear term
            with suppress(SolverError, ProblemError):
                answers[k] = open_workspace(self._solver, self.constrained(constraints, k)).solve().alpha[:-1]
        return answers, None

    def constrained(self, constraints: RowConstraints, k: int) -> SvmProblem:
        """Return the SVM whose last example is the row of constraint `k`, at a cost that rules out violations."""
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
    """Finds an interior point of the dual problem of each row constraint, starting from model 1.

    The bounds are as tight as those of exact solutions, and found sooner: for most examples, the gradient at model 1
    shows whether alpha is 0 or at its upper bound.
    """

    tight = TIGHT

    def __init__(self, problem: SvmProblem, best: Solution, rows: Matrix) -> None:
        self._problem, self._solver = problem, SolverEngine(problem, rows, EXACT)
        self._values = decision_values(problem, best, rows)
        self._gradient = problem.product(best.alpha) + problem.y * best.certificate.bias - problem.linear

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, None]:  # noqa: ARG002
        """Return dual variables at an interior point per constraint, zeros if none is found; None for the biases."""
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
    """Finds linear models of nearly least loss under each row constraint, by a search over weight vectors."""

    tight = SEARCH_TIGHT

    def __init__(self, problem: SvmProblem, gram: LinearGram, best: Solution, rows: LinearOutsideRows) -> None:
        self._problem, self._gram, self._best, self._rows = problem, gram, best, rows
        self._bias = best.certificate.bias - gram.bias_offset(best.alpha)
        self._crossing: Crossing | None = None

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, FloatArray]:
        """Return dual variables and biases: those of model 1 if it meets the constraint, or if the search fails."""
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
    """Follows the path from model 1 on which a row's weight grows until the row's constraint is met."""

    tight = TIGHT

    def __init__(
        self, state: ActiveSet, rows: OutsideRows, opened: Callable[[], FastWalk | ExactWalk], failed: int
    ) -> None:
        self._state, self._rows, self._opened, self._failed = state, rows, opened, failed
        self._walk: FastWalk | ExactWalk | None = None

    def answers(self, constraints: RowConstraints, enough: float) -> tuple[FloatArray, FloatArray]:
        """Return dual variables and biases: those of model 1 if it meets the constraint, or if the path breaks off."""
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
    """Return a list with one plane search engine if it suits the problem, else an empty list.

    It suits linear kernels without ridge, few columns, and more examples than paths handle fast.
    """
    gram = open_gram(problem)
    if not isinstance(gram, LinearGram) or not isinstance(rows, LinearOutsideRows) or gram.ridge:
        return []
    if problem.size <= LARGEST or gram.table.shape[1] ** 2 > WIDEST * problem.size:
        return []
    return [PlaneSearchEngine(problem, gram, best, rows)]


def walk_engines(problem: SvmProblem, best: Solution, rows: OutsideRows) -> list[WalkEngine]:
    """Return the engines that follow paths: fast ones for a linear kernel without ridge, else an exact one.

    The list is empty where the problem is so large that other engines are faster, where the kernel matrix is not held
    in memory, or where the start of the path is not found.
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
    """Return the decision values of rows under the solution `best`, including the bias."""
    support = best.support
    return problem.decide(rows, support, problem.y[support] * best.alpha[support]) + best.certificate.bias


class FlipSearch:
    """The search for models of least loss under constraints on given rows.

    ``values`` are the decision values of model 1 on the rows; ``least`` has bounds on the least loss of all models.
    """

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
        """Return constraints that require of each row a decision other than that of model 1 at this threshold."""
        sides = np.where(self.values - threshold >= 0.0, -1.0, 1.0)
        return RowConstraints(np.arange(len(sides)), sides, np.full(len(sides), threshold))

    def best_models(self, constraints: RowConstraints, enough: float = math.inf) -> ConstrainedModels:
        """Return the best model found under each constraint, with bounds on the least loss.

        Where the bounds are far apart, further engines are tried, unless the least loss is proven to be at least
        `enough`.
        """
        first, *others = self._engines
        found = self.certifier.certified(constraints, *first.answers(constraints, enough))
        for engine in others:
            is_wide = found.gaps > first.tight * np.maximum(found.attained, self.least.low)
            again = np.flatnonzero(is_wide & (found.proven < enough))
            if len(again):
                some = constraints.take(again)
                found.improve(again, self.certifier.certified(some, *engine.answers(some, enough)))
        return found
