"""What compiled loops read of Q besides plain arrays: rows without their zeros, and a sum of rows that is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairenum.problem import FloatArray, IntArray

Places = npt.NDArray[np.int32 | np.uint32]  # unsigned ones need no question whether they count from the end


class Nonzeros(NamedTuple):
    """The numbers of a table that are not 0, row by row (CSR); all three empty for a table that is not sparse."""

    values: FloatArray
    columns: Places
    starts: Places


class Anchor(NamedTuple):
    """An answer whose ``Q alpha`` is known, with the digits that a double cannot hold; all empty for ``alpha = 0``.

    What another answer reaches follows from the rows of those examples in which the two differ.
    """

    alpha: FloatArray
    high: FloatArray
    low: FloatArray


DENSE = Nonzeros(np.empty(0), np.empty(0, np.int32), np.empty(0, np.int32))
NOTHING = Anchor(np.empty(0), np.empty(0), np.empty(0))
IN_ORDER: IntArray = np.empty(0, np.intp)  # the places of rows, each at its own
