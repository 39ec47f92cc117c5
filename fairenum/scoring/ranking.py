"""How well a score tells rows apart, group by group: means, ranks, ROC curves and calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairenum.scoring.auc import auc_intervals
from fairenum.scoring.counts import BitArray, FloatArray, IntArray, freeze
from fairenum.scoring.cutoffs import Graded
from fairenum.scoring.intervals import Interval, normal_critical, rate_limits
from fairenum.scoring.rates import share

BINS = 10
MOST_POINTS = 41


@dataclass(frozen=True, slots=True, eq=False)
class Roc:
    """Points of a ROC curve, from (0, 0) to (1, 1); both empty where a label has no rows."""

    false_positive_rate: FloatArray
    true_positive_rate: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """How often rows of about the same score have the favourable label, shape (groups, bins).

    Attributes
    ----------
    edges
        Ends of the bins, one more than there are bins; each holds its upper end, the first one its lower, too.
    rows
        In each group and bin.
    mean
        Score of these rows; NaN without rows.
    rate
        Share of them with a favourable label; limits hold one by one.
    """

    edges: FloatArray
    rows: IntArray
    mean: FloatArray
    rate: Interval

    def __post_init__(self) -> None:
        freeze(self)


def means(graded: Graded) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of the score in each group; NaN where there are too few rows."""
    mean, deviation, unit = _moments(graded)
    return mean * unit, deviation * unit


def _moments(graded: Graded) -> tuple[FloatArray, FloatArray, float]:
    """Return the same in a unit in which no square is too large, and the unit: a power of 2, which loses nothing."""
    codes, sizes = graded.groups.codes, graded.groups.sizes.astype(np.float64)
    unit = float(np.ldexp(1.0, np.frexp(np.abs(graded.values).max())[1] - 1))
    values = graded.values / unit
    mean = share(_sums(codes, values, len(sizes)), sizes)
    scatter = _sums(codes, (values - mean[codes]) ** 2, len(sizes))
    variance = np.where(sizes > 1, share(scatter, np.maximum(sizes - 1, 1)), np.nan)
    return mean, np.sqrt(variance), unit


def standardised_differences(graded: Graded, reference: int, confidence: float = 0.95) -> Interval:
    """Bound how far each group's mean score lies above that of the reference group, in standard deviations.

    d = (m - m') / s with the deviation s of the two groups together (Cohen), and limits from the variance
    1 / n + 1 / n' + d^2 / 2 (n + n') (Hedges and Olkin, 1985).

    Parameters
    ----------
    graded
        Scored rows.
    reference
        Position of the group to compare with.
    confidence
        Of each interval.

    Returns
    -------
    Interval
        Shape (groups,); 0 for the reference group itself, NaN where scores do not vary.
    """
    (mean, deviation, _), sizes = _moments(graded), graded.groups.sizes.astype(np.float64)
    other = sizes[reference]
    with np.errstate(divide="ignore", invalid="ignore"):
        scatter = (sizes - 1) * deviation**2 + (other - 1) * deviation[reference] ** 2
        pooled = np.sqrt(scatter / (sizes + other - 2))
        value = np.where(pooled > 0, (mean - mean[reference]) / pooled, np.nan)
        radius = normal_critical(confidence) * np.sqrt(1 / sizes + 1 / other + value**2 / (2 * (sizes + other)))
    return Interval(value, value - radius, value + radius).where(np.arange(len(sizes)) != reference)


def auc_by_group(graded: Graded, confidence: float = 0.95) -> Interval:
    """Bound the AUC within each group, one by one; shape (groups,), NaN where a label has no rows or is not known."""
    found = [_auc(graded, rows, confidence) for rows in _rows_of_groups(graded)]
    estimate, lower, upper = np.array(found).T
    return Interval(estimate, lower, upper)


def _auc(graded: Graded, rows: IntArray, confidence: float) -> tuple[float, float, float]:
    if graded.labels is None or len(np.unique(graded.labels[rows])) < 2:
        return (np.nan,) * 3
    found = auc_intervals(graded.values[rows][None], graded.labels[rows], confidence)
    return float(found.estimate[0]), float(found.lower[0]), float(found.upper[0])


def roc_by_group(graded: Graded, most: int = MOST_POINTS) -> list[Roc]:
    """Draw the ROC curve of each group, through at most so many of its points."""
    if graded.labels is None:
        return [Roc(np.empty(0), np.empty(0)) for _ in graded.groups.names]
    return [_roc(graded.values[rows], graded.labels[rows], most) for rows in _rows_of_groups(graded)]


def _roc(values: FloatArray, labels: BitArray, most: int) -> Roc:
    order = np.argsort(-values, kind="stable")
    ordered, hits = values[order], labels[order].astype(np.int64)
    found, all_hits = np.cumsum(hits), int(hits.sum())
    if all_hits in (0, len(hits)):
        return Roc(np.empty(0), np.empty(0))
    ends = np.flatnonzero(np.diff(ordered, append=-np.inf))  # the last row of each value
    true = np.concatenate([[0], found[ends]]) / all_hits
    false = np.concatenate([[0], ends + 1 - found[ends]]) / (len(hits) - all_hits)
    kept = _thinned(true + false, most)
    return Roc(false[kept], true[kept])


def _thinned(travelled: FloatArray, most: int) -> IntArray:
    """Choose points that lie evenly on a way, its two ends among them."""
    wanted = np.linspace(travelled[0], travelled[-1], most)
    return np.unique([*np.searchsorted(travelled, wanted).clip(0, len(travelled) - 1), 0, len(travelled) - 1])


def calibration_by_group(graded: Graded, bins: int = BINS, confidence: float = 0.95) -> Calibration | None:
    """Compare scores with labels in bins that hold about as many rows each; None if no labels are known."""
    if graded.labels is None:
        return None
    edges = np.unique(np.quantile(graded.values, np.linspace(0.0, 1.0, bins + 1), method="inverted_cdf"))
    inner = edges[1:-1]
    shape = (len(graded.groups.names), len(inner) + 1)
    cells = graded.groups.codes * shape[1] + np.searchsorted(inner, graded.values, "left")
    rows, sums, hits = (
        _sums(cells, weights, shape[0] * shape[1]).reshape(shape)
        for weights in (np.ones(len(cells)), graded.values, graded.labels.astype(np.float64))
    )
    ends = edges if len(edges) > 1 else np.repeat(edges, 2)
    limits = rate_limits(hits, rows, normal_critical(confidence))
    return Calibration(ends, rows.astype(np.intp), share(sums, rows), limits)


def _sums(codes: IntArray, values: FloatArray, length: int) -> FloatArray:
    return np.bincount(codes, values, length).astype(np.float64)


def _rows_of_groups(graded: Graded) -> list[IntArray]:
    codes = graded.groups.codes
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(graded.groups.names)))
    return np.split(order, ends[:-1])
