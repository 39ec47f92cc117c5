"""Models trained with a price on unfairness: the logistic loss plus a price times the squared differences of groups.

The difference is that of mean decision values between groups: with two groups, half the squared difference; with more,
the squared deviations of the groups' means from their average.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from fairenum.svm.problem import FloatArray
from fairenum.tables import Groups

Point = tuple[float, FloatArray]


def deviations(groups: Groups) -> FloatArray:
    """Return the matrix that takes values of rows to each compared group's mean, minus the average of these means."""
    compared = np.flatnonzero(groups.compared & (groups.sizes > 0))
    means = np.array([(groups.codes == code) / groups.sizes[code] for code in compared])
    return np.asarray(means - means.mean(axis=0))


def penalised_loss(values: FloatArray, signs: FloatArray, spread: FloatArray, price: float) -> Point:
    """Return the loss of decision values and its gradient; `spread` holds the deviations of the groups."""
    apart = spread @ values
    loss = float(np.logaddexp(0.0, -signs * values).mean() + price * (apart @ apart))
    return loss, -signs * expit(-signs * values) / len(signs) + 2.0 * price * (spread.T @ apart)


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """A linear model: weights, the last of which is the constant."""

    weights: FloatArray

    def values(self, X: FloatArray) -> FloatArray:
        """Return the decision values of rows."""
        return np.asarray(X @ self.weights[:-1] + self.weights[-1])


def linear_models(
    X: FloatArray, signs: FloatArray, groups: Groups, prices: Sequence[float], offset: FloatArray | float = 0.0
) -> Iterator[LinearModel]:
    """Yield the penalised linear model of each price; its decision values are added to the offset of each row.

    The squared weights are penalised as in scikit-learn's logistic regression with C = 1; the constant is not.
    """
    spread, weights = deviations(groups), np.zeros(X.shape[1] + 1)
    ridge = np.append(np.full(X.shape[1], 1.0 / len(signs)), 0.0)
    for price in prices:

        def loss(found: FloatArray, price: float = price) -> Point:
            value, slope = penalised_loss(LinearModel(found).values(X) + offset, signs, spread, price)
            gradient = np.append(X.T @ slope, slope.sum()) + ridge * found
            return value + float(ridge @ found**2) / 2.0, gradient

        weights = minimize(loss, weights, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
        yield LinearModel(weights)


ROUNDS, RATE, DEPTH, LEAF = 60, 0.15, 4, 20


def boosted_values(
    X: FloatArray, signs: FloatArray, groups: Groups, price: float, others: Sequence[FloatArray]
) -> list[FloatArray]:
    """Return the decision values that penalised boosted trees give to other rows.

    Each tree fits the gradient of the loss; its factor is a Newton step along it, shortened to `RATE`.
    """
    from sklearn.tree import DecisionTreeRegressor

    spread = deviations(groups)
    start = float(np.log((signs > 0.0).sum() / (signs < 0.0).sum()))
    values, found = np.full(len(signs), start), [np.full(len(rows), start) for rows in others]
    for number in range(ROUNDS):
        slope = penalised_loss(values, signs, spread, price)[1]
        tree = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=LEAF, random_state=number)
        step = tree.fit(X, -slope * len(signs)).predict(X)
        factor = RATE * _newton(values, step, slope, spread, price)
        values = values + factor * step
        found = [value + factor * tree.predict(rows) for value, rows in zip(found, others, strict=True)]
    return found


def _newton(values: FloatArray, step: FloatArray, slope: FloatArray, spread: FloatArray, price: float) -> float:
    """Return the factor of a step at which the loss, to second order, is least; 0 if the step changes nothing."""
    chance, apart = expit(values), spread @ step
    curvature = float((chance * (1.0 - chance) * step**2).mean() + 2.0 * price * (apart @ apart))
    return -float(slope @ step) / curvature if curvature > 0.0 else 0.0
