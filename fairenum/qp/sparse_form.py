"""The SVM in the form that general quadratic solvers take: sparse matrices, scaled to a box of about one.

With ``alpha = scale * share`` and, for a linear kernel, the plane ``w = sqrt(scale) * Z'share`` as variables of their
own (``Z_i = y_i x_i``)::

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
    size: int
    scale: float

    @property
    def variables(self) -> int:
        """Number of variables: one per example, and one per feature if the plane is among them."""
        return len(self.linear)

    def box(self, upper: FloatArray) -> FloatArray:
        """Return the upper bounds of the shares."""
        return upper / self.scale

    def alpha(self, x: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the answer that the variables stand for, inside the box."""
        alpha: FloatArray = read_only(np.clip(self.scale * x[: self.size], 0.0, upper))
        return alpha

    def point(self, alpha: FloatArray) -> FloatArray:
        """Return the variables that stand for an answer: where a warm start begins."""
        share = alpha / self.scale
        plane = self.equations[1:, : self.size] @ share
        return np.concatenate([share, plane])


def sparse_form(problem: SvmProblem) -> SparseForm:
    """Write the problem with the plane as variables if that is shorter, else with the kernel matrix."""
    n, d = problem.X.shape
    scale = float(problem.upper.max())
    if problem.kernel.name == "linear" and d < n:
        ridge = np.full(n, scale * problem.ridge)
        quadratic = sparse.diags_array(np.concatenate([ridge, np.ones(d)]))
        equations = sparse.block_array(
            [
                [problem.y[None, :], None],
                [np.sqrt(scale) * (problem.y[:, None] * problem.X).T, -sparse.eye_array(d)],
            ]
        )
    else:
        every = np.arange(n)
        quadratic = sparse.coo_array(np.triu(scale * open_gram(problem).block(every, every)))
        equations = sparse.coo_array(problem.y[None, :])
    linear = np.zeros(quadratic.shape[0])
    linear[:n] = -problem.linear
    # The solvers ask for matrices of the older kind, not for arrays.
    return SparseForm(sparse.csc_matrix(quadratic), linear, sparse.csc_matrix(equations), n, scale)
