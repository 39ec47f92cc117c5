"""Splitting and merging, where a property says too little."""

import numpy as np
import pandas as pd
import pytest

from fairenum import errors
from fairenum.tables import Dataset, Encoding, load_dataset, merge_identical, split


@pytest.fixture(scope="module")
def compas():
    return load_dataset("compas", use_sensitive=True, incumbent="none")


def of_labels(labels):
    return Dataset.from_frame(pd.DataFrame({"x": np.arange(len(labels)), "y": labels}), "y", 1)


def test_every_cell_of_label_and_group_is_spread_alike(compas):
    parts = split(compas, (0.5, 0.25, 0.25), seed=3)
    cells = compas.intersection.codes * 2 + compas.y
    for cell in range(8):
        counts = [np.count_nonzero(cells[rows] == cell) for rows in (parts.train, parts.selection, parts.holdout)]
        np.testing.assert_allclose(counts, np.array([0.5, 0.25, 0.25]) * sum(counts), atol=2)


def test_seeds_are_reproducible_and_differ(compas):
    first, again, other = (split(compas, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.train, again.train)
    np.testing.assert_array_equal(first.holdout, again.holdout)
    assert not np.array_equal(first.train, other.train)


def test_a_rare_row_goes_to_each_part_as_often_as_that_parts_share():
    frame = pd.DataFrame({"x": np.arange(60), "sex": ["m"] * 59 + ["f"], "y": [1] * 30 + [0] * 30})
    dataset = Dataset.from_frame(frame, "y", 1, "sex")
    splits = [split(dataset, (0.5, 0.25, 0.25), seed) for seed in range(400)]
    shares = np.mean([[59 in s.train, 59 in s.selection, 59 in s.holdout] for s in splits], axis=0)
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.09)


def test_counts_are_exact_and_leave_the_rest_out(compas):
    parts = split(compas, (100, 0, 50))
    assert [len(parts.train), len(parts.selection), len(parts.holdout)] == [100, 0, 50]


@pytest.mark.parametrize(
    ("sizes", "fragment"),
    [
        ((0.5, 0.5), "are not three sizes"),
        ((0, 0.5, 0.5), "with rows to train on"),
        ((0.5, -0.1, 0.1), "are not three sizes"),
        ((0.5, float("nan"), 0.1), "are not three sizes"),
        ((0.7, 0.2, 0.2), "sum to more than 1,"),
        ((8, 2, 1), "sum to more than 10,"),
        ((0.9, 0.05, 0.05), "10 rows are too few"),
    ],
)
def test_impossible_sizes_are_refused(sizes, fragment):
    with pytest.raises(errors.SplitImpossible, match=fragment):
        split(of_labels([0, 1] * 5), sizes)


def test_a_training_part_without_one_of_the_labels_is_refused():
    rare = of_labels([1] + [0] * 9)
    refused = []
    for seed in range(50):
        try:
            assert 0 in split(rare, (0.3, 0.3, 0.4), seed).train
        except errors.SplitImpossible as error:
            refused.append(str(error))
    assert 0 < len(refused) < 50
    assert refused[0].startswith("no training row has the label '1', which 1 of 10 rows have; give train more")


def test_compas_merges_to_its_known_numbers_of_distinct_rows(compas):
    matrix = Encoding.fit(compas, np.arange(len(compas))).transform(compas)
    merged = merge_identical(matrix, compas.y)
    assert len(merged) == 1155
    assert merged.copies.sum() == 6172
    assert len(merge_identical(matrix, np.zeros(len(compas)))) == 778


def test_merging_takes_minus_zero_for_zero_and_no_rows_for_none():
    X = np.array([[-0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [0.0, 1.0]])
    merged = merge_identical(X, np.array([1, 1, 1, -1]))
    assert merged.X.tolist() == [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]
    assert merged.y.tolist() == [1, 1, -1]
    assert merged.copies.tolist() == [2, 1, 1]
    assert merged.first.tolist() == [0, 1, 3]
    assert merged.inverse.tolist() == [0, 1, 0, 2]
    assert len(merge_identical(np.empty((0, 2)), np.empty(0))) == 0
    with pytest.raises(ValueError, match="read-only"):
        merged.X[0, 0] = 1
