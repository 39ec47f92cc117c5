"""The native solver's workspace: cold starts by interior point, then exact paths from optimum to optimum."""

from __future__ import annotations

from fairenum.errors import SolverBroken
from fairenum.svm.gram import open_gram
from fairenum.svm.path import ActiveSet, Parked, PathStuck, RemovalPath, admitted, resumed
from fairenum.svm.polish import optimal_state, warm_up
from fairenum.svm.problem import Claim, FloatArray, Solution, SvmProblem


class PathWorkspace:
    """A problem to solve from scratch, from a start, or along a path from a parent; answers carry their state."""

    def __init__(self, problem: SvmProblem) -> None:
        warm_up()
        self.problem, self._gram = problem, open_gram(problem)

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Return the canonical optimum within the box."""
        try:
            return _claim(optimal_state(self._gram, self.problem, upper, _guess(start)))
        except PathStuck as stuck:
            raise SolverBroken(
                "solver 'path' lost its way in rounding errors; standardise the features or use a smaller cost"
            ) from stuck

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> PathRemoval:
        """Start a removal path from the parent's optimum."""
        return PathRemoval(self, parent, RemovalPath(self._state(parent), parent.certificate.objective, example, upper))

    def admit(self, parent: Solution, example: int, upper: float) -> Claim:
        """Follow the parent's optimum while an example is admitted; among ties the answer need not be canonical."""
        try:
            return _claim(admitted(self._state(parent), example, upper))
        except PathStuck:
            return self.solve(parent.box_with(example, upper))

    def park(self, solution: Solution) -> Parked:
        """Return the active set of an answer alone, to save memory."""
        return self._state(solution).parked()

    def resume(self, parked: Parked, upper: FloatArray) -> Claim:
        """Restore a parked answer from its active set."""
        return _claim(resumed(parked, self._gram, self.problem, upper))

    def _state(self, parent: Solution) -> ActiveSet:
        """Return the parent's state, recomputed if another solver made the answer."""
        state = parent.handle
        if isinstance(state, ActiveSet):
            return state
        return optimal_state(self._gram, self.problem, parent.upper, parent.alpha)


class PathRemoval:
    """The removal of one example along a path; solved from scratch if rounding leads the path astray."""

    __slots__ = ("_parent", "_path", "_workspace", "bound")

    def __init__(self, workspace: PathWorkspace, parent: Solution, path: RemovalPath) -> None:
        self._workspace, self._parent, self._path = workspace, parent, path
        self.bound = path.bound

    def tighten(self, below: float) -> Claim | None:
        """Follow the path until the child is solved, or until its bound is under `below` (None)."""
        path = self._path
        try:
            arrived = path.advance(below)
        except PathStuck:
            return self._solved_anew()
        self.bound = path.bound
        return _claim(path.state) if arrived and path.state else None

    def _solved_anew(self) -> Claim:
        """Solve the child from scratch after rounding led the path astray."""
        claim = self._workspace.solve(self._parent.box_with(self._path.example, self._path.target))
        self.bound = min(self.bound, self._workspace.problem.objective(claim.alpha))
        return claim


def _guess(start: Solution | None) -> FloatArray | ActiveSet | None:
    """Return the start's state, or its alpha if another solver made it."""
    if start is None:
        return None
    return start.handle if isinstance(start.handle, ActiveSet) else start.alpha


def _claim(state: ActiveSet) -> Claim:
    state.trim()  # it may be kept for long
    return Claim(state.answer(), handle=state)
