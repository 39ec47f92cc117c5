"""The local HTTP server of an exploration."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import PurePath
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from fairenum.errors import ConfigError
from fairenum.explore.auth import LOOPBACK, AccessToken, AuthMiddleware
from fairenum.explore.worker import LEAST, PAUSE, ChangeFeed, Opening, Worker

if TYPE_CHECKING:
    from starlette.requests import Request


HEARTBEAT = 15.0  # seconds between signs of life
PAGE = "explore.html"
# A report contains text of the table: it runs in an opaque origin, from which it cannot send requests here.
SANDBOX = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"
MEDIA_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
IDLE = 30 * 60.0  # default seconds without a client after which the server ends
HOLD = 0.5  # seconds for the page to load before the exploration is opened
LINGER = 2.0  # seconds for a browser that is being opened to show why the exploration could not be opened
SWITCH_INTERVAL = 0.001  # seconds
GRACE = 1  # seconds for running requests when the server ends

Endpoint = Callable[["Request"], Awaitable[Response]]


class Clients:
    """The browser pages that are connected to the server and receive changes.

    `connected` is their number, `last_needed` the time at which a page was last connected, a step was running, or the
    exploration was being opened.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.connected, self.last_needed = 0, time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the server was last needed; 0 while a page is connected."""
        return 0.0 if self.connected else time.monotonic() - self.last_needed

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield changes as server-sent events for one page, until the worker is closed or the page leaves."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def notify() -> None:
            loop.call_soon_threadsafe(changed.set)

        stop_listening = self._worker.listen(notify)
        feed = ChangeFeed(self._worker)
        self.connected += 1
        try:
            yield b": here\n\n"
            while True:
                changed.clear()
                is_closed = self._worker.is_closed
                # in a thread: this imports the messages when they are first needed
                if events := await run_in_threadpool(lambda: b"".join(event.text for event in feed.changes())):
                    yield events
                if is_closed:
                    return
                await asyncio.sleep(PAUSE)
                try:
                    await asyncio.wait_for(changed.wait(), LEAST if self._worker.is_busy else HEARTBEAT)
                except TimeoutError:
                    if not self._worker.is_busy:
                        yield b": still here\n\n"
        finally:
            stop_listening()
            self.connected -= 1
            self.last_needed = time.monotonic()


def static_files() -> dict[str, bytes]:
    """Return the content of the static files by name; no other files are served."""
    folder = files("fairenum.explore") / "static"
    return {one.name: one.read_bytes() for one in folder.iterdir() if PurePath(one.name).suffix in MEDIA_TYPES}


def routes(worker: Worker, clients: Clients) -> list[Route]:
    """Return all HTTP routes; the last one serves the JSON requests."""
    own = static_files()
    return [
        Route("/", _file(PAGE, own[PAGE]), methods=["GET"]),
        *(Route(f"/static/{name}", _file(name, content), methods=["GET"]) for name, content in own.items()),
        Route("/favicon.ico", _no_content, methods=["GET"]),  # browsers always request it
        Route("/events", _events(worker, clients), methods=["GET"]),
        Route("/report", _report(worker), methods=["GET"]),
        Route("/{way:path}", _json(worker), methods=["GET", "POST"]),
    ]


def application(worker: Worker, clients: Clients, access: AccessToken, port: int) -> AuthMiddleware:
    """Return the ASGI application: all routes, behind the authentication."""
    return AuthMiddleware(Starlette(routes=routes(worker, clients)), access, port)


def _file(name: str, content: bytes) -> Endpoint:
    async def served(_: Request) -> Response:
        return Response(content, media_type=MEDIA_TYPES[PurePath(name).suffix])

    return served


async def _no_content(_: Request) -> Response:
    return Response(status_code=204)


def _json(worker: Worker) -> Endpoint:
    async def answered(request: Request) -> Response:
        worker.open()
        arguments = request.query_params, await request.body(), request.headers.get("if-match")

        def answer() -> Response:
            from fairenum.explore.routes import JsonRequest, answer

            reply = answer(worker, request.method, request.url.path, JsonRequest(*arguments))
            return Response(reply.body, reply.status, media_type="application/json")

        return await run_in_threadpool(answer)

    return answered


def _events(worker: Worker, clients: Clients) -> Endpoint:
    async def streamed(_: Request) -> Response:
        worker.open()
        return StreamingResponse(clients.stream(), media_type="text/event-stream")

    return streamed


def _report(worker: Worker) -> Endpoint:
    def found() -> Response:
        from fairenum.render.html import policy_of

        html = worker.exploration.report() if worker.is_open else None
        if html is None:
            return Response("there is no decision yet", 404, media_type="text/plain")
        return HTMLResponse(html, headers={"content-security-policy": f"{policy_of(html)}; {SANDBOX}"})

    async def shown(_: Request) -> Response:
        return await run_in_threadpool(found)

    return shown


@dataclass(frozen=True, slots=True)
class Ended:
    """How a server ended.

    `failure` is the error if the exploration could not be opened, else None. `is_saved` says whether the exploration
    was opened, so that its steps are recorded; `is_idle`, whether the server ended for lack of clients.
    """

    failure: BaseException | None
    is_saved: bool
    is_idle: bool


def serve(opening: Opening, announce: Callable[[str], None], *, port: int = 0, idle: float = IDLE) -> Ended:
    """Serve an exploration until the user ends the server, no client is left, or opening fails; return how it ended.

    `opening` makes the exploration in the background, while the page is served already. `announce` is called with the
    address of the page, which can be opened once. The server ends after `idle` seconds without a client; with 0 never.
    """
    with bound_socket(port) as listener:
        port = listener.getsockname()[1]
        access, worker = AccessToken(port), Worker(opening)
        server = Server(worker, access, port, idle, partial(announce, address(port, access)))
        # a computing thread must yield often: a request waits one interval for every line that is read
        sys.setswitchinterval(SWITCH_INTERVAL)
        server.run(sockets=[listener])
    return Ended(worker.failure, worker.is_open, server.is_idle)


class Server(uvicorn.Server):
    """A uvicorn server that ends after a time without clients, and does not wait for open connections."""

    def __init__(
        self,
        worker: Worker,
        access: AccessToken,
        port: int,
        idle: float = IDLE,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        clients = Clients(worker)
        app = application(worker, clients, access, port)
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                log_level="critical",  # no lines on the terminal for malformed requests
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE,
            )
        )
        self._worker, self._clients, self._idle, self._ready = worker, clients, idle, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and open the exploration `HOLD` seconds later, as opening it would slow the loading of the page."""
        await super().startup(sockets)
        self._ready()
        asyncio.get_running_loop().call_later(HOLD, self._worker.open)

    async def on_tick(self, counter: int) -> bool:
        """End the server if it is idle or the exploration could not be opened; called ten times a second."""
        is_begun = self._worker.is_open or self._worker.failure is not None
        if self._worker.is_busy or not is_begun:
            self._clients.last_needed = time.monotonic()
        if self.is_idle or self._has_failed:
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down, after closing the worker so that no event stream or request is pending."""
        await asyncio.to_thread(self._worker.close)
        await asyncio.sleep(0.15)  # lets clients receive the end event
        await super().shutdown(sockets)

    def handle_exit(self, _signal: int, _frame: FrameType | None) -> None:
        """End the server on Ctrl-C; a second Ctrl-C ends it without waiting for running requests."""
        self.force_exit = self.should_exit
        self.should_exit = True

    @property
    def is_idle(self) -> bool:
        """Whether no client was connected for longer than the idle time."""
        return bool(self._idle) and self._clients.idle_seconds > self._idle

    @property
    def _has_failed(self) -> bool:
        """Whether opening the exploration failed, and a client was told or none came for `LINGER` seconds."""
        is_reported = self._clients.connected > 0 or self._clients.idle_seconds > LINGER
        return self._worker.failure is not None and is_reported


def address(port: int, access: AccessToken) -> str:
    """Return the address of the page, with a token that can be used once."""
    return f"http://{LOOPBACK}:{port}/?token={access.token}"


def bound_socket(port: int) -> socket.socket:
    """Return a socket that listens at a port of the loopback interface; port 0 is any free one."""
    # IPPROTO_TCP by name: asyncio turns off buffering of small answers only if it sees it
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        listener.close()
        why = error.strerror if isinstance(error, OSError) else "no such port"
        raise ConfigError(f"cannot listen at port {port}: {why}; name another one, or 0 for any (--port)") from error
    listener.listen()
    return listener
