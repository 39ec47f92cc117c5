"""The SVM of a table whose labels may be flipped, one workspace for all of them.

Every row stands in the problem twice, once with each label; one of the two is left out. A flip lets the other one in
and leaves this one out: two exact paths from the optimum before where the solver has them, or a solution from scratch.
"""

from __future__ import annotations

import math

import numpy as np

from fairenum.attack.scene import Scene
from fairenum.enumeration.model import Model
from fairenum.errors import SolverError
from fairenum.experiment import class_weights, kernel_for
from fairenum.matrices import Matrix, stacked
from fairenum.problem import FloatArray, Solution, SvmProblem
from fairenum.scoring.counts import BoolArray
from fairenum.solvers.registry import open_workspace


class FlippableSvm:
    """The machine of a scene, ready to be solved under any flips.

    A flipped row costs what its new label costs; balanced weights are those of the labels before any flip.

    Attributes
    ----------
    weights
        The weight of each example's label, as a multiple of C: of all rows as they are, then of all rows flipped.
    """

    def __init__(self, scene: Scene) -> None:
        X, y, machine = scene.train.X, scene.train.y, scene.machine
        self.rows = len(y)
        favourable, unfavourable = class_weights(machine, y)
        labels = np.concatenate([y, -y])
        self.weights = np.where(labels > 0.0, favourable, unfavourable)
        self.problem = SvmProblem(stacked([X, X]), labels, machine.cost * self.weights, kernel=kernel_for(machine, X))
        self._workspace = open_workspace(machine.solver, self.problem)

    def solve(self, flipped: BoolArray) -> Solution:
        """Train with some labels flipped."""
        return self._workspace.solve(self.problem.upper * np.concatenate([~flipped, flipped]))

    def flip(self, solution: Solution, row: int) -> Solution:
        """Train with one more label flipped, from a solution that `solve` gave.

        The objective, the plane and the biases are those of `solve`; among tied weights there may be others.
        """
        return self._walked(solution, row) or self._solved_anew(solution, row)

    def _walked(self, solution: Solution, row: int) -> Solution | None:
        """Let the twin in and leave the row out; None without paths, or if rounding leads them astray."""
        workspace, twin = self._workspace, row + self.rows
        if not workspace.admits:
            return None
        try:
            admitted = workspace.admit(solution, twin, float(self.problem.upper[twin]))
            return workspace.remove(admitted, row).tighten(-math.inf)
        except SolverError:
            return None

    def _solved_anew(self, solution: Solution, row: int) -> Solution:
        upper, twin = solution.upper.copy(), row + self.rows
        upper[[row, twin]] = 0.0, self.problem.upper[twin]
        return self._workspace.solve(upper)

    def decide(self, solution: Solution, X: Matrix) -> FloatArray:
        """Return the decision value of each row of a table."""
        return Model(self.problem, 1, solution.alpha, solution.certificate, {}, True, 0.0).decision_function(X)
