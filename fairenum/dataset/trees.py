"""Decision trees out of a file: their numbers lead through memory without a check, so they are checked once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np

LEAF = -1
NOT_HELD = (type, ModuleType, FunctionType, BuiltinFunctionType)  # these lead to everything that is loaded


def has_sound_trees(model: object) -> bool:
    """Say whether every tree in a model ends, within itself, for rows of as many columns as its owners see to."""
    from sklearn.base import BaseEstimator
    from sklearn.ensemble import BaseEnsemble
    from sklearn.tree import BaseDecisionTree
    from sklearn.tree._tree import Tree

    held = list(_held(model))
    trees = [each for each in held if isinstance(each, Tree)]
    if not trees:
        return True
    owners = [each for each in held if isinstance(each, BaseDecisionTree)]
    owned = {id(vars(owner).get("tree_")) for owner in owners}
    return (
        all(id(tree) in owned for tree in trees)
        and all(_is_sound(vars(owner).get("tree_"), _width(owner)) for owner in owners if "tree_" in vars(owner))
        and all(_fits(each) for each in held if isinstance(each, BaseEnsemble))
        and not any(_hides_a_check(each) for each in held if isinstance(each, BaseEstimator))
    )


def _held(model: object) -> Iterator[object]:
    """Find everything that an object leads to, each once."""
    seen: dict[int, object] = {}
    waiting = [model]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, NOT_HELD):
            continue
        seen[id(each)] = each  # kept, so that no other object gets its number
        yield each
        if isinstance(each, np.ndarray):  # which the garbage collector does not look into
            waiting += each.ravel().tolist() if each.dtype.hasobject else []
        else:
            waiting += gc.get_referents(each)


def _width(owner: object) -> int:
    width = vars(owner).get("n_features_in_")
    return width if isinstance(width, int) else 0


def _is_sound(tree: object, width: int) -> bool:
    """Say whether every inner node leads to two later nodes by a column that there is."""
    from sklearn.tree._tree import Tree

    # more nodes than memory was taken for cannot even be looked at
    if not isinstance(tree, Tree) or not 1 <= tree.node_count <= tree.capacity:
        return False
    is_inner = tree.children_left != LEAF
    places = np.arange(tree.node_count)[is_inner]
    children = np.stack([tree.children_left[is_inner], tree.children_right[is_inner]])
    columns = tree.feature[is_inner]
    is_within = (children > places).all() and (children < tree.node_count).all()
    return bool(is_within and (columns >= 0).all() and (columns < width).all())


def _fits(ensemble: object) -> bool:
    """Say whether trees see rows as wide as they expect where their ensemble alone looks at the rows."""
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor
    from sklearn.tree import BaseDecisionTree

    if isinstance(ensemble, BaggingClassifier | BaggingRegressor):  # these show each a part, which looks itself
        return True
    estimators = vars(ensemble).get("estimators_", ())
    estimators = estimators.ravel() if isinstance(estimators, np.ndarray) else estimators
    return all(_width(each) == _width(ensemble) for each in estimators if isinstance(each, BaseDecisionTree))


def _hides_a_check(estimator: object) -> bool:
    """Say whether an attribute stands before a method, which no fitted estimator needs."""
    return any(callable(getattr(type(estimator), name, None)) for name in vars(estimator))
