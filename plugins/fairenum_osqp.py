"""Solver plugin for OSQP: operator splitting on the sparse form, set up once, warm-started for any upper bounds.

Neither "solved" nor a polish that "succeeded" is a proof: with a huge cost both have been seen with a relative gap of
40. So the certificate of alpha decides whether it is good; if not, OSQP is asked for more accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairenum.errors import ProblemError, SolverBroken
from fairenum.solvers.protocol import ADVICE, Tolerance
from fairenum.svm.problem import Claim, FloatArray, Solution, SvmProblem
from fairenum.svm.sparse_form import sparse_form

GOOD = 2e-2  # relative gap of an answer from which the core takes over
FIRST_RHO = 0.1
USABLE = ("OSQP_SOLVED", "OSQP_SOLVED_INACCURATE", "OSQP_MAX_ITER_REACHED")


@dataclass(frozen=True, slots=True)
class OsqpSolver:
    """Solver plugin for OSQP, version 1.

    Parameters
    ----------
    accuracies
        Tolerances of OSQP's residuals (absolute and relative), tried in turn until the duality gap of alpha is small.
    max_iter
        Most iterations for each accuracy.
    """

    name: ClassVar[str] = "osqp"
    requires: ClassVar[tuple[str, ...]] = ("osqp",)
    install: ClassVar[str] = "pip install osqp"

    accuracies: tuple[float, ...] = (1e-3, 1e-4, 1e-6, 1e-8)
    max_iter: int = 20_000

    def __post_init__(self) -> None:
        if not self.accuracies or not all(0 < accuracy < 1 for accuracy in self.accuracies):
            raise ProblemError(f"osqp's accuracies must lie between 0 and 1; received {self.accuracies!r}")
        if self.max_iter < 1:
            raise ProblemError(f"osqp's max_iter must be at least 1, not {self.max_iter!r}")

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> OsqpWorkspace:  # noqa: ARG002 - see `accuracies`
        """Return a workspace in which the problem is factorised once."""
        return OsqpWorkspace(self, problem)


class OsqpWorkspace:
    """A problem opened in OSQP; other upper bounds of alpha use the same factorisation."""

    def __init__(self, options: OsqpSolver, problem: SvmProblem) -> None:
        import osqp
        from scipy import sparse

        self._accuracies = options.accuracies
        self._form = form = sparse_form(problem)
        self._status = osqp.SolverStatus
        self._solver = osqp.OSQP()
        shares = sparse.eye_array(form.size, form.variables)
        rows = sparse.csc_matrix(sparse.vstack([shares, form.equations]))
        try:
            self._solver.setup(
                form.quadratic,
                form.linear,
                rows,
                np.zeros(rows.shape[0]),
                self._ceiling(problem.upper),
                rho=FIRST_RHO,
                max_iter=options.max_iter,
                polishing=True,
                adaptive_rho=1,  # after a number of iterations, not after a time: the same answer every time
                adaptive_rho_interval=500,  # adapting more often can go in circles for ever
                verbose=False,
            )
        except osqp.OSQPException as error:
            raise SolverBroken(f"solver 'osqp' could not set up the problem: {error}; {ADVICE}") from error

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Return the best alpha found; try the accuracies in turn until the duality gap of an alpha is small."""
        self._solver.update(u=self._ceiling(upper))
        self._solver.update_settings(rho=FIRST_RHO)  # else the answer would depend on the boxes solved before
        self._solver.warm_start(*self._first_point(upper, start))
        best, gap = np.zeros(len(upper)), np.inf
        for accuracy in self._accuracies:
            self._solver.update_settings(eps_abs=accuracy, eps_rel=accuracy)
            alpha = self._attempt(upper)
            reached = self._form.certify(alpha, upper).relative_gap
            if reached < gap:
                best, gap = alpha, reached
            if gap <= GOOD:
                break
        return Claim(best, finished=gap <= GOOD)

    def _attempt(self, upper: FloatArray) -> FloatArray:
        """Return alpha after one run of OSQP; raise an error if OSQP stopped without a usable result."""
        result = self._solver.solve(raise_error=False)
        status = self._status(result.info.status_val)
        if status.name not in USABLE:
            raise SolverBroken(f"solver 'osqp' stopped with {status.name}; {ADVICE}")
        return self._form.alpha(np.asarray(result.x), upper)

    def _ceiling(self, upper: FloatArray) -> FloatArray:
        """Return the upper bounds of all of OSQP's constraints: those of alpha, scaled, then 0 for the equations."""
        return np.concatenate([self._form.box(upper), np.zeros(self._form.equations.shape[0])])

    def _first_point(self, upper: FloatArray, start: Solution | None) -> tuple[FloatArray, FloatArray]:
        """Return the variables and multipliers to begin with: those of the start, or zeros if there is none."""
        form = self._form
        if start is None:
            return np.zeros(form.variables), np.zeros(form.size + form.equations.shape[0])
        return form.warm_start(np.clip(start.alpha, 0.0, upper), upper)
