"""Loading of a model from a skops file, if all types in it are trusted and its decision trees are safe to run."""

from __future__ import annotations

import gc
import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from zipfile import ZipFile

import numpy as np

from fairenum.errors import ModelFileRefused
from fairenum.runtime.hints import quoted
from fairenum.tables.model_answers import DECISIONS, LARGEST, brief, read_content, too_large

LEAF = -1
NOT_HELD = (type, ModuleType, FunctionType, BuiltinFunctionType)  # not followed: they refer to all loaded code


def has_sound_trees(model: object) -> bool:
    """Tell whether every decision tree in a model is safe to run: it has no cycles, and its indices are in range."""
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
    """Yield every object that is reachable from a model, each once."""
    seen: dict[int, object] = {}
    waiting = [model]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, NOT_HELD):
            continue
        seen[id(each)] = each  # keeps a reference, so that the id is not used for another object
        yield each
        if isinstance(each, np.ndarray):  # which the garbage collector does not look into
            waiting += each.ravel().tolist() if each.dtype.hasobject else []
        else:
            waiting += gc.get_referents(each)


def _width(owner: object) -> int:
    width = vars(owner).get("n_features_in_")
    return width if isinstance(width, int) else 0


def _is_sound(tree: object, width: int) -> bool:
    """Tell whether each inner node of a tree has two children with higher numbers, and tests a column below `width`."""
    from sklearn.tree._tree import Tree

    # more nodes than were allocated must not even be read
    if not isinstance(tree, Tree) or not 1 <= tree.node_count <= tree.capacity:
        return False
    is_inner = tree.children_left != LEAF
    places = np.arange(tree.node_count)[is_inner]
    children = np.stack([tree.children_left[is_inner], tree.children_right[is_inner]])
    columns = tree.feature[is_inner]
    is_within = (children > places).all() and (children < tree.node_count).all()
    return bool(is_within and (columns >= 0).all() and (columns < width).all())


def _fits(ensemble: object) -> bool:
    """Tell whether an ensemble's trees take as many columns as it does; they rely on its check of the input."""
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor
    from sklearn.tree import BaseDecisionTree

    if isinstance(ensemble, BaggingClassifier | BaggingRegressor):  # whose trees check their rows
        return True
    estimators = vars(ensemble).get("estimators_", ())
    estimators = estimators.ravel() if isinstance(estimators, np.ndarray) else estimators
    return all(_width(each) == _width(ensemble) for each in estimators if isinstance(each, BaseDecisionTree))


def _hides_a_check(estimator: object) -> bool:
    """Tell whether an attribute of an instance replaces a method, such as one that checks the input."""
    return any(callable(getattr(type(estimator), name, None)) for name in vars(estimator))


# Trusted types, by module, besides those that skops trusts by default. They occur in fitted models of scikit-learn, or
# in models that fairenum exports. All but trees are plain Python, without side effects when constructed; trees are
# checked by `has_sound_trees`. Types that index memory by numbers from the file and are not checked here (KDTree,
# BallTree, TreePredictor) are left out, because a wrong number would crash the process.
MODULES = {
    "fairenum.auditing.run_state": "KernelClassifier",
    "fairenum.tables.cut_points": "CutPoints",
    "numpy": "dtype mean",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
    "sklearn.feature_selection._univariate_selection": "chi2 f_classif",
    "sklearn.gaussian_process._gpc": "_BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels": (
        "CompoundKernel ConstantKernel DotProduct ExpSineSquared Exponentiation Matern Product RBF RationalQuadratic "
        "Sum WhiteKernel"
    ),
    "sklearn.impute._iterative": "IterativeImputer _ImputerTriplet",
    "sklearn.metrics._classification": "accuracy_score balanced_accuracy_score f1_score log_loss",
    "sklearn.metrics._ranking": "average_precision_score roc_auc_score",
    "sklearn.metrics._scorer": "_CurveScorer _PassthroughScorer _Scorer",
    "sklearn.model_selection._split": "GroupKFold KFold ShuffleSplit StratifiedKFold StratifiedShuffleSplit",
    "sklearn.multiclass": "_ConstantPredictor",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.tree._tree": "Tree",
    "sklearn.utils._bunch": "Bunch",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
}
TRUSTED = frozenset(f"{module}.{name}" for module, names in MODULES.items() for name in names.split())


def load_skops(path: Path, content: bytes | None = None) -> object:
    """Load the model in a skops file; refuse a file that contains untrusted types, before any of its code is run.

    `content` is that of the file, if it has been read before.
    """
    from skops.io import get_untrusted_types, loads

    content = read_content(path) if content is None else content
    _refuse_bomb(path, content)
    try:
        named = get_untrusted_types(data=content)
    except Exception as error:
        raise _damaged(path, error) from error
    strange = [name for name in named if name not in TRUSTED]
    if strange:
        raise ModelFileRefused(
            f"{path.name!r} holds {quoted(strange, limit=3)}, not among the types that are loaded from a file, and no "
            "code of it was run; save the model as ONNX, or load it yourself and give the fitted model in Python if "
            f"you trust whoever wrote it, or {DECISIONS}"
        )
    try:
        with warnings.catch_warnings(action="ignore"):  # that another version of scikit-learn wrote it
            model: object = loads(content, trusted=named)
        is_sound = has_sound_trees(model)
    except Exception as error:
        raise _damaged(path, error) from error
    if not is_sound:
        raise ModelFileRefused(
            f"{path.name!r} holds a decision tree that points outside of itself or of its columns; fit the model "
            "again, write it with skops.io.dump, and do not use this file"
        )
    return model


def _refuse_bomb(path: Path, content: bytes) -> None:
    """Refuse a zip bomb: a file that would unpack to too many bytes."""
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except Exception as error:
        raise _damaged(path, error) from error
    if size > LARGEST:
        raise too_large(path)


def _damaged(path: Path, error: Exception) -> ModelFileRefused:
    return ModelFileRefused(
        f"{path.name!r} is no skops file or a damaged one ({brief(error)}); write it again with skops.io.dump"
    )
