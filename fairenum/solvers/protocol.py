"""What a solver plugin is: a name, what it needs, and a workspace that solves one problem in many boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from fairenum.errors import ProblemError
from fairenum.problem import Claim, FloatArray, Solution, SvmProblem

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

# Against numbers that are too much for a solver.
ADVICE = "use another solver, standardised features, or a smaller cost, gamma or degree"

# What a removal ends with: a plugin's claim, or a solution once it is proven.
Answer_co = TypeVar("Answer_co", covariant=True)
Parked = TypeVar("Parked")  # what a workspace keeps of an answer


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The one table of tolerances; it does not depend on the solver's name.

    Parameters
    ----------
    gap
        Largest relative gap of an answer that is accepted.
    claim
        Largest share of the proven optimum by which an answer that a plugin calls finished may miss it before
        polish.
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
    """One problem opened in one solver, solved again and again on shrinking boxes."""

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Solve within ``0 <= alpha <= upper``; an example is left out by ``upper[i] = 0``."""


class Removal(Protocol[Answer_co]):
    """A child on its way: an upper bound on its objective that only ever falls."""

    @property
    def bound(self) -> float:
        """The smallest upper bound so far."""

    def tighten(self, below: float) -> Answer_co | None:
        """Work until the child is solved, or until the bound is under `below` (None)."""


@runtime_checkable
class RemovesExamples(Protocol):
    """A workspace that can do better than `solve` when one example's box shrinks.

    Its answers must be canonical (`SvmProblem.tie_weights`) and exact to rounding: they are certified, not
    polished.
    """

    def remove(self, parent: Solution, example: int, upper: float = 0.0) -> Removal[Claim]:
        """Start shrinking the box of one example, of which the parent uses more than that."""


@runtime_checkable
class AdmitsExamples(Protocol):
    """A workspace that can do better than `solve` when an example that was left out is let in.

    Its answers must be exact to rounding: they are certified, not polished. Among tied answers any will do.
    """

    def admit(self, parent: Solution, example: int, upper: float) -> Claim:
        """Solve the parent's box with an example let in that has no room there."""


@runtime_checkable
class ParksAnswers(Protocol[Parked]):
    """A workspace that can have an answer again, sooner than by solving, from much less than it holds ready.

    An answer that is resumed must be the one that was parked, to rounding: it is certified again, not polished.
    """

    def park(self, solution: Solution) -> Parked:
        """Return what is to be kept of an answer."""

    def resume(self, parked: Parked, upper: FloatArray) -> Claim:
        """Return the answer within its box again."""


class SolverPlugin(Protocol):
    """A solver, registered in the entry-point group ``fairenum.solvers``.

    Options, if any, are the fields of a frozen dataclass with defaults. Nothing in ``requires`` is imported
    before `open`.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]]
    install: ClassVar[str]

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> SolverWorkspace:
        """Prepare a problem to be solved again and again."""
