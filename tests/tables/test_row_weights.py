"""What each row counts: read, refused by row, and left out where it is nothing."""

import numpy as np
import pandas as pd
import pytest

from fairenum import errors
from fairenum.tables import Dataset, split


def table(weights):
    rows = len(weights)
    return pd.DataFrame(
        {"x": np.arange(rows), "sex": ["f", "m"] * (rows // 2), "y": [0, 0, 1, 1] * (rows // 4), "w": weights}
    )


def read(weights):
    return Dataset.from_frame(table(weights), "y", 1, "sex", weight="w")


@pytest.mark.parametrize("weights", [[1, 2, 3, 4], ["1", "2.0", " 3", "4"], pd.array([1, 2, 3, 4], dtype="Int64")])
def test_weights_are_numbers_and_no_feature(weights):
    dataset = read(weights)
    assert dataset.weights.values.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert [column.name for column in dataset.features] == ["x"]
    assert dataset.relative(np.array([1, 3])).tolist() == [2 / 3, 4 / 3]
    assert dataset.take(np.array([3, 0])).weights.values.tolist() == [4.0, 1.0]


@pytest.mark.parametrize(
    ("weights", "fragment"),
    [
        (
            [1, None, None, 1],
            r"column 'w', named as weight \(--weight\), holds nothing in row 2 \(2 such rows in all\)",
        ),
        ([1, 1, -0.5, 1], r"holds '-0.5' in row 3 \(1 such rows in all\); a weight is a number of at least 0"),
        (["1", "1", "1", "heavy"], "holds 'heavy' in row 4"),
        ([1, 1, 1, np.inf], "holds 'inf' in row 4"),
        ([0, 0, 0, 0], "holds 0 in every row"),
    ],
)
def test_weights_that_are_none_are_refused_by_row(weights, fragment):
    with pytest.raises(errors.ColumnUnusable, match=fragment):
        read(weights)


def test_rows_of_weight_0_are_in_no_part():
    weights = np.where(np.arange(80) % 5 == 0, 0.0, 1.0 + np.arange(80))
    drawn = split(read(weights), seed=3)
    parts = np.concatenate([drawn.train, drawn.selection, drawn.holdout])
    assert sorted(parts) == np.flatnonzero(weights > 0).tolist()
    assert [len(drawn.train), len(drawn.selection), len(drawn.holdout)] == [38, 13, 13]


def test_rows_that_count_alike_have_no_weights():
    assert read([2.5] * 8).relative(np.arange(8)) is None
    assert read([0, 2.5, 2.5, 2.5] * 2).relative(np.array([1, 2, 3])) is None


def test_the_content_of_a_table_includes_its_weights():
    assert read([1, 2, 3, 4]).fingerprint != read([1, 2, 3, 5]).fingerprint
    assert read([1, 2, 3, 4]).fingerprint == read([1, 2, 3, 4]).fingerprint
