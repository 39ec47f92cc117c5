"""What an attacker finds: a draw of a table, the machine that will be trained on it, and whom to harm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.document.machine import Machine
from fairenum.document.terms import Gap
from fairenum.enumeration.model import Model
from fairenum.errors import BudgetExceeded
from fairenum.estimator import EnumSVC
from fairenum.experiment import EncodedRows
from fairenum.problem import FloatArray, IntArray
from fairenum.scoring.counts import BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A draw as an attacker finds it. A strategy is a function of a scene and a budget to the rows to flip.

    Attributes
    ----------
    train
        The training rows, whose labels may be flipped.
    watched
        The rows on which the attacker measures the gap: the training rows, or those of the audit if they are seen.
    target
        Code of the group that the attack is aimed at.
    direction
        The label that flips lead to, +1 or -1; 0 if nothing is asked for.
    metric
        The gap to raise.
    machine
        What will be trained on the rows.
    seed
        Of whatever is left to chance.
    """

    train: EncodedRows
    watched: EncodedRows
    target: int
    direction: int
    metric: Gap
    machine: Machine
    seed: int

    @property
    def in_target(self) -> BoolArray:
        """Mark the training rows of the group that the attack is aimed at."""
        return np.asarray(self.train.groups.codes == self.target)

    def flippable(self, direction: int = 0) -> BoolArray:
        """Mark the training rows whose flip leads in the direction asked for, or else in the one given."""
        wanted = self.direction or direction
        return np.ones(len(self.train), dtype=np.bool_) if wanted == 0 else self.train.y == -wanted

    def candidates(self, allowed: BoolArray, budget: int, what: str) -> IntArray:
        """Return the rows that may be flipped, in random order; refuse a budget that they do not fill."""
        rows = np.flatnonzero(allowed)
        if len(rows) < budget:
            raise BudgetExceeded(
                f"{budget} flips were asked for, but this draw has {len(rows)} {what} among its "
                f"{len(allowed)} training rows; ask for at most {len(rows)}"
            )
        return np.random.default_rng([self.seed, 1]).permutation(rows)

    def fit(self, y: FloatArray | None = None) -> Model:
        """Train the best model, on other labels than those at hand if such are given."""
        labels = self.train.y if y is None else y
        return EnumSVC.of(self.machine).fit(self.train.X, labels).models_[0]
