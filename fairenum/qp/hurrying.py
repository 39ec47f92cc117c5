"""One optimal state of a linear machine, from which planes are pulled across many rows in a hurry."""

from __future__ import annotations

import numpy as np

from fairenum.problem import FloatArray, SvmProblem
from fairenum.qp import hurry
from fairenum.qp.activeset import ActiveSet
from fairenum.qp.gram import LinearGram
from fairenum.qp.path import breakpoint_limit
from fairenum.qp.tables import Nonzeros

APART = (1e-9, 1e-8)  # of the mean linear term: the trifle that sets ties apart, and one that does if it does not
NEAR = 3.0  # times the root of the number of examples: how many are near the margin, which balances two kinds of work


class Hurry:
    """The state, and room for one that is moved; ties are set apart by a share of the mean linear term."""

    def __init__(
        self, problem: SvmProblem, gram: LinearGram, state: ActiveSet, value: float, trifle: float = APART[0]
    ) -> None:
        linear, apart = problem.linear, problem.linear - trifle * problem.unit * problem.tie_weights()
        pace = np.sqrt(gram.diagonal + max(float(gram.diagonal.mean()), 1e-300))
        vectors = (np.array(vector) for vector in (problem.y, problem.upper, linear, apart, gram.diagonal, pace))
        values, *places = gram.nonzeros
        nonzeros = Nonzeros(values, *(np.asarray(one).view(np.uint32) for one in places))
        self._rows = hurry.Rows(gram.table, nonzeros, *vectors)
        distance = np.abs(state.gradient) / pace
        place = min(len(distance) - 1, int(NEAR * np.sqrt(len(distance))))
        self._near, self._limit = float(np.partition(distance, place)[place]), breakpoint_limit(state)
        self._start, self._state, self._spare = (_opened(state, gram, value) for _ in range(3))
        self._close = hurry.Close(*np.tile(np.arange(problem.size), (3, 1)), *np.empty((5, problem.size)))
        columns, border = np.empty((2, len(self._state.plane))), np.empty((3, len(self._state.edge)))
        self._room = hurry.Room(*columns, *border)

    def pulled(self, row: FloatArray, side: float, missing: float, above: float) -> tuple[int, FloatArray, float, int]:
        """Walk until the row is content, or the value is over `above`: as `Ascent.pulled` does."""
        state = self._state
        for target, source in zip(state, self._start, strict=True):
            target[...] = source
        state.numbers[hurry.MISSING] = missing
        pulled = hurry.Pulled(side * row, side, above, self._near)
        status, left = hurry.walk(self._rows, state, self._spare, pulled, self._close, self._room, self._limit)
        return status, state.alpha, float(state.numbers[hurry.BIAS]), self._limit - left


def _opened(state: ActiveSet, gram: LinearGram, value: float) -> hurry.State:
    """Return a state that compiled walks can move."""
    size, plane = len(state.margin), gram.planes(state.alpha[None])[0]
    room = max(size, len(plane) + 2) + 2
    examples, inverse = np.zeros(room, np.int64), np.zeros((room, room))
    examples[:size], inverse[: size + 1, : size + 1] = state.margin, state.inverse[: size + 1, : size + 1]
    numbers, edge, rates = np.array([state.bias, 0.0, value, 0.0]), np.zeros(room), np.zeros(room)
    vectors = (state.alpha.copy(), state.gradient.copy(), state.side.copy(), plane.copy())
    return hurry.State(*vectors, numbers, np.array([size]), examples, inverse, edge, rates)
