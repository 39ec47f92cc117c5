"""Numbers as a document holds them: null for what is undefined, an estimate with its limits."""

from __future__ import annotations

import math

from fairenum.document.value import Estimate
from fairenum.scoring.intervals import Interval


def plain(number: float) -> float | None:
    """Return a number as the document holds it: null for what is undefined or infinite, and no -0."""
    return float(number) + 0.0 if math.isfinite(number) else None


def estimate(value: float, low: float = math.nan, high: float = math.nan) -> Estimate:
    """Return an estimate with its limits."""
    return Estimate(plain(value), plain(low), plain(high))


def estimates(interval: Interval) -> list[Estimate]:
    """Return estimates with their limits, one by one."""
    return list(map(estimate, interval.estimate, interval.lower, interval.upper))
