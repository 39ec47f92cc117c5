"""How labels are flipped: each strategy is a function of a scene and a budget to the training rows to flip.

A strategy of one's own is such a function, registered in the entry-point group ``fairenum.attacks``; these are, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fairenum.attack.flipping import FlippableSvm
from fairenum.attack.scene import BoolArray, Scene
from fairenum.dataset import merge_identical
from fairenum.dataset.columns import IntArray
from fairenum.errors import StrategyBroken, StrategyConflict, StrategyNotFound
from fairenum.problem import FloatArray
from fairenum.registry import Entry, Registry
from fairenum.selection import ROUNDING_DIGITS

Strategy = Callable[[Scene, int], IntArray]

UNFAVOURABLE = -1
MOST_ROUNDS = 100  # of alfa; it settles after a handful


def paper(scene: Scene, budget: int) -> IntArray:
    """Flip random rows whose label speaks against the prejudice, as the paper does.

    Favourable labels in the target group become unfavourable, unfavourable ones elsewhere favourable.
    """
    allowed = (scene.in_target == (scene.train.y > 0)) & scene.flippable()
    return scene.candidates(allowed, budget, "rows whose label speaks against the prejudice")[:budget]


def random(scene: Scene, budget: int) -> IntArray:
    """Flip random rows."""
    return scene.candidates(scene.flippable(), budget, "rows to flip in that direction")[:budget]


def group(scene: Scene, budget: int) -> IntArray:
    """Flip random rows of the target group in one direction, to unfavourable if none is asked for."""
    allowed = scene.in_target & scene.flippable(UNFAVOURABLE)
    return scene.candidates(allowed, budget, "rows of that group to flip in that direction")[:budget]


def margin_near(scene: Scene, budget: int) -> IntArray:
    """Flip the rows nearest to the boundary of the clean model, ties by chance."""
    return _by_distance(scene, budget, 1.0)


def margin_far(scene: Scene, budget: int) -> IntArray:
    """Flip the rows farthest from the boundary of the clean model, ties by chance."""
    return _by_distance(scene, budget, -1.0)


def _by_distance(scene: Scene, budget: int, sign: float) -> IntArray:
    rows = scene.candidates(scene.flippable(), budget, "rows to flip in that direction")
    distances = np.abs(scene.fit().decision_function(scene.train.X[rows]))
    return rows[np.argsort(sign * np.round(distances, ROUNDING_DIGITS), kind="stable")[:budget]]


def support(scene: Scene, budget: int) -> IntArray:
    """Flip random support vectors of the clean model."""
    allowed = scene.flippable() & np.isin(np.arange(len(scene.train.y)), scene.fit().support)
    return scene.candidates(allowed, budget, "support vectors to flip in that direction")[:budget]


def greedy_parity(scene: Scene, budget: int) -> IntArray:
    """Flip one row after the other, each time the one whose flip raises the gap most, with the model trained anew.

    The gap is measured on the rows that the attacker watches. It is a step function, so equal gaps are told apart by
    the distance between the groups' mean scores, a score being the decision value cut off at the margins.
    """
    scene.candidates(scene.flippable(), budget, "rows to flip in that direction")
    svm, flipped = FlippableSvm(scene), np.zeros(len(scene.train.y), dtype=np.bool_)
    chosen: list[int] = []
    for _ in range(budget):
        solution = svm.solve(flipped)
        rows = _kinds(scene, scene.flippable() & ~flipped)
        values = np.array([svm.decide(svm.flip(solution, row), scene.watched.X) for row in rows.tolist()])
        row = int(rows[_most_unfair(scene, values)])
        flipped[row] = True
        chosen.append(row)
    return np.array(chosen, dtype=np.intp)


def _kinds(scene: Scene, allowed: BoolArray) -> IntArray:
    """Return one row of each kind: flipping either of two identical ones has one effect."""
    rows = np.flatnonzero(allowed)
    return rows[merge_identical(scene.train.X[rows], scene.train.y[rows]).first]


def _most_unfair(scene: Scene, values: FloatArray) -> int:
    gaps = np.nan_to_num(np.round(scene.watched.gaps(values, scene.metric), ROUNDING_DIGITS))
    groups = scene.watched.groups
    members = np.array([groups.codes == code for code in np.flatnonzero(groups.sizes)], dtype=np.float64)
    means = values.clip(-1.0, 1.0) @ (members / members.sum(1, keepdims=True)).T
    spread = np.round(means.max(1) - means.min(1), ROUNDING_DIGITS)
    return int(np.lexsort((-spread, -gaps))[0])


def alfa(scene: Scene, budget: int) -> IntArray:
    """Flip the rows that make the machine learn most wrongly: adversarial label flips (Xiao et al., 2012).

    The attack looks for labels that the machine fits well and the clean model does badly on. Given the flips, the
    machine is trained; given the machine, the best flips are those that lower (its loss - the clean model's loss) most.
    The two steps take turns until the flips stay the same. Unlike in the paper all of the budget is spent, and a row
    is flipped wholly or not at all, which solves the linear programme in between exactly.
    """
    rows = np.sort(scene.candidates(scene.flippable(), budget, "rows to flip in that direction"))
    svm, flipped = FlippableSvm(scene), np.zeros(len(scene.train.y), dtype=np.bool_)
    clean = _regret(scene, svm, flipped)
    trained = np.zeros(len(clean))
    for _ in range(MOST_ROUNDS):
        order = np.argsort(np.round((trained - clean)[rows], ROUNDING_DIGITS), kind="stable")
        chosen = np.zeros_like(flipped)
        chosen[rows[order[:budget]]] = True
        if (chosen == flipped).all():
            break
        flipped = chosen
        trained = _regret(scene, svm, flipped)
    return np.flatnonzero(flipped)


def _regret(scene: Scene, svm: FlippableSvm, flipped: BoolArray) -> FloatArray:
    """Return how much more a flipped label of each row costs than its own, by the machine trained under some flips."""
    values = scene.train.y * svm.decide(svm.solve(flipped), scene.train.X)
    return np.asarray(np.maximum(0.0, 1.0 + values) - np.maximum(0.0, 1.0 - values))


def _function(loaded: Any) -> Strategy:
    strategy: Strategy = loaded
    return strategy


def _defect(strategy: object, _name: str) -> str:
    return "" if callable(strategy) else f"it is no function of a scene and a budget, but {strategy!r}"


STRATEGIES = Registry(
    "fairenum.attacks", "attack strategy", _function, _defect, StrategyNotFound, StrategyConflict, StrategyBroken
)


def list_strategies(entry_points: Iterable[Entry] | None = None) -> tuple[str, ...]:
    """Return the names of all strategies that are installed."""
    return tuple(dict.fromkeys(entry.name for entry in STRATEGIES.entries(entry_points)))


def rows_to_flip(name: str, strategy: Strategy, scene: Scene, budget: int) -> IntArray:
    """Ask a strategy for its flips, and refuse an answer that is none."""
    answer = np.asarray(strategy(scene, budget))
    is_rows = answer.ndim == 1 and (answer.dtype.kind in "iu" or answer.size == 0)
    if not is_rows or len(set(answer.tolist())) != budget or len(answer) != budget:
        raise StrategyBroken(f"attack strategy {name!r} must return {budget} different rows; received {answer!r:.80}")
    if budget and not (answer.min() >= 0 and answer.max() < len(scene.train.y)):
        raise StrategyBroken(f"attack strategy {name!r} returned a row outside 0..{len(scene.train.y) - 1}")
    return answer.astype(np.intp)
