"""Tables with more columns than rows: the same answers, by the rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairenum.document.training import SvmSettings
from fairenum.enumeration import distinct, influence
from fairenum.enumeration.division import pose
from fairenum.svm.sparse_or_dense import turned

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 12), st.integers(1, 40))
def test_turned_rows_have_the_same_inner_products(seed, rows, columns):
    table = np.random.default_rng(seed).normal(size=(rows, columns))
    found = turned(table)
    assert found.shape == (rows, rows)
    np.testing.assert_allclose(found @ found.T, table @ table.T, atol=1e-10)


@given(seeds, st.integers(2, 8), st.integers(1, 6), st.integers(1, 30))
def test_effects_are_the_same_whichever_way_they_are_computed(seed, rows, watched, extra):
    rng = np.random.default_rng(seed)
    X, others = (rng.normal(size=(count, rows + watched + extra)) for count in (rows, watched))
    problem = pose(X, np.where(np.arange(rows) % 2, 1.0, -1.0), SvmSettings()).problem
    values, slope = rng.normal(size=(problem.size,)), rng.normal(size=watched)
    limits = influence.GuardSlopes(rng.normal(size=(2, watched)), rng.uniform(0.01, 1.0, 2))
    narrow, wide = influence.Influence(problem, others), influence.Influence(problem, others)
    wide._train, wide._watched = (np.column_stack([table, np.ones(len(table))]) for table in (problem.X, others))
    assert narrow._train.shape[1] < wide._train.shape[1]
    found, expected = (one.of_leaving_out(problem.upper, values, slope) for one in (narrow, wide))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    found, expected = (one.prices(problem.upper, values, slope, 0.1, limits) for one in (narrow, wide))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@given(seeds, st.integers(2, 10))
def test_independent_rows_of_the_margin_make_up_for_others_as_a_linear_programme_says(seed, size):
    rng = np.random.default_rng(seed)
    margin = np.eye(size) + 0.3 * rng.normal(size=(size, size)) / size
    able = np.vstack([margin, rng.normal(size=(5, size))])
    hold = distinct._PinnedPlane(margin, np.full(size, 1.0), rng.uniform(0.1, 0.9, size), able, np.ones(len(able)))
    np.testing.assert_allclose(hold._exactly(), [hold._farthest(row) for row in able], rtol=1e-6)
