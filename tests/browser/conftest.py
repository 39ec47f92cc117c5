"""Pages in a real Chromium that can reach nothing: every request but the file itself is refused and counted."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Seen:
    """What a page asked for, complained about and ran."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium here: install one (Debian: apt-get install chromium) to test the page in a browser")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def show(chromium, tmp_path):
    """Open a page, offline, and watch it; the test fails if it asks for anything or complains."""
    watched: list[tuple[Seen, object]] = []

    def open_page(html: str, anchor: str = "", width: int = 1280, **options):
        file = tmp_path / "page.html"
        file.write_bytes(html.encode())
        context = chromium.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        page, seen = context.new_page(), Seen()
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(f"{file.as_uri()}{anchor}")
        watched.append((seen, context))
        return page

    yield open_page
    for seen, context in watched:
        context.close()
        assert seen.requests == [
            url for url in seen.requests if Path(url.split("#")[0].removeprefix("file://")).exists()
        ]
        assert len(seen.requests) == 1
        assert (seen.complaints, seen.dialogs) == ([], [])
