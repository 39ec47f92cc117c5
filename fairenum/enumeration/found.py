"""Models that a search has found, and which of them none beats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairenum.enumeration.model import Model
from fairenum.scoring.pareto import pareto_front

ROUNDING_DIGITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A model with what it does to the watched rows.

    Attributes
    ----------
    gap, performance
        On the watched rows: the search has looked at them, so both flatter.
    is_constant
        Whether it decides all of them alike.
    excess
        How far it is beyond the guardrails, all together, on the watched rows.
    """

    model: Model
    gap: float
    performance: float
    is_constant: bool
    excess: float = 0.0


def front(found: Sequence[Found]) -> list[Found]:
    """Keep the models that none equals or beats in objective, gap and performance together, best objective first.

    Those that decide all rows alike do not count, nor those beyond a guardrail, but for the first, the best model.
    """
    within = [*found[:1], *(one for one in found[1:] if round(one.excess, ROUNDING_DIGITS) <= 0.0)]
    usable = [one for one in within if not one.is_constant and not math.isnan(one.gap)]
    costs = np.array([[-one.model.objective, one.gap, -one.performance] for one in usable]).reshape(-1, 3)
    return [usable[place] for place in pareto_front(costs)]
