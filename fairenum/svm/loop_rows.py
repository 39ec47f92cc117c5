"""Types that compiled loops share: sparse rows of a table, and an alpha whose product with the matrix Q is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairenum.svm.problem import FloatArray, IntArray

Places = npt.NDArray[np.int32 | np.uint32]  # unsigned ones need no question whether they count from the end


class Nonzeros(NamedTuple):
    """The nonzero numbers of a table, row by row (CSR); all three arrays are empty for a dense table."""

    values: FloatArray
    columns: Places
    starts: Places


class Anchor(NamedTuple):
    """An alpha whose ``Q alpha`` is known in doubled precision, as ``high + low``; empty arrays mean ``alpha = 0``.

    From this known product, that of a similar alpha is computed.
    """

    alpha: FloatArray
    high: FloatArray
    low: FloatArray


DENSE = Nonzeros(np.empty(0), np.empty(0, np.int32), np.empty(0, np.int32))
NOTHING = Anchor(np.empty(0), np.empty(0), np.empty(0))
IN_ORDER: IntArray = np.empty(0, np.intp)  # the places of rows, each at its own
