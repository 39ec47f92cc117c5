"""Encoding: columns to a matrix, fitted on the training rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.columns import Column, IntArray, Texts, is_missing
from fairenum.dataset.groups import missing_name
from fairenum.dataset.naming import option, unlike, without
from fairenum.document.anatomy import OTHER, EncodedFeature
from fairenum.document.reading import MAX_LEVELS
from fairenum.errors import ColumnConstant, TableTooLarge

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer

    from fairenum.dataset.table import Dataset
    from fairenum.matrices import Matrix

LARGEST_MATRIX = 1_000_000_000  # bytes of the whole table, encoded, and of the square of its columns


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """A fitted encoding: the same numbers for the same cells, whichever rows it is applied to.

    A missing number becomes the training rows' median, and numbers are standardised. A text becomes one 0/1
    column per value seen in training, a missing text counting as a value; a value not seen there is 0 in all
    of them. Of a column with more values than `Dataset.max_levels`, so many of the most frequent ones have a column
    each, and all others, those not seen in training among them, share one. The order of columns is the table's.

    Parameters
    ----------
    names
        The names of the matrix's columns: "age", "purpose=A43", "zip=(other)".
    dropped
        Features left out because they do not vary in the training rows.
    preprocessor
        The fitted scikit-learn transformer, to be applied to `Dataset.frame`; ready for a pipeline.
    """

    names: tuple[str, ...]
    dropped: tuple[str, ...]
    preprocessor: ColumnTransformer = field(repr=False)

    @classmethod
    def fit(cls, dataset: Dataset, rows: IntArray, *, standardise: bool = True) -> Encoding:
        """Fit on the given rows, and look at no other."""
        from sklearn.compose import ColumnTransformer

        from fairenum.matrices import SPARSE

        varying = [column for column in dataset.features if column.varies(rows)]
        if not varying:
            raise ColumnConstant(f"no feature varies in the {len(rows)} training rows; give more rows to train on")
        _refuse_too_large(varying, rows, dataset)
        # One block per run of columns of one kind keeps the table's order at little cost.
        blocks: list[tuple[str, BaseEstimator, list[str]]] = []
        for is_numeric, run in groupby(varying, key=lambda column: column.is_numeric):
            features = list(run)
            # to count what is rare takes longer than all the rest
            is_wide = not is_numeric and any(column.levels(rows) > dataset.max_levels for column in features)
            block = _numbers(standardise) if is_numeric else _texts(dataset.max_levels if is_wide else None)
            blocks.append((f"block{len(blocks)}", block, [column.name for column in features]))
        preprocessor = ColumnTransformer(blocks, sparse_threshold=SPARSE).fit(dataset.frame(rows))
        dropped = tuple(column.name for column in dataset.features if column not in varying)
        return cls(_matrix_names(preprocessor, varying), dropped, preprocessor)

    def transform(self, dataset: Dataset, rows: IntArray | None = None) -> Matrix:
        """Encode some rows of a dataset, or all, as a read-only matrix; without its zeros if it is mostly 0."""
        from fairenum.matrices import as_matrix, compact, read_only

        return read_only(compact(as_matrix(self.preprocessor.transform(dataset.frame(rows)))))

    def described(self) -> tuple[EncodedFeature, ...]:
        """Say how each feature is encoded, in the order of the matrix's columns."""
        blocks = [(block, names) for _, block, names in self.preprocessor.transformers_ if block != "drop"]
        return tuple(feature for block, names in blocks for feature in _described(block, names))

    def unseen(self, dataset: Dataset, rows: IntArray | None = None) -> dict[str, int]:
        """Count, for each feature that has any, the cells that are 0 in all columns as the training rows lack them."""
        frame = dataset.frame(rows)
        counts = {
            name: int((~frame[name].isin(levels.seen)).sum())
            for name, levels in _levels(self.preprocessor).items()
            if not levels.pooled
        }
        return {name: count for name, count in counts.items() if count}

    @property
    def pooled(self) -> dict[str, int]:
        """The number of values that share one column, for each feature that has any."""
        return {name: levels.pooled for name, levels in _levels(self.preprocessor).items() if levels.pooled}


@dataclass(frozen=True, slots=True)
class Levels:
    """The values of a categorical column in training: those with a column of their own, and how many share one."""

    seen: list[object]
    pooled: int = 0

    def names(self) -> list[str]:
        """Name the columns, each value and what stands for no value or for all others unlike any other."""
        texts = [text for text in self.seen if isinstance(text, str)]
        names = [*texts, missing_name(texts)][: len(self.seen)]
        return [*names, unlike(OTHER, names)] if self.pooled else names


def _numbers(standardise: bool) -> BaseEstimator:
    """Make the transformer for a run of numeric columns."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(strategy="median"), *([StandardScaler()] if standardise else []))


def _texts(max_levels: int | None) -> BaseEstimator:
    """Make the transformer for a run of categorical columns; rare values share a column if there is a limit."""
    from sklearn.preprocessing import OneHotEncoder

    most = None if max_levels is None else max_levels + 1
    return OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=most)


def _levels(preprocessor: ColumnTransformer) -> dict[str, Levels]:
    """The values seen in training, of every categorical column; nan, if it is one, comes last."""
    found: dict[str, Levels] = {}
    for _, block, columns in preprocessor.transformers_:
        if hasattr(block, "categories_"):
            found |= _levels_of(block, columns)
    return found


def _levels_of(block: BaseEstimator, names: Sequence[str]) -> dict[str, Levels]:
    rare = [None] * len(names) if block.max_categories is None else block.infrequent_categories_
    return {name: _of(*each) for name, *each in zip(names, block.categories_, rare, strict=True)}


def _of(values: Texts, rare: Texts | None) -> Levels:
    if rare is None:
        return Levels(values.tolist())
    missing = is_missing(values)
    is_rare = np.isin(values, rare[~is_missing(rare)]) | (missing & bool(is_missing(rare).any()))
    return Levels(values[~is_rare].tolist(), int(is_rare.sum()))


def _described(block: BaseEstimator, names: Sequence[str]) -> Iterator[EncodedFeature]:
    """Say how one block encodes its features."""
    if hasattr(block, "categories_"):
        for name, levels in _levels_of(block, names).items():
            seen = tuple(value if isinstance(value, str) else None for value in levels.seen)
            yield EncodedFeature(name, "categorical", levels=seen, is_pooled=levels.pooled > 0)
        return
    imputer, *scalers = (step for _, step in block.steps)
    for place, name in enumerate(names):
        mean, scale = (float(scalers[0].mean_[place]), float(scalers[0].scale_[place])) if scalers else (0.0, 1.0)
        yield EncodedFeature(name, "numeric", float(imputer.statistics_[place]), mean, scale)


def _matrix_names(preprocessor: ColumnTransformer, columns: list[Column]) -> tuple[str, ...]:
    levels = _levels(preprocessor)
    names: list[str] = []
    for column in columns:
        is_text = column.name in levels
        names += [f"{column.name}={name}" for name in levels[column.name].names()] if is_text else [column.name]
    return tuple(names)


def _refuse_too_large(columns: list[Column], rows: IntArray, dataset: Dataset) -> None:
    """Refuse a matrix beyond memory before it is made, and name the column that makes it wide."""
    from fairenum.matrices import bytes_of

    widths = {c.name: 1 if c.is_numeric else min(c.levels(rows), dataset.max_levels + 1) for c in columns}
    width = sum(widths.values())
    # no row has more than one value of a column; a linear machine is solved for in as many dimensions as columns
    size = bytes_of(len(dataset), width, len(columns)) + bytes_of(min(width, len(rows)), width)
    if size <= LARGEST_MATRIX:
        return
    widest = max(widths, key=widths.__getitem__)
    fewer = max(1, min(MAX_LEVELS, widths[widest] // 2))
    pool = f", pool its rare values with {option('max_levels', fewer, 'max-levels', str(fewer))}"
    raise TableTooLarge(
        f"{len(dataset)} rows in {width} encoded columns take {size / 1e9:.3g} GB, more than the "
        f"{LARGEST_MATRIX / 1e9:g} GB that are allowed; {widest!r} makes {widths[widest]} of the columns: leave it out "
        f"with {without(widest)}{pool if widths[widest] > fewer else ''}, or audit fewer rows"
    )
