"""A workspace whose plugin may fail: another solver goes on from there.

Every answer is proven and canonical, so it does not matter to a search who gave which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fairenum.document.training import SolverLapse
from fairenum.errors import AnswerRefused, SolverBroken
from fairenum.problem import FloatArray, Solution, SvmProblem
from fairenum.solvers.certified import CertifiedWorkspace, SolveOnDemand
from fairenum.solvers.guarding import Watch
from fairenum.solvers.protocol import Removal, SolverPlugin, Tolerance

T = TypeVar("T")

FAILURES = (SolverBroken, AnswerRefused)


class ReplaceableWorkspace(CertifiedWorkspace):
    """A problem opened in a plugin; where that fails it is opened in another, for this answer and all that follow."""

    def __init__(
        self, plugin: SolverPlugin, problem: SvmProblem, tolerance: Tolerance, other: SolverPlugin, watch: Watch
    ) -> None:
        self._other, self._watch = other, watch
        super().__init__(plugin, problem, tolerance)

    def _open(self, plugin: SolverPlugin) -> None:
        if plugin.name in self._watch.lapses:  # it has failed before, on another problem
            plugin, self.tolerance = self._other, self._watch.tolerance(self._other.name)
        try:
            super()._open(plugin)
        except SolverBroken as error:
            self.replace(plugin, error)

    def replace(self, failed: SolverPlugin, error: SolverBroken | AnswerRefused) -> None:
        """Open the problem in the other solver, unless it is that which has failed."""
        if failed is self._other:
            raise error
        self._watch.lapses.setdefault(failed.name, str(error))
        if self.plugin is failed:
            self.tolerance = self._watch.tolerance(self._other.name)
            super()._open(self._other)

    @property
    def lapse(self) -> SolverLapse | None:
        """What another solver had to go on for, here or elsewhere in the run."""
        return self._watch.lapse

    def _done(self, work: Callable[[], T]) -> T:
        """Do what a plugin is needed for, once more with the other one where it fails."""
        plugin = self.plugin
        try:
            return work()
        except FAILURES as error:
            self.replace(plugin, error)
            return work()

    def solve(self, upper: FloatArray | None = None, start: Solution | None = None) -> Solution:
        """Return the certified canonical optimum within the box."""
        solve = super().solve
        return self._done(lambda: solve(upper, start))

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> Removal[Solution]:
        """Start shrinking the box of one example."""
        remove = super().remove
        removal = self._done(lambda: remove(parent, example, upper))
        return ReplaceableRemoval(self, removal, SolveOnDemand(self, parent, example, upper))

    def admit(self, parent: Solution, example: int, upper: float) -> Solution:
        """Return an optimum once a left-out example is let in."""
        admit = super().admit
        try:
            return admit(parent, example, upper)
        except FAILURES:
            return self.solve(parent.box_with(example, upper), parent)


class ReplaceableRemoval:
    """A removal along a plugin's path, or on demand once the plugin has failed."""

    __slots__ = ("_on_demand", "_plugin", "_removal", "_workspace")

    def __init__(
        self, workspace: ReplaceableWorkspace, removal: Removal[Solution], on_demand: Removal[Solution]
    ) -> None:
        self._workspace, self._removal, self._on_demand = workspace, removal, on_demand
        self._plugin = workspace.plugin

    @property
    def bound(self) -> float:
        """The smallest upper bound so far."""
        return self._removal.bound

    def tighten(self, below: float) -> Solution | None:
        """Work until the child is solved, or until the bound is under `below` (None)."""
        if self._removal is self._on_demand:
            return self._on_demand.tighten(below)
        try:
            return self._removal.tighten(below)
        except FAILURES as error:
            self._workspace.replace(self._plugin, error)
            self._removal = self._on_demand
            return self._on_demand.tighten(below)
