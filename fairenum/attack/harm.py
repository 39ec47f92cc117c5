"""Whether the models listed under an attack make up for it, and whether what they leave out gives it away."""

from __future__ import annotations

import numpy as np

from fairenum.dataset import merge_identical
from fairenum.document.trial import RecoveryRanks, TrialDetection
from fairenum.enumeration.model import Model
from fairenum.experiment import EncodedRows
from fairenum.problem import FloatArray, IntArray
from fairenum.scoring.counts import BoolArray
from fairenum.selection import ROUNDING_DIGITS


def recovery(gaps: FloatArray, errors: FloatArray, is_constant: BoolArray, clean_gap: float | None) -> RecoveryRanks:
    """Find the first model whose gap is no larger than the clean one, at no more error than model 1.

    Parameters
    ----------
    gaps, errors, is_constant
        Of the listed models on the holdout; one that decides all rows alike recovers nothing.
    clean_gap
        Of the model that the labels gave before they were flipped.
    """
    if clean_gap is None:
        return RecoveryRanks()
    gap, error = np.round(gaps - clean_gap, ROUNDING_DIGITS), np.round(errors - errors[0], ROUNDING_DIGITS)
    return RecoveryRanks(
        rank=_first(~is_constant & (gap <= 0.0) & (error <= 0.0)),
        paper_rank=_first(~is_constant & (gap < 0.0) & (error < 0.0)),
    )


def _first(marks: BoolArray) -> int | None:
    return int(marks.argmax()) + 1 if marks.any() else None


def detection(
    models: tuple[Model, ...], gaps: FloatArray, is_constant: BoolArray, train: EncodedRows, flipped: IntArray
) -> TrialDetection | None:
    """Compare the rows that fairer models leave out with those that were flipped.

    Which of several identical rows is left out is arbitrary, so each counts as the share of flipped ones among them.

    Parameters
    ----------
    models, gaps, is_constant
        The listed models, and how they decide the holdout.
    train
        The training rows with the labels that the attack left.
    flipped
        The rows that were flipped.

    Returns
    -------
    TrialDetection
        None if no fairer model leaves out any row.
    """
    is_fairer = ~is_constant & (np.round(gaps - gaps[0], ROUNDING_DIGITS) < 0.0)
    left_out = sorted({row for place in np.flatnonzero(is_fairer) for row in models[place].left_out})
    if not left_out or not len(flipped):
        return None
    guilt = _shares(train, flipped)
    hits = float(guilt[left_out].sum())
    return TrialDetection(
        left_out=len(left_out),
        precision=hits / len(left_out),
        recall=hits / len(flipped),
        chance=len(flipped) / len(train),
        support_chance=float(guilt[models[0].support].mean()),
    )


def _shares(train: EncodedRows, flipped: IntArray) -> FloatArray:
    """Return for each row the share of flipped ones among those identical to it."""
    merged = merge_identical(train.X, train.y)
    counts = np.bincount(merged.inverse[flipped], minlength=len(merged))
    return np.asarray((counts / merged.copies)[merged.inverse])
