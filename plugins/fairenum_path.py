"""The native solver: interior point for a cold start, then exact active-set paths; see `fairenum.qp.workspace`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairenum.problem import SvmProblem
from fairenum.solvers.protocol import SolverWorkspace, Tolerance


@dataclass(frozen=True, slots=True)
class PathSolver:
    """Exact solver with paths that leave examples out and let them in."""

    name: ClassVar[str] = "path"
    requires: ClassVar[tuple[str, ...]] = ("numba",)
    install: ClassVar[str] = "pip install fairenum"

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> SolverWorkspace:  # noqa: ARG002 - exact anyway
        """Prepare the problem: signed features for a linear kernel, the kernel matrix for others."""
        from fairenum.qp.workspace import PathWorkspace  # compiled, which nobody needs who only lists the solvers

        return PathWorkspace(problem)
