"""What can be asked, and what answers it, whatever carries question and answer: HTTP, or a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from fairenum.document.value import Value
from fairenum.errors import FairenumError
from fairenum.report.wording.exploration import broken
from fairenum.server import screen
from fairenum.server.desk import Desk, Done
from fairenum.server.refusal import Refusal
from fairenum.server.steps import AnyStep, Row, Text, TolerancesAsked

T = TypeVar("T")
NOT_A_NUMBER = "{name} is a whole number, not {text!r}"


@dataclass(frozen=True, slots=True)
class Call:
    """A question.

    Attributes
    ----------
    query
        What stands behind the question mark of its path.
    body
        JSON, of a POST.
    seen
        The revision that whoever asks has seen, as text.
    """

    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seen: str | None = None

    def number(self, name: str) -> int | None:
        """Return a number of the query; None if it is not there."""
        text = self.query.get(name)
        return None if text is None else _number(name, text)

    def needed(self, name: str) -> int:
        """Return a number of the query that has to be there."""
        number = self.number(name)
        if number is None:
            raise Refusal(400, f"{name} is missing")
        return number

    def read(self, kind: type[T]) -> T:
        """Read the body as what it is to be."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refusal(400, str(error)) from error
        except RecursionError as error:
            raise Refusal(400, "a body that is nested too deeply") from error


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: a status as HTTP counts them, and a value; None for none."""

    status: int
    value: object = None

    @property
    def body(self) -> bytes:
        """The value as JSON."""
        return b"" if self.value is None else msgspec.json.encode(self.value)


class Complaint(Value, frozen=True):
    """A request was not done."""

    error: str


class PersonAsked(Value, frozen=True):
    """A person: a row of the table, or values by feature; and the model to look at closely."""

    row: Row | None = None
    values: dict[Text, Annotated[Text, Meta()] | float | bool | None] | None = None
    model: int | None = None


class Nothing(Value, frozen=True):
    """An empty body."""


def _number(name: str, text: str) -> int:
    """Read a number of a query or a header, which are short."""
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
    """End what is under way."""
    call.read(Nothing)
    desk.stop()


def ask_person(desk: Desk, call: Call) -> screen.Decided:
    """Ask what models decide about a person."""
    asked = call.read(PersonAsked)
    who = asked.row if asked.values is None else asked.values
    if who is None or (asked.row is not None and asked.values is not None):
        raise Refusal(400, "say who it is, either by row or by values")
    return screen.decided(desk.exploration.person(who), asked.model)


def try_tolerances(desk: Desk, call: Call) -> screen.Preview:
    """Look from another standpoint."""
    asked = call.read(TolerancesAsked)
    return screen.preview(desk.exploration, desk.exploration.preview(**asked.told))


@dataclass(frozen=True, slots=True)
class Way:
    """A way in: a method, a path, and what answers."""

    method: Literal["GET", "POST"]
    path: str
    told: Callable[[Desk, Call], object]

    def answer(self, desk: Desk, call: Call) -> Answer:
        """Answer a question, in whatever thread; a mistake is answered, too."""
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
    Way("GET", "/state", lambda desk, _: screen.screen(desk)),
    Way("GET", "/models", lambda desk, call: screen.rows(desk, call.number("first") or 0, call.number("last"))),
    Way("GET", "/timeline", lambda desk, call: screen.steps(desk.exploration, call.needed("before"))),
    Way("GET", "/focus", lambda desk, call: screen.focus(desk.exploration, call.needed("model"))),
    Way(
        "GET",
        "/compare",
        lambda desk, call: screen.compared(desk.exploration.compare(call.needed("first"), call.needed("second"))),
    ),
    Way("POST", "/steps", take_step),
    Way("POST", "/stop", stop),
    Way("POST", "/preview", try_tolerances),
    Way("POST", "/person", ask_person),
)


def answer(desk: Desk, method: str, path: str, call: Call) -> Answer:
    """Answer a question, in whatever thread."""
    there = [way for way in WAYS if way.path == path]
    for way in there:
        if way.method == method:
            return way.answer(desk, call)
    return (
        Answer(405, Complaint("this takes another method")) if there else Answer(404, Complaint("there is no such way"))
    )
