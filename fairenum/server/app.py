"""The application behind the gate: the page, its files, the ways in, events, and the report of a decision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from fairenum.server.desk import Desk
from fairenum.server.gate import Gate, Pass

if TYPE_CHECKING:
    from starlette.requests import Request

    from fairenum.server.events import Audience

Endpoint = Callable[["Request"], Awaitable[Response]]

PAGE = "explore.html"
# A report holds texts of the table: it runs in an origin of its own, from which nothing here can be asked.
APART = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def static_files() -> dict[str, bytes]:
    """Read the files of the page: these, and no other path, can be asked for."""
    folder = files("fairenum.server") / "static"
    return {one.name: one.read_bytes() for one in folder.iterdir() if PurePath(one.name).suffix in KINDS}


def routes(desk: Desk, audience: Audience) -> list[Route]:
    """List every route; the last one leads to all the ways in."""
    own = static_files()
    return [
        Route("/", _file(PAGE, own[PAGE]), methods=["GET"]),
        *(Route(f"/static/{name}", _file(name, content), methods=["GET"]) for name, content in own.items()),
        Route("/favicon.ico", _nothing, methods=["GET"]),  # browsers ask for it, whatever the page says
        Route("/events", _events(desk, audience), methods=["GET"]),
        Route("/report", _report(desk), methods=["GET"]),
        Route("/{way:path}", _answered(desk), methods=["GET", "POST"]),
    ]


def application(desk: Desk, audience: Audience, bearer: Pass, port: int) -> Gate:
    """Put the routes behind the gate."""
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
            from fairenum.server.ways import Call, answer  # which is not loaded before the page is served

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
        from fairenum.rendering.html import policy_of

        html = desk.exploration.report() if desk.is_open else None
        if html is None:
            return Response("there is no decision yet", 404, media_type="text/plain")
        return HTMLResponse(html, headers={"content-security-policy": f"{policy_of(html)}; {APART}"})

    async def shown(_: Request) -> Response:
        return await run_in_threadpool(found)

    return shown
