"""The requests of an exploration's live page and their answers, whether they come by HTTP or from a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, TypedDict, TypeVar, cast

import msgspec
from msgspec import Meta

from fairenum.document.keywords import GapName
from fairenum.document.terms import Gap
from fairenum.document.value import Value
from fairenum.errors import ExplorationError, FairenumError
from fairenum.explore import screen_parts
from fairenum.explore.worker import Action, Done, Refusal, Stopped, Worker
from fairenum.report.exploration_words import broken, found, said_end
from fairenum.runtime.budget import silent

if TYPE_CHECKING:
    from fairenum.explore.exploration import Exploration


MANY_BOXES = 1000  # subproblems solved without a new model after which a search for many models ends
CHUNK = 25  # solved subproblems of a guided step
Row = Annotated[int, Meta(ge=0)]
Text = Annotated[str, Meta(max_length=4000)]


class TolerateArguments(TypedDict):
    """Tolerances and guardrails as arguments of `Exploration.tolerate`."""

    metric: GapName | None
    eps: float | None
    max_performance_drop: float | None
    guards: tuple[str, ...]


class StepRequest(Value, frozen=True, tag_field="step"):
    """A requested step; `needs_revision` says whether the request must name the revision (state number) that it saw."""

    needs_revision: ClassVar[bool] = False

    def _run(self, exploration: Exploration) -> str | None:
        """Take the step, and return a message for the user, if any."""
        raise NotImplementedError

    @property
    def action(self) -> Action:
        """The request as an action for the worker."""
        return Action(str(self.__struct_config__.tag), self._run)


class NextRequest(StepRequest, frozen=True, tag="next"):
    """A request for `count` further models, best first; each model is a step."""

    count: Annotated[int, Meta(ge=1, le=1000)] = 1

    def _run(self, exploration: Exploration) -> str | None:
        """Take steps until `count` models are found, none is left, or too many SVMs were solved without a new one."""
        new, is_one, progress = 0, self.count == 1, exploration.progress
        if not is_one:
            exploration.progress = lambda stage, _done, _total: progress(stage, new, self.count)
        try:
            while new < self.count:
                if exploration.next(None if is_one else MANY_BOXES) is None:
                    return said_end(exploration.state.end, new)
                new += 1
        except Stopped:
            if not new:
                raise
        return None if is_one else found(new)


class FairerRequest(StepRequest, frozen=True, tag="fairer"):
    """A request to continue the guided search for fairer models by solving `solves` more SVMs."""

    solves: Annotated[int, Meta(ge=1, le=10_000)] = CHUNK

    def _run(self, exploration: Exploration) -> str | None:
        """Take a step for every `CHUNK` SVMs to solve; if stopped, keep the models found so far."""
        before, progress = len(exploration.state.looked), exploration.progress
        done = chunk = 0

        def report(stage: str, part: int, _: int | None) -> None:
            nonlocal chunk
            chunk = part
            progress(stage, done + part, self.solves)

        exploration.progress = report
        try:
            while done < self.solves:
                exploration.fairer(min(CHUNK, self.solves - done))
                done, chunk = done + CHUNK, 0
        except Stopped:
            if not done + chunk:
                raise
            if chunk:
                exploration.progress = silent  # these boxes are already solved, so this takes no time
                exploration.fairer(chunk)
        return found(len(exploration.state.looked) - before)


class RowsRequest(StepRequest, frozen=True, kw_only=True):
    """A request about training rows, given by `rows`, or as a `cluster` of the rows that a `model` leaves out."""

    rows: Annotated[tuple[Row, ...], Meta(max_length=100_000)] | None = None
    model: int | None = None
    cluster: int | None = None

    def row_numbers(self, exploration: Exploration) -> Sequence[int]:
        """Return the numbers of the requested rows; refuse a request that names none."""
        if self.rows is not None:
            return self.rows
        if self.model is None or self.cluster is None:
            raise ExplorationError("no row was named; give rows, or a model and its cluster")
        clusters = exploration.focused(self.model).clusters
        if not 0 <= self.cluster < len(clusters):
            raise ExplorationError(f"model {self.model} has no cluster {self.cluster}; it has {len(clusters)}")
        return clusters[self.cluster].rows


class LeaveOutRequest(RowsRequest, frozen=True, tag="leave_out"):
    """A request to leave training rows out of all models from now on."""

    def _run(self, exploration: Exploration) -> None:
        exploration.leave_out(self.row_numbers(exploration))


class PinRequest(RowsRequest, frozen=True, tag="pin"):
    """A request to keep training rows in the training of all models from now on."""

    def _run(self, exploration: Exploration) -> None:
        exploration.pin(self.row_numbers(exploration))


class UndoRequest(StepRequest, frozen=True, tag="undo"):
    """A request to undo the last step."""

    needs_revision: ClassVar[bool] = True

    def _run(self, exploration: Exploration) -> None:
        exploration.undo()


class TolerancesRequest(Value, frozen=True):
    """Requested tolerances and guardrails; omitted ones stay as they are."""

    metric: Gap | None = None
    eps: float | None = None
    max_performance_drop: float | None = None
    guards: tuple[Text, ...] = ()

    @property
    def arguments(self) -> TolerateArguments:
        """The request as arguments of `Exploration.tolerate`."""
        return TolerateArguments(
            metric=cast(GapName | None, self.metric),  # one of the registry, as it was decoded by that
            eps=self.eps,
            max_performance_drop=self.max_performance_drop,
            guards=self.guards,
        )


class TolerateRequest(TolerancesRequest, StepRequest, frozen=True, tag="tolerate"):
    """A request to set other tolerances and guardrails."""

    def _run(self, exploration: Exploration) -> None:
        exploration.tolerate(**self.arguments)


class CommitRequest(StepRequest, frozen=True, tag="commit"):
    """A request to commit to a model, which is then judged on the holdout."""

    model: int
    reason: Text
    author: Text
    needs_revision: ClassVar[bool] = True

    def _run(self, exploration: Exploration) -> None:
        exploration.commit(self.model, self.reason, self.author)

    @property
    def action(self) -> Action:
        """The request as an action for the worker; it cannot be stopped, as a recorded commit must be judged."""
        return Action("commit", self._run, can_stop=False)


AnyStep = NextRequest | FairerRequest | LeaveOutRequest | PinRequest | UndoRequest | TolerateRequest | CommitRequest
T = TypeVar("T")
NOT_A_NUMBER = "{name} is a whole number, not {text!r}"


@dataclass(frozen=True, slots=True)
class JsonRequest:
    """A request: its query parameters, its JSON body, and the revision (state number) that the page shows, as text."""

    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seen: str | None = None

    def number(self, name: str) -> int | None:
        """Return a query parameter as a number; None if it is not given."""
        text = self.query.get(name)
        return None if text is None else _number(name, text)

    def needed(self, name: str) -> int:
        """Return a query parameter as a number; refuse the request if it is not given."""
        number = self.number(name)
        if number is None:
            raise Refusal(400, f"{name} is missing")
        return number

    def read(self, kind: type[T]) -> T:
        """Return the body decoded as a type; refuse the request if that is not possible."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refusal(400, str(error)) from error
        except RecursionError as error:
            raise Refusal(400, "a body that is nested too deeply") from error


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request: HTTP status, and a value or None."""

    status: int
    value: object = None

    @property
    def body(self) -> bytes:
        """The value as JSON; empty for None."""
        return b"" if self.value is None else msgspec.json.encode(self.value)


class ErrorMessage(Value, frozen=True):
    """The error message of a refused request."""

    error: str


class PersonRequest(Value, frozen=True):
    """A request for the decisions about a person, given by row or values; `model` is the model to explain in words."""

    row: Row | None = None
    values: dict[Text, Annotated[Text, Meta()] | float | bool | None] | None = None
    model: int | None = None


class EmptyBody(Value, frozen=True):
    """The body of a request without arguments."""


def _number(name: str, text: str) -> int:
    """Return the whole number that a query parameter or header states; refuse other texts and long numbers."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refusal(400, NOT_A_NUMBER.format(name=name, text=text[:20]))
    return int(text)


def models(worker: Worker, request: JsonRequest) -> screen_parts.Rows:
    """Return the listed models whose numbers are between the query parameters `first` and `last`."""
    return screen_parts.rows(worker, request.number("first") or 0, request.number("last"))


def compare(worker: Worker, request: JsonRequest) -> screen_parts.Compared:
    """Return the comparison of two models, whose numbers are the query parameters `first` and `second`."""
    return screen_parts.compared(worker.exploration.compare(request.needed("first"), request.needed("second")))


def take_step(worker: Worker, request: JsonRequest) -> Done:
    """Take the requested step, and return the new revision (state number) and a message for the user."""
    asked: AnyStep = request.read(AnyStep)  # type: ignore[arg-type]  # a union is no class
    if asked.needs_revision and request.seen is None:
        raise Refusal(428, "say which revision you have seen: If-Match")
    return worker.take(asked.action, None if request.seen is None else _number("If-Match", request.seen))


def stop(worker: Worker, request: JsonRequest) -> None:
    """Stop the running step, if there is one."""
    request.read(EmptyBody)
    worker.stop()


def ask_person(worker: Worker, request: JsonRequest) -> screen_parts.Decided:
    """Return the decisions of the models about the requested person."""
    asked = request.read(PersonRequest)
    who = asked.row if asked.values is None else asked.values
    if who is None or (asked.row is not None and asked.values is not None):
        raise Refusal(400, "say who it is, either by row or by values")
    return screen_parts.decided(worker.exploration.person(who), asked.model)


def try_tolerances(worker: Worker, request: JsonRequest) -> screen_parts.Preview:
    """Return the candidates and the chosen model under other tolerances, without taking a step."""
    asked = request.read(TolerancesRequest)
    return screen_parts.preview(worker.exploration, worker.exploration.preview(**asked.arguments))


JSON_ROUTES: dict[tuple[str, str], Callable[[Worker, JsonRequest], object]] = {
    ("GET", "/state"): lambda worker, _: screen_parts.screen(worker),
    ("GET", "/models"): models,
    ("GET", "/timeline"): lambda worker, request: screen_parts.steps(worker.exploration, request.needed("before")),
    ("GET", "/focus"): lambda worker, request: screen_parts.focus(worker.exploration, request.needed("model")),
    ("GET", "/compare"): compare,
    ("POST", "/steps"): take_step,
    ("POST", "/stop"): stop,
    ("POST", "/preview"): try_tolerances,
    ("POST", "/person"): ask_person,
}


def answer(worker: Worker, method: str, path: str, request: JsonRequest) -> Answer:
    """Return the answer to a request; an error becomes an answer with its message. Any thread may call this."""
    handler = JSON_ROUTES.get((method, path))
    if handler is None:
        is_path = any(path == known for _, known in JSON_ROUTES)
        return _error(405, "this path takes another method") if is_path else _error(404, "there is no such path")
    try:
        value = handler(worker, request)
    except Refusal as refusal:
        return _error(refusal.status, str(refusal))
    except FairenumError as error:
        return _error(422, str(error))
    except Exception as error:  # noqa: BLE001  # internal errors are reported, too
        return _error(500, broken(error))
    return Answer(204) if value is None else Answer(200, value)


def _error(status: int, message: str) -> Answer:
    return Answer(status, ErrorMessage(message))
