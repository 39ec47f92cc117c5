"""Rows that the model in use was fitted on: read from a column that marks them, and fitting of such a model again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairenum.document.reading import NONE, Reading, number, spelled
from fairenum.errors import ColumnUnusable, EmptyTable
from fairenum.runtime.hints import quoted
from fairenum.tables.columns import FloatArray, IntArray, is_missing, read_only, read_texts
from fairenum.tables.decisions import FAVOURABLE, UNFAVOURABLE
from fairenum.tables.label import Label

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.tables.columns import Series

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class FittedRows:
    """Rows that a column marks as those the model in use was fitted on, and that are left out of an audit.

    Attributes
    ----------
    rows
        Number of such rows.
    scores
        The score of each of them that has one and a label, with higher ones favourable.
    y
        The labels of these rows: 1 if favourable, 0 if not.
    """

    rows: int
    scores: FloatArray = field(repr=False)
    y: IntArray = field(repr=False)


def marked_rows(frame: pd.DataFrame, rows: IntArray, reading: Reading) -> BoolArray:
    """Return for each of the given rows of a table whether it is marked as one that the model in use was fitted on."""
    column = reading.incumbent_trained_on
    if column is None or column == NONE:
        return np.zeros(len(rows), dtype=np.bool_)
    marked = _read_marks(frame[column])[rows]
    if marked.all():
        raise EmptyTable(
            f"column {column!r}, named as {spelled('incumbent_trained_on')}, marks all {len(rows)} rows as those that "
            "the model in use was fitted on, so none is left to audit; add rows that it has not seen"
        )
    return marked


def _read_marks(series: Series) -> BoolArray:
    """Return whether each cell is 1, yes or true; an empty cell counts as 0, no or false, other cells are refused."""
    found = read_texts(series)
    texts = np.where(is_missing(found), UNFAVOURABLE[0], found).tolist()
    meaning = {text: _meaning(text) for text in set(texts)}
    if strange := sorted(text for text, meant in meaning.items() if meant is None):
        raise ColumnUnusable(
            f"column {series.name!r}, named as {spelled('incumbent_trained_on')}, holds {quoted(strange)}; mark the "
            "rows that the model in use was fitted on by 1, yes or true, and all others by 0, no or false"
        )
    return np.array([bool(meaning[text]) for text in texts], dtype=np.bool_)


def _meaning(text: str) -> bool | None:
    folded = text.casefold()
    if number(text) in (0.0, 1.0):
        return number(text) == 1.0
    return True if folded in FAVOURABLE else False if folded in UNFAVOURABLE else None


def labels_known(series: Series, rows: IntArray, label: Label) -> tuple[IntArray, IntArray]:
    """Return those of the given rows whose cell is a value of the label, and their labels as 1 and 0."""
    texts = read_texts(series)[rows]
    known = np.isin(texts, [label.favourable, label.unfavourable])
    return rows[known], (texts[known] == label.favourable).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Refitting:
    """A fitted classifier of two classes that can be fitted again, with all rows of a table as it takes them.

    Attributes
    ----------
    classes
        Its two classes; a high score stands for the second.
    """

    estimator: object = field(repr=False)
    rows: pd.DataFrame | NDArray[np.generic] = field(repr=False)
    classes: tuple[object, object]

    def take(self, rows: IntArray) -> Refitting:
        """Return the same estimator with the given rows only."""
        return replace(self, rows=self._at(rows))

    def _at(self, rows: IntArray) -> pd.DataFrame | NDArray[np.generic]:
        return self.rows[rows] if isinstance(self.rows, np.ndarray) else self.rows.iloc[rows]

    def scores(self, learnt: IntArray, is_second: BoolArray, applied: IntArray, seed: int) -> FloatArray:
        """Return the scores of some rows by a new classifier of the same kind, fitted on other rows.

        `is_second` tells which of the rows `learnt` have the second class.
        """
        from sklearn.base import clone

        from fairenum.tables.model_answers import blaming, class_scores

        who = f"the model in use ({type(self.estimator).__name__}), fitted again on {len(learnt)} rows,"
        with blaming(who):
            model = clone(self.estimator)
            seeds = [name for name, value in model.get_params().items() if _is_seed(name) and value is None]
            model.set_params(**dict.fromkeys(seeds, seed))  # the same input and seed give the same scores
            model.fit(self._at(learnt), np.array(self.classes)[is_second.astype(np.intp)])
            return read_only(np.asarray(class_scores(model, self._at(applied)), dtype=np.float64))


def _is_seed(name: str) -> bool:
    return name.rpartition("__")[2] == "random_state"
