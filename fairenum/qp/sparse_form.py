"""The SVM in the form that general quadratic solvers take: sparse matrices, scaled to a box of about one.

With ``alpha = scale * share`` and, for a linear kernel, the plane ``w = sqrt(scale) * Z'share`` as variables
of their own (``Z_i = y_i x_i``)::

    minimise  1/2 |w|^2 + scale * ridge / 2 |share|^2 - p'share     subject to
              y'share = 0,   sqrt(scale) * Z'share - w = 0,   0 <= share <= upper / scale

which has n d numbers where the kernel matrix has n^2. Other kernels keep ``scale * Q`` and the one equation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fairenum.problem import FloatArray, SvmProblem, read_only
from fairenum.qp.gram import open_gram


@dataclass(frozen=True, slots=True, eq=False)
class SparseForm:
    """``min 1/2 x'Px + q'x`` subject to ``A x = 0`` and a box on the first `size` entries of x.

    ``quadratic`` is the upper triangle of P; all matrices are CSC.
    """

    quadratic: sparse.csc_matrix
    linear: FloatArray
    equations: sparse.csc_matrix
    y: FloatArray
    scale: float

    @property
    def size(self) -> int:
        """Number of examples."""
        return len(self.y)

    @property
    def variables(self) -> int:
        """Number of variables: one per example, and one per feature if the plane is among them."""
        return len(self.linear)

    def box(self, upper: FloatArray) -> FloatArray:
        """Return the upper bounds of the shares."""
        return upper / self.scale

    def alpha(self, x: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the answer that the variables stand for, put into the box and balanced: really feasible."""
        alpha = np.clip(self.scale * x[: self.size], 0.0, upper)
        positive, negative = (float(alpha[self.y == label].sum()) for label in (1.0, -1.0))
        if positive != negative:  # shrink the heavier class
            alpha[self.y == np.sign(positive - negative)] *= min(positive, negative) / max(positive, negative)
        feasible: FloatArray = read_only(alpha)
        return feasible

    def point(self, alpha: FloatArray) -> FloatArray:
        """Return the variables that stand for an answer: where a warm start begins."""
        share = alpha / self.scale
        plane = self.equations[1:, : self.size] @ share
        return np.concatenate([share, plane])


def sparse_form(problem: SvmProblem) -> SparseForm:
    """Write the problem with the plane as variables if that is shorter, else with the kernel matrix."""
    n, d = problem.X.shape
    scale = float(problem.upper.max())
    has_plane = problem.kernel.name == "linear" and d < n
    quadratic, equations = (_with_plane if has_plane else _with_matrix)(problem, scale)
    linear = np.zeros(quadratic.shape[0])
    linear[:n] = -problem.linear
    return SparseForm(quadratic, linear, equations, problem.y, scale)


# The solvers ask for sparse matrices of the older kind, not for sparse arrays.
def _with_plane(problem: SvmProblem, scale: float) -> tuple[sparse.csc_matrix, sparse.csc_matrix]:
    n, d = problem.X.shape
    diagonal = np.concatenate([np.full(n, scale * problem.ridge), np.ones(d)])
    signed = problem.y[:, None] * problem.X
    balance = np.concatenate([problem.y, np.zeros(d)])[None, :]
    plane = np.hstack([np.sqrt(scale) * signed.T, -np.eye(d)])
    return sparse.csc_matrix(sparse.diags_array(diagonal)), sparse.csc_matrix(np.vstack([balance, plane]))


def _with_matrix(problem: SvmProblem, scale: float) -> tuple[sparse.csc_matrix, sparse.csc_matrix]:
    every = np.arange(problem.size)
    triangle = np.triu(scale * open_gram(problem).block(every, every))
    return sparse.csc_matrix(triangle), sparse.csc_matrix(problem.y[None, :])
