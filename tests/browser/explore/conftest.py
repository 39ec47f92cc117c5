"""The live screen in a real Chromium, served by this process: no requests to other hosts, no errors."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

import pytest
from support.explorations import Served, open_applicants, served

WIDE, NARROW = 1440, 390
REFUSED = "Failed to load resource: the server responded with a status of 4"  # what Chromium itself says of a refusal


@dataclass
class Seen:
    """Requests and errors of pages."""

    origin: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    refusals: int = 0

    def watch(self, page) -> None:
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(f"{message.text} ({message.location['url']})"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def judge(self) -> None:
        elsewhere = [url for url in self.requests if not url.startswith((self.origin, "data:,"))]
        refusals = [text for text in self.complaints if text.startswith(REFUSED)]
        complaints = [text for text in self.complaints if text not in refusals]
        assert (elsewhere, complaints, self.dialogs, len(refusals)) == ([], [], [], self.refusals)


@dataclass
class Visit:
    """One browser, with its cookies, at one server."""

    server: Served
    context: object
    seen: Seen
    tab: object = None

    def page(self, address: str | None = None):
        """Open a tab: the first one by the address of the terminal, others by that of the page."""
        page = self.context.new_page()
        self.seen.watch(page)
        page.goto(address or f"{self.seen.origin}/")
        page.locator(".facts").first.wait_for()
        return page


@contextmanager
def visiting(chromium, server: Served, width: int = WIDE, **options) -> Iterator[Visit]:
    """Watch the browser: a visit fails if the page contacts another host or logs an error."""
    viewport = {"width": width, "height": 900 if width > NARROW else 844}
    context = chromium.new_context(viewport=viewport, **options)
    seen = Seen(f"http://127.0.0.1:{server.port}")
    yield Visit(server, context, seen)
    context.close()
    seen.judge()


@pytest.fixture
def visit(chromium, tmp_path):
    """Serve a new exploration and open its page."""
    with ExitStack() as stack:

        def begin(opening=open_applicants, steps: tuple[str, ...] = (), **options) -> Visit:
            def opened(progress):
                exploration = opening(progress=progress, record=tmp_path / "record.jsonl")
                for step in steps:
                    getattr(exploration, step)()
                return exploration

            server = stack.enter_context(served(opened))
            return stack.enter_context(visiting(chromium, server, **options))

        yield begin


@pytest.fixture
def screen(visit):
    """Open the screen of a small table of this test alone."""

    def open_screen(*steps: str, **options):
        found = visit(steps=steps, **options)
        return found.page(found.server.address)

    return open_screen


@pytest.fixture(scope="package")
def shared(chromium):
    """A server whose exploration no test changes, and its cookie."""
    with served(lambda progress: _begun(progress=progress)) as server:
        context = chromium.new_context()
        context.new_page().goto(server.address)
        cookies = context.storage_state()
        context.close()
        yield server, cookies


@pytest.fixture
def look(chromium, shared):
    """Open a screen on which no step is taken."""
    with ExitStack() as stack:

        def open_page(**options):
            server, cookies = shared
            return stack.enter_context(visiting(chromium, server, storage_state=cookies, **options)).page()

        yield open_page


@pytest.fixture(scope="package")
def seen_by_all(chromium, shared) -> Iterator[Visit]:
    server, cookies = shared
    with visiting(chromium, server, storage_state=cookies) as found:
        found.tab = found.page()
        yield found


@pytest.fixture
def looked(seen_by_all) -> Visit:
    """A screen shared by tests that take no step."""
    seen_by_all.tab.keyboard.press("g")
    return seen_by_all


@pytest.fixture(scope="module")
def used(chromium, tmp_path_factory) -> Iterator[Visit]:
    """A screen shared by tests that take steps."""
    record = tmp_path_factory.mktemp("used") / "record.jsonl"
    opening = partial(_begun, record=record)
    with served(lambda progress: opening(progress=progress)) as server, visiting(chromium, server) as found:
        found.tab = found.page(server.address)
        yield found


def _begun(**options):
    exploration = open_applicants(**options)
    exploration.next()
    exploration.fairer()
    return exploration
