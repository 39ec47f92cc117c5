"""Engines that search for the best model deciding a row differently: walks, plane searches, interior points, solvers.

Each engine is a `Puller`. `Inquiry` picks the fastest ones for a problem, judges their answers by weak duality, and
asks the exact solver again where proven and attained losses are too far apart.
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
from fairenum.svm.outside_rows import ForeignRows, KernelRows, LinearRows, Planes, foreign_rows
from fairenum.svm.path import ActiveSet, PathStuck
from fairenum.svm.polish import optimal_state
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, as_csr, as_matrix, stacked
from fairenum.svm.walks import APART, Ascent, Hurry
from fairenum.svm.working_set import Programme, Start

ROUNDING = 16.0 * float(np.finfo(float).eps)  # by which a sum may be off, as a share of what it is made of


@dataclass(frozen=True, slots=True, eq=False)
class Pulls:
    """Rows to pull a model across: their places, the side to pull each to, and the threshold."""

    places: IntArray
    sides: FloatArray
    thresholds: FloatArray

    def take(self, some: IntArray) -> Pulls:
        """Return some of the pulls."""
        return Pulls(self.places[some], self.sides[some], self.thresholds[some])


@dataclass(frozen=True, slots=True, eq=False)
class Witnesses:
    """Dual answers, one per pull, with the losses they prove and attain.

    Attributes
    ----------
    alphas, weights
        Of the examples, and of the row: ``w = sum_i alpha_i y_i x_i + side * weight * x``.
    biases, values
        Biases of the planes, as the Gram sees them, and their decision values at the rows.
    proven
        Lower bounds on the loss of every model with the row on its side.
    attained
        The losses of the planes.
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

    def put(self, places: IntArray, others: Witnesses) -> None:
        """Replace some witnesses by others where those have smaller gaps, in place."""
        better = others.gaps < self.gaps[places]
        for field in fields(self):
            getattr(self, field.name)[places[better]] = getattr(others, field.name)[better]


@dataclass(frozen=True, slots=True)
class Least:
    """Lower and upper bound on the least loss of all models."""

    low: float
    high: float

    def proven(self, losses: FloatArray) -> FloatArray:
        """Return lower bounds on the losses relative to the least, minus 1."""
        return np.maximum(losses / self.high * (1.0 - ROUNDING) - 1.0, 0.0)

    def attained(self, losses: FloatArray) -> FloatArray:
        """Return upper bounds on the losses relative to the least, minus 1."""
        return np.maximum(losses / self.low * (1.0 + ROUNDING) - 1.0, 0.0)


class Court:
    """Judges dual answers about rows of one problem."""

    def __init__(self, problem: SvmProblem, rows: ForeignRows) -> None:
        self._problem, self._rows, self._gram = problem, rows, open_gram(problem)
        self._lengths = np.sqrt(self._gram.diagonal)

    def least(self, best: Solution) -> Least:
        """Return bounds on the least loss, given the best answer."""
        alpha, certificate = best.alpha, best.certificate
        length = np.sqrt((alpha * alpha) @ self._gram.diagonal)
        slip = ROUNDING * (float(alpha @ np.abs(self._problem.linear)) + float(length) ** 2)
        return Least(certificate.objective - slip, certificate.bound + slip)

    def judge(self, pulls: Pulls, alphas: FloatArray, biases: FloatArray | None = None) -> Witnesses:
        """Return the witnesses of answers; the weight of a row restores the balance that alpha lacks.

        Biases are the best for the planes, unless given.
        """
        problem, sides, cuts = self._problem, pulls.sides, pulls.thresholds
        alphas = self._balanced(np.clip(alphas, 0.0, problem.upper), sides)
        weights = np.maximum(-sides * (alphas @ problem.y), 0.0)
        planes = self._rows.spanned(pulls.places, alphas, sides * weights)
        slips = planes.roundings * planes.unsure + np.abs(cuts) * weights
        slips += alphas @ np.abs(problem.linear) + planes.squares
        proven = alphas @ problem.linear + sides * cuts * weights - 0.5 * planes.squares - ROUNDING * slips
        biases = self._biases(planes) if biases is None else biases
        lengths = np.sqrt(self._rows.squares[pulls.places])
        slips = ROUNDING * (planes.unsure * lengths + np.abs(biases) + np.abs(cuts))
        biases = sides * np.maximum(sides * biases, sides * (cuts - planes.values) + slips)
        return Witnesses(alphas, weights, biases, planes.values + biases, proven, self._losses(planes, biases))

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
        """Return upper bounds, for rounding, on the losses of planes with their biases."""
        problem = self._problem
        slack = problem.linear - planes.reached - biases[:, None] * problem.y
        slips = np.abs(problem.linear) + np.outer(planes.unsure, self._lengths) + np.abs(biases)[:, None]
        slack += ROUNDING * slips
        np.maximum(slack, 0.0, out=slack)
        return 0.5 * planes.squares + ROUNDING * planes.unsure**2 + slack @ problem.upper * (1.0 + ROUNDING)


WIDEST = 8  # times the examples: with more squared columns steps become long
NEARLY = 1e-6  # of the loss: closer than any use needs, and far above what a search leaves


class HoldPuller:
    """Searches a nearly optimal plane per row, for linear models of many examples."""

    tight = NEARLY

    def __init__(self, problem: SvmProblem, gram: LinearGram, best: Solution, rows: LinearRows) -> None:
        self._problem, self._gram, self._best, self._rows = problem, gram, best, rows
        self._bias = best.certificate.bias - gram.bias_offset(best.alpha)
        self._crossing: Crossing | None = None

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, FloatArray]:
        """Return an answer for each pull (examples only) and the bias of its plane.

        Where rounding prevents one, the answer is that of model 1, which proves nothing.
        """
        alpha, bias = self._best.alpha, self._bias
        self._crossing = crossing = self._crossing or Crossing(
            self._problem, self._gram, alpha, bias, self._best.certificate.bound
        )
        rows = self._rows.features[pulls.places]
        missing = pulls.sides * (pulls.thresholds - rows @ self._gram.planes(alpha[None])[0] - bias)
        answers, biases = np.tile(alpha, (len(rows), 1)), np.full(len(rows), bias)
        for k in np.flatnonzero(missing > 0.0):
            try:
                answers[k], biases[k] = crossing.held(rows[k], float(pulls.sides[k]), float(pulls.thresholds[k]), most)
            except LinAlgError:
                continue
        return answers, biases


def holders(problem: SvmProblem, best: Solution, rows: LinearRows | KernelRows) -> list[HoldPuller]:
    """Return the plane search if it suits the problem; none where walks are faster or there are too many columns."""
    gram = open_gram(problem)
    if not isinstance(gram, LinearGram) or not isinstance(rows, LinearRows) or gram.ridge:
        return []
    if problem.size <= LARGEST or gram.table.shape[1] ** 2 > WIDEST * problem.size:
        return []
    return [HoldPuller(problem, gram, best, rows)]


TIGHT = 1e-8  # of the loss: proven and attained losses this near count as equal
NO_LIMIT = 2.0  # times the cost of all examples of the other label


class Puller(Protocol):
    """An engine that finds dual answers for pulls.

    ``tight`` is the relative gap between proven and attained losses above which the next engine is asked.
    """

    tight: float

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, FloatArray | None]:
        """Return an answer for each pull (examples only) and the bias of its plane, if known.

        The engine may stop once a loss of `most` is proven.
        """


class SolverPuller:
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

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, None]:  # noqa: ARG002 - solves to the end
        """Return an answer for each pull; zeros, which prove nothing, where the solver fails."""
        answers = np.zeros((len(pulls.places), self._problem.size))
        for k in range(len(answers)):
            checkpoint()
            posed = self.posed(pulls.places[[k]], float(pulls.sides[k]), float(pulls.thresholds[k]))
            try:
                answers[k] = open_workspace(self._solver, posed).solve().alpha[:-1]
            except (SolverError, ProblemError):  # no solver, or one that knows no such linear term
                continue
        return answers, None

    def posed(self, place: np.ndarray, side: float, threshold: float) -> SvmProblem:
        """Return the problem with the row as its last example."""
        problem = self._problem
        cost = NO_LIMIT * float(problem.upper[problem.y == -side].sum())
        return SvmProblem(
            stacked([self._table, self._rows[place]]),
            np.append(problem.y, side),
            np.append(problem.cost, cost),
            np.append(problem.copies, 1),
            problem.kernel,
            np.append(problem.linear, side * threshold),
            0.0 if problem.kernel.name == "linear" else problem.ridge,
            problem.unit,
        )


class NearPuller:
    """Finds interior points near the plane of model 1, which prove as much as exact answers, and sooner.

    That plane tells the bound of most examples of a large table, and no answer has to be rounded to a vertex.
    """

    tight = TIGHT

    def __init__(self, problem: SvmProblem, best: Solution, rows: Matrix) -> None:
        self._problem, self._solver = problem, SolverPuller(problem, rows, "path")
        support = best.support
        signed = problem.y[support] * best.alpha[support]
        self._reached = problem.decide(rows, support, signed) + best.certificate.bias
        self._gradient = problem.product(best.alpha) + problem.y * best.certificate.bias - problem.linear

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, None]:  # noqa: ARG002 - solves to the end
        """Return an answer for each pull; zeros, which prove nothing, where it fails."""
        answers = np.zeros((len(pulls.places), self._problem.size))
        for k, (place, side, cut) in enumerate(zip(pulls.places, pulls.sides, pulls.thresholds, strict=True)):
            checkpoint()
            posed = self._solver.posed(pulls.places[[k]], float(side), float(cut))
            own = np.append(self._gradient, side * (self._reached[place] - cut))
            start = Start(own, np.arange(posed.size) == posed.size - 1)
            programme = Programme(open_gram(posed), posed.y, posed.upper, posed.linear, posed.unit)
            with suppress(SolverError):
                answers[k] = np.clip(programme.nearly_solved(start).alpha, 0.0, posed.upper)[:-1]
        return answers, None


LARGEST = 6000  # examples; breakpoints of a walk grow with them, so with more a search is faster


class Walk(Protocol):
    """A walk from one state across any row."""

    def pulled(self, row: FloatArray, side: float, missing: float, above: float) -> tuple[int, FloatArray, float, int]:
        """Return the status, alpha, bias and number of breakpoints."""


class WalkPuller:
    """Walks from model 1 to the plane of every row.

    Where a walk goes astray, the answer is that of model 1, which proves nothing.
    """

    tight = TIGHT

    def __init__(self, state: ActiveSet, rows: LinearRows | KernelRows, opened: Callable[[], Walk], lost: int) -> None:
        self._state, self._rows, self._opened, self._lost = state, rows, opened, lost
        self._walk: Walk | None = None

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, FloatArray]:
        """Return an answer for each pull (examples only) and the bias of its plane."""
        self._walk = walk = self._walk or self._opened()
        reached = self._rows.crossed(pulls.places) @ self._state.alpha + self._state.bias
        missing = pulls.sides * (pulls.thresholds - reached)
        answers, biases = np.tile(self._state.alpha, (len(missing), 1)), np.full(len(missing), self._state.bias)
        rows = self._rows.entering(pulls.places)
        for k in np.flatnonzero(missing > 0.0):
            checkpoint()
            status, alpha, bias, _ = walk.pulled(rows[k], float(pulls.sides[k]), float(missing[k]), most)
            if status != self._lost:
                answers[k], biases[k] = alpha, bias
        return answers, biases


def walkers(problem: SvmProblem, best: Solution, rows: LinearRows | KernelRows) -> list[WalkPuller]:
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
    held, value = state, best.certificate.objective
    if isinstance(gram, LinearGram) and not gram.ridge:
        opened = (partial(Hurry, problem, gram, held, value, trifle) for trifle in APART)
        return [WalkPuller(held, rows, one, fast_walk_loop.LOST) for one in opened]
    return [WalkPuller(held, rows, partial(Ascent, held, value), path_loop.STUCK)]


EXACT = "path"  # the solver to ask where others, or walks, fail


class Inquiry:
    """An inquiry about rows: model 1's decisions on them, and the engines that look for models deciding otherwise."""

    def __init__(self, problem: SvmProblem, best: Solution, rows: Matrix, solver: str | SolverPlugin | None) -> None:
        self.problem, self.best, self.rows = problem, best, as_matrix(rows)
        self.foreign = foreign_rows(problem, self.rows)
        self.court = Court(problem, self.foreign)
        self.least: Least = self.court.least(best)
        asked: list[Puller] = [SolverPuller(problem, self.rows, solver)] if solver else []
        quick: list[Puller] = [*walkers(problem, best, self.foreign), *holders(problem, best, self.foreign)]
        if not quick and problem.kernel.name == "linear" and not problem.ridge:
            quick = [NearPuller(problem, best, self.rows)]
        self._pullers = [*(asked or quick), SolverPuller(problem, self.rows, EXACT)]
        support = best.support
        values = problem.decide(self.rows, support, problem.y[support] * best.alpha[support]) + best.certificate.bias
        self.values = np.where(np.abs(values) <= VALUE_ROUNDING, 0.0, values)

    def pulls(self, threshold: float) -> Pulls:
        """Return a pull of each row to the side of the threshold where model 1 does not have it."""
        sides = np.where(self.values - threshold >= 0.0, -1.0, 1.0)
        return Pulls(np.arange(len(sides)), sides, np.full(len(sides), threshold))

    def witnesses(self, pulls: Pulls, most: float = math.inf) -> Witnesses:
        """Return the losses proven and attained for some pulls; gaps that are too wide go to the next engine."""
        first, *others = self._pullers
        found = self.court.judge(pulls, *first.pulled(pulls, most))
        for puller in others:
            apart = found.gaps > first.tight * np.maximum(found.attained, self.least.low)
            loose = np.flatnonzero(apart & (found.proven < most))
            if len(loose):
                again = pulls.take(loose)
                found.put(loose, self.court.judge(again, *puller.pulled(again, most)))
        return found
