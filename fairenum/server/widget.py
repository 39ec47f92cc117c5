"""An exploration in a notebook, live: the modules of the page, and messages in the place of HTTP."""

from __future__ import annotations

import threading
import time
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import anywidget
import msgspec

from fairenum.document.value import Value
from fairenum.server.bundle import bundled
from fairenum.server.desk import Desk
from fairenum.server.news import LEAST, PAUSE, Watch
from fairenum.server.ways import Answer, Call, answer

if TYPE_CHECKING:
    from fairenum.exploration.exploration import Exploration


class Question(Value, frozen=True):
    """What a view of the widget asks."""

    id: str
    method: str
    path: str
    body: object = None
    seen: str | None = None

    def answered(self, desk: Desk) -> Answer:
        """Answer it."""
        parts = urlsplit(self.path)
        body = b"" if self.body is None else msgspec.json.encode(self.body)
        return answer(desk, self.method, parts.path, Call(dict(parse_qsl(parts.query)), body, self.seen))


class ExplorationWidget(anywidget.AnyWidget):
    """The screen of an exploration in a notebook; what is done there and in cells is seen in both."""

    _esm = bundled(files("fairenum.server") / "static", "widget.js")
    _css = (files("fairenum.server") / "static" / "explore.css").read_text(encoding="utf-8")

    def __init__(self, exploration: Exploration) -> None:
        super().__init__()
        self._desk = Desk.around(exploration)
        self._watch, self._changed = Watch(self._desk), threading.Event()
        self._desk.listen(self._changed.set)
        self.on_msg(self._asked)
        threading.Thread(target=self._tell, name="fairenum-widget", daemon=True).start()

    def _asked(self, _widget: object, content: object, _buffers: object) -> None:
        """Answer a question in a thread of its own: a step takes long, and others may be asked meanwhile."""
        threading.Thread(target=self._answer, args=(content,), name="fairenum-answer", daemon=True).start()

    def _answer(self, content: object) -> None:
        asked = msgspec.convert(content, Question)
        found = asked.answered(self._desk)
        self.send({"id": asked.id, "status": found.status, "data": msgspec.to_builtins(found.value)})

    def _tell(self) -> None:
        """Tell all views what changes, a few times a second at most."""
        while self.comm is not None:
            for event in self._watch.news():
                self.send({"event": event.name, "data": msgspec.to_builtins(event.value)})
            self._changed.wait(LEAST if self._desk.is_busy else None)
            self._changed.clear()
            time.sleep(PAUSE)


def live(exploration: Exploration) -> dict[str, object]:
    """Return what a notebook shows of an exploration: the one widget of it, wherever it is shown."""
    bundle = _widget(exploration)._repr_mimebundle_()
    return dict(bundle[0] if isinstance(bundle, tuple) else bundle or {})


@cache
def _widget(exploration: Exploration) -> ExplorationWidget:
    return ExplorationWidget(exploration)
