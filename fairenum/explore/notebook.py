"""A live exploration in a notebook: a widget that runs the page's JavaScript, with messages instead of HTTP."""

from __future__ import annotations

import json
import re
import threading
import time
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import anywidget
import msgspec

from fairenum.document.value import Value
from fairenum.explore.routes import Answer, JsonRequest, answer
from fairenum.explore.worker import LEAST, PAUSE, ChangeFeed, Worker

if TYPE_CHECKING:
    from fairenum.explore.exploration import Exploration

IMPORTED = re.compile(r'from "\./(\w+\.js)"')
# JavaScript that gives every module a URL, imported modules first, and exports what the entry module exports.
LOADER = """\
const addresses = {{}};
for (const [name, text] of {modules}) {{
  const bound = text.replace(/from "\\.\\/(\\w+\\.js)"/g, (_, other) => `from "${{addresses[other]}}"`);
  addresses[name] = URL.createObjectURL(new Blob([bound], {{ type: "text/javascript" }}));
}}
const entry = await import(addresses[{entry}]);
export default entry.default;
"""


def bundled(folder: Traversable, entry: str) -> str:
    """Return one JavaScript module that is equivalent to an entry module with all its imports."""
    texts: dict[str, str] = {}
    wanted = [entry]
    while wanted:
        if (name := wanted.pop()) not in texts:
            texts[name] = (folder / name).read_text(encoding="utf-8")
            wanted += IMPORTED.findall(texts[name])
    order = TopologicalSorter({name: IMPORTED.findall(text) for name, text in texts.items()}).static_order()
    return LOADER.format(modules=json.dumps([(name, texts[name]) for name in order]), entry=json.dumps(entry))


class WidgetRequest(Value, frozen=True):
    """A request from a browser view of the widget; `seen` is the revision (state number) that the view shows."""

    id: str
    method: str
    path: str
    body: object = None
    seen: str | None = None

    def answered(self, worker: Worker) -> Answer:
        """Return the answer to the request."""
        parts = urlsplit(self.path)
        body = b"" if self.body is None else msgspec.json.encode(self.body)
        return answer(worker, self.method, parts.path, JsonRequest(dict(parse_qsl(parts.query)), body, self.seen))


class ExplorationWidget(anywidget.AnyWidget):
    """The page of an exploration as a notebook widget; it also shows steps that cells of the notebook take."""

    _esm = bundled(files("fairenum.explore") / "static", "widget.js")
    _css = (files("fairenum.explore") / "static" / "explore.css").read_text(encoding="utf-8")

    def __init__(self, exploration: Exploration) -> None:
        super().__init__()
        self._worker = Worker.of(exploration)
        self._feed, self._changed = ChangeFeed(self._worker), threading.Event()
        self._worker.listen(self._changed.set)
        self.on_msg(self._received)
        threading.Thread(target=self._send_changes, name="fairenum-widget", daemon=True).start()

    def _received(self, _widget: object, content: object, _buffers: object) -> None:
        """Answer a request of a browser view, in a thread of its own, as a step may take long."""
        threading.Thread(target=self._answer, args=(content,), name="fairenum-answer", daemon=True).start()

    def _answer(self, content: object) -> None:
        request = msgspec.convert(content, WidgetRequest)
        reply = request.answered(self._worker)
        self.send({"id": request.id, "status": reply.status, "data": msgspec.to_builtins(reply.value)})

    def _send_changes(self) -> None:
        """Send changes to all browser views, a few times a second at most, until the widget is closed."""
        while self.comm is not None:
            for event in self._feed.changes():
                self.send({"event": event.name, "data": msgspec.to_builtins(event.value)})
            self._changed.wait(LEAST if self._worker.is_busy else None)
            self._changed.clear()
            time.sleep(PAUSE)


def live(exploration: Exploration) -> dict[str, object]:
    """Return the MIME bundle that displays an exploration in a notebook; all cells share one widget."""
    bundle = _widget(exploration)._repr_mimebundle_()
    return dict(bundle[0] if isinstance(bundle, tuple) else bundle or {})


@cache
def _widget(exploration: Exploration) -> ExplorationWidget:
    return ExplorationWidget(exploration)
