"""The model in use (the incumbent): its decisions and scores, read from columns, a model file or a Python object."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairenum.document.models import IncumbentSource
from fairenum.document.reading import NONE, CutoffText, Reading, spelled
from fairenum.document.scoring import CellReading
from fairenum.errors import ConfigError, EmptyTable, FavourableUnknown
from fairenum.runtime.hints import quoted
from fairenum.tables.columns import (
    PLAIN_CELLS,
    FloatArray,
    IntArray,
    Texts,
    is_missing,
    plain_text,
    read_only,
    read_texts,
)
from fairenum.tables.decisions import (
    BitArray,
    DecisionColumn,
    Spelling,
    read_decision,
    read_score_column,
    read_scores,
)
from fairenum.tables.fitted_rows import FittedRows, Refitting, labels_known
from fairenum.tables.label import Label, meant_value

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.tables.columns import Series

SPELLING = Spelling("incumbent", "incumbent-favourable", "incumbent-score")
UNNAMED = "the model in use"


@dataclass(frozen=True, slots=True, eq=False)
class IncumbentAnswers:
    """The decisions and scores of the model in use about every row.

    Attributes
    ----------
    name
        The name of the column or of the model file.
    bits
        The decisions, 1 if favourable and 0 if not; None if they follow from `scores` and `cutoff`.
    scores
        The scores, with higher ones favourable; None if the model gives decisions only.
    cutoff
        The score that separates the two decisions, in the units of the table; None if decisions were given.
    favourable, unfavourable
        The texts of the two decisions in the table; None if no decisions were given.
    is_lower_better
        Whether low scores are favourable in the table, so that `scores` holds them with the opposite sign.
    undecided
        Number of rows that were left out because they have no decision or score.
    score_column, cells
        The column of the table that holds the scores, and how its cells are read; None if a model gave the scores.
    trained_on
        The column that marks the rows that the model was fitted on, "none" if it saw none of the rows; None if nothing
        is stated.
    fitted
        The rows that it was fitted on, which were left out; None if none was marked.
    refitting
        The model, to be fitted again; None if it cannot be.
    """

    name: str
    source: IncumbentSource
    bits: BitArray | None = field(default=None, repr=False)
    scores: FloatArray | None = field(default=None, repr=False)
    cutoff: CutoffText | None = None
    favourable: str | None = None
    unfavourable: str | None = None
    is_lower_better: bool = False
    undecided: int = 0
    score_column: str | None = None
    cells: CellReading = PLAIN_CELLS
    trained_on: str | None = None
    fitted: FittedRows | None = None
    refitting: Refitting | None = field(default=None, repr=False)

    def take(self, rows: IntArray) -> IncumbentAnswers:
        """Return the decisions and scores about the given rows."""
        bits = None if self.bits is None else read_only(self.bits[rows])
        scores = None if self.scores is None else read_only(self.scores[rows])
        return replace(self, bits=bits, scores=scores, refitting=self.refitting and self.refitting.take(rows))

    @property
    def content(self) -> bytes:
        """Decisions and scores as bytes, for the table's hash; empty unless they are columns of the table."""
        if self.source == "model":
            return b""
        parts = (b"" if part is None else part.tobytes() for part in (self.bits, self.scores))
        return repr((self.name, self.source)).encode() + b"".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class UnreadAnswers:
    """Decisions and scores of the model in use as given, before it is known which of them are favourable.

    Attributes
    ----------
    texts
        The decisions; None if there are none.
    values
        The scores; None if there are none.
    scored
        The decision that a high score stands for; None if that decision is not known, in which case high scores are
        favourable unless an option says that low ones are.
    score_column, cells, refitting
        As in `IncumbentAnswers`.
    """

    name: str
    source: IncumbentSource
    texts: Texts | None
    values: FloatArray | None
    scored: object = None
    score_column: str | None = None
    cells: CellReading = PLAIN_CELLS
    refitting: Refitting | None = field(default=None, repr=False)

    @property
    def rows(self) -> IntArray:
        """The numbers of the rows with no missing decision and no missing score; refuse a model without such rows."""
        lacking: list[NDArray[np.bool_]] = []
        if self.texts is not None:
            lacking.append(is_missing(self.texts))
        if self.values is not None:
            lacking.append(np.isnan(self.values))
        decided = np.flatnonzero(~np.any(lacking, axis=0))
        if not decided.size:
            raise EmptyTable(
                f"the model in use, {self.name!r}, decides none of the {lacking[0].size} rows; name another"
            )
        return decided

    def read(
        self, rows: IntArray, fitted: IntArray, labels: Series, label: Label, reading: Reading
    ) -> IncumbentAnswers:
        """Return the given rows' decisions as 1 or 0, and their scores with higher ones favourable.

        None of the rows may lack a decision or a score. `fitted` are the numbers of the rows that the model was fitted
        on, and `labels` is the label column of the whole table.
        """
        found = self._read(rows, label, reading)
        return replace(found, fitted=self._fitted(fitted, labels, found, label))

    def _read(self, rows: IntArray, label: Label, reading: Reading) -> IncumbentAnswers:
        decided: DecisionColumn | None = None
        if self.texts is not None and reading.incumbent_cutoff is None:
            decided = read_decision(self.name, self.texts[rows], reading.incumbent_favourable, label, SPELLING)
            _refuse_other_favourable(decided, reading.incumbent_favourable)
        found = IncumbentAnswers(
            self.name,
            self.source,
            cutoff=reading.incumbent_cutoff,
            score_column=self.score_column,
            cells=self.cells,
            trained_on=reading.incumbent_trained_on,
            refitting=self.refitting and self.refitting.take(rows),
        )
        if self.values is not None:
            is_lower = self._is_lower_better(label, decided, reading)
            scores = (-1.0 if is_lower else 1.0) * self.values[rows]
            found = replace(found, scores=read_only(scores), is_lower_better=is_lower)
        if decided is None:
            return found
        return replace(found, bits=decided.bits, favourable=decided.favourable, unfavourable=decided.unfavourable)

    def _fitted(self, rows: IntArray, labels: Series, found: IncumbentAnswers, label: Label) -> FittedRows | None:
        if not rows.size:
            return None
        if self.values is None:
            return FittedRows(rows.size, np.empty(0), np.empty(0, dtype=np.intp))
        known, y = labels_known(labels, rows[~np.isnan(self.values[rows])], label)
        return FittedRows(rows.size, (-1.0 if found.is_lower_better else 1.0) * self.values[known], y)

    def _is_lower_better(self, label: Label, decided: DecisionColumn | None, reading: Reading) -> bool:
        """Tell whether low scores are favourable: an option says so, or high scores mean the unfavourable decision."""
        if reading.incumbent_lower_is_better or self.scored is None:
            return reading.incumbent_lower_is_better
        wanted = reading.incumbent_favourable if decided is None else decided.favourable
        favourable = label.favourable if wanted is None else wanted
        return meant_value(favourable, [plain_text(self.scored)]) is None


def unread_answers(frame: pd.DataFrame, reading: Reading, model: object = None) -> UnreadAnswers | None:
    """Return the decisions and scores of the model in use about every row of a frame; None if there is no such model.

    `reading` names their columns or the model file; `model` is a fitted classifier, a function, or the decisions.
    """
    if model is not None or reading.incumbent_model is not None:
        return _asked(frame, reading, model)
    column, score = None if reading.incumbent == NONE else reading.incumbent, reading.incumbent_score
    _refuse_idle(reading, has_decisions=column is not None, has_score=score is not None)
    if column is None and score is None:
        return None
    texts = None if column is None else read_texts(frame[column])
    source: IncumbentSource = "decisions" if column else "score"
    if score is None:
        return UnreadAnswers(str(column), source, texts, None)
    scores = read_score_column(frame[score], reading.decimal, SPELLING)
    values = scores.values.astype(np.float64)
    return UnreadAnswers(str(column or score), source, texts, values, score_column=score, cells=scores.cells)


def _refuse_idle(reading: Reading, *, has_decisions: bool, has_score: bool) -> None:
    """Refuse options about scores if the model in use has no scores, and options about decisions if it has none."""
    if reading.incumbent == NONE:  # the user turned the model in use off, and the other options about it are ignored
        return
    if not has_score and (reading.incumbent_cutoff is not None or reading.incumbent_lower_is_better):
        given = "incumbent_lower_is_better (--lower-is-better)"
        if reading.incumbent_cutoff is not None:
            given = "incumbent_cutoff (--cutoff)"
        raise ConfigError(
            f"{given} is about a score of the model in use, and there is none; name its column with "
            "incumbent_score=... (--incumbent-score COLUMN)"
        )
    if not has_decisions and not has_score and reading.incumbent_trained_on is not None:
        raise ConfigError(
            f"{spelled('incumbent_trained_on')} is about the model in use, and there is none; name its decisions with "
            "incumbent=... (--incumbent COLUMN) or its score with incumbent_score=... (--incumbent-score COLUMN)"
        )
    if not has_decisions and reading.incumbent_favourable is not None:
        raise ConfigError(
            "incumbent_favourable (--incumbent-favourable) is about decisions of the model in use, and there are none; "
            "name their column with incumbent=... (--incumbent COLUMN)"
        )


def _refuse_other_favourable(decided: DecisionColumn, wanted: object) -> None:
    """Refuse a favourable value that the user named and that no row has, unless all decisions are unfavourable."""
    values = decided.values
    if wanted is not None and decided.favourable is not None and meant_value(wanted, values) is None:
        raise FavourableUnknown(
            f"decision column {decided.column!r} has no value {str(wanted)!r}, named as incumbent_favourable "
            f"(--incumbent-favourable); there are {quoted(values)}"
        )


def _asked(frame: pd.DataFrame, reading: Reading, model: object) -> UnreadAnswers:
    from fairenum.tables.model_answers import Answers, answers

    if model is not None and reading.aside.keys() & {"incumbent", "incumbent_score"}:
        raise ConfigError("the model in use is given twice, as a model and as a column; give one")
    path = reading.incumbent_model
    name = UNNAMED if path is None else Path(path).name
    found = answers(model if path is None else Path(path), frame)
    if found.decisions is None and reading.incumbent_cutoff is None:
        raise ConfigError(
            f"{name} gives scores and no decisions; say where they are cut with incumbent_cutoff=... (--cutoff), such "
            "as 0.5, rate=0.3 or base-rate"
        )
    if found.scores is None and reading.incumbent_cutoff is not None:
        found = Answers(None, found.decisions)  # a cutoff means that the answers are scores
    texts = None if found.decisions is None else read_texts(found.decisions)
    values = None if found.scores is None else read_scores(found.scores, None, SPELLING)
    return UnreadAnswers(name, "model", texts, values, found.scored, refitting=found.refitting)
