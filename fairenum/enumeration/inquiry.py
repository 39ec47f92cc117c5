"""Rows that are asked about: the machines that decide them otherwise, found by whoever is the quickest."""

from __future__ import annotations

import math

import numpy as np

from fairenum.document.anatomy import ROUNDING
from fairenum.enumeration.holding import holders
from fairenum.enumeration.pulling import NearPuller, Puller, SolverPuller
from fairenum.enumeration.walking import walkers
from fairenum.enumeration.witness import Court, Least, Pulls, Witnesses
from fairenum.matrices import Matrix, as_matrix
from fairenum.problem import Solution, SvmProblem
from fairenum.qp.foreign import foreign_rows
from fairenum.solvers.protocol import SolverPlugin

EXACT = "path"  # the solver that is asked where others, or walks, go astray


class Inquiry:
    """Rows that are asked about, with model 1 and what it decides."""

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
        self.values = np.where(np.abs(values) <= ROUNDING, 0.0, values)

    def pulls(self, threshold: float) -> Pulls:
        """Return the rows with the side that model 1 does not have them on."""
        sides = np.where(self.values - threshold >= 0.0, -1.0, 1.0)
        return Pulls(np.arange(len(sides)), sides, np.full(len(sides), threshold))

    def witnesses(self, pulls: Pulls, most: float = math.inf) -> Witnesses:
        """Return what is proven and attained for some pulls; those that are too far apart are pulled with more care."""
        first, *others = self._pullers
        found = self.court.judge(pulls, *first.pulled(pulls, most))
        for puller in others:
            apart = found.gaps > first.tight * np.maximum(found.attained, self.least.low)
            loose = np.flatnonzero(apart & (found.proven < most))
            if len(loose):
                again = pulls.take(loose)
                found.put(loose, self.court.judge(again, *puller.pulled(again, most)))
        return found
