"""The native solver: interior point for a cold start, then exact active-set paths.

Leaving an example out follows the optimum from the parent's while its box shrinks; see `fairenum.qp.path`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fairenum.errors import SolverBroken
from fairenum.problem import FloatArray, SvmProblem, read_only
from fairenum.solvers.protocol import Solution, Tolerance

if TYPE_CHECKING:
    from fairenum.qp.activeset import ActiveSet
    from fairenum.qp.path import RemovalPath


@dataclass(frozen=True, slots=True)
class PathSolver:
    """Exact solver with removal paths."""

    name: ClassVar[str] = "path"
    requires: ClassVar[tuple[str, ...]] = ("numba",)
    install: ClassVar[str] = "pip install fairenum"

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> PathWorkspace:  # noqa: ARG002 - exact anyway
        """Prepare the problem: signed features for a linear kernel, the kernel matrix for others."""
        return PathWorkspace(problem)


class PathWorkspace:
    """One problem, solved from scratch, from a start, or from a parent."""

    def __init__(self, problem: SvmProblem) -> None:
        # Imported here: these compile their inner loop, which nobody needs who only lists the solvers.
        from fairenum.qp import activeset, gram, path, polish

        polish.warm_up()
        self.problem = problem
        self._activeset, self._path, self._polish = activeset, path, polish
        self._gram = gram.open_gram(problem)

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Solution:
        """Return the canonical optimum within the box."""
        guess = None if start is None else start.alpha.clip(0.0, upper)
        try:
            return self.solution(self._polish.optimal_state(self._gram, self.problem, upper, guess))
        except self._path.PathStuck as stuck:
            raise SolverBroken(
                "solver 'path' lost its way in rounding errors; standardise the features or use a smaller cost"
            ) from stuck

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> PathRemoval:
        """Start a removal path from the parent's optimum."""
        state = parent.handle
        if not isinstance(state, self._activeset.ActiveSet):
            state = self._polish.optimal_state(self._gram, self.problem, parent.upper, parent.alpha)
        objective = parent.certificate.objective if parent.certificate else self.problem.objective(parent.alpha)
        path = self._path.RemovalPath(state, objective, example, upper)
        return PathRemoval(self, path, parent.upper, self._path.PathStuck)

    def solution(self, state: ActiveSet) -> Solution:
        """Return the answer of a state, with the state as its handle."""
        return Solution(read_only(state.answer()), read_only(state.upper), handle=state)


class PathRemoval:
    """A removal path as the search knows it."""

    __slots__ = ("_path", "_stuck", "_upper", "_workspace", "bound")

    def __init__(self, workspace: PathWorkspace, path: RemovalPath, upper: FloatArray, stuck: type[Exception]) -> None:
        self._workspace, self._path, self._upper, self._stuck = workspace, path, upper, stuck
        self.bound = path.bound

    def tighten(self, below: float) -> Solution | None:
        """Walk until the child is solved, or until its bound is under `below` (None)."""
        path = self._path
        try:
            arrived = path.advance(below)
        except self._stuck:
            return self._solved_anew()
        self.bound = path.bound
        return self._workspace.solution(path.state) if arrived and path.state else None

    def _solved_anew(self) -> Solution:
        """Solve the child from scratch: rounding led the path astray."""
        upper = self._upper.copy()
        upper[self._path.example] = self._path.target
        solution = self._workspace.solve(upper)
        self.bound = min(self.bound, self._workspace.problem.objective(solution.alpha))
        return solution
