"""Rates of groups that are known only by probability, such as from names and addresses (BISG).

Let p_i be the probability that row i belongs to a group, and x_i be 1 if it is selected, else 0. The weighted estimator
of the group's rate is r = sum p_i x_i / sum p_i, with the linearised variance sum p_i^2 (x_i - r)^2 / (sum p_i)^2. A
difference of two groups is estimated from the same rows, so its variance is that of the difference of the influences
p_i (x_i - r) / sum p_i of both.

If probabilities are calibrated, the weighted estimator exceeds the true rate by -E[cov(group, x | z)] / P(group), where
z is what the probabilities were made from (Chen, Kallus, Mao, Svacha and Udell, 2019): it is unbiased if, among rows of
the same z, groups are selected alike. If a group is disadvantaged even there, the difference is understated.

Without that assumption, the rate is only bounded (Kallus, Mao and Zhou, 2022). Among rows of the same z with the
probability p and the selection rate s, the share of rows that are in the group and selected lies between
max(0, p + s - 1) and min(p, s) (Fréchet). Rows are put in classes of about equal p, which is valid if wider, and the
bounds are summed over classes. In small classes the noise of s would make bounds too narrow, so classes are large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.metrics.clusters import summed_by_cluster
from fairenum.metrics.counts import BitArray, FloatArray, IntArray, freeze
from fairenum.metrics.intervals import Interval, normal_critical

CLASS_ROWS = 100  # least rows of a class
MOST_CLASSES = 20


@dataclass(frozen=True, slots=True)
class SoftGroups:
    """Probabilities of each row (first axis) to belong to each group (second axis), and the decisions.

    `clusters` has the number of each row's cluster; None if rows are independent.
    """

    probabilities: FloatArray
    bits: BitArray
    clusters: IntArray | None = None

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def sizes(self) -> FloatArray:
        """The expected number of rows of each group."""
        return np.asarray(self.probabilities.sum(0))

    @property
    def rates(self) -> FloatArray:
        """The weighted estimate of each group's rate; nan for a group without any probability."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.bits @ self.probabilities / self.sizes)

    @property
    def influences(self) -> FloatArray:
        """What each row adds to the error of each group's rate, shape (rows, groups)."""
        return np.asarray(self.probabilities * (self.bits[:, None] - self.rates) / self.sizes)

    def variance(self, influences: FloatArray) -> FloatArray:
        """Return the variance of sums of influences, shape (rows, sums); those of a cluster are added up first."""
        if self.clusters is None:
            return np.asarray((influences**2).sum(0))
        return np.asarray((summed_by_cluster(influences.T, self.clusters) ** 2).sum(1))


def soft_rates(soft: SoftGroups, confidence: float) -> Interval:
    """Return the weighted estimates of the groups' rates with limits, shape (groups,).

    The limits are Wilson's, with the number of rows that gives the linearised variance.
    """
    rates, variance = soft.rates, soft.variance(soft.influences)
    kish = soft.sizes**2 / np.maximum((soft.probabilities**2).sum(0), 1e-300)
    with np.errstate(invalid="ignore", divide="ignore"):
        linear = rates * (1 - rates) / variance
    rows = np.where(variance > 0, np.fmin(linear, kish), kish)
    square = normal_critical(confidence) ** 2
    centre = (rates * rows + square / 2) / (rows + square)
    radius = np.sqrt(square * (rates * (1 - rates) * rows + square / 4)) / (rows + square)
    return Interval(rates, np.clip(centre - radius, 0, 1), np.clip(centre + radius, 0, 1))


def soft_differences(soft: SoftGroups, reference: int, confidence: float) -> Interval:
    """Return each group's rate minus that of the reference group, with limits, shape (groups,)."""
    influences = soft.influences
    values = soft.rates - soft.rates[reference]
    radius = normal_critical(confidence) * np.sqrt(soft.variance(influences - influences[:, [reference]]))
    return Interval(values, np.clip(values - radius, -1, 1), np.clip(values + radius, -1, 1))


def rate_bounds(soft: SoftGroups, confidence: float) -> Interval:
    """Return bounds of the groups' rates that need no assumption but calibrated probabilities, shape (groups,).

    The estimates are the weighted ones. Each bound is moved outwards by its own sampling error, one-sided.
    """
    lower, upper = zip(*(_bounds(soft, group, confidence) for group in range(soft.probabilities.shape[1])), strict=True)
    return Interval(soft.rates, np.clip(lower, 0, 1), np.clip(upper, 0, 1))


def _bounds(soft: SoftGroups, group: int, confidence: float) -> tuple[float, float]:
    p, x = soft.probabilities[:, group], soft.bits.astype(np.float64)
    size = p.sum()
    if size <= 0:
        return 0.0, 1.0
    classes = _classes(p)
    rows = np.bincount(classes).astype(np.float64)
    chance, rate = np.bincount(classes, p) / rows, np.bincount(classes, x) / rows
    # the bounds of a class are a constant, its probability, or its selection rate plus a constant
    critical = normal_critical(2 * confidence - 1) if confidence > 0.5 else 0.0
    variance = (rows * rate * (1 - rate)).sum()
    if soft.clusters is not None:
        variance = soft.variance((x - rate[classes])[:, None])[0]
    error = critical * np.sqrt(variance) / size
    least = (rows * np.maximum(chance + rate - 1, 0.0)).sum() / size
    most = (rows * np.minimum(chance, rate)).sum() / size
    return float(least - error), float(most + error)


def _classes(p: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the class of each row: up to 20 classes of about equal probability, each of at least 100 rows."""
    number = int(np.clip(len(p) // CLASS_ROWS, 1, MOST_CLASSES))
    edges = np.unique(np.quantile(p, np.arange(1, number) / number))
    found = np.searchsorted(edges, p, side="right")
    return np.unique(found, return_inverse=True)[1].ravel()
