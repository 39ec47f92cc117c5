"""Solver plugin for the native solver: interior point, then exact active-set paths (`fairenum.svm.workspace`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairenum.solvers.protocol import SolverWorkspace, Tolerance
from fairenum.svm.problem import SvmProblem


@dataclass(frozen=True, slots=True)
class PathSolver:
    """The exact native solver; it leaves out and readmits single examples along paths, without solving anew."""

    name: ClassVar[str] = "path"
    requires: ClassVar[tuple[str, ...]] = ("numba",)
    install: ClassVar[str] = "pip install fairenum"

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> SolverWorkspace:  # noqa: ARG002 - exact anyway
        """Return a workspace of the native solver for a problem."""
        from fairenum.svm.workspace import PathWorkspace

        return PathWorkspace(problem)
