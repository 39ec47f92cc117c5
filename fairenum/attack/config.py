"""The options of a simulated attack, checked when they are built."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from fairenum.attack.defence import DEFENCES
from fairenum.attack.strategies import STRATEGIES
from fairenum.checking import TINY, changed, check_options, is_number, is_whole, require
from fairenum.enumeration.distinct import Distinctness
from fairenum.errors import ConfigError
from fairenum.scoring import Gap

Direction = Literal["unfavourable", "favourable"]
Sight = Literal["train", "audit"]

# A draw of a table whose sizes are not given: small enough for hundreds of trials.
MOST_TRAINED, MOST_AUDITED = 300, 1000
SHARE_TRAINED = 0.6


@dataclass(frozen=True, slots=True)
class AttackConfig:
    """What is simulated, apart from the table it is about.

    Parameters
    ----------
    strategies
        Names of strategies.
    flips
        Budgets: whole numbers are rows, others shares of the training rows.
    trials
        How many draws of the table.
    group
        The group that the attack is aimed at; the one with the fewest favourable labels if not given.
    direction
        The label that flips lead to; each strategy's own if not given.
    sees
        What the attacker sees: the training rows alone, or also the rows that the audit is made on.
    defences
        Names of the defences that are measured beside.
    sizes
        Train, selection and holdout: rows, or shares of the table. By default a draw trains on at most 300 rows and
        audits at most 1000.
    k, C, kernel, gamma, degree, coef0, solver, distinct, min_difference, rows, patience
        The models, as in `AuditConfig`.
    metric
        The gap that is measured.
    primary
        The sensitive column, or intersection, whose groups are compared; the first if not given.
    seed
        Of the first trial; each further one has the next.
    confidence
        Of intervals over trials.
    standardise
        Scale numbers to mean 0 and variance 1.
    """

    strategies: tuple[str, ...] = ("paper",)
    flips: tuple[float, ...] = (10,)
    trials: int = 100
    group: str | None = None
    direction: Direction | None = None
    sees: Sight = "train"
    defences: tuple[str, ...] = ()
    sizes: tuple[float, float, float] | None = None
    k: int = 50
    C: float = 1.0
    kernel: Literal["linear", "rbf", "poly"] = "linear"
    gamma: float | Literal["scale", "auto"] = "scale"
    degree: int = 3
    coef0: float = 0.0
    solver: str = "path"
    distinct: Distinctness = "support"
    min_difference: float = 0.01
    rows: bool = False
    patience: int = 1000
    metric: Gap = "demographic_parity_difference"
    primary: str | None = None
    seed: int = 0
    confidence: float = 0.95
    standardise: bool = True

    def __post_init__(self) -> None:
        for name in ("strategies", "flips", "defences"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str | float | int) else tuple(value))
        if self.sizes is not None:
            object.__setattr__(self, "sizes", tuple(self.sizes))
        check_options(self, CHOICES, WHOLE, NUMBERS, ("rows", "standardise"), optional=("direction",))
        is_gamma = self.gamma in ("scale", "auto") or is_number(self.gamma, TINY, math.inf)
        require(self, "gamma", is_gamma, "a positive number, scale or auto")
        self._check_lists()

    def _check_lists(self) -> None:
        for name in ("strategies", "flips"):
            require(self, name, len(getattr(self, name)) > 0, "at least one")
        for name in ("strategies", "flips", "defences"):
            require(self, name, len(set(getattr(self, name))) == len(getattr(self, name)), "a list without repetitions")
        is_budget = all(is_whole(flips, 0, math.inf) or is_number(flips, 0, 1) for flips in self.flips)
        require(self, "flips", is_budget, "numbers of rows, or shares between 0 and 1")
        for name in self.strategies:
            STRATEGIES.load(name)
        for name in self.defences:
            if name not in DEFENCES:
                raise ConfigError(f"no defence is called {name!r}; there are {', '.join(DEFENCES)}")
        if self.sizes is not None:
            has_three = len(self.sizes) == 3 and all(is_number(size, 0, math.inf) for size in self.sizes)
            require(self, "sizes", has_three, "three numbers: train, selection and holdout")
            require(self, "sizes", self.sizes[2] > 0, "three numbers, of which the holdout is not 0")

    def but(self, **options: Any) -> Self:
        """Return the configuration with some options changed; refuse unknown ones."""
        return changed(self, "an attack", options)

    @property
    def rows_trained(self) -> int:
        """The training rows of a draw, once they are settled."""
        return int(self.sizes[0]) if self.sizes else 0

    def sizes_for(self, rows: int) -> tuple[float, float, float]:
        """Return the sizes of a draw from a table that has so many rows."""
        if self.sizes is not None:
            return self.sizes
        train = min(round(SHARE_TRAINED * rows), MOST_TRAINED)
        return train, 0, min(rows - train, MOST_AUDITED)


def budget(flips: float, rows: int) -> int:
    """Turn a budget into rows: whole numbers are rows already, others shares."""
    return int(flips) if is_whole(flips, 0, math.inf) else round(flips * rows)


CHOICES: Mapping[str, tuple[str, ...]] = {
    "direction": get_args(Direction),
    "sees": get_args(Sight),
    "kernel": ("linear", "rbf", "poly"),
    "distinct": get_args(Distinctness),
    "metric": get_args(Gap),
}
WHOLE: Mapping[str, tuple[float, float]] = {
    "trials": (1, math.inf),
    "k": (1, math.inf),
    "degree": (1, math.inf),
    "patience": (1, math.inf),
    "seed": (0, math.inf),
}
NUMBERS: Mapping[str, tuple[float, float]] = {
    "C": (TINY, math.inf),
    "coef0": (0.0, math.inf),
    "min_difference": (TINY, 1.0),
    "confidence": (0.5, 1.0 - 1e-9),
}
