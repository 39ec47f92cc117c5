"""Planes pulled across a row, by any solver: the row is one more example, of the other label and at no limited cost.

Its linear term is the threshold times its side, so that it is content on the threshold. Its weight cannot exceed what
the examples of the other label weigh together, which is why a box of twice that is none.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

import numpy as np
from scipy import sparse

from fairenum.budget import checkpoint
from fairenum.enumeration.witness import Pulls
from fairenum.errors import ProblemError, SolverError
from fairenum.matrices import Matrix, as_csr, stacked
from fairenum.problem import FloatArray, Solution, SvmProblem
from fairenum.qp.gram import open_gram
from fairenum.qp.working import Programme, Start
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import load_solver, open_workspace

TIGHT = 1e-8  # of the loss: what is proven and what is attained are as good as equal
NO_LIMIT = 2.0  # times the cost of all examples of the other label


class Puller(Protocol):
    """Finds the dual answers of pulls.

    Attributes
    ----------
    tight
        What may lie between proven and attained losses, as a share of them, before somebody else is asked.
    """

    tight: float

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, FloatArray | None]:
        """Return one answer for each pull, of examples alone, and the bias of its plane if it is known.

        One that proves a loss of `most` is good enough.
        """


class SolverPuller:
    """Solves anew for every row, with any solver."""

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
        """Return one answer for each pull; that of nothing, which proves nothing, where the solver fails."""
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
        """Pose the problem that has a row for its last example."""
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
    """Looks for interior points near the plane of model 1, which prove as much as an exact answer, and sooner.

    The plane of model 1 tells the bound of most examples of a large table; no answer has to be rounded to a vertex.
    """

    tight = TIGHT

    def __init__(self, problem: SvmProblem, best: Solution, rows: Matrix) -> None:
        self._problem, self._solver = problem, SolverPuller(problem, rows, "path")
        support = best.support
        signed = problem.y[support] * best.alpha[support]
        self._reached = problem.decide(rows, support, signed) + best.certificate.bias
        self._gradient = problem.product(best.alpha) + problem.y * best.certificate.bias - problem.linear

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, None]:  # noqa: ARG002 - solves to the end
        """Return one answer for each pull; that of nothing, which proves nothing, where it fails."""
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
