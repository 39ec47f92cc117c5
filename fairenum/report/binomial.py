"""The exact interval of Clopper and Pearson for a share, without scipy."""

from __future__ import annotations

import math
from collections.abc import Callable

LEVEL = 0.95
STEPS = 60  # halvings: the limits are good to the last digit of a float


def exact_interval(successes: int, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the shares that so many successes in so many trials do not contradict."""
    tail = (1.0 - level) / 2
    low = 0.0 if successes == 0 else _rising_root(lambda p: _at_least(successes, trials, p), tail)
    high = 1.0 if successes == trials else _rising_root(lambda p: _at_least(successes + 1, trials, p), 1.0 - tail)
    return low, high


def _at_least(successes: int, trials: int, p: float) -> float:
    """Return the chance of at least so many successes; it rises with p."""
    return math.fsum(_chance(count, trials, p) for count in range(successes, trials + 1))


def _chance(count: int, trials: int, p: float) -> float:
    ways = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    return math.exp(ways + count * math.log(p) + (trials - count) * math.log1p(-p))


def _rising_root(rising: Callable[[float], float], level: float) -> float:
    """Find where a rising function of a share reaches a level, by halving."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < level else (low, middle)
    return (low + high) / 2
