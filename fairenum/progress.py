"""How long work tells what it is at."""

from collections.abc import Callable

# Called with the name of a stage, how much of it is done, and of how much (None if that is not known).
Progress = Callable[[str, int, int | None], None]


def silent(_stage: str, _done: int, _total: int | None) -> None:
    """Report nothing."""
