"""What leaving an example out would change, to first order: a ranking, not an answer.

The hinge is smoothed over a window around the margin. Then the plane moves with its examples, also where the exact one
is pinned to a corner: leaving out one copy of example j moves it by ``cost_j H^-1 y_j x_j`` (backwards), with the
curvature ``H = I + sum of upper_i x_i x_i' / window`` over the examples in the window. One solve serves all examples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from fairenum.matrices import Matrix, beside, scaled_square, stacked, sums, times, turned
from fairenum.problem import FloatArray, SvmProblem
from fairenum.scoring.ties import NOISE

LANDMARKS = 256  # rows that stand for a kernel without a short feature map
WINDOW = 1.0  # a narrow one sees what a small change does, a wide one where a large one leads
STIFFNESS = 1e-6  # of the mean curvature, so that a window without examples leaves nothing undetermined
SOFTENING = 0.1  # of limits, in units of how far the aim moves itself
HIGHEST_PRICE = 10.0
TINY = 1e-300


class Limits(NamedTuple):
    """How what is limited changes with each watched row, shape (limits, rows), and how far each limit is."""

    slopes: FloatArray
    rooms: FloatArray


class Influence:
    """First-order effects of leaving out training examples on what is decided about watched rows."""

    def __init__(self, problem: SvmProblem, rows: Matrix) -> None:
        self._problem = problem
        maps = _feature_maps(problem, rows)
        self._columns = maps[0].shape[1]
        self._train, self._watched = (beside(table, np.ones(table.shape[0])) for table in _narrowed(*maps))

    def of_leaving_out(self, upper: FloatArray, values: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the effect of one copy of each example.

        Parameters
        ----------
        upper
            The box that examples would be taken from.
        values
            The decision values of its answer on the training examples.
        slope
            How what is to be made small changes with the decision value of each watched row.

        Returns
        -------
        FloatArray
            Negative where leaving out helps, and where putting back harms.
        """
        problem = self._problem
        direction = np.asarray(np.linalg.solve(self._curvature(upper, values), sums(slope, self._watched)), np.float64)
        return np.asarray(-problem.cost * problem.y * times(self._train, direction))

    def prices(
        self, upper: FloatArray, values: FloatArray, aim: FloatArray, distance: float, limits: Limits
    ) -> FloatArray:
        """Price limits that stand in the way of an aim: by as much each one's slope is to be added to that of the aim.

        The smallest move of the plane that goes the distance along the aim and stays within all limits, to first
        order, is ``-H^-1 (slopes @ multipliers)``. The multipliers are those of a small quadratic programme, solved
        as least squares with none of them negative; a limit that is not in the way has 0. Limits that contradict the
        aim are softened: their prices end.

        Parameters
        ----------
        upper, values
            As in `of_leaving_out`.
        aim
            The slope of what is to be made small.
        distance
            By how much.
        limits
            Slopes of what is limited, and how far each limit is.

        Returns
        -------
        FloatArray
            One price for each limit.
        """
        slopes = sums(np.vstack([aim, limits.slopes]), self._watched)
        rooms = np.concatenate([[distance], -limits.rooms])
        moves = slopes @ np.linalg.solve(self._curvature(upper, values), slopes.T)
        moves[np.diag_indices_from(moves)] += SOFTENING * moves[0, 0] + TINY
        try:
            root = np.linalg.cholesky(moves)
        except np.linalg.LinAlgError:  # next to what a limit needs, the aim moves by less than rounding
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
    """Turn tables with more columns than rows into as many columns as rows: inner products are all that counts."""
    rows = train.shape[0]
    if train.shape[1] <= rows + watched.shape[0]:
        return train, watched
    both = turned(stacked([train, watched]))
    return both[:rows], both[rows:]


def _feature_maps(problem: SvmProblem, rows: Matrix) -> tuple[Matrix, Matrix]:
    """Return the features in which the kernel is an inner product, for the training examples and for other rows."""
    kernel = problem.kernel
    if kernel.name == "linear":
        return problem.X, rows
    from sklearn.kernel_approximation import Nystroem

    own = {"rbf": {}, "poly": {"degree": kernel.degree, "coef0": kernel.coef0}}[kernel.name]
    landmarks = Nystroem(
        kernel=kernel.name, gamma=kernel.gamma, **own, n_components=min(LANDMARKS, problem.size), random_state=0
    )
    return landmarks.fit_transform(problem.X), landmarks.transform(rows)
