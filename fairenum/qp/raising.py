"""Planes pulled across a row, each by a walk from one state: the row enters as an example, and its weight rises.

The row has the label of the side that it is to be on and no weight at first; the state is optimal with it. Its weight
rises until the row is content, all other optimality conditions being kept (`fairenum.qp.path`).
"""

from __future__ import annotations

import numpy as np

from fairenum.problem import FloatArray, read_only
from fairenum.qp import kernel
from fairenum.qp.activeset import ActiveSet
from fairenum.qp.path import breakpoint_limit
from fairenum.qp.tables import Nonzeros

TOP = 2.0  # times what all others can weigh: no limit
TIE_WEIGHT = 1.5  # as those of examples


class Ascent:
    """One optimal state with room for one more example, which is another row at every walk."""

    def __init__(self, state: ActiveSet, value: float) -> None:
        self._value, self._count = value, len(state.alpha)
        data = _grown(state.data)
        labels = {side: read_only(np.append(data.y, side)) for side in (-1.0, 1.0)}
        self._data = {side: data._replace(y=y) for side, y in labels.items()}
        self._vectors = kernel.Vectors(
            np.append(state.upper, TOP * float(state.upper.sum())),
            np.append(state.linear, 0.0),
            np.append(state.alpha, 0.0),
            np.append(state.gradient, 0.0),
            np.append(state.side, 0.0),
            state.gradient_tolerance,
            state.alpha_tolerance,
        )
        self._margin, self._bias, self._limit = state.margin_set(), state.bias, breakpoint_limit(state)

    def pulled(self, row: FloatArray, side: float, missing: float, above: float) -> tuple[int, FloatArray, float, int]:
        """Walk until the row is content, or the value is over `above`.

        Parameters
        ----------
        row
            Its features, or its inner products with all examples and itself.
        side
            Its label.
        missing
            What it misses of its margin at the start.
        above
            The value that is high enough.

        Returns
        -------
        status, alpha, bias, breakpoints
        """
        data = self._data[side]
        _put(data, side * row, self._count)
        self._vectors.gradient[-1] = -missing
        status, alpha, bias, _, left = kernel.rise(
            data, self._vectors, self._margin, self._bias, self._value, self._count, above, self._limit
        )
        return status, alpha[:-1], bias, self._limit - left


def _grown(data: kernel.Data) -> kernel.Data:
    """Return the data with room for one more row of the table."""
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


def _put(data: kernel.Data, row: FloatArray, place: int) -> None:
    """Write the last row of the table, and the last column of a matrix."""
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
