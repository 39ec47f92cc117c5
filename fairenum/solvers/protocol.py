"""Protocol of solver plugins: a name, requirements, and a workspace that solves one problem within many boxes."""

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
    """Tolerances for the answers of a solver; they are the same for every solver.

    Parameters
    ----------
    gap
        Largest relative duality gap of an accepted answer.
    claim
        Largest relative shortfall, before polish, of an answer that the plugin calls finished.
    feasibility
        Largest violation of the box or of ``y'alpha = 0``, as a share of the box, before polish.
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
    """One problem opened in one solver, to be solved within many boxes."""

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Solve within ``0 <= alpha <= upper``; an example is left out by ``upper[i] = 0``."""


class Removal(Protocol[Answer_co]):
    """Solution of a child problem in progress, with an upper bound on its objective that only falls."""

    @property
    def bound(self) -> float:
        """The smallest upper bound so far."""

    def tighten(self, below: float) -> Answer_co | None:
        """Work until the child is solved, or until the bound is under `below` (None)."""


@runtime_checkable
class RemovesExamples(Protocol):
    """Workspace with a faster way than `solve` to shrink one example's box.

    Its answers must be canonical (`SvmProblem.tie_weights`) and exact to rounding: they are certified, not
    polished.
    """

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> Removal[Claim]:
        """Start shrinking the box of one example to `upper`, which is less than its alpha in the parent."""


@runtime_checkable
class AdmitsExamples(Protocol):
    """Workspace with a faster way than `solve` to readmit an example that was left out.

    Its answers must be exact to rounding: they are certified, not polished. Among tied answers any will do.
    """

    def admit(self, parent: Solution, example: int, upper: float) -> Claim:
        """Solve the parent's box, where the example has no room, with the example's bound raised to `upper`."""


@runtime_checkable
class ParksAnswers(Protocol[Parked]):
    """Workspace that can store an answer compactly and restore it faster than by solving.

    A resumed answer must be the parked one, to rounding: it is certified again, not polished.
    """

    def park(self, solution: Solution) -> Parked:
        """Return the compact form of an answer."""

    def resume(self, parked: Parked, upper: FloatArray) -> Claim:
        """Return the parked answer within its box."""


class SolverPlugin(Protocol):
    """A solver, registered in the entry-point group ``fairenum.solvers``.

    Options, if any, are the fields of a frozen dataclass with defaults. Nothing in ``requires`` is imported
    before `open`.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]]
    install: ClassVar[str]

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> SolverWorkspace:
        """Prepare a problem to be solved within many boxes."""
