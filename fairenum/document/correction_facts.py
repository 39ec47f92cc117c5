"""Facts about models that correct the score of the model in use: how the score was read, checked and shifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fairenum.document.value import Estimate, Value

# What the AUC of the score on rows that a correction learns from, or is judged by, is compared with.
LeakKind = Literal["features", "training", "refitted", "marked"]


class LeakCheck(Value, frozen=True):
    """A check whether the model in use was fitted on rows that it scores, by which its score would be too good there.

    Attributes
    ----------
    kind
        What is compared. Features: the score, and models of the features that were cross-validated on the same rows.
        Training: the score on training rows, and on the other rows. Refitted: the score on the other rows, and that of
        the same kind of model, cross-fitted, on training rows. Marked: the score on the rows of the audit, and on the
        rows that are marked as those it was fitted on.
    auc, rows
        Area under the ROC curve of the score where it may be too good, and the number of rows.
    expected, expected_rows
        The area under the ROC curve that it is compared with, and the number of rows.
    lead
        The difference of the two, with limits beyond which it is only once in a thousand times by chance.
    is_far
        Whether the difference is beyond chance, and a large part of what `expected` lacks to 1.
    """

    kind: LeakKind
    auc: float
    rows: int
    expected: float
    expected_rows: int
    lead: Estimate
    is_far: bool


class ScoreShift(Value, frozen=True):
    """How a model weighs the score of the model in use, and how far all other columns shift it.

    Attributes
    ----------
    weight
        The weight of the score, as a multiple of the one at which it decides by itself; 0 if the model ignores it.
    typical
        Mean absolute deviation, over the selection split, of the shift of a row from the mean shift; in units of the
        score or, for a probability, in log-odds. Null unless the weight is positive.
    """

    rank: int
    weight: float
    typical: float | None = None


class Correction(Value, frozen=True):
    """How models that correct the score of the model in use came to learn from it.

    Attributes
    ----------
    feature
        Name of the score among the features.
    column
        Name of the column that an exported model reads the score from.
    is_probability
        Whether the score is a probability, so that its log-odds are encoded.
    unit
        The number by which the encoded score rises where the score, or for a probability its log-odds, rises by 1;
        below 0 if low scores are favourable.
    alone
        The weight of the encoded score at which it decides by itself.
    deviation
        Standard deviation of the encoded score in the training rows.
    is_cross_fitted
        Whether the scores of training rows are those of models of the same kind that were fitted on other training
        rows.
    trained_on
        The column that marks the rows that the model in use was fitted on, "none" if it is stated that there are none
        in the table; null if nothing is stated.
    checks
        Checks whether the score is too good to be that of rows that the model in use was not fitted on.
    shifts
        How each listed model shifts the score, in the order of ranks.
    """

    feature: str
    column: str
    is_probability: bool
    unit: float
    alone: float
    deviation: float
    is_cross_fitted: bool
    trained_on: str | None
    checks: tuple[LeakCheck, ...] = ()
    shifts: tuple[ScoreShift, ...] = ()

    @property
    def leak(self) -> LeakCheck | None:
        """The first check by which the score is too good; None if there is none."""
        return next((check for check in self.checks if check.is_far), None)

    def only(self, ranks: Sequence[int]) -> Correction:
        """Return these facts with the shifts of some models only."""
        return self.but(shifts=tuple(shift for shift in self.shifts if shift.rank in ranks))

    @property
    def units(self) -> str:
        """The words for the units of a shift."""
        return "log-odds" if self.is_probability else "units of the score"
