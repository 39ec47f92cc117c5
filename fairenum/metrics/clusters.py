"""Clusters: rows of one person, firm or officer, which are not independent of each other.

The variance of a rate or of a contrast is that of sums over clusters: each row has an influence on the estimate, such
as (x - r) / n for an outcome x, a rate r and n rows of its group; the influences of a cluster are added up, and the
squares of these sums over all clusters are the variance. With C clusters it is multiplied by C / (C - 1), and by the
square of the ratio of Student's to the normal critical value, since a variance of few sums is uncertain.

The *inflation* is this variance divided by that of independent rows, which makes an effective number of rows for the
limits of a rate. A handful of outcomes say little about how alike the rows of a cluster are, so imaginary rows are
added on both sides of the division, as alike as rows can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from scipy import sparse, stats

from fairenum.metrics.counts import BitArray, Confusion, Decisions, Design, FloatArray, Inflated, IntArray, blocks

TAIL = 0.975  # of the quantiles of Student's and of the normal distribution that are compared
IMAGINARY = 1.0  # imaginary rows of a rate; twice as many for a change, which few rows make
MOST_CORRELATED = 0.99
Fraction = Callable[[Confusion], tuple[FloatArray, FloatArray]]


def cluster_sizes(codes: IntArray, clusters: IntArray, groups: int) -> FloatArray:
    """Return for each group the number of its rows in a row's own cluster, averaged over its rows; 1 without rows."""
    cells, sizes = np.unique(np.stack([codes, clusters]), axis=1, return_counts=True)
    squares, rows = (np.bincount(cells[0], sizes**power, groups) for power in (2, 1))
    return np.asarray(np.divide(squares, rows, out=np.ones(groups), where=rows > 0))


def few_clusters(codes: IntArray, clusters: IntArray, groups: int) -> FloatArray:
    """Return for each group the factor of a variance estimated from its number of clusters; 1 for many clusters."""
    cells = np.unique(np.stack([codes, clusters]), axis=1)
    number = np.maximum(np.bincount(cells[0], minlength=groups), 2)
    ratio = stats.t.ppf(TAIL, number - 1) / stats.norm.ppf(TAIL)
    return np.asarray(number / (number - 1) * ratio**2)


def design(decisions: Decisions, fractions: Mapping[str, Fraction]) -> Design | None:
    """Return the inflation of each rate by the clusters of its rows; None if rows are independent."""
    if decisions.clusters is None:
        return None
    everyone = replace(decisions, groups=type(decisions.groups).everyone(len(decisions.labels)))

    @cache
    def of_rate(rate: str) -> Inflated:
        return _of_rates(decisions, fractions[rate])

    @cache
    def overall(rate: str) -> Inflated:
        return Inflated(_of_rates(everyone, fractions[rate]).factor[:, 0])

    return Design(of_rate, overall)


def _of_rates(decisions: Decisions, fraction: Fraction) -> Inflated:
    rows = _Rows(decisions)
    parts = [
        rows.inflated(rows.influence(decisions.predictions[models], fraction), IMAGINARY)
        for models in blocks(len(decisions.predictions), len(decisions.labels))
    ]
    return _joined(parts)


def of_changes(decisions: Decisions, fraction: Fraction, sign: float) -> Inflated:
    """Return the inflation of a rate minus (or, for a sign of 1, plus) that of model 1, and its correlations."""
    rows = _Rows(decisions)
    first = rows.relative(decisions.predictions[:1], fraction)
    size = np.maximum(rows.trials(decisions.predictions[:1], fraction), 1e-300)[:, rows.codes]
    parts = [
        rows.inflated((rows.relative(decisions.predictions[models], fraction) + sign * first) * size, 2 * IMAGINARY)
        for models in blocks(len(decisions.predictions), len(decisions.labels))
    ]
    return _joined(parts)


def _joined(parts: Sequence[Inflated]) -> Inflated:
    factor = np.concatenate([one.factor for one in parts])
    if parts[0].correlation is None:
        return Inflated(factor, None)
    return Inflated(factor, np.concatenate([one.correlation for one in parts if one.correlation is not None]))


class _Rows:
    """The rows of decisions with their weights, groups and clusters, for sums over any of them."""

    def __init__(self, decisions: Decisions) -> None:
        assert decisions.clusters is not None  # noqa: S101 - asked only where there are clusters
        self.codes, clusters = decisions.groups.codes, decisions.clusters
        self._groups, rows = len(decisions.groups.names), len(self.codes)
        weights = np.ones(rows) if decisions.weights is None else decisions.weights
        self._weights = weights * weights.sum() / (weights**2).sum()
        self._labels = np.eye(2)[decisions.labels]
        self._alike = cluster_sizes(self.codes, clusters, self._groups)
        self._few = few_clusters(self.codes, clusters, self._groups)
        pairs, place = np.unique(np.stack([clusters, self.codes]), axis=1, return_inverse=True)
        self._of_group, self._of_cell = (
            sparse.csr_array((np.ones(rows), (np.arange(rows), codes)), shape=(rows, size))
            for codes, size in ((self.codes, self._groups), (place.ravel(), pairs.shape[1]))
        )
        self._pairs = pairs
        self._is_spanning = len(np.unique(pairs[0])) < pairs.shape[1]

    def trials(self, predictions: BitArray, fraction: Fraction) -> FloatArray:
        """Return the trials of a rate by group, as sums of weights, shape (models, groups)."""
        _, tried = self._tried(predictions, fraction)
        return np.asarray((tried * self._weights) @ self._of_group)

    def _tried(self, predictions: BitArray, fraction: Fraction) -> tuple[FloatArray, FloatArray]:
        single = Confusion(self._labels[None], predictions[:, :, None] * self._labels)  # every row a group of its own
        outcomes, tried = np.broadcast_arrays(*fraction(single))
        return np.broadcast_to(outcomes, predictions.shape), np.broadcast_to(tried, predictions.shape)

    def influence(self, predictions: BitArray, fraction: Fraction) -> FloatArray:
        """Return w (x - p t) of each row with weight w, outcome x, trial t and the rate p of its group."""
        outcomes, tried = self._tried(predictions, fraction)
        sums, trials = (np.asarray((part * self._weights) @ self._of_group) for part in (outcomes, tried))
        rates = np.divide(sums, trials, out=np.zeros_like(sums), where=trials > 0)
        return np.asarray(self._weights * (outcomes - rates[:, self.codes] * tried))

    def relative(self, predictions: BitArray, fraction: Fraction) -> FloatArray:
        """Return the influence of each row on the rate of its group: `influence` divided by the trials."""
        trials = self.trials(predictions, fraction)
        divisor = np.where(trials > 0, trials, 1.0)[:, self.codes]
        return np.asarray(self.influence(predictions, fraction) / divisor)

    def inflated(self, influence: FloatArray, imaginary: float) -> Inflated:
        """Return the inflation of the variance of sums of influences by group, shape (models, rows)."""
        alone = np.asarray(influence**2 @ self._of_group)
        sums = np.asarray(influence @ self._of_cell)
        home = sparse.csr_array(
            (np.ones(len(self._pairs[1])), (np.arange(len(self._pairs[1])), self._pairs[1])),
            shape=(len(self._pairs[1]), self._groups),
        )
        together = np.asarray(sums**2 @ home) * self._few
        factor = (together + imaginary * self._alike) / (alone + imaginary)
        return Inflated(factor, self._correlation(sums) if self._is_spanning else None)

    def _correlation(self, sums: FloatArray) -> FloatArray:
        """Return the correlation of the groups' sums, given those of each cluster in each group."""
        size = int(self._pairs[0].max()) + 1
        found = np.empty((len(sums), self._groups, self._groups))
        for model, own in enumerate(sums):
            dense = np.zeros((size, self._groups))
            dense[self._pairs[0], self._pairs[1]] = own
            covariance = dense.T @ dense
            scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
            found[model] = covariance / scale / scale[:, None]
        return np.clip(found, -MOST_CORRELATED, MOST_CORRELATED)


def inflation_of_sums(influence: FloatArray, clusters: IntArray, codes: IntArray) -> FloatArray:
    """Return the inflation of the variance of sums over all rows, given the rows' influences, shape (sums, rows).

    The imaginary row is as influential as the most influential one. The number of clusters that counts is that of the
    group, by `codes`, with the fewest.
    """
    imaginary = (influence**2).max(1)
    groups, everyone = int(codes.max()) + 1, np.zeros_like(codes)
    few = few_clusters(codes, clusters, groups)[np.unique(codes)].max()
    size = int(clusters.max()) + 1
    together = np.array([(np.bincount(clusters, one, size) ** 2).sum() for one in influence]) * few
    above = together + imaginary * cluster_sizes(everyone, clusters, 1)[0]
    below = (influence**2).sum(1) + imaginary
    return np.asarray(np.divide(above, below, out=np.ones(len(influence)), where=below > 0))


def inflation_of_shares(outcomes: FloatArray, codes: IntArray, clusters: IntArray, groups: int) -> FloatArray:
    """Return the inflation of the variance of the share of outcomes (0 or 1) in each group; 1 without rows."""
    rows, hits = (np.bincount(codes, weights, groups) for weights in (None, outcomes))
    influence = outcomes - np.divide(hits, rows, out=np.zeros(groups), where=rows > 0)[codes]
    pairs, place = np.unique(np.stack([clusters, codes]), axis=1, return_inverse=True)
    sums = np.bincount(place.ravel(), influence, pairs.shape[1])
    together = np.bincount(pairs[1], sums**2, groups) * few_clusters(codes, clusters, groups)
    alone = np.bincount(codes, influence**2, groups)
    factor = (together + IMAGINARY * cluster_sizes(codes, clusters, groups)) / (alone + IMAGINARY)
    return np.where(rows > 0, factor, 1.0)


def summed_by_cluster(parts: FloatArray, clusters: IntArray | None) -> FloatArray:
    """Return the rows' parts of a sampling error, shape (models, rows), added up by cluster, if there are clusters."""
    if clusters is None:
        return parts
    size = int(clusters.max()) + 1
    few = few_clusters(np.zeros(len(clusters), np.intp), clusters, 1)
    rows = len(clusters)
    indicator = sparse.csr_array((np.ones(rows), (np.arange(rows), clusters)), shape=(rows, size))
    return np.asarray(parts @ indicator) * np.sqrt(few)
