"""The SVM problem: kernels, checks, certificates, and memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from fairenum.errors import ProblemError
from fairenum.svm.problem import Certificate, Kernel, SvmProblem

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0, 1.0, -1.0)


def test_kernels_equal_scikit_learn():
    other = RNG.normal(size=(7, 3))
    np.testing.assert_allclose(Kernel("linear")(X, other), linear_kernel(X, other), atol=1e-12)
    np.testing.assert_allclose(Kernel("rbf", 0.3)(X, other), rbf_kernel(X, other, gamma=0.3), atol=1e-12)
    expected = polynomial_kernel(X, other, degree=2, gamma=0.3, coef0=1.5)
    np.testing.assert_allclose(Kernel("poly", 0.3, 2, 1.5)(X, other), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.3), Kernel("poly", 0.3, 2, 1.0)])
def test_product_equals_the_matrix(kernel):
    problem = SvmProblem(X, Y, kernel=kernel, ridge=0.25)
    alpha = RNG.random(40)
    Q = np.outer(Y, Y) * kernel(X, X) + 0.25 * np.eye(40)
    np.testing.assert_allclose(problem.product(alpha), Q @ alpha, atol=1e-11)
    assert problem.objective(alpha) == pytest.approx(alpha.sum() - 0.5 * alpha @ Q @ alpha)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_certificate_agrees_with_libsvm(kernel):
    svc = SVC(kernel=kernel, gamma=0.3, degree=2, coef0=1.0, C=2.0, tol=1e-8).fit(X, Y)
    alpha = np.zeros(40)
    alpha[svc.support_] = np.abs(svc.dual_coef_[0])
    certificate = SvmProblem(X, Y, 2.0, kernel=Kernel(kernel, 0.3, 2, 1.0)).certify(alpha)
    assert 0.0 <= certificate.relative_gap < 1e-6
    assert certificate.bias == pytest.approx(svc.intercept_[0], abs=1e-5)


def test_everything_is_read_only():
    problem = SvmProblem(X, Y)
    for name in ("X", "y", "cost", "copies", "linear", "upper"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(problem, name)[0] = 1
    assert X.flags.writeable, "the caller's own table stays writeable"


def test_box_is_cost_times_copies():
    problem = SvmProblem(X, Y, cost=np.arange(1.0, 41.0), copies=np.full(40, 3))
    np.testing.assert_array_equal(problem.upper, 3.0 * np.arange(1, 41))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": X[0]}, "table of examples by features"),
        ({"y": Y[:-1]}, "one value per example"),
        ({"y": np.where(Y > 0, 1, 0)}, "labels must be -1 or [+]1"),
        ({"y": np.ones(40)}, "both labels are needed"),
        ({"X": np.where(np.arange(3) == 1, np.nan, X)}, "X holds a value that is not finite, first at example 0"),
        ({"cost": 0.0}, "cost must be positive"),
        ({"cost": np.inf}, "cost holds a value that is not finite"),
        ({"cost": [1.0, 2.0]}, "one value per example"),
        ({"copies": np.zeros(40)}, "copies at least 1"),
        ({"ridge": -1.0}, "ridge must be a number >= 0"),
        ({"linear": np.full(40, np.nan)}, "linear holds a value"),
    ],
)
def test_bad_problems_are_refused(arguments, message):
    with pytest.raises(ProblemError, match=message):
        SvmProblem(**{"X": X, "y": Y} | arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sigmoid",), "unknown kernel 'sigmoid'"),
        (("rbf", 0.0), "gamma must be a positive number"),
        (("poly", 1.0, 0), "positive semidefinite"),
        (("poly", 1.0, 2, -1.0), "positive semidefinite"),
    ],
)
def test_bad_kernels_are_refused(arguments, message):
    with pytest.raises(ProblemError, match=message):
        Kernel(*arguments)


def test_a_claim_of_nothing_has_an_infinite_gap():
    certificate = SvmProblem(X, Y).certify(np.zeros(40))
    assert certificate.objective == 0.0
    assert certificate.relative_gap == np.inf


def test_one_class_left_leaves_the_bias_open_on_one_side():
    problem = SvmProblem(X, Y)
    only_positive = problem.certify(np.zeros(40), np.where(Y > 0, 1.0, 0.0))
    assert (only_positive.bias_low, only_positive.bias_high) == (pytest.approx(1.0), np.inf)
    assert only_positive.bias == pytest.approx(1.0)
    assert only_positive.bound == pytest.approx(0.0)
    nobody = problem.certify(np.zeros(40), np.zeros(40))
    assert (nobody.bias_low, nobody.bias_high, nobody.bias) == (-np.inf, np.inf, 0.0)


def test_bias_is_an_interval_without_a_free_support_vector():
    problem = SvmProblem([[0.0], [2.0], [10.0], [-10.0]], [-1.0, 1.0, 1.0, -1.0], 0.1)
    certificate = problem.certify(np.array([0.1, 0.1, 0.0, 0.0]))
    assert certificate.relative_gap == pytest.approx(0.0, abs=1e-12)
    assert certificate.bias_high - certificate.bias_low > 0.1


def test_imbalance_is_charged_to_the_objective():
    problem = SvmProblem(X, Y)
    alpha = np.full(40, 0.5)
    certificate = problem.certify(alpha)
    assert certificate.objective == pytest.approx(problem.objective(alpha) - abs((Y @ alpha) * certificate.bias))


def test_a_negative_gap_is_no_gap():
    assert Certificate(1.0, 1.0 - 1e-16, 0.0, 0.0).relative_gap == 0.0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the kernel keeps no peak there")
def test_a_large_linear_problem_stays_small_in_memory():
    """n = 20,000 and d = 50 under 1 GB: an n x n matrix alone would take 3.2 GB."""
    code = """
import re, numpy as np
from pathlib import Path
from fairenum.svm.problem import SvmProblem
from fairenum.solvers.registry import open_workspace
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 50))
y = np.where(X @ rng.normal(size=50) / 7 + rng.normal(size=20_000) > 0, 1.0, -1.0)
solution = open_workspace("path", SvmProblem(X, y)).solve()
assert solution.certificate.relative_gap <= 1e-9
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""
    # The peak that the kernel keeps of the process itself: getrusage counts that of the process which started it, too.
    # compiling the loops on a first run takes more memory than the problem
    subprocess.run([sys.executable, "-c", "from fairenum.svm.polish import warm_up; warm_up()"], check=True)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 1024
