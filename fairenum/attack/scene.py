"""A draw before an attack, and an SVM of its training rows that can be solved under any label flips.

Every row is in the problem twice, once with each label, and one of the two is left out. A flip swaps them: along two
exact paths from the optimum before where the solver has them, or by a solution from scratch.
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
    """A draw as an attacker finds it. A strategy turns a scene and a budget into the rows to flip.

    Attributes
    ----------
    train
        The training rows, whose labels may be flipped.
    watched
        The rows on which the attacker measures the gap: the training rows, or those of the audit if they are seen.
    target
        Code of the group that the attack is aimed at.
    direction
        The label that flips lead to, +1 or -1; 0 for either.
    metric
        The gap to raise.
    svm
        The SVM that will be trained on the rows.
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
        """Mark the training rows of the target group."""
        return np.asarray(self.train.groups.codes == self.target)

    def flippable(self, direction: int = 0) -> BoolArray:
        """Mark the training rows whose flip leads in the scene's direction or, if it has none, in the one given."""
        wanted = self.direction or direction
        return np.ones(len(self.train), dtype=np.bool_) if wanted == 0 else self.train.y == -wanted

    def candidates(self, allowed: BoolArray, budget: int, what: str) -> IntArray:
        """Return the rows that may be flipped, in random order; refuse a budget that is larger than their number."""
        rows = np.flatnonzero(allowed)
        if len(rows) < budget:
            raise BudgetExceeded(
                f"{budget} flips were asked for, but this draw has {len(rows)} {what} among its "
                f"{len(allowed)} training rows; ask for at most {len(rows)}"
            )
        return np.random.default_rng([self.seed, 1]).permutation(rows)

    def fit(self, y: FloatArray | None = None) -> Model:
        """Train the best model, on the given labels if there are any."""
        labels = self.train.y if y is None else y
        return EnumSVC.of(self.svm).fit(self.train.X, labels).models_[0]


class FlippableSvm:
    """The SVM of a scene, ready to be solved under any flips.

    A flipped row costs what its new label costs; balanced weights are those of the labels before any flip.

    Attributes
    ----------
    weights
        The weight of each example's label, as a multiple of C: of all rows as they are, then of all rows flipped.
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
        """Train with the marked labels flipped."""
        return self._workspace.solve(self.problem.upper * np.concatenate([~flipped, flipped]))

    def flip(self, solution: Solution, row: int) -> Solution:
        """Train with one more label flipped, starting from a solution of `solve`.

        The objective, the weight vector and the biases are those of `solve`; dual weights may differ where they are
        tied.
        """
        return self._walked(solution, row) or self._solved_anew(solution, row)

    def _walked(self, solution: Solution, row: int) -> Solution | None:
        """Swap the two copies of a row along exact paths; None if the solver has none, or rounding spoils them."""
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
