"""Small tables to explore, explorations served on this computer, in this process, and clients of them."""

import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fairenum import Exploration
from fairenum.explore import server as serving
from fairenum.explore.auth import LOOPBACK, AccessToken
from fairenum.explore.worker import Opening, Worker
from support.audits import MOSTLY_TRAINED, PLAN, applicants, people

APPLICANTS = {"label": "hired", "favourable": "y", "sensitive": "sex", "sizes": (120, 150, 150), "replications": 50}


def open_applicants(**options) -> Exploration:
    """Explore a table on which a guided search finds much."""
    return Exploration(applicants(420), **{**APPLICANTS, "guards": "none"} | options)


def open_people(**options) -> Exploration:
    """Explore a table with two sensitive columns and guardrails."""
    return Exploration(people(240), **PLAN, **{"replications": 50, "sizes": MOSTLY_TRAINED, **options})


# --- served ---


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def value(self):
        return json.loads(self.body) if self.body else None


@dataclass
class Visitor:
    """Somebody with a browser, or without one: whatever is not said otherwise is as the page itself would send it."""

    port: int
    cookie: str | None = None

    def ask(self, method: str, path: str, body: bytes | None = None, headers: dict | None = None) -> Reply:
        """Send a request; a header that is None is left out."""
        own = {"Host": f"{LOOPBACK}:{self.port}", "Cookie": self.cookie, "Sec-Fetch-Site": "same-origin"}
        if method == "POST":
            own |= {"Origin": f"http://{LOOPBACK}:{self.port}", "Content-Type": "application/json"}
        sent = {name: value for name, value in {**own, **(headers or {})}.items() if value is not None}
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            if body is not None and "Transfer-Encoding" not in sent:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            reply = connection.getresponse()
            return Reply(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def get(self, path: str, **headers) -> Reply:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, value: object, **headers) -> Reply:
        return self.ask("POST", path, json.dumps(value).encode(), headers)

    def step(self, step: str, revision: int | None = None, **arguments) -> Reply:
        """Take a step; undo and commit say which revision they have seen, the last one if not told otherwise."""
        needs = step in ("undo", "commit") and revision is None
        seen = self.get("/state").value["revision"] if needs else revision
        return self.post("/steps", {"step": step, **arguments}, **{"If-Match": None if seen is None else str(seen)})

    def enter(self, address: str) -> Reply:
        """Trade the token of an address for a cookie."""
        parts = urlsplit(address)
        reply = self.get(f"{parts.path}?{parts.query}", **{"Sec-Fetch-Site": "none"})
        if "set-cookie" in reply.headers:
            self.cookie = reply.headers["set-cookie"].partition(";")[0]
        return reply

    def wait(self) -> dict:
        """Wait until there is a first model, or no hope of one."""
        while True:
            screen = self.get("/state").value
            if screen["view"] is not None or (screen["busy"] is None and screen["trouble"]):
                return screen
            time.sleep(0.02)

    @contextmanager
    def listening(self) -> Iterator[Callable[[], tuple[str, object]]]:
        """Listen to events; what is given returns the next one."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=30)
        headers = {"Host": f"{LOOPBACK}:{self.port}", "Cookie": self.cookie, "Sec-Fetch-Site": "same-origin"}
        connection.request("GET", "/events", headers=headers)
        stream = connection.getresponse()
        assert stream.headers["content-type"].startswith("text/event-stream")

        def heard() -> tuple[str, object]:
            name = None
            while line := stream.readline().decode():
                if line.startswith("event: "):
                    name = line[7:].strip()
                elif line.startswith("data: "):
                    return name, json.loads(line[6:])
            raise EOFError

        try:
            yield heard
        finally:
            stream.close()
            connection.close()


@dataclass
class Served:
    """A server that runs in a thread."""

    server: serving.Server
    worker: Worker
    address: str
    port: int
    thread: threading.Thread
    visitors: list[Visitor] = field(default_factory=list)

    def visitor(self) -> Visitor:
        """Somebody without a cookie."""
        return Visitor(self.port)

    def end(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()


@contextmanager
def served(opening: Opening, **options) -> Iterator[Served]:
    """Serve an exploration until the test is over."""
    listener = serving.bound_socket(0)
    port = listener.getsockname()[1]
    access, worker = AccessToken(port), Worker(opening)
    server = serving.Server(worker, access, port, **options)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    found = Served(server, worker, serving.address(port, access), port, thread)
    try:
        yield found
    finally:
        found.end()


@contextmanager
def entered(opening: Opening, **options) -> Iterator[Visitor]:
    """Serve an exploration, and come in."""
    with served(opening, **options) as found:
        visitor = found.visitor()
        assert visitor.enter(found.address).status == 200
        visitor.wait()
        yield visitor


def token(address: str) -> str:
    """Return the token of an address."""
    return re.search(r"token=([\w-]+)$", address)[1]
