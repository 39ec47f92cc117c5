"""Requests to the page of an exploration that no browser of its owner would send."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from fairenum import Exploration
from fairenum.explore.auth import HEADERS, LARGEST_BODY, LOOPBACK, AccessToken
from fairenum.explore.server import Clients, application
from fairenum.explore.worker import Worker
from support.explorations import served
from support.fuzzing import hostile
from support.fuzzing.running import Ended, called
from support.fuzzing.tables import Case
from support.tables import write_loans

PORT = 54321
STEPS = 40  # requests for a step before another exploration is opened: long lists of models take long to show
PATHS = (
    *("/", "/state", "/models", "/timeline", "/focus", "/compare", "/events", "/report", "/favicon.ico", "/static/x"),
    *("/static/explore.js", "/static/../app.py", "/static/%2e%2e/x", "//", "/state/", "/STATE", "/steps/../state", "*"),
)
NAMES = ("first", "last", "before", "model", "second", "token", "x")
NUMBERS = ("", "0", "1", "2", "3", "9", "-1", "1.5", "00000000001", "999999999", "1e3", "١", "²", "%00", "%ff", "nan")
BODIES: dict[str, tuple[Any, ...]] = {
    "/steps": (
        {"step": "next"},
        {"step": "next", "count": 2},
        {"step": "fairer", "solves": 2},
        {"step": "leave_out", "rows": [1, 2]},
        {"step": "leave_out", "model": 1, "cluster": 0},
        {"step": "pin", "rows": [3]},
        {"step": "undo"},
        {"step": "tolerate", "eps": 0.1, "max_performance_drop": 0.5, "metric": "x", "guards": []},
        {"step": "tolerate", "guards": ["selection_rate=+-0.1"], "metric": "equal_opportunity_difference"},
        {"step": "commit", "model": 1, "reason": "good", "author": "me"},
    ),
    "/preview": (
        {"eps": 0.2},
        {"max_performance_drop": 0.5, "guards": ["none"]},
        {"metric": "equalized_odds_difference"},
    ),
    "/person": ({"row": 0}, {"values": {"income": 1.0, "town": "Bath"}}, {"values": {"debt": None}, "model": 1}),
    "/stop": ({},),
}
JSON_ROUTES = {path: [list(hostile.ways(body)) for body in bodies] for path, bodies in BODIES.items()}
METHODS = ("PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "", "POST ", "\u00e9")
ODD_HEADERS = (
    *("if-match", "content-length", "content-type", "host", "cookie", "origin", "sec-fetch-site", "sec-fetch-mode"),
    *("transfer-encoding", "x-forwarded-for", "forwarded", "range", "expect", "upgrade", "connection", "accept"),
)
VALUES = (
    *("", "0", "-1", "1", "5", "null", "*", "chunked", "none", "same-origin", "cross-site", "navigate", "websocket"),
    *("9" * 30, "7" * 5000, "\xb2", "\xff\xfe", "x" * 9000, "a=b; " * 300, '"', "=;=", "application/json", "text/html"),
    *("http://evil.example", "http://127.0.0.1:54321", "127.0.0.1:54321", "127.0.0.1", "localhost:54321", "bytes=0-"),
    *("100-continue", "fairenum-54321=", 'fairenum-54321="\\377"', "$Version=1; x", "application/json; charset=utf-7"),
)


@dataclass
class Request:
    """A request as a server gets it.

    Attributes
    ----------
    cookie
        The one that opens the gate.
    """

    method: str
    path: str
    query: bytes
    headers: list[tuple[str, str]]
    body: bytes
    cookie: str

    @property
    def is_known(self) -> bool:
        """Whether it may have come from who holds the cookie."""
        return any(self.cookie in value for _, value in self.headers)

    @property
    def written(self) -> bytes:
        """The request as it goes over a line."""
        target = self.path + ("?" + self.query.decode("latin-1") if self.query else "")
        lines = [f"{self.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers), "", ""]
        return "\r\n".join(lines).encode("utf-8", "replace") + self.body


def request(rng: Random, port: int, cookie: str, revision: int) -> Request:
    """Make a request of the page itself, and change a few things about it."""
    host = f"{LOOPBACK}:{port}"
    headers = [("host", host), ("cookie", cookie), ("sec-fetch-site", "same-origin")]
    if rng.random() < 0.45:
        made = Request("GET", rng.choice(PATHS), query(rng), headers, b"", cookie)
    else:
        path = rng.choice(("/steps", *BODIES))
        headers += [("origin", f"http://{host}"), ("content-type", "application/json")]
        if rng.random() < 0.7:
            headers.append(("if-match", str(revision)))
        made = Request("POST", path, b"", headers, body(rng, path), cookie)
    for _ in range(rng.choice((0, 0, 1, 1, 3))):
        _change(rng, made)
    return made


def query(rng: Random) -> bytes:
    """Make what stands behind the question mark."""
    if rng.random() < 0.1:
        return hostile.text(rng)[:2000].encode("utf-8", "replace")
    names = [rng.choice(NAMES) for _ in range(rng.choice((0, 1, 2, 2, 9, 300)))]
    return "&".join(f"{name}={rng.choice(NUMBERS)}" for name in names).encode()


def body(rng: Random, path: str) -> bytes:
    """Make a body: as the page sends it, changed, or none at all."""
    kind, which = rng.random(), rng.randrange(len(BODIES[path]))
    value, ways = BODIES[path][which], JSON_ROUTES[path][which]
    if kind < 0.2 or not ways:
        return json.dumps(value).encode()
    if kind < 0.85:
        return hostile.mutated_json(rng, value, ways)
    wide = b'{"row":' + b" " * rng.choice((10, LARGEST_BODY - 8, LARGEST_BODY + 1)) + b"1}"
    return rng.choice(
        (b"", b"null", b"[]", b"\xff", b"[" * 60_000, b'{"values":' * 5_000, wide, b"1" * 5000, b'"\\ud800"')
    )


def _change(rng: Random, made: Request) -> None:
    match rng.randrange(6):
        case 0:
            made.method = rng.choice((*METHODS, "GET", "POST"))
        case 1:
            made.path = rng.choice((*PATHS, *BODIES, "/" + hostile.text(rng)[:300]))
        case 2:
            del made.headers[rng.randrange(len(made.headers))]
        case 3:
            made.headers.append((rng.choice(ODD_HEADERS), rng.choice(VALUES)))
        case 4:
            place = rng.randrange(len(made.headers))
            made.headers[place] = made.headers[place][0], rng.choice(VALUES)
        case 5:
            made.query = query(rng)
    if not made.headers:
        made.headers.append(("host", "x"))


# --- to the application itself -------------------------------------------------------------------------------------


class World:
    """An exploration behind its gate, without a server."""

    def __init__(self, folder: Path) -> None:
        self._table, self.loop = write_loans(folder / "loans.csv", 40), asyncio.new_event_loop()
        self.renew()

    def renew(self) -> None:
        """Open another exploration."""
        exploration = Exploration(str(self._table), "approved", "yes", "sex", replications=10)
        self.worker, self.access, self.steps = Worker.of(exploration), AccessToken(PORT), 0
        self.app = application(self.worker, Clients(self.worker), self.access, PORT)
        self.cookie = (self.access.exchange(self.access.token) or "").partition(";")[0]

    def ask(self, made: Request, chunks: int) -> tuple[dict[str, Any], bytes]:
        """Hand a request over, and return how the answer begins, and all of it."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": made.method,
            "scheme": "http",
            "path": made.path,
            "raw_path": made.path.encode("utf-8", "replace"),
            "query_string": made.query,
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in made.headers],
            "server": (LOOPBACK, PORT),
            "client": (LOOPBACK, 9),
        }
        size = max(1, len(made.body) // chunks)
        parts = [made.body[at : at + size] for at in range(0, len(made.body), size)] or [b""]
        waiting = [
            {"type": "http.request", "body": part, "more_body": at + 1 < len(parts)} for at, part in enumerate(parts)
        ]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        self.loop.run_until_complete(self.app(scope, receive, send))
        return sent[0], b"".join(message.get("body", b"") for message in sent[1:])


@contextmanager
def to_the_application(folder: Path) -> Iterator[Case]:
    world = World(folder)

    def asked(made: Request, chunks: int) -> Iterator[str]:
        start, content = world.ask(made, chunks)
        yield from answered(made, start["status"], content)
        names = {name.lower() for name, _ in start["headers"]}
        if not set(HEADERS) <= names:
            yield f"internal error: without headers: {made.method} {made.path}"

    def case(rng: Random, place: Path) -> Ended:
        made = request(rng, PORT, world.cookie, world.worker.revision)
        ended = called(lambda: asked(made, rng.choice((1, 1, 2, 7))), 10.0)
        world.steps += made.path == "/steps"
        if world.steps > STEPS or ended.faults:
            world.renew()
        return ended

    yield case
    world.loop.close()


def answered(made: Request, status: int, content: bytes) -> Iterator[str]:
    """Tell of an answer that must not be given."""
    if status >= 500 and status != 503:
        yield f"internal error: {status} to {made.method} {made.path[:40]} {made.body[:60]!r}: {content[:150]!r}"
    if status < 400 and not made.is_known:
        yield f"internal error: let in: {made.method} {made.path[:40]}"
    if content.startswith(b"{"):
        json.loads(content)


# --- over the line -------------------------------------------------------------------------------------------------


@contextmanager
def over_the_line(folder: Path) -> Iterator[Case]:
    table = write_loans(folder / "loans.csv", 40)

    def opening(progress: Any) -> Exploration:
        return Exploration(str(table), "approved", "yes", "sex", replications=10, progress=progress)

    with served(opening) as found:
        visitor = found.visitor()
        visitor.enter(found.address)
        visitor.wait()

        def case(rng: Random, place: Path) -> Ended:
            made = request(rng, found.port, visitor.cookie or "", found.worker.revision)
            if made.path == "/steps" and found.worker.models > 30:
                made.path = "/preview"
            content = as_sent(rng, made)
            is_known = made.cookie.encode() in content
            return called(lambda: line_faults(found, made, content, is_known), 10.0)

        yield case


def as_sent(rng: Random, made: Request) -> bytes:
    """Write a request as it goes over a line, damaged or not."""
    if made.body and rng.random() < 0.9:
        made.headers.append(("content-length", str(len(made.body))))
    return hostile.mutated_bytes(rng, made.written, 2) if rng.random() < 0.5 else made.written


def line_faults(found: Any, made: Request, content: bytes, is_known: bool) -> Iterator[str]:
    """Send bytes, and look at the first answer."""
    with socket.create_connection((LOOPBACK, found.port), timeout=60) as line:
        answer = b""
        try:
            line.sendall(content)
            line.shutdown(socket.SHUT_WR)
            while part := line.recv(65536):
                answer += part
        except (ConnectionResetError, BrokenPipeError):
            pass  # a server may hang up on whoever sends no request
    if not found.thread.is_alive():
        yield "internal error: the server has ended"
    status = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 400
    told = answer.partition(b"\r\n\r\n")[2]
    if status >= 500 and status != 503:
        yield f"internal error: {status} to {content[:100]!r}: {told[:150]!r}"
    if 100 < status < 400 and not is_known:
        yield f"internal error: let in: {content[:100]!r}"
