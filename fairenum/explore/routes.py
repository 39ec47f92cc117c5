"""Requests and their answers, independent of the transport (HTTP or a notebook)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypedDict, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from fairenum.document.terms import Gap
from fairenum.document.value import Value
from fairenum.errors import ExplorationError, FairenumError
from fairenum.explore import screen_parts
from fairenum.explore.worker import Action, Desk, Done, Refusal, Stopped
from fairenum.report.exploration_words import broken, found, said_end
from fairenum.runtime.budget import Progress, silent

if TYPE_CHECKING:
    from fairenum.explore.exploration import Exploration


# Solved boxes without anything new after which a search for many models comes back, and solves of a guided step.
MANY_BOXES, CHUNK = 1000, 25


Row = Annotated[int, Meta(ge=0)]
Text = Annotated[str, Meta(max_length=4000)]


class Told(TypedDict):
    """Tolerances and guardrails as arguments of `Exploration.tolerate`."""

    metric: Gap | None
    eps: float | None
    max_performance_drop: float | None
    max_loss: float | Literal["any"] | None
    guards: tuple[str, ...]


class Asked(Value, frozen=True, tag_field="step"):
    """A requested step; `needs_revision` says whether the client must name the revision it has seen."""

    needs_revision: ClassVar[bool] = False

    def run(self, exploration: Exploration, progress: Progress) -> str | None:
        """Take the step and return a message for the user."""
        raise NotImplementedError

    @property
    def action(self) -> Action:
        """The request as an action of the desk."""
        return Action(str(self.__struct_config__.tag), self.run)


class NextAsked(Asked, frozen=True, tag="next"):
    """Find further models, best first; each is a step."""

    count: Annotated[int, Meta(ge=1, le=1000)] = 1

    def run(self, exploration: Exploration, progress: Progress) -> str | None:
        """Continue until enough models are found, none is left, or none was new for long."""
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
    """Continue the guided search for some boxes."""

    solves: Annotated[int, Meta(ge=1, le=10_000)] = CHUNK

    def run(self, exploration: Exploration, progress: Progress) -> str | None:
        """Take a step for every few boxes; if stopped, the boxes solved so far count."""
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
    """Training rows, given by number or as a cluster of a model's left-out rows."""

    rows: Annotated[tuple[Row, ...], Meta(max_length=100_000)] | None = None
    model: int | None = None
    cluster: int | None = None

    def named(self, exploration: Exploration) -> Sequence[int]:
        """The row numbers."""
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
    """Tolerances and guardrails; omitted ones stay, and a null `max_loss` removes its bound."""

    metric: Gap | None = None
    eps: float | None = None
    max_performance_drop: float | None = None
    max_loss: float | UnsetType | None = UNSET
    guards: tuple[Text, ...] = ()

    @property
    def told(self) -> Told:
        """The request as arguments of `Exploration.tolerate`."""
        loss: float | Literal["any"] | None = "any" if self.max_loss is None else None
        if isinstance(self.max_loss, float):
            loss = self.max_loss
        drop = self.max_performance_drop
        return Told(metric=self.metric, eps=self.eps, max_performance_drop=drop, max_loss=loss, guards=self.guards)


class TolerateAsked(TolerancesAsked, Asked, frozen=True, tag="tolerate"):
    """Select under other tolerances."""

    def run(self, exploration: Exploration, progress: Progress) -> None:
        """Take the step."""
        exploration.progress = progress
        exploration.tolerate(**self.told)


class CommitAsked(Asked, frozen=True, tag="commit"):
    """Commit to a model, which opens the holdout."""

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
        """The request as an action that cannot be stopped: a recorded commit must be judged."""
        return Action("commit", self.run, can_stop=False)


AnyStep = NextAsked | FairerAsked | LeaveOutAsked | PinAsked | UndoAsked | TolerateAsked | CommitAsked


T = TypeVar("T")
NOT_A_NUMBER = "{name} is a whole number, not {text!r}"


@dataclass(frozen=True, slots=True)
class Call:
    """A request: query, JSON body, and the revision that the client has seen, as text."""

    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seen: str | None = None

    def number(self, name: str) -> int | None:
        """A number of the query, or None."""
        text = self.query.get(name)
        return None if text is None else _number(name, text)

    def needed(self, name: str) -> int:
        """A required number of the query."""
        number = self.number(name)
        if number is None:
            raise Refusal(400, f"{name} is missing")
        return number

    def read(self, kind: type[T]) -> T:
        """Decode the body as a type."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refusal(400, str(error)) from error
        except RecursionError as error:
            raise Refusal(400, "a body that is nested too deeply") from error


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: HTTP status and a value, or None."""

    status: int
    value: object = None

    @property
    def body(self) -> bytes:
        """The value as JSON."""
        return b"" if self.value is None else msgspec.json.encode(self.value)


class Complaint(Value, frozen=True):
    """The error message of a refused request."""

    error: str


class PersonAsked(Value, frozen=True):
    """A person, by row or values, and the model to show in detail."""

    row: Row | None = None
    values: dict[Text, Annotated[Text, Meta()] | float | bool | None] | None = None
    model: int | None = None


class Nothing(Value, frozen=True):
    """An empty body."""


def _number(name: str, text: str) -> int:
    """Read a short number of a query or a header."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refusal(400, NOT_A_NUMBER.format(name=name, text=text[:20]))
    return int(text)


def take_step(desk: Desk, call: Call) -> Done:
    """Take a step."""
    asked: AnyStep = call.read(AnyStep)  # type: ignore[arg-type]  # a union is no class
    if asked.needs_revision and call.seen is None:
        raise Refusal(428, "say which revision you have seen: If-Match")
    return desk.take(asked.action, None if call.seen is None else _number("If-Match", call.seen))


def stop(desk: Desk, call: Call) -> None:
    """Stop the running step."""
    call.read(Nothing)
    desk.stop()


def ask_person(desk: Desk, call: Call) -> screen_parts.Decided:
    """Decisions of the models about a person."""
    asked = call.read(PersonAsked)
    who = asked.row if asked.values is None else asked.values
    if who is None or (asked.row is not None and asked.values is not None):
        raise Refusal(400, "say who it is, either by row or by values")
    return screen_parts.decided(desk.exploration.person(who), asked.model)


def try_tolerances(desk: Desk, call: Call) -> screen_parts.Preview:
    """Preview the selection under other tolerances."""
    asked = call.read(TolerancesAsked)
    return screen_parts.preview(desk.exploration, desk.exploration.preview(**asked.told))


@dataclass(frozen=True, slots=True)
class Way:
    """A route: method, path and handler."""

    method: Literal["GET", "POST"]
    path: str
    told: Callable[[Desk, Call], object]

    def answer(self, desk: Desk, call: Call) -> Answer:
        """Answer a request in any thread; errors become answers, too."""
        try:
            value = self.told(desk, call)
        except Refusal as refusal:
            return Answer(refusal.status, Complaint(str(refusal)))
        except FairenumError as error:
            return Answer(422, Complaint(str(error)))
        except Exception as error:  # noqa: BLE001  # a fault of ours is said, too
            return Answer(500, Complaint(broken(error)))
        return Answer(204) if value is None else Answer(200, value)


WAYS = (
    Way("GET", "/state", lambda desk, _: screen_parts.screen(desk)),
    Way("GET", "/models", lambda desk, call: screen_parts.rows(desk, call.number("first") or 0, call.number("last"))),
    Way("GET", "/timeline", lambda desk, call: screen_parts.steps(desk.exploration, call.needed("before"))),
    Way("GET", "/focus", lambda desk, call: screen_parts.focus(desk.exploration, call.needed("model"))),
    Way(
        "GET",
        "/compare",
        lambda desk, call: screen_parts.compared(desk.exploration.compare(call.needed("first"), call.needed("second"))),
    ),
    Way("POST", "/steps", take_step),
    Way("POST", "/stop", stop),
    Way("POST", "/preview", try_tolerances),
    Way("POST", "/person", ask_person),
)


def answer(desk: Desk, method: str, path: str, call: Call) -> Answer:
    """Answer a request in any thread."""
    there = [way for way in WAYS if way.path == path]
    for way in there:
        if way.method == method:
            return way.answer(desk, call)
    return (
        Answer(405, Complaint("this takes another method")) if there else Answer(404, Complaint("there is no such way"))
    )
