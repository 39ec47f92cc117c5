"""The model in use: row 0 of an audit, beside the models that the audit has found."""

from __future__ import annotations

from typing import Literal

from fairenum.document.models import ChangedRows
from fairenum.document.scores import SplitScores
from fairenum.document.value import Parts, Value

IncumbentSource = Literal["decisions", "score", "model"]


class Incumbent(Value, frozen=True):
    """The model in use: where its decisions come from, and how it scores on the same rows as the models.

    Attributes
    ----------
    name
        Of the column or the file.
    source
        A column of decisions, a column of scores, or a model that was asked.
    favourable, unfavourable
        What its decisions are called; null where a score was cut.
    cutoff
        Where its score was cut, as its owner counts; null where decisions were given.
    is_lower_better
        Whether lower scores are favourable.
    has_score
        Whether it has a score, by which it ranks people.
    undecided
        Rows of the table that it never decided about, which are no part of the audit.
    agreement
        Share of all rows of the audit whose label its decision equals.
    predictions_changed
        Rows decided otherwise than by model 1, by split.
    is_constant
        Whether it decides all rows of the selection split alike.
    copies
        Features that tell its decisions nearly alone, so that machines can learn what it does.
    """

    name: str
    source: IncumbentSource
    scores: Parts[SplitScores]
    agreement: float
    predictions_changed: Parts[ChangedRows]
    is_constant: bool
    has_score: bool = False
    favourable: str | None = None
    unfavourable: str | None = None
    cutoff: float | None = None
    is_lower_better: bool = False
    undecided: int = 0
    copies: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """Its place in tables: before model 1."""
        return 0
