"""How many records must be left out, whichever they are, before the plane of the best model moves at all: proven.

On discrete data more examples lie on the margin than determine it, and the plane is pinned: its loss rises to every
side, in each direction u by a slope ``P'(u) > 0``. Leaving out a record of example i that is not beyond its margin
takes at most ``cost_i * max(0, -y_i u'x_i)`` from it (x_i with a 1 for the bias). With ``rows_i = y_i x_i`` of the
examples M on the margin, the slope is at least t times that for every u exactly if::

    sum over M of a_j rows_j = sum over M of alpha_j rows_j + t rows_i   for some   0 <= a_j <= upper_j

which is a linear programme for the largest such t_i. Leaving out records of several examples then leaves the slope
positive to every side while ``sum of cost_i / t_i < 1``: the plane stays the only optimum, whatever the rows that it
decides. So at least ``min_i t_i / cost_i`` records must go before any decision changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog

from fairenum.enumeration.model import Model
from fairenum.matrices import beside, dense, turned
from fairenum.problem import BLOCK_ROWS, FloatArray, IntArray, SvmProblem

ON_MARGIN = 1e-9  # of the largest linear term
DEPENDENT = 1e-9  # of the length of all rows: directions in which the margin is shorter are not held
NO_DIRECTION = 1e-13  # of the largest eigenvalue: directions in which no row differs from another
CERTAIN = 1e-6  # by which a number of records is rounded against the claim
LEAST_ROOM = 1e-6  # of its box that every example on the margin must have, or the plane is at the end of its hold
PROGRAMMES = 40  # solved for the examples that might move the plane soonest, at most
MOST_ON_MARGIN, MOST_NUMBERS = 2000, 2e7  # examples, and numbers of all: more would take too long to be worth it


def records_to_move(model: Model) -> int:
    """Return how many training records must at least be left out to move the plane of the best model.

    It is 1 where nothing is proven: the plane is not pinned, the kernel is not linear, or one record may move it.
    """
    problem = model.problem
    if problem.kernel.name != "linear" or problem.ridge or model.left_out:
        return 1
    beyond = problem.y * model.decision_function(problem.X) - problem.linear
    close = ON_MARGIN * float(np.abs(problem.linear).max())
    margin, able = np.flatnonzero(np.abs(beyond) <= close), np.flatnonzero(beyond <= close)
    is_small = len(margin) <= MOST_ON_MARGIN and len(able) * problem.X.shape[1] <= MOST_NUMBERS
    if not len(margin) or not is_small:
        return 1
    hold = _Hold.of(problem, model.alpha, margin, able)
    return 1 if hold is None else max(1, math.ceil(hold.fewest() * (1.0 - CERTAIN) - CERTAIN))


class _Hold:
    """What holds a plane: the examples on the margin, and all that might move it if they were left out."""

    def __init__(self, margin: FloatArray, box: FloatArray, centre: FloatArray, able: FloatArray, cost: FloatArray):
        self._margin, self._box, self._centre, self._able, self._cost = margin, box, centre, able, cost

    @classmethod
    def of(cls, problem: SvmProblem, alpha: FloatArray, margin: IntArray, able: IntArray) -> _Hold | None:
        """Return the hold; None if the examples on the margin do not hold the plane to every side."""
        coordinates = _coordinates(problem, able)
        own = coordinates[np.searchsorted(able, margin)]
        if np.linalg.matrix_rank(own, tol=DEPENDENT * np.linalg.norm(coordinates)) < coordinates.shape[1]:
            return None
        box, sought = problem.upper[margin], alpha[margin] @ own
        centre = _roomiest(own, box, sought)
        return None if centre is None else cls(own, box, centre, coordinates, problem.cost[able])

    def fewest(self) -> float:
        """Return how many records must be left out at least, by the examples that might move the plane soonest."""
        if self._margin.shape[0] == self._margin.shape[1]:
            return float(self._exactly().min())
        needed = self._roughly()
        for _ in range(PROGRAMMES):
            first = int(needed.argmin())
            needed[first] = max(needed[first], self._farthest(self._able[first]) / self._cost[first])
            if int(needed.argmin()) == first:
                break  # all others need more, and of this one it is known
        return float(needed.min())

    def _exactly(self) -> FloatArray:
        """Return what each needs where the margin has one way only to make up for it: its rows are independent."""
        inverse = np.linalg.inv(self._margin)
        above, below = self._box - self._centre, self._centre
        farthest = [
            (np.where(moves > 0.0, above, below) / np.maximum(np.abs(moves), 1e-300)).min(axis=1)
            for moves in (rows @ inverse for rows in self._blocks())
        ]
        return np.asarray(np.concatenate(farthest) / self._cost)

    def _roughly(self) -> FloatArray:
        """Return a lower bound for each: all of the margin gives way, in proportion to its room."""
        room = np.minimum(self._centre, self._box - self._centre)
        weighted = self._margin * room[:, None]
        inverse = np.linalg.pinv(weighted, rcond=max(weighted.shape) * np.finfo(float).eps)
        moves = np.concatenate([np.abs(rows @ inverse).max(axis=1) for rows in self._blocks()])
        return np.asarray(1.0 / np.maximum(moves, 1e-300) / self._cost)

    def _blocks(self) -> Iterator[FloatArray]:
        """Return the examples that might move the plane, some at a time: bounds memory."""
        return (self._able[start : start + BLOCK_ROWS] for start in range(0, len(self._able), BLOCK_ROWS))

    def _farthest(self, row: FloatArray) -> float:
        """Return how far the margin can make up for one example."""
        size = len(self._box)
        aim = np.append(np.zeros(size), -1.0)
        equations = np.column_stack([self._margin.T, -row])
        bounds = [(0.0, one) for one in (*self._box.tolist(), math.inf)]
        found = linprog(aim, A_eq=equations, b_eq=self._margin.T @ self._centre, bounds=bounds)
        return 0.0 if found.status or found.x is None else float(found.x[-1])  # without an answer nothing is known


def _coordinates(problem: SvmProblem, able: IntArray) -> FloatArray:
    """Return signed rows with a 1 for the bias, in as many dimensions as they have."""
    rows = dense(beside(problem.X[able], np.ones(len(able)))) * problem.y[able, None]
    if len(rows) < rows.shape[1]:
        rows = turned(rows)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    return np.asarray(rows @ vectors[:, values > NO_DIRECTION * values[-1]])


def _roomiest(margin: FloatArray, box: FloatArray, sought: FloatArray) -> FloatArray | None:
    """Return values of the margin that give the same plane, as far from their bounds as they can all be."""
    size = len(box)
    aim, equations = np.append(np.zeros(size), -1.0), np.column_stack([margin.T, np.zeros(len(sought))])
    limits = np.vstack([np.column_stack([-np.eye(size), box]), np.column_stack([np.eye(size), box])])
    found = linprog(aim, limits, np.append(np.zeros(size), box), equations, sought, bounds=(None, None))
    if found.status or found.x is None or found.x[-1] <= LEAST_ROOM:
        return None
    return np.asarray(found.x[:-1])
