"""The SVM of a table whose labels may be flipped, one workspace for all of them.

Every row stands in the problem twice, once with each label; one of the two is left out. A flip lets the other one in
and leaves this one out: two exact paths from the optimum before, or a solution from scratch.
"""

from __future__ import annotations

import numpy as np

from fairenum.attack.scene import Scene
from fairenum.enumeration.model import Model
from fairenum.errors import AnswerRefused
from fairenum.experiment import kernel_for
from fairenum.problem import FloatArray, SvmProblem, read_only
from fairenum.qp.activeset import ActiveSet
from fairenum.qp.path import PathStuck, RemovalPath, admitted
from fairenum.scoring.counts import BoolArray
from fairenum.solvers.protocol import Solution
from fairenum.solvers.registry import open_workspace


class FlippableSvm:
    """The machine of a scene, ready to be solved under any flips."""

    def __init__(self, scene: Scene) -> None:
        X, y, machine = scene.train.X, scene.train.y, scene.machine
        self.rows = len(y)
        self.problem = SvmProblem(
            np.vstack([X, X]), np.concatenate([y, -y]), machine.cost, kernel=kernel_for(machine, X)
        )
        self._workspace = open_workspace(machine.solver, self.problem)

    def solve(self, flipped: BoolArray) -> Solution:
        """Train with some labels flipped."""
        return self._workspace.solve(self.problem.upper * np.concatenate([~flipped, flipped]))

    def flip(self, solution: Solution, row: int) -> Solution:
        """Train with one more label flipped, from a solution that `solve` gave.

        The objective, the plane and the biases are those of `solve`; among tied weights there may be others.
        """
        try:
            return self._walked(solution, row)
        except (PathStuck, AnswerRefused):
            upper = solution.upper.copy()
            upper[[row, row + self.rows]] = 0.0, self.problem.upper[row]
            return self._workspace.solve(upper)

    def _walked(self, solution: Solution, row: int) -> Solution:
        state = solution.handle
        if not isinstance(state, ActiveSet):  # a solver without paths
            raise PathStuck
        twin = row + self.rows
        objective = self.problem.objective(solution.alpha)
        path = RemovalPath(admitted(state, twin, float(self.problem.upper[twin])), objective, row, 0.0)
        if not path.advance(-np.inf) or path.state is None:
            raise PathStuck
        answer = Solution(read_only(path.state.answer()), read_only(path.state.upper), path.state)
        return self._workspace.certified(answer)

    def decide(self, solution: Solution, X: FloatArray) -> FloatArray:
        """Return the decision value of each row of a table."""
        if solution.certificate is None:
            raise TypeError("only certified solutions decide")
        return Model(self.problem, 1, solution.alpha, solution.certificate, {}, True, 0.0).decision_function(X)
