"""Statistics of a score in each group: selection at several cutoffs, means, AUC, ROC curves and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairenum.errors import DataError
from fairenum.metrics.clusters import design, inflation_of_shares, inflation_of_sums
from fairenum.metrics.counts import (
    BitArray,
    BoolArray,
    Confusion,
    Decisions,
    Design,
    FloatArray,
    IntArray,
    freeze,
)
from fairenum.metrics.intervals import Interval, normal_critical, rate_limits
from fairenum.metrics.performance import auc_intervals
from fairenum.metrics.rates import FRACTIONS, Scores, scored, share
from fairenum.tables.groups import Groups

SHARES: tuple[float, ...] = tuple(step / 20 for step in range(1, 20))


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows with a numeric score, their groups, and their labels if known.

    Attributes
    ----------
    values
        One finite number for each row; higher is favourable.
    labels
        0/1 truth; None if it is not known.
    clusters
        The number of each row's cluster (a person, a firm); None if rows are independent.
    """

    values: FloatArray
    groups: Groups
    labels: BitArray | None = None
    clusters: IntArray | None = None

    def __post_init__(self) -> None:
        rows = len(self.groups.codes)
        values = np.asarray(self.values, dtype=np.float64).view()
        if values.shape != (rows,) or not np.isfinite(values).all():
            raise DataError(f"scores must be one finite number for each of {rows} grouped rows, got {values.shape}")
        if self.labels is not None and self.labels.shape != (rows,):
            raise DataError(f"labels must be one for each of {rows} grouped rows, got {self.labels.shape}")
        object.__setattr__(self, "values", values)
        freeze(self)

    @property
    def cells(self) -> IntArray:
        """For each row 2 * (position of its group) + label; an unknown label counts as 0, unfavourable."""
        return 2 * self.groups.codes + (0 if self.labels is None else self.labels)


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Rates and gaps of a score at several cutoffs, each taken as a model that selects rows of at least the cutoff."""

    cutoffs: FloatArray
    scores: Scores

    def __post_init__(self) -> None:
        freeze(self)


def counted_at(graded: ScoredRows, cutoffs: FloatArray, *, is_above: bool = False) -> Confusion:
    """Return the numbers of rows that a score selects by group and label, with each cutoff as one model.

    Rows of at least the cutoff are selected or, with `is_above`, only those above it.
    """
    shape, cells = (len(graded.groups.names), 2), graded.cells
    order = np.argsort(graded.values, kind="stable")
    # small integers are sorted fast
    order = order[np.argsort(cells[order].astype(np.min_scalar_type(2 * shape[0])), kind="stable")]
    ordered, values = cells[order], graded.values[order]
    total, selected = np.zeros((1, *shape)), np.zeros((len(cutoffs), *shape))
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(ordered)], strict=True):
        place = np.unravel_index(ordered[start], shape)
        total[0][place] = end - start
        below = np.searchsorted(values[start:end], cutoffs, "right" if is_above else "left")
        selected[:, *place] = end - start - below
    return Confusion(total, selected)


def scored_at(graded: ScoredRows, cutoffs: FloatArray, *, is_above: bool = False) -> Scores:
    """Return the rates and gaps of a score at each cutoff; without labels, only selection rates mean something."""
    counts = counted_at(graded, cutoffs, is_above=is_above)
    if graded.clusters is not None:
        counts = replace(counts, design=_design(graded, cutoffs, is_above=is_above))
    return scored(graded.groups, counts, is_constant(graded.groups, counts))


def _design(graded: ScoredRows, cutoffs: FloatArray, *, is_above: bool) -> Design | None:
    """Return the inflation of the rates at each cutoff by clusters."""
    cut = cutoffs[:, None]
    selected = graded.values > cut if is_above else graded.values >= cut
    labels = np.zeros(len(graded.values), np.uint8) if graded.labels is None else graded.labels
    return design(Decisions(selected.astype(np.uint8), labels, graded.groups, clusters=graded.clusters), FRACTIONS)


def is_constant(groups: Groups, counts: Confusion) -> BoolArray:
    """Return a mask of the models that decide all rows of the compared groups alike, given counts without weights."""
    compared = counts.of_groups(groups.compared).overall()
    selected, total = compared.selected.sum(-1), compared.total.sum(-1)
    return np.asarray((selected == 0) | (selected == total))


def sweep(graded: ScoredRows, shares: Sequence[float] = SHARES) -> Sweep:
    """Return rates and gaps at the cutoffs that select each of the given shares of rows, highest cutoff first.

    Where scores are tied more rows are selected, and equal cutoffs are merged.
    """
    ordered = np.sort(graded.values)[::-1]
    # rounding must not turn the 6th of 20 rows into the 7th
    places = np.ceil(np.round(np.asarray(shares) * len(ordered), 9)).astype(int).clip(1) - 1
    cutoffs = np.unique(ordered[places])[::-1]
    return Sweep(cutoffs, scored_at(graded, cutoffs))


def scoring_rates(graded: ScoredRows) -> tuple[float, Scores]:
    """Return the median score and the share of each group above it: the scoring rates of NYC Local Law 144."""
    median = float(np.median(graded.values))
    return median, scored_at(graded, np.array([median]), is_above=True)


BINS = 10
MOST_POINTS = 41


@dataclass(frozen=True, slots=True, eq=False)
class Roc:
    """Points of a ROC curve, from (0, 0) to (1, 1); both arrays are empty where a label has no rows."""

    false_positive_rate: FloatArray
    true_positive_rate: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Rates of favourable labels among rows of similar score, shape (groups, bins).

    Attributes
    ----------
    edges
        Ends of the bins, one more than there are bins. A row on the edge between two bins is in the lower one.
    mean
        Mean score of the rows in each bin; NaN without rows.
    rate
        Share of the rows in each bin with a favourable label; each interval has the confidence by itself.
    """

    edges: FloatArray
    rows: IntArray
    mean: FloatArray
    rate: Interval

    def __post_init__(self) -> None:
        freeze(self)


def means(graded: ScoredRows) -> tuple[FloatArray, FloatArray]:
    """Return the mean and standard deviation of scores by group; a mean needs one row, a deviation two, else NaN."""
    mean, deviation, unit = _moments(graded)
    return mean * unit, deviation * unit


def _moments(graded: ScoredRows) -> tuple[FloatArray, FloatArray, float]:
    """Return mean and standard deviation in each group, divided by a power of 2 against overflow, and that power."""
    codes, sizes = graded.groups.codes, graded.groups.sizes.astype(np.float64)
    unit = float(np.ldexp(1.0, np.frexp(np.abs(graded.values).max())[1] - 1))
    values = graded.values / unit
    mean = share(_sums(codes, values, len(sizes)), sizes)
    scatter = _sums(codes, (values - mean[codes]) ** 2, len(sizes))
    variance = np.where(sizes > 1, share(scatter, np.maximum(sizes - 1, 1)), np.nan)
    return mean, np.sqrt(variance), unit


def standardised_differences(graded: ScoredRows, reference: int, confidence: float = 0.95) -> Interval:
    """Return limits of each group's mean score minus the reference group's, in standard deviations, shape (groups,).

    The difference is d = (m - m') / s, with means m of the n rows of a group and m' of the n' rows of the reference
    group, and s their pooled standard deviation (Cohen). Its limits come from the variance 1 / n + 1 / n' + d^2 / (2 (n
    + n')) (Hedges and Olkin, 1985). `reference` is the position of the reference group, whose own difference is 0; a
    difference is NaN where scores do not vary. With clusters, the variance is inflated as that of the rows' influences
    on d: (v - m) / n of a value v, divided by s, and what v adds to s.
    """
    (mean, deviation, _), sizes = _moments(graded), graded.groups.sizes.astype(np.float64)
    other = sizes[reference]
    with np.errstate(divide="ignore", invalid="ignore"):
        scatter = (sizes - 1) * deviation**2 + (other - 1) * deviation[reference] ** 2
        pooled = np.sqrt(scatter / (sizes + other - 2))
        value = np.where(pooled > 0, (mean - mean[reference]) / pooled, np.nan)
        radius = normal_critical(confidence) * np.sqrt(1 / sizes + 1 / other + value**2 / (2 * (sizes + other)))
    if graded.clusters is not None:
        radius = radius * np.sqrt(_inflations(graded, reference, value))
    return Interval(value, value - radius, value + radius).where(np.arange(len(sizes)) != reference)


def _inflations(graded: ScoredRows, reference: int, differences: FloatArray) -> FloatArray:
    """Return by which factor clusters inflate the variance of each group's standardised difference; 1 if undefined."""
    assert graded.clusters is not None  # noqa: S101 - asked only where there are clusters
    factors = np.ones(len(differences))
    for code in np.flatnonzero(~np.isnan(differences) & (np.arange(len(differences)) != reference)).tolist():
        kept = np.isin(graded.groups.codes, [code, reference])
        is_own, values = graded.groups.codes[kept] == code, graded.values[kept]
        mean = np.where(is_own, values[is_own].mean(), values[~is_own].mean())
        squares = (values - mean) ** 2
        pooled = np.sqrt(squares.sum() / (len(values) - 2))
        rows = np.where(is_own, is_own.sum(), -(~is_own).sum())
        of_spread = (squares / pooled**2 - 1) / (2 * (len(values) - 2))
        influence = (values - mean) / pooled / rows - differences[code] * of_spread
        factors[code] = inflation_of_sums(influence[None], graded.clusters[kept], is_own.astype(np.intp))[0]
    return factors


def auc_by_group(graded: ScoredRows, confidence: float = 0.95) -> Interval:
    """Return limits of the AUC within each group, shape (groups,); NaN where a label has no rows or is not known."""
    found = [_auc(graded, rows, confidence) for rows in _rows_of_groups(graded)]
    estimate, lower, upper = np.array(found).T
    return Interval(estimate, lower, upper)


def _auc(graded: ScoredRows, rows: IntArray, confidence: float) -> tuple[float, float, float]:
    if graded.labels is None or len(np.unique(graded.labels[rows])) < 2:
        return (np.nan,) * 3
    clusters = None if graded.clusters is None else np.unique(graded.clusters[rows], return_inverse=True)[1].ravel()
    found = auc_intervals(graded.values[rows][None], graded.labels[rows], confidence, clusters=clusters)
    return float(found.estimate[0]), float(found.lower[0]), float(found.upper[0])


def roc_by_group(graded: ScoredRows, most: int = MOST_POINTS) -> list[Roc]:
    """Return the ROC curve of each group, thinned to at most `most` points."""
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
    """Return the indices of points spaced evenly along a curve, its two ends among them.

    `travelled` is the length of the curve up to each point.
    """
    wanted = np.linspace(travelled[0], travelled[-1], most)
    return np.unique([*np.searchsorted(travelled, wanted).clip(0, len(travelled) - 1), 0, len(travelled) - 1])


def calibration_by_group(graded: ScoredRows, bins: int = BINS, confidence: float = 0.95) -> Calibration | None:
    """Return mean scores and rates of favourable labels in bins of about equally many rows; None without labels."""
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
    inflation = np.ones(shape)
    if graded.clusters is not None:
        labels = graded.labels.astype(np.float64)
        inflation = inflation_of_shares(labels, cells, graded.clusters, shape[0] * shape[1]).reshape(shape)
    limits = rate_limits(hits / inflation, rows / inflation, normal_critical(confidence))
    return Calibration(ends, rows.astype(np.intp), share(sums, rows), limits)


def _sums(codes: IntArray, values: FloatArray, length: int) -> FloatArray:
    return np.bincount(codes, values, length).astype(np.float64)


def _rows_of_groups(graded: ScoredRows) -> list[IntArray]:
    codes = graded.groups.codes
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(graded.groups.names)))
    return np.split(order, ends[:-1])
