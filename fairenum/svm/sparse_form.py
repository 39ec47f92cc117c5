"""The SVM as a quadratic programme for general solvers: sparse matrices, scaled so that upper bounds are near 1.

The variables are ``share = alpha / scale`` and, for a linear kernel, the weight vector ``w = sqrt(scale) * Z'share``,
where ``Z_i = y_i x_i`` with centred features x_i. With the linear term p::

    minimise  1/2 |w|^2 + scale * ridge / 2 |share|^2 - p'share     subject to
              y'share = 0,   sqrt(scale) * Z'share - w = 0,   0 <= share <= upper / scale

which has n d numbers (n examples, d columns) where the kernel matrix has n^2. For other kernels there is no w, and the
quadratic term is that of ``scale * Q``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fairenum.svm.gram import LARGEST_BOX, Gram, centre_of, needed_alpha, open_gram, signed
from fairenum.svm.problem import Certificate, FloatArray, SvmProblem, read_only
from fairenum.svm.sparse_or_dense import is_sparse


@dataclass(frozen=True, slots=True, eq=False)
class SparseForm:
    """The programme ``min 1/2 x'Px + q'x`` with ``A x = 0``; x begins with the shares ``alpha / scale``, within bounds.

    ``quadratic`` is the upper triangle of P, ``linear`` is q and ``equations`` is A. Both matrices are of SciPy's older
    CSC type, which solvers ask for.
    """

    problem: SvmProblem
    gram: Gram
    scale: float
    quadratic: sparse.csc_matrix
    linear: FloatArray
    equations: sparse.csc_matrix

    @property
    def size(self) -> int:
        """Number of shares: one per example."""
        return self.problem.size

    @property
    def variables(self) -> int:
        """Number of variables: the shares, and the entries of the weight vector if it is included."""
        return len(self.linear)

    def box(self, upper: FloatArray) -> FloatArray:
        """Return the upper bounds of the shares, given those of alpha."""
        return upper / self.scale

    def alpha(self, x: FloatArray, upper: FloatArray) -> FloatArray:
        """Return alpha for a solver's variables x, made feasible: within its bounds, and with ``y'alpha = 0``."""
        y, alpha = self.problem.y, np.clip(self.scale * x[: self.size], 0.0, upper)
        positive, negative = (float(alpha[y == label].sum()) for label in (1.0, -1.0))
        if positive != negative:  # shrink the heavier class
            alpha[y == np.sign(positive - negative)] *= min(positive, negative) / max(positive, negative)
        return read_only(alpha)

    def certify(self, alpha: FloatArray, upper: FloatArray) -> Certificate:
        """Return the certificate of an alpha; its biases are for centred features."""
        return self.problem.judge(alpha, upper, self.gram.product(alpha))[0]

    def warm_start(self, alpha: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the programme's variables for an alpha, and the multipliers of its bounds and equations."""
        share = alpha / self.scale
        plane = self.equations[1:, : self.size] @ share
        bias = self.certify(alpha, upper).bias
        reduced_cost = self.problem.linear - self.gram.product(alpha) - self.problem.y * bias
        return np.concatenate([share, plane]), np.concatenate([reduced_cost, [bias], plane])


def sparse_form(problem: SvmProblem) -> SparseForm:
    """Return a problem in sparse form: with the weight vector as variables if that is smaller, else with Q."""
    n, d = problem.X.shape
    gram = open_gram(problem)
    scale = min(float(problem.upper.max()), LARGEST_BOX * needed_alpha(gram, problem.linear))
    if problem.kernel.name == "linear" and d < n:
        quadratic, equations = _with_plane(problem, scale)
    else:
        every = np.arange(n)
        quadratic = sparse.csc_matrix(np.triu(scale * gram.block(every, every)))
        equations = sparse.csc_matrix(problem.y[None, :])
    linear = np.zeros(quadratic.shape[0])
    linear[:n] = -problem.linear
    return SparseForm(problem, gram, scale, quadratic, linear, equations)


def _with_plane(problem: SvmProblem, scale: float) -> tuple[sparse.csc_matrix, sparse.csc_matrix]:
    n, d = problem.X.shape
    diagonal = np.concatenate([np.full(n, scale * problem.ridge), np.ones(d)])
    balance = sparse.csr_array(np.concatenate([problem.y, np.zeros(d)])[None, :])
    plane = sparse.hstack([np.sqrt(scale) * _centred(problem).T, -sparse.eye_array(d)])
    return sparse.csc_matrix(sparse.diags_array(diagonal)), sparse.csc_matrix(sparse.vstack([balance, plane]))


def _centred(problem: SvmProblem) -> sparse.csr_array:
    """Return centred features times labels as a sparse table; mostly-zero columns of a sparse X are not centred."""
    if is_sparse(problem.X):
        return sparse.csr_array(signed(problem, centre_of(problem.X)))
    return sparse.csr_array(problem.y[:, None] * (problem.X - problem.X.mean(axis=0)))
