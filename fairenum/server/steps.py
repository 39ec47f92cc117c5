"""What can be asked of an exploration over the wire: typed requests, each of which becomes an action of the desk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypedDict

from msgspec import UNSET, Meta, UnsetType

from fairenum.document.terms import Gap
from fairenum.document.value import Value
from fairenum.errors import ExplorationError
from fairenum.progress import Progress, silent
from fairenum.report.wording.exploration import found, said_end
from fairenum.server.desk import Action, Stopped

if TYPE_CHECKING:
    from fairenum.exploration.exploration import Exploration

# Solved boxes without anything new after which a search for many models comes back, and solves of a guided step.
MANY_BOXES, CHUNK = 1000, 25

Row = Annotated[int, Meta(ge=0)]
Text = Annotated[str, Meta(max_length=4000)]


class Told(TypedDict):
    """Tolerances and guardrails as an exploration takes them."""

    metric: Gap | None
    eps: float | None
    max_performance_drop: float | None
    max_loss: float | Literal["any"] | None
    guards: tuple[str, ...]


class Asked(Value, frozen=True, tag_field="step"):
    """A step that is asked for.

    Attributes
    ----------
    needs_revision
        Whether whoever asks has to say which revision they have seen.
    """

    needs_revision: ClassVar[bool] = False

    def run(self, exploration: Exploration, progress: Progress) -> str | None:
        """Take it, and return what there is to say."""
        raise NotImplementedError

    @property
    def action(self) -> Action:
        """The same for the desk."""
        return Action(str(self.__struct_config__.tag), self.run)


class NextAsked(Asked, frozen=True, tag="next"):
    """Look for so many further models, best first; one step each."""

    count: Annotated[int, Meta(ge=1, le=1000)] = 1

    def run(self, exploration: Exploration, progress: Progress) -> str | None:
        """Go on until there are enough, none is left, or none was new for long."""
        new, is_one = 0, self.count == 1
        exploration.progress = lambda stage, done, total: (
            progress(stage, done, total) if is_one else progress(stage, new, self.count)
        )
        try:
            while new < self.count:
                if exploration.next(None if is_one else MANY_BOXES) is None:
                    return said_end(exploration.state.end, new)
                new += 1
        except Stopped:
            if not new:
                raise
        return None if is_one else found(new)


class FairerAsked(Asked, frozen=True, tag="fairer"):
    """Search on for fairer models, so many boxes."""

    solves: Annotated[int, Meta(ge=1, le=10_000)] = CHUNK

    def run(self, exploration: Exploration, progress: Progress) -> str | None:
        """Take a step for every few boxes; what was searched when it is stopped counts."""
        before, chunk = len(exploration.state.looked), 0
        done = 0

        def watched(stage: str, part: int, _: int | None) -> None:
            nonlocal chunk
            chunk = part
            progress(stage, done + part, self.solves)

        exploration.progress = watched
        try:
            while done < self.solves:
                exploration.fairer(min(CHUNK, self.solves - done))
                done, chunk = done + CHUNK, 0
        except Stopped:
            if not done + chunk:
                raise
            if chunk:
                exploration.progress = silent  # these boxes are solved: this takes no time
                exploration.fairer(chunk)
        return found(len(exploration.state.looked) - before)


class RowsAsked(Asked, frozen=True, kw_only=True):
    """Training rows, or those of a cluster of what a model leaves out."""

    rows: Annotated[tuple[Row, ...], Meta(max_length=100_000)] | None = None
    model: int | None = None
    cluster: int | None = None

    def named(self, exploration: Exploration) -> Sequence[int]:
        """Return the rows."""
        if self.rows is not None:
            return self.rows
        if self.model is None or self.cluster is None:
            raise ExplorationError("no row was named; give rows, or a model and its cluster")
        clusters = exploration.focused(self.model).clusters
        if not 0 <= self.cluster < len(clusters):
            raise ExplorationError(f"model {self.model} has no cluster {self.cluster}; it has {len(clusters)}")
        return clusters[self.cluster].rows


class LeaveOutAsked(RowsAsked, frozen=True, tag="leave_out"):
    """Leave rows out from now on."""

    def run(self, exploration: Exploration, progress: Progress) -> None:
        """Take the step."""
        exploration.progress = progress
        exploration.leave_out(self.named(exploration))


class PinAsked(RowsAsked, frozen=True, tag="pin"):
    """Keep rows from now on."""

    def run(self, exploration: Exploration, progress: Progress) -> None:
        """Take the step."""
        exploration.progress = progress
        exploration.pin(self.named(exploration))


class UndoAsked(Asked, frozen=True, tag="undo"):
    """Take back the last step."""

    needs_revision: ClassVar[bool] = True

    def run(self, exploration: Exploration, progress: Progress) -> None:
        """Take the step."""
        exploration.progress = progress
        exploration.undo()


class TolerancesAsked(Value, frozen=True):
    """Tolerances and guardrails; what is not given stays as it is, and null for the loss is any."""

    metric: Gap | None = None
    eps: float | None = None
    max_performance_drop: float | None = None
    max_loss: float | UnsetType | None = UNSET
    guards: tuple[Text, ...] = ()

    @property
    def told(self) -> Told:
        """The same as an exploration takes it."""
        loss: float | Literal["any"] | None = "any" if self.max_loss is None else None
        if isinstance(self.max_loss, float):
            loss = self.max_loss
        drop = self.max_performance_drop
        return Told(metric=self.metric, eps=self.eps, max_performance_drop=drop, max_loss=loss, guards=self.guards)


class TolerateAsked(TolerancesAsked, Asked, frozen=True, tag="tolerate"):
    """Choose under other tolerances."""

    def run(self, exploration: Exploration, progress: Progress) -> None:
        """Take the step."""
        exploration.progress = progress
        exploration.tolerate(**self.told)


class CommitAsked(Asked, frozen=True, tag="commit"):
    """Decide, and open the holdout."""

    model: int
    reason: Text
    author: Text
    needs_revision: ClassVar[bool] = True

    def run(self, exploration: Exploration, progress: Progress) -> None:
        """Take the step."""
        exploration.progress = progress
        exploration.commit(self.model, self.reason, self.author)

    @property
    def action(self) -> Action:
        """The same for the desk; once it is on the record, it is to be judged."""
        return Action("commit", self.run, can_stop=False)


AnyStep = NextAsked | FairerAsked | LeaveOutAsked | PinAsked | UndoAsked | TolerateAsked | CommitAsked
