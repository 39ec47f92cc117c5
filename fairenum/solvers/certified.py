"""Workspaces that certify every solution of a solver plugin, with or without a fallback for a plugin that fails.

Every solution is proven optimal and, among several optima, the canonical one (`SvmProblem.tie_weights`), so the result
of a search does not depend on the solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn, TypeVar

import numpy as np

from fairenum.document.training import SolverLapse
from fairenum.errors import AnswerRefused, SolverBroken
from fairenum.solvers.isolation import NATIVE, PluginRunner, SolverRun
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
from fairenum.svm.gram import Gram, open_gram
from fairenum.svm.path import PathStuck
from fairenum.svm.polish import optimal_state
from fairenum.svm.problem import Certificate, Claim, FloatArray, Solution, SvmProblem, read_only

T = TypeVar("T")

ROUNDING = 1e-9  # slack below this share of the margin is rounding
MARGIN_OF_SAFETY = 1e-14
LARGE = 20_000  # examples from which a plugin's path runs in a thread that can be abandoned; starting one is then cheap
SMALL = 1000  # up to this size the native solver, which checks the time budget itself, runs without a thread
FAILURES = (SolverBroken, AnswerRefused)


def sharpened(
    problem: SvmProblem, gram: Gram, alpha: FloatArray, upper: FloatArray, certificate: Certificate
) -> tuple[Certificate, FloatArray]:
    """Return the certificate with an upper bound computed from a corrected plane, and the slacks at this plane.

    Corrected means that free support vectors (``0 < alpha < upper``) are exactly on the margin, and that slack within
    rounding is removed by scaling the plane up.
    """
    reached, quadratic = _refined(problem, gram, alpha, upper, certificate.bias)
    slack = np.maximum(0.0, problem.linear - reached)
    rounding = (upper > 0) & (slack > 0) & (slack < ROUNDING * np.abs(problem.linear))
    stretch = MARGIN_OF_SAFETY + float(np.max(problem.linear[rounding] / reached[rounding], initial=1.0))
    slack = np.maximum(0.0, problem.linear - stretch * reached)
    bound = stretch**2 * quadratic + float(upper @ slack)
    return replace(certificate, bound=bound), slack


def _refined(
    problem: SvmProblem, gram: Gram, alpha: FloatArray, upper: FloatArray, bias: float
) -> tuple[FloatArray, float]:
    """Return ``Q alpha + y b`` and ``1/2 alpha'Q alpha``, corrected so that free support vectors are on the margin.

    Here b is the bias; free support vectors are the examples with ``0 < alpha < upper``.
    """
    product, y = gram.product(alpha), problem.y
    free = np.flatnonzero((alpha > 0) & (alpha < upper))
    matrix = np.zeros((len(free) + 1, len(free) + 1))
    matrix[0, 1:] = matrix[1:, 0] = y[free]
    matrix[1:, 1:] = gram.block(free, free)
    right = np.concatenate([[0.0], (problem.linear - product - y * bias)[free]])
    correction = np.linalg.lstsq(matrix, right, rcond=None)[0]
    change = np.zeros_like(alpha)
    change[free] = correction[1:]
    moved = gram.product(change)
    quadratic = 0.5 * float(alpha @ product) + float(change @ (product + 0.5 * moved))
    return product + moved + y * (bias + correction[0]), quadratic


class CertifiedWorkspace:
    """A problem opened in a plugin, whose unproven solutions are checked, if necessary made exact, and certified.

    A plugin that can leave examples out along a path (`RemovesExamples`) must return exact solutions itself. The
    solutions of all other plugins are polished: `fairenum.svm.polish` moves them to the exact optimum.
    """

    def __init__(self, plugin: SolverPlugin, problem: SvmProblem, tolerance: Tolerance | None = None) -> None:
        self.problem = problem
        self.tolerance = tolerance or Tolerance()
        self._gram = open_gram(problem)
        self._checksum = problem.checksum()
        self._open(plugin)

    def _open(self, plugin: SolverPlugin) -> None:
        self.plugin, self._runner = plugin, PluginRunner(plugin.name, self.tolerance.seconds)
        self._workspace: SolverWorkspace = self._runner.call(lambda: plugin.open(self.problem, self.tolerance))
        self._remover = self._workspace if isinstance(self._workspace, RemovesExamples) else None
        self._admitter = self._workspace if isinstance(self._workspace, AdmitsExamples) else None
        self._parker: ParksAnswers[object] | None = (
            self._workspace if isinstance(self._workspace, ParksAnswers) else None
        )

    @property
    def lapse(self) -> SolverLapse | None:
        """The plugin's failure that made a fallback take over; always None here, as there is no fallback."""
        return None

    @property
    def removes(self) -> bool:
        """Whether the plugin can lower an example's upper bound along a path, without solving anew."""
        return self._remover is not None

    @property
    def admits(self) -> bool:
        """Whether the plugin can readmit a left-out example without solving anew."""
        return self._admitter is not None

    def solve(self, upper: FloatArray | None = None, start: Solution | None = None) -> Solution:
        """Return the certified optimum for upper bounds, by default the problem's; of several, the canonical one."""
        upper = self.problem.upper if upper is None else read_only(upper)
        ask = self.run_plugin if self.plugin.name == NATIVE and len(upper) <= SMALL else self._runner.call
        claim = ask(lambda: self._workspace.solve(upper, start))
        self._check_form(claim, upper)
        if claim.finished:
            self._check_feasible(claim.alpha, upper)
        if self.removes:
            return self._certified(read_only(claim.alpha), upper, claim.handle)
        self._runner.check_unchanged(self.problem, self._checksum)
        solution = self._polished(claim, upper)
        if claim.finished:
            self._check_shortfall(claim, solution)
        return solution

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> Removal[Solution]:
        """Return a `Removal` that lowers one example's upper bound: by the plugin's path, or else by one solve."""
        if self._remover is None:
            return SolveOnDemand(self, parent, example, upper)
        return CertifiedRemoval(self, self._remover, parent, example, upper)

    def admit(self, parent: Solution, example: int, upper: float) -> Solution:
        """Return a certified optimum with a left-out example readmitted; among several optima, any of them."""
        admitter = self._admitter
        if admitter is None:
            raise SolverBroken(f"solver {self.plugin.name!r} admits no examples; use solve()")
        claim = self.run_plugin(lambda: admitter.admit(parent, example, upper))
        return self.proven(claim, parent.box_with(example, upper))

    def park(self, solution: Solution) -> object:
        """Return a compact form of a solution, for `resume`; None if the plugin has no such form."""
        parker = self._parker
        return None if parker is None else self.run_plugin(lambda: parker.park(solution))

    def resume(self, parked: object, upper: FloatArray) -> Solution:
        """Return the solution of a compact form, certified again; solve anew if the form is None or its proof fails."""
        parker = self._parker
        if parker is None or parked is None:
            return self.solve(upper)
        try:
            return self.proven(self.run_plugin(lambda: parker.resume(parked, upper)), upper)
        except AnswerRefused:
            return self.solve(upper)

    def proven(self, claim: Claim, upper: FloatArray) -> Solution:
        """Return a plugin's claim (unproven solution) certified; raise `AnswerRefused` if it is not optimal."""
        self._check_form(claim, upper)
        return self._certified(read_only(claim.alpha), upper, claim.handle)

    def follow_path(self, work: Callable[[], T]) -> T:
        """Run a step of the plugin's path and return its result; for a large problem, in a thread with a time limit."""
        return self._runner.call(work) if self.problem.size >= LARGE else self.run_plugin(work)

    def run_plugin(self, work: Callable[[], T]) -> T:
        """Return the result of the plugin's code; its exceptions become a `SolverBroken` that names the plugin."""
        return self._runner.call_here(work)

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
        """Tell whether a certificate proves an optimum: finite objective, and absolute gap within the tolerance."""
        return abs(certificate.gap) <= self.tolerance.gap * abs(certificate.objective) < math.inf

    def _refuse(self, reason: str) -> NoReturn:
        raise AnswerRefused(f"solver {self.plugin.name!r} {reason}")

    def _check_form(self, claim: Claim, upper: FloatArray) -> None:
        """Refuse a claim (unproven solution) whose alpha is not one finite number per example."""
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
        """Refuse a claim (unproven solution) whose objective was far from the optimum before it was made exact."""
        best = self.problem.objective(solution.alpha)
        short = best - self.problem.objective(np.clip(claim.alpha, 0.0, solution.upper))
        if best and abs(short) > self.tolerance.claim * abs(best):
            self._refuse(
                f"claimed an optimum that misses the proven one by {100 * short / best:.1f} %; "
                f"allowed {100 * self.tolerance.claim:g} %; {ADVICE}"
            )

    def _polished(self, claim: Claim, upper: FloatArray) -> Solution:
        """Return the exact optimum, found from the claim (unproven solution) or, if that fails, from scratch."""
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
    """A `Removal` along a plugin's path, with a certified solution at its end."""

    __slots__ = ("_box", "_removal", "_workspace")

    def __init__(
        self, workspace: CertifiedWorkspace, remover: RemovesExamples, parent: Solution, example: int, upper: float
    ) -> None:
        self._workspace, self._box = workspace, (parent, example, upper)  # expanded to a vector only when needed
        self._removal = workspace.run_plugin(lambda: remover.remove(parent, example, upper))

    @property
    def bound(self) -> float:
        """The plugin's upper bound on the optimal objective of the problem with the example's bound lowered."""
        return self._removal.bound

    def tighten(self, below: float) -> Solution | None:
        """Follow the path; return the certified solution at its end, or None as soon as `bound` is under `below`."""
        claim = self._workspace.follow_path(lambda: self._removal.tighten(below))
        if claim is None:
            return None
        parent, example, upper = self._box
        return self._workspace.proven(claim, parent.box_with(example, upper))


class SolveOnDemand:
    """A `Removal` for plugins without paths: one solve, unless a weak-duality bound shows that none is needed."""

    __slots__ = ("_parent", "_upper", "_workspace", "bound")

    def __init__(self, workspace: CertifiedWorkspace, parent: Solution, example: int, upper: float) -> None:
        self._workspace, self._parent, self._upper = workspace, parent, parent.box_with(example, upper)
        # The bound falls by what the example's slack no longer costs.
        self.bound = parent.certificate.bound - float((parent.upper[example] - upper) * parent.slack[example])

    def tighten(self, below: float) -> Solution | None:
        """Return the solution with the example's upper bound lowered, or None if `bound` is less than `below`."""
        if self.bound < below:
            return None
        solution = self._workspace.solve(self._upper, self._parent)
        self.bound = min(self.bound, solution.certificate.objective)
        return solution


class ReplaceableWorkspace(CertifiedWorkspace):
    """A problem opened in a plugin and, once the plugin has failed, in the fallback solver."""

    def __init__(
        self, plugin: SolverPlugin, problem: SvmProblem, tolerance: Tolerance, fallback: SolverPlugin, run: SolverRun
    ) -> None:
        self._fallback, self._run = fallback, run
        super().__init__(plugin, problem, tolerance)

    def _open(self, plugin: SolverPlugin) -> None:
        if plugin.name in self._run.lapses:  # failed before, on another problem
            plugin, self.tolerance = self._fallback, self._run.tolerance(self._fallback.name)
        try:
            super()._open(plugin)
        except SolverBroken as error:
            self.replace(plugin, error)

    def replace(self, failed: SolverPlugin, error: SolverBroken | AnswerRefused) -> None:
        """Record a plugin's failure and open the fallback instead; raise the error if the fallback itself failed."""
        if failed is self._fallback:
            raise error
        self._run.lapses.setdefault(failed.name, str(error))
        if self.plugin is failed:
            self.tolerance = self._run.tolerance(self._fallback.name)
            super()._open(self._fallback)

    @property
    def lapse(self) -> SolverLapse | None:
        """The first failure for which the fallback took over, on any problem of the run; None if there was none."""
        return self._run.lapse

    def _with_fallback(self, work: Callable[[], T]) -> T:
        plugin = self.plugin
        try:
            return work()
        except FAILURES as error:
            self.replace(plugin, error)
            return work()

    def solve(self, upper: FloatArray | None = None, start: Solution | None = None) -> Solution:
        """Return the certified optimum for upper bounds, by default the problem's; of several, the canonical one."""
        solve = super().solve
        return self._with_fallback(lambda: solve(upper, start))

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> Removal[Solution]:
        """Return a `Removal` that lowers one example's upper bound, and turns to the fallback if the plugin fails."""
        remove = super().remove
        removal = self._with_fallback(lambda: remove(parent, example, upper))
        return ReplaceableRemoval(self, removal, SolveOnDemand(self, parent, example, upper))

    def admit(self, parent: Solution, example: int, upper: float) -> Solution:
        """Return a certified optimum with a left-out example readmitted, solved anew if the plugin fails."""
        admit = super().admit
        try:
            return admit(parent, example, upper)
        except FAILURES:
            return self.solve(parent.box_with(example, upper), parent)


class ReplaceableRemoval:
    """A `Removal` along a plugin's path or, once the plugin has failed, by one solve of the fallback."""

    __slots__ = ("_on_demand", "_plugin", "_removal", "_workspace")

    def __init__(
        self, workspace: ReplaceableWorkspace, removal: Removal[Solution], on_demand: Removal[Solution]
    ) -> None:
        self._workspace, self._removal, self._on_demand = workspace, removal, on_demand
        self._plugin = workspace.plugin

    @property
    def bound(self) -> float:
        """The smallest upper bound so far on the optimal objective of the problem with the example's bound lowered."""
        return self._removal.bound

    def tighten(self, below: float) -> Solution | None:
        """Continue to solve the problem; return its solution, or None as soon as `bound` is less than `below`."""
        if self._removal is self._on_demand:
            return self._on_demand.tighten(below)
        try:
            return self._removal.tighten(below)
        except FAILURES as error:
            self._workspace.replace(self._plugin, error)
            self._removal = self._on_demand
            return self._on_demand.tighten(below)
