"""What a defender may do about flipped labels, without knowing which they are.

A defence is a function of what is left of a draw after an attack to decisions about its holdout. All of them train the
same machine on the same rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairenum.attack.scene import BoolArray, Part
from fairenum.baselines import MITIGATIONS, Stage, WeightedSvm
from fairenum.dataset import merge_identical
from fairenum.dataset.columns import IntArray
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import AttackError
from fairenum.estimator import EnumSVC
from fairenum.problem import FloatArray, SvmProblem
from fairenum.scoring import Gap
from fairenum.selection import ROUNDING_DIGITS, Tolerances, search_fairest, standing

NEIGHBOURS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Aftermath:
    """A draw after an attack, as a defender finds it.

    Attributes
    ----------
    train
        The training rows with the labels that the attack left.
    selection
        Rows with sound labels to choose by; None if the draw has none.
    holdout
        The rows to decide.
    models
        The best models of the training rows, best first.
    flips
        How many labels were flipped. A defender does not know it; `loss_removal` is given it all the same.
    machine, metric, seed
        As the attacker found them.
    """

    train: Part
    selection: Part | None
    holdout: Part
    models: tuple[Model, ...]
    flips: int
    machine: EnumSVC
    metric: Gap
    seed: int

    @property
    def chosen_by(self) -> Part:
        """The rows to choose models by: the selection split or, without one, the training rows as they were left."""
        return self.selection or self.train

    def watched(self, part: Part) -> Watched:
        """Return rows as searches and mitigations watch them."""
        return Watched(part.X, (part.y > 0.0).astype(np.uint8), part.groups, self.metric)

    def refit(self, rows: IntArray, y: FloatArray) -> BoolArray:
        """Train the machine on some rows with some labels, and decide the holdout."""
        if len(np.unique(y[rows])) < 2:
            raise AttackError("one label is left, and a machine needs two")
        params = {**self.machine.get_params(), "n_models": 1, "distinct": "support"}
        model = EnumSVC(**params).fit(self.train.X[rows], y[rows]).models_[0]
        return model.decision_function(self.holdout.X) >= 0.0


def knn_relabelling(after: Aftermath) -> BoolArray:
    """Give each row the label of most of its ten nearest neighbours (Paudice et al., 2018), and train."""
    from sklearn.neighbors import NearestNeighbors

    X, y = after.train.X, after.train.y
    neighbours = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(y) - 1), algorithm="brute").fit(X)
    votes = y[neighbours.kneighbors(return_distance=False)].sum(axis=1)
    return after.refit(np.arange(len(y)), np.where(votes == 0.0, y, np.sign(votes)))


def loss_removal(after: Aftermath) -> BoolArray:
    """Leave out the rows of largest loss, as many as were flipped, and train."""
    values = after.models[0].decision_function(after.train.X)
    losses = np.round(np.maximum(0.0, 1.0 - after.train.y * values), ROUNDING_DIGITS)  # ties are no matter of noise
    kept = np.sort(np.argsort(-losses, kind="stable")[after.flips :])
    return after.refit(kept, after.train.y)


def fairest_listed(after: Aftermath) -> BoolArray:
    """Take the fairest of the best models, as an audit does."""
    return _fairest(after, after.models)


def fairest_guided(after: Aftermath) -> BoolArray:
    """Take the fairest of the models that a search guided by unfairness finds, as an audit does."""
    machine = after.machine
    merged = merge_identical(after.train.X, after.train.y)
    problem = SvmProblem(merged.X, merged.y, machine.C, merged.copies, machine.kernel_for(after.train.X))
    watched = after.watched(after.chosen_by)
    chosen, _ = search_fairest(problem, watched, Tolerances(after.metric), solver=machine.solver)
    return chosen.model.decision_function(after.holdout.X) >= 0.0


def _fairest(after: Aftermath, models: Sequence[Model]) -> BoolArray:
    """Choose among models by an audit's rule and default tolerances; the first one if none is within them."""
    by = after.chosen_by
    values = np.array([model.decision_function(by.X) for model in models])
    objectives = np.array([model.objective for model in models])
    chosen = int(
        standing(by.decisions(values), objectives / objectives[0], after.metric).fairest(Tolerances(after.metric))
    )
    return models[max(chosen, 0)].decision_function(after.holdout.X) >= 0.0


def _mitigation(name: str) -> Defence:
    """Make a defence of one of the mitigations that an audit tries; what it leaves to chance is drawn."""

    def decide(after: Aftermath) -> BoolArray:
        machine, watched = after.machine, after.watched
        svm = WeightedSvm(machine.C, machine.kernel_for(after.train.X), str(machine.solver))
        parts = (watched(after.train), watched(after.chosen_by), watched(after.holdout))
        with warnings.catch_warnings(action="ignore"):  # what counts is what it decides
            chances = MITIGATIONS[name].decide(Stage(svm, after.models[0], *parts, Tolerances(after.metric)))
        return np.asarray(np.random.default_rng([after.seed, 2]).random(len(chances)) < chances)

    return decide


Defence = Callable[[Aftermath], BoolArray]

DEFENCES: Mapping[str, Defence] = {
    "knn_relabelling": knn_relabelling,
    "loss_removal": loss_removal,
    "fairest_listed": fairest_listed,
    "fairest_guided": fairest_guided,
    **{name: _mitigation(name) for name in MITIGATIONS},
}
