"""What changes, as server-sent events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool

from fairenum.server.desk import Desk
from fairenum.server.news import LEAST, PAUSE, Watch

BEAT = 15.0  # seconds between signs of life


class Audience:
    """The clients that listen, and since when there is none.

    Attributes
    ----------
    listening
        How many there are.
    last
        When there last was a reason to be here, by a clock that only goes forward.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.listening, self.last = 0, time.monotonic()

    @property
    def silence(self) -> float:
        """Seconds since the last client has gone; 0 while there is one."""
        return 0.0 if self.listening else time.monotonic() - self.last

    async def stream(self) -> AsyncIterator[bytes]:
        """Tell one client what changes, until the desk is closed or the client has gone."""
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
