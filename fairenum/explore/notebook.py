"""A live exploration in a notebook: the page's modules, with messages instead of HTTP."""

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
from fairenum.explore.routes import Answer, Call, answer
from fairenum.explore.worker import LEAST, PAUSE, Desk, Watch

if TYPE_CHECKING:
    from fairenum.explore.exploration import Exploration


IMPORTED = re.compile(r'from "\./(\w+\.js)"')


# Gives every module an address of its own, those that it imports first, and hands on what the last one exports.
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
    """A single module equivalent to an entry module with all its imports."""
    texts: dict[str, str] = {}
    wanted = [entry]
    while wanted:
        if (name := wanted.pop()) not in texts:
            texts[name] = (folder / name).read_text(encoding="utf-8")
            wanted += IMPORTED.findall(texts[name])
    order = TopologicalSorter({name: IMPORTED.findall(text) for name, text in texts.items()}).static_order()
    return LOADER.format(modules=json.dumps([(name, texts[name]) for name in order]), entry=json.dumps(entry))


class Question(Value, frozen=True):
    """A request from a view of the widget."""

    id: str
    method: str
    path: str
    body: object = None
    seen: str | None = None

    def answered(self, desk: Desk) -> Answer:
        """Answer the request."""
        parts = urlsplit(self.path)
        body = b"" if self.body is None else msgspec.json.encode(self.body)
        return answer(desk, self.method, parts.path, Call(dict(parse_qsl(parts.query)), body, self.seen))


class ExplorationWidget(anywidget.AnyWidget):
    """The page of an exploration as a notebook widget, in step with the cells."""

    _esm = bundled(files("fairenum.explore") / "static", "widget.js")
    _css = (files("fairenum.explore") / "static" / "explore.css").read_text(encoding="utf-8")

    def __init__(self, exploration: Exploration) -> None:
        super().__init__()
        self._desk = Desk.around(exploration)
        self._watch, self._changed = Watch(self._desk), threading.Event()
        self._desk.listen(self._changed.set)
        self.on_msg(self._asked)
        threading.Thread(target=self._tell, name="fairenum-widget", daemon=True).start()

    def _asked(self, _widget: object, content: object, _buffers: object) -> None:
        """Answer a request in its own thread, as a step takes long."""
        threading.Thread(target=self._answer, args=(content,), name="fairenum-answer", daemon=True).start()

    def _answer(self, content: object) -> None:
        asked = msgspec.convert(content, Question)
        found = asked.answered(self._desk)
        self.send({"id": asked.id, "status": found.status, "data": msgspec.to_builtins(found.value)})

    def _tell(self) -> None:
        """Send changes to all views, a few times a second at most."""
        while self.comm is not None:
            for event in self._watch.news():
                self.send({"event": event.name, "data": msgspec.to_builtins(event.value)})
            self._changed.wait(LEAST if self._desk.is_busy else None)
            self._changed.clear()
            time.sleep(PAUSE)


def live(exploration: Exploration) -> dict[str, object]:
    """The notebook display of an exploration: its single widget."""
    bundle = _widget(exploration)._repr_mimebundle_()
    return dict(bundle[0] if isinstance(bundle, tuple) else bundle or {})


@cache
def _widget(exploration: Exploration) -> ExplorationWidget:
    return ExplorationWidget(exploration)
