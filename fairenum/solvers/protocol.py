"""Protocol of solver plugins: a name, requirements, and a workspace that solves one problem for many upper bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from fairenum.errors import ProblemError
from fairenum.svm.problem import Claim, FloatArray, Solution, SvmProblem

__all__ = [
    "ADVICE",
    "AdmitsExamples",
    "Claim",
    "ParksAnswers",
    "Removal",
    "RemovesExamples",
    "Solution",
    "SolverPlugin",
    "SolverWorkspace",
    "Tolerance",
]

# Advice for problems that are numerically too hard for a solver.
ADVICE = "use another solver, standardised features, or a smaller cost, gamma or degree"
# The result of a removal: a plugin's claim, or a solution once it is certified.
Answer_co = TypeVar("Answer_co", covariant=True)
Parked = TypeVar("Parked")  # the compact form of an answer


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Limits on the errors and the time of solvers; the defaults are the same for every solver.

    Parameters
    ----------
    gap
        Largest relative duality gap of an accepted solution.
    claim
        Largest error in the objective of a claim (unproven solution) that the plugin calls finished, as a share of the
        optimum, before fairenum makes the claim exact.
    feasibility
        Largest violation of the bounds of alpha or of ``y'alpha = 0``, as a share of the largest upper bound, before
        fairenum makes the claim exact.
    seconds
        Longest time for one call of a plugin.
    """

    gap: float = 1e-9
    claim: float = 0.05
    feasibility: float = 1e-3
    seconds: float = 600.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise ProblemError(f"tolerance {name} must be positive, not {getattr(self, name)!r}")


class SolverWorkspace(Protocol):
    """One problem opened in one solver, to be solved for many upper bounds."""

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Return an optimal alpha with ``0 <= alpha <= upper``; ``upper[i] = 0`` leaves example i out."""


class Removal(Protocol[Answer_co]):
    """A solve in progress, of a problem in which one example's upper bound is lowered; it may be abandoned.

    An upper bound on the optimal objective of this problem is known from the start, and only falls.
    """

    @property
    def bound(self) -> float:
        """The smallest upper bound so far on the optimal objective of the problem."""

    def tighten(self, below: float) -> Answer_co | None:
        """Continue to solve the problem; return its solution, or None as soon as `bound` is less than `below`."""


@runtime_checkable
class RemovesExamples(Protocol):
    """A workspace that can lower one example's upper bound faster than by `solve`.

    Its claims (unproven solutions) must be exact to rounding and, among several optima, the canonical one
    (`SvmProblem.tie_weights`): they are certified as they are, not made exact by `fairenum.svm.polish`.
    """

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> Removal[Claim]:
        """Return a `Removal` that lowers an example's bound to `upper`, which is below its alpha in the parent."""


@runtime_checkable
class AdmitsExamples(Protocol):
    """A workspace that can readmit a left-out example faster than by `solve`.

    Its claims (unproven solutions) must be exact to rounding: they are certified as they are, not made exact by
    `fairenum.svm.polish`. Among several optima any will do.
    """

    def admit(self, parent: Solution, example: int, upper: float) -> Claim:
        """Return an optimum for the parent's upper bounds, but with the example's bound raised from 0 to `upper`."""


@runtime_checkable
class ParksAnswers(Protocol[Parked]):
    """A workspace that can store a solution compactly and restore it faster than by solving.

    A restored alpha must equal the stored one, to rounding: it is certified again, not made exact by
    `fairenum.svm.polish`.
    """

    def park(self, solution: Solution) -> Parked:
        """Return a compact form of a solution, from which `resume` restores its alpha."""

    def resume(self, parked: Parked, upper: FloatArray) -> Claim:
        """Return the claim (unproven solution) stored in a compact form, given the upper bounds it was solved for."""


class SolverPlugin(Protocol):
    """A solver, registered in the entry-point group ``fairenum.solvers``.

    ``requires`` lists the modules it needs, of which none is imported before `open`; ``install`` is the command that
    installs them. Options, if any, are the fields of a frozen dataclass with defaults.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]]
    install: ClassVar[str]

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> SolverWorkspace:
        """Return a workspace in which a problem is solved for many upper bounds."""
