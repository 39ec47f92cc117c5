"""A table without its zeros poses the same problem, and has the same answers."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support.oracles.brute_force import BruteForce
from support.problems import KERNELS, problems

from fairenum import EnumSVC, audit
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import divide, pose
from fairenum.solvers.registry import open_workspace
from fairenum.svm import gram, sparse_or_dense
from fairenum.svm import gram as grams
from fairenum.svm.gram import open_gram
from fairenum.svm.interior import interior_point
from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.tables import Dataset


def without_zeros(problem: SvmProblem) -> SvmProblem:
    rows = sparse.csr_array(problem.X)
    return SvmProblem(rows, problem.y, problem.cost, problem.copies, problem.kernel, problem.linear, problem.ridge)


@settings(max_examples=60)
@given(problems(copies=True, boxes=True, kinds=("hypercube", "grid")))
def test_small_problems_have_the_canonical_answer(problem):
    solution = open_workspace("path", without_zeros(problem)).solve()
    expected = BruteForce(problem).canonical(2**problem.size - 1)
    np.testing.assert_allclose(solution.alpha, expected, atol=1e-7 * float(problem.upper.max()))


def categories(seed: int, n: int, widths: tuple[int, ...], **arguments) -> SvmProblem:
    """One number far from 0 between categories, of which one value may be most frequent."""
    rng = np.random.default_rng(seed)
    codes = [np.minimum(rng.geometric(2.0 / width, n) - 1, width - 1) for width in widths]
    blocks = [np.eye(width)[code] for width, code in zip(widths, codes, strict=True)]
    X = np.column_stack([blocks[0], rng.normal(1e3, 1.0, n), *blocks[1:]])
    plane = rng.normal(size=X.shape[1])
    values = (X - X.mean(axis=0)) @ plane + rng.normal(size=n)
    return SvmProblem(X, np.where(values > np.median(values), 1.0, -1.0), **arguments)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("cost", [0.05, 5.0])
def test_larger_problems_have_the_same_answer_and_decisions(kernel, cost):
    for seed in range(2):
        problem = categories(seed, 100, (7, 12, 4), cost=cost, kernel=kernel)
        other = without_zeros(problem)
        mine, theirs = (open_workspace("path", one).solve() for one in (problem, other))
        np.testing.assert_array_equal(mine.support, theirs.support)
        np.testing.assert_allclose(mine.alpha, theirs.alpha, atol=1e-8 * cost)
        assert mine.certificate.bias == pytest.approx(theirs.certificate.bias, abs=1e-7)
        np.testing.assert_allclose(problem.product(mine.alpha), other.product(mine.alpha), atol=1e-9)
        assert problem.certify(mine.alpha).bound == pytest.approx(other.certify(mine.alpha).bound, rel=1e-12)


@pytest.mark.parametrize("name", ["path", "libsvm", "osqp", "piqp"])
def test_every_solver_takes_a_table_without_zeros(name):
    problem = categories(0, 60, (5, 6), cost=1.0)
    expected = open_workspace("path", problem).solve()
    np.testing.assert_allclose(open_workspace(name, without_zeros(problem)).solve().alpha, expected.alpha, atol=1e-8)


def test_the_estimator_lists_the_same_models_of_both():
    problem = categories(4, 120, (5, 9, 3))
    rows = sparse.csr_array(problem.X)
    for options in ({}, {"merge_copies": True}, {"distinct": "predictions"}, {"kernel": "rbf"}):
        mine = EnumSVC(n_models=6, **options).fit(problem.X, problem.y)
        theirs = EnumSVC(n_models=6, **options).fit(rows, problem.y)
        assert [m.support.tolist() for m in mine.models_] == [m.support.tolist() for m in theirs.models_]
        for one, other in zip(mine.models_, theirs.models_, strict=True):
            values = one.decision_function(problem.X)
            np.testing.assert_allclose(other.decision_function(rows), values, atol=1e-8)
        np.testing.assert_array_equal(mine.predict(problem.X), theirs.predict(sparse.csc_matrix(rows)))


def longest_exclusive(table: np.ndarray) -> int:
    d = table.shape[1]
    stretches = [(a, b) for a in range(d) for b in range(a + 1, d + 1)]
    return max(b - a for a, b in stretches if (np.count_nonzero(table[:, a:b], axis=1) <= 1).all())


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 9), st.sampled_from((0.05, 0.2, 0.6)))
def test_the_longest_stretch_of_columns_that_exclude_each_other_is_found(seed, n, d, share):
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((n, d)) < share, rng.normal(size=(n, d)), 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gram, "WIDE", 0)
        first, last = gram._exclusive(sparse_or_dense.as_csr(table))
    assert (np.count_nonzero(table[:, first:last], axis=1) <= 1).all()
    assert last - first == longest_exclusive(table)


@pytest.mark.parametrize("widths", [(30, 4, 3), (4, 30, 3), (3, 4, 30), (30,)])
def test_values_of_one_category_are_eliminated_at_no_cost_in_accuracy(widths, monkeypatch):
    problem = categories(1, 300, widths)
    expected = interior_point(open_gram(problem), problem.y, problem.upper, problem.linear)
    monkeypatch.setattr(grams, "WIDE", 0)
    other = without_zeros(problem)
    gram = open_gram(other)
    assert gram.exclusive[1] - gram.exclusive[0] >= 20
    point = interior_point(gram, other.y, other.upper, other.linear)
    objectives = [problem.objective(one.alpha) for one in (point, expected)]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-9)
    np.testing.assert_allclose(point.alpha, expected.alpha, atol=1e-6)


def hired(rows: int, levels: int = 9, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    codes = {f"c{place}": rng.integers(0, levels, rows) for place in range(4)}
    group = rng.integers(0, 2, rows)
    score = sum(rng.normal(size=levels)[code] for code in codes.values()) + 0.6 * group + rng.normal(size=rows)
    texts = {name: np.array([f"v{level}" for level in range(levels)])[code] for name, code in codes.items()}
    return pd.DataFrame({**texts, "x": rng.normal(size=rows), "group": np.where(group, "a", "b"), "ok": score > 0.3})


def test_rows_are_encoded_and_posed_alike(monkeypatch):
    dataset = Dataset.from_frame(hired(300), "ok", True, ["group"])
    mine = divide(dataset)
    monkeypatch.setattr(sparse_or_dense, "LARGE", 0)
    theirs = divide(dataset)
    assert sparse_or_dense.is_sparse(theirs.train.X)
    np.testing.assert_array_equal(theirs.train.X.toarray(), mine.train.X)
    weights = np.random.default_rng(0).integers(1, 3, len(mine.train)).astype(float)
    for svm in (SvmSettings(), SvmSettings(kernel="rbf"), SvmSettings(rows=True)):
        one, other = (pose(rows.X, rows.y, svm, weights=weights) for rows in (mine.train, theirs.train))
        np.testing.assert_array_equal(other.problem.X.toarray(), one.problem.X)
        np.testing.assert_array_equal(other.problem.upper, one.problem.upper)
        assert [rows.tolist() for rows in other.rows_of] == [rows.tolist() for rows in one.rows_of]
        gammas = [found.problem.kernel.gamma for found in (one, other)]
        assert gammas[0] == pytest.approx(gammas[1], rel=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_an_audit_says_the_same_of_both(kernel, monkeypatch):
    options = {"label": "ok", "favourable": True, "sensitive": "group", "k": 3, "kernel": kernel, "seed": 3}
    mine = audit(hired(150), **options)
    monkeypatch.setattr(sparse_or_dense, "LARGE", 0)
    theirs = audit(hired(150), **options)
    assert sparse_or_dense.is_sparse(theirs.live.division.train.X)
    ours, others = mine.document, theirs.document
    assert [model.left_out for model in ours.models] == [model.left_out for model in others.models]
    for one, other in zip(ours.models, others.models, strict=True):
        assert one.predictions_changed == other.predictions_changed
        assert one.loss_ratio == pytest.approx(other.loss_ratio, abs=1e-8)
    assert ours.selection.rank == others.selection.rank
    assert ours.multiplicity.ambiguity == others.multiplicity.ambiguity
    rows = hired(40, seed=9)
    np.testing.assert_array_equal(mine.estimator(1).predict(rows), theirs.estimator(1).predict(rows))


def test_kernels_of_sparse_rows_are_those_of_dense_ones():
    problem = categories(2, 50, (6, 5))
    rows = sparse.csr_array(problem.X)
    for kernel in (*KERNELS, Kernel("rbf", 2.0)):
        expected = kernel(problem.X, problem.X[:7])
        np.testing.assert_allclose(kernel(rows, rows[:7]), expected, rtol=1e-9)
        summed = kernel.summed(rows, rows[:7], np.arange(7.0))
        np.testing.assert_allclose(summed, expected @ np.arange(7.0), rtol=1e-9)
        assert replace(kernel).summed(problem.X, rows[:7], np.arange(7.0)) == pytest.approx(summed, rel=1e-9)


def test_a_column_of_3000_values_costs_what_is_not_0_in_it():
    rows, levels = 9000, 3000
    rng = np.random.default_rng(0)
    towns = np.array([f"t{level}" for level in range(levels)])[rng.permutation(rows) % levels]
    frame = pd.DataFrame({"town": towns, "job": rng.choice(["a", "b", "c"], rows), "ok": rng.integers(0, 2, rows)})
    dataset = Dataset.from_frame(frame, "ok", 1, max_levels=levels)
    tracemalloc.start()
    train = divide(dataset, (1.0, 0.0, 0.0)).train
    problem = pose(train.X, train.y, SvmSettings(C=0.1)).problem
    point = interior_point(open_gram(problem), problem.y, problem.upper, problem.linear)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert train.X.shape == (rows, levels + 3)
    assert peak < rows * levels * 8 / 8, "not even an eighth of the table with its zeros"
    assert problem.certify(point.alpha.clip(0.0, problem.upper)).relative_gap < 1e-6
