"""How much rows tell: less than their number where they count differently, more where labels are in proportion.

A split that has the labels of its table in their proportions knows more of a rate than rows drawn anyhow, as how often
either label occurs is known from the whole table.
"""

from collections.abc import Callable

import numpy as np

from fairenum.scoring.counts import Confusion, FloatArray
from fairenum.scoring.intervals import FEW_TRIALS
from fairenum.scoring.rates import Fraction, share

ROUNDING = 1e-12  # shares of a sum of squares that are none
DIGITS = 9  # of a number of rows
IMAGINARY = 4.0  # rows added to those of a label, as few of them promise too much


def effective(fraction: Callable[[Confusion], Fraction], counts: Confusion) -> Fraction:
    """Return outcomes and trials as so many rows drawn at random that count alike: as many as know the rate as well.

    With p = sum w x / sum w over the trials, they are p (1 - p) / V, where V = sum w^2 (x - p)^2 / (sum w)^2 is the
    linearised variance (the design effect is part of it, also where weights go with outcomes), but no more than Kish's
    (sum w)^2 / sum w^2, as a handful of outcomes cannot promise more than their weights do.

    Let u = w (x - p) for a trial and 0 for another row, U_l the sum of u over the n_l rows of label l, and f the share
    of the table that was drawn with labels in proportion. Within a label u varies by chance; how often the label occurs
    varies with the table, which has 1 / f times as many rows. So sum u^2 in V becomes sum u^2 - (1 - f) sum_l U_l^2 /
    n_l. A rate among the rows of one label alone gains nothing, as its U_l is 0.

    Parameters
    ----------
    fraction
        What is counted, out of what.
    counts
        Of all models.

    Returns
    -------
    Fraction
        Exactly what is counted where rows count alike and were not drawn in proportion.
    """
    outcomes, trials = fraction(counts)
    if counts.squares is None and counts.drawn == 1.0:
        return outcomes, trials
    squared, squares = fraction(counts.squares or counts)
    rate = np.clip(np.nan_to_num(share(outcomes, trials)), 0, 1)
    spread = squared * (1 - rate) ** 2 + (squares - squared) * rate**2
    rows = trials
    if counts.squares is not None:
        is_mixed = np.minimum(squared, squares - squared) > ROUNDING * squares  # rows of both outcomes
        with np.errstate(divide="ignore", invalid="ignore"):
            linear, kish = rate * (1 - rate) * trials**2 / spread, trials**2 / squares
        rows = np.nan_to_num(np.where(is_mixed, np.fmin(linear, kish), kish))
    # thirty rows that count alike are not fewer, whichever way a division rounds
    rows = np.asarray(np.round(rows, DIGITS))
    if counts.drawn < 1.0:
        between = (1 - counts.drawn) * _between(fraction, counts, rate)
        gained = np.divide(spread, spread - between, out=np.ones_like(spread), where=spread > between)
        # few trials have exact limits, which know of whole rows
        rows = np.asarray(np.round(np.where(rows < FEW_TRIALS, rows, gained * rows), DIGITS))
    return rate * rows, rows


def _between(fraction: Callable[[Confusion], Fraction], counts: Confusion, rate: FloatArray) -> FloatArray:
    """Return what of the sum of squares lies between the labels, drawn towards 0 where one has few rows."""
    parts = []
    for label in (0, 1):
        outcomes, trials = fraction(counts.of_label(label))
        rows = counts.rows[..., label]
        parts.append((outcomes - rate * trials) ** 2 * rows / (rows + IMAGINARY) ** 2)
    return np.asarray(sum(parts))
