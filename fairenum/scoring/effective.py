"""How much rows tell that count differently: as much as fewer rows that count alike."""

from collections.abc import Callable

import numpy as np

from fairenum.scoring.counts import Confusion
from fairenum.scoring.rates import Fraction, share

ROUNDING = 1e-12  # shares of a sum of squares that are none
DIGITS = 9  # of a number of rows


def effective(fraction: Callable[[Confusion], Fraction], counts: Confusion) -> Fraction:
    """Return outcomes and trials as so many rows that count alike: as many as know the rate as well.

    With p = sum w x / sum w over the trials, they are p (1 - p) / V, where V = sum w^2 (x - p)^2 / (sum w)^2 is the
    linearised variance (the design effect is part of it, also where weights go with outcomes), but no more than Kish's
    (sum w)^2 / sum w^2, as a handful of outcomes cannot promise more than their weights do.

    Parameters
    ----------
    fraction
        What is counted, out of what.
    counts
        Of all models.

    Returns
    -------
    Fraction
        Exactly what is counted where rows count alike.
    """
    outcomes, trials = fraction(counts)
    if counts.squares is None:
        return outcomes, trials
    squared, squares = fraction(counts.squares)
    rate = np.clip(share(outcomes, trials), 0, 1)
    spread = squared * (1 - rate) ** 2 + (squares - squared) * rate**2
    is_mixed = np.minimum(squared, squares - squared) > ROUNDING * squares  # rows of both outcomes
    with np.errstate(divide="ignore", invalid="ignore"):
        linear, kish = rate * (1 - rate) * trials**2 / spread, trials**2 / squares
    # thirty rows that count alike are not fewer, whichever way a division rounds
    rows = np.round(np.nan_to_num(np.where(is_mixed, np.fmin(linear, kish), kish)), DIGITS)
    return np.nan_to_num(rate) * rows, rows
