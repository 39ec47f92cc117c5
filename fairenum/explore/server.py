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
from fairenum.explore.auth import LOOPBACK, Gate, Pass
from fairenum.explore.worker import LEAST, PAUSE, Desk, Opening, Watch

if TYPE_CHECKING:
    from starlette.requests import Request


BEAT = 15.0  # seconds between signs of life


class Audience:
    """The connected clients: their number, and the monotonic time when one was last needed or there."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.listening, self.last = 0, time.monotonic()

    @property
    def silence(self) -> float:
        """Seconds since the last client left; 0 while a client is connected."""
        return 0.0 if self.listening else time.monotonic() - self.last

    async def stream(self) -> AsyncIterator[bytes]:
        """Send changes to a client until the desk is closed or the client leaves."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def told() -> None:
            loop.call_soon_threadsafe(changed.set)

        forget = self._desk.listen(told)
        watch = Watch(self._desk)
        self.listening += 1
        try:
            yield b": here\n\n"
            while True:
                changed.clear()
                is_closed = self._desk.is_closed
                # in a thread: words are loaded when the first of them is needed
                if news := await run_in_threadpool(lambda: b"".join(event.text for event in watch.news())):
                    yield news
                if is_closed:
                    return
                await asyncio.sleep(PAUSE)
                try:
                    await asyncio.wait_for(changed.wait(), LEAST if self._desk.is_busy else BEAT)
                except TimeoutError:
                    if not self._desk.is_busy:
                        yield b": still here\n\n"
        finally:
            forget()
            self.listening -= 1
            self.last = time.monotonic()


Endpoint = Callable[["Request"], Awaitable[Response]]


PAGE = "explore.html"


# A report contains text of the table: it runs in an opaque origin, from which it cannot send requests here.
APART = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def static_files() -> dict[str, bytes]:
    """Read the static files, the only ones that are served."""
    folder = files("fairenum.explore") / "static"
    return {one.name: one.read_bytes() for one in folder.iterdir() if PurePath(one.name).suffix in KINDS}


def routes(desk: Desk, audience: Audience) -> list[Route]:
    """All routes; the last route serves the JSON requests."""
    own = static_files()
    return [
        Route("/", _file(PAGE, own[PAGE]), methods=["GET"]),
        *(Route(f"/static/{name}", _file(name, content), methods=["GET"]) for name, content in own.items()),
        Route("/favicon.ico", _nothing, methods=["GET"]),  # browsers always request it
        Route("/events", _events(desk, audience), methods=["GET"]),
        Route("/report", _report(desk), methods=["GET"]),
        Route("/{way:path}", _answered(desk), methods=["GET", "POST"]),
    ]


def application(desk: Desk, audience: Audience, bearer: Pass, port: int) -> Gate:
    """The routes behind the gate."""
    return Gate(Starlette(routes=routes(desk, audience)), bearer, port)


def _file(name: str, content: bytes) -> Endpoint:
    async def shown(_: Request) -> Response:
        return Response(content, media_type=KINDS[PurePath(name).suffix])

    return shown


async def _nothing(_: Request) -> Response:
    return Response(status_code=204)


def _answered(desk: Desk) -> Endpoint:
    async def answered(request: Request) -> Response:
        desk.open()
        asked = request.query_params, await request.body(), request.headers.get("if-match")

        def answer() -> Response:
            from fairenum.explore.routes import Call, answer

            found = answer(desk, request.method, request.url.path, Call(*asked))
            return Response(found.body, found.status, media_type="application/json")

        return await run_in_threadpool(answer)

    return answered


def _events(desk: Desk, audience: Audience) -> Endpoint:
    async def streamed(_: Request) -> Response:
        desk.open()
        return StreamingResponse(audience.stream(), media_type="text/event-stream")

    return streamed


def _report(desk: Desk) -> Endpoint:
    def found() -> Response:
        from fairenum.render.html import policy_of

        html = desk.exploration.report() if desk.is_open else None
        if html is None:
            return Response("there is no decision yet", 404, media_type="text/plain")
        return HTMLResponse(html, headers={"content-security-policy": f"{policy_of(html)}; {APART}"})

    async def shown(_: Request) -> Response:
        return await run_in_threadpool(found)

    return shown


IDLE = 30 * 60.0  # default seconds without a client after which the server ends
HOLD = 0.5  # seconds for a page to be loaded before anything else is
LINGER = 2.0  # seconds for a browser that is being opened to come and see why there is no exploration
TURN = 0.001  # seconds
GRACE = 1  # seconds for answers under way when the server ends


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a server: the failure to open, whether an exploration was saved, and whether it was idle."""

    failure: BaseException | None
    is_saved: bool
    is_idle: bool


def serve(opening: Opening, announce: Callable[[str], None], *, port: int = 0, idle: float = IDLE) -> Ended:
    """Serve an exploration until it is ended, idle or cannot be opened.

    `opening` makes the exploration while the page is served already. `announce` is called with the one-time address.
    After `idle` seconds without a client the server ends; 0 is never.
    """
    with listening(port) as listener:
        port = listener.getsockname()[1]
        bearer, desk = Pass(port), Desk(opening)
        server = Server(desk, bearer, port, idle, partial(announce, address(port, bearer)))
        # a computing thread must yield often: requests for the page would wait an interval for every line read
        sys.setswitchinterval(TURN)
        server.run(sockets=[listener])
    return Ended(desk.failure, desk.is_open, server.is_idle)


class Server(uvicorn.Server):
    """A server that ends when idle, and does not wait for open connections."""

    def __init__(
        self, desk: Desk, bearer: Pass, port: int, idle: float = IDLE, ready: Callable[[], None] = lambda: None
    ) -> None:
        audience = Audience(desk)
        gate = application(desk, audience, bearer, port)
        super().__init__(
            uvicorn.Config(
                gate,
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
        self._desk, self._audience, self._idle, self._ready = desk, audience, idle, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then open the exploration after the page had time to load, as each slows the other."""
        await super().startup(sockets)
        self._ready()
        asyncio.get_running_loop().call_later(HOLD, self._desk.open)

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second, end the server if it is idle or failed; a running step keeps it alive."""
        is_begun = self._desk.is_open or self._desk.failure is not None
        if self._desk.is_busy or not is_begun:
            self._audience.last = time.monotonic()
        if self.is_idle or self._has_failed:
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the desk first, so that no stream or answer is pending."""
        await asyncio.to_thread(self._desk.close)
        await asyncio.sleep(0.15)  # lets clients receive the end event
        await super().shutdown(sockets)

    def handle_exit(self, _signal: int, _frame: FrameType | None) -> None:
        """End on Ctrl-C: all steps are on the record."""
        self.force_exit = self.should_exit
        self.should_exit = True

    @property
    def is_idle(self) -> bool:
        """Whether no page was open for the idle time."""
        return bool(self._idle) and self._audience.silence > self._idle

    @property
    def _has_failed(self) -> bool:
        """Whether opening failed, and a client was told or none came."""
        is_told = self._audience.listening > 0 or self._audience.silence > LINGER
        return self._desk.failure is not None and is_told


def address(port: int, bearer: Pass) -> str:
    """The one-time address of the page."""
    return f"http://{LOOPBACK}:{port}/?token={bearer.token}"


def listening(port: int) -> socket.socket:
    """Bind a port on the loopback interface."""
    # by its full name: asyncio sends small answers at once only if it knows this for TCP
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
