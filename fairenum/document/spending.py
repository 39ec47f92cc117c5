"""What a time limit, or Ctrl-C, has cut of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from fairenum.document.value import Value

# What can be cut, and the stages of an audit that it can do without, in their order, with their shares of the time that
# is left for them.
OptionalStage = Literal[
    "enumerate", "guide", "tilt", "baselines", "screen", "score", "disagree", "prices", "range",
    "explain", "weigh", "attack",
]  # fmt: skip
SHARES: Mapping[OptionalStage, float] = {
    "enumerate": 30.0,
    "guide": 25.0,
    "tilt": 10.0,
    "baselines": 15.0,
    "screen": 4.0,
    "disagree": 4.0,
    "prices": 12.0,
    "range": 12.0,
    "explain": 8.0,
    "weigh": 2.0,
}
AFTERWARDS: Mapping[str, float] = {"attack": 30.0}  # what may be added to an audit, likewise
CutBy = Literal["time", "interrupt"]


class CutStage(Value, frozen=True):
    """A stage that could not do all it would have done.

    Attributes
    ----------
    by
        The time limit, or Ctrl-C.
    is_skipped
        Whether nothing of it is there; what a stage that was cut later has found is kept.
    """

    stage: OptionalStage
    by: CutBy
    is_skipped: bool


class Spending(Value, frozen=True):
    """How an audit kept to its time.

    Attributes
    ----------
    limit
        Seconds that were allowed for all of it; null if there was no limit.
    seconds
        What it took up to its document, where that is more; null where the limit was kept.
    required
        What of that nothing can be cut of: imports, reading, encoding, model 1, scores, the choice.
    cut
        The stages that were cut.
    """

    limit: float | None
    seconds: float | None = None
    required: float | None = None
    cut: tuple[CutStage, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether what cannot be cut took longer than was allowed."""
        return self.seconds is not None

    def is_cut_by(self, by: CutBy) -> bool:
        """Tell whether something was cut by the time limit, or by Ctrl-C."""
        return any(one.by == by for one in self.cut)

    def stages(self, by: CutBy, *, is_skipped: bool) -> Iterator[OptionalStage]:
        """Name stages that were cut short, or left out."""
        return (one.stage for one in self.cut if one.by == by and one.is_skipped == is_skipped)
