"""How far a guided search may go."""

from __future__ import annotations

from dataclasses import dataclass

from fairenum.errors import ProblemError


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the search may go.

    Parameters
    ----------
    loss
        Largest relative loss of objective against the best model.
    training_loss
        Largest relative rise of the loss on all training examples; None for any.
    performance_drop
        Largest loss of performance on the watched rows against the best model; the search looks a little beyond it.
    left_out
        Largest share of the training records left out.
    solves
        Number of solved boxes; None for fewer the larger the problem is.
    seconds
        Time; unlike the other bounds this one makes results depend on the machine.
    """

    loss: float = 0.05
    performance_drop: float = 0.01
    left_out: float = 0.2
    solves: int | None = None
    seconds: float | None = None
    training_loss: float | None = None

    def __post_init__(self) -> None:
        for name in ("loss", "performance_drop", "left_out"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ProblemError(f"the bound on {name} must lie between 0 and 1, not {getattr(self, name)!r}")
        if self.training_loss is not None and not self.training_loss >= 0.0:
            raise ProblemError(f"the bound on training_loss must be at least 0, not {self.training_loss!r}")
        if self.solves is not None and self.solves < 1:
            raise ProblemError(f"the bound on solves must be at least 1, not {self.solves!r}")
