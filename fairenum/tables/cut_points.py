"""`CutPoints`, which adds 0/1 columns for cut points of each number, so that a linear model can bend with it.

The cut points of a column are those of a small decision tree fitted on that column alone. The bin that holds the median
is the origin of the coding: each cut above it has a column [x > cut], each cut below it a column [x <= cut]. With a
free bias these columns span the same functions as [x > cut] for every cut, at the same penalty, since turning a column
around changes only the sign of its weight and the bias; and rows near the median have zeros only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from fairenum.document.feature_facts import EncodedFeature
from fairenum.tables.columns import FloatArray, IntArray

if TYPE_CHECKING:
    from fairenum.svm.sparse_or_dense import Sparse

MOST_LEAVES, FEWEST_ROWS, LEAF_SHARE = 12, 20, 1 / 500  # of the tree of a column
DIGITS = 17  # which tell all numbers apart
NOTHING_GAINED = 1e-12  # of the rows: impurity that only rounding removes


class CutPoints(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Keeps each number, and adds 0/1 columns for the cut points of a small decision tree on that number alone.

    The result is a sparse (CSR) matrix. It has for each column the number, then a 0/1 column for each cut point, and
    last one for missing numbers if the training rows have any. Cut points above the median of the training rows have a
    column "x > cut", those below it a column "x <= cut". A missing number is taken as the median, and has 0 in the
    columns of all cut points. A column with at most two values has no cut points.

    Parameters
    ----------
    max_leaves
        Largest number of leaves of a tree; there is one cut point less than leaves.
    min_leaf, min_share
        A leaf has at least this number of rows, and this share of the training rows; weighted rows count by weight.
    standardise
        Whether numbers are scaled to mean 0 and variance 1.
    cuts
        Cut points of each column, in ascending order; learned from the labels if None.

    Attributes
    ----------
    cuts_
        The cut points of each column, in ascending order.
    medians_, means_, scales_
        For each column the median, which replaces missing numbers, and the mean and the scale of its standardisation.
    has_missing_
        For each column, whether the training rows have missing numbers.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from fairenum import CutPoints
    >>> ages, hired = [[18], [25], [31], [44], [52], [67]], [0, 0, 1, 1, 0, 0]
    >>> coder = CutPoints(min_leaf=1, standardise=False).fit(ages, hired)
    >>> coder.get_feature_names_out(["age"]).tolist()
    ['age', 'age <= 30', 'age > 50']
    >>> coder.transform([[20], [40], [60]]).toarray().tolist()
    [[20.0, 1.0, 0.0], [40.0, 0.0, 0.0], [60.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        *,
        max_leaves: int = MOST_LEAVES,
        min_leaf: int = FEWEST_ROWS,
        min_share: float = LEAF_SHARE,
        standardise: bool = True,
        cuts: Sequence[npt.ArrayLike] | None = None,
    ) -> None:
        self.max_leaves = max_leaves
        self.min_leaf = min_leaf
        self.min_share = min_share
        self.standardise = standardise
        self.cuts = cuts

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn cut points, medians and scales from rows X with class labels y; rows of weight 0 have no effect."""
        self._refuse_bad_parameters()
        table, labels = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        weights = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
        table, labels, weights = table[weights > 0.0], labels[weights > 0.0], weights[weights > 0.0]
        self.medians_ = np.array([_median(column, weights) for column in table.T])
        self.has_missing_ = np.isnan(table).any(axis=0)
        self._scale(np.where(np.isnan(table), self.medians_, table), weights)
        given = self.cuts
        self.cuts_ = self._learned(table, labels, weights) if given is None else [*_checked(given, table.shape[1])]
        return self

    def transform(self, X: npt.ArrayLike) -> Sparse:
        """Return rows as a sparse matrix: for each column the number, and 0/1 columns for cut points and for nan."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        facts = zip(table.T, self.cuts_, self.medians_, self.means_, self.scales_, self.has_missing_, strict=True)
        return sparse.csr_array(sparse.hstack([_coded(*each) for each in facts], format="csr"))

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> npt.NDArray[np.object_]:
        """Return the names of the columns: "age", "age <= 30", "age > 50", "age missing"."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array([name for one in self.described(names) for name in one.names], dtype=object)

    def described(self, names: Sequence[str]) -> Iterator[EncodedFeature]:
        """Yield a description of the encoding of each column, given the names of the columns."""
        facts = zip(names, self.medians_, self.means_, self.scales_, self.cuts_, self.has_missing_, strict=True)
        for name, median, mean, scale, cuts, has_missing in facts:
            origin = int(np.searchsorted(cuts, median))
            numbers = (float(median), float(mean), float(scale))
            written = tuple(np.asarray(cuts, dtype=np.float64).tolist())
            yield EncodedFeature(
                str(name), "numeric", *numbers, cuts=written, origin=origin, has_missing=bool(has_missing)
            )

    def _refuse_bad_parameters(self) -> None:
        for name, least in (("max_leaves", 2), ("min_leaf", 1)):
            value = getattr(self, name)
            if not (isinstance(value, Integral) and int(value) >= least):
                raise ValueError(f"{name} must be a whole number >= {least}, not {value!r}")
        if not (isinstance(self.min_share, Real) and 0.0 <= self.min_share <= 0.5):
            raise ValueError(f"min_share must be a number from 0 to 0.5, not {self.min_share!r}")

    def _scale(self, table: FloatArray, weights: FloatArray) -> None:
        """Keep the means and scales of the columns of a table without missing numbers."""
        width = table.shape[1]
        self.means_, self.scales_ = np.zeros(width), np.ones(width)
        if self.standardise:
            even = np.ptp(weights) == 0.0
            scaler = StandardScaler().fit(table, sample_weight=None if even else weights)
            self.means_, self.scales_ = scaler.mean_, scaler.scale_

    def _learned(self, table: FloatArray, labels: npt.NDArray[np.generic], weights: FloatArray) -> list[FloatArray]:
        codes = np.unique(labels, return_inverse=True)[1]
        fewest = max(self.min_leaf, self.min_share * float(weights.sum()))
        return [cut_points(column, codes, weights, weights, self.max_leaves, fewest) for column in table.T]


def _checked(given: Sequence[npt.ArrayLike], width: int) -> Iterator[FloatArray]:
    if len(given) != width:
        raise ValueError(f"cuts has the cut points of {len(given)} columns, and X has {width} columns; give one each")
    for cuts in given:
        points = np.asarray(cuts, dtype=np.float64)
        if points.ndim != 1 or not np.isfinite(points).all() or (np.diff(points) <= 0.0).any():
            raise ValueError(f"cut points of a column must be finite numbers in ascending order, not {cuts!r}")
        yield points


def cut_points(
    values: FloatArray,
    classes: IntArray,
    weights: FloatArray | None = None,
    counting: FloatArray | None = None,
    most_leaves: int = MOST_LEAVES,
    fewest: float = FEWEST_ROWS,
) -> FloatArray:
    """Return the cut points, ascending, of a decision tree that predicts classes from one column of numbers.

    The tree is grown best first: of all possible splits the one that lowers the Gini impurity of the rows most is next.
    Rows without a value are left out, and a column of at most two values has no cut points.

    Parameters
    ----------
    values, classes
        For each row its value, nan if missing, and the number of its class, from 0.
    weights
        The weight of each row in the impurity; 1 if not given.
    counting
        What each row counts towards the size of a leaf; 1 if not given.
    most_leaves, fewest
        The largest number of leaves, and the least size of a leaf.
    """
    known = ~np.isnan(values)
    levels, places = np.unique(values[known], return_inverse=True)
    if len(levels) <= 2:
        return np.empty(0)
    mass, size = (None if one is None else one[known] for one in (weights, counting))
    tree = _Tree(levels, places, classes[known], mass, size, fewest)
    return np.array([_between(*levels[place - 1 : place + 1].tolist()) for place in tree.grown(most_leaves)])


class _Tree:
    """A decision tree on one column, whose leaves are runs of adjacent values."""

    def __init__(
        self,
        levels: FloatArray,
        places: IntArray,
        classes: IntArray,
        weights: FloatArray | None,
        counting: FloatArray | None,
        fewest: float,
    ) -> None:
        kinds, count = int(classes.max()) + 1, len(levels)
        mass = np.bincount(places * kinds + classes, weights, count * kinds).reshape(count, kinds)
        # of all values before each place, and in the end of all: weights by class, and what counts towards a leaf
        self._mass = np.vstack([np.zeros(kinds), np.cumsum(mass, axis=0)])
        self._size = np.append(0.0, np.cumsum(np.bincount(places, counting, count)))
        self._fewest = fewest

    def grown(self, most_leaves: int) -> list[int]:
        """Return the first place of every leaf but the first, ascending, after the tree has grown."""
        starts, whole = [0], (0, len(self._size) - 1)
        best = {whole: self._best_split(*whole)}
        while len(starts) < most_leaves:
            # of equal gains the leftmost
            leaf = max(best, key=lambda each: (best[each][0], -each[0]))
            gain, place = best.pop(leaf)
            if gain <= NOTHING_GAINED * float(self._mass[-1].sum()):
                break
            starts.append(place)
            best |= {part: self._best_split(*part) for part in pairwise((leaf[0], place, leaf[1]))}
        return sorted(starts)[1:]

    def _best_split(self, low: int, high: int) -> tuple[float, int]:
        """Return the gain of the best split of the values from `low` to before `high`, and where the right part starts.

        The gain is 0 if no split leaves both parts large enough.
        """
        first = int(np.searchsorted(self._size, self._size[low] + self._fewest, side="left"))
        last = int(np.searchsorted(self._size, self._size[high] - self._fewest, side="right"))
        places = np.arange(max(first, low + 1), min(last, high))
        if not places.size:
            return 0.0, low
        left = self._mass[places] - self._mass[low]
        whole = self._mass[high] - self._mass[low]
        gains = _purity(left) + _purity(whole - left) - _purity(whole)
        best = int(gains.argmax())
        return float(gains[best]), int(places[best])


def _purity(mass: FloatArray) -> FloatArray:
    """Return the weight of rows minus their Gini impurity: the squared weights of classes over the whole weight."""
    return np.asarray(np.square(mass).sum(-1) / mass.sum(-1))


def _between(low: float, high: float) -> float:
    """Return the number with the fewest digits near the middle of two numbers, such that ``low <= it < high``."""
    middle = 0.5 * low + 0.5 * high
    for digits in range(1, DIGITS + 1):
        short = float(f"{middle:.{digits}g}")
        if low < short < high:
            return short
    return low


def _median(values: FloatArray, weights: FloatArray) -> float:
    """Return the median of the values that are not nan, each as often as its weight says; 0 without such values."""
    known = ~np.isnan(values)
    if not known.any():
        return 0.0
    if np.ptp(weights) == 0.0:
        return float(np.median(values[known]))
    order = np.argsort(values[known], kind="stable")
    ascending, reached = values[known][order], np.cumsum(weights[known][order])
    place = int(np.searchsorted(reached, reached[-1] / 2.0))
    upper = place + (reached[place] == reached[-1] / 2.0)
    return float((ascending[place] + ascending[upper]) / 2.0)


def _coded(values: FloatArray, cuts: FloatArray, median: float, mean: float, scale: float, has_missing: bool) -> Sparse:
    """Return one column encoded: the number, a 0/1 column for each cut point, and one for missing numbers if asked."""
    missing, last = np.isnan(values), len(cuts)
    origin = int(np.searchsorted(cuts, median))
    bins = np.where(missing, origin, np.searchsorted(cuts, values))
    first, filled = np.minimum(bins, origin), np.abs(bins - origin)
    if has_missing:  # the column after those of the cut points
        first, filled = np.where(missing, last, first), filled + missing
    starts = np.append(0, np.cumsum(1 + filled))
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], 1 + filled)
    columns = np.where(within > 0, np.repeat(first, 1 + filled) + within, 0)
    numbers = np.ones(starts[-1])
    numbers[starts[:-1]] = (np.where(missing, median, values) - mean) / scale
    width = 1 + last + bool(has_missing)
    return sparse.csr_array((numbers, columns.astype(np.int32), starts.astype(np.int32)), shape=(len(values), width))
