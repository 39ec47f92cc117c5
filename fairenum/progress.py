"""How long work tells what it is at."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

# Called with the name of a stage, how much of it is done, and of how much (None if that is not known).
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some work is expected to take: seconds of one processor, and bytes at its largest."""

    seconds: float
    memory: float


@runtime_checkable
class Expects(Protocol):
    """A progress display that also wants to know what to expect."""

    def expect(self, estimate: Estimate) -> None:
        """Take notice of an estimate."""


def silent(_stage: str, _done: int, _total: int | None) -> None:
    """Report nothing."""
