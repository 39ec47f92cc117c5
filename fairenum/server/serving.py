"""The server: on this machine alone, from the first request to the last."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import FrameType

import uvicorn

from fairenum.errors import ConfigError
from fairenum.server.app import application
from fairenum.server.desk import Desk, Opening
from fairenum.server.events import Audience
from fairenum.server.gate import LOOPBACK, Pass

IDLE = 30 * 60.0  # seconds without a client after which a server ends, if nobody says otherwise
HOLD = 0.5  # seconds for a page to be loaded before anything else is
LINGER = 2.0  # seconds for a browser that is being opened to come and see why there is no exploration
TURN = 0.001  # seconds
GRACE = 1  # seconds for answers under way when the server ends


@dataclass(frozen=True, slots=True)
class Ended:
    """How a server ended.

    Attributes
    ----------
    failure
        Why there was no exploration.
    is_saved
        Whether there was one.
    is_idle
        Whether nobody looked any more.
    """

    failure: BaseException | None
    is_saved: bool
    is_idle: bool


def serve(opening: Opening, announce: Callable[[str], None], *, port: int = 0, idle: float = IDLE) -> Ended:
    """Serve an exploration until somebody ends it, nobody looks any more, or it cannot be opened.

    Parameters
    ----------
    opening
        Makes the exploration, while its page is served already.
    announce
        Called with the address, which works once.
    port
        Where to listen; 0 for any that is free.
    idle
        Seconds without a client after which to end; 0 for never.
    """
    with listening(port) as listener:
        port = listener.getsockname()[1]
        bearer, desk = Pass(port), Desk(opening)
        server = Server(desk, bearer, port, idle, partial(announce, address(port, bearer)))
        # whoever computes has to let those through who only ask for a page: they would wait a turn for every line read
        sys.setswitchinterval(TURN)
        server.run(sockets=[listener])
    return Ended(desk.failure, desk.is_open, server.is_idle)


class Server(uvicorn.Server):
    """A server that ends by itself when it is of no use any more, and lets nobody wait when it ends."""

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
                log_level="critical",  # whoever knocks wrongly is not worth a line on the terminal
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE,
            )
        )
        self._desk, self._audience, self._idle, self._ready = desk, audience, idle, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and open the exploration once the page is there or does not come: each would hold up the other."""
        await super().startup(sockets)
        self._ready()
        asyncio.get_running_loop().call_later(HOLD, self._desk.open)

    async def on_tick(self, counter: int) -> bool:
        """Look ten times a second whether there is any use in going on; while something is under way there is."""
        is_begun = self._desk.is_open or self._desk.failure is not None
        if self._desk.is_busy or not is_begun:
            self._audience.last = time.monotonic()
        if self.is_idle or self._has_failed:
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the desk first: then nobody listens any more, and no answer is under way."""
        await asyncio.to_thread(self._desk.close)
        await asyncio.sleep(0.15)  # those who listen are told
        await super().shutdown(sockets)

    def handle_exit(self, _signal: int, _frame: FrameType | None) -> None:
        """End, which is what Ctrl-C is for: all steps are on the record."""
        self.force_exit = self.should_exit
        self.should_exit = True

    @property
    def is_idle(self) -> bool:
        """Whether nobody has looked for long."""
        return bool(self._idle) and self._audience.silence > self._idle

    @property
    def _has_failed(self) -> bool:
        """Whether there is no exploration, and somebody was told, or nobody will come."""
        is_told = self._audience.listening > 0 or self._audience.silence > LINGER
        return self._desk.failure is not None and is_told


def address(port: int, bearer: Pass) -> str:
    """Return the address of the page, which works once."""
    return f"http://{LOOPBACK}:{port}/?token={bearer.token}"


def listening(port: int) -> socket.socket:
    """Take a port of this machine, which no other machine can reach."""
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
