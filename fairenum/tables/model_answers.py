"""Decisions and scores of a model about every row of a table.

The model is a file, a fitted classifier, a function of the table, or the decisions themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairenum.errors import ColumnConflict, ColumnMissing, FairenumError, ModelError, ModelFileRefused
from fairenum.runtime.hints import did_you_mean, quoted
from fairenum.tables.fitted_rows import Refitting
from fairenum.tables.model_reading import read_new_rows, reading_of
from fairenum.tables.naming import rows_named
from fairenum.tables.table import with_plain_names

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.tables.columns import Series
    from fairenum.tables.naming import Index

SKOPS, ONNX = ".skops", ".onnx"
PICKLES = (".pkl", ".pickle", ".joblib", ".p", ".pck", ".dill", ".cloudpickle")
LARGEST = 2**30
DECISIONS = "give its decisions as a column of the table, with incumbent=... (--incumbent COLUMN)"


def kind_of_file(path: Path) -> str:
    """Return the suffix of a model file; refuse a file that does not exist, and all formats but skops and ONNX."""
    suffix = path.suffix.lower()
    if suffix in PICKLES:
        raise ModelFileRefused(
            f"{path.name!r} is a pickle by its name, and whoever wrote a pickle can have any code run when it is "
            f"loaded, so it was not opened; save the model with skops.io.dump or as ONNX, or {DECISIONS}"
        )
    if suffix not in (SKOPS, ONNX):
        raise ModelFileRefused(
            f"{path.name!r} has the suffix {suffix!r}, and models are read from {SKOPS} and {ONNX} files; save the "
            f"model as one of them, or {DECISIONS}"
        )
    if not path.is_file():
        raise ModelFileRefused(f"{str(path)!r} is {'a directory' if path.is_dir() else 'not there'}; name a model file")
    return suffix


def read_content(path: Path) -> bytes:
    """Return the bytes of a model file, to be both checked and loaded, so that the file cannot change in between."""
    try:
        if path.stat().st_size > LARGEST:
            raise too_large(path)
        return path.read_bytes()
    except OSError as error:
        raise ModelFileRefused(f"cannot read {str(path)!r}: {error.strerror}") from error


def too_large(path: Path) -> ModelFileRefused:
    """Return the error for a model file that is, or unpacks to, more than `LARGEST` bytes."""
    return ModelFileRefused(f"{path.name!r} holds more than {LARGEST} bytes, the most that is read; {DECISIONS}")


LONGEST_QUOTE = 200


class Answers(NamedTuple):
    """Decisions and scores of a model about every row, before it is known which of them are favourable.

    Attributes
    ----------
    decisions
        The class of each row, as predicted by the model; None if the model gives scores only.
    scores
        A finite number for each row; None if the model gives no scores.
    scored
        The class that a high score stands for; None without scores, or if the class is not known.
    refitting
        The model, to be fitted again; None unless it is a scikit-learn classifier with scores, given as an object.
    """

    decisions: Series | None
    scores: Series | None = None
    scored: object | None = None
    refitting: Refitting | None = None


@contextmanager
def blaming(who: str) -> Iterator[None]:
    """Turn any error raised inside a with block into a `ModelError` that quotes it and names the model (`who`)."""
    try:
        yield
    except FairenumError:
        raise
    except (Exception, SystemExit) as error:  # a model of the user may raise anything
        raise ModelError(
            f"{who} failed on the rows of the table: {brief(error)}; see that it takes the table's columns as they are"
        ) from error


def brief(error: BaseException) -> str:
    """Return the type and the message of an error as one line of text, shortened if it is long."""
    words = " ".join(str(error).split())
    shown = words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE]}..."
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


def pick(frame: pd.DataFrame, names: Sequence[str], who: str) -> pd.DataFrame:
    """Return the columns that a model expects, under the model's names for them; refuse names the table does not have.

    Blanks around the model's names are ignored.
    """
    missing = [name for name in names if name.strip() not in frame.columns]
    if missing:
        hint = did_you_mean(missing[0], frame.columns) or f"; the columns are {quoted(frame.columns)}"
        columns = "column" if len(missing) == 1 else "columns"
        raise ColumnMissing(f"{who} asks for {quoted(missing)}, and the table has no such {columns}{hint}")
    return frame[[name.strip() for name in names]].set_axis(list(names), axis="columns")


def as_series(answer: object, index: Index, who: str) -> Series:
    """Return a model's output, one value for each row in the table's order, as a Series with the table's index."""
    import pandas as pd

    if isinstance(answer, pd.DataFrame) and answer.shape[1] == 1:
        answer = answer.iloc[:, 0]
    if isinstance(answer, list | tuple):  # numpy would turn the number in (1, "a") into a text
        answer = pd.Series(answer, dtype=None if answer else object)
    if not isinstance(answer, pd.Series):
        array = np.asarray(answer)
        is_narrow = array.ndim == 2 and array.shape[1] == 1
        if array.ndim != 1 and not is_narrow:
            raise ModelError(f"{who}: one answer a row is needed, and this is {_form(answer, array)}")
        answer = pd.Series(array.ravel())
    if len(answer) != len(index):
        raise ModelError(f"{who}: the table has {len(index)} rows, and these are {len(answer)} answers; give one a row")
    _refuse_other_order(answer.index, index, who)
    return answer.set_axis(index)


def _refuse_other_order(names: Index, index: Index, who: str) -> None:
    """Refuse a Series with the table's index in another order: rows could be matched by index or by position."""
    if not names.equals(index) and names.sort_values().equals(index.sort_values()):
        raise ModelError(
            f"{who}: these have the index of the table in another order; bring them into the order of its rows with "
            "reindex(table.index) if they go by their index, or give to_numpy() of them if they go by position"
        )


def plain(value: object) -> object:
    """Return a numpy scalar as a Python value, and any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def _form(answer: object, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    if array.ndim == 0:
        return f"a single {type(answer).__name__}"
    return f"an array of {' x '.join(map(str, array.shape))}"


def as_scores(answer: object, index: Index, who: str) -> Series:
    """Return a model's scores, one for each row, as a Series with the table's index; all must be finite."""
    found = as_series(answer, index, who)
    try:
        scores = found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{who}: a score is a number; {brief(error)}") from error
    strange = np.flatnonzero(~np.isfinite(scores.to_numpy()))
    if strange.size:
        raise ModelError(
            f"{who}: its score is {scores.iloc[strange[0]]} in {rows_named(index, strange)}; "
            "fill in cells that it cannot take, or leave out such rows"
        )
    return scores


def answers(model: object, frame: pd.DataFrame) -> Answers:
    """Return the decisions and scores of a model about every row of a table, with the table's index.

    `model` is the path of a skops or ONNX file, a fitted classifier, a function of the table, or the decisions
    themselves. A classifier is given only the columns that it was fitted to, if it names them; a function is given a
    copy of the whole table, including the label.
    """
    if isinstance(model, str | Path):
        return _from_file(Path(model), with_plain_names(frame))
    if isinstance(model, type):
        raise ModelError(f"{model.__name__} is a class; give a model of it that is fitted")
    if isinstance(model, list | tuple) or hasattr(model, "__array__"):
        return Answers(as_series(model, frame.index, "the decisions given"))
    if hasattr(model, "predict"):
        plainly, who = with_plain_names(frame), f"the model ({type(model).__name__})"
        found = _from_estimator(model, plainly, who)
        return found._replace(refitting=_refitting(model, plainly, who)) if found.scored is not None else found
    if callable(model):
        return _from_function(model, frame)
    raise ModelError(
        f"a {type(model).__name__} is no model; give the path of a skops or ONNX file, a fitted classifier, a function "
        "of the table, or one decision a row"
    )


def _refitting(model: object, frame: pd.DataFrame, who: str) -> Refitting | None:
    """Return what is needed to fit a two-class model again; None if it is no estimator that can be cloned."""
    if not all(callable(getattr(model, name, None)) for name in ("fit", "get_params", "set_params")):
        return None
    first, second = (plain(one) for one in model.classes_)  # type: ignore[attr-defined]  # it has scores
    return Refitting(model, _rows(model, frame, who), (first, second))


def _from_file(path: Path, frame: pd.DataFrame) -> Answers:
    from fairenum.tables.onnx_model import ask_onnx
    from fairenum.tables.skops_model import load_skops

    if kind_of_file(path) != SKOPS:
        return ask_onnx(path, frame)
    model = load_skops(path)
    if reading := reading_of(model, path.name):  # an exported model reads a table as its audit did
        frame = read_new_rows(frame, reading).frame().set_axis(frame.index, axis="index")
    return _from_estimator(model, frame, f"the model in {path.name!r}")


def _from_function(function: Callable[[pd.DataFrame], object], frame: pd.DataFrame) -> Answers:
    who = f"the function {getattr(function, '__name__', type(function).__name__)!r}"
    with blaming(who):
        return Answers(as_series(function(frame.copy()), frame.index, who))


def _from_estimator(model: object, frame: pd.DataFrame, who: str) -> Answers:
    """Return an estimator's decisions and, if it has two classes, scores: probabilities or else decision values.

    The output of a regressor counts as scores, without decisions.
    """
    with blaming(who):
        if not hasattr(model, "predict"):
            raise ModelError(f"{who} is a {type(model).__name__}, which decides nothing; give a fitted classifier")
        rows = _rows(model, frame, who)
        predicted = model.predict(rows)
        if _is_regressor(model):
            return Answers(None, as_scores(predicted, frame.index, who))
        decisions = as_series(predicted, frame.index, who)
        classes = list(getattr(model, "classes_", ()))
        values = class_scores(model, rows) if len(classes) == 2 else None
        if values is None:
            return Answers(decisions)
        return Answers(decisions, as_scores(values, frame.index, who), plain(classes[1]))


def class_scores(model: object, rows: object) -> object:
    """Return a two-class model's scores for its second class: probabilities, else decision values, else None."""
    if hasattr(model, "predict_proba"):
        both = np.asarray(model.predict_proba(rows))
        return both[:, 1] if both.ndim == 2 and both.shape[1] == 2 else both
    return model.decision_function(rows) if hasattr(model, "decision_function") else None


def _is_regressor(model: object) -> bool:
    from sklearn.base import is_regressor

    # `is_regressor` fails for objects without tags
    return hasattr(model, "__sklearn_tags__") and bool(is_regressor(model))


def _rows(model: object, frame: pd.DataFrame, who: str) -> pd.DataFrame | NDArray[np.generic]:
    """Return the columns a model names; if it names none, all columns, refused unless it takes exactly that many."""
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
