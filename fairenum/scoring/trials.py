"""Numbers over trials: means, quantiles and shares with intervals over draws, never one draw.

A mean has Student's interval, a share that of Clopper and Pearson. What is undefined in a trial is NaN, and does not
count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from fairenum.document.value import Estimate, Quantiles
from fairenum.scoring.counts import BoolArray, FloatArray

QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def mean(values: FloatArray, level: float, least: float = 0.0, most: float = 1.0) -> Estimate:
    """Return the mean of what is defined, with Student's limits within what is possible; none for one value alone."""
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        return Estimate()
    centre = float(defined.mean())
    if len(defined) == 1:
        return Estimate(centre)
    radius = float(stats.t.ppf((1.0 + level) / 2.0, len(defined) - 1) * defined.std(ddof=1) / np.sqrt(len(defined)))
    return Estimate(centre, max(centre - radius, least), min(centre + radius, most))


def mean_change(values: FloatArray, level: float) -> Estimate:
    """Return the mean of changes of what lies between 0 and 1."""
    return mean(values, level, least=-1.0)


def share(marks: BoolArray | Sequence[bool], level: float) -> Estimate:
    """Return how often something is so, with the limits of Clopper and Pearson."""
    trials, successes = len(marks), int(np.count_nonzero(marks))
    if trials == 0:
        return Estimate()
    limits = stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    return Estimate(successes / trials, float(limits.low), float(limits.high))


def quantiles(values: FloatArray) -> Quantiles | None:
    """Return a few quantiles of what is defined; None if nothing is."""
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        return None
    return Quantiles(**{name: float(np.quantile(defined, q)) for name, q in QUANTILES.items()})
