"""Solver plugin for PIQP: a proximal interior point method on the sparse form, accurate, without warm starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairenum.errors import ProblemError, SolverBroken
from fairenum.solvers.protocol import ADVICE, Tolerance
from fairenum.svm.problem import Claim, FloatArray, Solution, SvmProblem
from fairenum.svm.sparse_form import sparse_form


@dataclass(frozen=True, slots=True)
class PiqpSolver:
    """Solver plugin for PIQP, version 0.6 or later.

    Parameters
    ----------
    accuracy
        Residuals and duality gap at which PIQP stops.
    max_iter
        Iterations after which PIQP stops anyway.
    """

    name: ClassVar[str] = "piqp"
    requires: ClassVar[tuple[str, ...]] = ("piqp",)
    install: ClassVar[str] = "pip install 'fairenum[piqp]'"

    accuracy: float = 1e-8
    max_iter: int = 100

    def __post_init__(self) -> None:
        if not 0 < self.accuracy < 1:
            raise ProblemError(f"piqp's accuracy must lie between 0 and 1, not {self.accuracy!r}")
        if self.max_iter < 1:
            raise ProblemError(f"piqp's max_iter must be at least 1, not {self.max_iter!r}")

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> PiqpWorkspace:  # noqa: ARG002 - see `accuracy`
        """Return a workspace in which the problem's sparsity pattern is analysed once."""
        return PiqpWorkspace(self, problem)


class PiqpWorkspace:
    """A problem opened in PIQP; other upper bounds of alpha use the same sparsity pattern."""

    def __init__(self, options: PiqpSolver, problem: SvmProblem) -> None:
        import piqp

        self._form = form = sparse_form(problem)
        self._statuses = piqp.Status
        self._solver = piqp.SparseSolver()
        settings = self._solver.settings
        settings.eps_abs = settings.eps_rel = options.accuracy
        settings.max_iter = options.max_iter
        floor = np.full(form.variables, -math.inf)
        floor[: form.size] = 0.0
        zeros = np.zeros(form.equations.shape[0])
        self._solver.setup(
            form.quadratic, form.linear, form.equations, zeros, x_l=floor, x_u=self._ceiling(problem.upper)
        )

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:  # noqa: ARG002 - interior point
        """Return PIQP's alpha for some upper bounds."""
        self._solver.update(x_u=self._ceiling(upper))
        status, known = self._solver.solve(), self._statuses
        if status not in (known.PIQP_SOLVED, known.PIQP_MAX_ITER_REACHED, known.PIQP_NUMERICS):
            raise SolverBroken(f"solver 'piqp' stopped with {status.name}; {ADVICE}")
        alpha = self._form.alpha(np.asarray(self._solver.result.x), upper)
        return Claim(alpha, finished=status == known.PIQP_SOLVED)

    def _ceiling(self, upper: FloatArray) -> FloatArray:
        """Return the upper bounds of all variables: those of alpha, scaled, and infinity for the weight vector."""
        ceiling = np.full(self._form.variables, math.inf)
        ceiling[: self._form.size] = self._form.box(upper)
        return ceiling
