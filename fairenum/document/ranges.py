"""The ranges of all numbers among options, told once: for configurations, for the command line and for its manual.

They keep out what nobody means, and what no computer finishes or holds. What is within them may still be too much for a
table; that is refused by what the table takes.
"""

from __future__ import annotations

from fairenum.checking import TINY, Ranges, WholeRanges

WHOLE: WholeRanges = {
    "k": (1, 100_000),
    "patience": (1, 1_000_000_000),
    "max_nodes": (1, 1_000_000_000),
    "price_rows": (1, 1_000_000_000),
    "degree": (1, 20),
    "seed": (0, 2**31 - 1),  # a trial adds its number, and scikit-learn takes 32 bits
    "min_group_size": (0, 1_000_000_000),
    "replications": (10, 100_000),
    "max_levels": (1, 1_000_000),
    "trials": (1, 100_000),
    "splits": (1, 10_000),
    "draws": (1, 100_000),
    "printed_draws": (0, 100_000),
    "rows": (2, 1_000_000_000),
    "row": (0, 2**53 - 1),
    "rank": (1, 1_000_000_000),
    "jobs": (-1, 1024),
}
NUMBERS: Ranges = {
    "C": (1e-9, 1e9),
    "class_weight": (1e-9, 1e9),
    "cost": (1e-9, 1e9),
    "gamma": (1e-30, 1e30),
    "coef0": (0.0, 1e6),
    "min_difference": (TINY, 1.0),
    "max_seconds": (TINY, 1e9),
    "solver_timeout": (TINY, 1e6),
    "printed_seconds": (0.0, 1e9),
    "max_left_out": (0.0, 1.0),
    "eps": (0.0, 1.0),
    "max_performance_drop": (0.0, 1.0),
    "max_loss": (0.0, 1e9),
    "same_within": (0.0, 1.0),
    "confidence": (0.5, 1.0 - 1e-9),
    "idle": (0.0, 1e6),
}
MOST_ROWS = 1_000_000_000  # of a split, or to flip
FARTHEST_CUT = 1e300  # of a score or a decision value
LONGEST_BANDS = 1000  # ends of the bands of one column


def whole(*names: str) -> WholeRanges:
    """Return the ranges of some options that are whole numbers."""
    return {name: WHOLE[name] for name in names}


def numbers(*names: str) -> Ranges:
    """Return the ranges of some options that are numbers."""
    return {name: NUMBERS[name] for name in names}


def described(name: str) -> str:
    """Say in a few signs between what an option lies, such as ``1e-09 to 1e+09``."""
    low, high = WHOLE[name] if name in WHOLE else NUMBERS[name]
    return f"{low:g} to {high:g}"
