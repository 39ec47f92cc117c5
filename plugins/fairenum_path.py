"""The native solver: interior point for a cold start, then exact active-set paths.

Leaving an example out follows the optimum from the parent's while its box shrinks; see `fairenum.qp.path`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairenum.problem import FloatArray, SvmProblem, read_only
from fairenum.qp.activeset import ActiveSet
from fairenum.qp.gram import open_gram
from fairenum.qp.path import PathStuck, RemovalPath
from fairenum.qp.polish import optimal_state
from fairenum.solvers.protocol import Solution, Tolerance


@dataclass(frozen=True, slots=True)
class PathSolver:
    """Exact solver with removal paths; needs nothing but numpy and scipy."""

    name: ClassVar[str] = "path"
    requires: ClassVar[tuple[str, ...]] = ()
    install: ClassVar[str] = "pip install fairenum"

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> PathWorkspace:  # noqa: ARG002 - exact anyway
        """Prepare the problem: signed features for a linear kernel, the kernel matrix for others."""
        return PathWorkspace(problem)


class PathWorkspace:
    """One problem, solved from scratch, from a start, or from a parent."""

    def __init__(self, problem: SvmProblem) -> None:
        self._problem = problem
        self._gram = open_gram(problem)
        self._weights = problem.tie_weights()

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Solution:
        """Return the canonical optimum within the box."""
        guess = None if start is None else start.alpha.clip(0.0, upper)
        return self._solution(optimal_state(self._gram, self._problem, upper, guess))

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> PathRemoval:
        """Start a removal path from the parent's optimum."""
        state = parent.handle
        if not isinstance(state, ActiveSet):
            state = optimal_state(self._gram, self._problem, parent.upper, parent.alpha)
        objective = parent.certificate.objective if parent.certificate else state.objective()
        return PathRemoval(self, RemovalPath(state, objective, example, upper, self._weights))

    def _solution(self, state: ActiveSet) -> Solution:
        return Solution(read_only(state.alpha), read_only(state.upper), handle=state)


class PathRemoval:
    """A removal path as the search knows it."""

    __slots__ = ("_bound", "_path", "_workspace")

    def __init__(self, workspace: PathWorkspace, path: RemovalPath) -> None:
        self._workspace, self._path = workspace, path
        self._bound = path.bound

    @property
    def bound(self) -> float:
        """An upper bound on the objective of the child; it only ever falls."""
        return self._bound

    def tighten(self, below: float) -> Solution | None:
        """Walk until the child is solved, or until its bound is under `below` (None)."""
        path, workspace = self._path, self._workspace
        try:
            arrived = path.advance(below)
        except PathStuck:
            return self._solved_anew()
        self._bound = min(self._bound, path.value if arrived else path.bound)
        return workspace._solution(path.state) if arrived else None

    def _solved_anew(self) -> Solution:
        """Solve the child from scratch: rounding led the path astray."""
        upper = self._path.state.upper.copy()
        upper[self._path.example] = self._path.target
        solution = self._workspace.solve(upper)
        if isinstance(solution.handle, ActiveSet):
            self._bound = min(self._bound, solution.handle.objective())
        return solution
