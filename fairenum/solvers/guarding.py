"""The one place that runs a plugin's code: within a time limit, by its name, and with another solver standing by.

What a run allows its solver is set around it (`watching`) and asked for where a problem is opened, as time is: so
nobody in between has to hand it on, and a solver that has failed once is not asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from fairenum.budget import NotFinished, OutOfTime, waited
from fairenum.document.machine import Machine
from fairenum.document.training import SolverLapse
from fairenum.errors import FairenumError, SolverBroken
from fairenum.foreign import entered, left
from fairenum.problem import SvmProblem
from fairenum.solvers.protocol import SolverPlugin, Tolerance

T = TypeVar("T")

NATIVE = "path"


@dataclass(slots=True, eq=False)
class Watch:
    """What a run allows its solver, and what came of it.

    Parameters
    ----------
    seconds
        Longest time for one call of a solver that is not the native one; None for what the tolerances say.
    fallback
        Name of the solver that goes on where another fails; None for none.

    Attributes
    ----------
    lapses
        What failed, by the name of the solver.
    apart
        Solvers in processes of their own, by name.
    """

    seconds: float | None = None
    fallback: str | None = None
    lapses: dict[str, str] = field(default_factory=dict)
    apart: dict[str, SolverPlugin] = field(default_factory=dict)

    def tolerance(self, solver: str) -> Tolerance:
        """Return the tolerances, with the time that there is for one call; the native solver has to be compiled."""
        return Tolerance(seconds=self.seconds) if self.seconds is not None and solver != NATIVE else Tolerance()

    def sets_apart(self, solver: str) -> bool:
        """Tell whether a solver works in a process of its own; the native one asks for the time by itself."""
        return solver != NATIVE and not (self.seconds is None and self.fallback is None)

    @property
    def lapse(self) -> SolverLapse | None:
        """What the fallback was for, if it was needed."""
        return next((SolverLapse(name, str(self.fallback), why) for name, why in self.lapses.items()), None)


_CURRENT: ContextVar[Watch | None] = ContextVar("watch", default=None)


def current_watch() -> Watch:
    """Return what the run that is made here allows its solver."""
    return _CURRENT.get() or Watch()


@contextmanager
def watching(machine: Machine) -> Iterator[Watch]:
    """Watch the solver of a run; within a run that is watched already, go on with that."""
    if (around := _CURRENT.get()) is not None:
        yield around
        return
    token = _CURRENT.set(Watch(machine.solver_timeout, machine.fallback))
    try:
        yield current_watch()
    finally:
        _CURRENT.reset(token)


@dataclass(frozen=True, slots=True)
class Guard:
    """Runs the code of one plugin.

    Parameters
    ----------
    name
        Of the plugin.
    seconds
        Longest time for one call.
    """

    name: str
    seconds: float

    def call(self, work: Callable[[], T]) -> T:
        """Run a plugin's code with a time limit; its exceptions become ours."""
        try:
            return waited(lambda: self.alone(work), self.seconds, f"fairenum-{self.name}")
        except NotFinished:
            raise SolverBroken(
                f"solver {self.name!r} gave no answer within {self.seconds:g} s; "
                "use another solver, fewer rows, or a longer time limit (--solver-timeout)"
            ) from None

    def named(self, work: Callable[[], T]) -> T:
        """Run a plugin's code here; what it raises and is not ours becomes an error with its name."""
        token = entered()
        try:
            return work()
        except KeyboardInterrupt:  # the user's
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises
            self._reraise(error)
        finally:
            left(token)

    def alone(self, work: Callable[[], T]) -> T:
        """Run a plugin's code where Ctrl-C does not reach it: in a thread or a process of its own."""
        try:
            return self.named(work)
        except KeyboardInterrupt as error:
            self._reraise(error)

    def check_unchanged(self, problem: SvmProblem, checksum: int) -> None:
        """Refuse to go on with a problem that the plugin has written to; it is spoiled for everybody here."""
        if problem.checksum() != checksum:
            raise SolverBroken(
                f"solver {self.name!r} changed the problem that it was given; use another solver, or let one go on "
                "with a problem of its own: --fallback path"
            )

    def _reraise(self, error: BaseException) -> NoReturn:
        if isinstance(error, FairenumError | OutOfTime):
            raise error
        raise SolverBroken(f"solver {self.name!r} failed: {type(error).__name__}: {error}") from error
