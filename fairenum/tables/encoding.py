"""Encoding of a table's columns as a matrix, fitted on the training rows only, and merging of identical rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairenum.document.feature_facts import OTHER, EncodedFeature
from fairenum.document.reading import MAX_LEVELS
from fairenum.document.terms import Features
from fairenum.errors import ColumnConstant, TableTooLarge
from fairenum.runtime.hints import option, without
from fairenum.tables.columns import Column, FloatArray, IntArray, Scalar, Texts, is_missing, read_only
from fairenum.tables.groups import MISSING
from fairenum.tables.naming import unlike
from fairenum.tables.score_feature import ScoreFeature, described_score, is_of_log_odds, scale_score, score_block

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer

    from fairenum.svm.sparse_or_dense import Matrix
    from fairenum.tables.table import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The distinct rows of a table, in order of first appearance.

    Attributes
    ----------
    copies
        For each distinct row, the number of rows of the table that are identical to it.
    first
        For each distinct row, the position in the table of the first row identical to it.
    inverse
        For each row of the table, the position of its distinct row, so that ``X[inverse]`` has all rows of the table.
    """

    X: Matrix = field(repr=False)
    y: NDArray[np.generic] = field(repr=False)
    copies: IntArray = field(repr=False)
    first: IntArray = field(repr=False)
    inverse: IntArray = field(repr=False)

    def __len__(self) -> int:
        return self.first.size


def merge_identical(X: Matrix, y: NDArray[Scalar], weights: FloatArray | None = None) -> Merged:
    """Merge rows with equal features, label and weight; numbers are compared exactly, without tolerance."""
    from fairenum.svm.sparse_or_dense import places
    from fairenum.svm.sparse_or_dense import read_only as keep

    first, inverse = places(X, *(column.astype(np.float64) for column in (y, weights) if column is not None))
    copies = np.bincount(inverse, minlength=len(first))
    return Merged(keep(X[first]), read_only(y[first]), *map(read_only, (copies, first, inverse)))


CutsByName: TypeAlias = Mapping[str, FloatArray]
LARGEST_MATRIX = 1_000_000_000  # bytes for the encoded table and a square matrix of its columns together


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """An encoding of a table's features as a matrix, fitted on the training rows.

    A missing number becomes the median of the training rows, and numbers are standardised. A column of texts becomes
    one 0/1 column for each value in the training rows, where "missing" is a value, too; a row with another value has 0
    in all of them. If there are more values than `Dataset.max_levels`, that many of the most frequent have a column
    each, and all other values, including those not in the training rows, share one column. The matrix has the features
    in the order of the table.

    An additive encoding adds 0/1 columns after that of each number: one for each cut point of a small decision tree on
    that number alone (`fairenum.CutPoints`), and one for missing numbers if the training rows have any. The labels and
    weights of the training rows determine the cut points.

    Attributes
    ----------
    names
        The names of the matrix's columns: "age", "purpose=A43", "zip=(other)".
    dropped
        Names of the features that are left out because they do not vary in the training rows.
    preprocessor
        The fitted scikit-learn transformer, which takes the result of `Dataset.frame`.
    score
        Which of the features is the score of the model in use; None if none is.
    """

    names: tuple[str, ...]
    dropped: tuple[str, ...]
    preprocessor: ColumnTransformer = field(repr=False)
    score: ScoreFeature | None = None

    @classmethod
    def fit(
        cls, dataset: Dataset, rows: IntArray, *, standardise: bool = True, features: Features = "linear"
    ) -> Encoding:
        """Return an encoding of the dataset's features, linear or additive, fitted on the given rows only."""
        from sklearn.compose import ColumnTransformer

        from fairenum.svm.sparse_or_dense import SPARSE

        varying = [column for column in dataset.features if column.varies(rows)]
        if not varying:
            raise ColumnConstant(f"no feature varies in the {len(rows)} training rows; give more rows to train on")
        own = [column for column in varying if not dataset.is_score(column)]
        cuts = _cut_points(own, rows, dataset) if features == "additive" else None
        _refuse_too_large(own, rows, dataset, cuts)
        # One transformer for each run of adjacent columns of one kind keeps the columns in the order of the table.
        blocks: list[tuple[str, BaseEstimator, list[str]]] = []
        for is_numeric, adjacent in groupby(own, key=lambda column: column.is_numeric):
            run = list(adjacent)
            # counting rare values takes longer than everything else, so it is done only where needed
            is_wide = not is_numeric and any(column.levels(rows) > dataset.max_levels for column in run)
            names = [column.name for column in run]
            block = (
                _numbers(standardise, names, cuts) if is_numeric else _texts(dataset.max_levels if is_wide else None)
            )
            blocks.append((f"block{len(blocks)}", block, names))
        if dataset.score:  # the last of the features
            blocks.append(score_block(dataset, dataset.score, rows))
        preprocessor = ColumnTransformer(blocks, sparse_threshold=SPARSE).fit(dataset.frame(rows), dataset.y[rows])
        if dataset.score:
            scale_score(preprocessor, dataset, dataset.score, rows)
        dropped = tuple(column.name for column in dataset.features if column not in varying)
        return cls(_matrix_names(preprocessor, dataset.score), dropped, preprocessor, dataset.score)

    def transform(self, dataset: Dataset, rows: IntArray | None = None) -> Matrix:
        """Return the given rows of a dataset, by default all, as a read-only matrix, sparse if most of it is 0."""
        from fairenum.svm.sparse_or_dense import as_matrix, compact, read_only

        return read_only(compact(as_matrix(self.preprocessor.transform(dataset.frame(rows)))))

    def described(self) -> tuple[EncodedFeature, ...]:
        """Return a description of how each feature is encoded, in the order of the matrix's columns."""
        found = tuple(_features(self.preprocessor))
        return tuple(self.score.named(one) for one in found) if self.score else found

    @property
    def added(self) -> NDArray[np.bool_]:
        """Whether each column of the matrix is a 0/1 column of a number, which only an additive encoding has."""
        columns = ((one.kind, level) for one in self.described() for level in one.columns)
        return np.array([kind == "numeric" and level is not None for kind, level in columns])

    def unseen(self, dataset: Dataset, rows: IntArray | None = None) -> dict[str, int]:
        """Count, by feature, the cells with a value that is not in the training rows.

        Such a cell is encoded as 0 in all columns of the feature. Features without such cells are omitted.
        """
        frame = dataset.frame(rows)
        counts = {
            name: int((~frame[name].isin(levels.seen)).sum())
            for name, levels in _levels(self.preprocessor).items()
            if not levels.pooled
        }
        return {name: count for name, count in counts.items() if count}

    @property
    def pooled(self) -> dict[str, int]:
        """For each feature whose rare values share one column, the number of these values."""
        return {name: levels.pooled for name, levels in _levels(self.preprocessor).items() if levels.pooled}


@dataclass(frozen=True, slots=True)
class CategoryLevels:
    """The values of a categorical feature in the training rows.

    `seen` holds the values that have a 0/1 column each; `pooled` is the number of rare values that share one column.
    """

    seen: list[object]
    pooled: int = 0

    def names(self) -> list[str]:
        """Return the names of the 0/1 columns: values, and for missing and rare ones a name that is no value."""
        texts = [text for text in self.seen if isinstance(text, str)]
        names = [*texts, unlike(MISSING, texts)][: len(self.seen)]
        return [*names, unlike(OTHER, names)] if self.pooled else names


def _numbers(standardise: bool, names: Sequence[str], cuts: CutsByName | None) -> BaseEstimator:
    """Return the scikit-learn transformer of numbers, with 0/1 columns for the given cut points if there are any."""
    if cuts is not None:
        from fairenum.tables.cut_points import CutPoints

        return CutPoints(standardise=standardise, cuts=[cuts[name] for name in names])
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(strategy="median"), *([StandardScaler()] if standardise else []))


def _cut_points(columns: Sequence[Column], rows: IntArray, dataset: Dataset) -> CutsByName:
    """Return the cut points of each numeric column, learned from the given rows; a leaf's size is counted in rows."""
    from fairenum.tables.cut_points import FEWEST_ROWS, LEAF_SHARE, cut_points

    labels, weights, fewest = dataset.y[rows], dataset.relative(rows), max(FEWEST_ROWS, LEAF_SHARE * len(rows))
    return {
        column.name: cut_points(column.values[rows].astype(np.float64), labels, weights, fewest=fewest)
        for column in columns
        if column.is_numeric
    }


def _texts(max_levels: int | None) -> BaseEstimator:
    """Return the scikit-learn transformer of texts; if they have over `max_levels` values, rare ones share a column."""
    from sklearn.preprocessing import OneHotEncoder

    most = None if max_levels is None else max_levels + 1
    return OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=most)


def _levels(preprocessor: ColumnTransformer) -> dict[str, CategoryLevels]:
    """Return, by feature name, the values of each categorical feature in the training rows, with nan last."""
    blocks = [(block, names) for block, names in _blocks(preprocessor) if hasattr(block, "categories_")]
    return {name: levels for block, names in blocks for name, levels in _levels_of(block, names).items()}


def _blocks(preprocessor: ColumnTransformer) -> list[tuple[BaseEstimator, list[str]]]:
    """Return the fitted transformers, each with the names of its features, in the order of the matrix."""
    return [(block, names) for _, block, names in preprocessor.transformers_ if block != "drop"]


def _levels_of(block: BaseEstimator, names: Sequence[str]) -> dict[str, CategoryLevels]:
    rare = [None] * len(names) if block.max_categories is None else block.infrequent_categories_
    return {name: _of(*each) for name, *each in zip(names, block.categories_, rare, strict=True)}


def _of(values: Texts, rare: Texts | None) -> CategoryLevels:
    if rare is None:
        return CategoryLevels(values.tolist())
    missing = is_missing(values)
    is_rare = np.isin(values, rare[~is_missing(rare)]) | (missing & bool(is_missing(rare).any()))
    return CategoryLevels(values[~is_rare].tolist(), int(is_rare.sum()))


def _features(preprocessor: ColumnTransformer) -> Iterator[EncodedFeature]:
    """Yield a description of how each feature is encoded, in the order of the matrix."""
    for block, names in _blocks(preprocessor):
        yield from _described(block, names)


def _described(block: BaseEstimator, names: Sequence[str]) -> Iterator[EncodedFeature]:
    if hasattr(block, "categories_"):
        for name, levels in _levels_of(block, names).items():
            seen = tuple(value if isinstance(value, str) else None for value in levels.seen)
            yield EncodedFeature(name, "categorical", levels=seen, is_pooled=levels.pooled > 0)
        return
    if hasattr(block, "cuts_"):
        yield from block.described(names)
        return
    if is_of_log_odds(block):
        yield described_score(block, names[0])
        return
    imputer, *scalers = (step for _, step in block.steps)
    for place, name in enumerate(names):
        mean, scale = (float(scalers[0].mean_[place]), float(scalers[0].scale_[place])) if scalers else (0.0, 1.0)
        yield EncodedFeature(name, "numeric", float(imputer.statistics_[place]), mean, scale)


def _matrix_names(preprocessor: ColumnTransformer, score: ScoreFeature | None) -> tuple[str, ...]:
    levels, names = _levels(preprocessor), list[str]()
    for found in _features(preprocessor):
        feature = score.named(found) if score else found
        is_text = feature.name in levels
        names += [f"{feature.name}={name}" for name in levels[feature.name].names()] if is_text else feature.names
    return tuple(names)


def _refuse_too_large(columns: list[Column], rows: IntArray, dataset: Dataset, cuts: CutsByName | None) -> None:
    """Refuse a table whose matrix would take more than `LARGEST_MATRIX` bytes; the error names the widest feature."""
    from fairenum.svm.sparse_or_dense import bytes_of

    numbers = {c.name: c.values[rows].astype(np.float64) for c in columns if c.is_numeric and cuts is not None}
    added = {name: _added(values, (cuts or {})[name]) for name, values in numbers.items()}
    widths = {c.name: 1 if c.is_numeric else min(c.levels(rows), dataset.max_levels + 1) for c in columns}
    widths |= {name: 1 + more for name, (more, _) in added.items()}
    width = sum(widths.values())
    # no row has more than one value of a text; a linear SVM is solved in as many dimensions as columns
    filled = len(columns) + math.ceil(sum(share for _, share in added.values()))
    size = bytes_of(len(dataset), width, filled) + bytes_of(min(width, len(rows)), width)
    if size <= LARGEST_MATRIX:
        return
    widest = max(widths, key=widths.__getitem__)
    is_text = widest not in {c.name for c in columns if c.is_numeric}
    fewer = max(1, min(MAX_LEVELS, widths[widest] // 2))
    pool = f", pool its rare values with {option('max_levels', fewer, 'max-levels', str(fewer))}"
    plain = f", encode numbers without cut points with {option('features', 'linear', 'features', 'linear')}"
    raise TableTooLarge(
        f"{len(dataset)} rows in {width} encoded columns take {size / 1e9:.3g} GB, more than the "
        f"{LARGEST_MATRIX / 1e9:g} GB that are allowed; {widest!r} makes {widths[widest]} of the columns: leave it out "
        f"with {without(widest)}{pool if is_text and widths[widest] > fewer else ''}{plain if added else ''}, or audit "
        "fewer rows"
    )


def _added(values: FloatArray, cuts: FloatArray) -> tuple[int, float]:
    """Return how many 0/1 columns a number gets, and how many of them are 1 in a row on average."""
    missing = np.isnan(values)
    if missing.all():
        return 1, 1.0
    bins, origin = np.searchsorted(cuts, values[~missing]), np.searchsorted(cuts, np.median(values[~missing]))
    return len(cuts) + bool(missing.any()), float((np.abs(bins - origin).sum() + missing.sum()) / len(values))
