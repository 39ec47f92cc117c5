"""Probabilities from decision values: Platt's sigmoid, for all models at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fairenum.scoring.counts import FloatArray

MOST_STEPS = 100
SMALL_STEP = 1e-10


def calibrate(values: FloatArray, labels: NDArray[np.integer], others: FloatArray) -> FloatArray:
    """Turn decision values into probabilities of the favourable outcome.

    P(favourable | f) = 1 / (1 + exp(-a f - b)), where a and b maximise the likelihood of the labels. Platt's targets,
    (n + 1) / (n + 2) for the n favourable rows and 1 / (m + 2) for the m others, keep them finite on separable rows.

    Parameters
    ----------
    values, labels
        Decision values, shape (models, rows), and 0/1 labels of the rows to fit on: not those of training, on which
        an SVM's values are pushed to the margin.
    others
        Decision values of the rows to have probabilities for, shape (models, other rows).

    Returns
    -------
    FloatArray
        Shape (models, other rows).
    """
    centre, spread = values.mean(1, keepdims=True), values.std(1, keepdims=True)
    spread = np.where(spread > 0.0, spread, 1.0)
    slope, offset = _fit((values - centre) / spread, _targets(labels))
    return np.asarray(expit(slope * (others - centre) / spread + offset))


def _targets(labels: NDArray[np.integer]) -> FloatArray:
    favourable = int(labels.sum())
    other = len(labels) - favourable
    return np.where(labels == 1, (favourable + 1) / (favourable + 2), 1 / (other + 2))


def _fit(values: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minimise the log loss in slope and offset by Newton's method, damped so that it cannot overshoot."""
    slope, offset = (np.zeros((len(values), 1)) for _ in range(2))
    for _ in range(MOST_STEPS):
        chance = expit(slope * values + offset)
        error, weight = chance - targets, np.maximum(chance * (1 - chance), 1e-12)
        gradient = np.stack([(error * values).sum(1), error.sum(1)], axis=-1)
        mixed = (weight * values).sum(1)
        curvature = np.stack([(weight * values**2).sum(1), mixed, mixed, weight.sum(1)], axis=-1).reshape(-1, 2, 2)
        curvature += 1e-9 * len(targets) * np.eye(2)  # values that are all alike have no slope
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        step /= 1 + np.abs(step).max(1, keepdims=True)
        slope, offset = slope - step[:, :1], offset - step[:, 1:]
        if np.abs(step).max() < SMALL_STEP:
            break
    return slope, offset
