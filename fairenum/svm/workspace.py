"""Workspace of the native solver: an interior point for the first optimum, then exact paths to further ones."""

from __future__ import annotations

from fairenum.errors import SolverBroken
from fairenum.svm.gram import open_gram
from fairenum.svm.path import ActiveSet, Parked, PathStuck, RemovalPath, admitted, resumed
from fairenum.svm.polish import optimal_state, warm_up
from fairenum.svm.problem import Claim, FloatArray, Solution, SvmProblem


class PathWorkspace:
    """A problem opened in the native solver; the handle of a solution is its active set, from which paths start."""

    def __init__(self, problem: SvmProblem) -> None:
        warm_up()
        self.problem, self._gram = problem, open_gram(problem)

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Return the optimum for some upper bounds; among several the canonical one (`SvmProblem.tie_weights`)."""
        try:
            return _claim(optimal_state(self._gram, self.problem, upper, _guess(start)))
        except PathStuck as stuck:
            raise SolverBroken(
                "solver 'path' lost its way in rounding errors; standardise the features or use a smaller cost"
            ) from stuck

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> PathRemoval:
        """Return a path from the parent's optimum that lowers one example's upper bound, to be followed on request."""
        return PathRemoval(self, parent, RemovalPath(self._state(parent), parent.certificate.objective, example, upper))

    def admit(self, parent: Solution, example: int, upper: float) -> Claim:
        """Return an optimum after a left-out example gets the upper bound `upper`; of several optima, any of them."""
        try:
            return _claim(admitted(self._state(parent), example, upper))
        except PathStuck:
            return self.solve(parent.box_with(example, upper))

    def park(self, solution: Solution) -> Parked:
        """Return a compact form of a solution, to save memory: its active set without what can be recomputed."""
        return self._state(solution).parked()

    def resume(self, parked: Parked, upper: FloatArray) -> Claim:
        """Return the claim (unproven solution) stored in a compact form, given the upper bounds it was solved for."""
        return _claim(resumed(parked, self._gram, self.problem, upper))

    def _state(self, parent: Solution) -> ActiveSet:
        """Return the parent's active set, computed anew if another solver made the parent."""
        state = parent.handle
        if isinstance(state, ActiveSet):
            return state
        return optimal_state(self._gram, self.problem, parent.upper, parent.alpha)


class PathRemoval:
    """A path that lowers one example's upper bound; if rounding stops it, the problem is solved from scratch."""

    __slots__ = ("_parent", "_path", "_workspace", "bound")

    def __init__(self, workspace: PathWorkspace, parent: Solution, path: RemovalPath) -> None:
        self._workspace, self._parent, self._path = workspace, parent, path
        self.bound = path.bound

    def tighten(self, below: float) -> Claim | None:
        """Follow the path; return the unproven solution at its end, or None as soon as `bound` is less than `below`."""
        path = self._path
        try:
            arrived = path.advance(below)
        except PathStuck:
            return self._solved_anew()
        self.bound = path.bound
        return _claim(path.state) if arrived and path.state else None

    def _solved_anew(self) -> Claim:
        """Return the solution at the end of the path, found from scratch, and lower the bound to its objective."""
        claim = self._workspace.solve(self._parent.box_with(self._path.example, self._path.target))
        self.bound = min(self.bound, self._workspace.problem.objective(claim.alpha))
        return claim


def _guess(start: Solution | None) -> FloatArray | ActiveSet | None:
    if start is None:
        return None
    return start.handle if isinstance(start.handle, ActiveSet) else start.alpha


def _claim(state: ActiveSet) -> Claim:
    state.trim()  # it may be kept for long
    return Claim(state.answer(), handle=state)
