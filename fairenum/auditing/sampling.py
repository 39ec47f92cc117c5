"""How many rows of the holdout an audit can examine one by one."""

from __future__ import annotations

from typing import Literal

from fairenum.enumeration.walking import LARGEST
from fairenum.problem import affordable

# Rows to examine, and the numbers that all of them go through in a few seconds: where planes walk across rows, and
# where examples are so many that planes are searched.
ROWS, WALKING, SEARCHING = (20, 4000), 8e7, 2e8
RANGE_WORK = 4e7  # numbers that are gone through to tighten what the rows alone prove about the gap


def rows_to_examine(asked: int | Literal["auto"], examples: int, numbers: int, holdout: int) -> int:
    """Return how many rows are examined: as many as were asked for, or fewer the more numbers each goes through."""
    work = SEARCHING if examples > LARGEST else WALKING
    return min(holdout, affordable(numbers, work, *ROWS) if asked == "auto" else asked)
