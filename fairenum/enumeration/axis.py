"""Between whom planes are tilted: the two groups that lie farthest apart for model 1."""

from __future__ import annotations

import numpy as np

from fairenum.document.terms import TiltRate
from fairenum.enumeration.model import Axis
from fairenum.enumeration.pricing import between_means
from fairenum.enumeration.unfairness import Watched
from fairenum.experiment import EncodedRows
from fairenum.problem import FloatArray, Kernel
from fairenum.scoring import score
from fairenum.scoring.rates import GAP_RATES

# The labels of the rows that a rate is about. Precision is about those that a model selects: each has others.
LABELS: dict[TiltRate, tuple[int, ...]] = {
    "selection_rate": (0, 1),
    "true_positive_rate": (1,),
    "false_positive_rate": (0,),
}


def widest_axis(watched: Watched, values: FloatArray, kernel: Kernel) -> Axis | None:
    """Return the axis between the compared groups that lie farthest apart in a rate of the gap; None if there is none.

    Parameters
    ----------
    watched
        The rows, and the gap that is watched there.
    values
        Decision values of model 1 on them, minus its cut.
    kernel
        What makes features of rows.
    """
    rows = watched.rows
    by_group = score(rows.decisions(values[None])).by_group
    widest, found = 0.0, None
    for rate in (rate for rate in LABELS if rate in GAP_RATES[watched.metric]):
        shares = np.where(rows.groups.compared, getattr(by_group, rate)[0], np.nan)
        if np.isnan(shares).all():
            continue
        high, low = int(np.nanargmax(shares)), int(np.nanargmin(shares))
        if shares[high] - shares[low] > widest:
            widest, found = float(shares[high] - shares[low]), (rate, high, low)
    return None if found is None else _axis(rows, kernel, *found)


def _axis(rows: EncodedRows, kernel: Kernel, rate: TiltRate, high: int, low: int) -> Axis:
    concerned = np.isin(rows.labels, LABELS[rate])
    first, second = (rows.take(np.flatnonzero(concerned & (rows.groups.codes == code))) for code in (high, low))
    names = rows.groups.names
    direction = between_means(kernel, first.X, second.X, first.weights, second.weights)
    return Axis(rate, (names[high], names[low]), direction)
