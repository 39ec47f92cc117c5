"""Encoding: columns to a matrix, fitted on the training rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.columns import Column, FloatArray, IntArray, read_only
from fairenum.dataset.groups import missing_name
from fairenum.document.anatomy import EncodedFeature
from fairenum.errors import ColumnConstant

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer

    from fairenum.dataset.table import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """A fitted encoding: the same numbers for the same cells, whichever rows it is applied to.

    A missing number becomes the training rows' median, and numbers are standardised. A text becomes one 0/1
    column per value seen in training, a missing text counting as a value; a value not seen there is 0 in all
    of them. The order of columns is the table's.

    Parameters
    ----------
    names
        The names of the matrix's columns: "age", "purpose=A43".
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

        varying = [column for column in dataset.features if column.varies(rows)]
        if not varying:
            raise ColumnConstant(f"no feature varies in the {len(rows)} training rows; give more rows to train on")
        # One block per run of columns of one kind keeps the table's order at little cost.
        blocks: list[tuple[str, BaseEstimator, list[str]]] = []
        for is_numeric, run in groupby(varying, key=lambda column: column.is_numeric):
            blocks.append((f"block{len(blocks)}", _block(is_numeric, standardise), [c.name for c in run]))
        preprocessor = ColumnTransformer(blocks, sparse_threshold=0).fit(dataset.frame(rows))
        dropped = tuple(column.name for column in dataset.features if column not in varying)
        return cls(_matrix_names(preprocessor, varying), dropped, preprocessor)

    def transform(self, dataset: Dataset, rows: IntArray | None = None) -> FloatArray:
        """Encode some rows of a dataset, or all, as a read-only matrix."""
        matrix = self.preprocessor.transform(dataset.frame(rows))
        return read_only(np.ascontiguousarray(matrix, dtype=np.float64))

    def described(self) -> tuple[EncodedFeature, ...]:
        """Say how each feature is encoded, in the order of the matrix's columns."""
        blocks = (one for one in self.preprocessor.transformers_ if not isinstance(one[1], str))  # what is dropped
        return tuple(feature for _, block, names in blocks for feature in _described(block, names))

    def unseen(self, dataset: Dataset, rows: IntArray | None = None) -> dict[str, int]:
        """Count, for each feature that has any, the cells whose value the training rows did not hold."""
        frame = dataset.frame(rows)
        counts = {name: int((~frame[name].isin(seen)).sum()) for name, seen in _categories(self.preprocessor).items()}
        return {name: count for name, count in counts.items() if count}


def _block(is_numeric: bool, standardise: bool) -> BaseEstimator:
    """Make the transformer for a run of columns of one kind."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    if not is_numeric:
        return OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = [SimpleImputer(strategy="median"), *([StandardScaler()] if standardise else [])]
    return make_pipeline(*steps)


def _categories(preprocessor: ColumnTransformer) -> dict[str, list[object]]:
    """The values seen in training, of every categorical column; nan, if it is one, comes last."""
    found: dict[str, list[object]] = {}
    for _, block, columns in preprocessor.transformers_:
        if hasattr(block, "categories_"):
            found |= {name: values.tolist() for name, values in zip(columns, block.categories_, strict=True)}
    return found


def _described(block: BaseEstimator, names: Sequence[str]) -> Iterator[EncodedFeature]:
    """Say how one block encodes its features."""
    if hasattr(block, "categories_"):
        for name, values in zip(names, block.categories_, strict=True):
            levels = tuple(value if isinstance(value, str) else None for value in values.tolist())
            yield EncodedFeature(name, "categorical", levels=levels)
        return
    imputer, *scalers = (step for _, step in block.steps)
    for place, name in enumerate(names):
        mean, scale = (float(scalers[0].mean_[place]), float(scalers[0].scale_[place])) if scalers else (0.0, 1.0)
        yield EncodedFeature(name, "numeric", float(imputer.statistics_[place]), mean, scale)


def _matrix_names(preprocessor: ColumnTransformer, columns: list[Column]) -> tuple[str, ...]:
    categories = _categories(preprocessor)
    names: list[str] = []
    for column in columns:
        if column.is_numeric:
            names.append(column.name)
            continue
        seen = categories[column.name]
        texts = [text for text in seen if isinstance(text, str)]
        names += [f"{column.name}={text}" for text in [*texts, missing_name(texts)][: len(seen)]]
    return tuple(names)
