"""A workspace whose answers are proven, whichever plugin works behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from fairenum.errors import AnswerRefused, FairenumError, SolverBroken
from fairenum.problem import FloatArray, SvmProblem
from fairenum.qp.gram import Gram, open_gram
from fairenum.qp.path import PathStuck
from fairenum.qp.polish import optimal_state
from fairenum.solvers.protocol import Removal, RemovesExamples, Solution, SolverPlugin, SolverWorkspace, Tolerance


T = TypeVar("T")


class CertifiedWorkspace:
    """Opens a problem in a plugin; every answer is checked, polished to the canonical optimum, and certified."""

    def __init__(self, plugin: SolverPlugin, problem: SvmProblem, tolerance: Tolerance | None = None) -> None:
        self.plugin, self.problem = plugin, problem
        self.tolerance = tolerance or Tolerance()
        self._gram: Gram | None = None
        self._workspace: SolverWorkspace = self._call(lambda: plugin.open(problem, self.tolerance))

    @property
    def removes(self) -> bool:
        """Whether the plugin has removal paths of its own."""
        return isinstance(self._workspace, RemovesExamples)

    def solve(self, upper: FloatArray | None = None, start: Solution | None = None) -> Solution:
        """Return the certified canonical optimum within the box."""
        upper = self.problem.upper if upper is None else upper
        claim = self._call(lambda: self._workspace.solve(upper, start))
        self._check_claim(claim, upper)
        if self.removes:
            return self.certified(claim)
        polished = self._polished(claim.alpha, upper)
        solution = self.certified(Solution(polished, upper, handle=claim.handle))
        self._check_shortfall(claim.alpha, solution)
        return solution

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> Removal:
        """Start a removal path of the plugin; its answers still have to be certified."""
        workspace = self._workspace
        if not isinstance(workspace, RemovesExamples):
            raise SolverBroken(f"solver {self.plugin.name!r} has no removal paths; use solve()")
        return workspace.remove(parent, example, upper)

    def certified(self, solution: Solution) -> Solution:
        """Return the solution with its certificate, or refuse it by the plugin's name."""
        certificate = self.problem.certify(solution.alpha, solution.upper)
        if solution.alpha.any() and not certificate.relative_gap <= self.tolerance.gap:
            raise AnswerRefused(
                f"solver {self.plugin.name!r} gave an answer that is not optimal: relative gap "
                f"{certificate.relative_gap:.2g} after polish, allowed {self.tolerance.gap:.2g}; use another solver"
            )
        return Solution(solution.alpha, solution.upper, certificate, solution.handle)

    def _call(self, work: Callable[[], T]) -> T:
        """Run a plugin's code with a time limit; its exceptions become ours."""
        results: list[T] = []
        errors: list[BaseException] = []

        def target() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is reported by its name
                errors.append(error)

        thread = threading.Thread(target=target, daemon=True, name=f"fairenum-{self.plugin.name}")
        thread.start()
        thread.join(self.tolerance.seconds)
        if thread.is_alive():
            raise SolverBroken(
                f"solver {self.plugin.name!r} gave no answer within {self.tolerance.seconds:g} s; "
                "use another solver, fewer rows, or a longer time limit"
            )
        if errors:
            if isinstance(errors[0], FairenumError):
                raise errors[0]
            kind = type(errors[0]).__name__
            raise SolverBroken(f"solver {self.plugin.name!r} failed: {kind}: {errors[0]}") from errors[0]
        return results[0]

    def _check_claim(self, claim: Solution, upper: FloatArray) -> None:
        """Refuse what is not even an answer to the problem posed."""
        name, alpha = self.plugin.name, getattr(claim, "alpha", None)
        if not isinstance(alpha, np.ndarray) or alpha.shape != upper.shape or not np.isfinite(alpha).all():
            raise AnswerRefused(f"solver {name!r} did not return one finite alpha per example; received {claim!r:.80}")
        scale = self.tolerance.feasibility * float(self.problem.upper.max())
        outside = float(np.maximum(-alpha, alpha - upper).max())
        if outside > scale:
            raise AnswerRefused(f"solver {name!r} left the box by {outside:.2g}; allowed {scale:.2g}")
        imbalance = abs(float(self.problem.y @ alpha))
        limit = self.tolerance.feasibility * max(float(alpha.sum()), float(self.problem.upper.max()))
        if imbalance > limit:
            raise AnswerRefused(f"solver {name!r} broke y'alpha = 0 by {imbalance:.2g}; allowed {limit:.2g}")

    def _check_shortfall(self, claimed: FloatArray, solution: Solution) -> None:
        """Refuse a plugin whose own answer was far from the optimum, even though polish repaired it."""
        certificate = solution.certificate
        if certificate is None or not solution.alpha.any():
            return
        short = 1.0 - self.problem.objective(np.clip(claimed, 0.0, solution.upper)) / certificate.objective
        if abs(short) > self.tolerance.claim:
            raise AnswerRefused(
                f"solver {self.plugin.name!r} claimed an optimum that misses the proven one by {100 * short:.2g} %; "
                f"allowed {100 * self.tolerance.claim:g} %"
            )

    def _polished(self, alpha: FloatArray, upper: FloatArray) -> FloatArray:
        if self._gram is None:
            self._gram = open_gram(self.problem)
        try:
            return optimal_state(self._gram, self.problem, upper, np.clip(alpha, 0.0, upper)).alpha
        except PathStuck:
            return alpha  # the certificate will refuse it
