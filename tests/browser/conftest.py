"""Pages in a real Chromium without network: every request but the file itself is refused and counted."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.documents import METRIC, audit, full, gap, near, scored, with_model

from fairenum.document.audit_document import AuditDocument
from fairenum.document.scores import ChangedEstimate
from fairenum.render.html import to_html
from fairenum.report import page

MODELS, SELECTED = 40, 3
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
    """Requests, errors and scripts of a page."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def document() -> AuditDocument:
    """An audit with every stage, whose models all differ in accuracy and gap."""
    whole = full()
    spread = audit(models=MODELS, selected=SELECTED, small=True).but(
        attack=whole.attack,
        baselines=whole.baselines,
        explanation=whole.explanation,
        parity_range=whole.parity_range,
        multiplicity=whole.multiplicity,
        ambiguity=whole.ambiguity,
    )
    for rank in range(1, MODELS + 1):
        origin = "guided" if rank > MODELS - 5 else "exact"
        spread = with_model(spread, rank, origin=origin, loss_ratio=(rank - 1) ** 2 * 1e-5)
        for part, turn in (("selection", 7), ("holdout", 11)):
            spread = scored(spread, rank, part, **_placed(rank, turn))
    left_out = whole.models[whole.selection.rank - 1].left_out
    return with_model(spread, SELECTED, left_out=left_out)


def _placed(rank: int, turn: int) -> dict[str, object]:
    near_by = near(round(0.7 - 0.03 * (rank * turn % MODELS) / MODELS, 6))
    accuracy = ChangedEstimate(near_by.value, near_by.low, near_by.high, near(-0.002, 0.01))
    value = 0.05 if rank == SELECTED else 0.1 + 0.1 * (rank * 13 % MODELS) / MODELS
    return {
        "accuracy": accuracy,
        "performance": accuracy,
        METRIC: gap(round(value, 6), "fairer" if rank == SELECTED else "open"),
    }


@pytest.fixture(scope="session")
def html(document) -> str:
    return to_html(page(document))


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
    """Open a page offline; the test fails if it sends a request or logs an error."""
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
