"""Sums of squares of some rows: the same for a sparse table and its array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairenum.svm.smoothing import squared
from fairenum.svm.sparse_or_dense import as_csr


@pytest.mark.parametrize("kept", [np.asarray, as_csr], ids=["array", "sparse"])
@given(st.integers(1, 12), st.integers(1, 6), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_squares_of_some_rows_with_their_labels(kept, n, d, filled, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, d)) * (rng.random((n, d)) < filled)
    y, places = rng.choice([-1.0, 1.0], n), np.flatnonzero(rng.random(n) < 0.7)
    weights, labelled = rng.random(len(places)), np.column_stack([table, y])[places]
    expected = labelled.T @ np.diag(weights) @ labelled
    np.testing.assert_allclose(squared(kept(table), y, places, weights), expected, atol=1e-12)
