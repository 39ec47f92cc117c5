"""Rows of one kind are found by hashing, and AUCs by one sort: the same as the slow ways, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from fairenum.metrics import Decisions, counts
from fairenum.metrics.counts import confusion
from fairenum.metrics.performance import ranked
from fairenum.tables import Groups


def decided(rows: int, models: int, groups: int, seed: int, share: float = 0.05) -> Decisions:
    rng = np.random.default_rng(seed)
    predictions = (rng.random(rows) < 0.5) ^ (rng.random((models, rows)) < share)
    codes = rng.integers(0, groups, rows)
    codes[:groups] = np.arange(groups)[:rows]
    names = tuple(map(str, range(groups)))
    return Decisions(predictions.astype(np.uint8), rng.integers(0, 2, rows).astype(np.uint8), Groups(codes, names))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(4, 60), st.integers(1, 80), st.integers(1, 4), st.integers(0, 1000), st.sampled_from([0.0, 0.05, 0.5])
)
def test_hashed_kinds_are_the_sorted_ones(rows, models, groups, seed, share):
    one = decided(rows, models, groups, seed, share)
    parts = (np.packbits(one.predictions, axis=0).T, one.labels[:, None], one.groups.codes[:, None].view(np.uint8))
    keys = np.ascontiguousarray(np.hstack(parts))
    whole = keys.view(np.dtype((np.void, keys.shape[1]))).ravel()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_SORTED_AT_ONCE", 0)
        found = counts._unique_rows(keys)
    wanted = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)[1:]
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("rows", [50, 6000])
def test_kinds_count_as_their_rows_do_and_are_found_once(rows):
    one = decided(rows, 7, 3, 1)
    counts = confusion(one)
    for group in range(3):
        for label in (0, 1):
            cell = (one.groups.codes == group) & (one.labels == label)
            assert counts.total[0, group, label] == cell.sum()
            np.testing.assert_array_equal(counts.selected[:, group, label], one.predictions[:, cell].sum(1))
    assert one.distinct() is one.distinct()


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 80), st.integers(0, 3), st.integers(0, 1000))
def test_one_sort_gives_the_auc_of_scikit_learn_and_what_each_row_adds_by_its_definition(rows, digits, seed):
    rng = np.random.default_rng(seed)
    values, labels = rng.normal(size=(3, rows)).round(digits), rng.integers(0, 2, rows).astype(np.uint8)
    labels[:2] = 0, 1
    found = ranked(values, labels)
    np.testing.assert_allclose(found.auc, [roc_auc_score(labels, row) for row in values], rtol=1e-12)
    positive = labels == 1
    divisor = np.sqrt([n * max(n - 1, 1) for n in (positive.sum(), (~positive).sum())])
    for row, parts, auc in zip(values, found.parts, found.auc, strict=True):
        order = (np.sign(row[positive, None] - row[~positive]) + 1.0) / 2.0
        np.testing.assert_allclose(parts[positive], (order.mean(1) - auc) / divisor[0], atol=1e-12)
        np.testing.assert_allclose(parts[~positive], (order.mean(0) - auc) / divisor[1], atol=1e-12)
