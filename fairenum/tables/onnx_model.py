"""Decisions and scores of a model in an ONNX file, which onnxruntime runs on the CPU."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from fairenum.errors import ColumnConflict, ColumnUnusable, ModelError, ModelFileRefused, ReaderMissing
from fairenum.runtime.hints import quoted
from fairenum.tables.columns import Unclear, by_value, interpret, plain_text
from fairenum.tables.model_answers import Answers, as_scores, as_series, blaming, brief, pick, plain, read_content

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.tables.columns import Series
    from fairenum.tables.naming import Index

Tensor = NDArray[np.generic]
FEATURE_NAMES = "feature_names"
TEXTS = "tensor(string)"
TYPES: Mapping[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    TEXTS: np.object_,
}


class Declared(Protocol):
    """An input or output of a model, as onnxruntime describes it; `shape` has a name or None for a size that varies."""

    name: str
    type: str
    shape: Sequence[int | str | None]


class Session(Protocol):
    """The methods of onnxruntime's `InferenceSession` (a loaded model) that are used here."""

    def get_inputs(self) -> Sequence[Declared]:
        """Return the declared inputs."""

    def get_outputs(self) -> Sequence[Declared]:
        """Return the declared outputs."""

    def run(self, names: None, feeds: Mapping[str, Tensor]) -> Sequence[object]:
        """Run the model on inputs by name, and return all its outputs."""


@dataclass(frozen=True, slots=True)
class Onnx:
    """A loaded ONNX model.

    `who` names the model in messages; `columns` are the table's columns that form the model's input matrix, empty if
    the file does not name them.
    """

    who: str
    session: Session
    columns: tuple[str, ...]


def feeds(model: Onnx, frame: pd.DataFrame) -> dict[str, Tensor]:
    """Return the model's inputs by name: a column of the table for each, or one input that is a matrix of columns."""
    inputs = model.session.get_inputs()
    strange = [each for each in inputs if each.type not in TYPES]
    if strange:
        raise ModelError(f"{model.who} wants {described(strange)}, and columns are given as {', '.join(TYPES)}")
    if all(each.name.strip() in frame.columns and _width(each) in (None, 1) for each in inputs):
        picked = pick(frame, [each.name for each in inputs], model.who)
        return {each.name: _column(picked[each.name], each, model.who) for each in inputs}
    if len(inputs) == 1 and len(inputs[0].shape) == 2:
        return {inputs[0].name: _matrix(model, inputs[0], frame)}
    raise _other_inputs(model, frame)


def _width(declared: Declared) -> int | None:
    width = declared.shape[1] if len(declared.shape) == 2 else 1
    return width if isinstance(width, int) else None


def _column(series: Series, declared: Declared, who: str) -> Tensor:
    cells = _cells(series, declared.type, who)
    return cells if len(declared.shape) == 1 else cells[:, None]


def _matrix(model: Onnx, declared: Declared, frame: pd.DataFrame) -> Tensor:
    """Return the matrix of columns the file names, else of all; refuse a number of columns the input does not take."""
    width = _width(declared)
    names = model.columns
    if names and width not in (None, len(names)):
        raise ModelError(
            f"{model.who} names {len(names)} columns in {FEATURE_NAMES!r} and wants {width}; correct the file"
        )
    if not names and width != frame.shape[1]:
        raise _other_inputs(model, frame)
    picked = pick(frame, names or list(frame.columns), model.who)
    return np.column_stack([_cells(picked[name], declared.type, model.who) for name in picked.columns])


def _other_inputs(model: Onnx, frame: pd.DataFrame) -> ColumnConflict:
    return ColumnConflict(
        f"{model.who} wants {described(model.session.get_inputs())}, and the table has {frame.shape[1]} columns "
        f"({quoted(frame.columns)}); give each column an input of its name, or name the columns of a matrix in the "
        f"file's metadata as {FEATURE_NAMES!r}, with commas between them"
    )


def described(parts: Sequence[Declared]) -> str:
    """Return text for a message that lists inputs or outputs with their types and shapes."""
    return ", ".join(f"{each.name!r} ({each.type}, {list(each.shape)})" for each in parts[:6]) or "nothing"


def _cells(series: Series, kind: str, who: str) -> Tensor:
    """Return a column in the type of an input (`kind`); a missing cell becomes an empty text or nan."""
    if kind == TEXTS:
        cells = series.astype(object).to_numpy()
        texts = by_value(cells, lambda cell: cell if isinstance(cell, str) else plain_text(cell), np.object_)
        texts[series.isna().to_numpy()] = ""
        return texts
    found = interpret(series)
    if isinstance(found, Unclear):
        raise ColumnUnusable(f"{who} wants numbers, and {found.problem}; correct or empty such cells")
    column = found.column
    if not column.is_numeric:
        raise ColumnUnusable(
            f"{who} wants numbers in column {series.name!r}, which holds texts; encode them as it does"
        )
    numbers = column.values.astype(np.float64)
    cast = TYPES[kind]
    if not np.issubdtype(cast, np.floating) and not np.all(np.isfinite(numbers) & (numbers == np.rint(numbers))):
        raise ColumnUnusable(f"{who} wants whole numbers in column {series.name!r}, which has empty or other cells")
    return numbers.astype(cast)


# An ONNX file may refer to weights in other files. Set to a folder that does not exist, so that none is ever read.
NOWHERE = "session.model_external_initializers_file_folder_path"
ROUNDING = 1e-6
FORMAT = "session.load_model_format"


def ask_onnx(path: Path, frame: pd.DataFrame) -> Answers:
    """Return the decisions and scores of the model in an ONNX file about every row of a table.

    The names of the table's columns must have no blanks around them.
    """
    model = _load(path)
    fed = feeds(model, frame)
    with blaming(model.who):
        outputs = model.session.run(None, fed)
    return _read(model, outputs, frame.index)


def _load(path: Path) -> Onnx:
    try:
        import onnxruntime
    except ImportError as error:
        raise ReaderMissing("ONNX files need onnxruntime; install it with: pip install 'fairenum[onnx]'") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised as exceptions
    options.add_session_config_entry(FORMAT, "ONNX")
    options.add_session_config_entry(NOWHERE, str(path.absolute() / "nowhere"))
    onnxruntime.disable_telemetry_events()
    try:
        session = onnxruntime.InferenceSession(read_content(path), options, providers=["CPUExecutionProvider"])
        said = session.get_modelmeta().custom_metadata_map.get(FEATURE_NAMES, "")
    except ModelFileRefused:
        raise
    except Exception as error:
        raise ModelFileRefused(
            f"{path.name!r} is no ONNX file that can be run here ({brief(error)}); write it again, all of it in one "
            "file and with standard operators"
        ) from error
    return Onnx(f"the model in {path.name!r}", session, _names(said))


def _names(said: str) -> tuple[str, ...]:
    """Return the column names in a text that is a JSON list, or a list separated by commas."""
    try:
        listed = json.loads(said)
    except ValueError:
        listed = None
    names = listed if isinstance(listed, list) else said.split(",")
    return tuple(str(name).strip() for name in names if str(name).strip())


def _read(model: Onnx, outputs: Sequence[object], index: Index) -> Answers:
    """Return decisions from the first output that holds classes, and scores from the first that holds scores."""
    arrays = [output for output in outputs if isinstance(output, np.ndarray) and _is_narrow(output, len(index))]
    classes = next((array for array in arrays if array.dtype.kind in "iubOU"), None)
    decisions = None if classes is None else as_series(classes, index, model.who)
    found = next((read for output in outputs if (read := _scores(output, len(index))) is not None), None)
    if found is None and decisions is None:
        raise ModelError(
            f"{model.who} gives {described(model.session.get_outputs())}, and none of it is one class, one score or "
            "two probabilities a row; leave one of them in the file"
        )
    if found is None:
        return Answers(decisions)
    values, scored = found
    scores = _within_one(as_scores(values, index, model.who))
    return Answers(decisions, scores, scored if scored is not None else _favoured_class(decisions, scores))


def _is_narrow(array: Tensor, rows: int) -> bool:
    return array.shape in ((rows,), (rows, 1))


def _scores(output: object, rows: int) -> tuple[object, object | None] | None:
    """Return the scores in an output, and the class they are for if the output names it; None if it has no scores."""
    if isinstance(output, np.ndarray) and output.dtype.kind == "f":
        if _is_narrow(output, rows):
            return output, None
        return (output[:, 1], None) if output.shape == (rows, 2) else None
    if isinstance(output, list) and output and isinstance(output[0], dict) and len(output[0]) == 2:
        second = sorted(output[0])[1]
        return np.array([row[second] for row in output]), second
    return None


def _within_one(scores: Series) -> Series:
    return scores.clip(0.0, 1.0) if scores.between(-ROUNDING, 1.0 + ROUNDING).all() else scores


def _favoured_class(decisions: Series | None, scores: Series) -> object | None:
    """Return the class whose rows have the higher mean score; None if the means do not tell.

    If all rows are in one class, there is nothing to compare; high scores are then taken to mean class 1, if that one
    class is 0 or 1.
    """
    if decisions is None:
        return None
    means = scores.groupby(decisions.to_numpy()).mean().sort_values()
    if len(means) == 2 and means.iloc[0] < means.iloc[1]:
        return plain(means.index[1])
    return 1 if len(means) == 1 and means.index[0] in (0, 1) else None
