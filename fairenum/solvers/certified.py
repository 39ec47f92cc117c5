"""A workspace whose answers are proven, whichever plugin works behind it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NoReturn, TypeVar

import numpy as np

from fairenum.document.training import SolverLapse
from fairenum.errors import AnswerRefused, SolverBroken
from fairenum.problem import Certificate, Claim, FloatArray, Solution, SvmProblem, read_only
from fairenum.qp.gram import open_gram
from fairenum.qp.path import PathStuck
from fairenum.qp.plane import sharpened
from fairenum.qp.polish import optimal_state
from fairenum.solvers.guarding import NATIVE, Guard
from fairenum.solvers.protocol import (
    ADVICE,
    AdmitsExamples,
    ParksAnswers,
    Removal,
    RemovesExamples,
    SolverPlugin,
    SolverWorkspace,
    Tolerance,
)

T = TypeVar("T")

# Examples from which on a plugin's path is followed in a thread, which can be left behind; each step takes long enough.
LARGE = 20_000
SMALL = 1000  # of so many the native solver, which asks for the time by itself, has the answer at once


class CertifiedWorkspace:
    """A problem opened in a plugin; every claim is checked, polished to the canonical optimum and certified."""

    def __init__(self, plugin: SolverPlugin, problem: SvmProblem, tolerance: Tolerance | None = None) -> None:
        self.problem = problem
        self.tolerance = tolerance or Tolerance()
        self._gram = open_gram(problem)
        self._seal = problem.checksum()
        self._open(plugin)

    def _open(self, plugin: SolverPlugin) -> None:
        self.plugin, self._guard = plugin, Guard(plugin.name, self.tolerance.seconds)
        self._workspace: SolverWorkspace = self._guard.call(lambda: plugin.open(self.problem, self.tolerance))
        self._remover = self._workspace if isinstance(self._workspace, RemovesExamples) else None
        self._admitter = self._workspace if isinstance(self._workspace, AdmitsExamples) else None
        self._parker: ParksAnswers[object] | None = (
            self._workspace if isinstance(self._workspace, ParksAnswers) else None
        )

    @property
    def lapse(self) -> SolverLapse | None:
        """What another solver had to go on for; nothing can stand in for the plugin of this workspace."""
        return None

    @property
    def removes(self) -> bool:
        """Whether the plugin has removal paths of its own."""
        return self._remover is not None

    @property
    def admits(self) -> bool:
        """Whether the plugin can let an example in without solving anew."""
        return self._admitter is not None

    def solve(self, upper: FloatArray | None = None, start: Solution | None = None) -> Solution:
        """Return the certified canonical optimum within the box."""
        upper = self.problem.upper if upper is None else read_only(upper)
        ask = self.named if self.plugin.name == NATIVE and len(upper) <= SMALL else self._guard.call
        claim = ask(lambda: self._workspace.solve(upper, start))
        self._check_form(claim, upper)
        if claim.finished:
            self._check_feasible(claim.alpha, upper)
        if self.removes:
            return self._certified(read_only(claim.alpha), upper, claim.handle)
        self._guard.check_unchanged(self.problem, self._seal)
        solution = self._polished(claim, upper)
        if claim.finished:
            self._check_shortfall(claim, solution)
        return solution

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> Removal[Solution]:
        """Start shrinking the box of one example: along the plugin's path, or by a bound and a solve on demand."""
        if self._remover is None:
            return SolveOnDemand(self, parent, example, upper)
        return CertifiedRemoval(self, self._remover, parent, example, upper)

    def admit(self, parent: Solution, example: int, upper: float) -> Solution:
        """Return an optimum once a left-out example is let in; among ties it need not be the canonical one."""
        admitter = self._admitter
        if admitter is None:
            raise SolverBroken(f"solver {self.plugin.name!r} admits no examples; use solve()")
        return self.proven(self.named(lambda: admitter.admit(parent, example, upper)), parent.box_with(example, upper))

    def park(self, solution: Solution) -> object:
        """Return the little from which `resume` has an answer again; None if the plugin keeps nothing."""
        parker = self._parker
        return None if parker is None else self.named(lambda: parker.park(solution))

    def resume(self, parked: object, upper: FloatArray) -> Solution:
        """Return a parked answer, proven again; solved anew if nothing, or too little, was kept of it."""
        parker = self._parker
        if parker is None or parked is None:
            return self.solve(upper)
        try:
            return self.proven(self.named(lambda: parker.resume(parked, upper)), upper)
        except AnswerRefused:
            return self.solve(upper)

    def proven(self, claim: Claim, upper: FloatArray) -> Solution:
        """Return what a path of the plugin claims as a solution, or refuse it by the plugin's name."""
        self._check_form(claim, upper)
        return self._certified(read_only(claim.alpha), upper, claim.handle)

    def followed(self, work: Callable[[], T]) -> T:
        """Follow a plugin's path, on a large problem such that whoever waits for it can leave."""
        return self._guard.call(work) if self.problem.size >= LARGE else self.named(work)

    def named(self, work: Callable[[], T]) -> T:
        """Run a plugin's code; what it raises and is not ours becomes an error with its name."""
        return self._guard.named(work)

    def _certified(self, alpha: FloatArray, upper: FloatArray, handle: object) -> Solution:
        certificate, slack = self.problem.judge(alpha, upper, self._gram.product(alpha))
        if not self._is_proof(certificate):
            certificate, slack = sharpened(self.problem, self._gram, alpha, upper, certificate)
        if not self._is_proof(certificate):
            self._refuse(
                f"gave an answer that is not a proven optimum: relative gap {certificate.relative_gap:.2g}, "
                f"allowed {self.tolerance.gap:.2g}; {ADVICE}"
            )
        return Solution(alpha, upper, certificate.moved(self._gram.bias_offset(alpha)), slack, handle)

    def _is_proof(self, certificate: Certificate) -> bool:
        """Tell whether the gap is within the tolerance, on either side of 0, and the answer within its box."""
        return abs(certificate.gap) <= self.tolerance.gap * abs(certificate.objective) < math.inf

    def _refuse(self, reason: str) -> NoReturn:
        raise AnswerRefused(f"solver {self.plugin.name!r} {reason}")

    def _check_form(self, claim: Claim, upper: FloatArray) -> None:
        """Refuse what is not even an answer to the problem posed."""
        alpha = getattr(claim, "alpha", None)
        if not isinstance(alpha, np.ndarray) or alpha.dtype.kind != "f" or alpha.shape != upper.shape:
            self._refuse(f"did not return one number per example ({len(upper)}); received {claim!r:.80}")
        is_finite = np.isfinite(alpha)
        if not is_finite[worst := int(is_finite.argmin())]:
            self._refuse(f"returned a number that is not finite, first for example {worst}")

    def _check_feasible(self, alpha: FloatArray, upper: FloatArray) -> None:
        scale, feasibility = float(self.problem.upper.max()), self.tolerance.feasibility
        outside = float(np.maximum(-alpha, alpha - upper).max())
        if outside > feasibility * scale:
            self._refuse(f"left the box by {outside:.2g}; allowed {feasibility * scale:.2g}")
        imbalance = abs(float(self.problem.y @ alpha))
        limit = feasibility * max(float(alpha.sum()), scale)
        if imbalance > limit:
            self._refuse(f"broke y'alpha = 0 by {imbalance:.2g}; allowed {limit:.2g}")

    def _check_shortfall(self, claim: Claim, solution: Solution) -> None:
        """Refuse a plugin whose own answer was far from the optimum, even though polish repaired it."""
        best = self.problem.objective(solution.alpha)
        short = best - self.problem.objective(np.clip(claim.alpha, 0.0, solution.upper))
        if best and abs(short) > self.tolerance.claim * abs(best):
            self._refuse(
                f"claimed an optimum that misses the proven one by {100 * short / best:.1f} %; "
                f"allowed {100 * self.tolerance.claim:g} %; {ADVICE}"
            )

    def _polished(self, claim: Claim, upper: FloatArray) -> Solution:
        """Polish the claim, or start from scratch if that leads astray: a bad guess makes no bad answer."""
        try:
            return self._polished_from(np.clip(claim.alpha, 0.0, upper), claim, upper)
        except (PathStuck, AnswerRefused):
            pass
        try:
            return self._polished_from(None, claim, upper)
        except PathStuck:
            self._refuse(f"gave an answer that could not be polished to a proven optimum; {ADVICE}")

    def _polished_from(self, guess: FloatArray | None, claim: Claim, upper: FloatArray) -> Solution:
        state = optimal_state(self._gram, self.problem, upper, guess)
        return self._certified(state.answer(), upper, claim.handle)


class CertifiedRemoval:
    """A plugin's removal path, with a proven answer at its end."""

    __slots__ = ("_box", "_removal", "_workspace")

    def __init__(
        self, workspace: CertifiedWorkspace, remover: RemovesExamples, parent: Solution, example: int, upper: float
    ) -> None:
        self._workspace, self._box = workspace, (parent, example, upper)  # made into a vector when it is needed
        self._removal = workspace.named(lambda: remover.remove(parent, example, upper))

    @property
    def bound(self) -> float:
        """The plugin's upper bound on the child's objective."""
        return self._removal.bound

    def tighten(self, below: float) -> Solution | None:
        """Follow the path until the child is solved and proven, or until its bound is under `below` (None)."""
        claim = self._workspace.followed(lambda: self._removal.tighten(below))
        if claim is None:
            return None
        parent, example, upper = self._box
        return self._workspace.proven(claim, parent.box_with(example, upper))


class SolveOnDemand:
    """A removal for workspaces without paths: the weak-duality bound first, one solve when it is asked for."""

    __slots__ = ("_parent", "_upper", "_workspace", "bound")

    def __init__(self, workspace: CertifiedWorkspace, parent: Solution, example: int, upper: float) -> None:
        self._workspace, self._parent, self._upper = workspace, parent, parent.box_with(example, upper)
        # What the slack of the example no longer costs is lost.
        self.bound = parent.certificate.bound - float((parent.upper[example] - upper) * parent.slack[example])

    def tighten(self, below: float) -> Solution | None:
        """Solve the child, unless its bound is already too low."""
        if self.bound < below:
            return None
        solution = self._workspace.solve(self._upper, self._parent)
        self.bound = min(self.bound, solution.certificate.objective)
        return solution
