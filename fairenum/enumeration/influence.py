"""Influence of training examples: first-order effects of leaving them out, and the fewest that explain a model's gain.

`Influence` estimates effects on the decision values of given rows, the watched rows; `smallest_core` puts left-out
examples back as long as most of a model's gain in fairness remains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from fairenum.enumeration.model import Model, model_of
from fairenum.errors import SolverError
from fairenum.metrics.pareto import NOISE
from fairenum.runtime.budget import OutOfTime
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.svm.problem import FloatArray, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, beside, scaled_square, stacked, sums, times, turned

LANDMARKS = 256  # rows of the Nystroem approximation of a kernel that is not linear
WINDOW = 1.0  # around the margin: a narrow one gives the effect of a small change, a wide one that of a large one
STIFFNESS = 1e-6  # of the mean curvature, so that the system has a solution even without examples in the window
SOFTENING = 0.1  # of limits, in units of how far the aim moves itself
HIGHEST_PRICE = 10.0
TINY = 1e-300


class GuardSlopes(NamedTuple):
    """Derivatives of quantities under guardrails by the decision values of rows, and distances to the guardrails.

    ``slopes`` has shape (limits, rows), ``rooms`` has shape (limits,) and is negative beyond a limit.
    """

    slopes: FloatArray
    rooms: FloatArray


class Influence:
    """Estimates, to first order, what leaving out training examples changes in the decision values of given rows."""

    def __init__(self, problem: SvmProblem, rows: Matrix) -> None:
        self._problem = problem
        maps = _feature_maps(problem, rows)
        self._columns = maps[0].shape[1]
        self._train, self._watched = (beside(table, np.ones(table.shape[0])) for table in _narrowed(*maps))

    def of_leaving_out(self, upper: FloatArray, values: FloatArray, slope: FloatArray) -> FloatArray:
        """Return for each example the first-order effect on a quantity if one of its training rows is left out.

        `slope` is the derivative of the quantity by the decision value of each row given to the constructor. `upper`
        are the upper bounds of alpha, and `values` the decision values of the training examples under the optimum
        within these bounds. Where the effect is negative, leaving the row out reduces the quantity, and putting it back
        raises it.
        """
        problem = self._problem
        direction = np.asarray(np.linalg.solve(self._curvature(upper, values), sums(slope, self._watched)), np.float64)
        return np.asarray(-problem.cost * problem.y * times(self._train, direction))

    def prices(
        self, upper: FloatArray, values: FloatArray, aim: FloatArray, distance: float, limits: GuardSlopes
    ) -> FloatArray:
        """Return a price for each guardrail limit: the weight of its gradient beside that of the quantity to reduce.

        Let a be the gradient of the quantity to reduce (`aim`), g_k that of the quantity under limit k, both with
        respect to the weights of the plane, and H the curvature of the training loss. To first order, the smallest move
        of the plane that reduces the quantity by `distance` within all limits is ``-H^-1 (m_0 a + sum_k m_k g_k)``,
        with multipliers m >= 0 that solve a small quadratic programme (by non-negative least squares). The price of
        limit k is ``m_k / m_0``; it is 0 if the limit is not in the way. Limits that contradict the aim are softened,
        so their prices stay finite. `aim` is given as derivatives by decision values, like `slope` in `of_leaving_out`;
        `upper` and `values` are as there.
        """
        slopes = sums(np.vstack([aim, limits.slopes]), self._watched)
        rooms = np.concatenate([[distance], -limits.rooms])
        moves = slopes @ np.linalg.solve(self._curvature(upper, values), slopes.T)
        moves[np.diag_indices_from(moves)] += SOFTENING * moves[0, 0] + TINY
        try:
            root = np.linalg.cholesky(moves)
        except np.linalg.LinAlgError:  # compared with a limit, the aim moves by less than rounding
            return np.zeros(len(limits.rooms))
        multipliers, _ = nnls(root.T, solve_triangular(root, rooms, lower=True))
        first = max(float(multipliers[0]), TINY)
        return np.asarray(np.minimum(multipliers[1:], HIGHEST_PRICE * first) / first)

    def _curvature(self, upper: FloatArray, values: FloatArray) -> FloatArray:
        problem = self._problem
        in_window = np.abs(problem.linear - problem.y * values) < 0.5 * WINDOW - NOISE
        curvature = scaled_square(self._train, upper * in_window / WINDOW)
        curvature[np.diag_indices(len(curvature) - 1)] += 1.0
        unseen = self._columns + 1 - len(curvature)  # directions of curvature 1 in which no row differs from another
        curvature[np.diag_indices_from(curvature)] += STIFFNESS * (curvature.trace() + unseen) / (self._columns + 1)
        return curvature


def _narrowed(train: Matrix, watched: Matrix) -> tuple[Matrix, Matrix]:
    """Return two tables with the same inner products between rows, in no more columns than both have rows together."""
    rows = train.shape[0]
    if train.shape[1] <= rows + watched.shape[0]:
        return train, watched
    both = turned(stacked([train, watched]))
    return both[:rows], both[rows:]


def _feature_maps(problem: SvmProblem, rows: Matrix) -> tuple[Matrix, Matrix]:
    """Return features of the examples and of other rows, whose inner products are kernel values, exactly or nearly."""
    kernel = problem.kernel
    if kernel.name == "linear":
        return problem.X, rows
    from sklearn.kernel_approximation import Nystroem

    own = {"rbf": {}, "poly": {"degree": kernel.degree, "coef0": kernel.coef0}}[kernel.name]
    landmarks = Nystroem(
        kernel=kernel.name, gamma=kernel.gamma, **own, n_components=min(LANDMARKS, problem.size), random_state=0
    )
    return landmarks.fit_transform(problem.X), landmarks.transform(rows)


Gain = Callable[[Model], float]


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutCore:
    """A model that leaves out part of another model's left-out examples; ``share`` is the part of the gain it keeps."""

    model: Model
    share: float
    solves: int


class _PartSolver:
    """Solves SVMs that leave out part of the left-out examples of the model `whole`; limited to `most` solves."""

    def __init__(
        self, workspace: CertifiedWorkspace, whole: Model, gain: Gain, most: int, root: Solution | None
    ) -> None:
        self._workspace, self._whole, self._gain, self._left = workspace, whole, gain, most
        self._start = root or workspace.solve()
        self._best = self._start.certificate.objective
        self.solves = 1

    @property
    def is_spent(self) -> bool:
        return self.solves >= self._left

    def tried(self, examples: Sequence[int]) -> tuple[Model, float]:
        """Return the model that leaves out the given examples only, as many rows of each as `whole`, and its gain."""
        problem: SvmProblem = self._workspace.problem
        counts = problem.copies.astype(np.float64)
        for example in examples:
            counts[example] -= self._whole.left_out[example]
        self._start = self._workspace.solve(counts * problem.cost, self._start)
        self.solves += 1
        model = model_of(problem, self._start, self.solves, self._best)
        return model, self._gain(model)


def smallest_core(
    workspace: CertifiedWorkspace,
    model: Model,
    gain: Gain,
    effects: FloatArray,
    share: float = 0.8,
    most_solves: int = 60,
    root: Solution | None = None,
) -> LeftOutCore:
    """Return a model that keeps a `share` of the gain of `model`, with as few of its left-out examples as possible.

    Its left-out examples are minimal by inclusion: no example can be put back without losing too much, unless
    `most_solves` or the time ran out. `gain` is positive for `model`, and more is better. `effects` estimates each
    example's contribution to the gain: the example of least contribution is put back first. `root` is the workspace's
    solution with all examples, if known.
    """
    parts, whole = _PartSolver(workspace, model, gain, most_solves, root), gain(model)
    kept = sorted(model.left_out, key=lambda example: (-effects[example], example))
    found, gained, run = model, whole, len(kept)
    with suppress(OutOfTime):  # the core found so far is valid
        while run and not parts.is_spent:
            run = max(run // 2, 1)
            shrunk = False
            for end in range(len(kept), 0, -run):  # the least important stand last, and are put back first
                trial = kept[: max(end - run, 0)] + kept[end:]
                if not trial or parts.is_spent:
                    continue
                try:
                    candidate, value = parts.tried(trial)
                except SolverError:  # one box of many: an answer that cannot be proven is no core
                    continue
                if value >= share * whole:
                    kept, found, gained, shrunk = trial, candidate, value, True
            if run == 1 and not shrunk:
                break
    return LeftOutCore(found, gained / whole if whole else 1.0, parts.solves)
