"""Tilted models: what their machines pay for, and how they were found."""

from __future__ import annotations

from fairenum.document.terms import TiltedEnd, TiltRate
from fairenum.document.value import Value


class TiltedRun(Value, frozen=True):
    """How the search among tilted machines went.

    Attributes
    ----------
    stopped
        Why it ended; ``no_direction`` if model 1 has no gap that a price could narrow.
    rise
        How much the loss on all training rows was allowed to rise, as a share of the least.
    solves
        Machines trained, each for another price.
    front
        Those that none beats in loss, gap and performance together.
    models
        Those of them that joined the list.
    """

    stopped: TiltedEnd
    rise: float
    solves: int = 0
    front: int = 0
    models: int = 0


class Tilt(Value, frozen=True):
    """What the machine of a tilted model pays for: the difference of mean decision values between two groups.

    Attributes
    ----------
    price
        Of one unit of the difference, in units of the loss.
    column, groups
        The group that fares better for model 1, and the one that fares worse, of those that are compared.
    rate
        In which they lie farthest apart; the means are taken over the rows of the selection split that it is about.
    """

    price: float
    column: str
    groups: tuple[str, str]
    rate: TiltRate
