"""Walks: paths on which an added row gains weight until the model puts it on the other side of the threshold.

The row enters as an example with the label of that other side and weight (alpha) 0, with which the solution is still
optimal. The weight then rises until the row reaches its margin, and all other optimality conditions are kept
(`fairenum.svm.path`). `FastWalk` is for linear kernels, `ExactWalk` for all.
"""

from __future__ import annotations

import numpy as np

from fairenum.svm import fast_walk_loop, path_loop
from fairenum.svm.gram import LinearGram
from fairenum.svm.loop_rows import Nonzeros
from fairenum.svm.path import ActiveSet, breakpoint_limit
from fairenum.svm.problem import FloatArray, SvmProblem, read_only

TIE_SHIFTS = (1e-9, 1e-8)  # of the mean linear term: the shift that breaks ties, and a second one to try
NEAR = 3.0  # times the root of the number of examples: how many count as near, to balance steps and full checks
NO_LIMIT = 2.0  # times the total box of all examples
TIE_WEIGHT = 1.5  # of the row, like those of examples


class FastWalk:
    """Approximate walks from one optimal linear model, each across one added row; `tie_shift` breaks ties."""

    def __init__(
        self, problem: SvmProblem, gram: LinearGram, state: ActiveSet, value: float, tie_shift: float = TIE_SHIFTS[0]
    ) -> None:
        linear, shifted = problem.linear, problem.linear - tie_shift * problem.unit * problem.tie_weights()
        scale = np.sqrt(gram.diagonal + max(float(gram.diagonal.mean()), 1e-300))
        vectors = (np.array(vector) for vector in (problem.y, problem.upper, linear, shifted, gram.diagonal, scale))
        values, *places = gram.nonzeros
        nonzeros = Nonzeros(values, *(np.asarray(one).view(np.uint32) for one in places))
        self._rows = fast_walk_loop.Rows(gram.table, nonzeros, *vectors)
        distance = np.abs(state.gradient) / scale
        # those on the margin are near by definition: on wide tables they alone are more than the root
        near = max(int(NEAR * np.sqrt(len(distance))), 2 * len(state.margin))
        place = min(len(distance) - 1, near)
        self._near, self._limit = float(np.partition(distance, place)[place]), breakpoint_limit(state)
        self._start, self._state, self._checked = (_opened(state, gram, value) for _ in range(3))
        indices, numbers = np.tile(np.arange(problem.size), (3, 1)), np.empty((5, problem.size))
        self._nearby = fast_walk_loop.NearExamples(*indices, *numbers)
        columns, border = np.empty((2, len(self._state.plane))), np.empty((3, len(self._state.row_border)))
        self._scratch = fast_walk_loop.Scratch(*columns, *border)

    def across(self, row: FloatArray, side: float, missing: float, enough: float) -> tuple[int, FloatArray, float]:
        """Raise a row's weight until the row is on its margin or the objective exceeds `enough`, as in `ExactWalk`."""
        state = self._state
        for target, source in zip(state, self._start, strict=True):
            target[...] = source
        state.numbers[fast_walk_loop.MISSING] = missing
        task = fast_walk_loop.Task(side * row, side, enough, self._near)
        status = fast_walk_loop.walk(self._rows, state, self._checked, task, self._nearby, self._scratch, self._limit)
        return status, state.alpha, float(state.numbers[fast_walk_loop.BIAS])


def _opened(state: ActiveSet, gram: LinearGram, value: float) -> fast_walk_loop.State:
    """Return a copy of an active set in the form that the compiled fast walk changes in place."""
    size, plane = len(state.margin), gram.planes(state.alpha[None])[0]
    room = max(size, len(plane) + 2) + 2
    examples, inverse = np.zeros(room, np.int64), np.zeros((room, room))
    examples[:size], inverse[: size + 1, : size + 1] = state.margin, state.inverse[: size + 1, : size + 1]
    numbers, border, rates = np.array([state.bias, 0.0, value, 0.0]), np.zeros(room), np.zeros(room)
    vectors = (state.alpha.copy(), state.gradient.copy(), state.side.copy(), plane.copy())
    return fast_walk_loop.State(*vectors, numbers, np.array([size]), examples, inverse, border, rates)


class ExactWalk:
    """Exact walks from one optimal active set, each across one added row."""

    def __init__(self, state: ActiveSet, value: float) -> None:
        self._value, self._count = value, len(state.alpha)
        data = _grown(state.data)
        labels = {side: read_only(np.append(data.y, side)) for side in (-1.0, 1.0)}
        self._data = {side: data._replace(y=y) for side, y in labels.items()}
        self._vectors = path_loop.Vectors(
            np.append(state.upper, NO_LIMIT * float(state.upper.sum())),
            np.append(state.linear, 0.0),
            np.append(state.alpha, 0.0),
            np.append(state.gradient, 0.0),
            np.append(state.side, 0.0),
            state.gradient_tolerance,
            state.alpha_tolerance,
        )
        self._margin, self._bias, self._limit = state.margin_set(), state.bias, breakpoint_limit(state)

    def across(self, row: FloatArray, side: float, missing: float, enough: float) -> tuple[int, FloatArray, float]:
        """Raise a row's weight until the row is on its margin or the objective exceeds `enough`.

        The objective is a lower bound on the loss of every model with the row on its margin. `row` holds features or,
        for a kernel matrix, the inner products with all examples (times their labels) and with itself; `side` is the
        row's label, `missing` how far the row falls short of its margin at first. Returns the status, alpha and bias.
        """
        data = self._data[side]
        _put(data, side * row, self._count)
        self._vectors.gradient[-1] = -missing
        goal = path_loop.Goal(self._count, np.inf, path_loop.NOWHERE.shift)
        done = path_loop.perform(
            path_loop.RAISE, data, self._vectors, self._margin, self._bias, self._value, goal, enough, self._limit
        )
        return done.status, done.alpha[:-1], done.bias


def _grown(data: path_loop.Data) -> path_loop.Data:
    """Return a copy of the data with room for one more row in the table and, if the table is Q, one more column."""
    n, d = len(data.y), data.table.shape[1]
    weights = np.append(data.weights, TIE_WEIGHT)
    if data.is_matrix:
        table = np.zeros((n + 1, n + 1))
        table[:n, :n] = data.table
        return data._replace(table=table, weights=weights)
    if len(data.nonzeros.starts) == 0:
        return data._replace(table=np.vstack([data.table, np.zeros(d)]), weights=weights)
    values, columns, starts = data.nonzeros
    room = Nonzeros(
        np.append(values, np.zeros(d)),
        np.append(columns, np.zeros(d, columns.dtype)),
        np.append(starts, starts[-1]),
    )
    return data._replace(nonzeros=room, weights=weights)


def _put(data: path_loop.Data, row: FloatArray, place: int) -> None:
    """Write a row into the table at index `place`, the last one; if the table is Q, also into its last column."""
    if data.is_matrix:
        data.table[place] = row
        data.table[:, place] = row
        data.table[place, place] = abs(row[place])
    elif len(data.nonzeros.starts) == 0:
        data.table[place] = row
    else:
        values, columns, starts = data.nonzeros
        (filled,) = row.nonzero()
        first, last = starts[place], starts[place] + len(filled)
        values[first:last], columns[first:last], starts[place + 1] = row[filled], filled, last
