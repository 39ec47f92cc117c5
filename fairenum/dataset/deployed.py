"""Asking a model in use: a file, a fitted classifier, a function or decisions become an answer for every row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.answering import Answers, as_scores, as_series, blaming, pick, plain
from fairenum.dataset.model_files import SKOPS, kind_of_file
from fairenum.dataset.table import with_plain_names
from fairenum.errors import ColumnConflict, ModelError
from fairenum.phrases import quoted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Answers", "answers"]


def answers(model: object, frame: pd.DataFrame) -> Answers:
    """Ask a model about every row of a table.

    Parameters
    ----------
    model
        The path of a skops or ONNX file, a fitted classifier, a function of the table, or the decisions themselves.
        A classifier sees the columns that it asks for and no others; a function sees a copy of the table.
    frame
        The table as it was read, with its label and all else.

    Returns
    -------
    The answers, with the index of the table.
    """
    if isinstance(model, str | Path):
        return _from_file(Path(model), with_plain_names(frame))
    if isinstance(model, type):
        raise ModelError(f"{model.__name__} is a class; give a model of it that is fitted")
    if isinstance(model, list | tuple) or hasattr(model, "__array__"):
        return Answers(as_series(model, frame.index, "the decisions given"))
    if hasattr(model, "predict"):
        return _from_estimator(model, with_plain_names(frame), f"the model ({type(model).__name__})")
    if callable(model):
        return _from_function(model, frame)
    raise ModelError(
        f"a {type(model).__name__} is no model; give the path of a skops or ONNX file, a fitted classifier, a function "
        "of the table, or one decision a row"
    )


def _from_file(path: Path, frame: pd.DataFrame) -> Answers:
    from fairenum.dataset.onnx_model import ask_onnx
    from fairenum.dataset.skops_model import load_skops

    if kind_of_file(path) == SKOPS:
        return _from_estimator(load_skops(path), frame, f"the model in {path.name!r}")
    return ask_onnx(path, frame)


def _from_function(function: Callable[[pd.DataFrame], object], frame: pd.DataFrame) -> Answers:
    who = f"the function {getattr(function, '__name__', type(function).__name__)!r}"
    with blaming(who):
        return Answers(as_series(function(frame.copy()), frame.index, who))


def _from_estimator(model: object, frame: pd.DataFrame, who: str) -> Answers:
    """Ask for decisions and, of a classifier of two classes, for scores: probabilities if it gives them."""
    with blaming(who):
        if not hasattr(model, "predict"):
            raise ModelError(f"{who} is a {type(model).__name__}, which decides nothing; give a fitted classifier")
        rows = _rows(model, frame, who)
        predicted = model.predict(rows)
        if _is_regressor(model):
            return Answers(None, as_scores(predicted, frame.index, who))
        decisions = as_series(predicted, frame.index, who)
        classes = list(getattr(model, "classes_", ()))
        values = _values(model, rows) if len(classes) == 2 else None
        if values is None:
            return Answers(decisions)
        return Answers(decisions, as_scores(values, frame.index, who), plain(classes[1]))


def _values(model: object, rows: object) -> object:
    """Ask for what speaks for the second of two classes; None if there is no such number."""
    if hasattr(model, "predict_proba"):
        both = np.asarray(model.predict_proba(rows))
        return both[:, 1] if both.ndim == 2 and both.shape[1] == 2 else both
    return model.decision_function(rows) if hasattr(model, "decision_function") else None


def _is_regressor(model: object) -> bool:
    from sklearn.base import is_regressor

    # scikit-learn can say it only of what speaks its language
    return hasattr(model, "__sklearn_tags__") and bool(is_regressor(model))


def _rows(model: object, frame: pd.DataFrame, who: str) -> object:
    """Choose what a model is to see: columns by name, or all of them by position if that can be meant."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return pick(frame, [str(name) for name in names], who)
    width = getattr(model, "n_features_in_", None)
    if width is not None and int(width) == frame.shape[1]:
        return frame.to_numpy()
    wanted = "does not say which columns it takes" if width is None else f"takes {width} columns and does not name them"
    raise ColumnConflict(
        f"{who} {wanted}, and the table has {frame.shape[1]} ({quoted(frame.columns)}); fit it to a frame whose "
        "columns have names, or give a function that picks them, such as lambda table: model.predict(table[['a', 'b']])"
    )
