"""What an attacker finds: a draw of a table, the machine that will be trained on it, and whom to harm."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from fairenum.dataset.columns import IntArray
from fairenum.enumeration.model import Model
from fairenum.errors import BudgetExceeded
from fairenum.estimator import EnumSVC
from fairenum.problem import FloatArray
from fairenum.scoring import Decisions, Gap, Groups, score

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Encoded rows with their labels (+1 favourable, -1 unfavourable) and groups."""

    X: FloatArray = field(repr=False)
    y: FloatArray = field(repr=False)
    groups: Groups = field(repr=False)

    def decisions(self, values: FloatArray) -> Decisions:
        """Turn decision values, or signs, of shape (models, rows) into decisions about these rows."""
        return Decisions((values >= 0.0).astype(np.uint8), (self.y > 0.0).astype(np.uint8), self.groups)

    def gaps(self, values: FloatArray, metric: Gap) -> FloatArray:
        """Measure the gap of each model, given its decision values on these rows."""
        return np.asarray(getattr(score(self.decisions(values)).gaps, metric))


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

    train: Part
    watched: Part
    target: int
    direction: int
    metric: Gap
    machine: EnumSVC
    seed: int

    @property
    def in_target(self) -> BoolArray:
        """Mark the training rows of the group that the attack is aimed at."""
        return np.asarray(self.train.groups.codes == self.target)

    def flippable(self, direction: int = 0) -> BoolArray:
        """Mark the training rows whose flip leads in the direction asked for, or else in the one given."""
        wanted = self.direction or direction
        return np.ones(len(self.train.y), dtype=np.bool_) if wanted == 0 else self.train.y == -wanted

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
        machine: EnumSVC = clone(self.machine).set_params(n_models=1, distinct="support")
        return machine.fit(self.train.X, labels).models_[0]
