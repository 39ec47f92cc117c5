"""Dense and sparse tables: every operation gives the same result for both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fairenum.svm import sparse_or_dense
from fairenum.svm.sparse_or_dense import as_csr, compact, dense, is_sparse, places


@st.composite
def tables(draw):
    """Numbers beside 0/1 columns, few enough of them that rows repeat; a row may be all 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, levels, numbers = draw(st.integers(1, 30)), draw(st.integers(1, 6)), draw(st.integers(0, 2))
    columns = [np.eye(levels + 1)[rng.integers(0, levels + 1, n)][:, :levels] for _ in range(draw(st.integers(1, 2)))]
    return np.column_stack([rng.integers(-1, 2, (n, numbers)) * rng.choice([0.1, 1.0, 3.0], numbers), *columns])


def weights_of(table: np.ndarray) -> np.ndarray:
    return np.random.default_rng(len(table)).random(len(table)) + 0.5


@given(tables(), tables())
def test_products_and_sums_are_those_of_the_array(table, other):
    rows, weights = as_csr(table), weights_of(table)
    width = min(table.shape[1], other.shape[1])
    for left, right in ((rows, as_csr(other)), (rows, other), (table, as_csr(other))):
        inner = sparse_or_dense.inner_products(left[:, :width], right[:, :width])
        np.testing.assert_allclose(inner, table[:, :width] @ other[:, :width].T, atol=1e-12)
    np.testing.assert_allclose(sparse_or_dense.squares(rows), (table**2).sum(axis=1), atol=1e-12)
    expected = table.T @ np.diag(weights) @ table
    np.testing.assert_allclose(sparse_or_dense.scaled_square(rows, weights), expected, atol=1e-12)
    np.testing.assert_allclose(sparse_or_dense.scaled_square(table, weights), expected, atol=1e-12)
    for mine in (table, rows):
        np.testing.assert_allclose(sparse_or_dense.precise_sum(weights, mine), weights @ table, atol=1e-12)
        np.testing.assert_allclose(sparse_or_dense.sums(weights, mine), weights @ table, atol=1e-12)
        np.testing.assert_allclose(
            sparse_or_dense.times(mine, np.arange(table.shape[1])), table @ np.arange(table.shape[1])
        )


@given(tables(), st.booleans())
def test_means_and_variances_are_those_of_the_array(table, is_weighted):
    weights = np.arange(1.0, len(table) + 1.0) if is_weighted else None
    counted = table if weights is None else np.repeat(table, weights.astype(int), axis=0)
    for mine in (table, as_csr(table)):
        np.testing.assert_allclose(sparse_or_dense.average(mine, weights), counted.mean(axis=0), atol=1e-12)
        assert sparse_or_dense.variance(mine, weights) == pytest.approx(counted.var(), abs=1e-12)


@given(tables(), tables())
def test_rows_and_columns_are_put_together_as_in_arrays(table, other):
    width = min(table.shape[1], other.shape[1])
    table, other = table[:, :width], other[:, :width]
    for parts in ((as_csr(table), other), (table, as_csr(other)), (as_csr(table), as_csr(other)), (table, other)):
        np.testing.assert_array_equal(dense(sparse_or_dense.stacked(parts)), np.vstack([table, other]))
    column = np.arange(len(table), dtype=float)
    np.testing.assert_array_equal(
        dense(sparse_or_dense.beside(as_csr(table), column)), np.column_stack([table, column])
    )


@given(tables(), st.booleans())
def test_equal_rows_are_found_in_order_of_appearance(table, is_labelled):
    labels = (np.arange(len(table)) % 2.0,) if is_labelled else ()
    table = table * -1.0 + 0.0 if len(table) % 2 else np.where(table == 0.0, -0.0, table)
    rows = [tuple(row) for row in np.column_stack([table + 0.0, *labels]).tolist()]
    order = list(dict.fromkeys(rows))
    for mine in (table, as_csr(table)):
        first, inverse = places(mine, *labels)
        assert [rows[place] for place in first] == order
        assert first.tolist() == [rows.index(row) for row in order]
        assert [order[place] for place in inverse] == rows
    np.testing.assert_array_equal(dense(sparse_or_dense.distinct(as_csr(table))), sparse_or_dense.distinct(table))


def test_equal_rows_are_found_across_blocks(monkeypatch):
    monkeypatch.setattr(sparse_or_dense, "BLOCK", 3)
    table = np.eye(4)[np.array([0, 1, 0, 2, 1, 3, 3, 0])]
    for mine in (table, as_csr(table)):
        assert places(mine)[1].tolist() == [0, 1, 0, 2, 1, 3, 3, 0]


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_not_finite_is_found_in_its_row(wrong):
    table = np.zeros((5, 3))
    assert sparse_or_dense.first_not_finite(table) is None
    assert sparse_or_dense.first_not_finite(as_csr(table)) is None
    table[3, 1] = wrong
    assert sparse_or_dense.first_not_finite(table) == sparse_or_dense.first_not_finite(as_csr(table)) == 3


def test_only_large_tables_that_are_mostly_zero_lose_their_zeros(monkeypatch):
    monkeypatch.setattr(sparse_or_dense, "LARGE", 100)
    table = np.eye(5)[np.arange(20) % 5]
    assert is_sparse(compact(table))
    assert not is_sparse(compact(table[:19])), "a small one"
    assert not is_sparse(compact(table + 1.0)), "a full one"
    assert not is_sparse(compact(as_csr(table + 1.0)))
    np.testing.assert_array_equal(dense(compact(as_csr(table))), table)
    assert sparse_or_dense.bytes_of(20, 5, 1) == 20 * (8 + 4) + 20 * 4
    assert sparse_or_dense.bytes_of(19, 5, 1) == sparse_or_dense.bytes_of(19, 5) == 19 * 5 * 8


def test_a_sparse_table_of_any_make_is_read_in_one_order():
    numbers = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0], [3.0, 0.0, -1.0]])
    untidy = sparse.csr_matrix(([1.0, 1.0, 1.0, 0.0, -1.0, 3.0], [2, 1, 1, 0, 2, 0], [0, 4, 4, 6]), shape=(3, 3))
    for mine in (untidy, sparse.coo_array(numbers), sparse.csc_array(numbers).astype(int)):
        rows = as_csr(mine)
        np.testing.assert_array_equal(rows.toarray(), numbers)
        assert rows.nnz == 4
        assert rows.has_sorted_indices
        assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert untidy.nnz == 6, "the caller's own stays as it is"


def test_a_frozen_table_leaves_the_callers_own_writable():
    own = sparse.csr_array(np.eye(3))
    kept = sparse_or_dense.frozen(own)
    own.data[0] = 7.0
    assert kept.data[0] == 1.0
    assert sparse_or_dense.frozen(kept).data is kept.data
    with pytest.raises(ValueError, match="read-only"):
        kept.data[0] = 7.0
