"""A model in an ONNX file, run on the CPU by onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.answering import Answers, as_scores, as_series, blaming, brief, plain
from fairenum.dataset.model_files import read_content
from fairenum.dataset.onnx_inputs import FEATURE_NAMES, Onnx, Tensor, described, feeds
from fairenum.errors import ModelError, ModelFileRefused, ReaderMissing

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.dataset.columns import Series
    from fairenum.dataset.naming import Index

# A file may say that its numbers are in another one; where that is looked for there is nothing.
NOWHERE = "session.model_external_initializers_file_folder_path"
ROUNDING = 1e-6
FORMAT = "session.load_model_format"


def ask_onnx(path: Path, frame: pd.DataFrame) -> Answers:
    """Ask the model in an ONNX file about every row; the columns have plain names."""
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
    options.log_severity_level = 4  # what is wrong is said by the exception
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
    """Read names of columns: a JSON list, or texts with commas between them."""
    try:
        listed = json.loads(said)
    except ValueError:
        listed = None
    names = listed if isinstance(listed, list) else said.split(",")
    return tuple(str(name).strip() for name in names if str(name).strip())


def _read(model: Onnx, outputs: Sequence[object], index: Index) -> Answers:
    """Tell decisions and scores by what they are: the first of each."""
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
    return Answers(decisions, scores, scored if scored is not None else _spoken_for(decisions, scores))


def _is_narrow(array: Tensor, rows: int) -> bool:
    return array.shape in ((rows,), (rows, 1))


def _scores(output: object, rows: int) -> tuple[object, object | None] | None:
    """Read numbers that rank rows, and the class that they speak for where it is named; None if it is none."""
    if isinstance(output, np.ndarray) and output.dtype.kind == "f":
        if _is_narrow(output, rows):
            return output, None
        return (output[:, 1], None) if output.shape == (rows, 2) else None
    if isinstance(output, list) and output and isinstance(output[0], dict) and len(output[0]) == 2:
        second = sorted(output[0])[1]
        return np.array([row[second] for row in output]), second
    return None


def _within_one(scores: Series) -> Series:
    """Undo rounding: probabilities that are added up in single precision can come out as 1.0000001."""
    return scores.clip(0.0, 1.0) if scores.between(-ROUNDING, 1.0 + ROUNDING).all() else scores


def _spoken_for(decisions: Series | None, scores: Series) -> object | None:
    """Find the class that higher scores go with, as a file names no classes; None if that cannot be told."""
    if decisions is None:
        return None
    means = scores.groupby(decisions.to_numpy()).mean().sort_values()
    if len(means) == 2 and means.iloc[0] < means.iloc[1]:
        return plain(means.index[1])
    return 1 if len(means) == 1 and means.index[0] in (0, 1) else None
