"""The options of a simulated attack, checked when they are built; its document keeps them as they were resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, get_args

from fairenum.checking import HUGE, check_options, is_number, is_whole, require
from fairenum.document.machine import Machine
from fairenum.document.options import Options, Sizes, make_tuples, require_part, require_three_sizes
from fairenum.document.ranges import MOST_ROWS, numbers, whole
from fairenum.document.terms import Direction, Distinctness, Gap, Sight

# A draw of a table whose sizes are not given: small enough for hundreds of trials.
MOST_TRAINED, MOST_AUDITED = 300, 1000
SHARE_TRAINED = 0.6


@dataclass(frozen=True, slots=True)
class AttackConfig(Options):
    """What is simulated, apart from the table it is about.

    Parameters
    ----------
    machine
        The support vector machine that is trained; its C is a number. Its class weight is not "auto": "balanced" is
        resolved anew by the labels of every draw, also after an attack.
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
    k, distinct, min_difference, patience
        Which models are listed, as in `AuditConfig`.
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

    subject: ClassVar[str] = "an attack"

    machine: Machine = field(default_factory=Machine)
    strategies: tuple[str, ...] = ("paper",)
    flips: tuple[int | float, ...] = (10,)
    trials: int = 100
    group: str | None = None
    direction: Direction | None = None
    sees: Sight = "train"
    defences: tuple[str, ...] = ()
    sizes: Sizes | None = None
    k: int = 50
    distinct: Distinctness = "support"
    min_difference: float = 0.01
    patience: int = 1000
    metric: Gap = "demographic_parity_difference"
    primary: str | None = None
    seed: int = 0
    confidence: float = 0.95
    standardise: bool = True

    def __post_init__(self) -> None:
        require_part(self.machine, "machine", Machine)
        make_tuples(self, ("strategies", "flips", "defences", *(("sizes",) if self.sizes is not None else ())))
        check_options(self, ATTACK_WORDS, ATTACK_WHOLE, ATTACK_NUMBERS, ("standardise",), optional=("direction",))
        require(self.machine, "C", self.machine.C != "auto", "a positive number")
        self.machine.require_class_weight()
        for name in ("strategies", "flips"):
            require(self, name, len(getattr(self, name)) > 0, "at least one")
        for name in ("strategies", "flips", "defences"):
            require(self, name, len(set(getattr(self, name))) == len(getattr(self, name)), "a list without repetitions")
        is_budget = all(is_whole(flips, 0, HUGE) or is_number(flips, 0, 1) for flips in self.flips)
        require(self, "flips", is_budget, "numbers of rows, or shares between 0 and 1")
        require(self, "flips", max(self.flips) <= MOST_ROWS, f"numbers of at most {MOST_ROWS} rows")
        if self.sizes is not None:
            require_three_sizes(self, self.sizes)
            require(self, "sizes", self.sizes[2] > 0, "three numbers, of which the holdout is not 0")

    @property
    def rows_trained(self) -> int:
        """The training rows of a draw, once its sizes are rows."""
        return int(self.sizes[0]) if self.sizes else 0

    def sizes_for(self, rows: int) -> Sizes:
        """Return the sizes of a draw from a table that has so many rows."""
        if self.sizes is not None:
            return self.sizes
        train = min(round(SHARE_TRAINED * rows), MOST_TRAINED)
        return train, 0, min(rows - train, MOST_AUDITED)


def budget(flips: float, rows: int) -> int:
    """Turn a budget into rows: whole numbers are rows already, others shares."""
    return int(flips) if is_whole(flips, 0, MOST_ROWS) else round(flips * rows)


ATTACK_WORDS: Mapping[str, tuple[str, ...]] = {
    "direction": get_args(Direction),
    "sees": get_args(Sight),
    "distinct": get_args(Distinctness),
    "metric": get_args(Gap),
}
ATTACK_WHOLE = whole("trials", "k", "patience", "seed")
ATTACK_NUMBERS = numbers("min_difference", "confidence")
