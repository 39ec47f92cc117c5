"""The data of an attacker, and an SVM of the training rows that can be solved with any of their labels flipped.

The SVM problem holds every row twice, once with each label, and one of the two is left out. A flip exchanges the two:
along two exact solution paths from the previous optimum if the solver supports it, or else by solving from scratch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairenum.document.terms import Gap
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import EncodedRows, class_weights, kernel_for
from fairenum.enumeration.model import Model
from fairenum.errors import BudgetExceeded, SolverError
from fairenum.estimator import EnumSVC
from fairenum.metrics.counts import BoolArray
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, stacked


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """The data of an attacker, from which an attack strategy chooses the rows to flip.

    Attributes
    ----------
    train
        The training rows, whose labels may be flipped.
    watched
        The rows on which the attacker measures the gap: the training rows, or the holdout if the attacker knows it.
    target
        Code of the group that the attack is to harm.
    direction
        The label after a flip, +1 or -1; 0 if both are allowed.
    metric
        The gap between groups that the attack is to enlarge.
    svm
        The settings of the SVM that will be trained on the rows.
    """

    train: EncodedRows
    watched: EncodedRows
    target: int
    direction: int
    metric: Gap
    svm: SvmSettings
    seed: int

    @property
    def in_target(self) -> BoolArray:
        """A boolean for each training row: True if it is in the target group."""
        return np.asarray(self.train.groups.codes == self.target)

    def flippable(self, direction: int = 0) -> BoolArray:
        """Return a boolean for each training row: True if its label may be flipped.

        The label after the flip must be the scene's `direction`. If the scene allows both labels (0), it must be the
        argument `direction`; if the argument is 0, too, every row may be flipped.
        """
        wanted = self.direction or direction
        return np.ones(len(self.train), dtype=np.bool_) if wanted == 0 else self.train.y == -wanted

    def candidates(self, allowed: BoolArray, budget: int, what: str) -> IntArray:
        """Return the numbers of the allowed rows, in random order; refuse a budget that is larger than their number.

        `what` describes the allowed rows in the message of the refusal.
        """
        rows = np.flatnonzero(allowed)
        if len(rows) < budget:
            raise BudgetExceeded(
                f"{budget} flips were asked for, but this draw has {len(rows)} {what} among its "
                f"{len(allowed)} training rows; ask for at most {len(rows)}"
            )
        return np.random.default_rng([self.seed, 1]).permutation(rows)

    def fit(self, y: FloatArray | None = None) -> Model:
        """Return the best model of the training rows; `y`, if given, replaces their labels."""
        labels = self.train.y if y is None else y
        return EnumSVC.of(self.svm).fit(self.train.X, labels).models_[0]


class FlippableSvm:
    """The SVM of a scene's training rows, which can be solved with any of their labels flipped.

    A flipped row has the class weight of its new label; balanced class weights are those of the labels before any flip.

    Attributes
    ----------
    weights
        Class weights, as multiples of C: of each row with its own label, then of each row with its label flipped.
    """

    def __init__(self, scene: Scene) -> None:
        X, y, svm = scene.train.X, scene.train.y, scene.svm
        self.rows = len(y)
        favourable, unfavourable = class_weights(svm, y)
        labels = np.concatenate([y, -y])
        self.weights = np.where(labels > 0.0, favourable, unfavourable)
        self.problem = SvmProblem(stacked([X, X]), labels, svm.cost * self.weights, kernel=kernel_for(svm, X))
        self._workspace = open_workspace(svm.solver, self.problem)

    def solve(self, flipped: BoolArray) -> Solution:
        """Return the solution with the labels of the marked rows flipped."""
        return self._workspace.solve(self.problem.upper * np.concatenate([~flipped, flipped]))

    def flip(self, solution: Solution, row: int) -> Solution:
        """Return the solution with the label of `row` flipped, in addition to the flips in a given solution.

        Objective, weight vector and interval of biases are as from `solve`; dual variables may differ if not unique.
        """
        return self._walked(solution, row) or self._solved_anew(solution, row)

    def _walked(self, solution: Solution, row: int) -> Solution | None:
        """Return the solution with the label of `row` flipped, too, along exact paths; None if the solver cannot."""
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
        """Return the decision values of a solution for the rows of a matrix."""
        return Model(self.problem, 1, solution.alpha, solution.certificate, {}, True, 0.0).decision_function(X)
