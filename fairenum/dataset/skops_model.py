"""A model from a skops file, none of whose types may be any but those named here."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from zipfile import ZipFile

from fairenum.dataset.answering import brief
from fairenum.dataset.model_files import DECISIONS, LARGEST, read_content, too_large
from fairenum.dataset.trees import has_sound_trees
from fairenum.errors import ModelFileRefused
from fairenum.phrases import quoted

# What fitted models of scikit-learn, and those that fairenum exports, hold beyond what skops trusts by itself: plain
# Python that does nothing when it is made, and trees, whose numbers are checked. Other types that index memory by
# numbers out of the file (KDTree, BallTree, TreePredictor) are left out: a false one in them ends the process.
MODULES = {
    "fairenum.auditing.classifier": "KernelClassifier",
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


def load_skops(path: Path) -> object:
    """Load a model if its file holds trusted types alone; otherwise nothing of it is imported, made or run."""
    from skops.io import get_untrusted_types, loads

    content = read_content(path)
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
    """Refuse a file that would unpack to more than is read here."""
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
