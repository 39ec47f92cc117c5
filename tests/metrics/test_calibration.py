"""Probabilities from decision values."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from fairenum.metrics.performance import calibrate


def test_calibration_maximises_the_likelihood():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 300)) * np.array([[0.1], [1.0], [30.0]])
    labels = (values[1] + rng.normal(size=300) > 0.5).astype(int)
    chances = calibrate(values, labels, values)
    n, m = labels.sum(), (1 - labels).sum()
    target = np.where(labels == 1, (n + 1) / (n + 2), 1 / (m + 2))
    for row, chance in zip(values, chances, strict=True):

        def loss(ab, row=row):
            p = expit(ab[0] * row / row.std() + ab[1])
            return -(target * np.log(p) + (1 - target) * np.log(1 - p)).sum()

        best = minimize(loss, [0.0, 0.0], tol=1e-12)
        np.testing.assert_allclose(chance, expit(best.x[0] * row / row.std() + best.x[1]), atol=1e-5)


@pytest.mark.parametrize("values", [np.zeros(20), np.repeat([-1e6, 1e6], 10), np.repeat([-1e-9, 1e-9], 10)])
def test_calibration_survives_extremes(values):
    labels = np.repeat([0, 1], 10)
    chances = calibrate(values[None], labels, values[None])[0]
    assert np.isfinite(chances).all()
    if values.any():
        np.testing.assert_allclose(chances, np.repeat([1 / 12, 11 / 12], 10), atol=1e-6)
    else:
        np.testing.assert_allclose(chances, 0.5, atol=1e-9)


def test_rows_that_it_was_not_fitted_on_get_the_same_curve():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2, 50))
    labels = (values[0] > rng.normal(size=50)).astype(int)
    whole = calibrate(values, labels, values)
    np.testing.assert_allclose(calibrate(values, labels, values[:, :7]), whole[:, :7])
