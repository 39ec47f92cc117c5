"""What an ONNX file wants of a table: columns by the names of its inputs, or a matrix of columns that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.answering import pick
from fairenum.dataset.columns import Unclear, by_value, interpret, plain_text
from fairenum.errors import ColumnConflict, ColumnUnusable, ModelError
from fairenum.phrases import quoted

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.dataset.columns import Series

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
    """An input or output as onnxruntime describes it; a size that is not fixed is a name or None."""

    name: str
    type: str
    shape: Sequence[int | str | None]


class Session(Protocol):
    """A model that onnxruntime has loaded."""

    def get_inputs(self) -> Sequence[Declared]:
        """Return what it wants."""

    def get_outputs(self) -> Sequence[Declared]:
        """Return what it gives."""

    def run(self, names: None, feeds: Mapping[str, Tensor]) -> Sequence[object]:
        """Return all outputs."""


@dataclass(frozen=True, slots=True)
class Onnx:
    """A loaded file: who it is in messages, its session, and the names that it gives to the columns of a matrix."""

    who: str
    session: Session
    columns: tuple[str, ...]


def feeds(model: Onnx, frame: pd.DataFrame) -> dict[str, Tensor]:
    """Make what the model wants of the columns that can be meant."""
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
    """Return how many columns an input takes; None if it does not say so."""
    width = declared.shape[1] if len(declared.shape) == 2 else 1
    return width if isinstance(width, int) else None


def _column(series: Series, declared: Declared, who: str) -> Tensor:
    cells = _cells(series, declared.type, who)
    return cells if len(declared.shape) == 1 else cells[:, None]


def _matrix(model: Onnx, declared: Declared, frame: pd.DataFrame) -> Tensor:
    """Make a matrix of the columns that the file names, or of all columns if there are just as many."""
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
    """List inputs or outputs with their types and sizes."""
    return ", ".join(f"{each.name!r} ({each.type}, {list(each.shape)})" for each in parts[:6]) or "nothing"


def _cells(series: Series, kind: str, who: str) -> Tensor:
    """Turn a column into what an input takes; an empty cell is an empty text, or no number."""
    if kind == TEXTS:
        cells = series.astype(object).to_numpy()
        texts = by_value(cells, lambda cell: cell if isinstance(cell, str) else plain_text(cell), np.object_)
        texts[series.isna().to_numpy()] = ""
        return texts
    found = interpret(series)
    if isinstance(found, Unclear):
        raise ColumnUnusable(f"{who} wants numbers, and {found.problem}; correct or empty such cells")
    column, _ = found
    if not column.is_numeric:
        raise ColumnUnusable(
            f"{who} wants numbers in column {series.name!r}, which holds texts; encode them as it does"
        )
    numbers = column.values.astype(np.float64)
    cast = TYPES[kind]
    if not np.issubdtype(cast, np.floating) and not np.all(np.isfinite(numbers) & (numbers == np.rint(numbers))):
        raise ColumnUnusable(f"{who} wants whole numbers in column {series.name!r}, which has empty or other cells")
    return numbers.astype(cast)
