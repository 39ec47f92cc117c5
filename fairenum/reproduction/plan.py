"""How much of the paper is run, and what the paper says about it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fairenum.checking import changed, check_options
from fairenum.document.paper import GERMAN_SPREAD, MODELS, TABLES, TIED

__all__ = [
    "CLOCKED",
    "EXPERIMENTS",
    "FLIPPED",
    "GERMAN_SPREAD",
    "MODELS",
    "SHARES",
    "TABLES",
    "TESTED",
    "TIED",
    "TIMED",
    "TRAINED",
    "Plan",
]

EXPERIMENTS = (*TABLES, "compas")

# What the paper states.
TIMED = 1000
SHARES = (0.7, 0.0, 0.3)
TRAINED, FLIPPED, TESTED = 100, 10, 50

# At these models the clock is looked at.
CLOCKED = (1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is run.

    Parameters
    ----------
    splits
        Random splits of each table.
    draws
        Random draws of COMPAS.
    printed_draws
        Draws of COMPAS on which the paper's own algorithm runs, too.
    printed_seconds
        Time for the paper's own algorithm on each of the other tables.
    seed
        Of the first split and the first draw; each further one has the next.
    is_quick
        Whether this is a first look, too small for a verdict to lean on.
    """

    splits: int = 40
    draws: int = 250
    printed_draws: int = 60
    printed_seconds: float = 15.0
    seed: int = 0
    is_quick: bool = False

    def __post_init__(self) -> None:
        whole = {"splits": (1, math.inf), "draws": (1, math.inf), "printed_draws": (0, math.inf), "seed": (0, math.inf)}
        check_options(self, {}, whole, {"printed_seconds": (0.0, math.inf)}, ("is_quick",))

    def but(self, **options: Any) -> Plan:
        """Return the plan with some sizes changed."""
        return changed(self, "a reproduction", options)

    @classmethod
    def quick(cls, seed: int = 0) -> Plan:
        """Return a plan for a first look."""
        return cls(splits=3, draws=12, printed_draws=3, printed_seconds=2.0, seed=seed, is_quick=True)
