"""Attack strategies: functions that return the numbers of the training rows whose labels are to be flipped.

Their arguments are a scene, which holds the data, and a budget, the number of rows to return. Strategies, also those
of users, are registered in the entry-point group ``fairenum.attacks``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint
from typing import cast

import numpy as np

from fairenum.attack.scene import FlippableSvm, Scene
from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.errors import StrategyBroken, StrategyConflict, StrategyNotFound
from fairenum.metrics.counts import BoolArray
from fairenum.runtime.plugins import Registry, enter_plugin, leave_plugin
from fairenum.svm.problem import FloatArray, IntArray, Solution
from fairenum.tables import merge_identical

Strategy = Callable[[Scene, int], IntArray]
UNFAVOURABLE = -1
MOST_ROUNDS = 100  # iterations of `alfa`, which usually ends after a few


def paper(scene: Scene, budget: int) -> IntArray:
    """Return random rows as in the paper: favourable ones of the target group, unfavourable ones of other groups."""
    allowed = (scene.in_target == (scene.train.y > 0)) & scene.flippable()
    return scene.candidates(allowed, budget, "rows whose label speaks against the prejudice")[:budget]


def random(scene: Scene, budget: int) -> IntArray:
    """Return random rows among all rows whose labels the scene allows to flip."""
    return scene.candidates(scene.flippable(), budget, "rows to flip in that direction")[:budget]


def group(scene: Scene, budget: int) -> IntArray:
    """Return random rows of the target group, to be flipped to the scene's `direction`, by default to unfavourable."""
    allowed = scene.in_target & scene.flippable(UNFAVOURABLE)
    return scene.candidates(allowed, budget, "rows of that group to flip in that direction")[:budget]


def margin_near(scene: Scene, budget: int) -> IntArray:
    """Return the rows nearest to the decision boundary of the model before the attack; ties are broken at random."""
    return _by_distance(scene, budget, 1.0)


def margin_far(scene: Scene, budget: int) -> IntArray:
    """Return the rows farthest from the decision boundary of the model before the attack; ties are broken at random."""
    return _by_distance(scene, budget, -1.0)


def _by_distance(scene: Scene, budget: int, sign: float) -> IntArray:
    rows = scene.candidates(scene.flippable(), budget, "rows to flip in that direction")
    distances = np.abs(scene.fit().decision_function(scene.train.X[rows]))
    return rows[np.argsort(sign * np.round(distances, ROUNDING_DIGITS), kind="stable")[:budget]]


def support(scene: Scene, budget: int) -> IntArray:
    """Return random rows among the support vectors of the model before the attack."""
    allowed = scene.flippable() & np.isin(np.arange(len(scene.train)), scene.fit().support)
    return scene.candidates(allowed, budget, "support vectors to flip in that direction")[:budget]


def greedy_parity(scene: Scene, budget: int) -> IntArray:
    """Return rows chosen one after another, each time the row whose flip gives the retrained model the largest gap.

    The gap is measured on the scene's `watched` rows. Often no single flip changes a decision, so flips of equal gap
    are ranked by a second number, called headway: how much more the flip raises the row's loss under the present model
    than under a prejudiced model, which is trained on labels that depend only on the group. The search is repeated with
    headway as the only criterion, and the rows of the search with the larger final gap are returned.
    """
    allowed = scene.flippable()
    scene.candidates(allowed, budget, "rows to flip in that direction")
    svm = FlippableSvm(scene)
    attempts = [_greedy(scene, svm, allowed, budget, by_gap=by_gap) for by_gap in (True, False)]
    gaps = _gaps(scene, np.array([svm.decide(svm.solve(flipped), scene.watched.X) for flipped, _ in attempts]))
    return np.array(attempts[int(gaps.argmax())][1], dtype=np.intp)


def _greedy(
    scene: Scene, svm: FlippableSvm, allowed: BoolArray, budget: int, *, by_gap: bool
) -> tuple[BoolArray, list[int]]:
    """Return the rows that a greedy search flips, as a boolean for each training row and as numbers in order.

    With `by_gap`, each step flips the row whose flip leads to the largest gap, with ties broken by headway (see
    `greedy_parity`); else the row of largest headway.
    """
    flipped = np.zeros(len(scene.train), dtype=np.bool_)
    prejudice = _regret(scene, svm, svm.solve(scene.in_target == (scene.train.y > 0)))
    chosen: list[int] = []
    for _ in range(budget):
        solution = svm.solve(flipped)
        rows = _kinds(scene, allowed & ~flipped)
        headway = np.round((_regret(scene, svm, solution) - prejudice)[rows], ROUNDING_DIGITS)
        if by_gap:
            values = np.array([svm.decide(svm.flip(solution, row), scene.watched.X) for row in rows.tolist()])
            best = np.lexsort((-headway, -_gaps(scene, values)))[0]
        else:
            best = headway.argmax()
        chosen.append(int(rows[best]))
        flipped[chosen[-1]] = True
    return flipped, chosen


def _gaps(scene: Scene, values: FloatArray) -> FloatArray:
    return np.nan_to_num(np.round(scene.watched.gaps(values, scene.metric), ROUNDING_DIGITS))


def _kinds(scene: Scene, allowed: BoolArray) -> IntArray:
    """Return the numbers of the allowed rows, without repetitions of identical rows, whose flips are equivalent."""
    rows = np.flatnonzero(allowed)
    return rows[merge_identical(scene.train.X[rows], scene.train.y[rows]).first]


def alfa(scene: Scene, budget: int) -> IntArray:
    """Return the rows whose flips mislead the trained model most: the ALFA attack of Xiao et al. (2012).

    The attack looks for labels of low loss under the SVM trained on them, and of high loss under the model before the
    attack. Two steps alternate until the flips stay the same: train the SVM on the flipped labels; then choose the
    flips that lower (loss under this SVM - loss under the model before the attack) most. Unlike in the article, the
    whole budget is spent, and a row is flipped or not, never in part, so the second step is solved by sorting.
    """
    rows = np.sort(scene.candidates(scene.flippable(), budget, "rows to flip in that direction"))
    svm, flipped = FlippableSvm(scene), np.zeros(len(scene.train), dtype=np.bool_)
    clean = _regret(scene, svm, svm.solve(flipped))
    trained = np.zeros(len(clean))
    for _ in range(MOST_ROUNDS):
        order = np.argsort(np.round((trained - clean)[rows], ROUNDING_DIGITS), kind="stable")
        chosen = np.zeros_like(flipped)
        chosen[rows[order[:budget]]] = True
        if (chosen == flipped).all():
            break
        flipped = chosen
        trained = _regret(scene, svm, svm.solve(flipped))
    return np.flatnonzero(flipped)


def _regret(scene: Scene, svm: FlippableSvm, solution: Solution) -> FloatArray:
    """Return how much flipping its label raises each row's hinge loss under a solution, with class weights."""
    values = scene.train.y * svm.decide(solution, scene.train.X)
    own, other = np.split(svm.weights, 2)
    return np.asarray(other * np.maximum(0.0, 1.0 + values) - own * np.maximum(0.0, 1.0 - values))


def _function(loaded: object) -> Strategy:
    return cast(Strategy, loaded)  # `_defect` then checks that it is callable


def _defect(strategy: object, _name: str) -> str:
    return "" if callable(strategy) else f"it is no function of a scene and a budget, but {strategy!r}"


STRATEGIES = Registry(
    "fairenum.attacks", "attack strategy", _function, _defect, StrategyNotFound, StrategyConflict, StrategyBroken
)


def list_strategies(entry_points: Iterable[EntryPoint] | None = None) -> tuple[str, ...]:
    """Return the names of all installed strategies."""
    return tuple(dict.fromkeys(entry.name for entry in STRATEGIES.entries(entry_points)))


def rows_to_flip(name: str, strategy: Strategy, scene: Scene, budget: int) -> IntArray:
    """Return the numbers of the rows that a strategy flips; refuse a result other than `budget` different rows."""
    token = enter_plugin()
    try:
        answer = np.asarray(strategy(scene, budget))
    finally:
        leave_plugin(token)
    is_rows = answer.ndim == 1 and (answer.dtype.kind in "iu" or answer.size == 0)
    if not is_rows or len(set(answer.tolist())) != budget or len(answer) != budget:
        raise StrategyBroken(f"attack strategy {name!r} must return {budget} different rows; received {answer!r:.80}")
    if budget and not (answer.min() >= 0 and answer.max() < len(scene.train)):
        raise StrategyBroken(f"attack strategy {name!r} returned a row outside 0..{len(scene.train) - 1}")
    return answer.astype(np.intp)
