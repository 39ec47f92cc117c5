"""Solver plugin for scikit-learn's SVC (libsvm): sequential minimal optimisation, from scratch for any upper bounds.

libsvm is inexact by nature (its kernel cache is of float32), and with a huge cost it may not finish at all. fairenum
makes its claims exact, so a loose tolerance is the fast choice.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairenum.errors import ProblemError, SolverBroken
from fairenum.solvers.protocol import ADVICE, Tolerance
from fairenum.svm.gram import open_gram
from fairenum.svm.problem import Claim, FloatArray, IntArray, Solution, SvmProblem, read_only
from fairenum.svm.sparse_or_dense import Matrix, dense, is_sparse


@dataclass(frozen=True, slots=True)
class LibsvmSolver:
    """Solver plugin for scikit-learn's SVC.

    Parameters
    ----------
    tol
        Largest violation of the optimality conditions at which libsvm stops.
    max_iter
        Iterations after which libsvm stops anyway; fairenum then makes the unfinished alpha exact.
    cache_megabytes
        Size of libsvm's kernel cache.
    """

    name: ClassVar[str] = "libsvm"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)
    install: ClassVar[str] = "pip install scikit-learn"

    tol: float = 1e-2
    max_iter: int = 100_000
    cache_megabytes: float = 200.0

    def __post_init__(self) -> None:
        for option in ("tol", "max_iter", "cache_megabytes"):
            value = getattr(self, option)
            if not (math.isfinite(value) and value > 0):
                raise ProblemError(f"libsvm's {option} must be a positive number, not {value!r}")

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> LibsvmWorkspace:  # noqa: ARG002 - see `tol`
        """Return a workspace with the features, or the kernel matrix if the problem has a ridge (SVC has none)."""
        return LibsvmWorkspace(self, problem)


class LibsvmWorkspace:
    """A problem that SVC trains from scratch on the examples with a positive upper bound."""

    def __init__(self, options: LibsvmSolver, problem: SvmProblem) -> None:
        self._options, self._problem = options, problem
        self._margin = _common_margin(problem.linear)
        self._X = _around_zero(problem)
        self._matrix = _kernel_matrix(problem) if problem.ridge else None

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:  # noqa: ARG002 - SVC takes none
        """Return alpha as SVC finds it for the examples with a positive upper bound, and 0 for the others.

        The others are not passed to SVC, which would misreport the support if given weights of 0.
        """
        rows = np.flatnonzero(upper)
        alpha = np.zeros(len(upper))
        if len(np.unique(self._problem.y[rows])) < 2:
            return Claim(read_only(alpha))  # SVC refuses a single class; nothing balances it
        shares, finished = self._train(rows, upper[rows] / self._margin)
        alpha[rows] = np.clip(self._margin * shares, 0.0, upper[rows])
        return Claim(read_only(alpha), finished=finished)

    def _train(self, rows: IntArray, box: FloatArray) -> tuple[FloatArray, bool]:
        """Return SVC's alpha of some rows for a margin of 1, and True if SVC converged within `max_iter`."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        kernel, options = self._problem.kernel, self._options
        svm = SVC(
            C=1.0,  # the boxes are the weights
            kernel=kernel.name if self._matrix is None else "precomputed",
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.coef0,
            tol=options.tol,
            max_iter=options.max_iter,
            cache_size=options.cache_megabytes,
        )
        table = self._X[rows] if self._matrix is None else self._matrix[np.ix_(rows, rows)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said by `finished`
            try:
                svm.fit(table, self._problem.y[rows], sample_weight=box)
            except ValueError as error:
                raise SolverBroken(f"solver 'libsvm' failed: {error} {ADVICE.capitalize()}") from error
        shares = np.zeros(len(rows))
        shares[svm.support_] = np.abs(dense(svm.dual_coef_)[0])
        return shares, svm.fit_status_ == 0


def _common_margin(linear: FloatArray) -> float:
    """Return the value that all entries of the linear term share, the margin; refuse a linear term without one.

    SVC fixes the margin at 1, so alpha is scaled by this value.
    """
    margin = float(linear[0])
    if margin <= 0.0 or (linear != margin).any():
        raise ProblemError(
            "solver 'libsvm' takes a linear term of one positive value only; "
            f"received values from {linear.min():g} to {linear.max():g}: use solver 'path'"
        )
    return margin


def _around_zero(problem: SvmProblem) -> Matrix:
    """Return the features minus their column means, which saves digits; unchanged if sparse or for a poly kernel."""
    if problem.kernel.name == "poly" or is_sparse(problem.X):
        return problem.X
    return np.asarray(problem.X - problem.X.mean(axis=0))


def _kernel_matrix(problem: SvmProblem) -> FloatArray:
    every = np.arange(problem.size)
    return open_gram(problem).block(every, every) * (problem.y[:, None] * problem.y)
