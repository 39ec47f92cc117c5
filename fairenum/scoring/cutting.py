"""Decisions out of a score: where it is cut, and whom that selects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairenum.document.cutoff import Cutoff
from fairenum.scoring.counts import BitArray, FloatArray
from fairenum.scoring.operating import OperatingPoint


class ScoreCut(NamedTuple):
    """Whom a score selects.

    Attributes
    ----------
    value
        Where it was cut, as its owner counts.
    tied
        Rows that a finer cut would have to divide, but which have one score.
    """

    bits: BitArray
    value: float
    tied: int = 0


def cut_score(values: FloatArray, cutoff: Cutoff, direction: float, weights: FloatArray | None = None) -> ScoreCut:
    """Cut scores, of which higher is favourable.

    Parameters
    ----------
    values
        One for each row.
    cutoff
        A value, a share or the median; a base rate was resolved to a share before.
    direction
        What its owner's scores were multiplied by so that higher is favourable.
    weights
        What each row counts of a share; None where they count alike.
    """
    if cutoff.rule == "median":
        median = float(np.median(values))
        return ScoreCut((values > median).astype(np.uint8), direction * median)
    if cutoff.rule == "rate":
        # what is equal but for rounding is told by the spread of the scores, whatever their unit
        least, spread = values.min(), np.ptp(values) or 1.0
        unit = (values - least) / spread
        cut = OperatingPoint(share=cutoff.number, weights=weights).cut(unit)
        return ScoreCut((unit >= cut.value).astype(np.uint8), direction * float(least + cut.value * spread), cut.tied)
    value = float(cutoff.number or 0.0)
    return ScoreCut((values >= direction * value).astype(np.uint8), value)
