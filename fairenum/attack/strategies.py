"""Attack strategies: functions of a scene and a budget that return the training rows whose labels to flip.

Strategies, these and a user's own, are registered in the entry-point group ``fairenum.attacks``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint
from typing import cast

import numpy as np

from fairenum.attack.scene import FlippableSvm, Scene
from fairenum.enumeration.fairest import ROUNDING_DIGITS
from fairenum.errors import StrategyBroken, StrategyConflict, StrategyNotFound
from fairenum.metrics.counts import BoolArray
from fairenum.runtime.plugins import Registry, enter_plugin, leave_plugin
from fairenum.svm.problem import FloatArray, IntArray, Solution
from fairenum.tables import merge_identical

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
    """Flip random rows of the target group in one direction, to unfavourable unless the scene has another."""
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
    allowed = scene.flippable() & np.isin(np.arange(len(scene.train)), scene.fit().support)
    return scene.candidates(allowed, budget, "support vectors to flip in that direction")[:budget]


def greedy_parity(scene: Scene, budget: int) -> IntArray:
    """Flip one row after another, each time the one that raises the gap most, with the model trained anew.

    The gap is measured on the rows that the attacker watches. It is a step function, and a model may bear several flips
    before any decision changes; so flips of equal effect are ranked by their headway: by how much cheaper a flip
    makes the prejudiced model (trained on labels that follow the group alone) in comparison with the model as it is. A
    second attempt goes by headway alone, and the attempt that ends with the larger gap is made.
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
    """Flip the best row repeatedly: by the gap that results and then by headway, or by headway alone."""
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
    """Measure the gap that the attacker sees, given decision values of some models; an undefined gap counts as 0."""
    return np.nan_to_num(np.round(scene.watched.gaps(values, scene.metric), ROUNDING_DIGITS))


def _kinds(scene: Scene, allowed: BoolArray) -> IntArray:
    """Return one row of each set of identical rows, whose flips have equal effects."""
    rows = np.flatnonzero(allowed)
    return rows[merge_identical(scene.train.X[rows], scene.train.y[rows]).first]


def alfa(scene: Scene, budget: int) -> IntArray:
    """Flip the rows that make the trained model most wrong: adversarial label flips (Xiao et al., 2012).

    The attack looks for labels that an SVM fits well and the clean model does badly on. Given the flips, the SVM is
    trained; given the SVM, the best flips are those that lower (its loss - the clean model's loss) most. The two steps
    take turns until the flips stay the same. Unlike in the paper all of the budget is spent, and a row is flipped
    wholly or not at all, which solves the linear programme in between exactly.
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
    """Return how much more the flipped label of each row costs than its own label, by a trained model."""
    values = scene.train.y * svm.decide(solution, scene.train.X)
    own, other = np.split(svm.weights, 2)
    return np.asarray(other * np.maximum(0.0, 1.0 + values) - own * np.maximum(0.0, 1.0 - values))


def _function(loaded: object) -> Strategy:
    return cast(Strategy, loaded)  # `_defect` checks it next


def _defect(strategy: object, _name: str) -> str:
    return "" if callable(strategy) else f"it is no function of a scene and a budget, but {strategy!r}"


STRATEGIES = Registry(
    "fairenum.attacks", "attack strategy", _function, _defect, StrategyNotFound, StrategyConflict, StrategyBroken
)


def list_strategies(entry_points: Iterable[EntryPoint] | None = None) -> tuple[str, ...]:
    """Return the names of all installed strategies."""
    return tuple(dict.fromkeys(entry.name for entry in STRATEGIES.entries(entry_points)))


def rows_to_flip(name: str, strategy: Strategy, scene: Scene, budget: int) -> IntArray:
    """Ask a strategy for the rows to flip; refuse an answer that is not as many different rows as the budget."""
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
